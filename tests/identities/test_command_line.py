"""Every command on the example files: the numbers of Python, files that say the same, one JSON object where asked for."""

import json
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import numpy as np
import pytest
from messages import warns

import phloat as ph
from phloat.cli import installation
from phloat.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples" / "models"
CRANK = str(MODELS / "crank_slider.yaml")
SHORT = ["--t-end", "2ms", "--dt", "100us"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Commands write to where they are called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def asked(capsys):
    """asked("modes", file) is the JSON object that a command gives, and nothing else came out."""

    def ask(*words: str) -> dict:
        assert main([*words, "--json"]) == 0
        out, err = capsys.readouterr()
        assert not err
        found = json.loads(out)
        assert found["phloat"] == ph.__version__
        assert found["command"] == words[0]
        return found

    return ask


def table(path: Path) -> tuple[list[str], np.ndarray]:
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    return head.split(","), np.array([[float(x) for x in row.split(",")] for row in rows])


def short_run() -> ph.Result:
    """The crank-slider of the file, as a script would have it."""
    pin = {"crank pin": lambda t: 22.5 * np.array([-np.sin(150 * t), np.cos(150 * t)])}
    system = ph.io.load_model(CRANK).system
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, 0.0)}), u=pin)
    return ph.simulate(system, state, 2e-3, dt=1e-4, u=pin)


# --- run -------------------------------------------------------------------------------------------------------------


def test_run_leaves_the_numbers_of_python_in_a_folder(asked):
    found = asked("run", CRANK, *SHORT)
    result = short_run()
    bending = result.displacement("rod", s=0.5)[:, 1]
    assert found["outputs"]["largest bending"] == pytest.approx(bending.max(), rel=1e-9)
    assert found["times"] == len(result) == 21
    assert found["energy"]["end"] == pytest.approx(result.energy[-1], rel=1e-12)
    assert found["energy"]["residual"] < 1e-11
    folder = Path(found["folder"])
    assert folder == Path("crank_slider.run")
    np.testing.assert_array_equal(ph.io.load_result(folder).t, result.t)
    heads, rows = table(folder / "outputs.csv")
    assert heads == ["t", "bending"]
    np.testing.assert_array_equal(rows[:, 1], ph.io.load_result(folder).displacement("rod", s=0.5)[:, 1])
    assert found["series"]["bending"]["last"] == rows[-1, 1]
    assert (folder / "crank_slider.yaml").read_text(encoding="utf-8") == Path(CRANK).read_text(encoding="utf-8")
    saved = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert saved == {key: value for key, value in found.items() if key in saved}
    assert "Crank-slider at 150 rad/s" in (folder / "page.html").read_text(encoding="utf-8")


def test_the_page_of_a_run_opens_with_the_plots_of_its_file(asked):
    text = Path(CRANK).read_text(encoding="utf-8")
    Path("with_plots.yaml").write_text(text.replace("simulate: {", "simulate: {plots: [energy balance, rod.u_f], "))
    names = []
    for found in (asked("run", "with_plots.yaml", *SHORT), asked("view", "with_plots.run", "-o", "again.html")):
        page = Path(found["page"]).read_text(encoding="utf-8")
        document = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S).group(1))
        names.append([document["quantities"][k]["name"] for k in document["plots"]])
    assert names == [["energy balance", "rod: deformation at s = 0.5"]] * 2


def test_run_says_what_it_did_and_where_it_is(capsys):
    assert main(["run", CRANK, *SHORT, "--no-page"]) == 0
    out = capsys.readouterr().out
    assert "Crank-slider at 150 rad/s\n" in out
    assert "21 times to t = 0.002 s by Midpoint" in out
    assert re.search(r"relative residual of the balance \de-1[2-6]", out)
    assert re.search(r"largest bending = \d\.\d+e-\d+|largest bending = 0\.\d+", out)
    assert out.endswith("written: crank_slider.run\n")
    assert not Path("crank_slider.run/page.html").exists()


