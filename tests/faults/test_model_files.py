"""Wrong model files: each is refused with a sentence that names its line and key."""

import builtins
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import phloat as ph
from phloat.files.reading import from_plain, plain_model
from phloat.files.text import DEEPEST, LARGEST, MOST

MODELS = Path(__file__).parents[2] / "examples" / "models"
GOOD = """\
phloat: 1
name: two links
plane: xy
gravity: [0, -9.81, 0]
materials:
  steel: {E: 200 GPa, rho: 7870 kg/m^3, nu: 0.3}
sections:
  round: {circle: 6 mm}
bodies:
  upper:
    beam:
      length: 30 cm
      section: round
      material: steel
    elements: 2
  lower:
    rigid body:
      mass: 100 g
      inertia: [1e-5, 1e-4, 1e-4]
      ports: {tip: [10 cm, 0, 0]}
joints:
  shoulder: {revolute: [ground, upper.P]}
  elbow:
    revolute: [upper.C, lower.P]
  grip:
    spring: [ground, lower.tip]
    stiffness: 2 kN/m
start:
  place:
    shoulder.angle: 30 deg
inputs:
  shoulder: {piecewise: {0 s: 0, 0.1 s: 0.05 N m}}
simulate:
  t_end: 10 ms
  dt: 1 ms
  scheme: midpoint
modes: {count: 3}
response:
  inputs: [shoulder]
  omega: {from: 1 Hz, to: 10 Hz, count: 3, spacing: log}
sweep:
  parameters:
    upper.material.E: {normal: {mean: 200 GPa, std: 4 GPa}}
  samples: 4
outputs:
  angle: shoulder.angle
  bent: {displacement: upper, s: 0.5, component: y, take: max}
"""

