"""The one bridge from a nonlinear system to a linear one: (45) about an undeformed state of rest."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix, csr, dependencies, largest, row_lengths, weighted
from phloat.errors import InputError, JointError, RedundancyWarning
from phloat.linear.phdae import Field, LinearPHDAE
from phloat.system.forces import dissipation
from phloat.system.jointed import ends, gaps, half_turned, in_rows, joint_rows, port_columns
from phloat.system.state import Pose, State
from phloat.system.system import System, fits

CLOSED = 1e-7


def linearise(system: System, state: State) -> LinearPHDAE:
    """(45): bodies at rest and undeformed, joints where they stand, rigid motion kept; rows (v_P, ω, η̇ | σ) in body axes."""
    state = fits(system, state)
    _at_rest(system, state)
    _joints_closed(system, state)
    _without_springs(system)
    loose = system.loose
    places = in_rows(system, loose.rows)
    G, B_lam = joint_rows(system, state, places)
    keep = independent(G, B_lam, system.multipliers)
    sizes = {
        name: (int(np.isin(np.arange(w.start, w.stop), keep).sum()),) for name, w in system.multipliers.slices.items()
    }
    return replace(
        loose,
        R=csr(loose.R + dissipation(system, state, places, np.zeros(places.size))),
        G=G[keep],
        B=port_columns(system, state, places),
        B_lam=B_lam[keep],
        ports=system.ports,
        multipliers=Layout({name: size for name, size in sizes.items() if size[0]}, "joint"),
        fields={name: _where_it_stands(loose.fields[f"{name}.body"], state.pose(name)) for name in system.bodies},
    )


def _where_it_stands(field: Field, pose: Pose) -> Field:
    """A field of a body in body axes, seen in inertial ones."""
    turned = sp.kron(sp.eye_array(len(field.points)), pose.A, format="csr")
    return Field(pose.r_P + field.points @ pose.A.T, csr(turned @ field.motion))


def independent(G: Matrix, B_lam: Matrix, multipliers: Layout) -> np.ndarray:
    """Joint rows that do not follow from others; the rest is named, or refused where it contradicts them."""
    owners = np.repeat(list(multipliers), [w.stop - w.start for w in multipliers.slices.values()])
    driven = csr(weighted(B_lam, 1.0 / row_lengths(G)))
    keep, repeated = np.arange(G.shape[0]), 0
    involved: set[str] = set()
    while (mu := dependencies(csr(G[keep]))).shape[1]:  # again: a large system may show its dependencies in parts
        names = {str(name) for name in owners[keep[np.abs(mu).max(axis=1) > 1e-6]]}
        if largest(csr(mu).T @ driven[keep]) > 1e-9 * max(largest(driven), 1e-300):
            raise JointError(f"joints {_said(names)} contradict each other: they prescribe one motion in two ways")
        keep, repeated, involved = keep[_without(mu)], repeated + mu.shape[1], involved | names
    if repeated:
        warnings.warn(
            f"joints {_said(involved)} repeat each other in {repeated} rows: the motion is right, "
            "their multipliers are not unique",
            RedundancyWarning,
            stacklevel=3,
        )
    return keep


def _said(names: set[str]) -> str:
    first = ", ".join(map(repr, sorted(names)[:8]))
    return first + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _without(mu: np.ndarray) -> np.ndarray:
    """Rows to keep: for each dependency one row is dropped, the one that weighs most in it."""
    _, _, pivots = la.qr(mu.T, pivoting=True, mode="economic")
    return np.setdiff1d(np.arange(mu.shape[0]), pivots[: mu.shape[1]])


def _at_rest(system: System, state: State) -> None:
    for name in system.layout:
        quantity = name.rpartition(".")[2]
        size = float(np.abs(state.e[system.layout[name]]).max())
        if quantity in ("v_P", "omega", "eta_dot") and size > 0.0:
            raise InputError(f"{name} is {size:g}; linearise needs a state at rest")
        if quantity in ("eta", "sigma") and size > 0.0:
            raise InputError(f"{name} is {size:g}; linearise needs an undeformed state")
    if np.any(system.gravity):
        raise InputError(
            f"gravity {tuple(map(float, system.gravity))} loads the bodies, so an undeformed state is no equilibrium; "
            "connect without gravity to linearise"
        )


def _without_springs(system: System) -> None:
    for name, element in system.elements.items():
        if any(law.stores for law in element.laws):
            raise InputError(f"{name!r} is a spring, and linearise does not know springs yet; connect without it")


def _joints_closed(system: System, state: State) -> None:
    for name, gap in gaps(system, state).items():
        if (size := float(np.abs(gap).max())) > CLOSED:
            raise InputError(f"joint {name!r} is open by {size:.3g}; close it with place(system, …)")
    for name, c in system.joints.items():
        if half_turned(c, *ends(c, state)):
            raise InputError(f"joint {name!r} is half a turn away from closed; close it with place(system, …)")
