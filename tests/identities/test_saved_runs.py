"""A saved run is the run: opened, or gone on with after it was cut short, it is the same bit for bit."""

import os

import numpy as np
import pytest
from bodies_zoo import steel
from messages import raises

import phloat as ph
from phloat.motion.saving import recorder

ARRAYS = ("t", "e", "lam")
BOOKS = ("bodies", "losses", "works", "springs")
COUNTERS = ("steps", "iterations", "factorisations", "halved", "events")
STEPS = {"dt": 1e-3, "output": 5}


def arm(plane: str | None = "xy", damped: bool = True) -> ph.System:
    """Two links with a motor, a spring and a damper, under gravity."""
    damping = ph.KelvinVoigt(1e-5) if damped else ph.Rayleigh()
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel, damping=damping).discretise(2)
    joints = [
        ph.Revolute("ground", "upper.P", name="shoulder"),
        ph.Revolute("upper.C", "lower.P", name="elbow"),
        ph.JointSpring("elbow", stiffness=2.0, name="spring"),
        ph.JointDamper("elbow", damping=0.05, name="damper"),
    ][: 4 if damped else 2]
    return ph.connect({"upper": link, "lower": link}, joints, gravity=(0, -9.81, 0), plane=plane)


def same(one: ph.Result, other: ph.Result) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in BOOKS:
        np.testing.assert_array_equal(getattr(one.accounts, name), getattr(other.accounts, name), err_msg=name)
    assert one.accounts.names == other.accounts.names
    assert {name: one.info[name] for name in COUNTERS} == {name: other.info[name] for name in COUNTERS}


def cut_short(monkeypatch: pytest.MonkeyPatch, files: int, *task, verb=ph.simulate, **options) -> int:
    """A run that dies when it renames the file of this number; how many it had renamed."""
    done, rename = [0], os.replace

    def dying(source: str, target: str) -> None:
        if done[0] == files:
            raise Died
        done[0] += 1
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", dying)
        patch.setattr(recorder.RunFolder, "clear", lambda self: None)  # the dead tidy nothing up
        with pytest.raises(Died):
            verb(*task, **options)
    return done[0]


class Died(BaseException):
    """The process is gone."""


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """A piece after every 256 steps (every one of a run with a controller or events)."""
    monkeypatch.setattr(recorder, "SECONDS", 0.0)


def steered(t: float, y) -> dict:
    return {"shoulder": -3.0 * y["shoulder.angle"] - 0.2 * y["shoulder"]}


def bounce(t: float, state: ph.State) -> ph.State:
    return ph.set_moving(arm(), state, {f"{link}.omega": -0.8 * state[f"{link}.omega"] for link in ("upper", "lower")})


def events() -> list[ph.Event]:
    return [ph.Event(lambda t, y: y["shoulder.angle"] + 0.2, do=bounce, direction=-1, name="stop")]


def inputs(t: float) -> float:
    return 0.5 * np.sin(30 * t)


CASES = {
    "inputs": (arm(), {"u": {"elbow": inputs}, "t_end": 1.0004, **STEPS}),
    "in space": (arm(None), {"u": {"elbow": inputs}, "t_end": 0.8, **STEPS}),
    "driven": (ph.drive(arm(), "shoulder"), {"u": {"shoulder": inputs}, "t_end": 0.8, **STEPS}),
    "at times": (arm(), {"dt": 1e-3, "t_end": 0.9, "output": np.linspace(0.0, 0.85, 41)}),
    "controller": (arm(), {"controller": steered, "every": 3.3e-3, "u": {"elbow": inputs}, "t_end": 0.015, "dt": 1e-3}),
    "events": (arm(), {"events": events(), "t_end": 0.3, "dt": 2e-2}),
    "adaptive": (arm(), {"scheme": ph.Midpoint(rtol=1e-4), "t_end": 0.15, "dt": 1e-3}),
    "composition": (arm(damped=False), {"scheme": ph.Composition4(), "t_end": 0.05, "dt": 2e-3}),
}
AGAIN = ("u", "controller", "events")  # what is given again


def begun(case: str) -> tuple[ph.System, ph.State, dict]:
    system, options = CASES[case]
    state = ph.place(system, {"shoulder.angle": 0.3, "elbow.angle": -0.4})
    return system, ph.set_moving(system, state, u=options.get("u")), options


@pytest.mark.parametrize("case", CASES)
def test_a_run_saved_on_the_way_is_the_run(case, tmp_path):
    system, state, options = begun(case)
    there, plain = ph.simulate(system, state, save=tmp_path / "run", **options), ph.simulate(system, state, **options)
    same(there, plain)
    assert there.info["finished"] is True
    opened = ph.io.load_result(tmp_path / "run", system)
    same(opened, plain)
    np.testing.assert_array_equal(opened["elbow.angle"], plain["elbow.angle"])
    assert not list((tmp_path / "run").glob("*.part"))
    if case == "events":
        assert len(plain.info["events"]) == 1
        assert ph.energy_ledger(opened).relative < 1e-12


@pytest.mark.parametrize("case", CASES)
def test_a_run_cut_short_goes_on_as_if_it_had_not_been(case, tmp_path, monkeypatch):
    system, state, options = begun(case)
    plain = ph.simulate(system, state, **options)
    again = {name: options[name] for name in AGAIN if name in options}
    for files in (14, 24, *([10 * 12] if case == "events" else [])):  # the last after the event
        folder = tmp_path / f"run {files}"
        cut_short(monkeypatch, files, system, state, save=folder, **options)
        part = ph.io.load_result(folder, system)
        assert part.info["finished"] is False
        assert 0 < len(part) < len(plain)
        np.testing.assert_array_equal(part.e, plain.e[: len(part)])
        whole = ph.resume(folder, system, **again)
        assert whole.info["finished"] is True
        same(whole, plain)
        same(ph.io.load_result(folder, system), plain)


