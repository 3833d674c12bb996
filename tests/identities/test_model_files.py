"""Files say what Python says: twins agree to the bit, saved models come back, the schema is that of the reader."""

import dataclasses
import importlib
import json
import warnings
from dataclasses import replace
from pathlib import Path

import jsonschema
import matrices_zoo
import numpy as np
import pytest
import scipy.sparse as sp
from files_zoo import from_plain, read_plain
from messages import raises, warns

import phloat as ph
from phloat.algebra.metadata import describe
from phloat.bodies.body import Body
from phloat.files.model_files import model_schema, plain_model
from phloat.files.text import parse
from phloat.format import records
from phloat.format.joints import JOINTS, joint
from phloat.format.kinds import Writer
from phloat.format.records import Variants
from phloat.format.system import BODY, plain
from phloat.joints import elements, loads, pairs, tie
from phloat.joints.laws import Law

MODELS = Path(__file__).parents[2] / "examples" / "models"
FILES = sorted(p for p in MODELS.iterdir() if p.suffix in (".yaml", ".json"))
RUNS = {
    "crank_slider": lambda twin: twin.linear,
    "double_pendulum": lambda twin: twin.bent[-1],
    "flexible_arm": lambda twin: twin.runs["shaped"],
    "heavy_top": lambda twin: twin.fourth[-1],
    "hinged_beam": lambda twin: twin.result,
    "plate_with_rod": lambda twin: twin.results["bfs"],
    "robot_link": lambda twin: twin.result,
    "satellite": lambda twin: twin.result,
    "spin_up": lambda twin: twin.result,
}
SLOW = ("robot_link", "plate_with_rod", "flexible_arm")  # their twins do much more


def model_of(name: str) -> ph.io.Model:
    return ph.io.load_model(MODELS / f"{name}.yaml")


def quiet_run(model: ph.io.Model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.UnfeltMotionWarning)
        return ph.io.run_model(model)


# --- twins ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n in SLOW)) for n in RUNS])
def test_a_file_moves_as_its_python_twin(name):
    found, twin = quiet_run(model_of(name)), RUNS[name](importlib.import_module(name))
    np.testing.assert_array_equal(found.t, twin.t)
    exact = name not in ("plate_with_rod", "robot_link")  # a polynomial multiplied out; rates of 1e-24 at the start
    np.testing.assert_allclose(found.e, twin.e, rtol=0.0, atol=0.0 if exact else 1e-12 * np.abs(twin.e).max())


def test_the_four_bar_has_the_frequencies_of_its_twin_at_all_crank_angles():
    twin = importlib.import_module("four_bar")
    found = ph.io.run_modes(model_of("four_bar"))
    np.testing.assert_allclose(np.rad2deg(found.values), twin.degrees, atol=1e-12)
    np.testing.assert_allclose(found.omega, twin.omega, rtol=1e-12)


def test_the_plate_with_its_rod_is_that_of_python():
    model = model_of("plate_with_rod")
    alu = ph.Material(E=70e9, nu=0.35, rho=2700.0)
    plate = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=alu, clamped="left", elements="bfs").discretise(16)
    rod = ph.RigidBody(mass=50.0, inertia=np.diag([4.16667, 1.0, 4.16667])).discretise()
    push = ph.Pressure("plate", lambda x, y: 1e5 * (y + 10 * (y - 0.5) ** 2), name="push")
    with warns(ph.errors.UnfeltMotionWarning):
        twin = ph.tie({"plate": plate, "rod": rod}, [ph.Tie("plate.right", "rod.P", of="w", name="weld"), push])
    found = built(model)
    for name in ("E", "J", "R", "G"):
        assert same(getattr(found, name), getattr(twin, name))
    difference = (found.B - twin.B).toarray()
    assert np.abs(difference).max() <= 1e-14 * np.abs(twin.B.toarray()).max()  # the polynomial is multiplied out


