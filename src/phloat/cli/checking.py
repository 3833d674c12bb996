"""phloat check: is a model right, what can it do, how does it stand?"""

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
from phloat.cli.talk import Talk, width_of
from phloat.errors import InputError, RedundancyWarning
from phloat.files.locate import located
from phloat.files.model import Model
from phloat.motion.initial.velocities import repeated_rows, rigid_columns, velocity_rows
from phloat.system.told import between

HEIGHT = 14  # lines of a drawing, at most
MOST = 3000  # joint rows whose rank is looked at


def check(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Look models over without running them."""
    if len(asked.models) > 1 and (asked.output or asked.diagram):
        raise InputError(f"{len(asked.models)} models and one picture; draw them one by one")
    for path in [*asked.output, *([asked.diagram] if asked.diagram else [])]:
        models.ending(path, models.PICTURES)
    found = [_one(path, asked, talk) for path in asked.models]
    return found[0] if len(found) == 1 else {"models": found}


def _one(path: str, asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    model = models.loaded(path)
    system = model.system
    data: dict[str, Any] = {"model": path, "name": model.name, "fine": True}
    if not isinstance(system, ph.System):
        if asked.output or asked.diagram:
            raise InputError(f"{model.called} is linear; its modes can be drawn: phloat modes {path} -o modes.png")
        data |= {"linear": True, "rows": system.rows.size, "ports": list(system.ports), "asks": _asks(model)}
        talk.title(f"{model.name or path}: fine")
        talk.facts({"linear": f"{system.rows.size} rows, {system.multipliers.size} multipliers"} | _said(model, system))
        return data
    state, freedom = model.state, _freedom(model)
    _requests(model)
    data |= {"linear": False, "bodies": _bodies(system), "joints": _joints(system), **vars(freedom)}
    data |= {"ports": list(system.ports), "energy": ph.energy(system, state), "asks": _asks(model)}
    talk.title(f"{model.name or path}: fine")
    talk.table(
        ("body", "made of", "mass (kg)", "coordinates", "ports"),
        [(b["name"], b["made of"], b["mass"], b["coordinates"], ", ".join(b["ports"])) for b in data["bodies"]],
    )
    talk.table(
        ("joint", "type", "closes", "between"),
        [(j["name"], j["type"], j["closes"], j["between"]) for j in data["joints"]],
    )
    talk.facts(freedom.said() | _said(model, system))
    if not asked.no_drawing:
        _sketched(system, state, talk)
    data["files"] = _drawn(asked, system, state, talk)
    return data


# --- what it can do --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Freedom:
    """Velocities of all bodies, rows that joints close, those of them that repeat others, and what is left."""

    velocities: int
    closed: int
    repeated: int
    freedom: int
    rigid_freedom: int | None
    redundant: tuple[str, ...]

    def said(self) -> dict[str, str]:
        again = f" + {self.repeated} repeated" if self.repeated else ""
        whole = f"{self.freedom} = {self.velocities} velocities − {self.closed} closed by joints{again}"
        if self.rigid_freedom is not None:
            whole += f"; {self.rigid_freedom} if all bodies were rigid"
        said = {"degrees of freedom": whole}
        if self.redundant:
            said["redundant joints"] = (
                f"{', '.join(self.redundant)} repeat each other; the motion is right, their forces are not unique"
            )
        return said


def _freedom(model: Model) -> Freedom:
    system, state = model.system, model.state
    assert isinstance(system, ph.System)
    velocities = sum(len(body.active) + body.coordinates for body in system.bodies.values())
    closed = system.multipliers.size
    if not closed:
        return Freedom(velocities, 0, 0, velocities, _rigid(system, np.zeros((0, velocities))), ())
    G = velocity_rows(system, state)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundancyWarning)  # it is said in the table
        again = len(repeated_rows(system, state, G))
    named: tuple[str, ...] = ()
    if again:
        mu = dependencies(G)
        named = tuple(sorted({system.multipliers.owner(int(k)) for k in np.flatnonzero(np.abs(mu).max(axis=1) > 1e-6)}))
    rigid = _rigid(system, G[:, rigid_columns(system)].toarray()) if closed <= MOST else None
    return Freedom(velocities, closed, again, velocities - closed + again, rigid, named)


def _rigid(system: ph.System, G: np.ndarray) -> int:
    """Degrees of freedom of the mechanism without deformation."""
    moving = sum(len(body.active) for body in system.bodies.values())
    return moving - (
        int(np.linalg.matrix_rank(G, tol=1e-8 * max(float(np.abs(G).max(initial=0.0)), 1e-300))) if len(G) else 0
    )


def _requests(model: Model) -> None:
    """What is asked for names joints, ports and outputs that are there."""
    system = model.system
    assert isinstance(system, ph.System)
    models.try_outputs(model)
    with located(model.root, "modes"):
        ph.lock(system, *(model.modes.lock if model.modes else ()))
    if model.response is not None:
        with located(model.root, "response"):
            ports = ph.lock(system, *model.response.lock).ports
            for name in (*model.response.inputs, *(model.response.outputs or ())):
                ports[name.partition("[")[0]]
    if model.sweep is not None:
        with located(model.root, "sweep"):
            for name in model.sweep.outputs:
                if name not in model.outputs:
                    raise InputError(
                        f"sweep asks for the output {name!r}; outputs are {', '.join(model.outputs) or 'none'}"
                    )
    _ = model.controller


# --- how it is told --------------------------------------------------------------------------------------------------


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
    held = [(name, type(c.joint).__name__, len(c.rows), between(c)) for name, c in system.joints.items()]
    held += [(name, type(e.recipe).__name__, 0, between(e)) for name, e in system.elements.items()]
    held += [(name, type(a.recipe).__name__, 0, a.body) for name, a in system.actuators.items()]
    return [dict(zip(("name", "type", "closes", "between"), row, strict=True)) for row in held]


def _asks(model: Model) -> list[str]:
    return [word for word in ("simulate", "modes", "response", "sweep") if getattr(model, word) is not None]


def _said(model: Model, system: Any) -> dict[str, str]:
    inputs = ", ".join(model.inputs) or "none"
    open_ports = [port for port in system.ports if "." not in port]
    return {
        "inputs": inputs,
        "other open ports": ", ".join(p for p in open_ports if p not in model.inputs) or "only those of bodies",
        "asks for": ", ".join(_asks(model)) or "nothing: write simulate: {t_end: 1 s, dt: 1 ms} into it",
        "outputs": ", ".join(model.outputs) or "none",
    }


def _sketched(system: ph.System, state: ph.State, talk: Talk) -> None:
    if talk.silent or "utf" not in (sys.stdout.encoding or "").lower():
        return
    for line in sketch(system, state, min(width_of(sys.stdout) - 6, 72), HEIGHT):
        talk.say("    " + line)


def _drawn(asked: argparse.Namespace, system: ph.System, state: ph.State, talk: Talk) -> list[str]:
    for path in asked.output:
        ph.plot(system, state).savefig(path, dpi=150)
        talk.say(f"written: {path}")
    if asked.diagram:
        ph.plot(system).savefig(asked.diagram, dpi=150)
        talk.say(f"written: {asked.diagram}")
    return [*asked.output, *([asked.diagram] if asked.diagram else [])]


# --- the mechanism on a terminal -------------------------------------------------------------------------------------
#
# A mechanism drawn on a terminal with the dots of braille, two by four to a letter.


DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # rows and columns of a letter
FROM_ABOVE = np.array([[0.82, 0.57, 0.0], [-0.28, 0.41, 0.87]])  # where a drawing in space is looked at from
MOST_POINTS = 4000  # points of a body
JOINT = "o"


def sketch(system: ph.System, state: ph.State, width: int, height: int) -> list[str]:
    """The bodies where they stand, as lines of letters; nothing where all is one point."""
    bodies = [places(system, state, name) for name in system.bodies]
    every = np.vstack(bodies)
    seen = np.eye(3)[:2] if np.ptp(every[:, 2]) <= 1e-9 * max(float(np.ptp(every)), 1e-300) else FROM_ABOVE
    flat = [points @ seen.T for points in bodies]
    low, size = (every @ seen.T).min(axis=0), np.ptp(every @ seen.T, axis=0)
    scale = min((2 * width - 1) / max(size[0], 1e-300), (4 * height - 1) / max(size[1], 1e-300))
    if not size.any():
        return []
    columns, rows = (int(np.ceil((n * scale + 1) / per)) for n, per in zip(size, (2, 4), strict=True))
    dots = np.zeros((4 * rows, 2 * columns), dtype=bool)
    for points, body in zip(flat, system.bodies.values(), strict=True):
        _draw(dots, (points - low) * scale, joined=_is_line(body))
    blocks = dots.reshape(rows, 4, columns, 2).transpose(0, 2, 1, 3)
    letters = np.vectorize(chr)(0x2800 + (blocks * DOTS).sum(axis=(2, 3)))
    for point in held(system, state):
        across, up = np.rint((seen @ point - low) * scale).astype(int)
        letters[np.clip((4 * rows - 1 - up) // 4, 0, rows - 1), np.clip(across // 2, 0, columns - 1)] = JOINT
    return ["".join(row).rstrip("\u2800") for row in letters]


def held(system: ph.System, state: ph.State) -> list[np.ndarray]:
    """Where joints hold bodies."""
    out = []
    for joint in system.joints.values():
        end = joint.second if joint.second.body else joint.first
        pose, port = state.pose(end.body), system.bodies[end.body].port(end.port)
        out.append(pose.r_P + pose.A @ (port.x + port.Phi @ pose.eta))
    return out


def places(system: ph.System, state: ph.State, name: str) -> np.ndarray:
    """Points of a body in space; of a rigid one its ports and its mass centre."""
    body, pose = system.bodies[name], state.pose(name)
    s = body.shape.places()
    own = body.shape.points(s) + (body.shape.displacement(s) @ pose.eta).reshape(-1, 3)
    if not body.coordinates:
        ports = [port.x for port in body.ports.values()]
        centre = body.inertia.s0 / body.inertia.m
        own = np.vstack([own, *(np.vstack([centre, x]) for x in ports)])
    return np.asarray(pose.r_P + own[:: max(1, len(own) // MOST_POINTS)] @ pose.A.T)


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
