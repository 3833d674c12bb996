"""The places of steps, found as they are needed: the same bits as if all were made at once, and no memory that grows with them."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from motion_zoo import pair, random_motion

import phloat as ph
from phloat.motion.schemes.midpoint import OutputNodes, TimeGrid

RUNS = [
    (0.0, 1.0, 1e-3),
    (0.0, 1.00037, 1e-3),
    (2.0, 3.3, 1.7e-3),
    (-1.0, 0.1, 0.3),
    (0.0, 0.7, 0.1),
    (1e4, 10001.0, 0.01),
]


def all_at_once(start, end, dt):
    count = int(np.floor((end - start) / dt * (1 + 1e-12) + 1e-9))
    times = start + dt * np.arange(count + 1)
    if end - times[-1] > 1e-9 * dt:
        return np.append(times, end)
    times[-1] = end
    return times


def around(times, output):
    """Numbers of the nodes to keep: every so many and the last, or those around the wanted times."""
    last = len(times) - 1
    if isinstance(output, int):
        return np.unique(np.append(np.arange(0, last + 1, output), last))
    near = 1e-9 * (times[1] - times[0])
    after = np.minimum(np.searchsorted(times, output - near), last)
    hit = np.abs(times[after] - output) < near
    return np.unique(np.clip(np.concatenate([after, after[~hit] - 1]), 0, last))


@pytest.mark.parametrize("run", RUNS)
def test_times_are_those_of_the_whole_row_bit_for_bit(run):
    nodes, times = TimeGrid(*run), all_at_once(*run)
    assert nodes.last == len(times) - 1
    np.testing.assert_array_equal(nodes.within(0, nodes.last), times)
    for first in range(0, nodes.last, 7):
        np.testing.assert_array_equal(
            nodes.within(first, min(first + 7, nodes.last)), times[first : min(first + 7, nodes.last) + 1]
        )


@pytest.mark.parametrize("run", RUNS)
def test_the_first_node_that_is_not_before_a_time(run, rng=np.random.default_rng(3)):
    nodes, times = TimeGrid(*run), all_at_once(*run)
    some = np.concatenate(
        [times, np.nextafter(times, -np.inf), np.nextafter(times, np.inf), rng.uniform(times[0], times[-1], 300)]
    )
    some = np.append(some, [times[0] - 5.0 * run[2], times[-1] + 1e-12, times[-1] + 5.0 * run[2]])
    np.testing.assert_array_equal(nodes.not_before(some), np.searchsorted(times, some))


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("chunk", [1, 2, 5, 256])
def test_marks_are_those_of_the_whole_row(run, chunk):
    nodes, times = TimeGrid(*run), all_at_once(*run)
    wanted = [1, 2, 3, 100, 5000, times[[0, 1, -1]], np.linspace(times[0], times[-1], 23)]
    for output in wanted:
        marks = OutputNodes(nodes, output)
        ends = [*range(0, nodes.last, chunk), nodes.last]
        found = np.concatenate([marks.within(a, b) for a, b in pairwise(ends)])
        known = around(times, output)
        np.testing.assert_array_equal(found, known[known > 0])


def test_a_thousand_million_steps_cost_nothing_to_count():
    nodes = TimeGrid(0.0, 1e6, 1e-3)
    assert nodes.last == 10**9
    np.testing.assert_array_equal(nodes.within(10**9 - 1, 10**9), [1e-3 * (10**9 - 1), 1e6])
    np.testing.assert_array_equal(OutputNodes(nodes, 10**8).within(10**9 - 256, 10**9), [10**9])


def test_memory_does_not_grow_with_the_number_of_steps():
    """By less than a byte a step; a row of their times alone would be eight."""
    system = pair("revolute", "beam", "xy")
    state = random_motion(system, 1)

    def most(steps):
        tracemalloc.start()
        ph.simulate(system, state, steps * 1e-4, dt=1e-4, output=steps // 10, progress=False)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    most(100)
    few, many = most(2_000), most(40_000)
    assert many - few < 38_000