def test_outputs_are_those_of_the_result():
    model = model_of("crank_slider")
    result = ph.io.run_model(model)
    out = model.output(result)
    np.testing.assert_array_equal(out["bending"], result.displacement("rod", s=0.5)[:, 1])
    assert out["largest bending"] == out["bending"].max()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("motor.angle", lambda r: r["motor.angle"]),
        ("{quantity: coupler.r_P, component: y, take: min}", lambda r: r["coupler.r_P"][:, 1].min()),
        ("{position: coupler, s: 0.5, component: x, take: mean}", lambda r: r.position("coupler", s=0.5)[:, 0].mean()),
        ("{position: coupler, at: [0.1, 0, 0], take: last}", lambda r: r.position("coupler", at=(0.1, 0, 0))[-1]),
        (
            "{stress: follower, s: 0, component: M_z, take: largest}",
            lambda r: np.abs(r.stress("follower", s=0.0)["M_z"]).max(),
        ),
        ("energy", lambda r: r.energy),
        ("{quantity: momentum, component: x}", lambda r: r.momentum[:, 0]),
    ],
)
def test_each_kind_of_output_is_that_of_python(text, expected):
    source = (MODELS / "four_bar.yaml").read_text().partition("simulate:")[0]
    model = ph.io.parse_model(f"{source}simulate: {{t_end: 10 ms, dt: 1 ms}}\noutputs: {{out: {text}}}\n")
    result = ph.io.run_model(model)
    np.testing.assert_array_equal(model.output(result)["out"], expected(result))


def test_the_largest_stress_as_an_output_is_that_of_python():
    model = model_of("satellite")
    model = dataclasses.replace(model, simulate=dataclasses.replace(model.simulate, t_end=0.02))
    asked = ph.io.parse_model("phloat: 1\nbodies: {a: {point mass: 1}}\noutputs: {o: {von mises: left}}").outputs["o"]
    result = ph.io.run_model(model)
    np.testing.assert_array_equal(asked.value(result), result.von_mises("left")[0])
    assert result.von_mises("left")[0].max() > 0.0


def test_outputs_of_a_linear_run_are_those_of_its_points():
    model = model_of("plate_with_rod")
    model = dataclasses.replace(model, simulate=dataclasses.replace(model.simulate, t_end=1e-4))
    result = quiet_run(model)
    out = model.output(result)
    points = result.system.fields["plate"].points
    corner = int(np.flatnonzero((points == [1.0, 1.0, 0.0]).all(axis=1))[0])
    np.testing.assert_array_equal(out["corner"], result.displacement("plate")[:, corner, 2])
    np.testing.assert_array_equal(out["energy"], result.energy)
    for text in ("{position: plate, s: 0.5}", "{displacement: plate, s: 0.5}", "momentum", "{von mises: plate}"):
        asked = ph.io.parse_model(f"phloat: 1\nbodies: {{a: {{point mass: 1}}}}\noutputs: {{o: {text}}}").outputs["o"]
        with raises(ph.errors.InputError):
            asked.value(result)


def test_the_modes_and_the_response_of_a_file_are_those_of_python():
    model = model_of("satellite")
    expected = ph.modes(ph.linearise(model.system, model.state), 12)
    np.testing.assert_array_equal(ph.io.run_modes(model).omega, expected.omega)
    arm = model_of("flexible_arm")
    H = ph.io.run_response(arm)
    np.testing.assert_allclose(H.omega[[0, -1]], 2 * np.pi * np.array([0.1, 100.0]))
    again = ph.response(ph.linearise(arm.system, arm.state), ["shoulder", "elbow"], omega=H.omega)
    np.testing.assert_array_equal(H.values, again.values)


