"""Poles and zeros between named ports.

A zero is an s at which inputs move the system and the outputs are zero:

    (J − R − sE) e + Gᵀλ + (B − P) u = 0,   −G e + B_λ u = 0,   (B + P)ᵀe + B_λᵀλ + (S + N) u = 0.

Joints are outputs that are always zero, with λ as their inputs, so poles are the zeros of a system without ports. Rows without
energy are such equations, too, with their e as inputs. With E = X S Xᵀ, S = ±1, and x = Xᵀe the matrix of a lossless system is
skew, and stays so while the algebraic part is eliminated by rotations (Emami-Naeini and Van Dooren, 1982): zeros of a port on
itself are the poles with that port fixed, between its poles.

Zeros between different ports of a lossless system are computed in modal coordinates, (Ω² + s²) q = b u and 0 = c q. With a shift,
D = Ω² + σ², they are eigenvalues of a matrix without u,

    θ q = W q,   W = (1 − X (c X)⁻¹ c) D⁻¹,   X = D⁻¹ b,   s² = σ² − 1/θ:

the largest θ, the zeros next to σ, are the most accurate, whatever the mesh adds at high frequency. At frequencies that do not
reach both ports a transfer function is a sum of terms that cancel to round-off, and so are its zeros: they are recognised by the
condition of θ and left out.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as la

from phloat.algebra.sparse import csr, largest
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, positive
from phloat.linear.analysis.energy_form import RANK, ZERO, Plant, has_massless, scaled_state_space
from phloat.linear.form.mass_normalised import FirstOrder, MassNormalised
from phloat.linear.form.phdae import LinearPHDAE, Ports, inputs_outputs, linear_only

MAX_ROWS = 1500  # rows up to which the dense methods of this file are used
SLOW = 1e-6  # size of eigenvalues, relative to the largest, that are computed from the inverse
ACCURATE_INVERSE = 1e8  # condition number of Bauer and Skeel (independent of units) up to which the inverse is used
SKEW = 1e-13  # defect up to which a matrix of size one is skew
DETERMINED = 1e-6  # relative error up to which a zero is listed
ROUGH = 100.0  # relative error (a crude bound) up to which an eigenvalue is a start for Newton's method
NEWTON_RANGE = 0.05  # relative distance that Newton's method may go
ABSENT = 1e-12  # part of a port in a mode that is round-off, relative to its terms
NEWTON_STEPS = 4
AT_ZERO = 1e-9  # |s²| that counts as zero, relative to the square of the first shift
SHIFT_RATIO = 300.0  # ratio of one shift to the next
USABLE = 1e-4  # relative error up to which the zeros of a shift are used; those beyond come from the next shift
EPS = 4 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class PoleZeros:
    """Poles of a system and zeros from inputs to outputs with Im ≥ 0 (rad/s), sorted by magnitude.

    Modes that are not controllable or not observable are in both.
    """

    poles: np.ndarray
    zeros: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def below(self, omega: float) -> PoleZeros:
        """The poles and zeros with |s| below a frequency (rad/s)."""
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
    linear_only(system, circulatory=True, feedthrough=True)
    into, out, ends = inputs_outputs(system, inputs, outputs)
    if len(into) != len(out):
        raise InputError(f"there are {len(into)} inputs and {len(out)} outputs; choose components, as in 'port[0]'")
    _require_dense_size(system)
    roots = (_modal_zeros if _lossless_pair(system, into, out) else _invariant_zeros)(system, into, out)
    if roots is None:
        raise InputError(
            f"the transfer matrix from {' to '.join(map(', '.join, ends))} is singular at every s, so it has no zeros to list: an "
            "input has no effect, or an output is zero or a combination of others; choose other ports, see ports_report(…)"
        )
    return _by_size(roots)


@one_thread()
def poles(system: LinearPHDAE, *, infinite: bool = False) -> np.ndarray:
    """The poles of a linear system, which may be damped, loaded or spinning.

    Parameters
    ----------
    system : LinearPHDAE
        A linear system of moderate size; reduce a large one first, or use `modes`. Rows may be without energy (E singular).
    infinite : bool, optional
        Append the infinite poles of the descriptor form with the multipliers, as `inf`: two for every joint row, one for every
        row whose value follows from the others, more if it follows from their rates.

    Returns
    -------
    array of complex, (poles,)
        The poles with Im ≥ 0 in rad/s, ascending in magnitude; a rigid mode gives one pole at zero, and so does a stress
        that no motion changes if the rows have no order (v | σ), as in a loop with a dynamic controller of python-control.

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
    linear_only(system, circulatory=True, feedthrough=True)
    _require_dense_size(system)
    if system.separable and not system.circulatory and not has_massless(system):
        roots, count = _second_order_poles(system), 2 * system.multipliers.size
    else:
        roots, count = _descriptor_poles(system)
    return np.append(_by_size(roots), np.full(count if infinite else 0, np.inf))


