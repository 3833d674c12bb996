"""A superelement compared with the matrices it came from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.body import Body
from phloat.bodies.continua.craig_bampton import Averaged, Tied, fixed_interface_basis
from phloat.bodies.continua.interfaces import Mean, Rigid, interfaces
from phloat.bodies.continua.mesh_body import MeshBody
from phloat.bodies.continua.reduced_shape import ReducedShape
from phloat.bodies.superelements.checks import MOTIONS, rigid_mass
from phloat.errors import InputError, whole_number
from phloat.linear.analysis.modes import modes


@dataclass(frozen=True, eq=False)
class SuperelementReport:
    """Frequencies (rad/s) of the full matrices and of the reduced body with its interfaces free and held, and mass properties.

    Rigid interfaces are rigid in both. `free` and `held` are (modes, 2): full, reduced. `rigid_forces` are the relative elastic
    forces of the six rigid motions. `mass_defect` is the part of the kinetic energy of a free mode, the worst one listed, that
    masses at nodes do not explain and that stays constant as the body deforms; `masses` says how they were found.
    """

    rows: int
    coordinates: int
    free: np.ndarray
    held: np.ndarray
    mass: float
    centre: np.ndarray
    inertia: np.ndarray
    rigid_forces: np.ndarray
    masses: str
    mass_defect: float

    @property
    def worst(self) -> float:
        """The largest relative error of the frequencies listed."""
        both = np.vstack([self.free, self.held])
        return float(np.abs(both[:, 1] / both[:, 0] - 1.0).max(initial=0.0))

    def __str__(self) -> str:
        lines = [
            f"{self.rows} rows reduced to {self.coordinates} coordinates and six rigid motions",
            f"mass {self.mass:.6g} kg, centre ({_row(self.centre, 1.0)}) m",
            "inertia about the centre, kg m²: "
            + "; ".join(_row(row, np.abs(self.inertia).max()) for row in self.inertia),
            "elastic force of rigid motions, relative: "
            + ", ".join(f"{name} {n:.0e}" for name, n in zip(MOTIONS, self.rigid_forces, strict=True)),
            f"masses at nodes: {self.masses}; of a mode's energy they leave {self.mass_defect:.1e} at most",
            "",
            "      interfaces free, Hz                   interfaces held, Hz",
            "mode  full        reduced     error         full        reduced     error",
        ]
        for k in range(max(len(self.free), len(self.held))):
            lines.append(f"{k + 1:>4}  {_line(self.free, k)}  {_line(self.held, k)}".rstrip())
        return "\n".join(lines)


def report(
    body: Body, exported: MeshBody, mean: Collection[str], count: int, numbers: np.ndarray, masses: str
) -> SuperelementReport:
    """The lowest `count` frequencies of both kinds, and the results of the checks."""
    whole_number("count", count, 1)
    found = interfaces(exported, {n: Mean(n) if n in mean else Rigid(n) for n in exported.parts})
    tied = {n: Tied(i.tied, i.rigid) if i.tied.size else Averaged(i.L) for n, i in found.items()}
    K, M, rigid = _with_rigid_interfaces(exported, [t for t in tied.values() if isinstance(t, Tied)])
    few = min(count, body.coordinates)
    full_free = fixed_interface_basis(K, M, {}, modes=min(few, K.shape[0] - 6), rigid=rigid).omega
    full_held = fixed_interface_basis(exported.K, exported.M, tied, modes=few, rigid=exported.rigid).omega
    mass, centre, inertia = rigid_mass(exported.M, exported.rigid)
    own = modes(body.linear())
    w = own.vectors[:, own.rigid : own.rigid + count]  # (v_P, ω, η̇) of the listed modes, of unit mass
    return SuperelementReport(
        rows=exported.coordinates,
        coordinates=body.coordinates,
        free=_columns(full_free, own.elastic),
        held=_columns(full_held, _reduced_fixed_frequencies(body)),
        mass=mass,
        centre=centre,
        inertia=inertia,
        rigid_forces=numbers,
        masses=masses,
        mass_defect=_unexplained(body, exported, w),
    )


def _unexplained(body: Body, exported: MeshBody, w: np.ndarray) -> float:
    """1 − Σ_a (Φ_a q̇)ᵀ mass (Φ_a q̇) of motions of unit mass, the largest."""
    if not isinstance(body.shape, ReducedShape):
        raise InputError("this body is a part of a superelement; ask for the report of the whole")
    q = exported.rigid @ w[:6] + body.shape.fields.V @ w[6:]
    _, mass, Phi, _ = exported.samples
    explained = sum((np.einsum("ik,ik->k", p @ q, mass @ (p @ q)) for p in Phi), np.zeros(q.shape[1]))
    return float(np.abs(1.0 - explained).max(initial=0.0))


def _with_rigid_interfaces(exported: MeshBody, ties: list[Tied]) -> tuple[Matrix, Matrix, np.ndarray]:
    """K, M and the rigid motions with the nodes of every rigid interface moving as one piece."""
    n = exported.coordinates
    bound = np.concatenate([np.zeros(0, dtype=int), *(t.coordinates for t in ties)])
    inside = np.setdiff1d(np.arange(n), bound)
    pieces = [csr(sp.eye_array(n, format="csr")[:, inside])]
    rigid = [exported.rigid[inside]]
    for tie in ties:
        rows = sp.lil_array((n, 6))
        rows[tie.coordinates] = tie.R
        pieces.append(csr(rows))
        rigid.append(la.lstsq(tie.R, exported.rigid[tie.coordinates])[0])
    T = csr(sp.hstack(pieces))
    return csr(T.T @ exported.K @ T), csr(T.T @ exported.M @ T), np.vstack(rigid)


def _reduced_fixed_frequencies(body: Body) -> np.ndarray:
    """Frequencies of the reduced body with all its ports held."""
    n = 6 + body.coordinates
    rows = np.vstack([np.zeros((0, n)), *(p.twist(np.zeros(n - 6)) for p in body.ports.values())])
    K = np.zeros((n, n))
    K[6:, 6:] = body.elastic.K.toarray()
    Z = la.null_space(rows, rcond=1e-9) if len(rows) else np.eye(n)
    squared = la.eigh(Z.T @ K @ Z, Z.T @ body.inertia.at_rest() @ Z, eigvals_only=True)
    return np.sqrt(np.maximum(squared[0 if len(rows) else 6 :], 0.0))


def _columns(full: np.ndarray, kept: np.ndarray) -> np.ndarray:
    few = min(len(full), len(kept))
    return np.column_stack([full[:few], kept[:few]])


def _line(table: np.ndarray, k: int) -> str:
    if k >= len(table):
        return " " * 38
    full, kept = table[k] / (2 * np.pi)
    return f"{full:<12.6g}{kept:<12.6g}{kept / full - 1.0:<12.1e}"


def _row(numbers: np.ndarray, size: float) -> str:
    """Numbers as text; round-off relative to `size` is written as 0."""
    return ", ".join(f"{n if abs(n) > 1e-12 * size else 0.0:.6g}" for n in numbers)
