"""Tables and bars in notebooks and on terminals: short, escaped, and true."""

import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest
from bodies_zoo import steel
from looking_zoo import HOSTILE, falling, hostile, satellite, sliding, turning
from messages import raises

import phloat as ph
from phloat.motion import simulate
from phloat.motion.run import progress

# --- tables ----------------------------------------------------------------------------------------------------------


class Words(HTMLParser):
    """The words of a page, and its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.tags, self.open = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, "a tag is not closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def shown() -> dict:
    system = satellite()
    small = ph.linearise(hostile(), ph.equilibrium(hostile(), ph.place(hostile(), {"_m.angle": -np.pi / 2})))
    return {
        "body": ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel).discretise(2),
        "rigid": system.bodies["hub"],
        "system": system,
        "hostile": hostile(),
        "state": ph.place(hostile()),
        "result": turning(),
        "falling": falling(),
        "linear": small,
        "modes": ph.modes(small),
    }


def test_everything_has_a_table_of_escaped_words():
    for x in shown().values():
        page = Words(x._repr_html_())
        assert set(page.tags) <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
        assert "table" in page.tags
        assert len(x._repr_html_()) < 20_000
    assert any(HOSTILE in word for word in Words(hostile()._repr_html_()).words)


def test_a_system_says_its_joints_and_open_ports():
    words = Words(satellite()._repr_html_()).words
    for word in ("hub", "Plate", "Revolute", "bar.C — box.root", "angle: effort", "JointSpring", "wheel: effort"):
        assert word in words


def test_a_result_says_its_scheme_and_its_residual():
    words = Words(turning()._repr_html_()).words
    assert "Midpoint(), dt = 0.002 s" in words
    residual = float(next(word for word in words if word.endswith("of the largest energy or work")).split()[0])
    assert residual < 1e-10
    assert "cut short" not in " ".join(words)
    ledger = ph.energy_ledger(turning())
    supplied = float(words[words.index("wheel") + 1])
    assert supplied == pytest.approx(ledger.supplied["wheel"][-1], rel=1e-5)
    assert words[words.index("hub") + 1] == f"{ledger.parts['hub']['kinetic'][-1]:.6g}"
    assert "hinge" not in words  # what a joint takes from one body it gives to the other


def test_an_ensemble_says_its_outputs():
    system = hostile()
    runs = ph.ensemble(
        system,
        {"_link.material.rho": ph.random.uniform(7000.0, 8000.0)},
        samples=3,
        start=ph.place(system),
        t_end=0.01,
        dt=2e-3,
        output=lambda r: {"angle": r["_link.theta"][-1]},
        workers=1,
    )
    words = Words(runs._repr_html_()).words
    assert "_link.material.rho" in words and "angle" in words


def test_the_page_is_shown_inside_a_frame():
    inline = ph.show(sliding(), height=300)
    page = inline._repr_html_()
    assert page.startswith('<iframe srcdoc="') and "height:300px" in page
    assert page.count("<") == 2  # all of the page is escaped
    assert len(repr(inline)) < 100
    with raises(ph.errors.InputError, "height"):
        ph.show(sliding(), height=0)


# --- bars ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", -1.0)


def run(**options) -> ph.Result:
    system = hostile()
    return ph.simulate(system, ph.place(system), 1.0, dt=1e-3, **options)


def test_a_bar_says_time_speed_and_residual_and_goes_away(at_once, capsys):
    run(progress=True)
    said = capsys.readouterr().err
    lines = said.split("\r")
    assert "26 %, t = 0.256 s" in lines[1]
    assert "× real time, energy residual" in lines[1]
    assert lines[-1] == "" and not lines[-2].strip()  # wiped


def test_no_bar_where_nobody_looks(at_once, capsys):
    run()
    run(progress=False)
    assert capsys.readouterr().err == ""


def test_a_bar_fits_a_narrow_terminal(at_once, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    run(progress=True)
    assert max(map(len, capsys.readouterr().err.split("\r"))) <= 29


def test_a_bar_goes_away_when_a_run_fails(at_once, capsys):
    system = hostile()
    with pytest.raises(ph.errors.ConvergenceError):  # round-off decides which of the two bodies it names
        ph.simulate(system, ph.place(system), 1.0, dt=1e-3, progress=True, u={"_m": lambda t: 0.0 if t < 0.6 else 1e16})
    assert not capsys.readouterr().err.split("\r")[-1].strip()


def test_a_notebook_gets_one_bar_that_is_updated(at_once, capsys, monkeypatch):
    said = []

    class Handle:
        def update(self, data, *, raw):
            said.append(data)

    def display(data, *, raw, display_id):
        said.append(data)
        return Handle()

    class ZMQInteractiveShell: ...

    shown = types.ModuleType("IPython.display")
    shown.display = display
    package = types.ModuleType("IPython")
    package.get_ipython = ZMQInteractiveShell
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    run()  # without being asked
    assert "<progress value=" in said[0]["text/html"]
    assert "energy residual" in said[0]["text/plain"]
    assert said[-1]["text/html"] == ""
    assert len(said) >= 4
    assert capsys.readouterr().err == ""


def test_the_residual_on_the_way_is_that_of_the_ledger(monkeypatch):
    """Newton's method stopped early, damping, a spring, a motor and an event: what the bar says at the end is in the ledger."""
    found = []
    monkeypatch.setattr(
        simulate, "progress_bar", lambda start, end, wanted: lambda t, missing: missing and found.append(missing())
    )
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel, damping=ph.KelvinVoigt(1e-5)).discretise(2)
    joints = [
        ph.Revolute("ground", "a.P", name="m"),
        ph.Revolute("a.C", "b.P", name="j"),
        ph.JointSpring("j", stiffness=2.0, name="spring"),
        ph.JointDamper("j", damping=0.05, name="damper"),
    ]
    system = ph.connect({"a": link, "b": link}, joints, gravity=(0, -9.81, 0), plane="xy")

    def kick(t, state):
        return ph.set_moving(system, state, {f"{link}.omega": -0.8 * state[f"{link}.omega"] for link in "ab"})

    hit = ph.Event(lambda t, y: y["m.angle"] + 0.2, do=kick, direction=-1, name="stop")
    state = ph.place(system, {"m.angle": 0.3, "j.angle": -0.4})
    loose = ph.Midpoint(newton=1e-6)
    result = ph.simulate(system, state, 0.5, dt=5e-3, u={"j": lambda t: np.sin(30 * t)}, events=[hit], scheme=loose)
    assert len(result.info["events"]) >= 1
    ledger = ph.energy_ledger(result)
    largest = ledger.relative / np.abs(ledger.residual).max()
    assert found[-1] == pytest.approx(abs(ledger.residual[-1]) * largest, rel=0.5)
    assert ledger.relative > 1e-11  # there is something to see
    late = found[len(found) // 2 :]  # on the way it is beside the largest energy so far
    assert max(late) == pytest.approx(ledger.relative, rel=0.5)
