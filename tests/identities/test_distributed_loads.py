"""Body forces, tractions and pressures on floating bodies: power, work, momentum, tangents, frames, files."""

import numpy as np
import pytest
from bodies_zoo import random_state

import phloat as ph
from phloat.bodies.continua.continuum import coordinates_on_mesh
from phloat.motion.initial.statics import statics
from phloat.motion.initial.stiffness import stiffness
from phloat.system.joint_rows import columns_in_velocities, port_columns

SOFT = ph.Material(E=2e9, rho=1500.0, nu=0.3)
PORTS = {"P": "left", "C": "right"}
FIELD = lambda x, y, z: (1.0 + x, 2.0 - y + x**2, 0.5 * x)  # noqa: E731
FLAT = lambda x, y, z: (1.0 + x, 2.0 - y + x**2, 0.0 * x)  # noqa: E731
SIDES = ("left", "right", "bottom", "top", "back", "front")


def box(frame="left", stiffened=3):
    recipe = ph.Solid.box(1.0, 0.1, 0.05, material=SOFT, frame=frame, ports=PORTS)
    return recipe.discretise((4, 1, 1)).reduced(modes=2, stiffened=stiffened)


def plate(frame="left", stiffened=3):
    recipe = ph.Plate.rectangle(1.0, 0.1, thickness=0.02, material=SOFT, frame=frame, ports=PORTS)
    return recipe.discretise((4, 1)).reduced(modes=2, stiffened=stiffened)


def sheet(frame="left"):
    recipe = ph.Sheet.rectangle(1.0, 0.1, thickness=0.05, material=SOFT, frame=frame, ports=PORTS)
    return recipe.discretise((4, 1)).reduced(modes=2, stiffened=3)


def beam(frame="cantilever"):
    return ph.Beam(1.0, ph.Rectangle(0.05, 0.1), SOFT, frame=frame).discretise(3)


CASES = {  # body, loads, plane, size of the input
    "beam, per volume": (beam, [ph.BodyForce("b", per_volume=FLAT, name="p")], None, 1e5),
    "beam, follows": (beam, [ph.BodyForce("b", per_volume=(1, -2, 0), axes="body", name="p")], "xy", 1e5),
    "beam, per mass": (beam, [ph.BodyForce("b", per_mass=(1.0, -2.0, 0.5), name="p")], None, 50.0),
    "plate, per volume": (plate, [ph.BodyForce("b", per_volume=FIELD, name="p")], None, 1e5),
    "plate, pressure": (plate, [ph.Pressure("b", lambda x, y: 1.0 - x, name="p")], None, 1e4),
    "plate, traction": (plate, [ph.Traction("b", FIELD, name="p")], None, 1e4),
    "plate, follows": (plate, [ph.Traction("b", (1.0, 0.0, 2.0), axes="body", name="p")], None, 1e4),
    "plate, edge": (plate, [ph.Traction("b.right", (1.0, 0.0, 2.0), axes="body", name="p")], None, 1e3),
    "solid, per volume": (box, [ph.BodyForce("b", per_volume=FIELD, name="p")], None, 1e5),
    "solid, follows": (box, [ph.BodyForce("b", per_volume=(0, 1, 1), axes="body", name="p")], None, 1e5),
    "solid, pressure": (box, [ph.Pressure("b.top", lambda x, y, z: 1.0 - x, name="p")], None, 1e5),
    "solid, plane": (box, [ph.Pressure("b.top", name="p")], "xy", 1e5),
    "solid, traction": (box, [ph.Traction("b.right", (0, 1, 1), axes="body", name="p")], None, 1e5),
    "sheet, pressure": (sheet, [ph.Pressure("b.top", name="p")], "xy", 1e4),
    "sheet, traction": (sheet, [ph.Traction("b.right", (1, 1, 0), name="p")], "xy", 1e4),
}


def bent_and_moving(system, size=0.02, seed=3):
    """Displacements of about `size` in every coordinate, unstressed otherwise, and velocities of about one."""
    rng, body = np.random.default_rng(seed), system.bodies["b"]
    reach = np.where(body.reach > 0.0, body.reach, 1.0)  # a beam twists about its axis
    state = ph.place(system, {"b.eta": size * rng.normal(size=body.coordinates) / reach})
    names = [f"b.{q}" for q in ("v_P", "omega", "eta_dot")]
    scale = {"b.eta_dot": 1.0 / reach}
    return state.with_values({n: scale.get(n, 1.0) * rng.normal(size=state[n].shape) for n in names})


def case(name, joints=()):
    make, loads, plane, size = CASES[name]
    return ph.connect({"b": make()}, [*joints, *loads], plane=plane), size


