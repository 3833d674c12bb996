"""Wrong model files: each is refused with a sentence that names its line and key."""

import builtins
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from files_zoo import from_plain
from messages import raises

import phloat as ph
from phloat.files.model_files import plain_model
from phloat.files.text import MAX_DEPTH, MAX_NODES, MAX_SIZE

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

# what is replaced, by what (the line with ← is at fault), the key
READ = [
    ("phloat: 1", "phloat: 2  #←", "phloat"),
    ("phloat: 1", "phloat: one  #←", "phloat"),
    ("phloat: 1\nname: two links", "name: two links  #←", ""),
    ("plane: xy", "plane: xz  #←", "plane"),
    ("plane: xy", "plan: xy  #←", "plan"),
    ("[0, -9.81, 0]", "[0, -9.81]  #←", "gravity"),
    ("[0, -9.81, 0]", "down  #←", "gravity"),
    ("[0, -9.81, 0]", "[0, -9.81 kg, 0]  #←", "gravity[1]"),
    ("E: 200 GPa", "E: 200 GBa", "materials.steel.E"),
    ("E: 200 GPa", "E: 200 mm", "materials.steel.E"),
    ("E: 200 GPa", "E: -200 GPa", "materials.steel.E"),
    ("E: 200 GPa", "E: .inf", "materials.steel.E"),
    ("E: 200 GPa", "E: true", "materials.steel.E"),
    ("E: 200 GPa", "E: ", "materials.steel.E"),
    ("E: 200 GPa", "E: 1e999", "materials.steel.E"),
    ("E: 200 GPa", "E: two", "materials.steel.E"),
    ("E: 200 GPa", "E: 200 GPa per", "materials.steel.E"),
    ("E: 200 GPa, ", "", "materials.steel"),
    ("nu: 0.3", "nu: 0.7", "materials.steel.nu"),
    ("nu: 0.3", "mu: 0.3", "materials.steel.mu"),
    ("{circle: 6 mm}", "{circel: 6 mm}", "sections.round.circel"),
    ("{circle: 6 mm}", "{circle: 6 deg}", "sections.round.circle"),
    ("{circle: 6 mm}", "{circle: 6 mm, tube: {diameter: 1, wall: 0.1}}", "sections.round"),
    ("{circle: 6 mm}", "{tube: {diameter: 6 mm, wall: 4 mm}}", "sections.round.tube.wall"),
    ("section: round", "section: rond  #←", "bodies.upper.beam.section"),
    ("material: steel", "material: copper  #←", "bodies.upper.beam.material"),
    ("length: 30 cm", "lenght: 30 cm  #←", "bodies.upper.beam.lenght"),
    (
        "length: 30 cm",
        "length: [30 cm]  #←",
        "bodies.upper.beam.length",
    ),
    ("length: 30 cm", "length: 0  #←", "bodies.upper.beam.length"),
    ("length: 30 cm", "length: .nan  #←", "bodies.upper.beam.length"),
    (
        "material: steel",
        "material: steel\n      theory: bernoulli  #←",
        "bodies.upper.beam.theory",
    ),
    (
        "material: steel",
        "material: steel\n      stiffening: yes  #←",
        "bodies.upper.beam.stiffening",
    ),
    ("material: steel", "material: steel\n      masses: {1.5: 1 kg}  #←", "bodies.upper.beam.masses.1.5"),
    (
        "material: steel",
        "material: steel\n      ports: {P: 0.5}  #←",
        "bodies.upper.beam.ports",
    ),
    ("elements: 2", "elements: 2.5  #←", "bodies.upper.elements"),
    ("elements: 2", "elements: 0  #←", "bodies.upper.elements"),
    ("  upper:\n    beam", "  upper:\n    bean", "bodies.upper.bean"),
    (
        "  lower:",
        "  upper:  #←",
        "bodies.upper",
    ),
    ("  lower:", "  ground:  #←", "bodies.ground"),
    ("  lower:", "  lower.arm:  #←", "bodies.lower.arm"),
    (
        "[1e-5, 1e-4, 1e-4]",
        "[1e-5, 1e-4]  #←",
        "bodies.lower.rigid body.inertia",
    ),
    (
        "[1e-5, 1e-4, 1e-4]",
        "[1e-5, 1e-4, 1]  #←",
        "bodies.lower.rigid body.inertia",
    ),
    (
        "[1e-5, 1e-4, 1e-4]",
        "!!python/tuple [1, 2, 3]  #←",
        "bodies.lower.rigid body.inertia",
    ),
    ("mass: 100 g", "mass: !!python/object/apply:os.system ['true']  #←", "bodies.lower.rigid body.mass"),
    ("revolute: [ground, upper.P]", "revolut: [ground, upper.P]", "joints.shoulder.revolut"),
    ("revolute: [ground, upper.P]", "revolute: [ground]", "joints.shoulder.revolute"),
    ("{revolute: [ground, upper.P]}", "{axis: z}", "joints.shoulder"),
    ("[ground, upper.P]}", "[ground, upper.P], axis: w}", "joints.shoulder.axis"),
    ("[ground, upper.P]}", "[ground, upper.P], axis: [0, 0, 0]}", "joints.shoulder.axis"),
    ("[ground, upper.P]}", "[ground, upper.P], name: motor}", "joints.shoulder.name"),
    ("stiffness: 2 kN/m", "stiffness: 2 kN  #←", "joints.grip.stiffness"),
    ("stiffness: 2 kN/m", "stiffness: {0: 0, 0 mm: 1, 1: 2}  #←", "joints.grip.stiffness.0 mm"),
    (
        "grip:\n    spring: [ground, lower.tip]\n    stiffness: 2 kN/m",
        "grip: #←\n    spring: [ground, lower.tip]",
        "joints.grip",
    ),
    (
        "shoulder.angle: 30 deg",
        "shoulder.angle: 30 mm  #←",
        "start.place.shoulder.angle",
    ),
    ("piecewise: {0 s: 0,", "piecwise: {0 s: 0,", "inputs.shoulder.piecwise"),
    ("piecewise: {0 s: 0,", "piecewise: {0 m: 0,", "inputs.shoulder.piecewise.0 m"),
    ("piecewise: {0 s: 0,", "piecewise: {0 s: [0, 1],", "inputs.shoulder.piecewise"),
    ("t_end: 10 ms", "t_end: -10 ms  #←", "simulate.t_end"),
    ("simulate:\n  t_end: 10 ms\n  dt: 1 ms", "simulate:  #←\n  t_end: 10 ms", "simulate"),
    ("scheme: midpoint", "scheme: euler  #←", "simulate.scheme"),
    ("{count: 3}", "{count: 3, along: {a.theta: [0], b.theta: [0]}}", "modes.along"),
    ("from: 1 Hz", "from: 0 Hz", "response.omega.from"),
    ("from: 1 Hz", "from: 1 m", "response.omega.from"),
    ("{normal: {mean: 200 GPa, std: 4 GPa}}", "{norml: {}}", "sweep.parameters.upper.material.E.norml"),
    ("std: 4 GPa", "std: -4 GPa", "sweep.parameters.upper.material.E.normal.std"),
    (
        "upper.material.E: {normal: {mean: 200 GPa, std: 4 GPa}}",
        "grip.stiffness: [2 kN/m, 3 kg]",
        "sweep.parameters.grip.stiffness[1]",
    ),
    ("take: max", "take: maximum", "outputs.bent.take"),
    ("s: 0.5", "s: 1.5", "outputs.bent.s"),
    ("s: 0.5", "s: 0.5, at: [0, 0, 0]", "outputs.bent.s"),
    ("name: two links", "name: [two, links]  #←", "name"),
    ("modes: {count: 3}", "modes: {count: 3 #←\nx: [", ""),
    ("modes: {count: 3}", "modes:\n\tcount: 3  #←", ""),
    ("modes: {count: 3}", "? [a, b]\n: 3  #", ""),
]
BUILT = [
    ("[ground, upper.P]", "[ground, uper.P]", "joints.shoulder.revolute[1]"),
    ("[ground, upper.P]", "[ground, upper.X]", "joints.shoulder.revolute[1]"),
    ("[ground, upper.P]}", "[ground, upper.P], axis: x}", "joints.shoulder"),
    ("[0, -9.81, 0]", "[0, 0, -9.81]  #←", "gravity"),
    ("simulate:", "lock: shoulda  #←\nsimulate:", "lock"),
    ("simulate:", "drive: grip  #←\nsimulate:", "drive"),
    (
        "material: steel",
        "material: steel\n      frame: {0.3: [u_x]}  #←",
        "bodies.upper.beam.frame",
    ),
    (
        "elements: 2",
        "elements: [0, 0.7, 0.5, 1]  #←",
        "bodies.upper.elements[1]",
    ),
]
STARTED = [
    ("shoulder.angle: 30 deg", "sholder.angle: 30 deg  #←", "start.place.sholder.angle"),
    ("shoulder.angle: 30 deg", "shoulder.angle: [0, 1]  #←", "start.place.shoulder.angle"),
    ("  shoulder: {piece", "  sholder: {piece", "inputs.sholder"),
    ("{piecewise: {0 s: 0, 0.1 s: 0.05 N m}}", "[1, 2]", "inputs.shoulder"),
    ("0.05 N m", "0.05 N", "inputs.shoulder.piecewise.0.1 s"),
]