def test_runs_never_take_the_place_of_others_unless_told(asked):
    names = [asked("run", CRANK, *SHORT, "--no-page")["folder"] for _ in range(3)]
    assert names == ["crank_slider.run", "crank_slider.run-2", "crank_slider.run-3"]
    found = asked("run", CRANK, "--t-end", "1ms", "--dt", "100us", "--no-page", "--overwrite")
    assert (found["folder"], found["times"]) == ("crank_slider.run", 11)
    assert len(ph.io.load_result("crank_slider.run")) == 11
    assert len(ph.io.load_result("crank_slider.run-2")) == 21


def test_a_run_goes_on_beyond_its_end_as_one_that_never_stopped(asked):
    asked("run", CRANK, "--t-end", "1ms", "--dt", "100us", "-o", "one", "--no-page")
    on = asked("run", CRANK, "--resume", "one", "--t-end", "2ms")
    whole = asked("run", CRANK, *SHORT, "-o", "two", "--no-page", "--threads", "2")
    assert on["outputs"] == whole["outputs"]
    assert on["energy"]["end"] == whole["energy"]["end"]
    np.testing.assert_array_equal(ph.io.load_result("one").e, ph.io.load_result("two").e)


def test_a_linear_model_runs_too(asked, monkeypatch):
    monkeypatch.setattr("sys.stderr.write", lambda text: None)  # motions that nothing feels
    text = (MODELS / "plate_with_rod.yaml").read_text(encoding="utf-8").replace("cells: 16", "cells: 2")
    Path("plate.yaml").write_text(text, encoding="utf-8")
    found = asked("run", "plate.yaml", "--t-end", "1ms")
    with warns(ph.errors.UnfeltMotionWarning):
        result = ph.io.run_model(ph.io.load_model("plate.yaml"))
    at = np.abs(result.t - 1e-3).argmin()
    assert found["energy"]["end"] == pytest.approx(result.energy[at], rel=1e-9)
    assert found["energy"]["residual"] < 1e-12
    assert ["motions that nothing feels" in note for note in found["notes"]] == [True]
    assert Path(found["page"]).exists() and not (Path(found["folder"]) / "run.json").exists()


# --- linear analysis -------------------------------------------------------------------------------------------------


def test_modes_are_those_of_python_in_every_form(asked):
    file = str(MODELS / "satellite.yaml")
    found = asked("modes", file, "--count", "8", "-o", "m.csv", "-o", "m.json", "-o", "m.html", "-o", "m.svg")
    model = ph.io.load_model(file)
    modes = ph.modes(ph.linearise(model.system, model.state), 8)
    assert [mode["omega"] for mode in found["modes"]] == modes.omega.tolist()
    np.testing.assert_allclose([mode["hertz"] for mode in found["modes"]], modes.omega / (2 * np.pi), rtol=1e-15)
    assert found["rigid"] == modes.rigid == sum(mode["rigid"] for mode in found["modes"]) == 6
    heads, rows = table(Path("m.csv"))
    assert heads == ["mode", "omega", "hertz"]
    np.testing.assert_array_equal(rows[:, 1], modes.omega)
    np.testing.assert_allclose(rows[:, 2], modes.omega / (2 * np.pi), rtol=1e-15)
    assert json.loads(Path("m.json").read_text())["modes"] == found["modes"]
    assert "Satellite" in Path("m.html").read_text(encoding="utf-8") and "<svg" in Path("m.svg").read_text()


def test_modes_along_the_crank_are_the_published_ones(asked):
    text = (MODELS / "four_bar.yaml").read_text(encoding="utf-8").replace("count: 51", "count: 6")
    Path("four_bar.yaml").write_text(text, encoding="utf-8")
    found = asked("modes", "four_bar.yaml", "-o", "along.csv")
    paper = np.loadtxt(ROOT / "tests" / "reference" / "fourbar_titop.csv", delimiter=",", comments="#")[::10]
    np.testing.assert_allclose(np.rad2deg(found["values"]), paper[:, 0], atol=1e-9)
    np.testing.assert_allclose(found["omega"], paper[:, 1:], rtol=1e-3)
    np.testing.assert_array_equal(table(Path("along.csv"))[1][:, 1:], found["omega"])
    locked = asked("modes", "four_bar.yaml", "--at-start", "--lock", "motor")
    assert [round(mode["omega"], 2) for mode in locked["modes"][:3]] == [298.08, 317.19, 601.94]
    free = asked("check", "four_bar.yaml")
    assert len(locked["modes"]) == 3 and free["freedom"] == 37


