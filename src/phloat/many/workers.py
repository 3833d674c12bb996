"""Samples run here, in threads, in processes on all cores, or on a Dask cluster (extra `sweep`).

All but the first take shares of the samples. A worker that dies takes no sample with it: each sample of its share is run alone, so
that the one to blame is found and recorded.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from functools import lru_cache, partial
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.many.parametric_run import ParametricRun
from phloat.many.pickling import dumps
from phloat.many.store import Outcome

SHARE_SECONDS = 2.0  # after which a share is returned, complete or not
SHARE_BYTES = 16e6  # of outputs, likewise
MOST_SAMPLES = 256  # of a share
AHEAD = 3  # shares submitted for every worker
PATIENCE = 5.0  # seconds to reach a scheduler, and a worker


class GoneError(Exception):
    """A process that ended before it answered."""


def run_here(run: ParametricRun, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
    """All samples in this process, one at a time."""
    for k in numbers:
        yield [run.run_sample(int(k), table[k])]


def in_threads(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """All samples in threads of this process: compiled code runs side by side, Python in turn."""
    with ThreadPoolExecutor(workers) as threads:
        yield from _in_shares(threads, partial(run_samples, run, watched=False), workers, table, numbers)


def _in_shares(
    executor: Executor,
    ask: Callable[[np.ndarray, np.ndarray], list[Outcome]],
    workers: int,
    table: np.ndarray,
    numbers: np.ndarray,
    lost: type[BaseException] = GoneError,
) -> Iterator[list[Outcome]]:
    """All samples by an executor; `ask` raises `lost` where the worker of a share has died."""
    size = int(np.clip(len(numbers) // (32 * workers), 1, MOST_SAMPLES))  # many, so that none waits long at the end
    waiting = [numbers[at : at + size] for at in range(0, len(numbers), size)][::-1]
    running: dict[Future[list[Outcome]], np.ndarray] = {}
    try:
        while waiting or running:
            while waiting and len(running) < AHEAD * workers:
                share = waiting.pop()
                running[executor.submit(ask, share, table[share])] = share
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                share = running.pop(future)
                try:
                    outcomes = future.result()
                except lost as error:
                    if len(share) > 1:
                        waiting.extend(share[j : j + 1] for j in range(len(share)))
                        continue
                    outcomes = [Outcome(int(share[0]), {}, f"the worker that ran this sample was lost: {error}")]
                if len(outcomes) < len(share):
                    waiting.append(share[len(outcomes) :])
                yield outcomes
    finally:
        for future in running:
            future.cancel()


def run_samples(run: ParametricRun, numbers: np.ndarray, rows: np.ndarray, *, watched: bool = True) -> list[Outcome]:
    """The first samples of a share: at least one, and as many as time and memory allow. Only the first has output times."""
    begin, size = time.perf_counter(), 0
    out: list[Outcome] = []
    for k, values in zip(numbers, rows, strict=True):
        outcome = run.run_sample(int(k), values, watched=watched)
        size += outcome.nbytes
        out.append(outcome if all(one.t is None for one in out) else outcome._replace(t=None))
        if time.perf_counter() - begin > SHARE_SECONDS or size > SHARE_BYTES:
            break
    return out


def available_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- processes -------------------------------------------------------------------------------------------------------
#
# Workers are fresh Pythons rather than copies of this one: whatever threads, notebooks and devices this process has, they start
# clean, do not run the user's script again (as those of `multiprocessing` do), and keep their linear algebra to one thread each.
#
# Both ends write pickles: first the ensemble, then shares and their outcomes.


WORKER_COMMAND = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import phloat.many.workers as w; w.run_worker()"
)
SINGLE_THREAD = [f"{of}_NUM_THREADS" for of in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")] + ["VECLIB_MAXIMUM_THREADS"]


def in_processes(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """All samples in processes. Raises InputError, before anything is run, if the ensemble cannot be pickled."""
    return _Pool(dumps("the ensemble", run), min(workers, len(numbers))).outcomes(table, numbers)


class _Pool:
    """Threads that ask a process each, which is started when it is needed."""

    def __init__(self, run: bytes, workers: int) -> None:
        self.run, self.workers, self.mine = run, workers, threading.local()
        self.started: list[_Process] = []
        self.closing = False

    def outcomes(self, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
        threads = ThreadPoolExecutor(self.workers)
        try:
            yield from _in_shares(threads, self.ask, self.workers, table, numbers)
        finally:
            self.closing = True
            for process in list(self.started):
                process.end()
            threads.shutdown()

    def ask(self, share: np.ndarray, rows: np.ndarray) -> list[Outcome]:
        process = getattr(self.mine, "process", None)
        self.mine.process = None  # unless it answers
        process = process or self._start()
        outcomes: list[Outcome] = process.ask(pickle.dumps((share, rows)))
        self.mine.process = process
        return outcomes

    def _start(self) -> _Process:
        process = _Process()
        self.started.append(process)
        if self.closing:
            process.end()
        try:
            refusal = process.ask(self.run)
        except GoneError as error:
            raise InputError(f"no process for samples can be started: it was {error}; try workers=1") from None
        if refusal:
            raise InputError(f"the ensemble cannot be opened in another process: {refusal}")
        return process


class _Process:
    """A worker at the other end of two pipes."""

    def __init__(self) -> None:
        path = json.dumps([entry or os.getcwd() for entry in sys.path])
        environment = os.environ | dict.fromkeys(SINGLE_THREAD, "1")
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment}
        self.process = subprocess.Popen([sys.executable, "-c", WORKER_COMMAND, path], **pipes)
        self.into: Any = self.process.stdin
        self.out: Any = self.process.stdout

    def ask(self, data: bytes) -> Any:
        """The answer to a pickle."""
        try:
            with suppress(OSError):  # it may refuse before it has read everything
                self.into.write(data)
                self.into.flush()
            return pickle.load(self.out)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1.0)
            self.end()
            code = self.process.returncode
            raise GoneError(f"ended by signal {-code}" if code < 0 else f"ended with status {code}") from None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # something may not be written yet
            self.into.close()
        self.out.close()


def run_worker() -> None:
    """Runs shares until the input ends. Output of users goes to stderr; SIGINT is left to the parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    sys.stdin = open(os.devnull)

    def answer(value: object) -> None:
        pickle.dump(value, sink, protocol=5)
        sink.flush()

    try:
        run: ParametricRun = pickle.load(source)
    except Exception as error:
        answer(f"{type(error).__name__}: {error}")
        return
    answer("")
    with suppress(EOFError):
        while True:
            answer(run_samples(run, *pickle.load(source)))