def refused(text: str, touch, tmp_path, name: str = "model.yaml") -> ph.errors.FileError:
    path = tmp_path / name
    path.write_text(text)
    with raises(ph.errors.FileError) as caught:
        touch(ph.io.load_model(path))
    return caught.value


def at_fault(old: str, new: str) -> tuple[str, int]:
    """The wrong text, and the line that is wrong: the one with an arrow, or the one that was changed."""
    assert GOOD.count(old) >= 1, old
    text = GOOD.replace(old, new, 1)
    arrow = text.find("←")
    return text, text[: arrow if arrow >= 0 else GOOD.index(old)].count("\n") + 1


def check(old: str, new: str, key: str, touch, tmp_path) -> None:
    text, line = at_fault(old, new)
    error = refused(text, touch, tmp_path)
    assert error.key == key
    if not new.endswith("#"):  # else the line before is named, where it begins
        assert abs(error.line - line) <= (0 if "←" in new or "\n" not in old + new else 1)
    if error.line:
        assert f"line {error.line}" in str(error)
    assert str(error).startswith("model.yaml")
    assert "\n" not in str(error)


@pytest.mark.parametrize(("old", "new", "key"), READ)
def test_a_wrong_file_is_refused_with_line_and_key(old, new, key, tmp_path):
    check(old, new, key, lambda model: None, tmp_path)


