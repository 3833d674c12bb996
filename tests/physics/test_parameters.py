"""Systems with other numbers do what beams with those numbers do, and prepared runs of them what `simulate` does."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from bodies_zoo import beam

import phloat as ph
from phloat.many.parametric_run import ParametricRun

RATE, RADIUS = 150.0, 0.15
STEEL = ph.Material(E=0.2e12, rho=7870.0, nu=0.3)


def pin(t: float) -> np.ndarray:
    """The velocity of a crank pin."""
    return RATE * RADIUS * np.array([-np.sin(RATE * t), np.cos(RATE * t)])


def crank_slider(**options) -> tuple[ph.System, ph.State]:
    rod = ph.Beam(length=0.3, section=ph.Circle(6e-3), material=STEEL, frame="pinned", **options)
    system = ph.connect(
        {"rod": rod.discretise(2), "slider": ph.PointMass(0.03337785).discretise()},
        [
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P", name="pin"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0)),
            ph.Spring("slider.P", "ground", name="spring", stiffness=20.0, length=0.1),
        ],
        plane="xy",
    )
    state = ph.place(system, {"rod.r_P": (RADIUS, 0.0)})
    return system, ph.set_moving(system, state, u={"crank pin": pin})


def assert_same_run(one: ph.Result, other: ph.Result, tolerance: float = 1e-9) -> None:
    """To the round-off of a run; what joints hold at zero has some of it too."""
    assert np.array_equal(one.t, other.t)
    for name in other.system.layout:
        a, b, stiff = (
            one[name],
            other[name],
            1e3 if name.endswith("sigma") else 1.0,
        )  # EA times the round-off of strains
        assert np.abs(a - b).max() <= stiff * tolerance * max(np.abs(b).max(), 1e-3), name
    np.testing.assert_allclose(one.lam, other.lam, atol=tolerance * np.abs(other.lam).max())
    np.testing.assert_allclose(one.energy, other.energy, rtol=1e-9, atol=1e-12)
    assert one.info["steps"] == other.info["steps"]


class Runs:
    """The runs of an ensemble with these parameters, one by one."""

    def __init__(self, system, names, start, t_end, **options) -> None:
        self.inside = ParametricRun(system, tuple(names), start, {"t_end": t_end, **options})

    def run(self, values) -> ph.Result:
        return self.inside.result(np.array(values, dtype=float))


# --- what numbers do --------------------------------------------------------------------------------------------------


def test_frequencies_follow_stiffness_density_and_length():
    """ω = (βL)² √(EI/ρA) / L² of a cantilever, β₁L = 1.8751 (Blevins)."""
    system = ph.connect({"b": beam().discretise(6)}, [ph.Weld("ground", "b.P")], plane="xy")
    state = ph.place(system)

    def lowest(**told: float) -> float:
        new = ph.with_parameters(system, {f"b.{name.replace('_', '.')}": value for name, value in told.items()})
        return float(ph.modes(ph.linearise(new, ph.place(new))).elastic[0])

    first = float(ph.modes(ph.linearise(system, state)).elastic[0])
    expected = 1.8751**2 * np.sqrt(2.1e11 * 0.05**2 / 12 / 7800.0) / 1.3**2
    assert np.isclose(first, expected, rtol=1e-4)
    assert np.isclose(lowest(material_E=4 * 2.1e11), 2 * first, rtol=1e-9)
    assert np.isclose(lowest(material_rho=4 * 7800.0), first / 2, rtol=1e-9)
    assert np.isclose(lowest(length=2.6), first / 4, rtol=1e-6)
    assert np.isclose(lowest(section_h=0.1), 2 * first, rtol=1e-9)


# --- prepared runs ----------------------------------------------------------------------------------------------------

NUMBERS = {
    "rod.material.E": 1.9e11,
    "rod.section.diameter": 6.5e-3,
    "rod.masses[0.8]": 0.02,  # moves the mass centre
    "rod.damping.stiffness": 1e-6,
    "slider.mass": 0.04,
    "spring.stiffness": 25.0,
    "gravity[1]": -9.81,
}
NAMES, VALUES = tuple(NUMBERS), tuple(NUMBERS.values())


def prepared_crank_slider(**options) -> Runs:
    system, state = crank_slider(masses={0.8: 0.01})
    return Runs(system, NAMES, state, 0.02, dt=1e-4, u={"crank pin": pin}, **options)


@pytest.mark.parametrize("output", [1, 7, np.linspace(0.0, 0.02, 9)])
def test_prepared_runs_are_those_of_simulate(output):
    runs = prepared_crank_slider(output=output)
    system, state = crank_slider(masses={0.8: 0.01})
    new = ph.with_parameters(system, NUMBERS)
    expected = ph.simulate(new, state, 0.02, dt=1e-4, u={"crank pin": pin}, output=output)
    assert_same_run(runs.run(VALUES), expected)
    assert_same_run(
        runs.run([ph.parameters(system)[n] for n in NAMES]),
        ph.simulate(system, state, 0.02, dt=1e-4, u={"crank pin": pin}, output=output),
    )


def test_the_books_of_prepared_runs_balance():
    run = prepared_crank_slider().run(VALUES)
    assert ph.energy_ledger(run).relative < 1e-11


def test_threads_run_at_the_same_time_and_travelled_runs_are_the_same():
    runs = prepared_crank_slider(output=200)
    rows = [(E, 6e-3, 0.01, 0.0, m, 20.0, 0.0) for E in (1e11, 2e11, 3e11) for m in (0.02, 0.05)]
    alone = [runs.run(row).e for row in rows]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda row: runs.run(row).e, rows))
    there = pickle.loads(pickle.dumps(runs))
    for row, a, b in zip(rows, alone, together, strict=True):
        assert np.array_equal(a, b) and np.array_equal(a, there.run(row).e)


def test_bodies_that_were_one_are_told_apart():
    link = beam(section=ph.Circle(0.01), length=0.4, damping=ph.Rayleigh(relative_to="C")).discretise(2)
    system = ph.connect(
        {"a": link, "b": link},
        [ph.Revolute("ground", "a.P"), ph.Revolute("a.C", "b.P")],
        gravity=(0, -9.81, 0),
        plane="xy",
    )
    state = ph.place(system)
    for names, values in ((("b.material.E",), (1e10,)), (("*.material.E", "a.damping.mass"), (1e10, 0.3))):
        runs = Runs(system, names, state, 0.05, dt=1e-3)
        new = ph.with_parameters(system, dict(zip(names, values, strict=True)))
        assert_same_run(runs.run(values), ph.simulate(new, state, 0.05, dt=1e-3))


def test_a_bent_start_takes_the_stress_of_its_bodies_unless_a_function_says_otherwise():
    system = ph.connect(
        {"b": beam(section=ph.Circle(0.01)).discretise(2)},
        [ph.Weld("ground", "b.P")],
        gravity=(0, -9.81, 0),
        plane="xy",
    )
    state = ph.equilibrium(system, ph.place(system))
    new = ph.with_parameters(system, {"b.material.E": 1e11})
    runs = Runs(system, ("b.material.E",), lambda _: state, 0.05, dt=1e-3)
    assert_same_run(runs.run((1e11,)), ph.simulate(new, state, 0.05, dt=1e-3), 1e-8)
    free = ph.State(new.bodies, new.layout, state.e).with_values({"b.eta": state["b.eta"]})
    runs = Runs(system, ("b.material.E",), state, 0.05, dt=1e-3)
    assert_same_run(runs.run((1e11,)), ph.simulate(new, free, 0.05, dt=1e-3), 1e-8)


def test_reduced_bodies_are_remade_too():
    system = ph.connect(
        {"b": beam(section=ph.Circle(0.01)).discretise(4).reduced(modes=2)},
        [ph.Revolute("ground", "b.P"), ph.Spring("b.C", "ground", at=(1.4, 1.0, 0.0), stiffness=3.0, name="spring")],
        gravity=(0, -9.81, 0),
        plane="xy",
    )
    names, values, start = ("b.material.E", "b.material.rho"), (1e11, 7000.0), ph.place(system)
    runs = Runs(system, names, start, 0.05, dt=1e-3)
    new = ph.with_parameters(system, dict(zip(names, values, strict=True)))
    expected = ph.simulate(new, start, 0.05, dt=1e-3)
    assert_same_run(runs.run(values), expected, 1e-6)


def test_a_spring_that_stands_elsewhere_is_no_matter_of_numbers():
    system, state = crank_slider()
    names, values = ("spring.at[1]", "spring.length"), (0.05, 0.2)
    runs = Runs(system, names, state, 0.005, dt=1e-4, u={"crank pin": pin})
    new = ph.with_parameters(system, dict(zip(names, values, strict=True)))
    assert_same_run(runs.run(values), ph.simulate(new, state, 0.005, dt=1e-4, u={"crank pin": pin}))
    assert_same_run(
        runs.run((0.0, 0.2)),
        ph.simulate(ph.with_parameters(system, {"spring.length": 0.2}), state, 0.005, dt=1e-4, u={"crank pin": pin}),
    )


@pytest.mark.parametrize("case", ["length", "joint", "start", "controller", "table"])
def test_other_lengths_joints_starts_controllers_and_tables(case):
    system, state = crank_slider()
    names, values, start, options = ("rod.material.E",), (1.8e11,), state, {"u": {"crank pin": pin}}

    def placed(new: ph.System) -> ph.State:
        return ph.set_moving(new, ph.place(new, {"rod.r_P": (RADIUS, 0.0)}), u={"crank pin": pin})

    if case == "length":
        names, values, start = ("rod.length",), (0.33,), placed
    if case == "joint":
        names, values, start = ("ground-slider.P.at[1]",), (0.01,), placed
    if case == "start":
        start = placed
    if case == "controller":
        options["controller"] = lambda t, y: {"slider.P": (1.0, 0.0)}
    if case == "table":
        times = np.linspace(0.0, 0.005, 51)
        options["u"] = {"crank pin": (times, np.array([pin(t) for t in times]))}
        state = start = ph.set_moving(system, ph.place(system, {"rod.r_P": (RADIUS, 0.0)}), u=options["u"])
    runs = Runs(system, names, start, 0.005, dt=1e-4, **options)
    new = ph.with_parameters(system, dict(zip(names, values, strict=True)))
    first = start(new) if callable(start) else state
    assert_same_run(runs.run(values), ph.simulate(new, first, 0.005, dt=1e-4, **options), 1e-8)


def test_nothing_is_damped_unless_told_and_then_it_is():
    """The first beam has no damping, so that its tables say so; a sample with some must not believe them."""
    system, state = crank_slider()
    assert not system.bodies["rod"].elastic.R_d.nnz
    runs = Runs(system, ("rod.damping.stiffness",), state, 0.01, dt=1e-4, u={"crank pin": pin})
    assert runs.run((1e-5,)).accounts.losses[-1].sum() > 0.0 == runs.run((0.0,)).accounts.losses[-1].sum()
    damped = replace(system.bodies["rod"].recipe, damping=ph.Rayleigh(stiffness=1e-5))
    back = Runs(
        ph.with_parameters(system, {"rod.damping.stiffness": 1e-5}),
        ("rod.damping.stiffness",),
        *(state, 0.01),
        dt=1e-4,
        u={"crank pin": pin},
    )
    assert damped.damping.stiffness == 1e-5 and back.run((0.0,)).accounts.losses[-1].sum() == 0.0