# what is replaced, by what (the line with ← is at fault), the key, a part of the sentence
READ = [
    ("phloat: 1", "phloat: 2  #←", "phloat", "it is of format 2, and this phloat reads up to 1; update phloat"),
    ("phloat: 1", "phloat: one  #←", "phloat", "found 'one'; expected a whole number, 1 or more"),
    ("phloat: 1\nname: two links", "name: two links  #←", "", "'phloat' is missing: a model begins with 'phloat: 1'"),
    ("plane: xy", "plane: xz  #←", "plane", "no plane 'xz'"),
    ("plane: xy", "plan: xy  #←", "plan", "no key of a model 'plan' (did you mean 'plane'"),
    ("[0, -9.81, 0]", "[0, -9.81]  #←", "gravity", "a list of 2; expected a list of 3 numbers of acceleration"),
    ("[0, -9.81, 0]", "down  #←", "gravity", "found 'down'; expected a list of 3 numbers"),
    ("[0, -9.81, 0]", "[0, -9.81 kg, 0]  #←", "gravity[1]", "'-9.81 kg', a mass; expected an acceleration"),
    ("E: 200 GPa", "E: 200 GBa", "materials.steel.E", "no unit 'GBa' (did you mean 'GPa'"),
    (
        "E: 200 GPa",
        "E: 200 mm",
        "materials.steel.E",
        "'200 mm', a length; expected a stress more than 0, such as 200 GPa",
    ),
    ("E: 200 GPa", "E: -200 GPa", "materials.steel.E", "found '-200 GPa'; expected a stress more than 0"),
    (
        "E: 200 GPa",
        "E: .inf",
        "materials.steel.E",
        "found '.inf'; expected a finite number: a stress more than 0, such as 200 GPa",
    ),
    ("E: 200 GPa", "E: true", "materials.steel.E", "found 'true'; expected a stress"),
    ("E: 200 GPa", "E: ", "materials.steel.E", "found nothing; expected a stress"),
    ("E: 200 GPa", "E: 1e999", "materials.steel.E", "too large"),
    ("E: 200 GPa", "E: two", "materials.steel.E", "found 'two'; expected a stress"),
    ("E: 200 GPa", "E: 200 GPa per", "materials.steel.E", "no unit 'per'"),
    (
        "E: 200 GPa, ",
        "",
        "materials.steel",
        "'E' is missing: Young's modulus; expected a stress more than 0, such as 200 GPa",
    ),
    ("nu: 0.3", "nu: 0.7", "materials.steel.nu", "Poisson's ratio nu is 0.7; it must lie between -1 and 0.5"),
    ("nu: 0.3", "mu: 0.3", "materials.steel.mu", "no key of a material 'mu'; there are: E, rho, nu"),
    (
        "{circle: 6 mm}",
        "{circel: 6 mm}",
        "sections.round.circel",
        "no key of a section 'circel' (did you mean 'circle'",
    ),
    ("{circle: 6 mm}", "{circle: 6 deg}", "sections.round.circle", "'6 deg', an angle; expected a length more than 0"),
    ("{circle: 6 mm}", "{circle: 6 mm, tube: {diameter: 1, wall: 0.1}}", "sections.round", "both 'circle' and 'tube'"),
    (
        "{circle: 6 mm}",
        "{tube: {diameter: 6 mm, wall: 4 mm}}",
        "sections.round.tube.wall",
        "more than half the diameter",
    ),
    ("section: round", "section: rond  #←", "bodies.upper.beam.section", "no section 'rond' (did you mean 'round'"),
    ("material: steel", "material: copper  #←", "bodies.upper.beam.material", "no material 'copper'; there are: steel"),
    ("length: 30 cm", "lenght: 30 cm  #←", "bodies.upper.beam.lenght", "did you mean 'length'"),
    (
        "length: 30 cm",
        "length: [30 cm]  #←",
        "bodies.upper.beam.length",
        "found a list of 1; expected a length more than 0",
    ),
    ("length: 30 cm", "length: 0  #←", "bodies.upper.beam.length", "found '0'; expected a length more than 0"),
    ("length: 30 cm", "length: .nan  #←", "bodies.upper.beam.length", "a finite number"),
    (
        "material: steel",
        "material: steel\n      theory: bernoulli  #←",
        "bodies.upper.beam.theory",
        "no theory 'bernoulli'",
    ),
    (
        "material: steel",
        "material: steel\n      stiffening: yes  #←",
        "bodies.upper.beam.stiffening",
        "expected true or false",
    ),
    ("material: steel", "material: steel\n      masses: {1.5: 1 kg}  #←", "bodies.upper.beam.masses.1.5", "at most 1"),
    (
        "material: steel",
        "material: steel\n      ports: {P: 0.5}  #←",
        "bodies.upper.beam.ports",
        "port 'P' is an end of every beam",
    ),
    ("elements: 2", "elements: 2.5  #←", "bodies.upper.elements", "found '2.5'; expected a whole number, 1 or more"),
    ("elements: 2", "elements: 0  #←", "bodies.upper.elements", "found '0'; expected a whole number"),
    ("  upper:\n    beam", "  upper:\n    bean", "bodies.upper.bean", "no kind of a body 'bean' (did you mean 'beam'"),
    (
        "  lower:",
        "  upper:  #←",
        "bodies.upper",
        "'upper' stands there twice, first in line 10; give each its own name",
    ),
    ("  lower:", "  ground:  #←", "bodies.ground", "'ground' cannot name a body"),
    ("  lower:", "  lower.arm:  #←", "bodies.lower.arm", "'lower.arm' cannot name a body"),
    (
        "[1e-5, 1e-4, 1e-4]",
        "[1e-5, 1e-4]  #←",
        "bodies.lower.rigid body.inertia",
        "three numbers (a diagonal) or three rows",
    ),
    (
        "[1e-5, 1e-4, 1e-4]",
        "[1e-5, 1e-4, 1]  #←",
        "bodies.lower.rigid body.inertia",
        "no mass has the principal inertias",
    ),
    (
        "[1e-5, 1e-4, 1e-4]",
        "!!python/tuple [1, 2, 3]  #←",
        "bodies.lower.rigid body.inertia",
        "the tag !!python/tuple is refused",
    ),
    ("mass: 100 g", "mass: !!python/object/apply:os.system ['true']  #←", "bodies.lower.rigid body.mass", "is refused"),
    ("revolute: [ground, upper.P]", "revolut: [ground, upper.P]", "joints.shoulder.revolut", "did you mean 'revolute'"),
    (
        "revolute: [ground, upper.P]",
        "revolute: [ground]",
        "joints.shoulder.revolute",
        "found a list of 1; expected two ports",
    ),
    ("{revolute: [ground, upper.P]}", "{axis: z}", "joints.shoulder", "expected a joint with one of the keys revolute"),
    ("[ground, upper.P]}", "[ground, upper.P], axis: w}", "joints.shoulder.axis", "expected a direction: x, y, z"),
    ("[ground, upper.P]}", "[ground, upper.P], axis: [0, 0, 0]}", "joints.shoulder.axis", "found zeros"),
    ("[ground, upper.P]}", "[ground, upper.P], name: motor}", "joints.shoulder.name", "called 'shoulder' already"),
    ("stiffness: 2 kN/m", "stiffness: 2 kN  #←", "joints.grip.stiffness", "'2 kN', a force; expected a stiffness"),
    ("stiffness: 2 kN/m", "stiffness: {0: 0, 0 mm: 1, 1: 2}  #←", "joints.grip.stiffness.0 mm", "stands there already"),
    (
        "grip:\n    spring: [ground, lower.tip]\n    stiffness: 2 kN/m",
        "grip: #←\n    spring: [ground, lower.tip]",
        "joints.grip",
        "'stiffness' is missing",
    ),
    (
        "shoulder.angle: 30 deg",
        "shoulder.angle: 30 mm  #←",
        "start.place.shoulder.angle",
        "a length; expected an angle",
    ),
    ("piecewise: {0 s: 0,", "piecwise: {0 s: 0,", "inputs.shoulder.piecwise", "did you mean 'piecewise'"),
    ("piecewise: {0 s: 0,", "piecewise: {0 m: 0,", "inputs.shoulder.piecewise.0 m", "a length; expected a time"),
    ("piecewise: {0 s: 0,", "piecewise: {0 s: [0, 1],", "inputs.shoulder.piecewise", "different numbers of components"),
    ("t_end: 10 ms", "t_end: -10 ms  #←", "simulate.t_end", "t_end = -0.01 s is not after the start"),
    ("simulate:\n  t_end: 10 ms\n  dt: 1 ms", "simulate:  #←\n  t_end: 10 ms", "simulate", "dt is missing"),
    ("scheme: midpoint", "scheme: euler  #←", "simulate.scheme", "no scheme 'euler'; there are: midpoint"),
    ("{count: 3}", "{count: 3, along: {a.theta: [0], b.theta: [0]}}", "modes.along", "along takes one quantity"),
    ("from: 1 Hz", "from: 0 Hz", "response.omega.from", "both must be positive"),
    ("from: 1 Hz", "from: 1 m", "response.omega.from", "a length; expected an angular rate"),
    (
        "{normal: {mean: 200 GPa, std: 4 GPa}}",
        "{norml: {}}",
        "sweep.parameters.upper.material.E.norml",
        "did you mean 'normal'",
    ),
    ("std: 4 GPa", "std: -4 GPa", "sweep.parameters.upper.material.E.normal.std", "std is -4e+09; it must be positive"),
    ("take: max", "take: maximum", "outputs.bent.take", "no take 'maximum'"),
    ("s: 0.5", "s: 1.5", "outputs.bent.s", "at most 1"),
    ("s: 0.5", "s: 0.5, at: [0, 0, 0]", "outputs.bent.s", "s and at are two places"),
    ("name: two links", "name: [two, links]  #←", "name", "found a list of 2; expected a name"),
    ("modes: {count: 3}", "modes: {count: 3\nx: [ #←", "", "no YAML"),
    ("modes: {count: 3}", "modes:\n\tcount: 3  #←", "", "no YAML"),
    ("modes: {count: 3}", "? [a, b]\n: 3  #", "", "a key is a list or a mapping"),
]
BUILT = [
    (
        "[ground, upper.P]",
        "[ground, uper.P]",
        "joints.shoulder.revolute[1]",
        "no port 'uper.P' (did you mean 'upper.P'",
    ),
    ("[ground, upper.P]", "[ground, upper.X]", "joints.shoulder.revolute[1]", "upper.X"),
    ("[ground, upper.P]}", "[ground, upper.P], axis: x}", "joints.shoulder", "in the plane xy it must be z"),
    ("[0, -9.81, 0]", "[0, 0, -9.81]  #←", "gravity", "leaves the plane xy"),
    ("simulate:", "lock: shoulda  #←\nsimulate:", "lock", "no joint 'shoulda' (did you mean 'shoulder'"),
    ("simulate:", "drive: grip  #←\nsimulate:", "drive", "no joint 'grip'"),
    (
        "material: steel",
        "material: steel\n      frame: {0.3: [u_x]}  #←",
        "bodies.upper.beam.frame",
        "the frame holds s = 0.3, which is no node",
    ),
    (
        "elements: 2",
        "elements: [0, 0.7, 0.5, 1]  #←",
        "bodies.upper.elements[1]",
        "node fractions must rise from 0 to 1",
    ),
]
STARTED = [
    ("shoulder.angle: 30 deg", "sholder.angle: 30 deg  #←", "start.place.sholder.angle", "no position 'sholder.angle'"),
    ("shoulder.angle: 30 deg", "shoulder.angle: [0, 1]  #←", "start.place.shoulder.angle", "must be a number"),
    ("  shoulder: {piece", "  sholder: {piece", "inputs.sholder", "no port 'sholder'"),
    ("{piecewise: {0 s: 0, 0.1 s: 0.05 N m}}", "[1, 2]", "inputs.shoulder", "input 'shoulder'"),
    ("0.05 N m", "0.05 N", "inputs.shoulder.piecewise.0.1 s", "'0.05 N', a force; 'shoulder' takes a torque"),
]


