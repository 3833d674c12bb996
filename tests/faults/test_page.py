"""Pages: what cannot be shown is said in a sentence; what is written carries everything with it, and no code but its own."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.view.page.write import page_text

STEEL = ph.Material(E=2e11, rho=7850.0, nu=0.3)


def pendulum(name: str = "rod") -> ph.System:
    beam = ph.Beam(length=0.5, section=ph.Circle(0.01), material=STEEL).discretise(1)
    return ph.connect({name: beam}, [ph.Revolute("ground", f"{name}.P")], plane="xy", gravity=(0, -9.81, 0))


@pytest.fixture(scope="module")
def result() -> ph.Result:
    system = pendulum()
    return ph.simulate(system, ph.place(system), t_end=0.05, dt=0.01)


@pytest.mark.parametrize("thing", [None, 3, "run", np.zeros(3), pendulum()])
def test_things_without_a_page(tmp_path, thing):
    with raises(ph.errors.InputError, type(thing).__name__):
        ph.to_html(thing, tmp_path / "x.html")


def test_a_folder_that_is_not_there(tmp_path, result):
    with raises(ph.errors.InputError, "missing", "'x.html'"):
        ph.to_html(result, tmp_path / "missing" / "x.html")


def test_a_file_that_cannot_be_written(tmp_path, result):
    with raises(ph.errors.InputError):
        ph.to_html(result, tmp_path)  # a folder


def test_a_result_without_times(result):
    empty = replace(result, t=result.t[:0], e=result.e[:0], lam=result.lam[:0], accounts=None)
    with raises(ph.errors.InputError):
        page_text(empty)


def test_modes_that_do_not_bend():
    mass = ph.connect({"a": ph.PointMass(1.0).discretise()})
    with raises(ph.errors.InputError):
        page_text(ph.modes(ph.linearise(mass, ph.place(mass))))


def test_round_off_is_no_growth():
    beam = ph.Beam(length=1.0, section=ph.Rectangle(0.02, 0.01), material=STEEL).discretise(2)
    blade = ph.connect({"b": beam}, joints=[ph.Drive("ground", "b.P", of="pose", name="hub")])
    spinning = ph.modes(ph.linearise(blade, ph.steady_spin(blade, axis=(0, 0, 1), rate=6.0)))
    document, _ = parts(page_text(spinning))
    assert document["spinning"]
    assert [mode["growth"] for mode in document["modes"]] == [0.0] * len(document["modes"])
    assert document["modes"][0]["omega"] == spinning.elastic[0]


def test_inputs_that_the_system_does_not_have(result):
    with raises(ph.errors.PortError, "'nobody'"):
        page_text(result, u={"nobody": 1.0})


@pytest.mark.parametrize("plots", [["rod.u_ff"], ["nobody"], ["energy", "rod.thet"], "energy", [3]])
def test_plots_that_are_not_there_are_answered_with_what_is(result, plots):
    with raises(ph.errors.InputError, repr(plots if plots in ("energy", [3]) else plots[-1])):
        page_text(result, plots=plots)


def test_a_page_does_not_open_with_the_round_off_of_a_port_that_stands_still():
    wheel = ph.RigidBody(1.0, np.eye(3)).discretise()
    system = ph.connect({"wheel": wheel}, [ph.Revolute("ground", "wheel.P", at=(0.1, 0.2, 0.3), name="axle")])
    run = ph.simulate(system, ph.set_moving(system, ph.place(system), {"axle.angle_rate": 1.0}), 1.0, dt=0.1)
    nudged = replace(run, e=run.e + 1e-17 * np.arange(len(run))[:, None])
    for result in (run, nudged):
        document, _ = parts(page_text(result))
        names = [document["quantities"][k]["name"] for k in document["plots"]]
        assert names == ["axle.angle", "energy of the whole"]


def test_modes_have_no_plots_to_open_with():
    beam = ph.Beam(length=1.0, section=ph.Circle(0.01), material=STEEL).discretise(1)
    free = ph.connect({"b": beam}, plane="xy")
    with raises(ph.errors.InputError, "plots"):
        page_text(ph.modes(ph.linearise(free, ph.place(free))), plots=["energy"])


@pytest.mark.parametrize(
    ("plots", "names"),
    [
        (["rod.u_f"], ["rod: deformation at s = 1"]),
        (["energy residual", "ground-rod.P.angle"], ["energy residual", "ground-rod.P.angle"]),
        (
            ["forces", "angle", "Velocities"],
            ["ground-rod.P.lam, force", "ground-rod.P.angle", "velocity of rod.P", "velocity of rod.C"],
        ),
        (["ground-rod.P"], ["ground-rod.P.angle", "ground-rod.P.lam, force", "ground-rod.P"]),
        (["energy"], ["energy of the whole", "energy balance", "energy residual", "stored in each part"]),
        (["rod.C", "position of rod.C", "inputs"], ["position of rod.C", "ground-rod.P"]),
        (["rod.r_P", "rod.eta"], ["rod.r_P", "rod.eta"]),  # of the result, and no plot of the page by itself
        ([], []),
        (None, ["ground-rod.P.angle", "position of rod.C", "rod: deformation at s = 1", "energy balance"]),
    ],
)
def test_a_page_opens_with_the_plots_that_are_named_and_else_with_motion_before_energy(result, plots, names):
    pushed = ph.simulate(result.system, result.state(0), t_end=0.05, dt=0.01, u={"ground-rod.P": 1.0})
    document, _ = parts(page_text(pushed, plots=plots, u={"ground-rod.P": 1.0}))
    assert [document["quantities"][k]["name"] for k in document["plots"]] == names


def parts(text: str) -> tuple[dict, str]:
    """The document of a page and the policy in its head."""
    found = re.search(r'<script id="document" type="application/json">(.*?)</script>', text, re.S).group(1)
    return json.loads(found), re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)


def test_a_page_is_one_file_that_asks_for_nothing(tmp_path, result):
    file = ph.to_html(result, tmp_path / "the_run.html")
    text = file.read_text(encoding="utf-8")
    document, policy = parts(text)
    assert document["title"] == "the run"
    assert policy.startswith("default-src 'none';")
    assert not re.search(r"<(?:link|img|iframe|script)[^>]*\s(?:src|href)=", text)
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert len(scripts) == 2
    assert "unsafe" not in policy
    assert "eval(" not in scripts[1]
    assert "innerHTML" not in scripts[1]


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "<!--", "a\u2028b", "'\"&<>", "ψ 棒"])
def test_names_stay_inside_their_quotes(name):
    system = pendulum(name)
    text = page_text(ph.simulate(system, ph.place(system), t_end=0.02, dt=0.01), title=name)
    document, _ = parts(text)
    assert document["bodies"][0]["name"] == name
    assert document["title"] == name
    assert text.count("<script") == 4
    assert text.count("</script>") == 4


def test_the_same_run_gives_the_same_page(result):
    assert page_text(result) == page_text(result)


def test_a_long_run_of_a_fast_wheel_keeps_frames_enough_to_see_it_turn():
    wheel = ph.RigidBody(1.0, np.diag([0.1, 0.1, 0.2])).discretise()
    system = ph.connect({"wheel": wheel}, [ph.Revolute("ground", "wheel.P")])
    state = ph.set_moving(system, ph.place(system), {"wheel.omega": (0.0, 0.0, 100.0)})
    result = ph.simulate(system, state, t_end=5.0, dt=2e-3)
    document, _ = parts(page_text(result))
    frames = document["arrays"][document["frames"]]["shape"][0]
    assert frames > 500 / 0.4  # 500 rad
    assert document["arrays"][document["times"]]["shape"][0] <= 3001


def test_runs_without_books_are_shown_with_a_note(result):
    text = page_text(replace(result, accounts=None))
    assert "keeps no energy accounts" in dict(parts(text)[0]["summary"])["note"]


def test_the_summary_says_what_was_done(result):
    said = dict(parts(page_text(result))[0]["summary"])
    assert said["bodies"].startswith("rod (Beam, ")
    assert said["joints"] == "ground-rod.P (Revolute)"
    assert said["gravity"] == "(0, -9.81, 0) m/s²"
    assert said["scheme"] == "Midpoint"
    assert said["dt"] == "0.01 s"
    assert said["time"].startswith("0 to 0.05 s, 6 outputs")
    assert f"{ph.energy_ledger(result).relative:.1e}" in said["energy residual"]


def test_a_page_is_written_where_phloat_is_on_the_path_but_not_installed(tmp_path, monkeypatch):
    """From a checkout; it once asked the installed package for its version."""
    import importlib.metadata

    def none(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata.Distribution, "from_name", staticmethod(none))
    wheel = ph.RigidBody(1.0, np.eye(3)).discretise()
    system = ph.connect({"w": wheel}, [ph.Revolute("ground", "w.P")], plane="xy")
    result = ph.simulate(system, ph.place(system), 0.1, dt=0.01)
    assert repr(ph.__version__).replace("'", '"') in ph.to_html(result, tmp_path / "x.html").read_text()
