"""Saved runs that are cut short, damaged, foreign or in the way."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from messages import raises, warns

import phloat as ph
from phloat.motion.saving import recorder

MODEL = """
import numpy as np
import phloat as ph
from phloat.motion.saving import recorder

recorder.SECONDS = 0.0
steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel).discretise(2)
hinges = [ph.Revolute("ground", "a.P", name="m"), ph.Revolute("a.C", "b.P", name="j")]
system = ph.connect({"a": link, "b": link}, hinges, gravity=(0, -9.81, 0), plane="xy")
state = ph.place(system, {"m.angle": 0.3, "j.angle": -0.4})
u = {"j": lambda t: 0.5 * np.sin(30 * t)}
"""


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """A piece after every 256 steps."""
    monkeypatch.setattr(recorder, "SECONDS", 0.0)


def pendulum() -> dict:
    out: dict = {}
    exec(MODEL, out)
    return out


def saved(folder: Path, **options) -> tuple[ph.System, ph.Result]:
    p = pendulum()
    task = {"dt": 1e-3, "output": 5, "u": p["u"], **options}
    return p["system"], ph.simulate(p["system"], p["state"], 1.0, save=folder, **task)


def killed(code: str, folder: Path, pieces: int) -> int:
    """A process that runs this code, killed when the run in the folder has so many pieces; how many it has then."""
    run = subprocess.Popen([sys.executable, "-c", MODEL + code], stderr=subprocess.PIPE)
    there, patience = 0, time.monotonic() + 300
    try:
        while there < pieces:
            assert run.poll() is None, run.stderr.read().decode()
            assert time.monotonic() < patience
            time.sleep(0.003)
            if (folder / "run.json").exists():
                there = json.loads((folder / "run.json").read_text())["pieces"]
    finally:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        run.stderr.close()
    return there


@pytest.mark.long
def test_a_killed_run_opens_and_goes_on_bit_for_bit(tmp_path):
    p, folder = pendulum(), tmp_path / "run"
    task = f"(system, state, 40.0, dt=1e-3, output=10, u=u, save={str(folder)!r})"
    first = killed(f"ph.simulate{task}", folder, 4)
    assert first < 100
    part = ph.io.load_result(folder, p["system"])
    assert part.info["finished"] is False
    assert part.t[-1] >= 0.25 * (first - 1)
    second = killed(f"ph.resume({str(folder)!r}, system, u=u)", folder, first + 10)
    assert second < 150
    whole = ph.resume(folder, p["system"], u=p["u"])
    plain = ph.simulate(p["system"], p["state"], 40.0, dt=1e-3, output=10, u=p["u"])
    for name in ("t", "e", "lam"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(plain, name))
    np.testing.assert_array_equal(whole.accounts.works, plain.accounts.works)


def test_half_written_files_are_no_part_of_a_run(tmp_path):
    system, result = saved(tmp_path / "run")
    (tmp_path / "run" / "e.000002.npy.part").write_bytes(b"\x93NUMPY half")
    (tmp_path / "run" / "run.json.part").write_text('{"format": ')
    (tmp_path / "run" / "notes.txt").write_text("mine")
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run", system).e, result.e)


@pytest.mark.parametrize("damage", ["truncated", "empty", "gone", "foreign", "short"])
def test_a_damaged_piece_ends_the_run_with_a_warning(tmp_path, damage):
    folder = tmp_path / "run"
    system, result = saved(folder)
    file = folder / "e.000002.npy"
    whole = file.read_bytes()
    if damage == "gone":
        file.unlink()
    elif damage == "short":
        np.save(file, np.load(file)[:-1])
    else:
        file.write_bytes({"truncated": whole[:-100], "empty": b"", "foreign": b"what is this?" * 99}[damage])
    with warns(ph.errors.DamagedRunWarning, "e.000002.npy"):
        part = ph.io.load_result(folder, system)
    assert part.info["finished"] is False
    assert 0 < len(part) < len(result)
    np.testing.assert_array_equal(part.e, result.e[: len(part)])


def test_a_run_with_a_damaged_last_piece_goes_on_from_the_one_before(tmp_path):
    folder = tmp_path / "run"
    system, result = saved(folder)
    said = json.loads((folder / "run.json").read_text())
    last = said["pieces"] - 2  # the last but the row at the end
    (folder / "run.json").write_text(json.dumps(said | {"finished": False, "pieces": last + 1}))
    for damaged in (f"works.{last:06d}.npy", f"memory.{last:06d}.npz"):
        file = folder / damaged
        file.write_bytes(file.read_bytes()[:200])
        again = ph.resume(folder, system, u=pendulum()["u"])
        np.testing.assert_array_equal(again.e, result.e)
        (folder / "run.json").write_text(json.dumps(said | {"finished": False, "pieces": last + 1}))


@pytest.mark.parametrize("opened", [ph.io.load_result, ph.resume])
def test_folders_without_a_run_are_said(tmp_path, opened):
    system, _ = saved(tmp_path / "run")
    with raises(ph.errors.InputError, "nowhere"):
        opened(tmp_path / "nowhere", system)
    (tmp_path / "run" / "run.json").unlink()
    with raises(ph.errors.InputError, "run.json"):
        opened(tmp_path / "run", system)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("{", "run.json"),
        ("[]", "run.json"),
        ('{"format": "other"}', "run.json"),
        ('{"format": "phloat run", "version": 99}', "run.json"),
    ],
)
def test_a_run_json_that_says_something_else_is_said(tmp_path, text, name):
    system, _ = saved(tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text(text)
    with raises(ph.errors.InputError, name):
        ph.io.load_result(tmp_path / "run", system)


def test_a_foreign_system_is_refused_by_what_differs(tmp_path):
    system, _ = saved(tmp_path / "run")
    p = pendulum()
    finer = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), p["steel"]).discretise(3)
    other = ph.connect({"a": finer, "b": p["link"]}, p["hinges"], plane="xy")
    with raises(ph.errors.InputError, "'a.eta'"):
        ph.io.load_result(tmp_path / "run", other)
    swapped = ph.connect({"b": p["link"], "a": p["link"]}, p["hinges"], plane="xy")
    with raises(ph.errors.InputError):
        ph.io.load_result(tmp_path / "run", swapped)
    with raises(ph.errors.InputError, "'m'"):
        ph.io.load_result(tmp_path / "run", ph.lock(system, "m"))
    with raises(ph.errors.InputError, "str"):
        ph.io.load_result(tmp_path / "run", "system")


def test_a_run_resumed_with_something_else_is_refused(tmp_path):
    folder = tmp_path / "run"
    system, _ = saved(folder)
    p = pendulum()
    with raises(ph.errors.InputError, "1 s"):
        ph.resume(folder, system, u=p["u"])
    with raises(ph.errors.InputError, "1 s"):
        ph.resume(folder, system, u=p["u"], t_end=0.5)
    with raises(ph.errors.InputError):
        ph.resume(folder, system, t_end=2.0)
    with raises(ph.errors.InputError):
        ph.resume(folder, system, u=p["u"], t_end=2.0, controller=lambda t, y: {})
    event = ph.Event(lambda t, y: 1.0, name="never")
    with raises(ph.errors.InputError, "never"):
        ph.resume(folder, system, u=p["u"], t_end=2.0, events=[event])
    heavier = ph.Beam(0.5, ph.Rectangle(0.02, 0.0041), p["steel"]).discretise(2)
    other = ph.connect({"a": heavier, "b": p["link"]}, p["hinges"], gravity=(0, -9.81, 0), plane="xy")
    with raises(ph.errors.InputError):
        ph.resume(folder, other, u=p["u"], t_end=2.0)
    assert ph.io.load_result(folder, system).t[-1] == pytest.approx(1.0, abs=1e-2)


def test_a_result_saved_at_the_end_cannot_be_resumed(tmp_path):
    system, result = saved(tmp_path / "run")
    ph.io.save_result(result, tmp_path / "copy")
    with raises(ph.errors.InputError, "copy"):
        ph.resume(tmp_path / "copy", system, u=pendulum()["u"], t_end=2.0)


def test_a_folder_with_a_run_is_not_written_over(tmp_path):
    system, result = saved(tmp_path / "run")
    with raises(ph.errors.InputError, "run'"):
        saved(tmp_path / "run")
    with raises(ph.errors.InputError, "run'"):
        ph.io.save_result(result, tmp_path / "run")
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run", system).e, result.e)
    (tmp_path / "file").touch()
    with raises(ph.errors.InputError, "file'"):
        ph.io.save_result(result, tmp_path / "file")
    with raises(ph.errors.InputError, "int"):
        ph.io.save_result(3, tmp_path / "new")


def test_a_run_that_does_not_begin_leaves_the_folder_free(tmp_path):
    with raises(ph.errors.InputError, "dt"):
        saved(tmp_path / "run", dt=None)
    saved(tmp_path / "run")