def refused(text: str, touch, tmp_path, name: str = "model.yaml") -> ph.FileError:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ph.FileError) as caught:
        touch(ph.load_model(path))
    return caught.value


def at_fault(old: str, new: str) -> tuple[str, int]:
    """The wrong text, and the line that is wrong: the one with an arrow, or the one that was changed."""
    assert GOOD.count(old) >= 1, old
    text = GOOD.replace(old, new, 1)
    arrow = text.find("←")
    return text, text[: arrow if arrow >= 0 else GOOD.index(old)].count("\n") + 1


def check(old: str, new: str, key: str, sentence: str, touch, tmp_path) -> None:
    text, line = at_fault(old, new)
    error = refused(text, touch, tmp_path)
    assert sentence in str(error)
    assert error.key == key
    if not new.endswith("#"):  # else the line before is named, where it begins
        assert abs(error.line - line) <= (0 if "←" in new or "\n" not in old + new else 1)
    if error.line:
        assert f"line {error.line}" in str(error)
    assert str(error).startswith("model.yaml")
    assert "\n" not in str(error)


@pytest.mark.parametrize(("old", "new", "key", "sentence"), READ)
def test_a_wrong_file_is_refused_with_line_and_key(old, new, key, sentence, tmp_path):
    check(old, new, key, sentence, lambda model: None, tmp_path)


