"""Samples on a Dask cluster (extra `sweep`): shares of the samples as tasks, of which a few run at a time.

A worker that dies is Dask's business: its tasks go to others. A share that takes every worker down with it is tried sample by
sample, so that the one to blame is found and recorded.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from phloat.errors import InputError
from phloat.many.parametric_run import Outcome, ParametricRun
from phloat.many.pickling import dumps
from phloat.many.processes import run_samples, share_size, split_shares

PATIENCE = 5.0  # seconds to reach a scheduler, and a worker
AHEAD = 3  # shares submitted for every thread of the cluster


def on_cluster(run: ParametricRun, table: np.ndarray, numbers: np.ndarray, scheduler: Any) -> Iterator[list[Outcome]]:
    """All samples on the workers of a cluster; the scheduler is an address or a Client."""
    try:
        import distributed
    except ImportError as error:
        raise InputError("a cluster needs Dask: pip install phloat[sweep]") from error
    sent = dumps("the ensemble", run)
    if isinstance(scheduler, distributed.Client):
        yield from _shared(scheduler, sent, table, numbers)
        return
    if not isinstance(scheduler, str):
        raise InputError(
            f"scheduler is {scheduler!r}; it must be an address such as 'tcp://host:8786', or a dask Client"
        )
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {scheduler!r} within {PATIENCE:g} s; is it running, and is the address that of its "
            f"first lines ({str(error).splitlines()[0] if str(error) else type(error).__name__})?"
        ) from error
    with client:
        yield from _shared(client, sent, table, numbers)


def _shared(client: Any, sent: bytes, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
    import distributed

    threads = sum(_workers(client).values())
    waiting = list(split_shares(numbers, share_size(len(numbers), threads)))[::-1]
    running: dict[Any, np.ndarray] = {}
    finished = distributed.as_completed(loop=client.loop)

    def give() -> None:
        while waiting and len(running) < AHEAD * max(threads, 1):
            some = waiting.pop()
            future = client.submit(run_share, sent, some, table[some], pure=False)
            running[future] = some
            finished.add(future)

    try:
        give()
        while running:
            future = next(finished)
            some = running.pop(future)
            try:
                outcomes = future.result()
            except distributed.KilledWorker as error:
                outcomes = _blamed(some, error)
                waiting.extend(np.array([k]) for k in (some if not outcomes else ()))
            if isinstance(outcomes, str):
                raise InputError(
                    f"the ensemble cannot be opened on the cluster ({outcomes}); its workers need phloat, and the modules that "
                    "the functions of the ensemble use"
                )
            if len(outcomes) < len(some) and outcomes:
                waiting.append(some[len(outcomes) :])
            give()
            if outcomes:
                yield outcomes
    finally:
        client.cancel(list(running))


def run_share(sent: bytes, numbers: np.ndarray, rows: np.ndarray) -> list[Outcome] | str:
    """Outcomes of a share, or why it cannot be unpickled. Warnings are recorded only by workers with one thread."""
    import distributed

    try:
        run = _opened(sent)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return run_samples(run, numbers, rows, watched=distributed.get_worker().state.nthreads == 1)


@lru_cache(maxsize=4)
def _opened(sent: bytes) -> ParametricRun:
    run: ParametricRun = pickle.loads(sent)
    return run


def _blamed(some: np.ndarray, error: BaseException) -> list[Outcome]:
    """The sample that ended its workers, if it was alone."""
    if len(some) > 1:
        return []
    return [Outcome(int(some[0]), None, f"the workers that ran this sample were lost: {error}")]


def _workers(client: Any) -> dict[str, int]:
    """Workers and their threads. Raises InputError if there are none."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        raise InputError(
            f"the scheduler at {client.scheduler.address!r} has no workers; start some: dask worker {client.scheduler.address}"
        ) from error
    return dict(client.nthreads())
