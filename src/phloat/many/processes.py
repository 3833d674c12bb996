"""Samples on all cores: worker processes that are given shares of the samples, and threads. No sample is lost if a worker dies.

They are fresh Pythons rather than copies of this one: whatever threads, notebooks and devices this process has, they start
clean, do not run the user's script again, and keep their linear algebra to one thread each.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import IO, Any

import numpy as np

from phloat.errors import InputError
from phloat.many.parametric_run import Outcome, ParametricRun
from phloat.many.pickling import dumps

WORKER_COMMAND = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import phloat.many.processes as p; p.run_worker()"
)
SINGLE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
START_ATTEMPTS = 3  # to start a process


class GoneError(Exception):
    """A process that ended before it answered."""


class Process:
    """A worker at the other end of two pipes."""

    def __init__(self, run: bytes) -> None:
        environment = os.environ | dict.fromkeys(SINGLE_THREAD, "1")
        path = [entry or os.getcwd() for entry in sys.path]
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER_COMMAND, json.dumps(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self.refusal = pickle.loads(self.ask(run))

    def ask(self, data: bytes) -> bytes:
        """The answer to a message."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            send(self.process.stdin, data)
            answer = receive(self.process.stdout)
        except (OSError, ValueError):
            answer = b""
        if not answer:
            raise GoneError(self._ended())
        return answer

    def _ended(self) -> str:
        code = self.process.wait()
        return f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def in_processes(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """All samples in processes. Raises InputError, before anything is run, if the ensemble cannot be pickled."""
    return _Pool(dumps("the ensemble", run), table, numbers, workers).outcomes()


class _Pool:
    def __init__(self, run: bytes, table: np.ndarray, numbers: np.ndarray, workers: int) -> None:
        self.run, self.table = run, table
        self.left, self.workers = len(numbers), max(1, min(workers, len(numbers)))
        self.waiting: queue.LifoQueue[np.ndarray | None] = queue.LifoQueue()
        for some in list(split_shares(numbers, share_size(len(numbers), workers)))[::-1]:
            self.waiting.put(some)
        self.answers: queue.Queue[list[Outcome] | BaseException] = queue.Queue(maxsize=2 * self.workers)
        self.processes: list[Process | None] = [None] * self.workers
        self.closing = False

    def outcomes(self) -> Iterator[list[Outcome]]:
        threads = [threading.Thread(target=self._serve, args=(i,), daemon=True) for i in range(self.workers)]
        try:
            for thread in threads:
                thread.start()
            while self.left:
                answer = self.answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                self.left -= len(answer)
                yield answer
        finally:
            self._close(threads)

    def _close(self, threads: Sequence[threading.Thread]) -> None:
        self.closing = True
        for process in self.processes:
            if process is not None:
                process.end()
        for _ in threads:
            self.waiting.put(None)
        while any(thread.is_alive() for thread in threads):
            try:
                self.answers.get(timeout=0.02)  # so that no thread blocks
            except queue.Empty:
                continue

    def _serve(self, i: int) -> None:
        """Sends shares to one process, and to another one if it dies."""
        try:
            while not self.closing and (some := self.waiting.get()) is not None:
                self._share(i, some)
        except BaseException as error:
            if not self.closing:
                self.answers.put(error)

    def _share(self, i: int, some: np.ndarray) -> None:
        process = self.processes[i] or self._start_process(i)
        try:
            answer = process.ask(dumps("a share", (some, self.table[some])))
        except GoneError as gone:
            self.processes[i] = None
            process.end()
            if self.closing:
                return
            if len(some) == 1:
                self.answers.put([Outcome(int(some[0]), None, f"the process that ran this sample {gone}")])
            for k in some if len(some) > 1 else ():  # one of them ended the process: run each alone
                self.waiting.put(np.array([k]))
            return
        outcomes = pickle.loads(answer)
        if len(outcomes) < len(some):
            self.waiting.put(some[len(outcomes) :])
        self.answers.put(outcomes)

    def _start_process(self, i: int) -> Process:
        reason: Any = ""
        for _ in range(START_ATTEMPTS):
            try:
                process = Process(self.run)
            except GoneError as gone:
                reason = gone
                continue
            if process.refusal:
                process.end()
                raise InputError(f"the ensemble cannot be opened in another process: {process.refusal}")
            self.processes[i] = process
            if self.closing:
                process.end()
            return process
        raise InputError(f"no process for samples can be started: it {reason}; try workers=1")


# --- the worker ------------------------------------------------------------------------------------------------------
#
# A worker reads shares of an ensemble from its input and writes outcomes to its output.
#
# Messages are pickles, each with its length before it. The first one is the ensemble; an empty one, or the end of the input, is
# the end.


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


def run_worker() -> None:
    """Runs shares until the input ends. Output of users goes to stderr; SIGINT is left to the parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    sys.stdin = open(os.devnull)
    try:
        run: Any = pickle.loads(receive(source))
    except Exception as error:
        send(sink, pickle.dumps(f"{type(error).__name__}: {error}"))
        return
    send(sink, pickle.dumps(""))
    while data := receive(source):
        send(sink, pickle.dumps(run_samples(run, *pickle.loads(data)), protocol=5))


# --- samples in this process ------------------------------------------------------------------------------------------
#
# Samples one after the other or in threads; worker processes use `run_samples` too.


SHARE_SECONDS = 2.0  # after which a share is returned, complete or not
SHARE_BYTES = 16e6  # of outputs, likewise
MOST_SAMPLES = 256  # of a share


def run_samples(run: ParametricRun, numbers: np.ndarray, rows: np.ndarray, *, watched: bool = True) -> list[Outcome]:
    """The first samples of a share: at least one, and as many as time and memory allow. Only the first has output times."""
    begin, size = time.perf_counter(), 0
    out: list[Outcome] = []
    timed = False
    for k, values in zip(numbers, rows, strict=True):
        outcome = run.run_sample(int(k), values, watched=watched)
        size += 0 if outcome.outputs is None else sum(x.nbytes for x in outcome.outputs.values())
        out.append(outcome if not timed else outcome._replace(t=None))
        timed = timed or outcome.t is not None
        if time.perf_counter() - begin > SHARE_SECONDS or size > SHARE_BYTES:
            break
    return out


def run_here(run: ParametricRun, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
    """All samples in this process, one at a time."""
    for k in numbers:
        yield [run.run_sample(int(k), table[k])]


def in_threads(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """All samples in threads of this process: compiled code runs side by side, Python in turn."""
    waiting = list(split_shares(numbers, share_size(len(numbers), workers)))[::-1]
    running: dict[Future[list[Outcome]], np.ndarray] = {}
    with ThreadPoolExecutor(workers) as pool:
        while waiting or running:
            while waiting and len(running) < workers:
                some = waiting.pop()
                running[pool.submit(run_samples, run, some, table[some], watched=False)] = some
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                some, done = running.pop(future), future.result()
                if len(done) < len(some):
                    waiting.append(some[len(done) :])
                yield done


def split_shares(numbers: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (numbers[at : at + size] for at in range(0, len(numbers), size))


def share_size(samples: int, workers: int) -> int:
    """Samples to a share: many shares for each worker, so that none waits long at the end."""
    return int(np.clip(samples // (32 * workers), 1, MOST_SAMPLES))


def available_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
