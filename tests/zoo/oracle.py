"""A second, dense and slow implementation of the time step, from energies and gaps only: the reference of the compiled step.

    s = hω̄/2,   Q = A₀(I + [s]),   A₁ = Q(I − [s])⁻¹,   r₁ = r₀ + hV̄,   η₁ = η₀ + hη̄̇,   w₁ = 2w̄ − w₀
    m ΔV/h = m g + Σ f,    Δp_ω/h = p̄_ω × ω̄ + Σ …,    Δp_η/h = ½ ∂_η(w₀ᵀM(η)w₁) − (∂ε/∂η)ᵀ(σ̄ + V ε̇) − R η̄̇ + Σ …
    σ₁ = σ₀ + C⁻¹(ε(η₁) − ε(η₀)),    rows · (V̄, ω̄, η̄̇) = given rate;   bars are means of end values

M(η), ε(η) and most gaps are quadratic, so their derivatives here are central differences with a step of one: exact. Velocities
and momenta have all three components of V and ω, also in a plane; there, equations out of the plane are left out.
"""

from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

import numpy as np

import phloat as ph
from phloat.algebra.cross import skew
from phloat.bodies.body import Body, Port
from phloat.joints.rows import FIRST, Row, row_rates

WHOLE = np.eye(3)


# --- bodies ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mover:
    """A body by its mass matrix M(η) about the mass centre, its strains ε(η), and port positions from the mass centre."""

    body: Body

    def schur(self, eta: np.ndarray) -> np.ndarray:
        """M about the mass centre, for (ω, η̇): the Schur complement of its block m I, which belongs to v_P."""
        M = self.body.inertia.at(eta).M
        return M[3:, 3:] - M[3:, :3] @ M[:3, 3:] / self.body.inertia.m

    def strain(self, eta: np.ndarray) -> np.ndarray:
        """ε = D η + ½ Q η η."""
        Q, out = self.body.elastic.Q, self.body.elastic.D @ eta
        np.add.at(out, Q.strain, 0.5 * Q.value * eta[Q.row] * eta[Q.column])
        return out

    @cached_property
    def mass_terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return quadratic(self.schur, self.body.coordinates)

    @cached_property
    def strain_terms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return quadratic(self.strain, self.body.coordinates)

    def momentum(self, eta: np.ndarray, w: np.ndarray) -> np.ndarray:
        """M(η) w for w = (ω, η̇)."""
        return value(self.mass_terms, eta) @ w

    def shift(self, eta: np.ndarray) -> np.ndarray:
        """The position of the mass centre in body axes."""
        return self.body.inertia.static_moment(eta)[0] / self.body.inertia.m

    def shift_slope(self, eta: np.ndarray) -> np.ndarray:
        """Its derivative by η."""
        return self.body.inertia.static_moment(eta)[1] / self.body.inertia.m

    def place(self, port: Port, eta: np.ndarray) -> np.ndarray:
        """The position of a port from the mass centre, in body axes."""
        at = port.at(eta)
        return at.x + at.Phi @ eta - self.shift(eta)