@pytest.mark.parametrize(("old", "new", "key"), BUILT)
def test_what_cannot_be_connected_is_found_in_the_file(old, new, key, tmp_path):
    check(old, new, key, lambda model: model.system, tmp_path)


@pytest.mark.parametrize(("old", "new", "key"), STARTED)
def test_a_start_that_cannot_be_is_found_in_the_file(old, new, key, tmp_path):
    check(old, new, key, lambda model: model.state, tmp_path)


def test_the_good_file_is_good(tmp_path):
    model = ph.io.parse_model(GOOD)
    assert model.output(ph.io.run_model(model))["angle"].shape == (11,)


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
    good = [
        json.dumps(plain_model(ph.io.load_model(path))) for path in MODELS.glob("*.yaml") if path.stem != "robot_link"
    ]
    refusals = 0
    for _ in range(100):
        try:
            plain_model(from_plain(mutations(json.loads(random.choice(good)), random)))
        except ph.errors.InputError as error:  # and nothing else
            refusals += 1
            assert str(error)
    assert refusals > 40


# --- text that is no model --------------------------------------------------------------------------------------------


def test_at_least_forty_kinds_are_tried():
    assert len(READ) + len(BUILT) + len(STARTED) >= 80


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", ""),
        ("# a comment\n", ""),
        ("- phloat: 1", ""),
        ("phloat", "'phloat'"),
        ("phloat: 1\n---\nphloat: 1", ""),
        ("phloat: 1\nbodies: {}", "bodies"),
        ("phloat: 1\nname: nothing", "'bodies'"),
        ("phloat: 1\nbodies: *none", ""),
        ("phloat: 1\nbodies: &b {a: *b}", "bodies.a"),
        ("phloat: 1\nbodies: {<<: 3}", "bodies"),
        ("phloat: 1\n\x00", ""),
        ("phloat: 1\nbodies: !include other.yaml", "!include"),
        ("phloat: 1\nbodies: !!set {a, b}", "!!set"),
    ],
)
def test_what_is_no_model_is_refused(text, name):
    with raises(ph.errors.FileError, "model.yaml", name):
        ph.io.parse_model(text)


