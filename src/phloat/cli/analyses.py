"""phloat check, phloat modes and phloat response: analyses of a model in its initial state, without a simulation."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import phloat as ph
from phloat.algebra.sparse import RANK_TOLERANCE, dependencies, row_lengths
from phloat.cli import models
from phloat.cli.console import Console, six_digits
from phloat.errors import InputError, RedundancyWarning
from phloat.files.locate import errors_at
from phloat.files.model import REQUESTS, Model
from phloat.files.requests import ModesRequest
from phloat.motion.initial.velocities import redundant_rows, rigid_columns, velocity_rows
from phloat.motion.run.controllers import controller_list
from phloat.system.system import ends_text

HERTZ = 1.0 / (2.0 * np.pi)  # per rad/s
MAX_RANK_ROWS = 3000  # joint rows; the rank of larger matrices is not computed
SHARE = 1e-6  # a joint is reported as redundant if a coefficient of its rows in a linear dependency is larger


def modes_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Computes natural frequencies and mode shapes, prints them and writes the files of --output; returns JSON data."""
    model = models.load_file(args.model)
    request = _modes_request(model, args)
    model = replace(model, modes=request)
    models.require_suffixes(args.output, (".html", *models.PICTURES, ".csv", ".json"))
    if request.along is not None and any(path.lower().endswith((".html", *models.PICTURES)) for path in args.output):
        raise InputError(
            f"{model.label} has modes along a quantity, which can be written as .csv; for shapes use --at-start"
        )
    console.title(model.name or model.label)
    modes = ph.io.run_modes(model)
    data: dict[str, Any] = {"model": args.model, "name": model.name}
    if isinstance(modes, ph.io.ModesAlong):
        data |= {"along": modes.quantity, "values": modes.values, "omega": modes.omega, "files": args.output}
        numbers, table = range(modes.omega.shape[1]), np.column_stack([modes.values, modes.omega])
        heads = [modes.quantity, *(f"omega_{k}" for k in numbers)]
        console.table((modes.quantity, *(f"ω{k} (rad/s)" for k in numbers)), table.tolist())
    else:
        data |= {"rigid": modes.rigid, "modes": _modes_data(modes), "files": args.output}
        heads = ["mode", "omega", "hertz"]
        table = np.column_stack([range(len(modes)), modes.omega, modes.omega * HERTZ])
        modes_data = enumerate(data["modes"])
        rows = [(k, float(m["omega"]), float(m["hertz"]), _mode_remark(m), m["kind"]) for k, m in modes_data]
        console.table(("mode", "ω (rad/s)", "f (Hz)", "", ""), rows)
    title = models.title(model)
    models.write_files(console, args.output, data, plotted=modes, table=(heads, table), title=title)
    return data


def _modes_request(model: Model, args: argparse.Namespace) -> ModesRequest:
    """The request `modes` of the model, changed by the options --count, --lock and --at-start."""
    request = model.modes or ModesRequest()
    if args.count is not None and args.count < 1:
        raise InputError(f"--count is {args.count}; give at least one mode")
    count, along = request.count if args.count is None else args.count, None if args.at_start else request.along
    return ModesRequest(count, tuple(args.lock or request.lock), along)


def _modes_data(modes: ph.types.Modes) -> list[dict[str, Any]]:
    """For each mode its frequency in rad/s and Hz, growth rate (1/s), damping ratio (None if loads or a spin act), and kind."""
    growth = np.zeros(len(modes)) if modes.growth is None else modes.growth
    ratios: list[float | None] = [None] * len(modes)
    if modes.growth is None:
        ratios = [float(-p.real / abs(p)) if abs(p) else 0.0 for p in modes.poles]
    return [
        {
            "omega": w,
            "hertz": w * HERTZ,
            "rigid": k < modes.rigid,
            "growth": growth[k],
            "damping": ratios[k],
            "kind": kind,
        }
        for k, (w, kind) in enumerate(zip(modes.omega, modes.kinds, strict=True))
    ]


def _mode_remark(mode: dict[str, Any]) -> str:
    """The column of the table before the kind: "rigid", the growth rate or the damping ratio of a mode."""
    if mode["rigid"]:
        return "rigid"
    if mode["growth"] > 0:
        return f"grows, {mode['growth']:.3g} 1/s"
    return f"damping ratio {mode['damping']:.3g}" if mode["damping"] else ""