def test_modes_say_how_they_are_damped(asked, capsys):
    file = str(MODELS / "flexible_arm.yaml")
    found = asked("modes", file, "--count", "4")
    model = ph.io.load_model(file)
    poles = ph.modes(ph.linearise(model.system, model.state), 4).poles[2:]  # two are rigid
    np.testing.assert_allclose([m["damping"] for m in found["modes"]][2:], -poles.real / np.abs(poles), rtol=1e-12)
    main(["modes", file, "--count", "4"])
    shown = capsys.readouterr().out
    assert f"damping ratio {found['modes'][2]['damping']:.3g}" in shown
    assert "bending of" in found["modes"][2]["kind"] and found["modes"][2]["kind"] in shown


def test_a_response_is_that_of_python_with_its_peaks(asked):
    file = str(MODELS / "flexible_arm.yaml")
    found = asked("response", file, "-o", "bode.csv", "-o", "bode.pdf")
    there = ph.io.run_response(ph.io.load_model(file))
    values = np.array(found["real"]) + 1j * np.array(found["imag"])
    np.testing.assert_array_equal(values, there.values)
    peak = next(p for p in found["peaks"] if (p["output"], p["input"]) == ("elbow", "elbow"))
    assert peak["largest"] == np.abs(there["elbow", "elbow"]).max()
    assert peak["omega"] == there.omega[np.abs(there["elbow", "elbow"]).argmax()] and peak["omega"] in peak["peaks"]
    rows = table(Path("bode.csv"))[1]
    assert rows.shape == (200, 9)
    np.testing.assert_allclose(rows[:, 1], np.abs(there["shoulder", "shoulder"]), rtol=1e-15)


# --- many ------------------------------------------------------------------------------------------------------------


def test_a_sweep_has_the_statistics_of_python_and_goes_on_where_it_was(asked):
    text = Path(CRANK).read_text(encoding="utf-8").replace("53.333333333333336 ms, dt: 20 us", "1 ms, dt: 100 us")
    Path("short.yaml").write_text(text, encoding="utf-8")
    found = asked("sweep", "short.yaml", "--samples", "4", "--workers", "1")
    runs = ph.io.load_ensemble(found["folder"])
    assert found["samples"] == len(runs) == 4 and not found["failed"]
    assert found["outputs"]["largest bending"]["mean"] == pytest.approx(runs.mean()["largest bending"], rel=1e-14)
    assert found["outputs"]["largest bending"]["std"] == pytest.approx(runs.std()["largest bending"], rel=1e-9)
    heads, rows = table(Path(found["table"]))
    assert heads == ["sample", "rod.material.E", "slider.mass", "largest bending"]
    np.testing.assert_array_equal(rows[:, 3], runs["largest bending"])
    model = ph.io.load_model("short.yaml")
    changed = ph.with_parameters(model.system, {name: runs[name][2] for name in ("rod.material.E", "slider.mass")})
    again = ph.simulate(changed, ph.State(changed.bodies, changed.layout, model.state.e), 1e-3, dt=1e-4, u=model.inputs)
    assert rows[2, 3] == pytest.approx(again.displacement("rod", s=0.5)[:, 1].max(), rel=1e-9)
    before = {f.name: f.stat().st_mtime_ns for f in Path(found["folder"]).glob("piece*")}
    assert asked("sweep", "short.yaml", "--samples", "4")["outputs"] == found["outputs"]
    assert before == {f.name: f.stat().st_mtime_ns for f in Path(found["folder"]).glob("piece*")}
    assert asked("sweep", "short.yaml", "--samples", "2", "--overwrite", "--workers", "1")["samples"] == 2


