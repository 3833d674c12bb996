"""How long does a plate take from 10³, 10⁴ and 10⁵ states to thirty, and how much memory?"""

import numpy as np
from measure import answer, measured, peak_MB, row, seconds

NOTE = """
Reduction: a Mindlin plate clamped at one side, a force at a corner of the other; the first two rational Krylov moments at 50 1/s
and beside 200j, 400j and 600j (off the axis by a tenth) of the deflection there, projected; the error is that of the deflection
under the force up to 600 rad/s, at 12 frequencies. "made" is the time for the full system itself.
"""
SIDES = {"10³": 4, "10⁴": 12, "10⁵": 36}


def measure(side):
    import phloat as ph
    from phloat.linear.reduction.krylov import krylov_basis
    from phloat.linear.reduction.projection import project

    alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
    kept = []
    plate = ph.Plate.rectangle(
        1.0,
        1.0,
        thickness=0.01,
        material=alu,
        theory="mindlin",
        clamped="left",
        ports={"tip": (1.0, 1.0, 0.0)},
        damping=ph.Rayleigh(0.0, 1e-5),
    )
    made = seconds(lambda: kept.append(plate.discretise(side).linear()))
    system = kept[0]
    shifts = [50.0, *((0.1 + 1j) * np.array([200.0, 400.0, 600.0]))]
    basis = seconds(lambda: kept.append(krylov_basis(system, shifts, order=2, ports="tip[2]")))
    projected = seconds(lambda: kept.append(project(system, kept[1])))
    out = {
        "states": system.rows.size,
        "reduced": kept[2].rows.size,
        "made": made,
        "basis": basis,
        "projected": projected,
    }
    out["peak"] = peak_MB()
    omega = np.geomspace(10.0, 600.0, 12)
    H, H_r = (port_response(each, omega) for each in (system, kept[2]))
    out["error"] = float((np.abs(H - H_r) / np.abs(H)).max())
    return out


def port_response(system, omega):
    """The deflection's rate for a force there."""
    import phloat as ph

    return ph.response(system, "tip", omega=omega).values[:, 2, 2]


def rows(quick=False):
    found = []
    for name, side in list(SIDES.items())[: 1 if quick else 3]:
        one = measured("reduction.py", side=side)
        also = {"MB at most": one["peak"], "states": one["states"], "kept": one["reduced"], "error": one["error"]}
        found.append(row(f"plate of {name} states: Krylov basis", one["basis"], "s", also=also))
        found.append(row(f"plate of {name} states: projection", one["projected"], "s", also={"s, made": one["made"]}))
    return found


if __name__ == "__main__":
    answer(measure)