@pytest.mark.parametrize("name", CASES)
def test_the_ledger_closes(name):
    """Stored = supplied to round-off, for a load that shakes the body far; in few iterations."""
    system, size = case(name)
    state = ph.set_moving(system, ph.place(system), {"b.omega": 2.0 if system.plane else (1.0, 2.0, -1.0)})
    run = ph.simulate(system, state, t_end=0.02, dt=5e-4, u={"p": lambda t: size * np.sin(200 * t)})
    ledger = ph.energy_ledger(run)
    assert ledger.relative < 2e-13
    assert np.abs(ledger.supplied["p"]).max() > 1e-3 * ledger.energy.max()
    assert run.info["iterations"] < 8 * run.info["steps"]


@pytest.mark.parametrize("name", CASES)
def test_the_output_is_the_power_per_input(name):
    """yᵀu with y = Bᵀz is the rate of energy that the terms of the paper's form give, and what a run supplies in a short step."""
    system, size = case(name)
    state = bent_and_moving(system)
    terms = ph.terms(system, state)
    column = terms.B.toarray()[:, system.ports["p"]][:, 0]
    output = float(column @ terms.z)
    rates = np.concatenate([state[f"b.{q}"].ravel() for q in ("v_P", "omega", "eta_dot") if f"b.{q}" in state.layout])
    places = columns_in_velocities(system)
    assert output == pytest.approx(float((port_columns(system, state, places, ["p"]).T @ rates)[0]), rel=1e-12)
    run = ph.simulate(system, state, t_end=1e-13, dt=1e-13, u={"p": size})
    assert ph.energy_ledger(run).supplied["p"][-1] == pytest.approx(1e-13 * size * output, rel=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_the_stiffness_of_a_load_is_the_derivative_of_its_force(name):
    system, size = case(name)
    state, rng = random_state(system, 3), np.random.default_rng(5)
    u = np.zeros(system.ports.size)
    u[system.ports["p"]] = size
    task = statics(system, state, u)
    K = stiffness(system, task.start, np.zeros(0), u).toarray()
    for k in rng.permutation(K.shape[0])[:8]:
        slopes = []
        for h in (2e-5 * task.units[k], 4e-5 * task.units[k]):
            step = h * np.eye(K.shape[0])[k]
            low, high = (task.balance(task.displace(task.start, sign * step)).f for sign in (-1, 1))
            slopes.append((low - high) / (2 * h))
        found = (4 * slopes[0] - slopes[1]) / 3  # Richardson's
        np.testing.assert_allclose(K[:, k], found, rtol=0, atol=2e-7 * np.abs(K[:, k]).max())


# --- a closed surface ------------------------------------------------------------------------------------------------


def volume(body, eta):
    """The volume of the deformed mesh."""
    continuum, V = coordinates_on_mesh(body)
    moved = continuum.mesh.points + (V @ eta).reshape(-1, 3)
    mesh = continuum.mesh
    return float(ph.Mesh(mesh.kind, moved, mesh.cells).measure.sum())


@pytest.mark.parametrize("cells", ["hexahedron", "tetrahedron"])
def test_a_uniform_pressure_all_around_has_no_resultant_and_is_the_gradient_of_volume(cells):
    recipe = ph.Solid.box(1.0, 0.3, 0.2, material=SOFT, cells=cells, frame="mean axes", ports=PORTS)
    body = recipe.discretise((3, 1, 1)).reduced(modes=3, stiffened=3)
    system = ph.connect({"b": body}, [ph.Pressure(f"b.{side}", name=side) for side in SIDES])
    state = random_state(system, 1)
    pose = state.pose("b")
    force = sum(actuator.effort(body, pose) for actuator in system.actuators.values())
    assert np.abs(force[:6]).max() < 1e-14
    step = 1e-5 * np.random.default_rng(2).normal(size=body.coordinates) / body.reach
    change = volume(body, pose.eta + step) - volume(body, pose.eta - step)
    assert force[6:] @ (2 * step) == pytest.approx(-change, rel=1e-5)


def test_the_work_of_a_uniform_pressure_is_that_of_the_volume_at_any_step():
    body = box("mean axes")
    system = ph.connect({"b": body}, [ph.Pressure(f"b.{side}", name=side) for side in SIDES])
    state = bent_and_moving(system, size=2e-3)
    run = ph.simulate(system, state, t_end=0.02, dt=1e-3, u=dict.fromkeys(SIDES, 1e6))
    work = sum(ph.energy_ledger(run).supplied[side][-1] for side in SIDES)
    expected = -1e6 * (volume(body, run["b.eta"][-1]) - volume(body, run["b.eta"][0]))
    assert work == pytest.approx(expected, rel=1e-9)


# --- frames, gravity, files, parts of other systems --------------------------------------------------------------------


@pytest.mark.parametrize("load", ["per mass", "per volume"])
@pytest.mark.parametrize("make", [beam, plate, box])
def test_a_body_force_of_the_weight_moves_a_body_as_gravity_does(make, load):
    g = np.array([1.0, -9.81, 3.0])
    joint = ph.Spherical("ground", "b.P")
    weight = {"per_mass": g} if load == "per mass" else {"per_volume": SOFT.rho * g}
    pushed = ph.connect({"b": make()}, [joint, ph.BodyForce("b", **weight, name="w")])
    heavy = ph.connect({"b": make()}, [joint], gravity=g)
    runs = [
        ph.simulate(system, ph.place(system), t_end=0.2, dt=2e-3, u=u)
        for system, u in ((pushed, {"w": 1.0}), (heavy, None))
    ]
    for quantity in ("r_P", "omega", "u_f"):
        a, b = (run[f"b.{quantity}"] for run in runs)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-8 * np.abs(b).max() + 1e-12)


