"""Joints taken out of a linear system by a null space, in the velocities only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, diagonal, largest, null_space, zeros
from phloat.errors import InputError
from phloat.linear.phdae import LinearPHDAE, linear_only


def eliminate(system: LinearPHDAE) -> LinearPHDAE:
    """Ê = PᵀE P, Ĵ = PᵀJ P, R̂ = PᵀR P, B̂ = PᵀB with range P = null G, P the identity on stresses: (v | σ) survives."""
    linear_only(system, circulatory=True)
    if not system.multipliers.size:
        return system
    if largest(system.B_lam):
        driven = [p for p in system.ports if largest(system.B_lam[:, system.ports[p]])]
        raise InputError(
            f"ports {', '.join(map(repr, driven))} prescribe a motion, which a system without joints would have to "
            "differentiate; close them with with_ports(…) or keep the multipliers"
        )
    P = free_motion(system)
    velocities = P.shape[1] - (system.rows.size - _split(system))
    stresses = {name: shape for name, shape in system.rows.shapes.items() if system.rows[name].start >= _split(system)}
    return replace(
        system,
        E=P.T @ system.E @ P,
        J=P.T @ system.J @ P,
        R=P.T @ system.R @ P,
        N=P.T @ system.N @ P,
        B=P.T @ system.B,
        G=zeros(0, 0),
        B_lam=zeros(0, 0),
        rows=Layout({"v": (velocities,), **stresses}, "row"),
        multipliers=Layout({}, "multiplier"),
        split=velocities if system.split >= 0 else -1,
        fields={name: replace(f, motion=csr(f.motion @ P)) for name, f in system.fields.items()},
    )


def free_motion(system: LinearPHDAE) -> Matrix:
    """P: velocities that the joints allow, beside all stresses."""
    split = _split(system)
    if largest(system.G[:, split:]):
        raise InputError("joint rows act on stresses; only velocities can be eliminated")
    stresses = np.arange(split, system.rows.size)
    return diagonal([null_space(csr(system.G[:, :split])), sp.eye_array(len(stresses))])


def _split(system: LinearPHDAE) -> int:
    return system.split if system.split >= 0 else system.rows.size
