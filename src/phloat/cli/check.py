"""phloat check: reads and connects a model, counts its degrees of freedom and draws it."""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import phloat as ph
from phloat.algebra.sparse import dependencies
from phloat.cli import models
from phloat.cli.console import Console, width
from phloat.errors import InputError, RedundancyWarning
from phloat.files.locate import errors_at
from phloat.files.model import Model
from phloat.motion.initial.velocities import redundant_rows, rigid_columns, velocity_rows
from phloat.system.system import ends_text

HEIGHT = 14  # lines of a drawing, at most
MAX_ROWS = 3000  # of joints whose rank is computed


def check_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Checks models without running them."""
    if len(args.models) > 1 and (args.output or args.diagram):
        raise InputError(f"{len(args.models)} models and one picture; draw them one by one")
    for path in [*args.output, *([args.diagram] if args.diagram else [])]:
        models.require_suffix(path, models.PICTURES)
    found = [_check(path, args, console) for path in args.models]
    return found[0] if len(found) == 1 else {"models": found}


def _check(path: str, args: argparse.Namespace, console: Console) -> dict[str, Any]:
    model = models.load_file(path)
    system = model.system
    data: dict[str, Any] = {"model": path, "name": model.name, "fine": True}
    if not isinstance(system, ph.System):
        if args.output or args.diagram:
            raise InputError(f"{model.label} is linear; its modes can be plotted: phloat modes {path} -o modes.png")
        data |= {"linear": True, "rows": system.rows.size, "ports": list(system.ports), "asks": _request_names(model)}
        console.title(f"{model.name or path}: fine")
        console.facts(
            {"linear": f"{system.rows.size} rows, {system.multipliers.size} multipliers"} | _facts(model, system)
        )
        return data
    state, freedom = model.state, _freedom(model)
    _check_requests(model)
    data |= {"linear": False, "bodies": _bodies(system), "joints": _joints(system), **vars(freedom)}
    data |= {"ports": list(system.ports), "energy": ph.energy(system, state), "asks": _request_names(model)}
    console.title(f"{model.name or path}: fine")
    console.table(
        ("body", "made of", "mass (kg)", "coordinates", "ports"),
        [(b["name"], b["made of"], b["mass"], b["coordinates"], ", ".join(b["ports"])) for b in data["bodies"]],
    )
    console.table(
        ("joint", "type", "closes", "between"),
        [(j["name"], j["type"], j["closes"], j["between"]) for j in data["joints"]],
    )
    console.facts(freedom.facts() | _facts(model, system))
    if not args.no_drawing:
        _print_sketch(system, state, console)
    data["files"] = _plot(args, system, state, console)
    return data


# --- degrees of freedom ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Freedom:
    """Velocities of all bodies, rows that joints close, those of them that are redundant, and the degrees of freedom."""

    velocities: int
    closed: int
    repeated: int
    freedom: int
    rigid_freedom: int | None
    redundant: tuple[str, ...]

    def facts(self) -> dict[str, str]:
        again = f" + {self.repeated} repeated" if self.repeated else ""
        whole = f"{self.freedom} = {self.velocities} velocities − {self.closed} closed by joints{again}"
        if self.rigid_freedom is not None:
            whole += f"; {self.rigid_freedom} if all bodies were rigid"
        facts = {"degrees of freedom": whole}
        if self.redundant:
            facts["redundant joints"] = (
                f"{', '.join(self.redundant)} repeat each other; the motion is right, their forces are not unique"
            )
        return facts


def _freedom(model: Model) -> Freedom:
    system, state = model.system, model.state
    assert isinstance(system, ph.System)
    velocities = sum(len(body.active) + body.coordinates for body in system.bodies.values())
    closed = system.multipliers.size
    if not closed:
        return Freedom(velocities, 0, 0, velocities, _rigid(system, np.zeros((0, velocities))), ())
    G = velocity_rows(system, state)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundancyWarning)  # the table has it
        again = len(redundant_rows(system, state, G))
    named: tuple[str, ...] = ()
    if again:
        mu = dependencies(G)
        named = tuple(sorted({system.multipliers.owner(int(k)) for k in np.flatnonzero(np.abs(mu).max(axis=1) > 1e-6)}))
    rigid = _rigid(system, G[:, rigid_columns(system)].toarray()) if closed <= MAX_ROWS else None
    return Freedom(velocities, closed, again, velocities - closed + again, rigid, named)


def _rigid(system: ph.System, G: np.ndarray) -> int:
    """Degrees of freedom of the mechanism without deformation."""
    moving = sum(len(body.active) for body in system.bodies.values())
    return moving - (
        int(np.linalg.matrix_rank(G, tol=1e-8 * max(float(np.abs(G).max(initial=0.0)), 1e-300))) if len(G) else 0
    )


def _check_requests(model: Model) -> None:
    """Raises FileError if a request names a joint, port or output that does not exist."""
    system = model.system
    assert isinstance(system, ph.System)
    models.try_outputs(model)
    with errors_at(model.root, "modes"):
        ph.lock(system, *(model.modes.lock if model.modes else ()))
    if model.response is not None:
        with errors_at(model.root, "response"):
            ports = ph.lock(system, *model.response.lock).ports
            for name in (*model.response.inputs, *(model.response.outputs or ())):
                ports[name.partition("[")[0]]
    if model.sweep is not None:
        with errors_at(model.root, "sweep"):
            for name in model.sweep.outputs:
                if name not in model.outputs:
                    raise InputError(
                        f"sweep names the output {name!r}; outputs are {', '.join(model.outputs) or 'none'}"
                    )
    _ = model.controller


# --- tables ----------------------------------------------------------------------------------------------------------


def _bodies(system: ph.System) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "made of": type(body.recipe).__name__,
            "mass": float(body.inertia.m),
            "coordinates": body.coordinates,
            "ports": list(body.ports),
        }
        for name, body in system.bodies.items()
    ]


def _joints(system: ph.System) -> list[dict[str, Any]]:
    rows = [(name, type(c.joint).__name__, len(c.rows), ends_text(c)) for name, c in system.joints.items()]
    rows += [(name, type(e.recipe).__name__, 0, ends_text(e)) for name, e in system.elements.items()]
    rows += [(name, type(a.recipe).__name__, 0, a.body) for name, a in system.actuators.items()]
    return [dict(zip(("name", "type", "closes", "between"), row, strict=True)) for row in rows]


def _request_names(model: Model) -> list[str]:
    return [word for word in ("simulate", "modes", "response", "sweep") if getattr(model, word) is not None]


def _facts(model: Model, system: Any) -> dict[str, str]:
    inputs = ", ".join(model.inputs) or "none"
    open_ports = [port for port in system.ports if "." not in port]
    return {
        "inputs": inputs,
        "other open ports": ", ".join(p for p in open_ports if p not in model.inputs) or "only those of bodies",
        "requests": ", ".join(_request_names(model)) or "none: write simulate: {t_end: 1 s, dt: 1 ms} into it",
        "outputs": ", ".join(model.outputs) or "none",
    }


def _print_sketch(system: ph.System, state: ph.State, console: Console) -> None:
    if console.silent or "utf" not in (sys.stdout.encoding or "").lower():
        return
    for line in sketch(system, state, min(width(sys.stdout) - 6, 72), HEIGHT):
        console.say("    " + line)


def _plot(args: argparse.Namespace, system: ph.System, state: ph.State, console: Console) -> list[str]:
    for path in args.output:
        ph.plot(system, state).savefig(path, dpi=150)
        console.say(f"written: {path}")
    if args.diagram:
        ph.plot(system).savefig(args.diagram, dpi=150)
        console.say(f"written: {args.diagram}")
    return [*args.output, *([args.diagram] if args.diagram else [])]


# --- the mechanism on a terminal -------------------------------------------------------------------------------------
#
# The mechanism on a terminal, drawn with the dots of braille: two by four in a character.


DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # rows and columns of a character
FROM_ABOVE = np.array([[0.82, 0.57, 0.0], [-0.28, 0.41, 0.87]])  # projection of a drawing in space
MAX_POINTS = 4000  # of a body
JOINT = "o"


def sketch(system: ph.System, state: ph.State, width: int, height: int) -> list[str]:
    """The bodies in their places, as lines of text; empty if all is one point."""
    bodies = [body_points(system, state, name) for name in system.bodies]
    every = np.vstack(bodies)
    view = np.eye(3)[:2] if np.ptp(every[:, 2]) <= 1e-9 * max(float(np.ptp(every)), 1e-300) else FROM_ABOVE
    flat = [points @ view.T for points in bodies]
    low, size = (every @ view.T).min(axis=0), np.ptp(every @ view.T, axis=0)
    scale = min((2 * width - 1) / max(size[0], 1e-300), (4 * height - 1) / max(size[1], 1e-300))
    if not size.any():
        return []
    columns, rows = (int(np.ceil((n * scale + 1) / per)) for n, per in zip(size, (2, 4), strict=True))
    dots = np.zeros((4 * rows, 2 * columns), dtype=bool)
    for points, body in zip(flat, system.bodies.values(), strict=True):
        _draw(dots, (points - low) * scale, joined=_is_line(body))
    blocks = dots.reshape(rows, 4, columns, 2).transpose(0, 2, 1, 3)
    letters = np.vectorize(chr)(0x2800 + (blocks * DOTS).sum(axis=(2, 3)))
    for point in joint_points(system, state):
        across, up = np.rint((view @ point - low) * scale).astype(int)
        letters[np.clip((4 * rows - 1 - up) // 4, 0, rows - 1), np.clip(across // 2, 0, columns - 1)] = JOINT
    return ["".join(row).rstrip("\u2800") for row in letters]


def joint_points(system: ph.System, state: ph.State) -> list[np.ndarray]:
    """Where the joints are."""
    out = []
    for joint in system.joints.values():
        end = joint.second if joint.second.body else joint.first
        pose, port = state.pose(end.body), system.bodies[end.body].port(end.port)
        out.append(pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta))
    return out


def body_points(system: ph.System, state: ph.State, name: str) -> np.ndarray:
    """Points of a body in space; of a rigid body its ports and its mass centre."""
    body, pose = system.bodies[name], state.pose(name)
    s = body.shape.places()
    local = body.shape.points(s) + (body.shape.displacement(s) @ pose.eta).reshape(-1, 3)
    if not body.coordinates:
        ports = [port.x for port in body.ports.values()]
        centre = body.inertia.s0 / body.inertia.m
        local = np.vstack([local, *(np.vstack([centre, x]) for x in ports)])
    return np.asarray(pose.r_P + local[:: max(1, len(local) // MAX_POINTS)] @ pose.A.T)


def _is_line(body: Any) -> bool:
    return isinstance(body.recipe, ph.Beam) or not body.coordinates


def _draw(dots: np.ndarray, points: np.ndarray, *, joined: bool) -> None:
    parts = [points]
    if joined:
        for a, b in pairwise(points):
            steps = int(np.ceil(np.abs(b - a).max())) + 1
            parts.append(a + np.linspace(0.0, 1.0, steps)[:, None] * (b - a))
    at = np.rint(np.vstack(parts)).astype(int)
    rows, columns = dots.shape
    dots[rows - 1 - np.clip(at[:, 1], 0, rows - 1), np.clip(at[:, 0], 0, columns - 1)] = True
