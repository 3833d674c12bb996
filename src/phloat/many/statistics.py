"""What many samples say together: moments piece by piece, quantiles, and which parameter matters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def moments(pieces: Iterable[np.ndarray]) -> tuple[int, np.ndarray, np.ndarray]:
    """Number, mean and sum of squared distances from it, over the first axis of all pieces: (Chan, Golub, LeVeque 1983)."""
    n, mean, squares = 0, np.zeros(()), np.zeros(())
    for values in pieces:
        if not len(values):
            continue
        m, here = len(values), values.mean(axis=0)
        apart = here - mean if n else np.zeros_like(here)
        mean = mean + apart * (m / (n + m)) if n else here
        squares = squares + (np.abs(values - here) ** 2).sum(axis=0) + np.abs(apart) ** 2 * (n * m / (n + m))
        n += m
    return n, mean, squares


def ranks(x: np.ndarray) -> np.ndarray:
    """Ranks along the first axis, equal values sharing theirs."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(x, axis=0))


def correlations(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Pearson's r of every column of X with every column of Y; 0 where one of them does not vary."""
    X, Y = _standard(X), _standard(Y)
    return X.T @ Y / len(X)


def regression(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Coefficients of the straight line through standardised values: by how many σ does Y move with one σ of X."""
    return np.linalg.lstsq(_standard(X), _standard(Y), rcond=None)[0]


def _standard(X: np.ndarray) -> np.ndarray:
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    return X / np.where(spread > 0.0, spread, np.inf)
