"""Results from the folder of a saved run, and as NetCDF."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from phloat.algebra.version import __version__
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.fields import OF_WHOLE
from phloat.bodies.beams.split import Split
from phloat.errors import DamagedRunWarning, InputError
from phloat.files.model_files import load_model
from phloat.many.results import dataset, to_file
from phloat.motion.ledger import energy_ledger
from phloat.motion.result import COMPONENTS, Result
from phloat.motion.saving.folder import RunFolder, load_rows, load_run, rebuild_description
from phloat.system.parts import Part, Parts
from phloat.system.system import System
from phloat.system.units import coordinate_unit, effort_units, resultant_unit, unit_of

AXES = ("x", "y", "z")
GIVE_SYSTEM = "give its system: load_result(folder, system)"


def load_result(folder: str | Path, system: System | None = None) -> Result:
    """The run in a folder, as much of it as was written and can be read.

    Parameters
    ----------
    folder : str or Path
        Where `save_result(result, folder)` or `simulate(…, save=folder)` wrote it.
    system : System, optional
        The system that moved; its quantities, joints and ports are compared with those of the run. Default: it is made from the
        model in the folder.

    Returns
    -------
    Result
        `result.info` has its scheme, and whether it is finished.

    Raises
    ------
    InputError
        There is no run in the folder, it is of another system, or it has no model: runs of systems that a model file cannot
        hold, and runs of early versions of phloat, need `system`.

    Examples
    --------
    >>> ball = ph.PointMass(mass=1.0).discretise()
    >>> fall = ph.connect({"ball": ball}, gravity=(0.0, -9.81, 0.0), plane="xy")
    >>> result = ph.simulate(fall, ph.place(fall), t_end=1.0, dt=0.01, save="fall")
    >>> again = ph.io.load_result("fall")
    >>> print(again["ball.r_P"][-1].round(4), again.info["finished"])  # −g/2
    [ 0.    -4.905] True
    """
    where = RunFolder(Path(folder))
    if not where.path.is_dir():
        raise InputError(f"there is no saved run in {str(where.path)!r}: it is not a folder")
    if system is not None:
        return load_run(where, system)
    try:
        description = where.description()
    except InputError as error:
        if not where.taken or "cannot be read" not in str(error):
            raise
        return _without_description(where, error)
    model = description.get("model", {"file": None, "why": "it was saved by an early version of phloat"})
    if model["file"] is None:
        raise InputError(f"the run in {str(where.path)!r} has no model ({model['why']}); {GIVE_SYSTEM}")
    return load_run(where, _system(where))


def _system(where: RunFolder) -> System:
    file = where.path / "model.json"
    if not file.exists():
        raise InputError(f"{str(file)!r} is missing; {GIVE_SYSTEM}")
    model = load_model(file)
    system = replace(model, parts=_with_old_frames(model.parts)).system
    if not isinstance(system, System):
        raise InputError(f"{str(file)!r} is a linear model; {GIVE_SYSTEM}")
    return system


def _with_old_frames(parts: Parts) -> Parts:
    """Sets the frame of split beams of early versions, which did not write the frame "cantilever" of their pieces."""
    bodies: dict[str, Part] = dict(parts.bodies)
    for name, part in parts.bodies.items():
        if isinstance(part, Parts):
            bodies[name] = _with_old_frames(part)
        elif isinstance(part.recipe, Split) and isinstance(beam := part.recipe.beam, Beam) and beam.frame is None:
            bodies[name] = replace(part, recipe=replace(part.recipe, beam=replace(beam, frame=OF_WHOLE)))
    return replace(parts, bodies=bodies)


def _without_description(where: RunFolder, error: InputError) -> Result:
    """The run without run.json, which is damaged; energies are then computed from the states."""
    system = _system(where)
    warnings.warn(
        f"{error}; the pieces in the folder are read, without the energy accounts", DamagedRunWarning, stacklevel=3
    )
    return load_rows(where, rebuild_description(where), system)


# --- NetCDF ----------------------------------------------------------------------------------------------------------


def to_netcdf(result: Result, path: str | Path) -> Path:
    """Writes a result as NetCDF (extra `io`), to be read with xarray: every quantity by name over `t`, with its unit.

    Besides the states: deformation `u_f` and stress resultants of beams along `s`, forces and coordinates of joints, and the
    energy accounts.
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is not a Result; simulate(…) makes one")
    where = Path(path)
    if not where.parent.is_dir():
        raise InputError(f"the folder {str(where.parent)!r} does not exist")
    table = _Table()
    table.coordinate("t", result.t, "s")
    for name in result.system.bodies:
        _body(table, result, name)
    for name, joint in result.system.joints.items():
        if name in result.system.multipliers:
            rows = [row.label for row in joint.rows]
            table.coordinate(f"{name}.row", np.array(rows))
            units = effort_units(joint.rows)
            unit = units[0] if len(set(units)) == 1 else ", ".join(units)
            table.add(f"{name}.lam", ("t", f"{name}.row"), result[f"{name}.lam"], unit, "multipliers of a joint")
    for name, values in result.coordinates.items():
        table.add(name, ("t",), values, coordinate_unit(name), "coordinate of a joint")
    _energies(table, result)
    about = {"title": repr(result), "source": f"phloat {__version__}", "bodies": ", ".join(result.system.bodies)}
    info = {name: str(value) for name, value in result.info.items()}
    to_file(dataset(table.data, table.coords, about | {"info": str(info)}), where)
    return where


