"""Writes the benchmark systems of this folder: matrices, names, units, poles and reference responses. See README.md.

python benchmarks/phdae/make.py            # writes all files again
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import phloat as ph

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
UNITS = {True: ("N", "m/s"), False: ("N m", "rad/s")}  # of the effort and the flow, along a length or about an axis

# the system, the bodies whose rows have units by node, {port: (unit of the input, of the output)}, frequencies of the response
Benchmark: TypeAlias = tuple[ph.LinearPHDAE, Mapping[str, ph.Body], dict[str, tuple[str, str]], np.ndarray]


def four_bar() -> Benchmark:
    """The four-bar mechanism of 6.1 at a crank angle of 30°, three elements a link; torque at the crank."""
    import four_bar as example

    system = example.four_bar(3)
    state = ph.place(system, {"crank.theta": np.pi / 6}, near={"coupler.theta": 0.9, "follower.theta": -1.6})
    linear = ph.linearise(system, state).with_ports("motor")
    return linear, system.bodies, {"motor": UNITS[False]}, np.geomspace(10.0, 3000.0, 200)


def crank_slider() -> Benchmark:
    """The crank-slider of 6.2 at rest at a crank angle of 60°, with a rigid crank; torque at the crank, force on the slider."""
    import crank_slider as example

    mass = 7870.0 * np.pi * 3e-3**2 * example.radius  # a crank of the section of the rod
    inertia = mass * example.radius**2 / 12 * np.diag([1e-3, 1.0, 1.0])
    crank = ph.RigidBody(mass, inertia, center=(example.radius / 2, 0, 0), ports={"pin": (example.radius, 0, 0)})
    bodies = {
        "crank": crank.discretise(),
        "rod": example.rod.discretise(4),
        "slider": ph.PointMass(0.03337785).discretise(),
    }
    joints = [
        ph.Revolute("ground", "crank.P", name="motor"),
        ph.Revolute("crank.pin", "rod.P", name="crank pin"),
        ph.Revolute("rod.C", "slider.P", name="wrist pin"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0), name="guide"),
    ]
    system = ph.connect(bodies, joints, plane="xy")
    state = ph.place(system, {"crank.theta": np.pi / 3}, near={"rod.theta": -0.4})
    linear = ph.linearise(system, state).with_ports("motor", "guide")
    return linear, system.bodies, {"motor": UNITS[False], "guide": UNITS[True]}, np.geomspace(10.0, 1e4, 200)


def plate_with_rod() -> Benchmark:
    """The plate with a rigid rod of the slides, 8 × 8 mixed (HHJ) elements; a factor of the pressure, and the load on the rod."""
    import plate_with_rod as example

    linear = example.welded(example.plate("hhj", 8))
    ports = {"push": ("1", "W"), "rod.P[0]": UNITS[True], "rod.P[1]": UNITS[False]}
    return linear.with_ports("push", "rod.P"), {}, ports, np.geomspace(10.0, 5000.0, 200)


def two_link_arm() -> Benchmark:
    """A planar arm of two damped links, eight elements each, bent at the elbow by −0.2 rad; torques at shoulder and elbow."""
    alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.002), alu, damping=ph.KelvinVoigt(2e-5)).discretise(8)
    hinges = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    arm = ph.connect({"upper": link, "lower": link}, hinges, plane="xy")
    linear = ph.linearise(arm, ph.place(arm, {"shoulder.angle": 0.5, "elbow.angle": -0.2}))
    ports = {"shoulder": UNITS[False], "elbow": UNITS[False]}
    return linear.with_ports("shoulder", "elbow"), arm.bodies, ports, np.geomspace(1.0, 5000.0, 200)


SYSTEMS = {f.__name__: f for f in (four_bar, crank_slider, plate_with_rod, two_link_arm)}


def row_units(linear: ph.LinearPHDAE, bodies: Mapping[str, ph.Body]) -> list[str]:
    """The unit of every row: of nodal velocities by what moves the body at its nodes, of stresses by their resultants."""
    units: list[str] = []
    for name, shape in linear.rows.shapes.items():
        body, _, quantity = name.rpartition(".")
        size = int(np.prod(shape))
        if quantity in ("v_P", "omega"):
            units += size * ["m/s" if quantity == "v_P" else "rad/s"]
        elif body in bodies and quantity == "eta_dot":
            recipe = bodies[body].shape
            moves = abs(recipe.displacement(recipe.places())).max(axis=0).toarray()
            units += ["m/s" if np.isclose(value, 1.0) else "rad/s" for value in np.ravel(moves)]
        elif body in bodies:
            stresses = bodies[body].elastic.stresses
            units += [
                "N" if field == "N" else "N m" for field in stresses for _ in range(np.prod(stresses.shapes[field]))
            ]
        else:
            units += size * ["m/s" if quantity == "v" else "N"]  # of a plate: nodal w, bending moments per length
    return units


def write(name: str) -> None:
    linear, bodies, ports, omega = SYSTEMS[name]()
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    ph.io.to_matlab(linear, folder / f"{name}.mat")
    matrices = standard(linear)
    for letter, matrix in matrices.items():
        scipy.io.mmwrite(
            folder / f"{letter}.mtx", matrix.tocoo(), comment=f" {letter} of {name}", precision=17, symmetry="general"
        )
    blocks = [[row, list(shape)] for row, shape in linear.rows.shapes.items()]
    blocks += [[f"{joint}.lam", list(shape)] for joint, shape in linear.multipliers.shapes.items()]
    listed = {
        "about": (SYSTEMS[name].__doc__ or "").strip(),
        "rows": {"blocks": blocks, "velocities": linear.split, "units": row_units(linear, bodies)},
        "ports": [{"name": port, "input": units[0], "output": units[1]} for port, units in ports.items()],
    }
    (folder / "names.json").write_text(json.dumps(listed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    G = response(matrices, 1j * omega)
    pairs = [(i, j) for i in range(G.shape[1]) for j in range(G.shape[2])]
    header = ",".join(["omega_rad_s", *(f"{part}_G{i + 1}{j + 1}" for i, j in pairs for part in ("re", "im"))])
    columns = [omega, *(part for i, j in pairs for part in (G[:, i, j].real, G[:, i, j].imag))]
    np.savetxt(folder / "response.csv", np.column_stack(columns), delimiter=",", header=header, comments="")
    lowest = ph.poles(linear)[:24] if linear.rows.size < 1000 else 1j * ph.modes(linear, 24).omega
    np.savetxt(
        folder / "poles.csv", np.column_stack([lowest.real, lowest.imag]), delimiter=",", header="re,im", comments=""
    )
    print(
        f"{name}: {matrices['E'].shape[0]} states, {linear.multipliers.size} of them multipliers, {linear.ports.size} inputs"
    )


def standard(linear: ph.LinearPHDAE) -> dict[str, sp.csr_array]:
    """E, J, R, B of E ẋ = (J − R) x + B u, y = Bᵀx with x = (e, λ); E and R symmetric and J skew to the last bit."""
    m = linear.multipliers.size
    zero = sp.csr_array((m, m))
    return {
        "E": sp.block_diag([(linear.E + linear.E.T) / 2, zero], format="csr"),
        "J": sp.block_array([[(linear.J - linear.J.T) / 2, linear.G.T], [-linear.G, zero]], format="csr"),
        "R": sp.block_diag([(linear.R + linear.R.T) / 2, zero], format="csr"),
        "B": sp.vstack([linear.B, linear.B_lam], format="csr"),
    }


def response(matrices: dict[str, sp.csr_array], points: np.ndarray) -> np.ndarray:
    """Bᵀ (sE − J + R)⁻¹ B at complex points, (points, outputs, inputs)."""
    E, J, R, B = (matrices[letter].tocsc() for letter in "EJRB")
    return np.array(
        [B.T @ sla.splu((s * E - J + R).astype(complex)).solve(B.toarray().astype(complex)) for s in points]
    )


def main() -> None:
    sys.path.insert(0, str(EXAMPLES))
    for name in SYSTEMS:
        write(name)


if __name__ == "__main__":
    main()
