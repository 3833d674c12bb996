"""How do the eigenfrequencies of a flexible four-bar depend on its crank angle? (Paper, 6.1 and Fig. 6.)

The crank is locked, the loop is closed for each angle, and the mechanism is linearised there.
"""

import numpy as np

import phloat as ph

alu = ph.Material(E=7.1016e10, rho=2714.4716, nu=0.33)
thick, thin = ph.Section(A=1.0774172e-4, I=1.61541e-10), ph.Section(A=4.064508e-5, I=8.67410e-12)
crank = ph.Beam(length=0.10795, section=thick, material=alu)
coupler = ph.Beam(length=0.2794, section=thin, material=alu, masses={0.0: 0.041942966})
follower = ph.Beam(length=0.27051, section=thin, material=alu, masses={0.0: 0.041942966})
LINKS = {"crank": crank, "coupler": coupler, "follower": follower}


def four_bar(elements: int, links: dict[str, ph.Beam] = LINKS) -> ph.System:
    """The mechanism with so many elements a link."""
    return ph.connect(
        {name: link.discretise(elements) for name, link in links.items()},
        joints=[
            ph.Revolute("ground", "crank.P", name="motor"),
            ph.Revolute("crank.C", "coupler.P"),
            ph.Revolute("coupler.C", "follower.P"),
            ph.Revolute("follower.C", "ground", at=(0.254, 0.0, 0.0)),
        ],
        plane="xy",
    )


def frequencies(system: ph.System, degrees: np.ndarray) -> np.ndarray:
    """The three lowest pulsations (rad/s) with the crank locked at each angle."""
    locked = ph.lock(system, "motor")
    state = {"coupler.theta": 0.9, "follower.theta": -1.6}  # absolute angles; a guess picks the branch
    omega = []
    for theta in np.deg2rad(degrees):
        state = ph.place(system, {"crank.theta": theta}, near=state)  # closes the loop
        omega.append(ph.modes(ph.linearise(locked, state))[:3])
    return np.array(omega)


degrees = np.linspace(0, 360, 51)
omega = frequencies(four_bar(3), degrees)

if __name__ == "__main__":
    for angle, row in zip(degrees, omega, strict=True):
        print(f"{angle:6.1f}°  " + "  ".join(f"{w:9.3f}" for w in row))
