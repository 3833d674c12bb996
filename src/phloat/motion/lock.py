"""One writer at a time in a folder. The system lets go of a lock when its holder ends, however that ends: none grows stale."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from phloat.errors import InputError, SaveError

LOCK = "lock"  # the file; it says which process is at work, and is gone when that has ended in peace


@contextmanager
def held(folder: Path, of: str = "run") -> Iterator[None]:
    """The folder, made where it is not there, for this writer alone; a sentence where another is at work in it."""
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise InputError(f"{str(folder)!r} is a file; {_article(of)} {of} is saved in a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _taken(folder)
    except SaveError:
        raise
    except (OSError, ValueError) as error:  # ValueError: names that cannot be
        why = getattr(error, "strerror", None) or error
        raise SaveError(f"nothing can be written to {str(folder)!r}: {why}; give another folder") from error
    try:
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink()
        with suppress(OSError):  # a full disk may not even take the name of the holder
            file.close()


def _taken(folder: Path) -> IO[str]:
    """The file of the lock, open and held."""
    while True:
        file = open(folder / LOCK, "a+")
        try:
            _hold(file, folder)
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
        file.close()  # the holder before took the file away with it: once more


def _hold(file: IO[str], folder: Path) -> None:
    if os.name != "posix":  # elsewhere nobody looks
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        pid, _, host = file.read(200).strip().partition(" ")
        which = f" (number {pid} on {host})" if pid.isdecimal() else ""
        raise SaveError(
            f"another process is at work in {str(folder)!r}{which}; wait for it, end it, or give another folder"
        ) from error
    except OSError:  # a file system without locks
        return


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
