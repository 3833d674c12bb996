"""Transfer functions between named ports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.sparse import largest
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, PortError, finite, finite_row, unknown
from phloat.linear.analysis.transfer import (
    FEW,
    LOST,
    SMALL,
    Pencil,
    Triangle,
    between,
    on_a_pole,
    one_by_one,
    triangular,
)
from phloat.linear.form.interconnect import swap_causality
from phloat.linear.form.phdae import LinearPHDAE, Ports, channels, linear_only

TURN = 1.1 * np.pi  # a lossless port jumps by half a turn at poles and zeros: that is no whole turn to take away


@dataclass(frozen=True, eq=False)
class Response:
    """y(s) = H(s) u(s) at s = shift + jω: `values` is frequencies × outputs × inputs; `response["elbow", "shoulder"]` one line."""

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
        return np.unwrap(np.angle(self.values), axis=0, discont=TURN)

    @property
    def singular_values(self) -> np.ndarray:
        """The gains of H(s), largest first: frequencies × the smaller of outputs and inputs."""
        return np.linalg.svd(self.values, compute_uv=False)

    def __getitem__(self, pair: tuple[str, str]) -> np.ndarray:
        """The output from the input, over the frequencies."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"{pair!r} is no pair; ask for response[output, input]")
        places = []
        for kind, name, there in (("output", pair[0], self.outputs), ("input", pair[1], self.inputs)):
            if name not in there:
                raise PortError(unknown(kind, name, there))
            places.append(there.index(name))
        return self.values[:, places[0], places[1]]


@one_thread()
def response(
    system: LinearPHDAE,
    inputs: Ports,
    outputs: Ports | None = None,
    *,
    omega: np.ndarray,
    shift: float = 0.0,
) -> Response:
    """H(s) from the efforts (or driven flows) of ports to the outputs of ports, at s = shift + jω.

    A component of a port with several is named "port[i]". Many frequencies cost little more than a few.
    """
    linear_only(system, circulatory=True)
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    omega, shift = finite_row("omega", omega), float(finite("shift", shift, ()))
    return Response(omega, _values(system, into, out, shift + 1j * omega), input_names, output_names)


@one_thread()
def transmission(
    system: LinearPHDAE, source: str, targets: Ports, *, omega: np.ndarray, shift: float = 0.0
) -> Response:
    """What the target ports do per motion of the source port: flows from its flow, T(s) = H_ts(s) H_ss(s)⁻¹.

    A source that takes an effort is driven instead; a target that is driven itself gives its reaction. By reciprocity the
    same numbers say which part of a force at a target reaches the source when that is held.
    """
    linear_only(system, circulatory=True)
    driven = system if largest(system.B_lam[:, system.ports[source]]) else swap_causality(system, source)
    return response(driven, source, targets, omega=omega, shift=shift)


def _values(system: LinearPHDAE, into: np.ndarray, out: np.ndarray, s: np.ndarray) -> np.ndarray:
    pencil = Pencil.of(system, into, out)
    values = None
    if len(s) > FEW and pencil.size <= SMALL:
        values = triangular(pencil, s)
    elif len(s) > FEW and not largest(system.B_lam[:, np.union1d(into, out)]):
        values = swept(*Pencil.without_joints(system, into, out), s)
    return one_by_one(pencil, s) if values is None else values


# --- many frequencies ------------------------------------------------------------------------------------------------
#
# H(s) of a large system at many s from solutions at a few of them.
#
# Solutions at chosen s span a basis, velocities and stresses apart; the projected system (46) answers at all the others. With a
# real s₀ in the band and K = (s₀E − A)⁻¹E, which shrinks energies to 1/s₀, its answer x misses by
#
#     r(s) = (s₀E − A)⁻¹B − (I + (s − s₀) K) x,
#
# known at every s from one QR of [V, K V, (s₀E − A)⁻¹B]. The next solution is taken where r is worst, until it is nowhere large.


SWEPT = 1e-10  # of |x|: what the answers may miss
FIRST = 6  # solutions before the first look
MORE = 2  # solutions between looks
WIDEST = 400  # columns of a basis
NEW = 1e-13  # of a column: what must be left of it to widen the basis