def test_a_sweep_of_a_file_is_the_ensemble_of_python():
    model = model_of("crank_slider")
    model = dataclasses.replace(
        model,
        simulate=dataclasses.replace(model.simulate, t_end=0.002),
        sweep=dataclasses.replace(model.sweep, samples=4),
    )
    found = ph.io.run_sweep(model, workers=1)
    asked = model.simulate
    again = ph.ensemble(
        model.system,
        {"rod.material.E": ph.random.normal(2e11, 4e9), "slider.mass": ph.random.uniform(0.0317, 0.035)},
        4,
        t_end=asked.t_end,
        dt=asked.dt,
        u=model.inputs,
        sampling="sobol",
        start=model.state,
        output=lambda r: {"largest bending": r.displacement("rod", s=0.5)[:, 1].max()},
        workers=1,
    )
    np.testing.assert_allclose(found["largest bending"], again["largest bending"], rtol=1e-12)


# --- round trips ------------------------------------------------------------------------------------------------------


def same(a, b) -> bool:
    """Equal to the bit: numbers, arrays, sparse matrices, and what dataclasses hold."""
    if sp.issparse(a):
        return (
            a.shape == b.shape and same(a.tocsr().data, b.tocsr().data) and same(a.tocsr().indices, b.tocsr().indices)
        )
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Body):
        return all(
            same(getattr(a, n), getattr(b, n)) for n in ("inertia", "elastic", "ports", "planar", "active", "pieces")
        )
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same(getattr(a, f.name), getattr(b, f.name))
            for f in dataclasses.fields(a)
            if f.name not in ("recipe", "joint")
        )
    return type(a) is type(b) and a == b


def same_systems(a, b) -> bool:
    if isinstance(a, ph.System):
        names = ("bodies", "joints", "gravity", "plane", "elements", "actuators")
        return all(same(getattr(a, n), getattr(b, n)) for n in names)
    return all(same(getattr(a, n), getattr(b, n)) for n in ("E", "J", "R", "B", "G", "B_lam"))


def built(model: ph.io.Model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.UnfeltMotionWarning)
        return model.system


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
@pytest.mark.parametrize(
    "path", [pytest.param(p, marks=[pytest.mark.long] * (p.stem == "robot_link"), id=p.name) for p in FILES]
)
def test_a_model_that_is_saved_and_loaded_is_the_same(path, suffix, tmp_path):
    model = ph.io.load_model(path)
    one, two = tmp_path / f"model{suffix}", tmp_path / "again" / f"model{suffix}"
    two.parent.mkdir()
    ph.io.save_model(model, one)
    again = ph.io.load_model(one)
    assert same_systems(built(model), built(again))
    ph.io.save_model(again, two)
    assert one.read_text() == two.read_text()
    if isinstance(model.system, ph.System):
        assert np.array_equal(model.state.e, again.state.e)
    assert again.outputs == model.outputs and again.name == model.name


def test_a_saved_model_runs_to_the_same_bits(tmp_path):
    model = model_of("double_pendulum")
    ph.io.save_model(model, tmp_path / "model.json")
    again = ph.io.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(ph.io.run_model(model).e, ph.io.run_model(again).e)


steel = ph.Material(E=2.07e11, rho=7801.3, nu=0.29)
wood = ph.Orthotropic(E=(11e9, 0.9e9, 0.5e9), nu=(0.3, 0.4, 0.6), G=(0.7e9, 0.6e9, 0.1e9), rho=500.0)
beam = ph.Beam(1 / 3, ph.Tube(0.02, 0.002), steel, theory="timoshenko", masses={0.25: 1 / 7}, ports={"mid": 0.5})
cone = ph.Beam(
    0.3,
    ph.Taper({0.0: ph.Circle(0.02), 0.4: ph.Circle(0.015), 1.0: ph.Circle(0.01)}),
    ph.Taper({0.0: steel, 1.0: ph.Material(7e10, 2700.0, 0.33)}),
    damping=ph.Rayleigh(mass=0.1, stiffness=1e-5, relative_to="C"),
)
hub = ph.RigidBody(
    2.0, np.array([[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.04]]), (0.1, 0, 0), {"side": (0.2, 0.1, 0)}
)
plate = ph.Plate.rectangle(
    0.4,
    0.3,
    material=ph.Laminate([(wood, 1e-3, 0.3), (steel, 2e-3, 0.0), (wood, 1e-3, -0.3)]),
    frame="left",
    ports={"root": "left"},
)
mesh = ph.shapes.box(0.2, 0.05, 0.04, 4, 1, 1, kind="hexahedron")


