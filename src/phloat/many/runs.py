"""Samples one after the other, here or in threads; what other processes do with their share is the same."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from phloat.many.question import Outcome, Question

SECONDS = 2.0  # after which a share of the work is handed in
BYTES = 16e6  # or when so much has come together
SHARE = 256  # samples that are given out at once, at most


def work(question: Question, numbers: np.ndarray, rows: np.ndarray, *, watched: bool = True) -> list[Outcome]:
    """Some samples: at least one, and as many of the others as time and memory allow. Of runs alike one has its times."""
    begin, size = time.perf_counter(), 0
    out: list[Outcome] = []
    timed = False
    for k, values in zip(numbers, rows, strict=True):
        outcome = question.asked(int(k), values, watched=watched)
        size += 0 if outcome.outputs is None else sum(x.nbytes for x in outcome.outputs.values())
        out.append(outcome if not timed else outcome._replace(t=None))
        timed = timed or outcome.t is not None
        if time.perf_counter() - begin > SECONDS or size > BYTES:
            break
    return out


def here(question: Question, table: np.ndarray, numbers: np.ndarray) -> Iterator[list[Outcome]]:
    """All samples in this process, one at a time."""
    for k in numbers:
        yield [question.asked(int(k), table[k])]


def in_threads(question: Question, table: np.ndarray, numbers: np.ndarray, workers: int) -> Iterator[list[Outcome]]:
    """All samples in threads of this process: compiled code runs side by side, Python in turn."""
    waiting = list(shares(numbers, fair(len(numbers), workers)))[::-1]
    running: dict[Future[list[Outcome]], np.ndarray] = {}
    with ThreadPoolExecutor(workers) as pool:
        while waiting or running:
            while waiting and len(running) < workers:
                some = waiting.pop()
                running[pool.submit(work, question, some, table[some], watched=False)] = some
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                some, done = running.pop(future), future.result()
                if len(done) < len(some):
                    waiting.append(some[len(done) :])
                yield done


def shares(numbers: np.ndarray, size: int) -> Iterator[np.ndarray]:
    return (numbers[at : at + size] for at in range(0, len(numbers), size))


def fair(samples: int, workers: int) -> int:
    """Samples to a share: many shares for each worker, so that none waits long at the end."""
    return int(np.clip(samples // (32 * workers), 1, SHARE))


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
