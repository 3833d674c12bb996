"""A flyball governor: a shaft that turns freely, two arms with balls, two links and a collar on a spring and a damper."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import phloat as ph
from verification.case import Case, Row, compared
from verification.estimates import halved

G, L = 9.81, 1.0
BALL, ROD, COLLAR, SHAFT, SPIN = 5.0, 0.6, 2.0, 0.5, 0.2  # kg, kg, kg, kg m², kg m² of the collar
STIFFNESS, DAMPING, RELAXED = 400.0, 8.0, 1.5  # of the spring between the top of the shaft and the collar
BEGIN, RATE = np.pi / 6, 2 * np.pi  # lean of the arms, rate of the shaft
TIMES = (0.5, 2.0)


def run(fine: bool) -> list[Row]:
    system = _mechanism()
    n = 1600 if fine else 800
    found = _found(system, n)
    allowed = halved(_found(system, n // 2), found, 1e-9)
    exact = _exact()
    return [
        *compared([f"collar below the top at {t:g} s" for t in TIMES], exact[0], found[0], allowed[0], "m"),
        *compared([f"shaft has turned by at {t:g} s" for t in TIMES], exact[1], found[1], allowed[1], "rad"),
    ]


def _thin(mass: float, along: np.ndarray, ball: float = 0.0) -> ph.Body:
    """A thin rod, with a ball at its far end; axes of the world at the start."""
    total = mass + ball
    center = (mass / 2 + ball) / total * along
    squared = float(along @ along)
    across = np.eye(3) * squared - (1 - 1e-9) * np.outer(along, along)
    about = (mass / 3 + ball) * across - total * (np.eye(3) * (center @ center) - np.outer(center, center))
    return ph.RigidBody(total, about, center=center.tolist(), ports={"C": along.tolist()}).discretise()


def _mechanism() -> ph.System:
    s, c = L * np.sin(BEGIN), L * np.cos(BEGIN)
    bodies = {
        "shaft": ph.RigidBody(1.0, np.diag([1.0, SHAFT, 1.0])).discretise(),
        "collar": ph.RigidBody(COLLAR, np.diag([1.0, SPIN, 1.0])).discretise(),
    }
    joints: list[Any] = [
        ph.Revolute("ground", "shaft.P", axis=(0, 1, 0), name="bearing"),
        ph.Prismatic("shaft.P", "collar.P", axis=(0, 1, 0), name="guide"),
        ph.Spring("shaft.P", "collar.P", stiffness=STIFFNESS, length=RELAXED),
        ph.Damper("shaft.P", "collar.P", damping=DAMPING),
    ]
    for side, name in ((1.0, "right"), (-1.0, "left")):
        bodies[f"{name} arm"] = _thin(ROD, np.array([side * s, -c, 0.0]), BALL)
        bodies[f"{name} link"] = _thin(ROD, np.array([-side * s, -c, 0.0]))
        joints += [
            ph.Revolute("shaft.P", f"{name} arm.P"),
            ph.Revolute(f"{name} arm.C", f"{name} link.P"),
            ph.Revolute("collar.P", f"{name} link.C"),
        ]
    return ph.connect(bodies, joints, gravity=(0, -G, 0))


def _found(system: ph.System, steps: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.RedundancyWarning)
        state = ph.place(system, {"collar.r_P": (0.0, -2 * L * np.cos(BEGIN), 0.0)})
        state = ph.set_moving(system, state, {"shaft.omega": (0.0, RATE, 0.0), "guide.slide_rate": 0.0})
        result = ph.simulate(system, state, TIMES[-1], dt=TIMES[-1] / steps)
    k = [int(np.abs(result.t - t).argmin()) for t in TIMES]
    return np.stack([-result["collar.r_P"][k, 1], result["bearing.angle"][k]])


def _exact() -> np.ndarray:
    """With the lean α: ½ m(α) α̇² + ½ J(α) φ̇², J φ̇ constant, z = 2 L cos α the length of the spring."""

    def parts(a: float) -> tuple[float, float, float, float]:
        s, c = np.sin(a), np.cos(a)
        arm = ROD / 3 + BALL
        link = ((c**2 + s**2) + 4 * s**2 + 2 * s**2) / 3  # (v_b² + v_c² + v_b · v_c)/3
        m = L**2 * (2 * arm + 2 * ROD * link + COLLAR * 4 * s**2)
        dm = L**2 * (2 * ROD * 12 * s * c / 3 + COLLAR * 8 * s * c)
        J = SHAFT + SPIN + 2 * L**2 * s**2 * (arm + ROD / 3)
        dJ = 4 * L**2 * s * c * (arm + ROD / 3)
        return m, dm, J, dJ

    momentum = parts(BEGIN)[2] * RATE

    def rates(_: float, y: np.ndarray) -> list[float]:
        a, da, _phi = y
        m, dm, J, dJ = parts(a)
        z, dz = 2 * L * np.cos(a), -2 * L * np.sin(a)
        # heights: arms −½ L cos α, balls −L cos α, links −3/2 L cos α, collar −2 L cos α
        weight = G * L * np.sin(a) * (2 * (ROD / 2 + BALL) + 2 * ROD * 1.5 + COLLAR * 2)
        force = -weight - (STIFFNESS * (z - RELAXED) + DAMPING * dz * da) * dz + 0.5 * dJ * (momentum / J) ** 2
        return [da, (force - 0.5 * dm * da**2) / m, momentum / J]

    y = solve_ivp(rates, (0, TIMES[-1]), [BEGIN, 0.0, 0.0], "DOP853", t_eval=TIMES, rtol=1e-12, atol=1e-12).y
    return np.stack([2 * L * np.cos(y[0]), y[2]])


CASE = Case(
    "governor",
    "A flyball governor set off at one turn a second swings into its working position (after IFToMM benchmark A05).",
    "Lagrange's equations of lean and turn, DOP853 at 1e-12; IFToMM library, flyball governor, with softer spring",
    "twice the error foretold by doubling the step, at order 2",
    run,
)