def block() -> ph.Body:
    recipe = ph.Solid(mesh, wood, frame="left", ports={"A": "left", "B": ph.Mean("right"), "top": (0.1, 0.05, 0.02)})
    return recipe.discretise(order=2, refine=0).reduced(modes=3, stiffened=2)


def sheet() -> ph.Body:
    recipe = ph.Sheet.rectangle(
        0.2, 0.05, material=steel, thickness=2e-3, plane="strain", frame="left", ports={"A": "left"}
    )
    return recipe.discretise(6, order=1).reduced(modes=4)


def chunk() -> ph.Body:
    """A box as another code writes it."""
    found = matrices_zoo.box(cells=(3, 1, 1))
    ends = {"A": found.on(0.0), "B": found.on(1.0)}
    return ph.Superelement.from_matrices(*found, ends, modes=2, mean=("B",), damping=ph.KelvinVoigt(1e-5)).discretise()


def nested() -> ph.System:
    stage = ph.connect(
        {"arm": beam.discretise(2), "tip": ph.PointMass(0.2).discretise()},
        [
            ph.Revolute("ground", "arm.P", name="motor"),
            ph.Spherical("arm.C", "tip.P"),
            ph.JointDamper("motor", damping=0.1),
        ],
    )
    return ph.connect(
        {"stage": stage, "hub": hub.discretise()},
        [
            ph.Spring("stage.arm.mid", "hub.side", stiffness=100.0, length=0.1),
            ph.JointSpring("stage.motor", stiffness=2.0),
        ],
        gravity=(0, 0, -9.81),
    )


def space(body, port: str = "P", *more) -> ph.System:
    return ph.connect(
        {"body": body, "hub": hub.discretise()},
        [ph.Weld("ground", f"body.{port}"), ph.Weld("hub.P", "ground", at=(0, 1, 0)), *more],
    )