# --- response --------------------------------------------------------------------------------------------------------


def response_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Computes H(jω) between the ports of the model's `response`, prints peaks and writes the files of --output."""
    models.require_suffixes(args.output, (*models.PICTURES, ".csv", ".json"))
    model = models.load_file(args.model)
    response = ph.io.run_response(model)
    pairs = [(output, source) for output in response.outputs for source in response.inputs]
    peaks = [_peak_data(response, *pair) for pair in pairs]
    data = {"model": args.model, "name": model.name, "inputs": response.inputs, "outputs": response.outputs}
    H = response.values
    data |= {"peaks": peaks, "omega": response.omega, "real": H.real, "imag": H.imag, "files": args.output}
    console.title(model.name or model.label)
    first, last = (six_digits(float(w)) for w in response.omega[[0, -1]])
    console.print_lines(f"  {len(response.omega)} frequencies from {first} to {last} rad/s")
    rows = []
    for p in peaks:
        first_peaks = ", ".join(map(six_digits, p["peaks"][:6]))
        rows.append((p["output"], p["input"], p["largest"], p["omega"], p["omega"] * HERTZ, first_peaks))
    console.table(("output", "input", "largest |H|", "at ω (rad/s)", "f (Hz)", "peaks (rad/s)"), rows)
    heads = ["omega", *(f"{o} from {i}, {part}" for o, i in pairs for part in ("magnitude", "phase"))]
    columns = [part(response[pair]) for pair in pairs for part in (np.abs, np.angle)]
    table = np.column_stack([response.omega, *columns])
    models.write_files(console, args.output, data, plotted=response, table=(heads, table))
    return data


def _peak_data(response: ph.types.Response, output: str, source: str) -> dict[str, Any]:
    """The largest |H| from one input to one output, its frequency, and the frequencies of all local maxima (rad/s)."""
    size, omega = np.abs(response[output, source]), response.omega
    top = int(size.argmax())
    peaks = omega[1:-1][(size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])].tolist()
    largest, peak_omega = float(size[top]), float(omega[top])
    return {"output": output, "input": source, "largest": largest, "omega": peak_omega, "peaks": peaks}


# --- check -----------------------------------------------------------------------------------------------------------