@pytest.mark.parametrize(("old", "new", "key", "sentence"), BUILT)
def test_what_cannot_be_connected_is_found_in_the_file(old, new, key, sentence, tmp_path):
    check(old, new, key, sentence, lambda model: model.system, tmp_path)


@pytest.mark.parametrize(("old", "new", "key", "sentence"), STARTED)
def test_a_start_that_cannot_be_is_found_in_the_file(old, new, key, sentence, tmp_path):
    check(old, new, key, sentence, lambda model: model.state, tmp_path)


def test_the_good_file_is_good(tmp_path):
    model = ph.read_model(GOOD)
    assert model.output(ph.run(model))["angle"].shape == (11,)


def mutations(data, random):
    """The data with one or two of its values replaced, renamed or taken away."""
    junk = [
        None,
        True,
        0,
        -1,
        1.5,
        "",
        "x",
        "6 mm",
        [],
        [1, 2, 3],
        {},
        {"a": 1},
        "ground",
        ".nan",
        10**30,
        "~",
        {"circle": 1},
    ]
    for _ in range(random.choice([1, 1, 2])):
        inside = data
        while isinstance(inside, (dict, list)) and inside:
            keys = list(inside) if isinstance(inside, dict) else range(len(inside))
            holder, key = inside, random.choice(list(keys))
            inside = holder[key]
            if random.random() < 0.3:
                break
        if random.random() < 0.7 or isinstance(holder, list):
            holder[key] = random.choice(junk)
        elif random.random() < 0.5:
            del holder[key]
        else:
            holder[random.choice(["x", "length", "name", "mass", "", "1"])] = holder.pop(key)
    return data


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_wrong_ends_in_a_sentence(seed):
    random = Random(seed)
    good = [json.dumps(plain_model(ph.load_model(path))) for path in MODELS.glob("*.yaml") if path.stem != "robot_link"]
    refusals = 0
    for _ in range(100):
        try:
            plain_model(from_plain(mutations(json.loads(random.choice(good)), random)))
        except ph.InputError as error:  # and nothing else
            refusals += 1
            assert str(error)
    assert refusals > 40


# --- text that is no model --------------------------------------------------------------------------------------------


