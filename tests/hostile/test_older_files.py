"""Runs, ensembles and models that earlier versions wrote: opened with the numbers they had, or refused by a sentence.

tests/reference/README.md says which version wrote what.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from messages import raises

import phloat as ph

RUNS = Path(__file__).parents[1] / "reference" / "runs"
# what each version printed of its own runs: the last angle of the shoulder, of the pendulum at 0.2 s, of three pendulums
SHOULDER = {"with_models": -1.9416269005275193, "november": -1.9416269005275193}
PENDULUM = {"first": -0.5670938077120118, "before_models": -0.5670938077087214, "november": -0.5670938077120007}
MANY = {
    "before_models": [-0.5907725747302269, -0.608332369504433, -0.6068666673298421],
    "november": [-0.5907725747277919, -0.6083323695017313, -0.6068666673271651],
}


def pendulum() -> ph.System:
    bob = ph.RigidBody(0.4, np.diag([1e-3, 2e-3, 2e-3]), center=(0.3, 0.0, 0.0)).discretise()
    joints = [ph.Revolute("ground", "bob.P", name="pin"), ph.JointSpring("pin", stiffness=0.2, name="spring")]
    return ph.connect({"bob": bob}, joints, gravity=(0, -9.81, 0), plane="xy")


def arm() -> ph.System:
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel, damping=ph.KelvinVoigt(1e-5)).discretise(1)
    hand = ph.RigidBody(0.4, np.diag([1e-3, 2e-3, 2e-3]), center=(0.05, 0.0, 0.0)).discretise()
    joints = [
        ph.Revolute("ground", "link.P", name="shoulder"),
        ph.Revolute("link.C", "hand.P", name="wrist"),
        ph.JointDamper("wrist", damping=0.05, name="damper"),
    ]
    return ph.connect({"link": link, "hand": hand}, joints, gravity=(0, -9.81, 0), plane="xy")


def twist(t: float) -> float:
    return 0.5 * np.sin(30 * t)


@pytest.fixture
def copied(tmp_path):
    return lambda *names: shutil.copytree(RUNS.joinpath(*names), tmp_path / "copy")


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", SHOULDER)
def test_a_saved_run_opens_by_itself_with_the_numbers_it_had(version):
    result = ph.io.load_result(RUNS / version / "saved")
    assert result["shoulder.angle"][-1] == SHOULDER[version]
    np.testing.assert_array_equal(result.t, ph.io.load_result(RUNS / version / "saved", arm()).t)
    assert result.info["finished"] is True
    assert len(result) == 11
    assert ph.energy_ledger(result).relative < 1e-13
    assert result.stress("link", s=0.0)["M_z"].shape == (11,)


def as_then(system: ph.System) -> ph.System:
    """With damping as it was: the constant time · K on the rates, in place of the rate of the whole strain."""
    damped = {n: replace(b, elastic=replace(b.elastic, drag=b.elastic.R_d, time=0.0)) for n, b in system.bodies.items()}
    return replace(system, bodies=damped)


@pytest.mark.parametrize("version", SHOULDER)
def test_the_run_made_again_is_the_old_one(version):
    old = ph.io.load_result(RUNS / version / "saved")
    new = ph.simulate(as_then(old.system), old.state(0), t_end=0.5, dt=1e-3, output=50, u={"wrist": twist})
    np.testing.assert_allclose(new["shoulder.angle"], old["shoulder.angle"], rtol=1e-10)
    np.testing.assert_allclose(new.energy, old.energy, rtol=1e-8)


@pytest.mark.parametrize("version", PENDULUM)
def test_a_run_that_was_cut_short_opens_with_its_system(version):
    part = ph.io.load_result(RUNS / version / "cut", pendulum())
    assert part.info["finished"] is False
    assert part.t[-1] == pytest.approx(0.2)
    again = ph.simulate(pendulum(), part.state(0), t_end=0.2, dt=1e-3, output=50, u={"pin": twist})
    np.testing.assert_allclose(part["pin.angle"], again["pin.angle"], rtol=1e-8)
    assert ph.energy_ledger(part).relative < 1e-12


@pytest.mark.parametrize("version", PENDULUM)
def test_a_run_that_was_cut_short_goes_on_or_says_why_not(version, copied):
    folder = copied(version, "cut")
    with raises(ph.errors.InputError, golden=False):  # the stepper remembers more, and otherwise, since then
        ph.resume(folder, pendulum(), u={"pin": twist})
    for memory in folder.glob("memory.*.npz"):
        memory.unlink()  # as the sentence says
    whole = ph.resume(folder, pendulum(), u={"pin": twist})
    assert whole.info["finished"] is True
    assert whole["pin.angle"][-1] == pytest.approx(PENDULUM[version], rel=1e-9)
    assert ph.io.load_result(folder, pendulum())["pin.angle"][-1] == whole["pin.angle"][-1]


@pytest.mark.parametrize("version", ["first", "before_models"])
def test_runs_from_before_models_were_kept_ask_for_their_system(version):
    with raises(ph.errors.InputError, "cut"):
        ph.io.load_result(RUNS / version / "cut")


def test_a_beam_from_before_quadratic_axial_displacement_is_another_beam():
    with raises(ph.errors.InputError, "'link.eta'"):
        ph.io.load_result(RUNS / "first" / "saved", arm())


# --- ensembles and models --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", MANY)
def test_an_ensemble_opens_with_the_numbers_it_had(version):
    many = ph.io.load_ensemble(RUNS / version / "many")
    assert many["angle"].tolist() == MANY[version]
    assert many["height"].shape == (3, 5)
    assert set(many.parameters) == {"bob.mass", "spring.stiffness"}
    assert many.ok.all()


@pytest.mark.parametrize("version", MANY)
def test_an_ensemble_of_another_question_is_not_gone_on_with(version, copied):
    asked = {"t_end": 0.2, "dt": 1e-3, "keep": 50, "workers": 1, "save": copied(version, "many")}
    with raises(ph.errors.InputError, "copy"):
        ph.ensemble(
            pendulum(), {"bob.mass": ph.random.uniform(0.3, 0.6)}, 3, output=lambda r: r["pin.angle"][-1], **asked
        )


def test_a_model_file_makes_the_system_it_was_written_of():
    model, mine = ph.io.load_model(RUNS / "with_models" / "arm.yaml").system, arm()
    assert dict(model.layout.shapes) == dict(mine.layout.shapes)
    for name in mine.bodies:
        there, here = (ph.modes(s.bodies[name].linear()).omega for s in (model, mine))
        np.testing.assert_array_equal(there, here)


# --- newer ones ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opened", [ph.io.load_result, lambda f: ph.io.load_result(f, pendulum()), lambda f: ph.resume(f, pendulum())]
)
def test_a_run_of_a_newer_version_is_refused(opened, copied):
    folder = copied("november", "cut")
    said = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(said | {"version": 2}))
    with raises(ph.errors.InputError, "run.json", "2"):
        opened(folder)


def test_an_ensemble_of_a_newer_version_is_refused(copied):
    folder = copied("november", "many")
    said = json.loads((folder / "ensemble.json").read_text())
    (folder / "ensemble.json").write_text(json.dumps(said | {"version": 2}))
    with raises(ph.errors.InputError, "ensemble.json", "2"):
        ph.io.load_ensemble(folder)


def test_a_model_of_a_newer_version_is_refused(tmp_path):
    text = (RUNS / "with_models" / "arm.yaml").read_text(encoding="utf-8")
    (tmp_path / "arm.yaml").write_text(text.replace("phloat: 1", "phloat: 2"), encoding="utf-8")
    with raises(ph.errors.InputError, "arm.yaml", "2"):
        ph.io.load_model(tmp_path / "arm.yaml")


def test_words_that_a_later_version_may_add_are_passed_over(copied):
    folder = copied("november", "saved")
    said = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(said | {"colour": "red"}))
    assert ph.io.load_result(folder)["shoulder.angle"][-1] == SHOULDER["november"]


def test_split_beams_of_earlier_runs_keep_the_frame_that_they_left_away(tmp_path):
    """Pieces were cantilevers, and no file said so; now the frame of pieces is stated."""
    steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
    strip = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), steel)
    for frame, kept in (("cantilever", "cantilever"), (None, "chord")):
        parts = {"strip": replace(strip, frame=frame).split(2).discretise(1)}
        system = ph.connect(parts, [ph.Weld("ground", "strip.P")], plane="xy", gravity=(0, -9.81, 0))
        folder = tmp_path / kept
        run = ph.simulate(system, ph.place(system), 0.01, dt=1e-3, save=folder)
        file = folder / "model.json"
        assert json.loads(file.read_text())["bodies"]["strip"]["beam"].pop("frame") == kept
        if kept == "cantilever":
            said = json.loads(file.read_text())
            del said["bodies"]["strip"]["beam"]["frame"]
            file.write_text(json.dumps(said))
        opened = ph.io.load_result(folder)
        assert opened.system.bodies["strip.1"].recipe.frame == kept
        np.testing.assert_array_equal(opened.position("strip", s=1.0), run.position("strip", s=1.0))