def test_aliases_that_multiply_are_counted():
    lines = ["phloat: 1", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 10)}]" for k in range(9)]  # ten thousand million
    with raises(ph.errors.FileError, MAX_NODES) as caught:
        ph.io.parse_model("\n".join(lines))
    assert caught.value.line > 1


@pytest.mark.parametrize("name", ["deep.yaml", "deep.json"])
def test_what_is_too_deep_is_refused(name):
    deep = '{"phloat": 1, "bodies": ' + "[" * 5000 + "]" * 5000 + "}"
    with raises(ph.errors.FileError, MAX_DEPTH):
        ph.io.parse_model(deep, name)


@pytest.mark.parametrize("name", ["many.yaml", "many.json"])
def test_what_holds_too_much_is_refused(name):
    many = '{"phloat": 1, "bodies": [' + ", ".join(["1"] * (MAX_NODES + 1)) + "]}"
    with raises(ph.errors.FileError, MAX_NODES):
        ph.io.parse_model(many, name)


def test_what_is_too_large_is_refused(tmp_path):
    path = tmp_path / "large.yaml"
    path.write_text("phloat: 1\n" + "#" * MAX_SIZE)
    with raises(ph.errors.FileError, "large.yaml"):
        ph.io.load_model(path)
    with raises(ph.errors.FileError, "model.yaml"):
        ph.io.parse_model(path.read_text())


def test_huge_exponents_cost_nothing():
    with raises(ph.errors.FileError, "materials.steel.E"):
        ph.io.parse_model(GOOD.replace("200 GPa", "1e999999999 GPa", 1))


def test_no_file_and_no_text(tmp_path):
    (tmp_path / "arm.yaml").write_text(GOOD)
    with raises(ph.errors.InputError, "am.yaml"):
        ph.io.load_model(tmp_path / "am.yaml")
    (tmp_path / "odd.yaml").write_bytes(b"phloat: \xff\xfe")
    with raises(ph.errors.FileError, "odd.yaml"):
        ph.io.load_model(tmp_path / "odd.yaml")


# --- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ('{"phloat": 1,\n "name": "a",\n "name": "b"}', 3, "'name'"),
        ('{"phloat": 1,\n "bodies": {"a": }}', 2, ""),
        ('{"phloat": 1\n "name": 1}', 2, ""),
        ('{"phloat": 1,\n name: 1}', 2, ""),
        ('{"phloat": 1,\n "name" 1}', 2, ""),
        ('{"phloat": 1,\n "gravity": [0, 0 0]}', 2, ""),
        ('{"phloat": 1, "bodies": {"a": {"point mass": 1}},\n "gravity": [0, 0, NaN]}', 2, "'NaN'"),
        ('{"phloat": 1} x', 1, ""),
        ('{"phloat": 1,\n "name": "a', 2, ""),
        ('{"phloat": 1,', 1, ""),
    ],
)
def test_wrong_json_is_refused_with_its_line(text, line, name):
    with raises(ph.errors.FileError, name) as caught:
        ph.io.parse_model(text, "model.json")
    assert caught.value.line == line


def without_yaml(name, *args, **kwargs):
    if name == "yaml":
        raise ImportError(name)
    return IMPORT(name, *args, **kwargs)


IMPORT = builtins.__import__