def check_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Checks models without simulating them; returns the data of one model, or a list of them under "models"."""
    pictures = [*args.output, *([args.diagram] if args.diagram else [])]
    if len(args.models) > 1 and pictures:
        raise InputError(f"{len(args.models)} models and one picture; draw them one by one")
    models.require_suffixes(pictures, models.PICTURES)
    facts = [_check_model(path, args, console, pictures) for path in args.models]
    return facts[0] if len(facts) == 1 else {"models": facts}


def _check_model(path: str, args: argparse.Namespace, console: Console, pictures: list[str]) -> dict[str, Any]:
    """Prints bodies, joints and degrees of freedom of one model and draws its pictures; returns these facts as JSON data."""
    model = models.load_file(path)
    system = model.system
    requests = [word for word in REQUESTS if getattr(model, word) is not None]
    data: dict[str, Any] = {"model": path, "name": model.name, "fine": True, "asks": requests}
    if not isinstance(system, ph.System):
        if pictures:
            raise InputError(f"{model.label} is linear; its modes can be plotted: phloat modes {path} -o modes.png")
        data |= {"linear": True, "rows": system.rows.size, "ports": list(system.ports)}
        facts = {"linear": f"{system.rows.size} rows, {system.multipliers.size} multipliers"}
        console.title(f"{model.name or path}: fine")
    else:
        state, freedom = model.state, _freedom(model, system)
        _check_requests(model, system)
        data |= {"linear": False, "bodies": _body_rows(system), "joints": _joint_rows(system), **freedom}
        data |= {"ports": list(system.ports), "energy": ph.energy(system, state), "files": pictures}
        console.title(f"{model.name or path}: fine")
        bodies = [[*list(body.values())[:-1], ", ".join(body["ports"])] for body in data["bodies"]]
        console.table(("body", "made of", "mass (kg)", "coordinates", "ports"), bodies)
        console.table(("joint", "type", "closes", "between"), [list(joint.values()) for joint in data["joints"]])
        facts = _freedom_facts(freedom)
    controlled = [port for controller in controller_list(model.controller) for port in getattr(controller, "ports", ())]
    taken = {*model.inputs, *controlled}
    open_ports = [port for port in system.ports if "." not in port and port not in taken]
    facts |= {
        "inputs": ", ".join(model.inputs) or "none",
        **({"controllers at": ", ".join(controlled)} if controlled else {}),
        "other open ports": ", ".join(open_ports) or "only those of bodies",
        "requests": ", ".join(requests) or "none: write simulate: {t_end: 1 s, dt: 1 ms} into it",
        "outputs": ", ".join(model.outputs) or "none",
    }
    console.facts(facts)
    for file in pictures:
        figure = ph.plot(system) if file == args.diagram else ph.plot(system, model.state)
        figure.savefig(file, dpi=150)
        console.print_lines(f"written: {file}")
    return data


def _freedom(model: Model, system: ph.System) -> dict[str, Any]:
    """Counts for JSON: velocities of all bodies, rows closed by joints, redundant rows ("repeated"), degrees of freedom, and the
    names of redundant joints. "rigid_freedom": the degrees of freedom with rigid bodies, None beyond MAX_RANK_ROWS rows."""
    moving = sum(len(body.active) for body in system.bodies.values())
    velocities, closed = moving + sum(body.coordinates for body in system.bodies.values()), system.multipliers.size
    G, named, rigid = velocity_rows(system, model.state)[0], list[str](), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RedundancyWarning)  # the printed facts name redundant joints
        repeats = len(redundant_rows(system, model.state, G))
    if repeats:
        parts = np.abs(dependencies(G)).max(axis=1)
        named = sorted({system.multipliers.owner(int(k)) for k in np.flatnonzero(parts > SHARE)})
    if closed <= MAX_RANK_ROWS:
        of_rigid = G[:, rigid_columns(system)]
        unit_rows = of_rigid.toarray() / row_lengths(of_rigid)[:, None]
        rigid = moving - int(np.linalg.matrix_rank(unit_rows, tol=RANK_TOLERANCE))
    counts = {"velocities": velocities, "closed": closed, "repeated": repeats, "freedom": velocities - closed + repeats}
    return counts | {"rigid_freedom": rigid, "redundant": named}


def _freedom_facts(n: dict[str, Any]) -> dict[str, str]:
    """The counts of `_freedom` as lines to print: name and text."""
    repeated = f" + {n['repeated']} repeated" if n["repeated"] else ""
    rigid = "" if n["rigid_freedom"] is None else f"; {n['rigid_freedom']} if all bodies were rigid"
    counts = f"{n['freedom']} = {n['velocities']} velocities − {n['closed']} closed by joints{repeated}{rigid}"
    names = ", ".join(n["redundant"])
    why = {"redundant joints": f"{names} repeat each other; the motion is right, their forces are not unique"}
    return {"degrees of freedom": counts} | (why if names else {})


def _check_requests(model: Model, system: ph.System) -> None:
    """Raises FileError if a request names a joint, port or output that does not exist."""
    models.check_outputs(model)
    with errors_at(model.root, "modes"):
        ph.lock(system, *(model.modes.lock if model.modes else ()))
    if (asked := model.response) is not None:
        with errors_at(model.root, "response"):
            ports = ph.lock(system, *asked.lock).ports
            for name in (*asked.inputs, *(asked.outputs or ())):
                ports[name.partition("[")[0]]
    with errors_at(model.root, "sweep"):
        model.swept_outputs()
    _ = model.controller


def _body_rows(system: ph.System) -> list[dict[str, Any]]:
    """One entry for each body: name, type, mass (kg), number of elastic coordinates, ports."""
    rows = [
        (name, type(b.recipe).__name__, float(b.inertia.m), b.coordinates, list(b.ports))
        for name, b in system.bodies.items()
    ]
    return [dict(zip(("name", "made of", "mass", "coordinates", "ports"), row, strict=True)) for row in rows]


def _joint_rows(system: ph.System) -> list[dict[str, Any]]:
    """One entry for each joint, force element and force on a body: name, type, number of closed rows, its two ends."""
    rows = [(name, type(c.joint).__name__, len(c.rows), ends_text(c)) for name, c in system.joints.items()]
    rows += [(name, type(e.recipe).__name__, 0, ends_text(e)) for name, e in system.elements.items()]
    rows += [(name, type(a.recipe).__name__, 0, a.body) for name, a in system.actuators.items()]
    return [dict(zip(("name", "type", "closes", "between"), row, strict=True)) for row in rows]
