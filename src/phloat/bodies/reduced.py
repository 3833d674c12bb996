"""Few coordinates for a beam that keep what it does: bending modes, their axial companions, some axial and torsion modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.companions import companions
from phloat.bodies.families import BENDING, Family, families
from phloat.bodies.strain import Elastic
from phloat.errors import InputError


@dataclass(frozen=True, eq=False)
class Basis:
    """η = V_v η_r and σ = V_σ σ_r with V_σ = orth(C⁻¹D V_v); `stresses` names the blocks of both by their families."""

    V_v: Matrix
    V_sigma: Matrix
    stresses: Layout


def beam_basis(elastic: Elastic, M_ff: Matrix, loads: np.ndarray, *, modes: int, axial: int, torsion: int) -> Basis:
    """Families apart, each in its own Ritz modes: V_vᵀM_ffV_v = I, V_σᵀCV_σ = I, V_σᵀDV_v = diag(ω).

    The static response K⁻¹f to every column f of `loads` (coordinates × loads) is kept too.
    """
    parts = families(elastic, M_ff)
    _check(parts, modes, axial, torsion)
    counts = dict.fromkeys(BENDING, modes) | {"axial": axial, "torsion": torsion}
    fields = {name: _fields(part, counts[name], loads[part.columns]) for name, part in parts.items()}
    if "axial" in parts and elastic.Q.value.size:
        bent = [_side_by_side([(parts[n].columns, fields[n])], len(loads)) for n in BENDING if n in parts]
        brought = [companions(parts["axial"], elastic, w.toarray()) for w in bent]
        fields["axial"] = np.hstack([fields["axial"], *brought])
    V, S, sizes = [], [], {}
    for name, part in parts.items():
        if fields[name].shape[1]:
            v, _, stress = part.ritz(fields[name])
            V.append((part.columns, v))
            S.append((part.rows, stress))
            sizes[name] = (v.shape[1],)
    return Basis(_side_by_side(V, len(loads)), _side_by_side(S, elastic.C.shape[0]), Layout(sizes, "stress"))


def _fields(part: Family, count: int, loads: np.ndarray) -> np.ndarray:
    """The lowest modes of a family and its static responses, of unit mass."""
    felt = loads[:, np.abs(loads).max(axis=0, initial=0.0) > 0]
    return part.orthonormal(np.hstack([part.lowest(min(count, part.size)), part.solve(felt)]))


def _side_by_side(blocks: list[tuple[np.ndarray, np.ndarray]], rows: int) -> Matrix:
    """Blocks of columns, each in its own rows."""
    out, start = np.zeros((rows, sum(block.shape[1] for _, block in blocks))), 0
    for where, block in blocks:
        out[where, start : start + block.shape[1]] = block
        start += block.shape[1]
    return csr(out)


def _check(parts: dict[str, Family], modes: int, axial: int, torsion: int) -> None:
    for name, value, least in (("modes", modes, 1), ("axial", axial, 0), ("torsion", torsion, 0)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} is {value!r}; it must be a whole number, {least} or more")
    bending = {name: parts[name].size for name in BENDING if name in parts}
    if not bending:
        raise InputError("reduced(modes=…) counts bending modes, and this body has none of a beam's")
    few = min(bending, key=lambda name: bending[name])
    if modes > bending[few]:
        raise InputError(
            f"modes is {modes}, but {few} this body has only {bending[few]} coordinates; ask for fewer modes or give it "
            "more elements"
        )
