"""The three codes: each runs a mechanism by some method with a number of equal steps, and says where the mass centres end."""

from dataclasses import dataclass
from functools import cached_property

import mechanisms
import mujoco
import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

import phloat as ph


@dataclass
class Pinocchio:
    """Pinocchio's articulated-body algorithm (C++) in a loop of the classical Runge–Kutta method (Python)."""

    mechanism: mechanisms.Mechanism
    methods = ("RK4",)

    def __post_init__(self):
        self.model = pin.buildModelFromXML(mechanisms.urdf(self.mechanism))
        self.model.gravity.linear = np.array(self.mechanism.gravity)
        self.data, self.tau = self.model.createData(), np.zeros(self.model.nv)
        # hinges without limits are cosine and sine in q; angles here, so that a step is an addition
        self.start = np.array(self.mechanism.angles), np.zeros(self.model.nv)

    @cached_property
    def order(self):
        return [self.model.getJointId(f"j{k}") for k in range(self.model.nv)]

    def configuration(self, angles):
        q = np.empty(2 * len(angles))
        q[::2], q[1::2] = np.cos(angles), np.sin(angles)
        return q

    def acceleration(self, angles, rates):
        return pin.aba(self.model, self.data, self.configuration(angles), rates, self.tau)

    def steps(self, method, state, h, count):
        """RK4 from a state (angles, rates)."""
        f, (q, v) = self.acceleration, state
        for _ in range(count):
            a1 = f(q, v)
            v2 = v + 0.5 * h * a1
            a2 = f(q + 0.5 * h * v, v2)
            v3 = v + 0.5 * h * a2
            a3 = f(q + 0.5 * h * v2, v3)
            v4 = v + h * a3
            a4 = f(q + h * v3, v4)
            q, v = q + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4), v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        return q, v

    def run(self, method, count):
        return self.steps(method, self.start, self.mechanism.t_end / count, count)

    def alone(self, count):
        """The calls of the algorithm of so many steps without the loop around them."""
        aba, model, data, (angles, v), tau = pin.aba, self.model, self.data, self.start, self.tau
        q = self.configuration(angles)
        for _ in range(4 * count):
            aba(model, data, q, v, tau)

    def places(self, state):
        pin.forwardKinematics(self.model, self.data, self.configuration(state[0]))
        return np.array([self.data.oMi[i].act(self.model.inertias[i].lever) for i in self.order])

    def energies(self, method, count, samples):
        out, state = [], self.start
        for _ in range(samples):
            out.append(self.energy(state))
            state = self.steps(method, state, self.mechanism.t_end / count, count // samples)
        return np.array([*out, self.energy(state)])

    def energy(self, state):
        return pin.computeMechanicalEnergy(self.model, self.data, self.configuration(state[0]), state[1])

    @cached_property
    def reference(self):
        """The mass centres at the end by an adaptive method of order 8, and the largest kinetic energy."""
        n = self.model.nv

        def rate(t, x):
            return np.concatenate([x[n:], self.acceleration(x[:n], x[n:])])

        span = (0.0, self.mechanism.t_end)
        out = solve_ivp(rate, span, np.concatenate(self.start), "DOP853", rtol=1e-13, atol=1e-14)
        kinetic = [
            pin.computeKineticEnergy(self.model, self.data, self.configuration(x[:n]), x[n:]) for x in out.y.T[::8]
        ]
        return self.places((out.y[:n, -1], out.y[n:, -1])), max(kinetic)


@dataclass
class MuJoCo:
    """MuJoCo without contacts, many steps a call, so that its loop is in C."""

    mechanism: mechanisms.Mechanism
    methods = ("Euler", "implicitfast", "implicit", "RK4")

    def __post_init__(self):
        self.model = mujoco.MjModel.from_xml_string(mechanisms.urdf(self.mechanism))
        self.model.opt.gravity[:] = self.mechanism.gravity
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.data = mujoco.MjData(self.model)

    def prepare(self, method, count):
        self.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{method.upper()}")
        self.model.opt.timestep = self.mechanism.t_end / count
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.mechanism.angles

    def run(self, method, count):
        self.prepare(method, count)
        mujoco.mj_step(self.model, self.data, nstep=count)

    def places(self, _):
        mujoco.mj_forward(self.model, self.data)
        return self.data.xipos[-len(self.mechanism.links) :].copy()

    def energies(self, method, count, samples):
        judge, out = Pinocchio(self.mechanism), []
        self.prepare(method, count)
        for k in range(samples + 1):
            if k:
                mujoco.mj_step(self.model, self.data, nstep=count // samples)
            out.append(judge.energy((self.data.qpos, self.data.qvel)))
        return np.array(out)


SCHEMES = {
    "Midpoint": ph.Midpoint(),
    "Composition4": ph.Composition4(),
}


@dataclass
class Phloat:
    """phloat; a run is `simulate` with its start, and only the last state is kept."""

    mechanism: mechanisms.Mechanism
    methods = tuple(SCHEMES)

    def __post_init__(self):
        self.system, self.state = mechanisms.system_of(self.mechanism)

    def run(self, method, count, every=None):
        t, scheme = self.mechanism.t_end, SCHEMES[method]
        return ph.simulate(
            self.system, self.state, t, dt=t / count, scheme=scheme, output=every or count, progress=False
        )

    def places(self, result):
        return mechanisms.centers(self.mechanism, result)

    def energies(self, method, count, samples):
        return self.run(method, count, count // samples).energy


CODES = {"phloat": Phloat, "MuJoCo": MuJoCo, "Pinocchio": Pinocchio}