SYSTEMS = {
    "taper": lambda: space(cone.discretise([0.0, 0.3, 1.0])),
    "split": lambda: ph.connect(
        {"long": beam.split(3).discretise(2)}, [ph.Revolute("ground", "long.P", axis=(0, 1, 0))]
    ),
    "split and reduced": lambda: ph.connect(
        {"long": beam.split(2).discretise(4).reduced(modes=2)}, [ph.Revolute("ground", "long.P")], plane="xy"
    ),
    "modal damping": lambda: space(dataclasses.replace(beam, damping=ph.ModalDamping(0.01, "body")).discretise(2)),
    "reduced": lambda: space(beam.discretise(6).reduced(modes=2, axial=1, torsion=1, loaded=("C", "mid"))),
    "frame": lambda: space(
        dataclasses.replace(beam, frame={0.0: ("u_x", "u_y", "u_z", "theta_x"), 1.0: ("u_y", "u_z")}).discretise(2)
    ),
    "laminate": lambda: space(plate.discretise((4, 2)).reduced(modes=2), "root"),
    "solid": lambda: space(block(), "A"),
    "sheet": lambda: ph.connect({"body": sheet()}, [ph.Revolute("ground", "body.A")], plane="xy"),
    "superelement": lambda: space(chunk(), "A"),
    "nested": nested,
    "locked and driven": lambda: ph.drive(
        ph.lock(
            ph.connect(
                {"a": beam.discretise(2), "b": beam.discretise(2)},
                [ph.Revolute("ground", "a.P", name="one"), ph.Revolute("a.C", "b.P", name="two")],
                plane="xy",
                gravity=(0, -9.81, 0),
            ),
            "two",
        ),
        "one",
    ),
}
OTHERS = {
    "prismatic": ph.Prismatic("ground", "hub.side", axis=(1, 0, 0), turned=(0, 0, 0.1)),
    "universal": ph.Universal("ground", "hub.side", axis=(0, 1, 0)),
    "cylindrical": ph.Cylindrical("ground", "hub.side", at=(0.1, 0, 0)),
    "planar": ph.Planar("ground", "hub.side", name="floor"),
    "slide": ph.Slide("ground", "hub.side", along=(0.6, 0.8, 0)),
    "pose": ph.Drive("ground", "hub.side", of="pose", name="shaker"),
    "bushing": ph.Bushing("body.C", "hub.side", stiffness=(1e3, 2e3, 3e3, 1, 2, 3), damping=(1, 2, 3, 0, 0, 0)),
    "table": ph.Spring("body.C", "hub.side", stiffness={-0.1: -5.0, 0.0: 0.0, 0.2: 30.0}, length=0.2),
    "function": ph.Spring("body.C", "hub.side", stiffness=lambda x: 40 * x + 5 * x**3, over=(-0.3, 0.3)),
    "damper": ph.Damper("body.C", "hub.side", damping=3.0),
    "friction": ph.Damper("body.C", "hub.side", damping={-1.0: -2.0, 0.0: 0.0, 1.0: 2.0}),
    "force": ph.Force("body.C", along=(0, 0, -1), axes="body"),
    "torque": ph.Torque("body.C", about=(1, 2, 3), name="twist"),
    "load": ph.Load("body", along=(0, 1, 0), per_length=7.0),
    "wind": ph.Load("body", along=(0, 1, 0), per_length=ph.Profile({0.0: 1.0, 0.5: 3.0, 1.0: 1 / 3})),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_of_python_is_saved_and_comes_back_to_the_bit(name, tmp_path):
    system = SYSTEMS[name]()
    ph.io.save_model(system, tmp_path / "model.yaml")
    again = ph.io.load_model(tmp_path / "model.yaml")
    assert same_systems(system, again.system)
    assert ph.parameters(system) == ph.parameters(again.system)
    ph.io.save_model(again, tmp_path / "again.yaml")
    one, two = ((tmp_path / name).read_text() for name in ("model.yaml", "again.yaml"))
    assert one == two.replace("again.body.npz", "model.body.npz")


@pytest.mark.parametrize("name", OTHERS)
def test_joints_and_forces_come_back_to_the_bit(name):
    system = space(beam.discretise(1), "P", OTHERS[name])
    again = from_plain(json.loads(json.dumps(plain(system)))).system
    assert same_systems(system, again)


def test_a_system_that_is_saved_moves_to_the_same_bits(tmp_path):
    system = SYSTEMS["split and reduced"]()
    ph.io.save_model(system, tmp_path / "model.yaml")
    again = ph.io.load_model(tmp_path / "model.yaml").system
    runs = [
        ph.simulate(s, ph.set_moving(s, ph.place(s), {"long.1.omega": 2.0}), t_end=0.01, dt=1e-3)
        for s in (system, again)
    ]
    np.testing.assert_array_equal(runs[0].e, runs[1].e)


def test_plain_data_has_no_place_for_meshes_unless_it_is_given_one():
    with raises(ph.errors.InputError, "'body'"):
        plain(SYSTEMS["solid"]())
    kept = {}
    data = plain(
        SYSTEMS["solid"](), arrays=lambda name, arrays: kept.setdefault(f"{name}.npz", arrays) and f"{name}.npz"
    )
    assert data["bodies"]["body"]["solid"]["mesh"] == "body.npz"
    assert kept["body.npz"]["cells"].shape == (4, 8)


SMALL = """
phloat: 1
materials: {soft: {E: 1 MPa, rho: 1000, nu: 0.4}, hard: {E: 1 GPa, rho: 1000}}
bodies:
  block:
    solid: {box: {a: 20 cm, b: 5 cm, c: 4 cm, cells: tetrahedron}, material: soft, clamped: left, held: {bottom: z}}
    cells: [3, 1, 1]
    order: 1
  lid:
    plate: {rectangle: {a: 20 cm, b: 10 cm}, thickness: {polynomial: {1: 1 mm, x: 2e-3}}, material: hard, supported: all}
    cells: [2, 2]
joints:
  pull: {traction: block.right, per_area: {components: [1 kPa, {polynomial: {y: 2, z^2: 3}}, 0]}}
  press: {pressure: lid}
modes: {count: 4}
"""


def test_small_motions_of_a_file_are_those_of_python(tmp_path):
    model = ph.io.parse_model(SMALL)
    soft, hard = ph.Material(1e6, 1000.0, 0.4), ph.Material(1e9, 1000.0)
    block = ph.Solid.box(0.2, 0.05, 0.04, cells="tetrahedron", material=soft, clamped="left", held={"bottom": "z"})
    lid = ph.Plate.rectangle(0.2, 0.1, thickness=lambda x, y: 1e-3 + 2e-3 * x, material=hard, supported="all")
    pull = ph.Traction("block.right", lambda x, y, z: (1e3 + 0 * x, 2 * y + 3 * z**2, 0 * x), name="pull")
    bodies = {"block": block.discretise((3, 1, 1), order=1), "lid": lid.discretise((2, 2))}
    twin = ph.tie(bodies, [pull, ph.Pressure("lid", name="press")])
    for name in ("E", "J", "B"):
        difference = abs(getattr(model.system, name) - getattr(twin, name)).max()
        assert difference <= 1e-14 * abs(getattr(twin, name)).max()
    ph.io.save_model(model, tmp_path / "model.yaml")
    assert same_systems(ph.io.load_model(tmp_path / "model.yaml").system, model.system)
    np.testing.assert_allclose(ph.io.run_modes(model).omega, ph.modes(twin, 4).omega, rtol=1e-9)


def test_files_beside_a_model_have_names_that_are_files(tmp_path):
    bodies = dict.fromkeys(("a/b", "a b", "plain"), chunk())
    system = ph.connect(bodies, [ph.Weld("ground", f"{name}.A") for name in bodies])
    ph.io.save_model(system, tmp_path / "model.yaml")
    assert {p.name for p in tmp_path.iterdir()} == {"model.yaml", "model.a_b.npz", "model.a_b_.npz", "model.plain.npz"}
    assert same_systems(system, ph.io.load_model(tmp_path / "model.yaml").system)


def test_names_of_materials_and_sections_are_kept():
    data = plain_model(model_of("four_bar"))
    assert list(data["materials"]) == ["aluminium"] and list(data["sections"]) == ["thick", "thin"]
    assert data["bodies"]["crank"]["beam"]["section"] == "thick"


# --- the schema -------------------------------------------------------------------------------------------------------


def plain_data(node):
    """What JSON would hold of a file."""
    if node.entries is not None:
        return {key: plain_data(inner) for key, inner in node.entries.items()}
    if node.items is not None:
        return [plain_data(item) for item in node.items]
    if node.quoted:
        return node.text
    try:
        return json.loads(node.text)
    except ValueError:
        return None if node.empty else node.text


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(model_schema())


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_example_validates_and_names_the_schema(path, tmp_path):
    text = path.read_text()
    validator = jsonschema.Draft202012Validator(model_schema())
    validator.validate(plain_data(parse(text, path.name)))
    validator.validate(plain_model(ph.io.load_model(path), tmp_path / "model.yaml"))
    assert "../../model.schema.json" in text.splitlines()[0 if path.suffix == ".yaml" else 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(phloat=2),
        lambda d: d.update(plan="xy"),
        lambda d: d["bodies"]["rod"].pop("elements"),
        lambda d: d["bodies"]["rod"]["beam"].update(theory="bernoulli"),
        lambda d: d["bodies"]["rod"]["beam"].update(length=-1.0),
        lambda d: d["bodies"]["rod"]["beam"].update(length=True),
        lambda d: d["joints"].append({"revolve": ["ground", "rod.P"]}),
        lambda d: d["joints"].append({"revolute": ["ground"]}),
        lambda d: d["simulate"].update(scheme="euler"),
        lambda d: d["inputs"].update(x={"circle": {"radius": "1 m"}}),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(change):
    data = json.loads(json.dumps(plain_model(model_of("crank_slider"))))
    validator = jsonschema.Draft202012Validator(model_schema())
    assert validator.is_valid(data)
    change(data)
    assert not validator.is_valid(data)
    with raises(ph.errors.FileError):
        from_plain(data)


def test_every_recipe_and_joint_of_the_library_has_a_word():
    joints = {
        c
        for m in (pairs, elements, loads, tie)
        for c in vars(m).values()
        if isinstance(c, type) and c.__module__ == m.__name__
    }
    joints -= {pairs.Joint, pairs.Axial, elements.BetweenPorts, elements.OnJoint, elements.JointLaw, elements.PortLaw}
    joints -= {elements._Registered, loads.Acting, loads.Distributed}
    assert joints == set(JOINTS)
    recipes = {ph.Beam, ph.RigidBody, ph.PointMass, ph.Plate, ph.Solid, ph.Sheet, ph.Superelement}
    assert {r.__name__.lower() for r in recipes} | {"system"} == {word.replace(" ", "") for word in BODY.words}


@dataclasses.dataclass(frozen=True)
class Brake(elements.OnJoint):
    """Slows a joint down."""

    torque: float = dataclasses.field(kw_only=True, metadata=describe("its torque", "torque", above=0.0))
    speed: float = dataclasses.field(default=0.1, kw_only=True, metadata=describe("where it sets in", "angular rate"))

    def law(self):
        return Law(damping=self.torque / self.speed)


def test_a_new_element_needs_its_class_and_a_place_in_the_registry():
    kind = Variants("a joint", (joint(Brake),))
    plain = {"brake": "hinge", "torque": "2 kN m", "speed": "30 deg/s"}
    found = read_plain(kind, plain)
    assert found == Brake("hinge", torque=2000.0, speed=np.pi / 6)
    assert kind.write(found, Writer()) == {"brake": "hinge", "torque": 2000.0, "speed": np.pi / 6}
    assert kind.schema()["anyOf"][0]["properties"]["torque"]["description"] == "its torque"
    with raises(ph.errors.FileError, "torque", golden=False):
        read_plain(kind, plain | {"torque": "2 kN"})


def test_laws_that_no_file_can_hold_leave_files_without_them_alone():
    """One has the name of a joint of the library, one a field of a type that files do not have."""

    class Spring(ph.PortLaw):
        """A user's law."""

    @dataclasses.dataclass(frozen=True)
    class Tabled(ph.PortLaw):
        """Another one."""

        rows: tuple = dataclasses.field(kw_only=True)

        def row_laws(self):
            return {self.row: Law(stiffness=self.rows[0])}

    text = "phloat: 1\nbodies: {a: {point mass: 1}, b: {point mass: 1}}\njoints: [{spring: [a.P, b.P], stiffness: 1}]\n"
    system = ph.io.parse_model(text).system
    (element,) = system.elements.values()
    assert type(element.recipe) is ph.Spring
    bodies = {name: ph.PointMass(1.0).discretise() for name in "ab"}
    for law, names in (
        (Spring("a.P", "b.P"), ("'spring'", "Spring", "rename")),
        (Tabled("a.P", "b.P", rows=(1.0,)), ("Tabled.rows", "tuple")),
    ):
        with raises(ph.errors.InputError, *names, golden=False):
            plain(ph.connect(bodies, [law]))


def test_keys_of_earlier_versions_are_read(monkeypatch):
    monkeypatch.setitem(records.OLD_KEYS, "a rigid body", {"centre": "center"})
    text = "phloat: 1\nbodies: {a: {rigid body: {mass: 1, inertia: [1, 1, 1], centre: [1, 0, 0]}}}"
    assert ph.io.parse_model(text).parts.bodies["a"].recipe.center == (1.0, 0.0, 0.0)


# --- controllers ------------------------------------------------------------------------------------------------------

PENDULUM = """
phloat: 1
plane: xy
bodies: {a: {rigid body: {mass: 1 kg, inertia: [1, 1, 1]}}}
joints: {j: {revolute: [ground, a.P]}}
start: {place: {j.angle: 0.4}}
simulate: {t_end: 0.3 s, dt: 10 ms}
controller: """


def controllers(system: ph.System) -> dict:
    inertia = ph.LinearPHDAE(
        E=np.diag([0.5, 1.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, 0.2]),
        B=np.array([[0.0], [1.0]]),
        rows=ph.Layout({"x": (2,)}, "row"),
        ports=ph.Layout({"p": (1,)}, "port"),
    )
    pid = ph.control.passive_pid("j", damping=0.3, stiffness=4.0, target=np.pi / 18)
    return {
        "{pid: {port: j, damping: 0.3 N m s/rad, stiffness: 4 N m/rad, target: 10 deg}}": pid,
        "{sampled: {of: {pid: {port: j, proportional: 0.3, integral: 4, target: 10 deg}}, every: 20 ms, saturation: 2 N m}}": (
            ph.control.Sampled(pid, every=0.02, saturation=2.0)
        ),
        "{together: [{pid: {port: j, proportional: 0.3}}, {pid: {port: j, integral: 4, name: j.spring}}]}": (
            ph.control.combine_controllers(
                ph.control.passive_pid("j", damping=0.3, name="j.control"),
                ph.control.passive_pid("j", stiffness=4.0, name="j.spring"),
            )
        ),
        "{energy shaping: {target: {j: 0.2}, stiffness: 4, damping: {j: 1}}}": (
            ph.control.energy_shaping(system, {"j": 0.2}, stiffness=4.0, damping=1.0)
        ),
        "{wired: {matrices: k.npz, wires: {p: j}, gain: 2}}": ph.control.passive_controller(
            inertia, ph.Wire("p", "j", 2.0)
        ),
    }


@pytest.mark.parametrize("k", range(5))
def test_a_controller_of_a_file_is_that_of_python(k, tmp_path):
    matrices = {"E": [[0.5, 0], [0, 1]], "J": [[0.0, 1], [-1, 0]], "R": [[0, 0], [0, 0.2]], "B": [[0.0], [1.0]]}
    np.savez(tmp_path / "k.npz", **matrices)
    path, again = tmp_path / "model.yaml", tmp_path / "again.yaml"
    text, twin = list(controllers(ph.io.parse_model(PENDULUM.replace("controller:", "")).system).items())[k]
    path.write_text(PENDULUM + text)
    model = ph.io.load_model(path)
    found = ph.io.run_model(model)
    expected = ph.simulate(model.system, model.state, 0.3, dt=0.01, controller=twin)
    np.testing.assert_array_equal(found.e, expected.e)
    ph.io.save_model(model, again)
    np.testing.assert_array_equal(ph.io.run_model(ph.io.load_model(again)).e, found.e)


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("crank_slider", ph.RadauIIA(mass="constant")),
        ("plate_with_rod", ph.GaussLegendre(3)),
        ("plate_with_rod", ph.StormerVerlet()),
    ],
)
def test_schemes_come_back_from_files(name, scheme):
    model = model_of(name)
    changed = replace(model, simulate=replace(model.simulate, scheme=scheme))
    again = from_plain(json.loads(json.dumps(plain_model(changed))))
    assert again.simulate.scheme == scheme


def test_a_file_chooses_the_scheme_of_a_linear_system():
    model = model_of("plate_with_rod")
    energies = []
    for scheme in (ph.Midpoint(), ph.GaussLegendre(2)):
        result = quiet_run(replace(model, simulate=replace(model.simulate, t_end=4e-4, scheme=scheme)))
        energies.append(result.energy[-1])
    assert energies[0] != energies[1] and energies[0] == pytest.approx(energies[1], rel=0.05)
