"""Products of small matrices, written out: a compiler for an accelerator then fuses them with what stands around them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

FEW = 12  # terms up to which a sum is written out


def contract(A: Array, x: Array) -> Array:
    """A x over the last axis of A and the first but one of x (the only one of a vector); axes before that are common to both."""
    if A.shape[-1] > FEW:
        return A @ x
    if x.ndim == 1:
        return jnp.sum(A * x, axis=-1)
    return jnp.sum(A[..., :, None] * x[..., None, :, :], axis=-2) if A.ndim > 1 else jnp.sum(A[:, None] * x, axis=-2)


def along(A: Array, x: Array) -> Array:
    """Σ_j A_…ij x_…j: a matrix and a vector for each of the leading axes."""
    return jnp.sum(A * x[..., None, :], axis=-1) if A.shape[-1] <= FEW else jnp.einsum("...ij,...j->...i", A, x)


def inverse(A: Array) -> Array:
    """A⁻¹ of a matrix that is nearly symmetric, and positive: by Gauss and Jordan, which then needs no pivots.

    On a processor never by its library: two of its batched factorisations at once wait for each other's threads for ever where
    there are no more than two. An accelerator's library takes the large ones.
    """
    if A.shape[0] > FEW:
        return jax.lax.platform_dependent(A, cpu=_looped, default=jnp.linalg.inv)
    for k in range(A.shape[0]):
        A = _eliminated(k, A)
    return A


def _looped(A: Array) -> Array:
    return jax.lax.fori_loop(0, A.shape[0], _eliminated, A)


def _eliminated(k: int | Array, A: Array) -> Array:
    """One Gauss–Jordan step, on column k."""
    mine = jnp.arange(A.shape[0]) == k
    row, column = jnp.where(mine, 1.0, A[k]) / A[k, k], jnp.where(mine, 0.0, A[:, k])
    return jnp.where(mine[:, None], row, jnp.where(mine, 0.0, A) - column[:, None] * row)