class _Table:
    """Variables and coordinates with units, as xarray takes them, under names that NetCDF allows."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.coords: dict[str, Any] = {}

    def coordinate(self, name: str, values: np.ndarray, unit: str = "") -> None:
        self.coords[_legal(name)] = ((_legal(name),), values, {"units": unit} if unit else {})

    def add(self, name: str, dims: tuple[str, ...], values: np.ndarray, unit: str, what: str) -> None:
        about = {"units": unit, "long_name": what} | ({"name": name} if _legal(name) != name else {})
        self.data[_legal(name)] = (tuple(map(_legal, dims)), values, about)


def _body(table: _Table, result: Result, name: str) -> None:
    system, body = result.system, result.system.bodies[name]
    flat = sum(i < 3 for i in body.active) == 2
    axis = "axis_xy" if flat else "axis"
    table.coordinate(axis, np.array(AXES[: 2 if flat else 3]))
    dims = {"r_P": (axis,), "v_P": (axis,), "A_IB": ("row", "column"), "omega": ("axis",), "theta": ()}
    what = {"r_P": "position of P", "v_P": "velocity of P, body axes", "A_IB": "body to inertial axes"}
    what |= {"theta": "angle", "omega": "angular velocity, body axes", "eta": "coordinates of deformation"}
    what |= {"eta_dot": "their rates", "sigma": "stress states"}
    for quantity in (key.rpartition(".")[2] for key in system.layout if key.rpartition(".")[0] == name):
        values = result[f"{name}.{quantity}"]
        own = dims.get(quantity, (f"{name}.{'stress_state' if quantity == 'sigma' else 'coordinate'}",))
        own = own if values.ndim - 1 == len(own) else ()
        table.add(f"{name}.{quantity}", ("t", *own), values, unit_of(quantity), what[quantity])
    if body.coordinates:
        places = body.shape.places()
        at = f"{name}.s" if places.ndim == 1 else f"{name}.place"
        table.coordinate(at, places if places.ndim == 1 else np.arange(len(places)), "1")
        if places.ndim > 1:
            table.add(f"{name}.points", (at, "xyz"), body.shape.points(places), "m", "undeformed points, body axes")
        for quantity, doc in (("u_f", "deformation, body axes"), ("v_f", "its rate")):
            table.add(f"{name}.{quantity}", ("t", at, axis), result[f"{name}.{quantity}"], unit_of(quantity), doc)
        if places.ndim == 1:
            sigma = result[f"{name}.sigma"]
            for key, rows in body.shape.stress(places).items():
                values = sigma @ rows.T.toarray()
                table.add(f"{name}.{key}", ("t", at), values, resultant_unit(key), "stress resultant")


def _energies(table: _Table, result: Result) -> None:
    if result.accounts is None:
        table.add("energy", ("t",), result.energy, "J", "H, springs included")
        return
    ledger = energy_ledger(result)
    table.add("energy", ("t",), ledger.energy, "J", "H, springs included")
    table.coordinate("body", np.array(list(result.system.bodies)))
    table.coordinate("part", np.array(COMPONENTS))
    table.add("energy.bodies", ("t", "body", "part"), result.accounts.bodies, "J", "energies of the bodies")
    for kind, lines in (("supplied", ledger.supplied), ("dissipated", ledger.dissipated)):
        for name, line in lines.items():
            table.add(f"energy.{kind}.{name}", ("t",), line, "J", f"{kind} since the start")
    table.add("energy.residual", ("t",), ledger.residual, "J", "residual of the balance")


def _legal(name: str) -> str:
    """The name without slashes, which NetCDF uses for groups."""
    return name.replace("/", "∕")
