"""Same input, same bits: with any number of threads, workers and order of sets, and however the step came to be compiled."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import phloat as ph
from phloat.algebra import threads
from phloat.algebra.sparse import dependencies
from phloat.algebra.threads import one_thread

PROGRAM = Path(__file__).with_name("bits.py")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
QUICK = ("plane", "space", "linear", "meshes", "page", "folder")
ALL = (*QUICK, "many_cells", "schemes", "linear_meshes", "sparse_modes", "many_modes", "ensemble")


def bits(folder: Path, cases: tuple[str, ...], count: int = 1, seed: int = 0, **environment: str) -> dict[str, str]:
    """What a process with so many threads, and sets in an order of its own, makes of the cases."""
    folder.mkdir()
    given = os.environ | dict.fromkeys(THREADS, str(count)) | {"PYTHONHASHSEED": str(seed)} | environment
    command = [sys.executable, "-W", "error", str(PROGRAM), str(folder), *cases]
    done = subprocess.run(command, capture_output=True, text=True, env=given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_threads_and_the_order_of_sets_change_no_bit(tmp_path):
    one, two = (bits(tmp_path / str(n), QUICK, count=n, seed=n) for n in (1, 2))
    assert one == two
    assert len(set(one.values())) == len(QUICK)


@pytest.mark.long
def test_up_to_four_threads_change_no_bit_of_large_cases(tmp_path):
    one, *more = (bits(tmp_path / str(n), ALL, count=n, seed=7 * n) for n in (1, 2, 4))
    assert more == [one, one]


@pytest.mark.long
def test_workers_change_no_bit_of_an_ensemble(tmp_path):
    one, two = bits(tmp_path / "one", ("ensemble",), 1), bits(tmp_path / "two", ("two_workers",), 2, seed=3)
    assert one["ensemble"] == two["two_workers"]


@pytest.mark.long
def test_the_process_that_compiles_has_the_bits_of_those_that_come_after(tmp_path):
    cases = ("plane", "schemes")
    first, later = (bits(tmp_path / when, cases, NUMBA_CACHE_DIR=str(tmp_path / "cache")) for when in ("now", "later"))
    assert first == later == bits(tmp_path / "here", cases)


def test_the_same_again_in_one_process_is_the_same(tmp_path):
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), ph.Material(E=2.1e11, rho=7800.0, nu=0.3)).discretise(2)
    arm = ph.connect({"a": link}, [ph.Revolute("ground", "a.P", name="m")], gravity=(0, -9.81, 0), plane="xy")
    runs = [ph.simulate(arm, ph.place(arm), 0.1, dt=1e-3, u={"m": 0.1}) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].e, runs[1].e)
    plants = [ph.linearise(arm, ph.equilibrium(arm, ph.place(arm, {"a.theta": -1.5}))) for _ in range(2)]
    np.testing.assert_array_equal(ph.modes(plants[0]).omega, ph.modes(plants[1]).omega)


def test_what_begins_at_random_begins_at_the_same_place():
    """Rows of a large chain, some of them twice: their dependencies are found by Lanczos' method."""
    n = 700
    chain = sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1], format="csr")
    rows = sp.vstack([chain, chain[:3]], format="csr")
    first, again = dependencies(rows), dependencies(rows)
    assert first.shape == (n + 3, 3)
    np.testing.assert_array_equal(first, again)


# --- one thread ------------------------------------------------------------------------------------------------------


def counts() -> list[int]:
    return [get() for get, _ in threads._libraries()]


def test_one_thread_is_held_while_anyone_needs_it_and_given_back():
    before = counts()
    with one_thread():
        assert set(counts()) <= {1}
        with one_thread():
            pass
        assert set(counts()) <= {1}
    assert counts() == before
    with pytest.raises(ValueError, match="no"), one_thread():
        raise ValueError("no")
    assert counts() == before


def test_one_thread_ends_when_the_last_of_several_leaves():
    before, entered, leave = counts(), threading.Event(), threading.Event()

    @one_thread()
    def held() -> None:
        entered.set()
        leave.wait(30)

    other = threading.Thread(target=held)
    other.start()
    assert entered.wait(30)
    with one_thread():
        pass
    assert set(counts()) <= {1}  # the other is still in it
    leave.set()
    other.join()
    assert counts() == before


def test_one_thread_is_that_of_a_process_with_one(tmp_path):
    code = (
        "import hashlib, numpy as np, scipy.linalg as la; from phloat.algebra.threads import one_thread\n"
        "a = np.random.default_rng(0).normal(size=(400, 400))\n"
        "with one_thread(): print(hashlib.sha256(la.eigh(a + a.T)[1].tobytes() + (a @ a).tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | dict.fromkeys(THREADS, count),
        ).stdout
        for count in ("1", "2", "4")
    }
    assert len(found) == 1
