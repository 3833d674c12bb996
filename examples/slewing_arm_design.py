"""Which taper and which gains let a flexible arm stop without ringing, with no more mass than an even one?

A torque kp (reference − angle) and a damper turn it by 1 rad. What is left of its motion from 1 s to 1.5 s is made least over the
heights of root and tip and both gains, with gradients of the run; COBYLA, which asks for runs only, is set beside it.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

import phloat as ph

jax.config.update("jax_enable_x64", True)


@dataclass(frozen=True)
class Taper:
    root: float
    tip: float

    def __call__(self, s: float) -> ph.Section:
        return ph.Rectangle(0.02, self.root + (self.tip - self.root) * s)


arm = ph.Beam(1.0, Taper(6e-3, 6e-3), ph.Material(E=70e9, rho=2700.0, nu=0.33), masses={1.0: 0.2}).discretise(4)
joints = [ph.Revolute("ground", "arm.P", name="shoulder"), ph.JointDamper("shoulder", damping=2.0, name="damper")]
system = ph.connect({"arm": arm}, joints, plane="xy")
even, damper, kp = {"arm.section.root": 6e-3, "arm.section.tip": 6e-3}, {"damper.damping": 2.0}, {"kp": 10.0}
bounds = {"damper.damping": (0.5, 20.0), "kp": (2.0, 60.0)}


def torque(gains, now):
    x = jnp.clip(now.t / 0.6, 0.0, 1.0)
    return {"shoulder": gains["kp"] * (x**3 * (10 - 15 * x + 6 * x**2) - now.theta("arm"))}


def residual(motion):
    left = (motion.theta("arm") - 1.0) ** 2 + motion.displacement("tip")[:, 1] ** 2  # the arm is 1 m long
    return 1e6 * jnp.mean(left, where=motion.t > 1.0 - 1e-9)  # mrad²


given = {"output": residual, "u": {"shoulder": 0.0}, "watch": {"tip": ("arm", 1.0)}, "feedback": torque}
problem = ph.twin.Problem(system, ph.place(system), t_end=1.5, dt=5e-3, **given)
tuned = ph.twin.optimise(problem, damper, gains=kp, bounds=bounds)  # gains alone, for the even arm
spare = [lambda v: 1e3 * (12e-3 - v["arm.section.root"] - v["arm.section.tip"])]  # no more mass than the even arm
task = {"gains": kp, "bounds": bounds | dict.fromkeys(even, (2e-3, 12e-3)), "constraints": spare}
design = ph.twin.optimise(problem, even | damper, **task)
slow = ph.twin.optimise(problem, even | damper, **task, gradients=False, until=1.1 * design.number, most=400)

if __name__ == "__main__":
    import matplotlib.pyplot as plt

    print("gains alone:", tuned, "gains and taper:", design, "without gradients:", slow, sep="\n")
    for values, gains in ((damper, kp), (tuned.values, tuned.gains), (design.values, design.gains)):
        motion = ph.twin.simulate(problem.model(values), feedback=torque, gains=gains)
        plt.semilogy(motion.t, 1e3 * abs(motion.theta("arm") - 1.0 + motion.displacement("tip")[:, 1]))
    plt.gca().set(xlabel="t in s", ylabel="tip from its target in mrad", ylim=(1e-3, 2e3))
    plt.legend(["before", "gains alone", "gains and taper"])
    plt.savefig("slewing_arm_design.png")