# --- a cluster -------------------------------------------------------------------------------------------------------


def on_cluster(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, scheduler: Any) -> Iterator[list[Outcome]]:
    """All samples on the workers of a cluster, where Dask gives the shares of dead workers to others.

    The scheduler is an address or a Client.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("a cluster needs Dask: pip install phloat[sweep]") from error
    sent = dumps("the ensemble", run)
    context: Any = nullcontext(scheduler)
    if isinstance(scheduler, str):
        try:
            context = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            why = f"no Dask scheduler answers at {scheduler!r} within {PATIENCE:g} s; is it running?"
            raise InputError(why) from error
    elif not isinstance(scheduler, distributed.Client):
        raise InputError(f"scheduler is {scheduler!r}; give an address such as 'tcp://host:8786', or a dask Client")
    with context as client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            address = client.scheduler.address
            raise InputError(f"the scheduler at {address!r} has no workers; run dask worker {address}") from error
        executor, threads = client.get_executor(pure=False), sum(client.nthreads().values())
        yield from _in_shares(executor, partial(run_share, sent), threads, table, numbers, distributed.KilledWorker)


def run_share(sent: bytes, numbers: np.ndarray, rows: np.ndarray) -> list[Outcome]:
    """Outcomes of a share. Warnings are recorded only by workers with one thread."""
    import distributed

    return run_samples(_opened(sent), numbers, rows, watched=distributed.get_worker().state.nthreads == 1)


@lru_cache(maxsize=4)
def _opened(sent: bytes) -> ParametricRun:
    try:
        run: ParametricRun = pickle.loads(sent)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(
            f"the ensemble cannot be opened on the cluster ({why}); its workers need phloat, and the modules of its functions"
        ) from None
    return run