def test_without_pyyaml_json_is_read_and_yaml_names_the_extra(monkeypatch):
    monkeypatch.setattr(builtins, "__import__", without_yaml)
    with raises(ph.errors.FileError, "PyYAML"):
        ph.io.parse_model(GOOD)
    data = {"phloat": 1, "bodies": {"a": {"point mass": "3 kg"}}}
    assert ph.parameters(ph.io.parse_model(json.dumps(data), "a.json").system)["a.mass"] == 3.0


# --- files beside a model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("/etc/passwd", "'/etc/passwd'"),
        ("../link.msh", "bodies.a.solid.mesh"),
        ("a/../../link.msh", "bodies.a.solid.mesh"),
        ("C:/link.msh", "bodies.a.solid.mesh"),
        ("link.msh", "'link.msh'"),
        ("outside.msh", "'outside.msh'"),
        ("arm.yaml", "'.yaml'"),
        ("broken.npz", "broken.npz"),
    ],
)
def test_a_mesh_lies_in_the_folder_of_its_model(name, said, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.msh").write_text("")
    if name == "outside.msh":
        (folder / "outside.msh").symlink_to(tmp_path / "secret.msh")
    if name == "broken.npz":
        (folder / name).write_bytes(b"PK nothing")
    text = f"phloat: 1\nbodies:\n  a:\n    solid:\n      mesh: {name}\n      material: {{E: 1, rho: 1}}\n"
    (folder / "arm.yaml").write_text(text)
    with raises(ph.errors.FileError, said) as caught:
        ph.io.load_model(folder / "arm.yaml")
    assert caught.value.key.startswith("bodies.a.solid")
    assert caught.value.line in (4, 5)
    with raises(ph.errors.FileError):
        ph.io.parse_model(text)


# --- requests that are not there, and what no file can say ------------------------------------------------------------


@pytest.mark.parametrize("verb", [ph.io.run_model, ph.io.run_modes, ph.io.run_response, ph.io.run_sweep])
def test_a_request_that_is_not_there_is_said(verb):
    model = ph.io.parse_model("phloat: 1\nname: lonely\nbodies: {a: {point mass: 1}}")
    with raises(ph.errors.InputError, "lonely"):
        verb(model)
    with raises(ph.errors.InputError, "System"):
        verb(model.system)


def beam(**options) -> ph.Beam:
    return ph.Beam(0.3, ph.Circle(0.006), ph.Material(2e11, 7870.0), **options)


def system_of(body, *joints) -> ph.System:
    return ph.connect({"rod": body}, [ph.Revolute("ground", "rod.P", name="hinge"), *joints], plane="xy")


@pytest.mark.parametrize(
    ("system", "name"),
    [
        (lambda: system_of(ph.Beam(0.3, lambda s: ph.Circle(0.006), ph.Material(2e11, 7870.0)).discretise(2)), "'rod'"),
        (
            lambda: system_of(
                beam().discretise(4).reduced(ph.reduction.modal_basis(beam().discretise(4).linear(), count=9))
            ),
            "'rod'",
        ),
        (lambda: system_of(beam().discretise(2), ph.Load("rod", along=(0, 1, 0), per_length=lambda s: s)), "load"),
        (lambda: ph.linearise(s := system_of(beam().discretise(2)), ph.place(s)), "LinearPHDAE"),
    ],
)
def test_what_no_file_can_say_is_said(system, name, tmp_path):
    with raises(ph.errors.InputError, name):
        ph.io.save_model(system(), tmp_path / "model.yaml")
    assert not list(tmp_path.iterdir())


def test_inputs_that_python_alone_knows_are_not_saved(tmp_path):
    model = replace(ph.io.parse_model(GOOD), inputs={"shoulder": lambda t: t})
    with raises(ph.errors.InputError, "'shoulder'"):
        ph.io.save_model(model, tmp_path / "model.yaml")


def test_a_model_is_saved_as_yaml_or_json(tmp_path):
    with raises(ph.errors.InputError, "'model.txt'"):
        ph.io.save_model(ph.io.parse_model(GOOD), tmp_path / "model.txt")
