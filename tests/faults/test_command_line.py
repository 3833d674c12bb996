"""What is wrong on the command line is said in a sentence, with the right exit code and without a traceback."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import phloat as ph
from phloat.cli import console, installation, main, run as running
from phloat.motion.saving import recorder

MODELS = Path(__file__).resolve().parents[2] / "examples" / "models"
CRANK, BAR = str(MODELS / "crank_slider.yaml"), str(MODELS / "four_bar.yaml")
PLATE, TOP = str(MODELS / "plate_with_rod.yaml"), str(MODELS / "heavy_top.yaml")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file.txt").touch()
    Path("empty.yaml").touch()


@pytest.fixture
def said(capsys):
    """said(*words) is the exit code and the sentence; stdout has nothing but a title."""

    def say(*words: str) -> tuple[int, str]:
        code = main.main(list(words))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert len(out.splitlines()) <= 1 or "--json" in words
        return code, err

    return say


WRONG = {
    "a file that is not there": (["run", "nowhere.yaml"], "no file 'nowhere.yaml'"),
    "a folder for a model": (["run", "folder"], "'folder' is a folder, and a model is a file"),
    "an empty model": (["check", "empty.yaml"], "empty.yaml"),
    "a file of another kind": (["check", "file.txt"], "file.txt"),
    "a time that is no number": (
        ["run", CRANK, "--t-end", "soon"],
        "--t-end: 'soon' is not a number; write 2, 2s or 500ms",
    ),
    "a time that is a mass": (["run", CRANK, "--dt", "5kg"], "--dt is '5kg', which is not a time"),
    "an end before the start": (["run", CRANK, "--t-end=-1s"], "t_end = -1 s is not after the start"),
    "a step longer than the run": (["run", CRANK, "--dt", "1s"], "dt = 1 s is longer than the run"),
    "no threads at all": (["run", CRANK, "--threads", "0"], "threads is 0; it must be a whole number"),
    "threads of a linear model": (["run", PLATE, "--threads", "2"], "a linear system takes no threads"),
    "resumed elsewhere": (["run", CRANK, "--resume", "folder", "-o", "x"], "--resume goes on in its folder"),
    "resumed from nothing": (["run", CRANK, "--resume", "folder"], "folder"),
    "resumed and linear": (["run", PLATE, "--resume", "folder"], "is linear, and its runs cannot be resumed"),
    "a run into a file": (["run", CRANK, "-o", "file.txt"], "'file.txt' is a file; a run is saved in a folder"),
    "overwriting what is no run": (
        ["run", CRANK, "-o", "folder", "--overwrite"],
        "has no run in it; --overwrite replaces runs",
    ),
    "no mode": (["modes", CRANK, "--count", "0"], "--count is 0; give at least one mode"),
    "a joint that is not there": (["modes", BAR, "--lock", "motr"], "no joint 'motr' (did you mean 'motor'?)"),
    "shapes along a quantity": (["modes", BAR, "-o", "x.html"], "has modes along a quantity"),
    "an unknown ending": (["modes", BAR, "-o", "x.foo"], "'x.foo' ends in .foo; it can end in .html, .png"),
    "no ending": (["response", BAR, "-o", "x"], "'x' ends in nothing; it can end in .png"),
    "a folder that is not there": (["modes", BAR, "-o", "no/x.csv"], "there is no folder 'no' for 'x.csv'"),
    "no response asked for": (["response", BAR], "four_bar.yaml has no response; write response:"),
    "no sweep asked for": (["sweep", BAR], "four_bar.yaml has no sweep; write sweep:"),
    "no run asked for": (
        ["run", "still.yaml"],
        "still.yaml has no simulate; write simulate: {t_end: 1 s, dt: 1 ms}",
    ),
    "a step without an end": (["run", "still.yaml", "--dt", "1ms"], "give --t-end too"),
    "no samples": (["sweep", CRANK, "--samples", "0"], "--samples is 0; give at least one run"),
    "no workers": (["sweep", CRANK, "--workers", "0"], "workers is 0; it must be a whole number, 1 or more"),
    "overwriting what is no sweep": (["sweep", CRANK, "-o", "folder", "--overwrite"], "has no sweep in it"),
    "one picture of two": (["check", BAR, TOP, "-o", "x.png"], "2 models and one picture; draw them one by one"),
    "a picture of a linear model": (
        ["check", PLATE, "-o", "x.png"],
        "is linear; its modes can be plotted: phloat modes",
    ),
    "nothing to view": (["view", "nowhere"], "there is no 'nowhere'; give a folder with a run, a model file or a page"),
    "a folder without a run": (["view", "folder"], "'folder' has no run and no page"),
    "modes of a folder": (["view", "folder", "--modes"], "--modes is for model files, and 'folder' is not one"),
    "a page that is none": (["view", TOP, "-o", "x.png"], "'x.png' ends in .png; it can end in .html"),
    "an unknown example": (["examples", "carburettor"], "no example 'carburettor'; there are: crank_slider.yaml"),
    "half a name": (
        ["examples", "crank"],
        "no example 'crank'; there are: crank_slider.yaml",
    ),
    "copied into a file": (
        ["examples", "four_bar", "-o", "file.txt"],
        "'file.txt' is a file; give a folder to copy to",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_is_said_in_a_sentence(case, said, recwarn):
    text = Path(CRANK).read_text(encoding="utf-8").replace("\nsimulate:", "\n# simulate:")
    Path("still.yaml").write_text(text.partition("\nsweep:")[0], encoding="utf-8")
    words, sentence = WRONG[case]
    code, err = said(*words)
    assert code == 2
    assert sentence in err and err.splitlines()[-1].startswith("phloat: ")
    assert not [file for file in Path().iterdir() if file.name.startswith("crank_slider")]  # nothing is left


@pytest.mark.parametrize(
    "words", [["fly"], ["run"], ["run", "a", "b"], ["modes", "a", "--count", "x"], ["run", "--foo"]]
)
def test_words_that_are_none_show_how_it_is_used(words, capsys):
    with pytest.raises(SystemExit) as ended:
        main.main(words)
    assert ended.value.code == 2
    assert "usage: phloat" in capsys.readouterr().err


def test_errors_are_json_too_with_their_place(capsys):
    text = Path(CRANK).read_text(encoding="utf-8")
    Path("bad.yaml").write_text(text.replace("E: 200 GPa", "E: 200 kg"), encoding="utf-8")
    assert main.main(["run", "bad.yaml", "--json"]) == 2
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["exit"] == 2 and found["error"]["kind"] == "FileError"
    assert (found["error"]["file"], found["error"]["line"]) == ("bad.yaml", 8)
    assert found["error"]["key"] == "materials.steel.E"
    assert err == f"phloat: {found['error']['message']}\n" and "a mass; expected a stress" in err


def test_a_wrong_output_shows_before_the_run_and_not_after(said):
    text = Path(CRANK).read_text(encoding="utf-8")
    Path("bad.yaml").write_text(
        text.replace("largest bending: {displacement: rod", "largest bending: {displacement: rad")
    )
    for command in ("run", "check", "sweep"):
        code, err = said(command, "bad.yaml")
        assert code == 2
        assert "bad.yaml, line 32, outputs.largest bending: no body 'rad' (did you mean 'rod'?)" in err
    assert not Path("bad.run").exists() and not Path("bad.sweep").exists()


def test_a_wrong_plot_of_the_page_shows_before_the_run_and_not_after(said):
    text = Path(CRANK).read_text(encoding="utf-8")
    Path("bad.yaml").write_text(text.replace("simulate: {", "simulate: {plots: [energy, rod.u_g], "), encoding="utf-8")
    code, err = said("run", "bad.yaml")
    assert code == 2 and "bad.yaml, line" in err and "'rod.u_g' (did you mean 'rod.u_f'" in err
    assert not Path("bad.run").exists()


def test_check_looks_at_requests(said):
    arm = (MODELS / "flexible_arm.yaml").read_text(encoding="utf-8")
    Path("port.yaml").write_text(
        arm.replace("inputs: [shoulder, elbow]", "inputs: [shoulder, albow]"), encoding="utf-8"
    )
    code, err = said("check", "port.yaml")
    assert code == 2 and "'albow'" in err and "port.yaml, line" in err
    crank = Path(CRANK).read_text(encoding="utf-8")
    Path("out.yaml").write_text(crank.replace("  outputs: largest bending", "  outputs: largest"), encoding="utf-8")
    code, err = said("check", "out.yaml")
    assert code == 2 and "sweep names the output 'largest'; outputs are bending, largest bending" in err


def test_a_run_is_not_overwritten_unless_told(said):
    short = ["--t-end", "1ms", "--dt", "0.1ms", "--no-page", "-q", "-o", "mine"]
    assert said("run", CRANK, *short) == (0, "")
    code, err = said("run", CRANK, *short)
    assert (
        code == 2
        and "there is a run in 'mine' already; give another folder, --overwrite it, or continue it: --resume mine"
        in err
    )
    assert said("run", CRANK, *short, "--overwrite") == (0, "")
    code, err = said("run", CRANK, "--resume", "mine")
    assert code == 0 or "finished" in err


def test_a_run_that_fails_at_its_start_replaces_no_other(said, monkeypatch):
    short = ["--t-end", "1ms", "--dt", "0.1ms", "--no-page", "-q", "-o", "mine"]
    assert said("run", CRANK, *short) == (0, "")
    before = {file.name: file.read_bytes() for file in Path("mine").iterdir()}

    def failing(model, save, **options):
        (save / "run.json").write_text("{}", encoding="utf-8")
        raise ph.errors.ConvergenceError("no step")

    monkeypatch.setattr("phloat.io.run_model", failing)
    assert said("run", CRANK, *short, "--overwrite")[0] != 0
    assert {file.name: file.read_bytes() for file in Path("mine").iterdir()} == before
    Path("four_bar.yaml").write_text("mine")
    code, err = said("examples", "four_bar")
    assert code == 2 and "already there: four_bar.yaml; --overwrite, or -o elsewhere" in err
    assert Path("four_bar.yaml").read_text() == "mine"


def test_another_sweep_does_not_mix_with_the_one_that_is_there(said):
    text = Path(CRANK).read_text(encoding="utf-8").replace("53.333333333333336 ms, dt: 20 us", "1 ms, dt: 100 us")
    Path("short.yaml").write_text(text, encoding="utf-8")
    assert said("sweep", "short.yaml", "--samples", "2", "--workers", "1", "-q") == (0, "")
    code, err = said("sweep", "short.yaml", "--samples", "4", "--workers", "1")
    assert code == 2 and "'short.sweep' holds another ensemble" in err
    code, err = said("view", "short.sweep")
    assert code == 2 and "'short.sweep' is a sweep" in err and "samples.csv" in err


def test_newton_that_stalls_ends_with_three_and_keeps_the_motion(said, monkeypatch):
    def stalled(model, *, save, progress, threads):
        ph.simulate(model.system, model.state, 1e-3, dt=1e-4, u=dict(model.inputs), save=save)
        raise ph.errors.ConvergenceError("Newton stalled at t = 0.001 s; try dt = 5e-06", ph.io.load_result(save))

    monkeypatch.setattr(running.ph.io, "run_model", stalled)
    code, err = said("run", CRANK)
    assert code == 3
    assert (
        "Newton stalled at t = 0.001 s; try dt = 5e-06; the motion up to then is kept: phloat view crank_slider.run"
        in err
    )
    assert said("view", "crank_slider.run", "--no-browser", "-q") == (0, "")


def test_a_fault_of_ours_says_how_to_report_it(said, monkeypatch):
    monkeypatch.setattr(installation, "catalogue", lambda: 1 / 0)
    code, err = said("examples")
    assert code == 1
    assert "this is an error in phloat, not in your model: ZeroDivisionError: division by zero" in err
    file = Path(err.split(" and ")[-1].split(", which")[0])
    told = file.read_text(encoding="utf-8")
    file.unlink()
    assert f"phloat {ph.__version__}" in told and "Traceback" in told and "ZeroDivisionError" in told


def test_other_errors_have_their_codes(tmp_path):
    assert console.exit_code_and_message(MemoryError())[0] == 3
    assert console.exit_code_and_message(ph.errors.AccuracyError("missed"))[0] == 3
    code, text = console.exit_code_and_message(PermissionError(13, "Permission denied", "there"))
    assert (code, text) == (2, "there: Permission denied")
    assert console.exit_code_and_message(KeyboardInterrupt()) == (130, "interrupted; nothing was written")


def test_a_missing_extra_is_named(said, monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    code, err = said("check", CRANK)
    assert code == 2 and "pip install phloat[files]" in err
    monkeypatch.undo()


def test_warnings_are_notes_without_places_in_the_code(capsys):
    text = Path(PLATE).read_text(encoding="utf-8").replace("cells: 16", "cells: 2")
    Path("plate.yaml").write_text(text, encoding="utf-8")
    assert main.main(["check", "plate.yaml"]) == 0
    assert (
        capsys.readouterr().err == "note: motions that nothing feels are left out: rod.v_x, rod.v_y, rod.ω_y, rod.ω_z\n"
    )
    with warnings.catch_warnings(record=True) as still:
        warnings.simplefilter("always")
        warnings.warn("as before", stacklevel=1)
    assert len(still) == 1  # what a command does to warnings ends with it


def test_an_installation_without_examples_says_where_they_are(said, monkeypatch, tmp_path):
    monkeypatch.setattr(installation.phloat, "__file__", str(tmp_path / "a" / "b" / "phloat" / "__init__.py"))
    code, err = said("examples")
    assert code == 2 and "they are in the source of phloat, in examples/" in err


# --- interrupted -----------------------------------------------------------------------------------------------------


def test_an_interrupted_run_is_kept_and_goes_on_to_the_same_end(said, monkeypatch):
    step = ["--t-end", "20ms"]
    assert said("run", CRANK, *step, "-o", "whole", "--no-page", "-q") == (0, "")
    written = recorder.Recorder.piece

    def interrupted(self, rows, memory, *, finished=False):
        written(self, rows, memory, finished=finished)
        if self.pieces == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "SECONDS", 0.0)
    monkeypatch.setattr(recorder.Recorder, "piece", interrupted)
    code, err = said("run", CRANK, *step, "-o", "part")
    assert code == 130
    assert "are kept in part; continue with: phloat run" in err and "--resume part" in err
    cut = ph.io.load_result("part")
    assert not cut.info["finished"] and 0 < len(cut) < 1001
    monkeypatch.setattr(recorder.Recorder, "piece", written)
    assert said("run", CRANK, "--resume", "part", "--no-page", "-q") == (0, "")
    one, other = ph.io.load_result("whole"), ph.io.load_result("part")
    np.testing.assert_array_equal(one.e, other.e)
    assert Path("whole/outputs.csv").read_text() == Path("part/outputs.csv").read_text()


def test_a_run_interrupted_at_once_leaves_nothing(said, monkeypatch):
    def interrupted(self, task):
        raise KeyboardInterrupt

    monkeypatch.setattr(ph.Midpoint, "run", interrupted)
    code, err = said("run", CRANK)
    assert code == 130 and "interrupted before anything was written; nothing is left" in err
    assert not Path("crank_slider.run").exists()


def test_an_interrupted_sweep_says_how_many_are_kept(said, monkeypatch):
    def interrupted(model, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(running.ph.io, "run_sweep", interrupted)
    code, err = said("sweep", CRANK)
    assert code == 130 and "nothing is left" in err


# --- as a program ----------------------------------------------------------------------------------------------------


def program(*words: str, **options) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, "-m", "phloat", *words], **pipes)


def test_bad_input_ends_a_real_program_with_two():
    done = program("check", "nowhere.yaml")
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (2, "") and err.startswith("phloat: no file 'nowhere.yaml'")


def test_a_reader_that_has_enough_is_no_fault():
    shell = f"{sys.executable} -m phloat schema | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{shell}; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["{", "141"] and done.stderr == ""


@pytest.fixture
def heard():
    """Control-C as on a terminal: what a shell starts in the background is deaf to it, and so is what that starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Dropped:
    """Python ignores what is raised while this goes."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_control_c_that_python_would_drop_counts(said, heard, monkeypatch):
    def catalogue():
        Dropped()
        return [time.sleep(0.001) for _ in range(1000)]

    monkeypatch.setattr(installation, "catalogue", catalogue)
    assert said("examples") == (130, "phloat: interrupted; nothing was written\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_that_a_library_turns_into_another_error_counts(said, heard, monkeypatch):
    def catalogue():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass
        raise ImportError("half of a library")

    monkeypatch.setattr(installation, "catalogue", catalogue)
    assert said("examples") == (130, "phloat: interrupted\n")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="signals of another kind")
def test_control_c_ends_a_real_program_with_130(heard):
    running = program("run", CRANK, "--dt", "20ns", "-o", "long", start_new_session=True)
    time.sleep(1.0)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode in (130, -signal.SIGINT)  # the latter while Python itself still begins
    assert not Path("long").exists() or "kept in long" in err


def test_words_that_a_terminal_cannot_spell_do_not_stop_it():
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = program("check", BAR, env=environment)
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    assert "ground ? crank.P" in out
