"""Does a flexible four-bar decay as its active damping was designed to?

The motor of the mechanism at rest gets a spring that holds the crank, and the damping for which a flexible mode is to die away at a
wanted rate. A blow on the coupler then shows the rate in the nonlinear mechanism.
"""

import numpy as np

import phloat as ph

alu = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)
inner = ph.KelvinVoigt(1e-5)
thick, thin = ph.Section(A=1.0774172e-4, I=1.61541e-10), ph.Section(A=4.064508e-5, I=8.67410e-12)
links = {
    "crank": ph.Beam(length=0.10795, section=thick, material=alu, damping=inner),
    "coupler": ph.Beam(
        length=0.2794, section=thin, material=alu, damping=inner, masses={0.0: 0.041942966}, ports={"mid": 0.5}
    ),
    "follower": ph.Beam(length=0.27051, section=thin, material=alu, damping=inner, masses={0.0: 0.041942966}),
}
four_bar = ph.connect(
    {name: link.discretise(3) for name, link in links.items()},
    joints=[
        ph.Revolute("ground", "crank.P", name="motor"),
        ph.Revolute("crank.C", "coupler.P"),
        ph.Revolute("coupler.C", "follower.P"),
        ph.Revolute("follower.C", "ground", at=(0.254, 0.0, 0.0)),
        ph.Force("coupler.mid", along=(0, 1, 0), name="blow"),
    ],
    plane="xy",
)
angle = np.deg2rad(60.0)
start = ph.place(four_bar, {"crank.theta": angle}, near={"coupler.theta": 0.9, "follower.theta": -1.6})
plant = ph.eliminate(ph.linearise(four_bar, start).with_ports("motor", "blow"))

hold = ph.control.passive_pid("motor", stiffness=20.0, target=angle, origin=angle, name="hold")
held = ph.control.closed_loop(plant, hold)
wanted, omega = 2.0, ph.modes(held)[1]
gain = ph.control.damping_gain(held, "motor", decay=wanted, omega=omega)
damping = ph.control.damping_injection("motor", gain, name="damping")
proof = ph.control.passivity_certificate(ph.control.closed_loop(held, damping))

system = ph.control.closed_loop(four_bar, hold, damping)  # the controller as a spring and a damper: exact
blow = ph.piecewise({0.0: 0.0, 0.002: 0.2, 0.004: 0.0})
result = ph.simulate(system, start, 1.6, dt=2e-4, u={"blow": blow})
ledger = ph.energy_ledger(result)


def decay(t: np.ndarray, x: np.ndarray) -> float:
    """The rate at which the peaks of an oscillation die away."""
    peak = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:])) + 1
    return float(-np.polyfit(t[peak], np.log(x[peak]), 1)[0])


late = result.t > 0.6  # faster modes are gone
measured = decay(result.t[late], result.displacement("coupler", s=0.5)[late, 1])

if __name__ == "__main__":
    print(f"gain {damping.elements[0].damping:.4g} N m s; loop {proof}")
    print(f"the mode at {omega:.1f} rad/s was to decay by {wanted} 1/s, and decays by {measured:.4f} 1/s")
