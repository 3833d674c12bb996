"""Poles and zeros between named ports.

A zero is an s at which inputs move the system and the outputs are zero:

    (J − R − sE) e + Gᵀλ + B u = 0,   −G e + B_λ u = 0,   Bᵀe + B_λᵀλ = 0.

Joints are outputs that are always zero, with λ as their inputs, so poles are the zeros of a system without ports. With
E = X S Xᵀ, S = ±1, and x = Xᵀe the matrix of a lossless system is skew, and stays so while the algebraic part is eliminated by
rotations (Emami-Naeini and Van Dooren, 1982): zeros of a port on itself are the poles with that port fixed, between its poles.

Zeros between different ports of a lossless system are computed in modal coordinates, (Ω² + s²) q = b u and 0 = c q. With a shift,
D = Ω² + σ², they are eigenvalues of a matrix without u,

    θ q = W q,   W = (1 − X (c X)⁻¹ c) D⁻¹,   X = D⁻¹ b,   s² = σ² − 1/θ:

the largest θ, the zeros next to σ, are the most accurate, whatever the mesh adds at high frequency. At frequencies that do not
reach both ports a transfer function is a sum of terms that cancel to round-off, and so are its zeros: they are recognised by the
condition of θ and left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import csr, largest, signed_root
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, positive
from phloat.linear.form.mass_normalised import FirstOrder, MassNormalised
from phloat.linear.form.phdae import LinearPHDAE, Ports, inputs_outputs, linear_only

MOST_ROWS = 1500
RANK = 1e-11  # of matrices of size one: what counts as zero when ranks are decided
ZERO = 1e-12  # of the largest entry: what counts as s = 0
SKEW = 1e-13  # of matrices of size one: what counts as skew
DETERMINED = 1e-6  # relative error up to which a zero is listed
ROUGH = 100.0  # relative error up to which an eigenvalue is a start for Newton's method (its bound is a crude one)
NEAR = 0.05  # relative distance that Newton's method may go
ABSENT = 1e-12  # of ports on coordinates of unit mass: what counts as no part in a mode
NEWTON_STEPS = 4
STILL = 1e-9  # of the first shift, squared: what counts as s = 0
APART = 300.0  # ratio of one shift to the next
GOOD = 1e-4  # relative error up to which the zeros of a shift are used; those beyond come from the next
EPS = 4 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class PoleZeros:
    """Poles of a system and zeros from inputs to outputs with Im ≥ 0, by size; modes that the ports do not see are in both."""

    poles: np.ndarray
    zeros: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def below(self, omega: float) -> PoleZeros:
        """Those with |s| below a frequency (rad/s)."""
        limit = positive("omega", omega)
        return replace(self, poles=self.poles[np.abs(self.poles) < limit], zeros=self.zeros[np.abs(self.zeros) < limit])

    def __repr__(self) -> str:
        into, out = ", ".join(self.inputs), ", ".join(self.outputs)
        return f"PoleZeros({len(self.poles)} poles, {len(self.zeros)} zeros from {into} to {out})"


@one_thread()
def zeros(system: LinearPHDAE, inputs: Ports, outputs: Ports | None = None) -> np.ndarray:
    """The invariant zeros from inputs to as many outputs.

    Between different ports, zeros that double precision does not determine to 1e-6 are left out: far above the frequencies that
    reach both ports they are zeros of round-off. For a large system reduce it first or, if the outputs are the inputs, use
    modes(swap_causality(system, port)).

    Parameters
    ----------
    system : LinearPHDAE
        A linear system of moderate size.
    inputs : str or sequence of str
        Ports; "port[i]" is component i of a port with several.
    outputs : str or sequence of str, optional
        Ports, with as many components as the inputs. Default: the inputs.

    Returns
    -------
    array of complex, (zeros,)
        The zeros with Im ≥ 0 in rad/s, ascending in magnitude.

    Examples
    --------
    From the torque at a hinge to its angular velocity, the zeros are the modes with the hinge locked, those of a cantilever.

    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> arm = ph.connect({"beam": beam}, [ph.Revolute("ground", "beam.P", name="motor")], plane="xy")
    >>> linear = ph.linearise(arm, ph.place(arm)).with_ports("motor")
    >>> unit = np.sqrt(210e9 * 0.01**2 / 12 / 7800.0)  # √(EI / ρAL⁴), rad/s
    >>> (ph.zeros(linear, "motor")[:2] / unit).imag.round(2)  # exact: 3.516 and 22.034
    array([ 3.52, 22.06])
    """
    linear_only(system, circulatory=True)
    into, out, ends = inputs_outputs(system, inputs, outputs)
    if len(into) != len(out):
        raise InputError(f"there are {len(into)} inputs and {len(out)} outputs; choose components, as in 'port[0]'")
    _require_few_rows(system)
    found = _distant_zeros(system, into, out) if _distant(system, into, out) else _zeros(system, into, out)
    if found is None:
        raise InputError(
            f"every s is a zero from {' to '.join(map(', '.join, ends))}: an output does not depend on the "
            "inputs, or depends on another; see ports_report(…)"
        )
    return _by_size(found)


@one_thread()
def poles(system: LinearPHDAE) -> np.ndarray:
    """The poles of a linear system, which may be damped, loaded or spinning.

    Parameters
    ----------
    system : LinearPHDAE
        A linear system of moderate size; reduce a large one first, or use `modes`.

    Returns
    -------
    array of complex, (poles,)
        The poles with Im ≥ 0 in rad/s, ascending in magnitude; a rigid mode gives one pole at zero.

    Examples
    --------
    A mass m = 2 kg on a spring k = 8 N/m with a damper d = 4 N s/m: m s² + d s + k = 0.

    >>> joints = [ph.Prismatic("ground", "cart.P", axis=(1, 0, 0), name="rail")]
    >>> joints += [ph.JointSpring("rail", stiffness=8.0), ph.JointDamper("rail", damping=4.0)]
    >>> body = ph.RigidBody(mass=2.0, inertia=np.eye(3)).discretise()
    >>> cart = ph.connect({"cart": body}, joints, plane="xy")
    >>> ph.poles(ph.linearise(cart, ph.place(cart))).round(4)  # −1 + j√3
    array([-1.+1.7321j])
    """
    linear_only(system, circulatory=True)
    _require_few_rows(system)
    none = np.zeros(0, dtype=int)
    direct = system.separable and not system.circulatory
    found = _second_order_poles(system) if direct else _zeros(system, none, none)
    if found is None:
        raise InputError("joints are redundant: remove those rows first, as linearise does")
    return _by_size(found)


def _second_order_poles(system: LinearPHDAE) -> np.ndarray:
    """All poles with Im ≥ 0, with one zero for a rigid motion of constant momentum."""
    n, J = system.split, system.J
    at, D = MassNormalised.of(system.E, J, system.G, n), csr(system.R[:n, :n] - J[:n, :n])
    if largest(D):
        x = FirstOrder.of(at, D)
        return np.concatenate([np.zeros(x.conserved.shape[1]), x.value[x.value.imag >= 0.0]])
    mu, _ = at.eigenpairs()
    grows = np.sqrt(-mu[mu < 0.0])
    return np.concatenate([np.zeros(at.rigid.shape[1]), grows, -grows, 1j * np.sqrt(mu[mu > 0.0])])


@one_thread()
def poles_zeros(system: LinearPHDAE, inputs: Ports, outputs: Ports | None = None) -> PoleZeros:
    """Poles, and zeros from as many inputs to as many outputs."""
    found = zeros(system, inputs, outputs)
    return PoleZeros(poles(system), found, *inputs_outputs(system, inputs, outputs)[2])


def _require_few_rows(system: LinearPHDAE) -> None:
    if system.rows.size > MOST_ROWS:
        raise InputError(f"{system.rows.size} rows are too many (at most {MOST_ROWS}); reduce the system first")


def _zeros(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    size, plant = scaled_state_space(system, into, out)
    A, C, F, D = (a.T for a in _without_algebra(*_without_algebra(*plant)))
    if len(D) < len(plant[2]):
        return None
    A = A - F @ la.solve(D, C) if len(D) else A
    found = 1j * la.eigvalsh(-1j * A) if np.abs(A + A.T).max(initial=0.0) <= SKEW else la.eigvals(A)
    found = found * size
    found[np.abs(found) <= ZERO * size] = 0.0
    found = np.where(np.abs(found.imag) <= ZERO * size, found.real, found)
    return np.asarray(found[found.imag >= 0.0])


def _by_size(found: np.ndarray) -> np.ndarray:
    return found[np.argsort(np.abs(found), kind="stable")]


def _without_algebra(A: np.ndarray, F: np.ndarray, C: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, ...]:
    """ẋ = A x + F w, 0 = C x + D w with fewer x and D of full row rank, transposed; rows that are always satisfied are dropped.

    Rows without w keep some x at zero; the new rows say that their rates are zero.
    """
    while len(D):
        U, size, _ = la.svd(D)
        rank = int((size > RANK).sum())
        if rank == len(D):
            break
        C, D = U.T @ C, (U.T @ D)[:rank]
        _, size, V = la.svd(C[rank:])
        fixed = int((size > RANK).sum())
        S, N = V[:fixed].T, V[fixed:].T
        C, D = np.vstack([C[:rank] @ N, S.T @ A @ N]), np.vstack([D, S.T @ F])
        A, F = N.T @ A @ N, N.T @ F
        if not fixed:
            break
    return A.T, C.T, F.T, D.T


@one_thread()
def scaled_state_space(
    system: LinearPHDAE, into: np.ndarray, out: np.ndarray
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """(A, F, C, D) of ẋ = A x + F (λ, u), 0 = C x + D (λ, u), each of size one, and the frequency that A was divided by."""
    inverse, sign, A = _energy_coordinates(system)
    joints = system.multipliers.size
    G, B, B_lam = system.G.toarray(), system.B.toarray(), system.B_lam.toarray()
    F = sign[:, None] * (inverse @ np.hstack([G.T, B[:, into]]))
    C = np.vstack([-G, B[:, out].T]) @ inverse.T
    D = np.zeros((joints + len(out), joints + len(into)))
    D[:joints, joints:], D[joints:, :joints] = B_lam[:, into], B_lam[:, out].T
    closed = np.flatnonzero(~np.any(D[:joints], axis=1))  # a driven joint moves the rest
    A, F, C = _reached(system, A, F, C, C[closed])
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    row, column = _lengths(np.hstack([C, D]).T), _lengths(np.vstack([F, D]))
    return size, (A / size, F / column, C / row[:, None], D / column / row[:, None])


def _lengths(columns: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(columns, axis=0)
    return np.where(length > 0.0, length, 1.0)


def _energy_coordinates(system: LinearPHDAE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X⁻¹ and S of E = X S Xᵀ, and S X⁻¹(J − R) X⁻ᵀ."""
    try:
        root, sign, _ = signed_root(system.E)
    except la.LinAlgError:
        raise InputError("E is singular: some row stores no energy; eliminate it first") from None
    inverse = root.toarray()
    return inverse, sign, sign[:, None] * (inverse @ (inverse @ system.dynamics.toarray()).T).T