@pytest.mark.parametrize("steps", [4, 8])  # the sample times 3.3 and 6.6 ms cut the fourth and the eighth step of 1 ms
def test_a_run_cut_short_between_two_nodes_keeps_its_grid(steps, tmp_path, monkeypatch):
    system, state, options = begun("controller")
    cut_short(monkeypatch, 3 + 10 * steps + 5, system, state, save=tmp_path / "run", **options)
    again = {name: options[name] for name in AGAIN if name in options}
    same(ph.resume(tmp_path / "run", system, **again), ph.simulate(system, state, **options))


def test_a_run_that_ended_between_two_nodes_has_one_grid_from_there(tmp_path, monkeypatch):
    system, state, options = begun("inputs")
    folders = [tmp_path / name for name in ("whole", "cut")]
    for folder in folders:
        ph.simulate(system, state, save=folder, **options | {"t_end": 0.0104, "dt": 1e-3, "output": 5})
    further = {"u": options["u"], "t_end": 0.9}
    whole = ph.resume(folders[0], system, **further)
    cut_short(monkeypatch, 15, folders[1], system, verb=ph.resume, **further)
    cut = ph.resume(folders[1], system, **further)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name), err_msg=name)


@pytest.mark.long
def test_wherever_a_run_is_cut_it_opens_with_its_finished_pieces(tmp_path, monkeypatch):
    system, state, options = begun("inputs")
    plain, lengths = ph.simulate(system, state, **options), []
    # start.npy, model.json, run.json; pieces of nine files and run.json; the last one has no memory
    last = 3 + 5 * 10 + 9
    for files in range(3, last):
        folder = tmp_path / str(files)
        assert cut_short(monkeypatch, files, system, state, save=folder, **options) == files
        if files < 13:
            with raises(ph.errors.InputError):
                ph.io.load_result(folder, system)
            continue
        part = ph.io.load_result(folder, system)
        np.testing.assert_array_equal(part.e, plain.e[: len(part)])
        np.testing.assert_array_equal(part.lam, plain.lam[: len(part)])
        lengths.append(len(part))
    assert lengths == sorted(lengths)
    assert len(set(lengths)) == 5
    for files in (3, 12, 13, 42, last - 1):
        same(ph.resume(tmp_path / str(files), system, u=options["u"]), plain)


def test_a_finished_run_goes_on_to_a_later_end(tmp_path):
    system, state, options = begun("inputs")
    plain = ph.simulate(system, state, **options | {"t_end": 1.6})
    ph.simulate(system, state, save=tmp_path / "run", **options | {"t_end": 0.9})
    longer = ph.resume(tmp_path / "run", system, u=options["u"], t_end=1.6)
    np.testing.assert_allclose(longer.t, plain.t, rtol=1e-14)
    np.testing.assert_allclose(longer["elbow.angle"], plain["elbow.angle"], rtol=1e-9)
    np.testing.assert_allclose(longer["shoulder.lam"], plain["shoulder.lam"], rtol=1e-4, atol=1e-6)
    between = ph.resume(tmp_path / "run", system, u=options["u"], t_end=1.7003)
    assert between.t[-1] == 1.7003
    assert ph.resume(tmp_path / "run", system, u=options["u"], t_end=1.8).t[-1] == 1.8
    assert ph.energy_ledger(ph.io.load_result(tmp_path / "run", system)).relative < 1e-11


def test_a_result_in_hand_is_saved_whole(tmp_path):
    system, state, options = begun("inputs")
    result = ph.simulate(system, state, **options)
    ph.io.save_result(result, tmp_path / "run")
    same(ph.io.load_result(tmp_path / "run", system), result)
    ph.io.save_result(result, tmp_path / "run", overwrite=True)
    ph.io.save_result(ph.io.load_result(tmp_path / "run", system), tmp_path / "copy")
    same(ph.io.load_result(tmp_path / "copy", system), result)


def test_pieces_are_plain_numpy_files_and_rows_leave_the_memory(tmp_path, monkeypatch):
    from phloat.motion.run.run import Rows

    longest = []
    reserve = Rows.reserve
    monkeypatch.setattr(Rows, "reserve", lambda self, more: (reserve(self, more), longest.append(len(self.numbers)))[0])
    system, state, options = begun("inputs")
    result = ph.simulate(system, state, save=tmp_path / "run", **options)
    pieces = [np.load(file) for file in sorted((tmp_path / "run").glob("e.*.npy"))]
    np.testing.assert_array_equal(np.concatenate(pieces), result.e)
    assert len(pieces) > 3
    assert max(longest) < len(result) / 2
    assert len(list((tmp_path / "run").glob("memory.*.npz"))) == 2


def test_failed_runs_keep_what_they_had(tmp_path):
    system, state, options = begun("inputs")

    def wild(t: float) -> float:
        return 0.0 if t < 0.5 else 1e16

    with raises(ph.errors.ConvergenceError) as caught:
        ph.simulate(system, state, save=tmp_path / "run", **options | {"u": {"elbow": wild}})
    there = ph.io.load_result(tmp_path / "run", system)
    assert there.info["finished"] is False
    assert there.t[-1] == pytest.approx(0.5, abs=2e-2)
    np.testing.assert_array_equal(caught.value.result.e, there.e)
