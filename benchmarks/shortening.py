"""What do reduced beams gain whose shortening follows their bending, beside companions as coordinates? Errors and times."""

import sys

import numpy as np
from measure import EXAMPLES, answer, fastest, measured, row

import phloat as ph

sys.path.insert(0, EXAMPLES)
NOTE = """
Shortening: beams reduced to 2 or 4 bending modes with `shortening="slaved", axial=0`, beside companions as coordinates. Errors are
those of the largest lag of the spin-up beam (against the exact rod, 0.573829 m), of the largest u_y/L of the crank-slider (against
the unreduced rod) and of the flap frequencies of a blade at γ = 1, 2, 4 and 8. The chains are of four links with 8 elements each.
"""
LAG = 0.573829  # of the spin-up beam, 4 and 8 pieces
FLAP = {1: (3.681647, 22.181011), 2: (4.137320, 22.614922), 4: (5.585001, 24.273349), 8: (9.256838, 29.995382)}
LINK = ph.Beam(1.0, ph.Section(A=1e-3, I=1e-7, J=2e-7), ph.Material(E=7e10, rho=2700.0, nu=0.3))


def reduced(body, modes, slaved):
    return body.reduced(modes=modes, axial=0, shortening="slaved") if slaved else body.reduced(modes=modes)


def of_spin_up(modes, slaved):
    import spin_up as example

    result = example.motion(reduced(example.beam.discretise(16), modes, slaved))
    x, y = result.position("beam", 1.0).T
    psi = np.array([example.psi(t) for t in result.t])
    return float(abs(-(np.cos(psi) * y - np.sin(psi) * x).min() / LAG - 1))


def of_crank_slider(modes, slaved):
    import crank_slider as example

    exact = example.bending(example.stiffened).max()
    result = example.motion(reduced(example.rod.discretise(8), modes, slaved))
    return float(abs(example.bending(result).max() / exact - 1))


def of_blade(modes, slaved):
    blade = ph.Beam(10.0, ph.Section(A=1.0, I=5e-4, J=1e-3), ph.Material(E=2.8e7, rho=1.2, nu=0.3)).discretise(10)
    hub = [ph.Drive("ground", "blade.P", of="pose", name="hub")]
    rotor, unit = ph.connect({"blade": reduced(blade, modes, slaved)}, hub), np.sqrt(1.4e4 / (1.2 * 10.0**4))
    omega = ph.campbell(rotor, np.array(list(FLAP)) * unit, axis=(0, 0, 1), count=4).omega / unit
    return float(np.abs(omega[:, [1, 3]] / np.array(list(FLAP.values())) - 1).max())


def of_chain(plane, modes, slaved, steps=2000):
    """µs a step."""
    links = {f"b{i}": reduced(LINK.discretise(8), modes, slaved) for i in range(4)}
    joints = [ph.Revolute("ground", "b0.P"), *(ph.Revolute(f"b{i}.C", f"b{i + 1}.P") for i in range(3))]
    chain = ph.connect(links, joints, gravity=(0, -9.81, 0), plane=plane)
    state = ph.place(chain)
    return 1e6 / steps * fastest(lambda: ph.simulate(chain, state, steps * 1e-3, dt=1e-3, output=steps), times=7)


MEASURED = {
    "spin-up beam, error of the lag": (of_spin_up, ""),
    "crank-slider, error of u_y": (of_crank_slider, ""),
    "blade, error of the flap frequencies": (of_blade, ""),
    "four links in a plane, a step": (lambda *case: of_chain("xy", *case), "µs"),
    "four links in space, a step": (lambda *case: of_chain(None, *case), "µs"),
}


def measure(what, modes):
    return [MEASURED[what][0](modes, slaved) for slaved in (True, False)]


def rows(quick=False):
    found = []
    for what, (_, unit) in list(MEASURED.items())[2:3] if quick else MEASURED.items():
        for modes in (2,) if quick else (2, 4):
            slaved, companions = measured("shortening.py", what=what, modes=modes)
            found.append(row(f"{what}, {modes} modes, slaved", slaved, unit, companions, "companions"))
    return found


if __name__ == "__main__":
    answer(measure)
