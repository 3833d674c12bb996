"""Natural frequencies, mode shapes and damped poles.

A lossless (v | σ) system is a symmetric eigenvalue problem: with M and C the two blocks of E and L the coupling, ω are the
singular values of C^(-½) Lᵀ Z M^(-½) on the free motions Z. Nothing is squared, so rigid modes are exact zeros. Large systems use
shift-invert of K − sM with K = L C⁻¹ Lᵀ on a sparse basis of the motions that the joints allow, with the stresses as unknowns if
C⁻¹ is full.

With damping, λ² M + λ R + K in the basis V of the undamped modes is λ² + λ D + Ω² with D = VᵀR V. If D is diagonal (proportional
damping) each mode has its poles in closed form. Otherwise they are the eigenvalues of [[0, Ω], [−Ω, −D]].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.elimination import CANCELLED
from phloat.algebra.factors import negativity_defect
from phloat.algebra.sparse import Matrix, csr, largest
from phloat.algebra.tables import grid
from phloat.algebra.threads import one_thread
from phloat.errors import AccuracyError, InputError, unknown, whole_number
from phloat.linear.analysis.energy_form import ZERO, energy_form
from phloat.linear.analysis.kinds import EQUAL, mode_kinds
from phloat.linear.analysis.shift_invert import ACCURATE, lowest_growth, shifted_near_lowest
from phloat.linear.form.mass_normalised import MassNormalised, gyroscopic_modes
from phloat.linear.form.phdae import LinearPHDAE, linear_only
from phloat.linear.form.saddle import CORRECTIONS, SaddleFactor
from phloat.linear.form.second_order import SecondOrder, undamped
from phloat.linear.form.state_space import eliminate, free_motion

DENSE_VELOCITIES = 800  # velocities up to which all modes are computed, with dense matrices
MAX_LOADED = (
    3000  # velocities up to which modes of a system under unstable loads or in a spin are computed with full matrices
)
DEFAULT_COUNT = 20  # lowest modes of larger systems
RIGID_STRAIN = 1e-9  # strain up to which a mode of a large system is rigid, relative to coordinates of unit mass
FIRST_COUNT = 12  # modes of a large system among which its rigid ones are expected
INDEFINITE = 1e-12  # relative defect from which the energy of stresses counts as indefinite
UNSTABLE = 1e-5  # growth of an unstable mode, relative to its frequency: equal frequencies differ by √(round-off)
GROWTH_ROUND_OFF = 1e-13  # growth that is round-off, relative to the highest frequency
PROPORTIONAL = 1e-10  # coupling of modes by damping that is round-off, relative to the largest damping
NEWTON_STEPS = 12


@dataclass(frozen=True, eq=False)
class Modes:
    """ω (rad/s, ascending, the rigid ones first as 0) of the undamped system, and its shapes in the rows of `system`."""

    system: LinearPHDAE
    omega: np.ndarray
    rigid: int
    vectors: np.ndarray  # velocities of each mode, split × modes, of unit mass; complex in a spin
    growth: np.ndarray | None = None  # 1/s, of each mode, if loads or a spin can make one grow

    @property
    def unstable(self) -> np.ndarray:
        """The growth rates of the modes that grow, 1/s."""
        if self.growth is None:
            return np.zeros(0)
        highest = max(np.abs(self.omega).max(initial=0.0), np.abs(self.growth).max(initial=0.0))
        return self.growth[self.growth > np.maximum(UNSTABLE * self.omega, GROWTH_ROUND_OFF * highest)]

    @property
    def elastic(self) -> np.ndarray:
        """The frequencies above the rigid ones."""
        return self.omega[self.rigid :]

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """What deforms or moves in each mode, with shares of its potential energy: "swing of load (92 %)".

        Parts with a share of at least a tenth are named, at most three. Modes of equal frequency have the mean of their shares. The
        kinds are empty where rows have no names of bodies, as in a reduced system.
        """
        values = self.omega if self.growth is None else self.omega + 1j * self.growth
        apart = np.abs(np.diff(values)) > EQUAL * np.abs(values[1:])
        groups = np.concatenate([[self.rigid == 0], np.cumsum(apart) + (self.rigid == 0)]).astype(int)
        return tuple(mode_kinds(self.system, self.vectors, groups))

    def describe(self, count: int | None = None) -> str:
        """A table of the first `count` modes: number, frequency (rad/s, Hz) and kind."""
        lines = [
            f"{k}: {self.omega[k]:.4g} rad/s, {self.omega[k] / (2 * np.pi):.4g} Hz{text and ', '}{text}"
            for k, text in enumerate(self._labels[:count])
        ]
        missing = "kinds are not known: the rows have no names of bodies, as in a reduced system"
        return "\n".join(lines if any(self.kinds) else [*lines, missing])

    @property
    def _labels(self) -> list[str]:
        """The kind of each mode, and whether it is rigid or grows."""
        growth = np.zeros(len(self)) if self.growth is None else self.growth
        first = ["rigid" if k < self.rigid else f"grows, {g:.3g} 1/s" if g > 0 else "" for k, g in enumerate(growth)]
        return [", ".join(filter(None, pair)) for pair in zip(first, self.kinds, strict=True)]

    @cached_property
    def poles(self) -> np.ndarray:
        """The damped pole of each mode with Im ≥ 0; for an overdamped mode the slower of its two real poles.

        If damping couples modes, each pole stands with the mode that has most of its kinetic energy, as far as one has.
        """
        system, omega, vectors = self.system, self.omega, self.vectors
        if system.lossless or system.circulatory:
            return 1j * omega if self.growth is None else self.growth + 1j * omega
        if self.growth is not None:
            raise InputError("modes of a damped system under load or in a spin have no poles each; use poles(…)")
        D = _modal_damping(_velocity_damping(system), vectors)
        if not damping_couples(system, vectors):
            return _uncoupled_poles(omega, np.diag(D))
        if len(omega) == system.split - system.multipliers.size:
            return _coupled_poles(omega, D)[0]
        if system.split <= DENSE_VELOCITIES:
            return modes(system, system.split).poles[: len(omega)]
        projected, vectors_r = _coupled_poles(omega, D)
        return _newton_poles(system, projected, vectors @ vectors_r)

    def shape(self, k: int, name: str) -> np.ndarray:
        """Mode k, of unit mass, as velocity of a body (points × 3, inertial axes) or as twist of a port (axes of its section)."""
        if not isinstance(k, (int, np.integer)) or not -len(self.omega) <= k < len(self.omega):
            raise InputError(f"no mode {k!r}; there are {len(self.omega)}, counted from 0")
        e = np.zeros(self.system.rows.size, dtype=self.vectors.dtype)
        e[: self.vectors.shape[0]] = self.vectors[:, k]
        if name in self.system.fields:
            return self.system.fields[name].of(e)
        if name in self.system.ports:
            return np.asarray(self.system.output_map[:, self.system.ports[name]].T @ e)
        raise InputError(unknown("body or port", name, [*self.system.fields, *self.system.ports]))

    def __len__(self) -> int:
        return len(self.omega)

    def __getitem__(self, index: Any) -> Any:
        return self.omega[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.omega, dtype=dtype)

    def __repr__(self) -> str:
        first = ", ".join(f"{w:.6g}" for w in self.elastic[:6])
        rest = f"then {first}{', …' if len(self.elastic) > 6 else ''} rad/s" if first else "none elastic"
        return f"Modes({self.rigid} rigid, {rest})"

    def _repr_html_(self) -> str:
        labels = self._labels
        rows = [(k, f"{w:.6g}", f"{w / (2 * np.pi):.6g}", labels[k]) for k, w in enumerate(self.omega)]
        return grid(repr(self), ("mode", "ω (rad/s)", "f (Hz)", ""), rows, most=12)


@one_thread()
def modes(system: LinearPHDAE, count: int | None = None) -> Modes:
    """The lowest modes of the undamped system: natural frequencies and mode shapes, rigid modes first.

    Driven ports are at rest.

    Parameters
    ----------
    system : LinearPHDAE
        A linear system, from `linearise` or reduced.
    count : int, optional
        How many modes, rigid ones included. Default: all of a small system (up to 800 velocities, or under loads), otherwise 20.

    Returns
    -------
    Modes
        `omega` (count,) are the frequencies in rad/s, ascending, the first `rigid` of them zero; `vectors` (velocities, count) are
        the shapes, of unit modal mass, and `shape(k, body)` (points, 3) is that of a body. Where loads or a spin may destabilise
        the system, `growth` (count,) are growth rates in 1/s. Under follower loads, and in a spin with dampers to the ground, modes
        are those with damping; motions that it keeps from oscillating are left out.

    Examples
    --------
    In units of √(EI / ρAL⁴) the exact frequencies of a slender cantilever are 3.516, 22.034 and 61.697.

    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> cantilever = ph.connect({"beam": beam}, [ph.Weld("ground", "beam.P")], plane="xy")
    >>> linear = ph.linearise(cantilever, ph.place(cantilever))
    >>> unit = np.sqrt(210e9 * 0.01**2 / 12 / 7800.0)  # √(EI / ρAL⁴), rad/s
    >>> (ph.modes(linear, 3).omega / unit).round(2)
    array([ 3.52, 22.06, 62.17])
    """
    linear_only(system, circulatory=True, feedthrough=True)
    n = system.split
    if n < 0:
        raise InputError("modes need rows in the order (v | σ); construct the system with split=(number of velocities)")
    if count is not None:
        whole_number("count", count, 1)
    if largest(system.G[:, n:]):
        raise InputError("joints act on stresses, so that modes are not those of free motions; use poles(…)")
    if system.circulatory:
        return _select(count, system, *_circulatory(system))
    gyroscopic = bool(largest(system.J[:n, :n]))
    loaded = gyroscopic or negativity_defect(csr(system.E[n:, n:])) > INDEFINITE
    if gyroscopic and n > MAX_LOADED:
        raise InputError(f"{n} velocities in a spin are more than {MAX_LOADED}; reduce the bodies first")
    small = n <= (MAX_LOADED if loaded else DENSE_VELOCITIES) or n == system.rows.size  # no stress, no stiffness
    if small or (count or DEFAULT_COUNT) > n // 4:
        return _select(count, system, *_dense(system, gyroscopic))
    return _sparse(system, count or DEFAULT_COUNT)


def _select(
    count: int | None, system: LinearPHDAE, rigid: int, value: np.ndarray, vectors: np.ndarray, may_grow: bool
) -> Modes:
    """The first `count` modes from eigenvalues growth + iω, of which the first `rigid` are rigid; the others are sorted by ω."""
    order = np.concatenate([np.arange(rigid), rigid + np.lexsort((value[rigid:].real, value[rigid:].imag))])[:count]
    growth = value.real[order] if may_grow or value.real.any() else None
    return Modes(system, value.imag[order], min(rigid, len(order)), vectors[:, order], growth)


def _dense(system: LinearPHDAE, gyroscopic: bool) -> tuple[int, np.ndarray, np.ndarray, bool]:
    """The number of rigid modes, all eigenvalues growth + iω, shapes (velocities, modes), and whether a mode may grow."""
    n = system.split
    form = MassNormalised.from_matrices(system.E, system.J, system.G, n)
    if gyroscopic:
        return *gyroscopic_modes(form, csr(-system.J[:n, :n])), True
    mu, V = form.eigenpairs()
    value = np.sqrt(np.maximum(-mu, 0.0)) + 1j * np.sqrt(np.maximum(mu, 0.0))
    rigid = form.rigid.shape[1]
    return rigid, np.concatenate([np.zeros(rigid), value]), np.hstack([form.rigid, V]), False


def _circulatory(system: LinearPHDAE) -> tuple[int, np.ndarray, np.ndarray, bool]:
    """The result of `_dense` under nonconservative loads: from the pencil (J − R + N, E), with damping."""
    free, n = eliminate(system.with_ports()), system.split
    if free.rows.size > MAX_LOADED:
        raise InputError(f"{free.rows.size} rows under such loads are more than {MAX_LOADED}; use fewer elements")
    size, A, transform = energy_form(free)
    value, vector = la.eig(A)
    real, imag = (np.where(np.abs(component) <= ZERO, 0.0, component) for component in (value.real, value.imag))
    value = real + 1j * imag
    chosen = np.flatnonzero((value.imag > 0) | ((value.imag == 0) & (value.real >= 0)))
    chosen = chosen[np.argsort(value[chosen] != 0, kind="stable")]  # rigid modes first
    v = transform[: free.split] @ vector[:, chosen]
    v = v / np.sqrt(np.einsum("ik,ik->k", v.conj(), free.E[: free.split, : free.split] @ v).real)
    return int((value == 0).sum()), size * value[chosen], free_motion(system)[:n, : free.split] @ v, True


def _sparse(system: LinearPHDAE, count: int) -> Modes:
    """The lowest modes of a large system, by shift-invert; raises AccuracyError if their error is larger than 1e-7."""
    whole = SecondOrder.from_system(undamped(system))
    model, Z, free = whole.on_free_motions()
    unstable = lowest_growth(model) if negativity_defect(model.C) > INDEFINITE else 0.0
    inverted = None if model.C_inverse is None else shifted_near_lowest(model, count, unstable)
    if inverted is None or not inverted.accurate:  # round-off of stiff parts hides soft ones in K: keep the stresses
        inverted = shifted_near_lowest(model, count, unstable, mixed=True)
    while True:
        v = np.asarray(Z @ inverted.with_missed_modes(*inverted.pairs))
        squared, v, rigid = _split_rigid(whole, v, -1e-6 * inverted.shift)
        squared, v = squared[:count], v[:, :count]
        error = inverted.residual(squared, v[free])
        if error <= ACCURATE or inverted.corrections == CORRECTIONS:
            break
        inverted.refine()
    gap = np.abs(whole.G @ v).max(initial=0.0) / np.abs(v).max()
    if gap > 1e-7:
        raise AccuracyError(f"modes violate the joints by {gap:.1e}")
    if error > 1e-7:
        raise AccuracyError(f"mode shapes have an error of {error:.1e}; ask for more modes, or eliminate the joints")
    value = np.sqrt(np.maximum(-squared, 0.0)) + 1j * np.sqrt(np.maximum(squared, 0.0))
    return _select(count, system, min(rigid, count), value, v, False)


def _split_rigid(model: SecondOrder, v: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray, int]:
    """Squared frequencies, shapes and the number of rigid modes: those below `threshold` in which every strain cancels."""
    squared = _strain_energy(model, v)
    candidates = np.flatnonzero(np.abs(squared) < threshold)
    size = abs(model.L.T) @ (1.0 / np.sqrt(model.M.diagonal()))  # of coordinates of unit mass
    strain = (model.L.T @ v[:, candidates]) / np.where(size > 0.0, size, 1.0)[:, None]
    _, strained, rotation = la.svd(strain.T @ strain) if len(candidates) else (0, np.zeros(0), np.zeros((0, 0)))
    rigid = int((strained <= RIGID_STRAIN**2).sum())
    v[:, candidates] = v[:, candidates] @ rotation[::-1].T
    squared[candidates] = _strain_energy(model, v[:, candidates])
    squared[candidates[:rigid]] = 0.0
    key = squared.copy()
    key[candidates[:rigid]] = -np.inf
    order = np.argsort(key, kind="stable")
    squared, v = squared[order], v[:, order]
    return squared, v, rigid


def _strain_energy(model: SecondOrder, v: np.ndarray) -> np.ndarray:
    """vᵀK v of each column."""
    return np.einsum("ik,ik->k", model.L.T @ v, model.stress(v))


def rigid_modes(system: LinearPHDAE) -> np.ndarray:
    """The rigid modes, (velocities, rigid modes): motions of unit mass that the joints allow and that cause no stress."""
    if system.split == system.rows.size:  # no stresses: all modes are rigid
        return np.asarray(modes(undamped(system)).vectors)
    count = FIRST_COUNT
    while (eigenmodes := modes(undamped(system), count)).rigid == count:
        count *= 2
    return np.asarray(eigenmodes.vectors[:, : eigenmodes.rigid])


# --- damped poles ----------------------------------------------------------------------------------------------------


def _velocity_damping(system: LinearPHDAE) -> Matrix:
    """R on the velocities; raises InputError for damped stresses, whose poles do not belong to modes."""
    n = system.split
    if largest(system.R[n:, n:]) or largest(system.R[:n, n:]):
        raise InputError("stresses are damped, too: such poles do not belong to modes; use poles(…)")
    return csr(system.R[:n, :n])


def _modal_damping(R: Matrix, V: np.ndarray) -> np.ndarray:
    """VᵀR V, with zeros for entries that are round-off of their terms."""
    D = V.T @ (R @ V)
    return np.where(np.abs(D) > CANCELLED * (np.abs(V).T @ (abs(R) @ np.abs(V))), D, 0.0)


def damping_couples(system: LinearPHDAE, vectors: np.ndarray) -> bool:
    """Whether damping couples these modes with each other or with the remaining modes."""
    n, R = system.split, _velocity_damping(system)
    D = vectors.T @ (R @ vectors)
    diagonal = np.diag(np.diag(D))
    if np.abs(D - diagonal).max() > PROPORTIONAL * max(np.abs(D).max(initial=0.0), 1e-300):
        return True
    rest = system.E[:n, :n] @ (vectors @ diagonal) - R @ vectors  # zero on the free motions if no mode is coupled
    free = SaddleFactor(sp.eye_array(n), csr(system.G[:, :n])).solve(rest)  # without forces that joints carry
    return bool(np.abs(free).max() > 1e-8 * np.abs(R @ vectors).max())


def _uncoupled_poles(omega: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The root of λ² + d λ + ω² with Im ≥ 0, or the slower of two real ones (in the form that does not cancel)."""
    root = np.sqrt((d * d - 4 * omega**2).astype(complex))
    below = d + root
    poles = np.where(below == 0, 0.0, -2 * omega**2 / np.where(below == 0, 1.0, below))
    return np.where(poles.imag < 0, poles.conj(), poles)