class Sweep:
    """Answers at all s from the span of solutions at some; `split` is where the stresses begin, or 0."""

    def __init__(self, pencil: Pencil, split: int, s: np.ndarray) -> None:
        self.pencil, self.s, self.split = pencil, s, split
        self.s_0 = between(s)
        self.solve = pencil.factorised(self.s_0)
        self.right = self.solve(pencil.into)
        self.V = np.zeros((pencil.size, 0))
        self.KV = np.zeros((pencil.size, 0))
        self.taken: set[int] = set()

    def widen(self, k: int) -> None:
        """The solution at s[k] joins the basis."""
        self.taken.add(k)
        x = self.pencil.at(self.s[k])
        parts = np.hstack([x.real, x.imag])
        if self.split:
            upper, lower = parts.copy(), parts.copy()
            upper[self.split :], lower[: self.split] = 0.0, 0.0
            parts = np.hstack([upper, lower])
        fresh = self._new(parts)
        self.V = np.hstack([self.V, fresh])
        self.KV = np.hstack([self.KV, self.solve(self.pencil.E @ fresh)])

    def _new(self, parts: np.ndarray) -> np.ndarray:
        """Orthonormal columns for what the basis does not hold yet."""
        length = np.linalg.norm(parts, axis=0)
        parts = parts[:, length > 1e-14 * length.max(initial=0.0)]
        parts = parts / np.linalg.norm(parts, axis=0)
        for _ in range(2):
            parts = parts - self.V @ (self.V.T @ parts)
        left, size, _ = la.svd(parts, full_matrices=False)
        left = left[:, size > NEW]
        left = left - self.V @ (self.V.T @ left)
        return np.asarray(la.qr(left, mode="economic")[0])

    def answered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """H at every s, how far the answer there is off, of its size, and by how much round-off grows there."""
        V, b = self.V, self.pencil.into
        reduced = Pencil(
            sp.csc_array(V.T @ (self.pencil.E @ V)),
            sp.csc_array(V.T @ (self.pencil.A @ V)),
            V.T @ b,
            V.T @ self.pencil.out,
        )
        triangle = Triangle(reduced, self.s_0)
        x = np.tensordot(triangle.Q, triangle.solved(self.s), 1)
        H = np.tensordot(reduced.out.T, x, 1).transpose(1, 0, 2)
        R = la.qr(np.hstack([V, self.KV, self.right]), mode="r")[0]
        r, m = V.shape[1], b.shape[1]
        R = R[: 2 * r + m]
        left = np.tensordot(R[:, :r], x, 1) + np.tensordot(R[:, r : 2 * r], (self.s - self.s_0)[:, None] * x, 1)
        left -= R[:, None, 2 * r :]
        size = np.maximum(np.linalg.norm(x, axis=0), 1e-300)
        return H, (np.linalg.norm(left, axis=0) / size).max(axis=1), triangle.loses(self.s)

    def values(self) -> np.ndarray:
        """H at every s; where the basis would grow too wide, the rest is solved for one by one."""
        for k in np.unique(np.linspace(0, len(self.s) - 1, FIRST).astype(int)):
            self.widen(int(k))
        before = -1
        while True:
            H, off, grown = self.answered()
            open_ = [int(k) for k in np.argsort(-off) if off[k] > SWEPT and int(k) not in self.taken]
            width = self.V.shape[1]
            if not open_ or width == before or width > min(WIDEST, self.pencil.size // 3):
                break
            before = width
            for k in (open_[0], *(k for k in open_ if abs(k - open_[0]) > len(self.s) // 20))[:MORE]:
                self.widen(k)
        for k in {*open_, *np.flatnonzero(grown > LOST)}:
            H[k] = self.pencil.out.T @ self.pencil.at(self.s[k])
        if not np.isfinite(H).all():
            raise on_a_pole(self.s[~np.isfinite(H).all(axis=(1, 2))][0])
        return np.asarray(H)


def swept(pencil: Pencil, split: int, s: np.ndarray) -> np.ndarray | None:
    """H at every s from a sweep, or None where its basis could not be built."""
    try:
        return Sweep(pencil, split, s).values()
    except (RuntimeError, la.LinAlgError, AccuracyError):
        return None