def energy_form(system: LinearPHDAE) -> tuple[float, np.ndarray, np.ndarray]:
    """A of ẋ = size · A x for a system without joints, of size one and without stresses that no motion reaches; rows e = T x."""
    inverse, _, A = _energy_coordinates(system)
    n = system.split
    U, reached, _ = la.svd(A[n:, :n], full_matrices=False)
    T = la.block_diag(np.eye(n), U[:, reached > ZERO * reached.max(initial=0.0)])
    A = T.T @ A @ T
    size = float(np.abs(A).max(initial=0.0)) or 1.0
    return size, A / size, inverse.T @ T


def _reached(
    system: LinearPHDAE, A: np.ndarray, F: np.ndarray, C: np.ndarray, closed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Without stresses that no motion reaches: they are constant, poles and zeros at s = 0 without meaning.

    `closed` are rows of joints: motions that they do not allow reach nothing.
    """
    n = system.split
    coupled = np.any(A[n:, n:]) or np.any(F[n:]) or np.any(C[:, n:]) or largest(system.E[:n, n:])
    if not 0 < n < system.rows.size or coupled:
        return A, F, C
    U, size, _ = la.svd(A[n:, :n] @ la.null_space(closed[:, :n], rcond=RANK), full_matrices=False)
    T = la.block_diag(np.eye(n), U[:, size > ZERO * size.max(initial=0.0)])
    return T.T @ A @ T, T.T @ F, C @ T


def _distant(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> bool:
    """Whether the ports are different, act on velocities, and nothing is damped or gyroscopic."""
    if np.array_equal(into, out) or not system.lossless or not system.separable:
        return False
    n, ports = system.split, np.union1d(into, out)
    return not (largest(system.J[:n, :n]) or largest(system.B[n:][:, ports]) or largest(system.B_lam[:, ports]))


def _distant_zeros(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """The zeros with Im ≥ 0, not sorted; None if every s is one."""
    n = system.split
    at = MassNormalised.of(system.E, system.J, system.G, n)
    mu, V = at.eigenpairs()
    unit = 1.0 / np.sqrt(system.E.diagonal()[:n])
    (b_0, b), (c_0, c) = (_parts(system.B[:n, which].toarray(), unit, at.rigid, V) for which in (into, out))
    turn = la.qr(b_0)[0] if b_0.size else np.eye(len(b_0))  # rigid motions that no input moves are zeros at s = 0
    b_0, c_0 = (np.where(np.abs(turn.T @ x) > ABSENT * np.abs(x).sum(axis=0), turn.T @ x, 0.0) for x in (b_0, c_0))
    moved, felt = b_0.any(axis=1) & c_0.any(axis=1), b.any(axis=1) & c.any(axis=1)
    b, c = np.vstack([b_0[moved], b[felt]]), np.vstack([c_0[moved], c[felt]])
    own, loose = np.concatenate([np.zeros(moved.sum()), mu[felt]]), int((~moved).sum())
    found = _between(own, b, c)
    if found is None:
        return None
    squared, still = found
    at_rest = max(len(into) - int(moved.sum()) + 2 * still, 0) + loose
    squared = np.concatenate([squared, -mu[~felt]])
    root = np.sqrt(squared.astype(complex))
    both = np.concatenate([root, -root])
    upper = both[(both.imag > 0.0) | ((both.imag == 0.0) & (both != 0.0))]
    return np.concatenate([np.zeros(at_rest), upper])


def _parts(B: np.ndarray, unit: np.ndarray, *shapes: np.ndarray) -> list[np.ndarray]:
    """VᵀB of each shape V of unit mass (modes × ports), exactly zero where it is round-off."""
    size = np.abs(B).T @ unit
    return [np.where(np.abs(V.T @ B) > ABSENT * size, V.T @ B, 0.0) for V in shapes]


def _between(mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, int] | None:
    """s² of the zeros that are determined, and the number of those at zero; from shifts that cover the frequencies."""
    low = np.sqrt(np.abs(mu[mu != 0.0]).min(initial=np.inf))
    low = 0.9 * max(low if np.isfinite(low) else 1.0, np.sqrt(max(-2.0 * mu.min(initial=0.0), 0.0)))
    high = np.sqrt(np.abs(mu).max(initial=0.0))
    shifts = low * APART ** np.arange(max(int(np.ceil(np.log(max(high / low, 1.0)) / np.log(APART))), 1))
    bands = [_near(sigma, mu, b, c) for sigma in shifts]
    if any(band is None for band in bands):
        return None
    kept, start = [], 0.0
    for k, band in enumerate(bands):
        assert band is not None
        size = np.abs(band[0])
        stop = np.inf if k == len(bands) - 1 else max(_reach(size, band[1]), start)
        there = (size > start) & (size <= stop)
        kept.append((band[0][there], band[1][there]))
        start = stop
    squared, off = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    still = np.abs(squared) <= STILL * low**2
    starts = squared[~still & (off <= ROUGH * np.abs(squared))]
    found = [(x, start) for start in starts if (x := _polished(start, mu, b, c)) is not None]
    return np.array([x for k, (x, start) in enumerate(found) if not _again(x, start, found[:k])]), int(still.sum())


def _again(x: complex, start: complex, others: list[tuple[complex, complex]]) -> bool:
    """Whether Newton's method found a known zero from another start."""
    return any(abs(x - y) <= 1e-8 * abs(x) and abs(start - z) > 1e-5 * abs(x) for y, z in others)


def _polished(x: complex, mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> complex | None:
    """s² after some steps of Newton's method on cᵀ(Ω² + s²)⁻¹b; None if round-off of its terms moves it too far."""
    start = x
    for _ in range(NEWTON_STEPS):
        gap = mu + x
        if not gap.all():
            return x  # a pole that is a zero too
        H, slope = (c.T / gap) @ b, -(c.T / gap**2) @ b
        u, _, v = la.svd(H)
        u, v = u[:, -1].conj(), v[-1].conj()
        steepness = u @ slope @ v
        if not abs(steepness) > 0.0:
            return None
        x = x - (u @ H @ v) / steepness
    off = EPS * (np.abs(u) @ ((np.abs(c).T / np.abs(gap)) @ np.abs(b)) @ np.abs(v)) / abs(steepness)
    good = off <= 2.0 * DETERMINED * abs(x) and abs(x - start) <= NEAR * abs(start)
    return (x.real if abs(x.imag) <= off else x) if good else None


def _near(sigma: float, mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """s² of all zeros from one shift, and their errors."""
    root = 1.0 / np.sqrt(mu + sigma**2)
    X, Y = root[:, None] * b, root[:, None] * c
    ports = b.shape[1]
    H = Y.T @ X
    size = np.sqrt(np.outer((Y**2).sum(axis=0), (X**2).sum(axis=0)))
    if len(mu) < ports or (size == 0.0).any() or la.svdvals(H / size)[-1] <= EPS:
        return None
    W = root[:, None] * (np.eye(len(mu)) - X @ la.solve(H, Y.T)) * root
    theta, left, right = la.eig(W, left=True)
    order = np.argsort(-np.abs(theta), kind="stable")[: len(mu) - ports]  # the others are infinite zeros
    theta = theta[order]
    along = np.abs(np.einsum("ik,ik->k", left[:, order].conj(), right[:, order]))
    condition = 1.0 / np.maximum(along, 1e-300)
    there = np.abs(theta) > EPS * np.abs(theta).max(initial=0.0)  # and these too
    theta, condition = theta[there], condition[there]
    return sigma**2 - 1.0 / theta, EPS * la.norm(W) / np.abs(theta) * np.minimum(condition, 1e100) / np.abs(theta)


def _reach(size: np.ndarray, off: np.ndarray) -> float:
    """The size up to which the zeros of one shift are good: between the last good one and the next."""
    order = np.argsort(size)
    size, good = size[order], (off <= GOOD * size)[order]
    if good.all():
        return np.inf
    k = int(np.argmin(good))
    return float(np.sqrt(size[k - 1] * size[k])) if k else 0.0
