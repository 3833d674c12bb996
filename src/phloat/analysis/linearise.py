"""Linearisation of a system: (45) about rest, an equilibrium under load, or a steady spin.

Small motion q satisfies M q̈ + (Γ + R) q̇ + (BᵀC⁻¹B + K_g) q = Gᵀλ + B u. The elastic stresses σ = C⁻¹B q are rows; the stiffness
K_g of loads and spin is factorised on the motions that the joints allow, K_g = L_g S_g L_gᵀ, and its stresses σ_g = S_g L_gᵀq are
more rows:

    E = diag(M, C, S_g⁻¹),   J = [[−Γ, −Bᵀ, −L_g], [B, 0, 0], [L_gᵀ, 0, 0]].

The K_g of loads that rotate with the sections they act on, and of dampers to the ground in a spin, is not symmetric. Its
antisymmetric part is in `nonconservative`, forces of σ_g on the velocities beside J and R.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from phloat.algebra.cross import skew
from phloat.algebra.elimination import CANCELLED, free_motions, signed_factor
from phloat.algebra.layout import Layout
from phloat.algebra.sparse import (
    Matrix,
    assembled,
    csr,
    dependencies,
    diagonal,
    largest,
    row_lengths,
    stacked,
    unit_columns,
    weighted,
    zero_matrix,
)
from phloat.analysis.tangent import SmallMotion, small_motion
from phloat.bodies.continua.continuum import facets_of
from phloat.bodies.shape import displacements, second_displacement
from phloat.errors import InputError, JointError, RedundancyWarning, number
from phloat.linear.form.fields import Field, Fields
from phloat.linear.form.phdae import LinearPHDAE
from phloat.motion.deformation import warn_of_frequencies
from phloat.motion.initial.stiffness import nonconservative, spring_rows
from phloat.motion.initial.velocities import dependent_rows, quoted, require_closed, velocity_indices
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.system.joint_rows import columns_in_rows, dissipation, joint_rows, port_columns
from phloat.system.state import ConstantState, State
from phloat.system.system import System, fits
from phloat.system.tie_rows import with_stresses

SYMMETRIC = 1e-5  # accepted relative asymmetry of the stiffness of loads: forces balance to 1e-6 only
ROUND_OFF = 1e-13  # singular value of the stiffness of nonconservative loads that is round-off, relative to the largest
BALANCED = 1e-9  # asymmetry of a stiffness, relative to its terms, that is due to forces that balance approximately
SMALLEST = 1e-3  # smallest energy of a stress, relative to the largest stiffness of nonconservative loads
MAX_MOTIONS = 3000  # free motions under loads that follow the motion, whose stiffness is a full matrix


def linearise(
    system: System, state: State, *, u: Mapping[str, object] | Inputs | None = None, t: float = 0.0
) -> LinearPHDAE:
    """The linear port-Hamiltonian system of small motions about an equilibrium at rest or a steady spin, (45) of the paper.

    E ė = (J − R) e + Gᵀλ + B u with rows e = (v_P, ω, η̇ | σ) of the bodies, in their own axes; rigid motions are included. If
    loads or a spin change the stiffness, there is a further block of stresses, "loads". Follower loads, and dampers to the
    ground in a spin, are not conservative: they add `nonconservative` to J − R, and the system is not passive. In a spin, driven
    ports and forces in inertial axes are closed, as they would rotate.

    Parameters
    ----------
    system : System
        The mechanism, from `connect`.
    state : State
        An equilibrium, from `equilibrium`, `settle` or, where there are no loads, `place`; or a spin, from `steady_spin`.
    u : mapping of str to float, array or function of t, optional
        The inputs that hold the state, by port (N, N m, or m/s, rad/s for driven ports). Default: zero.
    t : float, optional
        The time at which `u` is evaluated (s).

    Returns
    -------
    LinearPHDAE
        Its attributes are the matrices, the named `rows` and `ports`, and `passive`: whether the energy is bounded below.

    Raises
    ------
    InputError
        If the state is neither in equilibrium nor in a steady spin, or violates a joint.

    Examples
    --------
    A pendulum with moment of inertia 0.75 + 1 · 0.5² = 1 kg m² about its hinge oscillates at √(9.81 · 0.5) rad/s.

    >>> bob = ph.RigidBody(mass=1.0, inertia=np.diag([0.4, 0.4, 0.75]), center=(0.5, 0, 0)).discretise()
    >>> joints = [ph.Revolute("ground", "bob.P", name="hinge")]
    >>> pendulum = ph.connect({"bob": bob}, joints, plane="xy", gravity=(0, -9.81, 0))
    >>> linear = ph.linearise(pendulum, ph.place(pendulum, {"hinge.angle": -np.pi / 2}))
    >>> linear.passive, ph.modes(linear).omega.round(4)
    (True, array([2.2147]))
    """
    origin = (system, fits(system, state))
    state = ConstantState(origin[1].bodies, origin[1].layout, origin[1].e)
    require_closed(system, state)
    inputs = as_inputs(system, u).at(number("t", t))
    small = small_motion(system, state, inputs)
    warn_of_frequencies(system, state, level=3)
    loose = system.loose
    rows = columns_in_rows(system, loose.rows)
    G, B_lam = joint_rows(system, state, rows)
    free = independent_joint_rows(G, B_lam, system.multipliers)
    sizes = {
        name: int(np.diff(np.searchsorted(free, [w.start, w.stop]))[0]) for name, w in system.multipliers.slices.items()
    }
    damping = _strained_damping(system, state, loose)
    velocities = np.zeros(rows.size)
    velocities[: loose.split] = state.e[velocity_indices(system)]
    linear = replace(
        loose,
        E=diagonal([small.M, loose.E[loose.split :, loose.split :]]),
        J=_with_strains(system, state, loose, small.gamma),
        R=csr(loose.R + damping + dissipation(system, state, rows, velocities, small=True)),
        G=G[free],
        B=port_columns(system, state, rows),
        B_lam=B_lam[free],
        ports=system.ports,
        multipliers=Layout({name: (size,) for name, size in sizes.items() if size}, "joint"),
        fields=Fields({name: partial(_field, *origin, name) for name in system.bodies}),
    )
    linear = replace(_with_loads(system, state, inputs, linear, small), origin=origin)
    if not small.spin.any():
        return linear
    inertial = {name for name, joint in system.joints.items() if joint.driven}  # they do not rotate with the bodies
    inertial |= {name for name, a in system.actuators.items() if a.axes == "inertial"}
    return linear.with_ports(*(name for name in linear.ports if name not in inertial))


def _with_strains(system: System, state: State, loose: LinearPHDAE, gamma: Matrix) -> Matrix:
    """J with the strains B = D + Q η of the deformed bodies, and −Γ on the velocities."""
    n, size = loose.split, loose.rows.size
    skew_part = csr(0.5 * (gamma - gamma.T))
    if size == n:
        return csr(-skew_part)
    changes = [np.zeros((3, 0))]  # the entries of Q η: values, rows, columns
    for name, body in system.bodies.items():
        eta, Q = state.pose(name).eta, body.elastic.Q
        if body.stresses and np.any(eta) and Q.value.size:
            row, column = loose.rows[f"{name}.sigma"].start - n, loose.rows[f"{name}.eta_dot"].start
            changes.append(np.array([Q.value * eta[Q.column], Q.strain + row, Q.row + column]))
    value, *places = np.concatenate(changes, axis=1)
    change = sp.coo_array((value, tuple(index.astype(int) for index in places)), shape=(size - n, n))
    B = csr(loose.J[n:, :n] + change)
    return stacked([[-skew_part, -B.T], [B, zero_matrix(size - n, size - n)]])


def _strained_damping(system: System, state: State, loose: LinearPHDAE) -> Matrix:
    """The change R_d(η) − R_d(0) of the damping of the deformed bodies, (rows, rows)."""
    blocks = []
    for name, body in system.bodies.items():
        elastic, eta = body.elastic, state.pose(name).eta
        if elastic.damped and elastic.Q.value.size and np.any(eta):
            rows = loose.rows[f"{name}.eta_dot"]
            index = np.arange(rows.start, rows.stop)
            blocks.append((index, index, elastic.damping(eta) - elastic.R_d.toarray()))
    return assembled(blocks, (loose.rows.size,) * 2)


def _with_loads(system: System, state: State, u: np.ndarray, linear: LinearPHDAE, small: SmallMotion) -> LinearPHDAE:
    """The linear system with further stresses: one for each spring law, and those of K_g on the motions that the joints allow."""
    rates, slopes, _ = spring_rows(system, state)
    springs = [name for name, element in system.elements.items() for law in element.laws if law.stores]
    counts = Counter(name for name, slope in zip(springs, slopes, strict=True) if slope)
    rates, slopes = rates[slopes != 0.0], slopes[slopes != 0.0]
    L, mu, circulation, followers = _geometric(system, u, linear, small)
    count, rest = len(slopes) + len(mu), linear.rows.size - linear.split
    D = csr(sp.hstack([sp.vstack([rates, L.T]), zero_matrix(count, rest)]))
    block = sp.hstack([zero_matrix(linear.split, linear.rows.size + len(slopes)), circulation])
    N = csr(sp.vstack([block, zero_matrix(rest + count, block.shape[1])]))
    linear = with_stresses(linear, "loads", D, 1.0 / np.concatenate([slopes, mu]), N, followers)
    return replace(linear, parts={**linear.parts, "loads": Layout({name: (k,) for name, k in counts.items()})})


def _geometric(
    system: System, u: np.ndarray, linear: LinearPHDAE, small: SmallMotion
) -> tuple[Matrix, np.ndarray, Matrix, tuple[str, ...]]:
    """L, μ and N of K_g = (L − N) diag(μ) Lᵀ on the motions that the joints allow, and the names of the loads that cause N."""
    n = linear.split
    if not small.K_g.nnz:
        return zero_matrix(n, 0), np.zeros(0), zero_matrix(n, 0), ()
    # at rest a driven base moves the rest
    joints = linear.G if small.spin.any() else linear.G[np.diff(linear.B_lam.indptr) == 0]
    Z, free = free_motions(joints[:, :n], small.M.diagonal())
    K, size = csr(Z.T @ small.K_g @ Z), csr(abs(Z).T @ small.K_size @ abs(Z))
    unit = sp.diags_array(1.0 / np.sqrt(np.asarray(Z.multiply(small.M @ Z).sum(axis=0)).ravel()))
    skewed, both = abs(K - K.T), csr(size + size.T)
    scaled = skewed.multiply(skewed > CANCELLED * both)
    defect = largest(unit @ scaled @ unit) / max(largest(unit @ K @ unit), 1e-300)
    if (followers := nonconservative(system, u) + small.dampers) and (skewed > BALANCED * both).nnz:
        if len(free) > MAX_MOTIONS:
            raise InputError(
                f"{len(free)} free motions under loads that follow ({', '.join(followers)}) are too many (at most {MAX_MOTIONS}); "
                "reduce the bodies"
            )
        K = K.multiply(abs(K) > CANCELLED * size)
        mu, factor, N = _unsymmetric_factor(K.toarray(), (Z.T @ small.M @ Z).toarray())
    elif defect > SYMMETRIC:
        raise InputError(f"the stiffness of the loads is not symmetric (relative defect {defect:.1e}): no equilibrium")
    else:
        followers = ()
        factor, mu = signed_factor(csr(0.5 * (K + K.T)), CANCELLED * size, unit.diagonal() ** -2)
        N = zero_matrix(*factor.shape)
    onto = unit_columns(free, n)
    return csr(onto @ csr(factor)), mu, csr(onto @ csr(N)), followers


def _unsymmetric_factor(K: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """μ, W (motions, stresses) and N of K q = W diag(μ) Wᵀq − N σ with σ = diag(μ) Wᵀq, for a K that is not symmetric.

    The stresses span the row space of K with unit mass, so that positions without effect have none. Their energies μ are those of
    the symmetric part of K on this space, at least SMALLEST of the largest (any μ is correct: N is the difference).
    """
    root = la.cholesky(M, lower=True)
    unit = la.solve_triangular(root, la.solve_triangular(root, K, lower=True).T, lower=True).T
    _, size, V = la.svd(unit)
    V = V[size > ROUND_OFF * size.max(initial=0.0)].T
    reduced = V.T @ unit @ V
    mu, Y = la.eigh(0.5 * (reduced + reduced.T))
    smallest = SMALLEST * size.max(initial=0.0)
    mu = np.where(np.abs(mu) < smallest, np.where(mu < 0.0, -smallest, smallest), mu)
    V = V @ Y
    return mu, root @ V, root @ (V - unit @ V / mu)


def _field(system: System, state: State, name: str) -> Field:
    """The field of a body in its position and deformation, in inertial axes."""
    loose, pose, body = system.loose, state.pose(name), system.bodies[name]
    field = loose.fields[f"{name}.body"]
    shape, places, motion = body.shape, body.shape.places(), field.motion
    u = displacements(shape, places, pose.eta).reshape(-1, 3)
    if (second := second_displacement(shape, places)) is not None:
        eta_dot = loose.rows[f"{name}.eta_dot"]
        motion = (
            motion + csr(second @ pose.eta) @ sp.eye_array(motion.shape[1], format="csr")[eta_dot.start : eta_dot.stop]
        )
    if np.any(u) and body.rotates:
        axes = [i - 3 for i in body.active if i >= 3]
        arms = np.vstack([-skew(vector) for vector in u])[:, axes]  # ω × u
        omega = loose.rows[f"{name}.omega"]
        motion = motion + csr(arms) @ sp.eye_array(motion.shape[1], format="csr")[omega.start : omega.stop]
    rotation = sp.kron(sp.eye_array(len(field.points)), pose.A, format="csr")
    points = pose.r_P + (field.points + u) @ pose.A.T
    return replace(field, points=points, motion=csr(rotation @ motion), facets=facets_of(body), pose=pose)


def independent_joint_rows(G: Matrix, B_lam: Matrix, multipliers: Layout) -> np.ndarray:
    """The indices of independent joint rows; warns of the others, and raises JointError if they contradict the independent ones."""
    owners = np.repeat(list(multipliers), [w.stop - w.start for w in multipliers.slices.values()])
    driven = csr(weighted(B_lam, 1.0 / row_lengths(G)))
    keep, repeated = np.arange(G.shape[0]), 0
    involved: set[str] = set()
    while (mu := dependencies(csr(G[keep]))).shape[1]:  # a large system may show its dependencies in parts
        names = {str(name) for name in owners[keep[np.abs(mu).max(axis=1) > 1e-6]]}
        if largest(csr(mu).T @ driven[keep]) > 1e-9 * max(largest(driven), 1e-300):
            raise JointError(f"joints {quoted(names)} contradict each other: they prescribe one motion in two ways")
        keep, repeated, involved = np.delete(keep, dependent_rows(mu)), repeated + mu.shape[1], involved | names
    if repeated:
        warnings.warn(
            f"joints {quoted(involved)} repeat each other in {repeated} rows: the motion is right, but the multipliers not unique",
            RedundancyWarning,
            stacklevel=3,
        )
    return keep