def test_a_sweep_writes_time_courses_and_vectors_or_says_where_they_are(asked, capsys, monkeypatch):
    text = Path(CRANK).read_text(encoding="utf-8").replace("53.333333333333336 ms, dt: 20 us", "1 ms, dt: 100 us")
    text = text.replace("  outputs: largest bending\n", "")
    text = text.replace("\noutputs:\n", "\noutputs:\n  a/b: slider.r_P\n  end: {quantity: slider.r_P, take: last}\n")
    Path("short.yaml").write_text(text, encoding="utf-8")
    found = asked("sweep", "short.yaml", "--samples", "3", "--workers", "1")
    runs = ph.io.load_ensemble(found["folder"])
    folder = Path(found["folder"])
    files = {"a/b": "series.a_b.csv", "bending": "series.bending.csv"}
    assert found["series"] == {name: str(folder / file) for name, file in files.items()}
    heads, rows = table(folder / "series.bending.csv")
    assert heads == ["t", "sample 0", "sample 1", "sample 2"] and rows.shape == (11, 4)
    np.testing.assert_array_equal(rows[:, 0], runs.t)
    np.testing.assert_array_equal(rows[:, 1:], runs["bending"].T)
    heads, rows = table(folder / "series.a_b.csv")
    assert heads[:4] == ["t", "sample 0.x", "sample 0.y", "sample 1.x"]
    np.testing.assert_array_equal(rows[:, 3:5], runs["a/b"][1])
    heads, rows = table(Path(found["table"]))
    assert heads[3:] == ["end.x", "end.y", "largest bending"]
    np.testing.assert_array_equal(rows[:, 3:5], runs["end"])
    assert found["outputs"]["end.x"]["max"] == runs["end"][:, 0].max()
    assert "over time, at runs.t: runs['bending']" in str(runs)

    monkeypatch.setattr("phloat.cli.run.MAX_SERIES", 40)  # bending has 33 numbers, a/b 66
    assert main(["sweep", "short.yaml", "--samples", "3", "--workers", "1", "--overwrite"]) == 0
    said = capsys.readouterr().out
    assert "bending over time: short.sweep/series.bending.csv" in said
    assert "ph.io.load_ensemble('short.sweep')['a/b']" in said and not (folder / "series.a_b.csv").exists()


# --- check -----------------------------------------------------------------------------------------------------------

FREEDOM = {
    "crank_slider": (32, 0),
    "four_bar": (37, 1),
    "heavy_top": (3, 3),
    "satellite": (40, 6),
    "double_pendulum": (34, 2),
    "hinged_beam": (19, 3),
    "spin_up": (64, 0),
}


@pytest.mark.parametrize("name", FREEDOM)
def test_check_counts_degrees_of_freedom(asked, name):
    found = asked("check", str(MODELS / f"{name}.yaml"))
    assert (found["freedom"], found["rigid_freedom"]) == FREEDOM[name]
    assert found["fine"] and found["repeated"] == 0 and found["redundant"] == []


def test_check_names_joints_that_repeat_each_other(asked):
    """A link in space between two parallel hinges on the ground: the second closes three rows again."""
    Path("twice.yaml").write_text(
        "phloat: 1\nbodies:\n  bar: {rigid body: {mass: 1, inertia: [1, 1, 1], ports: {A: [0, 0, 0], B: [0, 0, 1]}}}\n"
        "joints:\n  lower: {revolute: [ground, bar.A]}\n  upper: {revolute: [ground, bar.B], at: [0, 0, 1]}\n",
        encoding="utf-8",
    )
    found = asked("check", "twice.yaml")
    assert (found["freedom"], found["repeated"]) == (1, 5)
    assert found["redundant"] == ["lower", "upper"]


def test_check_of_several_models_and_of_a_linear_one(asked, capsys):
    both = asked("check", CRANK, str(MODELS / "heavy_top.yaml"))
    assert [found["name"] for found in both["models"]] == ["Crank-slider at 150 rad/s", "Heavy top"]
    text = (MODELS / "plate_with_rod.yaml").read_text(encoding="utf-8").replace("cells: 16", "cells: 2")
    Path("plate.yaml").write_text(text, encoding="utf-8")
    assert main(["check", "plate.yaml", "--json"]) == 0
    linear = json.loads(capsys.readouterr().out)
    assert linear["linear"] and linear["asks"] == ["simulate", "modes"]


def test_check_draws_pictures():
    assert main(["check", str(MODELS / "four_bar.yaml"), "-o", "bar.png", "--diagram", "bar.svg"]) == 0
    assert Path("bar.png").stat().st_size > 5000 and "motor" in Path("bar.svg").read_text(encoding="utf-8")


# --- view ------------------------------------------------------------------------------------------------------------


