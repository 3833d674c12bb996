"""Transfer functions between named ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from phloat.errors import AccuracyError, InputError, finite, finite_row
from phloat.linear.phdae import LinearPHDAE, linear_only


@dataclass(frozen=True, eq=False)
class Response:
    """y(s) = H(s) u(s) at s = shift + jω: `values` is frequencies × outputs × inputs."""

    omega: np.ndarray
    values: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def magnitude(self) -> np.ndarray:
        return np.abs(self.values)

    @property
    def phase(self) -> np.ndarray:
        """In radians, unwrapped along the frequencies."""
        return np.unwrap(np.angle(self.values), axis=0)


def response(
    system: LinearPHDAE,
    inputs: str | Sequence[str],
    outputs: str | Sequence[str] | None = None,
    *,
    omega: np.ndarray,
    shift: float = 0.0,
) -> Response:
    """H(s) from the efforts (or driven flows) of ports to the outputs of ports, at s = shift + jω.

    A component of a port with several is named "port[i]".
    """
    linear_only(system)
    u = _listed(inputs)
    y = u if outputs is None else _listed(outputs)
    if not u or not y:
        raise InputError(f"a response needs an input and an output; the open ports are {', '.join(system.ports)}")
    B = sp.vstack([system.B, system.B_lam]).tocsc()
    into, input_names = _columns(system, u)
    out, output_names = _columns(system, y)
    omega, shift = finite_row("omega", omega), float(finite("shift", shift, ()))
    joints = system.multipliers.size
    E = sp.block_diag([system.E, sp.csc_array((joints, joints))], format="csc")
    A = system.J - system.R
    A = sp.block_array([[A, system.G.T], [-system.G, None]], format="csc") if joints else A.tocsc()
    right = B[:, into].toarray().astype(complex)
    values = np.empty((len(omega), len(out), len(into)), dtype=complex)
    for i, w in enumerate(omega):
        s = shift + 1j * w
        x = _solved(s * E - A, right, s)
        values[i] = B[:, out].T @ x
    return Response(omega, values, tuple(input_names), tuple(output_names))


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(names) if isinstance(names, Sequence) and not isinstance(names, str) else (names,)


def _solved(pencil: sp.csc_array, right: np.ndarray, s: complex) -> np.ndarray:
    try:
        x = spla.splu(pencil).solve(right)
    except RuntimeError:
        x = np.full(right.shape, np.nan)
    if not np.isfinite(x).all():
        raise AccuracyError(f"s = {s:.6g} is a pole; move off the axis with shift=…")
    return x


def _columns(system: LinearPHDAE, names: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    columns, labels = [], []
    for name in names:
        port, _, index = str(name).partition("[")
        where = system.ports[port if index.endswith("]") else name]
        chosen = np.arange(where.start, where.stop)
        if index.endswith("]"):
            number = int(index[:-1]) if index[:-1].isdigit() else -1
            if not 0 <= number < len(chosen):
                raise InputError(
                    f"port {port!r} has {len(chosen)} components, counted from 0; {name!r} is none of them"
                )
            chosen = chosen[number : number + 1]
        columns.append(chosen)
        labels += [name] if len(chosen) == 1 else [f"{name}[{i}]" for i in range(len(chosen))]
    return np.concatenate(columns), labels
