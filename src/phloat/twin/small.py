"""Products of small matrices, written out: a compiler for an accelerator then fuses them with what stands around them."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

FEW = 12  # terms of a sum; longer ones are left to a library


def dot(A: Array, x: Array) -> Array:
    """A x over the last axis of A and the first but one of x (the only one of a vector); axes before that are common to both."""
    if A.shape[-1] > FEW:
        return A @ x
    if x.ndim == 1:
        return jnp.sum(A * x, axis=-1)
    return jnp.sum(A[..., :, None] * x[..., None, :, :], axis=-2) if A.ndim > 1 else jnp.sum(A[:, None] * x, axis=-2)


def along(A: Array, x: Array) -> Array:
    """Σ_j A_…ij x_…j: a matrix and a vector for each of the leading axes."""
    return jnp.sum(A * x[..., None, :], axis=-1) if A.shape[-1] <= FEW else jnp.einsum("...ij,...j->...i", A, x)