def _descriptor_poles(system: LinearPHDAE) -> tuple[np.ndarray, int]:
    """The finite poles with Im ≥ 0 and the number of infinite ones."""
    none = np.zeros(0, dtype=int)
    size, plant = scaled_state_space(system, none, none)
    roots = _finite_roots(size, plant)
    if roots is None:
        raise InputError(
            "the equations do not determine the motion: joints are redundant (remove those rows first, as linearise does), or "
            "a row without inertia, stiffness and damping is free"
        )
    unreached = system.rows.size - len(plant[0]) if not has_massless(system) else 0  # zero poles that are not listed
    return roots[roots.imag >= 0.0], system.rows.size + system.multipliers.size - len(roots) - unreached


def _second_order_poles(system: LinearPHDAE) -> np.ndarray:
    """All poles with Im ≥ 0, with one zero for a rigid motion of constant momentum."""
    n, J = system.split, system.J
    form, D = MassNormalised.from_matrices(system.E, J, system.G, n), csr(system.R[:n, :n] - J[:n, :n])
    if largest(D):
        x = FirstOrder.from_modes(form, D)
        return np.concatenate([np.zeros(x.conserved.shape[1]), x.value[x.value.imag >= 0.0]])
    mu, _ = form.eigenpairs()
    growth = np.sqrt(-mu[mu < 0.0])
    return np.concatenate([np.zeros(form.rigid.shape[1]), growth, -growth, 1j * np.sqrt(mu[mu > 0.0])])


@one_thread()
def poles_zeros(system: LinearPHDAE, inputs: Ports, outputs: Ports | None = None) -> PoleZeros:
    """The poles of a system and its zeros from inputs to as many outputs (default: the inputs); see `poles` and `zeros`."""
    all_zeros = zeros(system, inputs, outputs)
    return PoleZeros(poles(system), all_zeros, *inputs_outputs(system, inputs, outputs)[2])


def _require_dense_size(system: LinearPHDAE) -> None:
    if system.rows.size > MAX_ROWS:
        raise InputError(f"{system.rows.size} rows are too many (at most {MAX_ROWS}); reduce the system first")


