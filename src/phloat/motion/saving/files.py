"""Files of saved runs and ensembles: written atomically, described in JSON, by one writer at a time."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from phloat.errors import InputError, SaveError

PARTIAL = ".part"  # suffix of a file that is being written

Check = Callable[[object], bool]


def write_atomically(file: Path, write: Callable[[BinaryIO], object]) -> None:
    """Writes a file under another name and renames it, so that it is never partial. Raises SaveError if that fails."""
    partial = file.with_name(file.name + PARTIAL)
    try:
        with open(partial, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, file)
        if os.name == "posix":  # other systems cannot synchronise folders
            directory = os.open(file.parent, os.O_RDONLY)
            os.fsync(directory)
            os.close(directory)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        why = error.strerror or "no more than a part of it was taken"  # NumPy loses the reason
        raise SaveError(f"{str(file)!r} cannot be written: {why}") from error


def read_description(file: Path, kind: str, version: int, checks: Mapping[str, Check]) -> dict[str, Any]:
    """The JSON description of a saved "run" or "ensemble"; `checks` validate its entries. Raises InputError if invalid."""
    if not file.exists():
        problem = "is not there" if not file.parent.exists() else f"holds no {file.name}"
        raise InputError(f"there is no saved {kind} in {str(file.parent)!r}: it {problem}")
    try:
        description = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(file, str(error)) from error
    if not isinstance(description, dict) or description.get("format") != f"phloat {kind}":
        raise InputError(f"{str(file)!r} does not describe {_article(kind)} {kind} of phloat")
    if is_count(description.get("version")) and description["version"] > version:
        raise InputError(
            f"{str(file)!r} has version {description['version']}, and this phloat reads up to {version}; use a newer phloat"
        )
    for key, check in {"version": is_count, **checks}.items():
        if key not in description or not check(description[key]):
            raise _unreadable(file, f"{key!r} is {_abbreviated(description.get(key, 'not there'))}")
    return description


def is_count(x: object) -> bool:
    return isinstance(x, int) and not isinstance(x, bool) and x >= 0


def is_names(x: object) -> bool:
    return isinstance(x, list) and all(isinstance(name, str) for name in x)


def is_shapes(x: object) -> bool:
    """Whether x is {name: [number, …]}."""
    return isinstance(x, dict) and all(isinstance(row, list) and all(map(is_count, row)) for row in x.values())


def _unreadable(file: Path, why: str) -> InputError:
    return InputError(f"{str(file)!r} cannot be read ({why}); the other files of the folder may still be complete")


def _abbreviated(value: object) -> str:
    return text if len(text := repr(value)) < 60 else f"{text[:60]}…"


# --- one writer at a time --------------------------------------------------------------------------------------------
#
# The operating system releases the lock when its process ends for any reason, so that no stale lock remains.


LOCK = "lock"  # name of the lock file; it contains the process that writes, which removes it


@contextmanager
def locked(folder: Path, kind: str = "run") -> Iterator[None]:
    """Locks a folder for this writer; the folder is created if needed. Raises SaveError if another process has the lock."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"{str(folder)!r} is a file; {_article(kind)} {kind} is saved in a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _open_lock(folder)
    except SaveError:
        raise
    except (OSError, ValueError) as error:  # ValueError: invalid names
        why = getattr(error, "strerror", None) or error
        raise SaveError(f"nothing can be written to {str(folder)!r}: {why}; give another folder") from error
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink()
        with suppress(OSError):  # the disk may be full
            file.close()


def _open_lock(folder: Path) -> IO[str]:
    """Opens the lock file and acquires the lock."""
    while True:
        file = open(folder / LOCK, "a+")
        try:
            _acquire(file, folder)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(folder / LOCK)):
                    with suppress(OSError):
                        file.truncate(0)
                        file.write(f"{os.getpid()} {platform.node()}\n")
                        file.flush()
                    return file
        except BaseException:
            file.close()
            raise
        file.close()  # the previous process removed the file: try again


def _acquire(file: IO[str], folder: Path) -> None:
    """Acquires the lock. Raises SaveError if another process has it."""
    if os.name != "posix":  # no file locks
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        pid, _, host = file.read(200).strip().partition(" ")
        process = f" (number {pid} on {host})" if pid.isdecimal() else ""
        raise SaveError(
            f"another process is at work in {str(folder)!r}{process}; wait for it, end it, or give another folder"
        ) from error
    except OSError:  # a file system without locks
        return


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
