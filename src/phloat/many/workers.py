"""Samples run in this process, in threads, in processes on all cores, or on a Dask cluster (extra `sweep`).

Workers get shares of the samples. If a worker dies, each sample of its share is run alone, so that only the sample that kills a
worker fails, and the others are completed.
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

SHARE_SECONDS = 2.0  # after which the results of a share are returned, complete or not
SHARE_BYTES = 16e6  # of outputs, from which the results of a share are returned
SHARE_SAMPLES = 256  # samples of a share, at most
PARTS = 16  # of the remaining samples, of which a worker gets one as the next share
SHARES_AHEAD = 3  # shares submitted for every worker
PATIENCE = 5.0  # timeout for the connection to a scheduler and for its first worker, in s


class WorkerLostError(Exception):
    """A worker process that ended before it returned a result."""


def run_here(run: ParametricRun, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
    """Runs all samples in this process, and yields each outcome."""
    for k in numbers:
        yield [run.run_sample(int(k), table[k])]


def in_threads(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """Runs all samples in threads of this process: only the compiled code runs in parallel."""
    with ThreadPoolExecutor(workers) as threads:
        yield from _in_shares(threads, partial(run_samples, run, record=False), workers, table, numbers)


def _in_shares(
    executor: Executor,
    run_share: Callable[[np.ndarray, np.ndarray], list[Outcome]],
    workers: int,
    table: np.ndarray,
    numbers: np.ndarray,
    lost_error: type[BaseException] = WorkerLostError,
) -> Iterator[list[Outcome]]:
    """Runs all samples by an executor in shares; `run_share` raises `lost_error` if the worker of a share has died."""
    waiting = shares_of(numbers, workers)[::-1]
    running: dict[Future[list[Outcome]], np.ndarray] = {}
    try:
        while waiting or running:
            while waiting and len(running) < SHARES_AHEAD * workers:
                share = waiting.pop()
                running[executor.submit(run_share, share, table[share])] = share
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                share = running.pop(future)
                try:
                    outcomes = future.result()
                except lost_error as error:
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


def shares_of(numbers: np.ndarray, workers: int) -> list[np.ndarray]:
    """Shares that become smaller, down to single samples, so that no worker waits long for the last one."""
    out, first = [], 0
    while first < len(numbers):
        size = int(np.clip((len(numbers) - first) // (PARTS * workers), 1, SHARE_SAMPLES))
        out.append(numbers[first : first + size])
        first += size
    return out


def run_samples(run: ParametricRun, numbers: np.ndarray, rows: np.ndarray, *, record: bool = True) -> list[Outcome]:
    """Runs the first samples of a share: at least one, then until SHARE_SECONDS or SHARE_BYTES. Only the first has output times."""
    started, size = time.perf_counter(), 0
    outcomes: list[Outcome] = []
    for k, values in zip(numbers, rows, strict=True):
        outcome = run.run_sample(int(k), values, record=record)
        size += outcome.nbytes
        outcomes.append(outcome if all(earlier.t is None for earlier in outcomes) else outcome._replace(t=None))
        if time.perf_counter() - started > SHARE_SECONDS or size > SHARE_BYTES:
            break
    return outcomes


def available_cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- processes -------------------------------------------------------------------------------------------------------
#
# Workers are new Python processes rather than copies of this one: they are independent of its threads, notebooks and devices, do
# not run the user's script again (as those of `multiprocessing` do), and use one thread each for linear algebra.
#
# Both sides exchange pickles: first the ensemble, then shares and their outcomes.


WORKER_COMMAND = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import phloat.many.workers as w; w.run_worker()"
)
SINGLE_THREAD = [f"{of}_NUM_THREADS" for of in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")] + ["VECLIB_MAXIMUM_THREADS"]


def in_processes(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """Runs all samples in processes; raises InputError, before any sample is run, if the ensemble cannot be pickled."""
    return _Pool(dumps("the ensemble", run), min(workers, len(numbers))).outcomes(table, numbers)


class _Pool:
    """A thread for each worker process, which it starts when it is needed."""

    def __init__(self, run: bytes, workers: int) -> None:
        self.run, self.workers, self.thread_local = run, workers, threading.local()
        self.processes: list[_Process] = []
        self.closing = False

    def outcomes(self, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
        threads = ThreadPoolExecutor(self.workers)
        try:
            yield from _in_shares(threads, self.run_share, self.workers, table, numbers)
        finally:
            self.closing = True
            for process in list(self.processes):
                process.end()
            threads.shutdown()

    def run_share(self, share: np.ndarray, rows: np.ndarray) -> list[Outcome]:
        process = getattr(self.thread_local, "process", None)
        self.thread_local.process = None  # set again when it has returned
        process = process or self._start()
        outcomes: list[Outcome] = process.request(pickle.dumps((share, rows)))
        self.thread_local.process = process
        return outcomes

    def _start(self) -> _Process:
        """A new worker process with the ensemble; raises InputError if it cannot be started."""
        process = _Process()
        self.processes.append(process)
        if self.closing:
            process.end()
        try:
            error_text = process.request(self.run)
        except WorkerLostError as error:
            raise InputError(f"no process for samples can be started: it was {error}; try workers=1") from None
        if error_text:
            raise InputError(f"the ensemble cannot be opened in another process: {error_text}")
        return process


class _Process:
    """A worker process, connected by two pipes."""

    def __init__(self) -> None:
        path = json.dumps([entry or os.getcwd() for entry in sys.path])
        environment = os.environ | dict.fromkeys(SINGLE_THREAD, "1")
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environment}
        self.process = subprocess.Popen([sys.executable, "-c", WORKER_COMMAND, path], **pipes)
        self.stdin: Any = self.process.stdin
        self.stdout: Any = self.process.stdout

    def request(self, data: bytes) -> Any:
        """Sends a pickle and returns the unpickled reply; raises WorkerLostError if the process has ended."""
        try:
            with suppress(OSError):  # it may reply before it has read everything
                self.stdin.write(data)
                self.stdin.flush()
            return pickle.load(self.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1.0)
            self.end()
            code = self.process.returncode
            raise WorkerLostError(f"ended by signal {-code}" if code < 0 else f"ended with status {code}") from None

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # the buffer may not be empty
            self.stdin.close()
        self.stdout.close()


def run_worker() -> None:
    """Runs shares until the input ends. Output of user code goes to stderr; SIGINT is handled by the parent process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.close(0)
    os.open(os.devnull, os.O_RDONLY)
    sys.stdin = open(os.devnull)

    def send(value: object) -> None:
        pickle.dump(value, sink, protocol=5)
        sink.flush()

    try:
        run: ParametricRun = pickle.load(source)
    except Exception as error:
        send(f"{type(error).__name__}: {error}")
        return
    send("")
    with suppress(EOFError):
        while True:
            send(run_samples(run, *pickle.load(source)))


