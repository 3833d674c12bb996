"""A process that works on shares of an ensemble: it reads them from its input and writes what it found to its output.

Messages are pickles, each with its length before it. The first one is the question; an empty one, or the end of the input, is
the end.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from typing import IO, Any

from phloat.many.runs import work

LENGTH = struct.Struct("<Q")


def send(file: IO[bytes], data: bytes) -> None:
    file.write(LENGTH.pack(len(data)))
    file.write(data)
    file.flush()


def receive(file: IO[bytes]) -> bytes:
    """A message; empty at the end."""
    head = file.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return b""
    size = LENGTH.unpack(head)[0]
    data = file.read(size)
    return data if len(data) == size else b""


def serve() -> None:
    """Work until there is no more. What users print goes to the other stream; an interrupt is for the process that asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    sys.stdin = open(os.devnull)
    try:
        question: Any = pickle.loads(receive(source))
    except Exception as error:
        send(sink, pickle.dumps(f"{type(error).__name__}: {error}"))
        return
    send(sink, pickle.dumps(""))
    while data := receive(source):
        send(sink, pickle.dumps(work(question, *pickle.loads(data)), protocol=5))
