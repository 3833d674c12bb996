"""Floating-point operations of a step of a chain, a link, and what the core can do at best.

The numbers were counted: the scalar kernel of phloat 0.1.0 run as plain Python on floats that count additions, multiplications and
divisions, steps 4 to 6 of chains of 2 and 4 links, half the difference; about three iterations and one factorisation a step. The
vectorised kernel does the same sums in another order. The peak is that of a product of large matrices on one thread.
"""

import time

import numpy as np

A_LINK = {"2": 17857.0, "3": 29679.0}  # elements a link: operations a step


def peak(n):
    """Operations a second of a product of n × n matrices."""
    A = np.random.default_rng(0).random((n, n))
    return 2.0 * n**3 / min(_product(A) for _ in range(5))


def _product(A):
    begin = time.process_time()
    A @ A
    return time.process_time() - begin