def quadratic(f, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f₀, f₁ and f₂ with f(η) = f₀ + f₁η + ½ f₂ηη, by differences; the last axes of f₁ and f₂ are those of η."""
    zero, e = f(np.zeros(n)), np.eye(n)
    plus, minus = [f(d) for d in e], [f(-d) for d in e]
    first = np.zeros((*zero.shape, n))
    second = np.zeros((*zero.shape, n, n))
    for k in range(n):
        first[..., k] = 0.5 * (plus[k] - minus[k])
        second[..., k, k] = plus[k] + minus[k] - 2 * zero
        for l in range(k):
            second[..., k, l] = second[..., l, k] = f(e[k] + e[l]) - plus[k] - plus[l] + zero
    return zero, first, second


def value(terms: tuple[np.ndarray, np.ndarray, np.ndarray], eta: np.ndarray) -> np.ndarray:
    """f(η) from the result of `quadratic`."""
    return terms[0] + (terms[1] + 0.5 * terms[2] @ eta) @ eta


def slope(terms: tuple[np.ndarray, np.ndarray, np.ndarray], eta: np.ndarray) -> np.ndarray:
    """∂f/∂η from the result of `quadratic`."""
    return terms[1] + terms[2] @ eta


@dataclass(eq=False)
class Pose:
    """A body at one time: mass centre r, orientation A, deformation η, velocities v = (V, ω, η̇) and stresses σ."""

    r: np.ndarray
    A: np.ndarray
    eta: np.ndarray
    v: np.ndarray
    sigma: np.ndarray


# --- rows ------------------------------------------------------------------------------------------------------------


def gradient(row: Row, A_0, A_1, B_0, B_1) -> np.ndarray:
    """The discrete gradient of a row, (1, 24): times (Δc_A, Δd_A, Δc_B, Δd_B) it is the exact difference of the gap."""
    if row.is_angle:
        p, q = Row("p", row.terms), Row("q", row.other_terms)
        (p_0, p_1), (q_0, q_1) = [[f.gap(*ports) for ports in ((A_0, B_0), (A_1, B_1))] for f in (p, q)]
        sine, cosine = p_1 * q_0 - q_1 * p_0, q_0 * q_1 + p_0 * p_1
        kappa = np.arctan2(sine, cosine) / sine if abs(sine) > 1e-12 else 1.0 / cosine
        of_p, of_q = gradient(p, A_0, A_1, B_0, B_1), gradient(q, A_0, A_1, B_0, B_1)
        return 0.5 * kappa * ((q_0 + q_1) * of_p - (p_0 + p_1) * of_q)
    if row.function == "length":
        d_0, d_1 = B_0.c - A_0.c, B_1.c - A_1.c
        along = (d_0 + d_1) / (np.linalg.norm(d_0) + np.linalg.norm(d_1))
        return np.concatenate([-along, np.zeros(9), along, np.zeros(9)])[None]
    return np.hstack(row_rates((row,), midway(A_0, A_1), midway(B_0, B_1)))


def section(psi: np.ndarray) -> np.ndarray:
    """The matrix I + [ψ] + ⅓ [ψ][ψ], quadratic in ψ, that turns the directions of a section by ψ."""
    return WHOLE + skew(psi) + skew(psi) @ skew(psi) / 3.0


def nearest_rotation(turned: np.ndarray) -> np.ndarray:
    """The rotation nearest to a matrix (polar decomposition)."""
    U, _, V = np.linalg.svd(turned)
    return U @ V


def midway(start, end) -> SimpleNamespace:
    """The mean of a port at two times, with (ċ, ḋ_1, ḋ_2, ḋ_3) as its twelve velocities: `row_rates` then returns gradients."""
    point, turn = np.eye(3, 12), np.array([np.eye(3, 12, k=3 + 3 * i) for i in range(3)])
    c, D = 0.5 * (start.c + end.c), 0.5 * (start.D + end.D)
    return SimpleNamespace(c=c, D=D, point=point, turn=turn, spin=np.zeros((3, 12)))


# --- the step --------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Oracle:
    """A system in a state; `step` advances it by h, with mean inputs u (of driven joints the mean rates)."""

    system: ph.System
    state: ph.State
    u: dict[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.movers = {name: Mover(body) for name, body in self.system.bodies.items()}
        self.poses = {name: self._pose(name, self.state) for name in self.movers}
        self.unknowns: list[tuple[str, int]] = [(n, int(k)) for n, b in self.system.bodies.items() for k in b.columns]
        velocities = [self.poses[name].v[k] for name, k in self.unknowns]
        self.last = np.concatenate([velocities, np.zeros(self.system.multipliers.size)])
        self.jacobian: np.ndarray | None = None

    def _pose(self, name: str, state: ph.State) -> Pose:
        at, mover = state.pose(name), self.movers[name]
        S, y = mover.shift_slope(at.eta), mover.shift(at.eta)
        V = at.A @ (at.v_P + np.cross(at.omega, y) + S @ at.rates)
        return Pose(at.r_P + at.A @ y, at.A, at.eta, np.concatenate([V, at.omega, at.rates]), at.sigma)

    def step(self, h: float, end: ph.State | None = None, lam: np.ndarray | None = None) -> np.ndarray:
        """Advances by h; returns the multipliers. `end` and `lam` are an initial guess of the end state and of the multipliers."""
        x, size = self.last if end is None else self.guess(end, lam), np.inf
        for _ in range(40):
            F = self.residual(x, h)
            if self.jacobian is None:
                self.jacobian = np.array([self.column(x, k, h) for k in range(len(x))]).T
            dx = np.linalg.solve(self.jacobian, F)
            x, before, size = x - dx, size, float(np.abs(dx / (1e-3 + np.abs(x))).max())
            if size < 1e-14 or (size < 1e-10 and size > 0.5 * before):
                break
            if size > 1e-6 or size > 0.3 * before:
                self.jacobian = None
        else:
            raise AssertionError(f"the oracle does not converge: {size:.1e}")
        self.last = x
        means, lam = self._split(x)
        self.poses = {name: self._end(name, v, h) for name, v in means.items()}
        return lam

    def guess(self, end: ph.State, lam: np.ndarray) -> np.ndarray:
        """The unknowns (mean velocities, λ) for an end state."""
        ends = {name: self._pose(name, end) for name in self.movers}
        return np.concatenate([[0.5 * (self.poses[n].v[k] + ends[n].v[k]) for n, k in self.unknowns], lam])

    def column(self, x: np.ndarray, k: int, h: float) -> np.ndarray:
        """The k-th column of the Jacobian, by central differences."""
        step = np.zeros(len(x))
        step[k] = 1e-5 * max(1.0, abs(x[k]))
        return (self.residual(x + step, h) - self.residual(x - step, h)) / (2 * step[k])

    def _split(self, x: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The mean velocities (V̄, ω̄, η̄̇) of each body, and λ."""
        means = {name: np.zeros(6 + body.coordinates) for name, body in self.system.bodies.items()}
        for (name, k), number in zip(self.unknowns, x, strict=False):
            means[name][k] = number
        return means, x[len(self.unknowns) :]

    def _end(self, name: str, mean: np.ndarray, h: float) -> Pose:
        """The pose of a body at the end of the step, for its mean velocities."""
        start, mover = self.poses[name], self.movers[name]
        S = skew(0.5 * h * mean[3:6])
        eta = start.eta + h * mean[6:]
        stress = mover.body.elastic.C_inverse @ (mover.strain(eta) - mover.strain(start.eta))
        A = start.A @ (WHOLE + S) @ np.linalg.inv(WHOLE - S)
        return Pose(start.r + h * mean[:3], A, eta, 2 * mean - start.v, start.sigma + stress)

    def residual(self, x: np.ndarray, h: float) -> np.ndarray:
        """The residuals of the momentum equations of all bodies, and of the rates of the closed rows."""
        means, lam = self._split(x)
        ends = {name: self._end(name, v, h) for name, v in means.items()}
        F = {name: self._momentum(name, means[name], ends[name], h) for name in means}
        held = Held(self, means, ends, h)
        rows, at = [], 0
        for c in self.system.joints.values():
            for row in c.rows:
                grad, _, _ = held.row(row, c.first, c.second)
                n = len(grad)
                held.push(F, grad, c.first, c.second, lam[at : at + n])
                rate = self.u[c.name] if row in c.driven else 0.0
                rows.append(held.rate(grad, c.first, c.second) - rate)
                at += n
        for e in self.system.elements.values():
            for row, law in zip(e.rows, e.laws, strict=True):
                grad, g_0, g_1 = held.row(row, e.first, e.second)
                effort = -law.stiffness * (0.5 * (g_0 + g_1) - law.rest) - law.damping * (g_1 - g_0) / h
                held.push(F, grad, e.first, e.second, effort)
        for name, effort in self.u.items():
            held.effort(F, name, np.atleast_1d(effort))
        return np.concatenate([[F[name][k] for name, k in self.unknowns], *rows])

    def _momentum(self, name: str, mean: np.ndarray, end: Pose, h: float) -> np.ndarray:
        """The residual of the momentum equations of one body, without forces of joints, elements and inputs."""
        start, mover, body = self.poses[name], self.movers[name], self.system.bodies[name]
        p_0, p_1 = mover.momentum(start.eta, start.v[3:]), mover.momentum(end.eta, end.v[3:])
        eta, m = 0.5 * (start.eta + end.eta), body.inertia.m
        out = np.concatenate([m * (end.v[:3] - start.v[:3]) / h - m * self.system.gravity, (p_1 - p_0) / h])
        out[3:6] -= np.cross(0.5 * (p_0 + p_1)[:3], mean[3:6])
        if body.coordinates:
            kinetic = np.einsum("i,ijk,j->k", start.v[3:], slope(mover.mass_terms, eta), end.v[3:])
            B = slope(mover.strain_terms, eta)
            elastic = B.T @ (0.5 * (start.sigma + end.sigma) + body.elastic.viscous @ (B @ mean[6:]))
            out[6:] += elastic + body.elastic.drag @ mean[6:] - 0.5 * kinetic
        return out

    def numbers(self) -> np.ndarray:
        """The state at the present time, in the order of `State.e`."""
        out = self.state
        for name, pose in self.poses.items():
            mover, body = self.movers[name], self.system.bodies[name]
            y, S = mover.shift(pose.eta), mover.shift_slope(pose.eta)
            v_P = pose.A.T @ pose.v[:3] - np.cross(pose.v[3:6], y) - S @ pose.v[6:]
            linear = [i for i in body.active if i < 3]
            values = {
                "r_P": (pose.r - pose.A @ y)[linear],
                "A_IB": pose.A,
                "theta": np.arctan2(pose.A[1, 0], pose.A[0, 0]),
                "eta": pose.eta,
                "v_P": v_P[linear],
                "omega": pose.v[[i for i in body.active if i >= 3]],
                "eta_dot": pose.v[6:],
                "sigma": pose.sigma,
            }
            there = {f"{name}.{key}": v for key, v in values.items() if f"{name}.{key}" in self.system.layout}
            out = out.with_values({k: np.reshape(v, self.system.layout.shape(k)) for k, v in there.items()})
        return out.e


@dataclass(eq=False)
class Held:
    """The ports in a step: their positions and triads at its start and end, and their mean velocities per (V̄, ω̄, η̄̇)."""

    oracle: Oracle
    means: dict[str, np.ndarray]
    ends: dict[str, Pose]
    h: float

    def __post_init__(self) -> None:
        self.known: dict[int, tuple] = {}

    def port(self, end, pose: Pose | None):
        """Position c and triad D of one end of a joint, in inertial axes; pose None: on the ground."""
        if pose is None:
            return SimpleNamespace(c=end.at, D=end.triad)
        port = self._port(end)
        c = pose.r + pose.A @ self.oracle.movers[end.body].place(port, pose.eta)
        return SimpleNamespace(c=c, D=pose.A @ section(port.Psi @ pose.eta) @ end.triad)

    def _port(self, end) -> Port:
        return end.port if isinstance(end.port, Port) else self.oracle.system.bodies[end.body].port(end.port)

    def both(self, end) -> tuple[SimpleNamespace, SimpleNamespace]:
        """The port at the start and at the end of the step."""
        return self._made(end)[:2]

    def velocity(self, end) -> np.ndarray:
        """The mean velocities of the port per (V̄, ω̄, η̄̇), (15, 6 + n)."""
        return self._made(end)[2]

    def _made(self, end) -> tuple:
        """The port at the start, at the end, and its mean velocities (None on the ground), computed once."""
        if id(end) not in self.known:
            there = [self.port(end, poses[end.body] if end.body else None) for poses in (self.oracle.poses, self.ends)]
            self.known[id(end)] = (*there, self._velocity(end, *there) if end.body else None, end)
        return self.known[id(end)]

    def row(self, row: Row, first, second) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The discrete gradient of a row, and its gap at the start and at the end; empty if it has no gap."""
        (A_0, A_1), (B_0, B_1) = self.both(first), self.both(second)
        if not row.has_gap:
            return np.zeros((0, 24)), np.zeros(0), np.zeros(0)
        return gradient(row, A_0, A_1, B_0, B_1), np.array([row.gap(A_0, B_0)]), np.array([row.gap(A_1, B_1)])

    def _velocity(self, end, before, after) -> np.ndarray:
        """(Δc, Δd_1, Δd_2, Δd_3)/h and Q(ω̄ + Ψη̄̇) per (V̄, ω̄, η̄̇), 15 × (6 + n)."""
        mover, port, start = self.oracle.movers[end.body], self._port(end), self.oracle.poses[end.body]
        Q = start.A @ (WHOLE + skew(0.5 * self.h * self.means[end.body][3:6]))
        rho = 0.5 * (before.c - start.r + after.c - self.ends[end.body].r)
        eta = 0.5 * (start.eta + self.ends[end.body].eta)
        Phi, psi = port.at(eta).Phi - mover.shift_slope(eta), port.Psi @ eta
        out = np.zeros((15, 6 + Phi.shape[1]))
        turning = np.array([0.5 * (section(psi + e) - section(psi - e)) for e in WHOLE])
        out[:3, :3], out[:3, 3:6], out[:3, 6:] = WHOLE, -skew(rho) @ Q, Q @ Phi
        for i, t in enumerate(end.triad.T):
            mean = 0.5 * (before.D[:, i] + after.D[:, i])
            out[3 + 3 * i : 6 + 3 * i, 3:6] = -skew(mean) @ Q
            out[3 + 3 * i : 6 + 3 * i, 6:] = Q @ (turning @ t).T @ port.Psi
        out[12:, 3:6], out[12:, 6:] = Q, Q @ port.Psi
        return out

    def rate(self, grad: np.ndarray, first, second) -> np.ndarray:
        """The mean rates of the gap: gradient times mean velocities of both ports."""
        parts = [
            part @ self.velocity(end)[:12] @ self.means[end.body]
            for end, part in ((first, grad[:, :12]), (second, grad[:, 12:]))
            if end.body
        ]
        return sum(parts, np.zeros(len(grad)))

    def push(self, F: dict[str, np.ndarray], grad: np.ndarray, first, second, lam: np.ndarray) -> None:
        """Subtracts the forces of λ on both bodies from their residuals F."""
        for end, part in ((first, grad[:, :12]), (second, grad[:, 12:])):
            if end.body:
                F[end.body] -= self.velocity(end)[:12].T @ (part.T @ lam)

    def effort(self, F: dict[str, np.ndarray], name: str, given: np.ndarray) -> None:
        """Subtracts an input from the residuals F: efforts along free axes of a joint, a force or torque, or a wrench at a port."""
        system = self.oracle.system
        if name in system.joints:
            c, at = system.joints[name], 0
            for row in c.free:
                if not row.has_gap:
                    before, after = self.both(c.first)
                    axis = 0.5 * (before.D + after.D)[:, row.terms[0][1] - FIRST]
                    for sign, end in ((-1.0, c.first), (1.0, c.second)):
                        if end.body:
                            F[end.body] -= sign * self.velocity(end)[12:].T @ axis * given[at]
                    at += 1
                    continue
                grad, _, _ = self.row(row, c.first, c.second)
                self.push(F, grad, c.first, c.second, given[at : at + len(grad)])
                at += len(grad)
            return
        if name in system.actuators:
            a = system.actuators[name]
            for vector, port in a.forces:
                size = np.linalg.norm(vector)
                along = size * self._following(a.body, port, vector / size) if a.axes == "body" else vector
                velocity = self.velocity(SimpleNamespace(body=a.body, port=port, triad=WHOLE, at=None))
                chosen = velocity[:3] if a.kind == "force" else velocity[12:]
                F[a.body] -= given[0] * chosen.T @ along
            return
        owner, _, port_name = name.rpartition(".")
        body, wrench = system.bodies[owner], np.zeros(6)
        wrench[list(body.active)] = given
        end = SimpleNamespace(body=owner, port=body.port(port_name), triad=WHOLE, at=None)
        velocity = self.velocity(end)
        turn = np.column_stack([self._following(owner, end.port, axis) for axis in WHOLE])
        F[owner] -= velocity[:3].T @ turn @ wrench[:3] + velocity[12:].T @ turn @ wrench[3:]

    def _following(self, body: str, port, along: np.ndarray) -> np.ndarray:
        """A direction that rotates with the section of a port: the mean at both ends of the step, of unit length."""
        poses = (self.oracle.poses[body], self.ends[body])
        mean = sum(0.5 * pose.A @ nearest_rotation(section(port.Psi @ pose.eta)) @ along for pose in poses)
        return mean / np.linalg.norm(mean)