@pytest.mark.parametrize("axes", ["inertial", "body"])
def test_body_forces_do_not_depend_on_the_frame_of_a_beam(axes):
    ends = []
    for frame in ("cantilever", "pinned"):
        body = ph.Beam(1.0, ph.Rectangle(0.05, 0.02), SOFT, frame=frame).discretise(8)
        load = ph.BodyForce("b", per_volume=(0.0, 1.0, 0.0), axes=axes, name="p")
        system = ph.connect({"b": body}, [ph.Weld("ground", "b.P"), load], plane="xy")
        state = ph.equilibrium(system, ph.place(system), u={"p": 8e2})
        ends.append(tip(state))
    np.testing.assert_allclose(*ends, atol=5e-9)  # of 1.5e-3


def tip(state):
    pose, body = state.pose("b"), state.bodies["b"]
    port = body.port("C")
    return pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta)


@pytest.mark.parametrize("kind", ["plate", "solid"])
def test_pressures_do_not_depend_on_the_frame_of_a_body_on_a_mesh(kind):
    make, surface = (plate, "b") if kind == "plate" else (box, "b.top")
    ends = []
    for frame in ("left", "right", "mean axes"):
        system = ph.connect({"b": make(frame, 6)}, [ph.Weld("ground", "b.P"), ph.Pressure(surface, name="p")])
        ends.append(tip(ph.equilibrium(system, ph.place(system), u={"p": 200.0 if kind == "plate" else 2e3})))
    assert np.abs(ends[0] - (1.0, 0.05, 0.0 if kind == "plate" else 0.025)).max() > 0.002
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-5)


def test_loads_of_connected_systems_are_files_and_parameters(tmp_path):
    recipe = ph.Solid.box(1.0, 0.1, 0.05, material=SOFT, frame="left", ports=PORTS)
    loads = [
        ph.BodyForce("b", per_volume=(0.0, 3.0, 0.0), name="volume"),
        ph.BodyForce("b", per_mass=(0.0, 3.0, 0.0), name="mass"),
        ph.Pressure("b.top", 2.0, name="press"),
        ph.Traction("b.right", (1.0, 0.0, 0.0), axes="body", name="pull"),
    ]
    system = ph.connect({"b": recipe.discretise((3, 1, 1)).reduced(modes=1)}, [ph.Weld("ground", "b.P"), *loads])
    ph.io.save_model(system, tmp_path / "model.yaml")
    again = ph.io.load_model(tmp_path / "model.yaml").system
    for name, actuator in system.actuators.items():
        assert again.actuators[name].recipe == actuator.recipe
    stiffer = ph.with_parameters(system, {"b.material.E": 4e9})
    u = dict.fromkeys(system.actuators, 1.0)
    ends = [ph.equilibrium(s, ph.place(s), u=u)["b.u_f"] for s in (system, stiffer)]
    np.testing.assert_allclose(ends[0], 2.0 * ends[1], rtol=1e-2, atol=1e-3 * np.abs(ends[0]).max())
    outer = ph.connect({"inner": system})
    assert outer.actuators["inner.press"].area is system.actuators["press"].area


def test_loads_on_regions_of_a_plate_sum_to_those_on_all_of_it():
    mesh = ph.shapes.rectangle(1.0, 0.2, 4, 2, kind="quadrilateral")
    left = np.flatnonzero(mesh.points[mesh.cells].mean(axis=1)[:, 0] < 0.5)
    mesh = ph.Mesh(
        mesh.kind,
        mesh.points,
        mesh.cells,
        boundaries=mesh.boundaries,
        regions={"near": left, "far": np.setdiff1d(np.arange(len(mesh.cells)), left)},
    )
    recipe = ph.Plate(outline=mesh, thickness=0.01, material=SOFT, frame="left", ports={"P": "left"})
    places = ("b", "b.near", "b.far")
    loads = [kind(place, name=f"{kind.__name__} {place}") for kind in (ph.Pressure, ph.Traction) for place in places]
    system = ph.connect({"b": recipe.discretise().reduced(modes=2, stiffened=3)}, loads)
    state = bent_and_moving(system)
    for kind in ("Pressure", "Traction"):
        total, near, far = (
            system.actuators[f"{kind} {place}"].effort(system.bodies["b"], state.pose("b")) for place in places
        )
        np.testing.assert_allclose(near + far, total, atol=1e-13)
        assert np.abs(near).max() > 0.01