# --- a cluster -------------------------------------------------------------------------------------------------------


def on_cluster(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, scheduler: Any) -> Iterator[list[Outcome]]:
    """Runs all samples on the workers of a cluster, where Dask assigns the shares of dead workers to others.

    `scheduler` is an address or a Client.
    """
    try:
        import distributed
    except ImportError as error:
        raise InputError("a cluster needs Dask: pip install phloat[sweep]") from error
    pickled = dumps("the ensemble", run)
    context: Any = nullcontext(scheduler)
    if isinstance(scheduler, str):
        try:
            context = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            message = f"no Dask scheduler answers at {scheduler!r} within {PATIENCE:g} s; is it running?"
            raise InputError(message) from error
    elif not isinstance(scheduler, distributed.Client):
        raise InputError(f"scheduler is {scheduler!r}; give an address such as 'tcp://host:8786', or a dask Client")
    with context as client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            address = client.scheduler.address
            raise InputError(f"the scheduler at {address!r} has no workers; run dask worker {address}") from error
        executor, threads = client.get_executor(pure=False), sum(client.nthreads().values())
        yield from _in_shares(executor, partial(run_share, pickled), threads, table, numbers, distributed.KilledWorker)


def run_share(pickled: bytes, numbers: np.ndarray, rows: np.ndarray) -> list[Outcome]:
    """The outcomes of a share, run by a Dask worker; warnings are recorded only by workers with one thread."""
    import distributed

    return run_samples(_load_run(pickled), numbers, rows, record=distributed.get_worker().state.nthreads == 1)


@lru_cache(maxsize=4)
def _load_run(pickled: bytes) -> ParametricRun:
    """The unpickled run; raises InputError if the worker lacks a module."""
    try:
        run: ParametricRun = pickle.loads(pickled)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"the ensemble cannot be opened on the cluster ({reason}); its workers need phloat, and the modules of its functions"
        ) from None
    return run