def test_at_least_forty_kinds_are_tried():
    assert len(READ) + len(BUILT) + len(STARTED) >= 80


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is nothing in it; begin with 'phloat: 1'"),
        ("# a comment\n", "there is nothing in it"),
        ("- phloat: 1", "found a list of 1; expected a mapping that begins with 'phloat: 1'"),
        ("phloat", "found 'phloat'; expected a mapping"),
        ("phloat: 1\n---\nphloat: 1", "there are two documents in it; a model is one"),
        ("phloat: 1\nbodies: {}", "expected bodies by name"),
        ("phloat: 1\nname: nothing", "'bodies' is missing"),
        ("phloat: 1\nbodies: *none", "no YAML"),
        ("phloat: 1\nbodies: &b {a: *b}", "an alias holds itself"),
        ("phloat: 1\nbodies: {<<: 3}", "<< takes a mapping"),
        ("phloat: 1\n\x00", "no YAML"),
        ("phloat: 1\nbodies: !include other.yaml", "the tag !include is refused"),
        ("phloat: 1\nbodies: !!set {a, b}", "the tag !!set is refused"),
    ],
)
def test_what_is_no_model_is_refused(text, sentence):
    with pytest.raises(ph.FileError, match=r"model\.yaml") as caught:
        ph.read_model(text)
    assert sentence in str(caught.value)


def test_aliases_that_multiply_are_counted():
    lines = ["phloat: 1", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 10)}]" for k in range(9)]  # ten thousand million
    with pytest.raises(ph.FileError, match=f"more than {MOST} values in it, aliases counted") as caught:
        ph.read_model("\n".join(lines))
    assert caught.value.line > 1


@pytest.mark.parametrize("name", ["deep.yaml", "deep.json"])
def test_what_is_too_deep_is_refused(name):
    deep = '{"phloat": 1, "bodies": ' + "[" * 5000 + "]" * 5000 + "}"
    with pytest.raises(ph.FileError, match=f"nested more than {DEEPEST} deep"):
        ph.read_model(deep, name)


@pytest.mark.parametrize("name", ["many.yaml", "many.json"])
def test_what_holds_too_much_is_refused(name):
    many = '{"phloat": 1, "bodies": [' + ", ".join(["1"] * (MOST + 1)) + "]}"
    with pytest.raises(ph.FileError, match=f"more than {MOST} values in it"):
        ph.read_model(many, name)


def test_what_is_too_large_is_refused(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text("phloat: 1\n" + "#" * LARGEST)
    with pytest.raises(ph.FileError, match="a model has at most"):
        ph.load_model(path)
    with pytest.raises(ph.FileError, match="a model has at most"):
        ph.read_model(path.read_text())


def test_huge_exponents_cost_nothing():
    with pytest.raises(ph.FileError, match="expected a stress"):
        ph.read_model(GOOD.replace("200 GPa", "1e999999999 GPa", 1))


def test_no_file_and_no_text(tmp_path):
    (tmp_path / "arm.yaml").write_text(GOOD)
    with pytest.raises(ph.InputError, match=r"models in that folder: arm\.yaml"):
        ph.load_model(tmp_path / "am.yaml")
    (tmp_path / "odd.yaml").write_bytes(b"phloat: \xff\xfe")
    with pytest.raises(ph.FileError, match="not UTF-8"):
        ph.load_model(tmp_path / "odd.yaml")


# --- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('{"phloat": 1,\n "name": "a",\n "name": "b"}', 3, "'name' stands there twice, first in line 2"),
        ('{"phloat": 1,\n "bodies": {"a": }}', 2, "no JSON: found '}}'; expected a value"),
        ('{"phloat": 1\n "name": 1}', 2, "a comma or } is missing"),
        ('{"phloat": 1,\n name: 1}', 2, "a key in quotation marks is missing"),
        ('{"phloat": 1,\n "name" 1}', 2, "a colon is missing after 'name'"),
        ('{"phloat": 1,\n "gravity": [0, 0 0]}', 2, "a comma or ] is missing"),
        (
            '{"phloat": 1, "bodies": {"a": {"point mass": 1}},\n "gravity": [0, 0, NaN]}',
            2,
            "found 'NaN'; expected a finite number: an acceleration",
        ),
        ('{"phloat": 1} x', 1, "something stands after its end"),
        ('{"phloat": 1,\n "name": "a', 2, "no JSON"),
        ('{"phloat": 1,', 1, "a key in quotation marks is missing"),
    ],
)
def test_wrong_json_is_refused_with_its_line(text, line, sentence):
    with pytest.raises(ph.FileError) as caught:
        ph.read_model(text, "model.json")
    assert sentence in str(caught.value)
    assert caught.value.line == line


