"""Disks that are full or read-only, and folders that two want: a sentence, and what was written is kept."""

import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.motion.saving import files, recorder

STEEL = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
LINK = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), STEEL).discretise(2)
SYSTEM = ph.connect({"a": LINK}, [ph.Revolute("ground", "a.P", name="m")], gravity=(0, -9.81, 0), plane="xy")
STATE = ph.place(SYSTEM)
TASK = {"t_end": 1.5, "dt": 1e-3, "output": 5}


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """A piece after every 256 steps."""
    monkeypatch.setattr(recorder, "SECONDS", 0.0)


@pytest.fixture(scope="module")
def plain() -> ph.Result:
    return ph.simulate(SYSTEM, STATE, **TASK)


class Disk:
    """A disk that takes so many files, and then none."""

    def __init__(self, room: int, code: int = errno.ENOSPC) -> None:
        self.room, self.code, self.sync = room, code, os.fsync

    def fsync(self, number: int) -> None:
        if self.room == 0:
            raise OSError(self.code, os.strerror(self.code))
        self.room -= 1
        self.sync(number)


def full(monkeypatch: pytest.MonkeyPatch, room: int, code: int = errno.ENOSPC) -> None:
    monkeypatch.setattr(files.os, "fsync", Disk(room, code).fsync)


@pytest.mark.parametrize("room", [30, 37, 45, 60, 84])
def test_a_disk_that_fills_up_keeps_what_was_written_and_goes_on_later(tmp_path, monkeypatch, plain, room):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch, raises(ph.errors.SaveError, "No space left"):
        full(patch, room)
        ph.simulate(SYSTEM, STATE, save=folder, **TASK)
    assert not list(folder.glob("*.part"))
    assert not (folder / "lock").exists()
    part = ph.io.load_result(folder, SYSTEM)
    assert 0 < len(part) < len(plain)
    assert not part.info["finished"]
    np.testing.assert_array_equal(part.e, plain.e[: len(part)])
    with monkeypatch.context() as patch, raises(ph.errors.SaveError, "No space left"):
        full(patch, 5)
        ph.resume(folder, SYSTEM)
    whole = ph.resume(folder, SYSTEM)
    np.testing.assert_array_equal(whole.e, plain.e)
    np.testing.assert_array_equal(whole.accounts.works, plain.accounts.works)


@pytest.mark.parametrize("room", range(0, 12, 3))
def test_a_disk_full_at_once_leaves_the_folder_free(tmp_path, monkeypatch, plain, room):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch, raises(ph.errors.SaveError, "No space left"):
        full(patch, room)
        ph.simulate(SYSTEM, STATE, save=folder, **TASK)
    np.testing.assert_array_equal(ph.simulate(SYSTEM, STATE, save=folder, **TASK).e, plain.e)


LIMITED = """
import resource, sys
import test_disks as t
import phloat as ph
t.recorder.SECONDS = 0.0
ph.simulate(t.SYSTEM, t.STATE, t_end=0.01, dt=1e-3)  # what is compiled is there
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    ph.simulate(t.SYSTEM, t.STATE, t_end=1.5, dt=1e-3, save=sys.argv[1])
except ph.errors.SaveError as error:
    print(error)
"""


def other(code: str, *arguments: str) -> subprocess.Popen:
    here = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(here), str(here.parent)])}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.skipif(os.name != "posix", reason="limits of processes are those of POSIX")
def test_files_that_may_not_grow_are_said(tmp_path):
    process = other(LIMITED, str(tmp_path / "run"))
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert re.search(r"'.*\.npy' cannot be written: ", out)
    assert not list((tmp_path / "run").glob("*.part"))


@pytest.mark.parametrize("verb", ["simulate", "save"])
def test_a_folder_that_cannot_be_is_said(tmp_path, plain, verb):
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file" / "run", tmp_path / ("long" * 100), tmp_path / "a\0b"):
        with raises(ph.errors.SaveError):
            ph.io.save_result(plain, folder) if verb == "save" else ph.simulate(SYSTEM, STATE, save=folder, **TASK)
    with raises(ph.errors.InputError, "file'"):
        ph.io.save_result(plain, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_read_only_folder_is_said_and_can_be_read(tmp_path, monkeypatch, plain):
    folder = tmp_path / "run"
    ph.simulate(SYSTEM, STATE, save=folder, **TASK)

    def refused(path, mode="r", *more, **options):  # what a read-only file system answers; root may write to any other
        if Path(path).parent == folder and mode.strip("b") != "r":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return open(path, mode, *more, **options)

    monkeypatch.setattr("phloat.motion.saving.files.open", refused, raising=False)
    monkeypatch.setattr("phloat.motion.saving.files.open", refused, raising=False)
    np.testing.assert_array_equal(ph.io.load_result(folder, SYSTEM).e, plain.e)
    for write in (
        lambda: ph.resume(folder, SYSTEM, t_end=2.0),
        lambda: ph.io.save_result(plain, folder, overwrite=True),
    ):
        with raises(ph.errors.SaveError, "Read-only"):
            write()
    np.testing.assert_array_equal(ph.io.load_result(folder, SYSTEM).e, plain.e)


def test_a_save_error_is_an_error_of_input_and_of_the_system():
    assert issubclass(ph.errors.SaveError, ph.errors.InputError)
    assert issubclass(ph.errors.SaveError, OSError)


# --- two in one folder ------------------------------------------------------------------------------------------------

WAITS = """
import sys
import test_disks as t
import phloat as ph

def waits(time, y):
    if time > 0.02:
        print("there", flush=True)
        sys.stdin.read()
    return {}

t.recorder.SECONDS = 0.0
ph.simulate(t.SYSTEM, t.STATE, t_end=0.1, dt=1e-3, controller=waits, save=sys.argv[1])
"""


def test_two_processes_do_not_write_one_folder_and_the_lock_of_a_dead_one_is_none(tmp_path, monkeypatch, plain):
    folder = tmp_path / "run"
    here = Path(__file__).parent
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(here), str(here.parent)])}
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    try:
        assert process.stdout.readline() == b"there\n"
        for write in (
            lambda: ph.resume(folder, SYSTEM, controller=lambda t, y: {}),
            lambda: ph.simulate(SYSTEM, STATE, save=folder, **TASK),
            lambda: ph.io.save_result(plain, folder, overwrite=True),
        ):
            with raises(ph.errors.SaveError, process.pid, golden=False):
                write()
        assert 0 < len(ph.io.load_result(folder, SYSTEM)) < 100  # reading is free
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert (folder / "lock").exists()  # of the dead
    monkeypatch.setattr(recorder, "SECONDS", 10.0)
    whole = ph.resume(folder, SYSTEM, controller=lambda t, y: {})
    assert not (folder / "lock").exists()
    np.testing.assert_array_equal(whole.e[:100:5], plain.e[:20])


def test_a_run_inside_a_run_does_not_write_its_folder(tmp_path):
    def nested(t, y):
        ph.simulate(SYSTEM, STATE, save=tmp_path / "run", **TASK)

    with raises(ph.errors.SaveError, os.getpid(), golden=False):
        ph.simulate(SYSTEM, STATE, save=tmp_path / "run", controller=nested, **TASK)
