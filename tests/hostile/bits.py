"""What phloat computes, as a hash of every bit of it: one line of JSON {case: hash} for a test that compares processes.

python bits.py FOLDER CASE …
"""

import hashlib
import json
import re
import sys
from pathlib import Path

import numpy as np

import phloat as ph

steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
Bits = list[np.ndarray | bytes | str]


def link(elements: int = 3) -> ph.Body:
    return ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel, damping=ph.KelvinVoigt(1e-5)).discretise(elements)


def arm(plane: str | None = "xy") -> ph.System:
    hinges = [ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")]
    more = [ph.JointSpring("elbow", stiffness=2.0, name="spring"), ph.JointDamper("elbow", damping=0.05, name="damper")]
    return ph.connect({"a": link(), "b": link()}, [*hinges, *more], gravity=(0, -9.81, 0), plane=plane)


def satellite(cells: int) -> ph.System:
    """A hub with a plate and a solid, both on meshes, reduced by Craig and Bampton's way."""
    hub = ph.RigidBody(5.0, np.diag([0.2, 0.3, 0.4]), ports={"left": (-0.1, 0, 0), "right": (0.1, 0, 0)}).discretise()
    root = {"material": steel, "frame": "left", "ports": {"root": "left"}}
    panel = ph.Plate.rectangle(0.6, 0.2, thickness=0.004, **root).discretise((3 * cells, cells)).reduced(modes=3)
    box = ph.Solid.box(0.3, 0.05, 0.02, **root).discretise((3 * cells, cells, cells)).reduced(modes=3)
    joints = [ph.Weld("hub.right", "panel.root"), ph.Revolute("hub.left", "box.root", axis=(0, 1, 0), name="hinge")]
    return ph.connect({"hub": hub, "panel": panel, "box": box}, joints)


def moved(system: ph.System, start: dict, **task) -> ph.Result:
    return ph.simulate(system, ph.set_moving(system, ph.place(system), start), 0.05, dt=1e-3, **task)


def of_result(result: ph.Result) -> Bits:
    books = result.accounts
    return [
        result.t,
        result.e,
        result.lam,
        *((books.bodies, books.losses, books.works, books.springs) if books else ()),
    ]


def twist(t: float) -> float:
    return 0.5 * np.sin(30 * t)


# --- the cases -------------------------------------------------------------------------------------------------------


def plane(_: Path) -> Bits:
    result = moved(arm(), {"a.omega": 1.0}, u={"elbow": twist})
    return [*of_result(result), ph.energy_ledger(result).residual, result.stress("a", s=0.0)["M_z"]]


def space(_: Path) -> Bits:
    return of_result(moved(arm(None), {"shoulder.angle_rate": 1.0, "elbow.angle_rate": 2.0}))


def meshes(_: Path, cells: int = 2) -> Bits:
    system = satellite(cells)
    result = moved(system, {"hub.omega": (0.2, 0.3, 1.0)})
    return [*of_result(result), result.von_mises("panel")[0]]


def many_cells(_: Path) -> Bits:
    return meshes(_, 6)


def schemes(_: Path) -> Bits:
    out: Bits = []
    for scheme in (ph.Midpoint(rtol=1e-4), ph.RadauIIA(), ph.GeneralisedAlpha()):
        out += of_result(moved(arm(), {"a.omega": 1.0}, scheme=scheme))
    return out


def linear(_: Path) -> Bits:
    """Modes, elimination, reduction by several ways, transfer functions."""
    system = arm()
    plant = ph.linearise(system, ph.equilibrium(system, ph.place(system, {"a.theta": -1.5, "b.theta": -1.5})))
    free = ph.eliminate(plant.with_ports("shoulder", "elbow"))
    modes, omega = ph.modes(plant), np.geomspace(1.0, 1e3, 40)
    small = ph.reduction.reduce_to_tolerance(free, tolerance=1e-3, band=(1.0, 500.0))
    out: Bits = [modes.omega, modes.poles, modes.shape(2, "a"), small.E.toarray(), small.J.toarray(), small.R.toarray()]
    return [*out, *(ph.response(x, "shoulder", "elbow", omega=omega).values for x in (free, small))]


def linear_meshes(_: Path, cells: int = 6) -> Bits:
    """A plant of plates and solids: settled, linearised, reduced by all ways, controlled."""
    system = satellite(cells)
    hinged = ph.linearise(system, ph.settle(system, ph.place(system))).with_ports("hinge")
    plant = ph.eliminate(hinged)
    bases = [
        ph.reduction.krylov_basis(plant, shifts=[1.0, 100.0]),
        ph.reduction.modal_basis(plant, count=8),
        ph.reduction.balanced_basis(plant, order=10, decay=1.0),
    ]
    out: Bits = [ph.modes(plant).omega, ph.zeros(plant, "hinge")]
    for small in (ph.reduction.project(plant, basis) for basis in bases):
        out += [small.E.toarray(), small.J.toarray()]
    return out


def sparse_modes(_: Path, cells: int = 6) -> Bits:
    """Of a plate and of a solid, by ARPACK on sparse factors."""
    plate = ph.Plate.rectangle(1.0, 0.7, thickness=0.01, material=steel, clamped="left").discretise(cells)
    solid = ph.Solid.box(0.3, 0.05, 0.02, material=steel, clamped="left").discretise(
        (3 * cells, cells // 2, cells // 3)
    )
    found = [ph.modes(body.linear(), count=8) for body in (plate, solid)]
    return [x for modes in found for x in (modes.omega, modes.vectors)]


def many_modes(_: Path) -> Bits:
    return sparse_modes(_, 15)


def page(folder: Path) -> Bits:
    result = moved(arm(), {"a.omega": 1.0}, u={"elbow": twist})
    ph.to_html(result, folder / "page.html", u={"elbow": twist})
    ph.io.save_model(result.system, folder / "arm.json")
    return [(folder / "page.html").read_bytes(), (folder / "arm.json").read_bytes()]


def folder(where: Path) -> Bits:
    """Every byte of a saved run but the time of day."""
    moved(arm(), {"a.omega": 1.0}, u={"elbow": twist}, save=where / "run")
    out: Bits = []
    for file in sorted((where / "run").iterdir()):
        dated = file.suffix == ".npz"  # an archive has the time of every member
        data = unpacked(file) if dated else re.sub(rb'"written": "[^"]*"', b"", file.read_bytes())
        out += [file.name, data]
    return out


def unpacked(file: Path) -> bytes:
    with np.load(file, allow_pickle=False) as archive:
        return b"".join(name.encode() + archive[name].tobytes() for name in archive.files)


def ensemble(where: Path, workers: int = 1) -> Bits:
    varied = {"a.material.E": ph.random.normal(2.1e11, 1e10), "spring.stiffness": ph.random.uniform(1.0, 3.0)}
    many = ph.ensemble(arm(), varied, 6, t_end=0.02, dt=1e-3, output=ended, workers=workers, save=where / "many")
    return [*many.parameters.values(), *many.outputs.values()]


def two_workers(where: Path) -> Bits:
    return ensemble(where, 2)


def ended(result: ph.Result) -> dict:
    return {"e": result.e[-1], "work": result.accounts.works[-1]}


CASES = {
    f.__name__: f
    for f in (
        plane,
        space,
        meshes,
        many_cells,
        schemes,
        linear,
        linear_meshes,
        sparse_modes,
        many_modes,
        page,
        folder,
        ensemble,
        two_workers,
    )
}


def hashed(bits: Bits) -> str:
    out = hashlib.sha256()
    for x in bits:
        out.update(
            x if isinstance(x, bytes) else x.encode() if isinstance(x, str) else np.ascontiguousarray(x).tobytes()
        )
    return out.hexdigest()[:16]


if __name__ == "__main__":
    where = Path(sys.argv[1])
    print(json.dumps({name: hashed(CASES[name](where)) for name in sys.argv[2:] or CASES}))