def _invariant_zeros(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """The zeros with Im ≥ 0 by elimination of the algebraic equations, not sorted; None if every s is a zero."""
    roots = _finite_roots(*scaled_state_space(system, into, out))
    return None if roots is None else roots[roots.imag >= 0.0]


def _finite_roots(size: float, plant: Plant) -> np.ndarray | None:
    """All s · `size` with ẋ = A x + F w, 0 = C x + D w; None if every s is one."""
    A, C, F, D = (a.T for a in _eliminate_algebraic(*_eliminate_algebraic(*plant)))
    if len(D) < len(plant[2]):
        return None
    A = A - F @ la.solve(D, C) if len(D) else A
    if np.abs(A + A.T).max(initial=0.0) <= SKEW:
        roots = 1j * la.eigvalsh(-1j * A)
    else:
        roots = la.eigvals(A)
        if (slow := _slow_eigenvalues(A, roots)) is not None:
            return slow * size
    roots = roots * size
    roots[np.abs(roots) <= ZERO * size] = 0.0
    return np.where(np.abs(roots.imag) <= ZERO * size, roots.real, roots)


def _slow_eigenvalues(A: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """The eigenvalues, slow ones from the inverse of A if it is accurate, although slow and fast ones are far apart; else None."""
    fast = _by_size(values)
    if not len(A) or abs(fast[0]) > SLOW * abs(fast[-1]):
        return None
    with suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
        row = 1.0 / np.abs(A).max(axis=1)
        inverse = np.linalg.inv(row[:, None] * A) * row
        if np.isfinite(inverse).all() and np.abs(la.eigvals(np.abs(inverse) @ np.abs(A))).max() <= ACCURATE_INVERSE:
            slow = _by_size(1.0 / la.eigvals(inverse))
            return np.where(np.abs(slow) < np.sqrt(np.abs(slow[0] * fast[-1])), slow, fast) + 0.0
    return None


def _by_size(roots: np.ndarray) -> np.ndarray:
    """The roots, ascending in magnitude."""
    return roots[np.argsort(np.abs(roots), kind="stable")]


def _eliminate_algebraic(A: np.ndarray, F: np.ndarray, C: np.ndarray, D: np.ndarray) -> tuple[np.ndarray, ...]:
    """Aᵀ, Cᵀ, Fᵀ, Dᵀ of ẋ = A x + F w, 0 = C x + D w with fewer states x and D of full row rank.

    Rows without w constrain some x to zero; they are replaced by rows that make the rates of these x zero. Rows that are always
    satisfied are dropped.
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


def _lossless_pair(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> bool:
    """Whether inputs and outputs are different ports, act on velocities, and nothing is damped or gyroscopic."""
    if np.array_equal(into, out) or not system.lossless or not system.separable:
        return False
    n, ports = system.split, np.union1d(into, out)
    return not (largest(system.J[:n, :n]) or largest(system.B[n:][:, ports]) or largest(system.B_lam[:, ports]))


def _modal_zeros(system: LinearPHDAE, into: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """The zeros of a lossless system between different ports, with Im ≥ 0, not sorted; None if every s is a zero."""
    n = system.split
    form = MassNormalised.from_matrices(system.E, system.J, system.G, n)
    mu, V = form.eigenpairs()
    unit = 1.0 / np.sqrt(system.E.diagonal()[:n])
    (b_0, b), (c_0, c) = (_parts(system.B[:n, columns].toarray(), unit, form.rigid, V) for columns in (into, out))
    Q = la.qr(b_0)[0] if b_0.size else np.eye(len(b_0))  # rigid motions that no input moves are zeros at s = 0
    b_0, c_0 = (np.where(np.abs(Q.T @ x) > ABSENT * np.abs(x).sum(axis=0), Q.T @ x, 0.0) for x in (b_0, c_0))
    movable, excited = b_0.any(axis=1) & c_0.any(axis=1), b.any(axis=1) & c.any(axis=1)
    b, c = np.vstack([b_0[movable], b[excited]]), np.vstack([c_0[movable], c[excited]])
    omega_2, unmoved = np.concatenate([np.zeros(movable.sum()), mu[excited]]), int((~movable).sum())
    determined = _determined_zeros(omega_2, b, c)
    if determined is None:
        return None
    squared, zero_count = determined
    at_rest = max(len(into) - int(movable.sum()) + 2 * zero_count, 0) + unmoved
    squared = np.concatenate([squared, -mu[~excited]])
    root = np.sqrt(squared.astype(complex))
    roots = np.concatenate([root, -root])
    upper = roots[(roots.imag > 0.0) | ((roots.imag == 0.0) & (roots != 0.0))]
    return np.concatenate([np.zeros(at_rest), upper])


def _parts(B: np.ndarray, unit: np.ndarray, *shapes: np.ndarray) -> list[np.ndarray]:
    """VᵀB for each matrix V of shapes of unit mass, (modes, ports), exactly zero where it is round-off."""
    size = np.abs(B).T @ unit
    return [np.where(np.abs(V.T @ B) > ABSENT * size, V.T @ B, 0.0) for V in shapes]


def _determined_zeros(mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, int] | None:
    """s² of the zeros that double precision determines, and the number of zeros at s = 0; None if every s is a zero.

    The zeros come from a row of shifts that covers the frequencies √μ.
    """
    low = np.sqrt(np.abs(mu[mu != 0.0]).min(initial=np.inf))
    low = 0.9 * max(low if np.isfinite(low) else 1.0, np.sqrt(max(-2.0 * mu.min(initial=0.0), 0.0)))
    high = np.sqrt(np.abs(mu).max(initial=0.0))
    shifts = low * SHIFT_RATIO ** np.arange(max(int(np.ceil(np.log(max(high / low, 1.0)) / np.log(SHIFT_RATIO))), 1))
    bands = [_shift_zeros(sigma, mu, b, c) for sigma in shifts]
    if any(band is None for band in bands):
        return None
    accepted, start = [], 0.0
    for k, band in enumerate(bands):
        assert band is not None
        size = np.abs(band[0])
        stop = np.inf if k == len(bands) - 1 else max(_accurate_up_to(size, band[1]), start)
        in_band = (size > start) & (size <= stop)
        accepted.append((band[0][in_band], band[1][in_band]))
        start = stop
    squared, error = (np.concatenate(parts) for parts in zip(*accepted, strict=True))
    zero = np.abs(squared) <= AT_ZERO * low**2
    starts = squared[~zero & (error <= ROUGH * np.abs(squared))]
    pairs = [(x, start) for start in starts if (x := _newton_zero(start, mu, b, c)) is not None]
    return np.array([x for k, (x, start) in enumerate(pairs) if not _is_repeat(x, start, pairs[:k])]), int(zero.sum())


def _is_repeat(x: complex, start: complex, previous: list[tuple[complex, complex]]) -> bool:
    """Whether Newton's method converged from this start to a zero that it found from another start: `previous` (zero, start)."""
    return any(abs(x - y) <= 1e-8 * abs(x) and abs(start - z) > 1e-5 * abs(x) for y, z in previous)


def _newton_zero(x: complex, mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> complex | None:
    """s² after some Newton steps on cᵀ(Ω² + s²)⁻¹b = 0; None if round-off of its terms does not determine it."""
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
    error = EPS * (np.abs(u) @ ((np.abs(c).T / np.abs(gap)) @ np.abs(b)) @ np.abs(v)) / abs(steepness)
    accurate = error <= 2.0 * DETERMINED * abs(x) and abs(x - start) <= NEWTON_RANGE * abs(start)
    return (x.real if abs(x.imag) <= error else x) if accurate else None


def _shift_zeros(sigma: float, mu: np.ndarray, b: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """s² of all zeros from one shift, and their absolute errors; None if every s is a zero."""
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
    alignment = np.abs(np.einsum("ik,ik->k", left[:, order].conj(), right[:, order]))
    condition = 1.0 / np.maximum(alignment, 1e-300)
    finite = np.abs(theta) > EPS * np.abs(theta).max(initial=0.0)  # and these too
    theta, condition = theta[finite], condition[finite]
    return sigma**2 - 1.0 / theta, EPS * la.norm(W) / np.abs(theta) * np.minimum(condition, 1e100) / np.abs(theta)


def _accurate_up_to(size: np.ndarray, error: np.ndarray) -> float:
    """The |s²| up to which the zeros of one shift are accurate: between the last accurate one and the next."""
    order = np.argsort(size)
    size, accurate = size[order], (error <= USABLE * size)[order]
    if accurate.all():
        return np.inf
    k = int(np.argmin(accurate))
    return float(np.sqrt(size[k - 1] * size[k])) if k else 0.0