def without_yaml(name, *args, **kwargs):
    if name == "yaml":
        raise ImportError(name)
    return IMPORT(name, *args, **kwargs)


IMPORT = builtins.__import__


def test_without_pyyaml_json_is_read_and_yaml_names_the_extra(monkeypatch):
    monkeypatch.setattr(builtins, "__import__", without_yaml)
    with pytest.raises(ph.FileError, match=r"pip install phloat\[files\], or write JSON"):
        ph.read_model(GOOD)
    data = {"phloat": 1, "bodies": {"a": {"point mass": "3 kg"}}}
    assert ph.parameters(ph.read_model(json.dumps(data), "a.json").system)["a.mass"] == 3.0


# --- files beside a model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("/etc/passwd", "a path without '..' that does not begin with '/'"),
        ("../link.msh", "a path without '..'"),
        ("a/../../link.msh", "a path without '..'"),
        ("C:/link.msh", "a path without '..'"),
        ("link.msh", "no file 'link.msh'; that folder holds arm.yaml"),
        ("outside.msh", "leads out of the folder of the model"),
        ("arm.yaml", "no reader of meshes for files '.yaml'"),
        ("broken.npz", "cannot be read as arrays of NumPy"),
    ],
)
def test_a_mesh_lies_in_the_folder_of_its_model(name, sentence, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.msh").write_text("")
    if name == "outside.msh":
        (folder / "outside.msh").symlink_to(tmp_path / "secret.msh")
    if name == "broken.npz":
        (folder / name).write_bytes(b"PK nothing")
    text = f"phloat: 1\nbodies:\n  a:\n    solid:\n      mesh: {name}\n      material: {{E: 1, rho: 1}}\n"
    (folder / "arm.yaml").write_text(text)
    with pytest.raises(ph.FileError) as caught:
        ph.load_model(folder / "arm.yaml")
    assert sentence in str(caught.value)
    assert caught.value.key.startswith("bodies.a.solid")
    assert caught.value.line in (4, 5)
    with pytest.raises(ph.FileError):
        ph.read_model(text)


# --- requests that are not there, and what no file can say ------------------------------------------------------------


@pytest.mark.parametrize("verb", [ph.run, ph.run_modes, ph.run_response, ph.run_sweep])
def test_a_request_that_is_not_there_is_said(verb):
    model = ph.read_model("phloat: 1\nname: lonely\nbodies: {a: {point mass: 1}}")
    with pytest.raises(ph.InputError, match="lonely does not ask for"):
        verb(model)
    with pytest.raises(ph.InputError, match="is no Model; load_model"):
        verb(model.system)


def beam(**options) -> ph.Beam:
    return ph.Beam(0.3, ph.Circle(0.006), ph.Material(2e11, 7870.0), **options)


def system_of(body, *joints) -> ph.System:
    return ph.connect({"rod": body}, [ph.Revolute("ground", "rod.P", name="hinge"), *joints], plane="xy")


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (lambda: system_of(ph.Beam(0.3, lambda s: ph.Circle(0.006), ph.Material(2e11, 7870.0)).discretise(2)), "rod"),
        (lambda: system_of(beam().discretise(4).reduced(ph.modal(beam().discretise(4).linear(), count=9))), "rod"),
        (
            lambda: system_of(beam().discretise(2), ph.Load("rod", along=(0, 1, 0), per_length=lambda s: s)),
            "a function",
        ),
        (lambda: ph.linearise(s := system_of(beam().discretise(2)), ph.place(s)), "neither a Model nor a System"),
    ],
)
def test_what_no_file_can_say_is_said(system, sentence, tmp_path):
    with pytest.raises(ph.InputError, match=sentence):
        ph.save_model(system(), tmp_path / "model.yaml")
    assert not list(tmp_path.iterdir())


def test_inputs_that_python_alone_knows_are_not_saved(tmp_path):
    model = replace(ph.read_model(GOOD), inputs={"shoulder": lambda t: t})
    with pytest.raises(
        ph.InputError, match="input 'shoulder' is a function that Python alone knows; a file says piecewise"
    ):
        ph.save_model(model, tmp_path / "model.yaml")


def test_a_model_is_saved_as_yaml_or_json(tmp_path):
    with pytest.raises(ph.InputError, match=r"a model is written to \.yaml or \.json"):
        ph.save_model(ph.read_model(GOOD), tmp_path / "model.txt")