def _coupled_poles(omega: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As many poles as modes, and their vectors in modal coordinates: poles with Im > 0, and the slower half of the real ones.

    Each stands with the mode that has most of its kinetic energy; a pair of real poles counts once.
    """
    from scipy.optimize import linear_sum_assignment

    rigid, k = omega == 0.0, len(omega)
    moving = np.flatnonzero(~rigid | D.any(axis=1))  # an undamped rigid mode has two zeros, of which one is listed
    S = np.diag(omega)[~rigid][:, moving]
    value, eigenvectors = la.eig(np.block([[np.zeros((len(S), len(S))), S], [-S.T, -D[np.ix_(moving, moving)]]]))
    vector = np.zeros((k, len(value)), dtype=complex)
    vector[moving] = eigenvectors[len(S) :]
    upper, real = np.flatnonzero(value.imag > 0.0), np.flatnonzero(value.imag == 0.0)
    real = real[np.argsort(np.abs(value[real]), kind="stable")]
    pairs = k - len(upper) - int(rigid.sum())
    slow, fast = real[:pairs], real[::-1][:pairs]
    key = np.concatenate([np.abs(value[upper]), np.sqrt(np.abs(value[slow] * value[fast]))])
    order = np.concatenate([upper, slow])[np.argsort(key, kind="stable")]
    rigid_shapes = np.eye(k)[:, rigid]
    poles = np.concatenate([np.zeros(rigid_shapes.shape[1]), value[order]])
    vectors = np.hstack([rigid_shapes, vector[:, order]])
    of_mode = linear_sum_assignment(np.abs(vectors) ** 2 / (np.abs(vectors) ** 2).sum(axis=0), maximize=True)[1]
    return poles[of_mode], vectors[:, of_mode]


def _newton_poles(system: LinearPHDAE, poles: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Poles by Newton's method on (λ² M + λ R + K) x + Gᵀμ = 0, G x = 0, from poles and shapes of the projected problem.

    Raises AccuracyError if they move far or coincide: then they cannot be assigned to modes.
    """
    _velocity_damping(system)
    model, roots = SecondOrder.from_system(system), []
    for s, x in zip(poles, shapes.T, strict=True):
        for _ in range(NEWTON_STEPS if s else 0):
            y = model.factor(s).solve(2 * s * (model.M @ x) + model.D @ x)
            pivot = int(np.argmax(np.abs(x)))
            size = np.abs(y).max()
            if not np.isfinite(size) or abs(y[pivot]) < 1e-12 * size:  # a singular pencil, or an infinite step
                break
            step = x[pivot] / (y[pivot] / size) / size
            s, x = s - step, y / size
            if abs(step) < 1e-12 * abs(s):
                break
        roots.append(s)
    found_poles = np.array(roots)
    moving = found_poles[found_poles != 0]
    distance = np.abs(moving[:, None] - moving)[~np.eye(len(moving), dtype=bool)]
    moved_far = np.abs(found_poles - poles) > 0.2 * np.abs(poles)
    if moved_far.any() or (found_poles.imag < 0).any() or (distance < 1e-9 * np.abs(moving).max(initial=0.0)).any():
        raise AccuracyError(
            "damping couples the modes too strongly to separate their poles; ask for more modes, or reduce it"
        )
    return found_poles