def test_view_makes_pages_and_says_where_they_are(asked, capsys, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    asked("run", CRANK, *SHORT, "--no-page")
    assert main(["view", "crank_slider.run"]) == 0
    page = Path("crank_slider.run/page.html")
    assert capsys.readouterr().out == f"open in a browser: {page.resolve().as_uri()}\n"
    assert "Crank-slider at 150 rad/s" in page.read_text(encoding="utf-8")
    made = page.stat().st_mtime_ns
    assert asked("view", "crank_slider.run") | {"notes": []} == {
        **{"phloat": ph.__version__, "command": "view", "what": "crank_slider.run", "page": str(page)},
        **{"opened": False, "notes": []},
    }
    assert page.stat().st_mtime_ns == made  # it was there
    assert asked("view", str(page))["page"] == str(page)
    assert asked("view", str(MODELS / "satellite.yaml"), "--modes", "-o", "hub.html")["page"] == "hub.html"
    assert "Satellite" in Path("hub.html").read_text(encoding="utf-8")


def test_view_opens_a_browser_where_there_is_one(monkeypatch, capsys):
    from phloat.cli import run as viewing

    opened = []

    class Browser:
        name = "firefox"

        def open(self, address: str) -> bool:
            opened.append(address)
            return True

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(viewing.webbrowser, "get", Browser)
    Path("a.html").write_text("<!doctype html>")
    assert main(["view", "a.html"]) == 0
    assert opened == [Path("a.html").resolve().as_uri()]
    assert capsys.readouterr().out.startswith("opened: file://")
    assert main(["view", "a.html", "--no-browser"]) == 0 and len(opened) == 1
    monkeypatch.setattr(Browser, "name", "lynx")
    assert main(["view", "a.html"]) == 0 and len(opened) == 1


# --- examples, schema, doctor ----------------------------------------------------------------------------------------


def test_examples_are_listed_with_their_questions(asked):
    there = asked("examples")["examples"]
    assert {f.name for f in MODELS.iterdir() if f.suffix in (".yaml", ".json")} <= set(there)
    assert {f.name for f in (ROOT / "examples").glob("*.py")} - {"demo.py"} <= set(there)
    assert all(len(said) > 20 for said in there.values())
    assert there["heavy_top.yaml"].startswith("How fast does a simulated heavy top")


def test_copied_examples_have_what_they_need_and_are_the_same(asked):
    found = asked("examples", "robot_link", "uncertain_crank_slider", "solid_pendulum.json", "-o", "here")["copied"]
    assert sorted(Path(f).name for f in found) == sorted(
        ["robot_link.yaml", "link.msh", "uncertain_crank_slider.py", "crank_slider.py", "solid_pendulum.json"]
    )
    assert Path("here/link.msh").read_bytes() == (MODELS / "link.msh").read_bytes()
    schema = re.search(r"\$schema=(\S+)", Path("here/robot_link.yaml").read_text(encoding="utf-8"))[1]
    assert json.loads(Path("here", schema).read_text(encoding="utf-8"))["title"] == "phloat model"
    original, copy = (ph.io.load_model(f / "solid_pendulum.json") for f in (MODELS, Path("here")))
    np.testing.assert_array_equal(original.state.e, copy.state.e)
    everything = asked("examples", "--all", "-o", "all")["copied"]
    assert len(everything) >= 30 and all(Path(f).exists() for f in everything)


def test_the_schema_is_printed(asked, capsys):
    found = asked("schema")
    assert found["schema"]["title"] == "phloat model"
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == found["schema"]


def test_doctor_knows_every_extra_and_what_is_there(asked, capsys):
    found = asked("doctor")
    declared = {m for line in requires("phloat") for m in re.findall(r"extra == ['\"](\w+)['\"]", line)}
    assert set(found["extras"]) == declared - set(installation.DEVELOPERS) == set(installation.PURPOSES)
    assert found["packages"]["numpy"] == np.__version__
    assert found["extras"]["plot"]["there"] and found["extras"]["plot"]["install"] == "pip install 'phloat[plot]'"
    assert found["compiled"] in (True, False) and Path(found["installed in"]).name == "phloat"
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {extra}" in out for extra in declared - set(installation.DEVELOPERS))
