"""A watch on the hypothesis of floating frames: every body deforms little within its frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import ceil

import numpy as np
from scipy.sparse.linalg import lsqr

from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.deformation_error import FREE, Far
from phloat.bodies.body import Body
from phloat.bodies.deformation import Deformation, largest_deformation, largest_deformations
from phloat.errors import LargeDeformationError, LargeDeformationWarning
from phloat.linear.course import LinearResult
from phloat.motion.beam_limits import STRETCHED, warn_of_beams
from phloat.motion.result import Result
from phloat.motion.velocities import velocity_rows
from phloat.system.jointed import in_velocities
from phloat.system.state import State
from phloat.system.system import System

LARGE = 2.5e-3  # of the length: the estimated error from which on it is said
LARGE_UNSTIFFENED = 1e-2
LINEAR = 0.4  # error of a linear tip beside its length, by the square of its turn: 0.38 of a cantilever, ½ of a hinge
SAMPLES = 200  # times and points at which a linear motion is looked at, at most
MOST = 32  # bodies whose joints are looked at
AIM = 1e-4  # of the length: the error that the advised number of pieces is for


def watched(result: Result) -> dict[str, dict[str, float]]:
    """The largest rotation, strain, deflection and error of every flexible body over a run; warns where the error is large."""
    return _said(result.system, _over_time(result.system, result.t, result.e), level=6)


def watched_linear(result: LinearResult) -> dict[str, dict[str, float]]:
    """How far the fields of a linear system turn, and the error ½ θ² of what is linear in it; warns where that is large."""
    times = np.unique(np.linspace(0, len(result) - 1, min(len(result), SAMPLES)).astype(int))
    out = {}
    for name, seen in result.system.fields.items():
        some = np.unique(np.linspace(0, len(seen.points) - 1, min(len(seen.points), SAMPLES)).astype(int))
        extent = float(np.ptp(seen.points, axis=0).max())
        if extent:
            rows = seen.motion[(3 * some[:, None] + np.arange(3)).ravel(), : result.way.shape[1]]
            u = (rows @ result.way[times].T).T.reshape(len(times), -1, 3)
            turn = np.linalg.norm(u - u.mean(axis=1, keepdims=True), axis=-1).max(axis=1) / (0.5 * extent)
            k = int(turn.argmax())
            out[name] = {
                "rotation": float(turn[k]),
                "error": float(LINEAR * turn[k] ** 2),
                "t": float(result.t[times[k]]),
            }
    worst = max(out, key=lambda name: out[name]["error"], default="")
    if worst and not out[worst]["error"] < LARGE:
        it = out[worst]
        warnings.warn(
            f"{worst!r} moves too far for a linear system: at t = {it['t']:.4g} s it turns by about {it['rotation']:.3g} rad, and "
            f"points of it are off by about {100 * it['error']:.2g} % of its size; simulate the System itself",
            LargeDeformationWarning,
            stacklevel=4,
        )
    return out


def watched_state(system: System, state: State, *, t: float = 0.0, level: int = 5, stretch: float = STRETCHED) -> State:
    """The state, after a warning where a body deforms too far; an error where no body of that size could."""
    found = _over_time(system, np.array([t]), state.e[None])
    for name, it in found.items():
        if it.deflection > 1.0 or it.strain > 1.0:
            raise LargeDeformationError(
                f"this is no equilibrium of body {name!r}: it is deflected by {it.deflection:.3g} of its length within its "
                f"frame, and strained by {it.strain:.3g}; {_cure(system.bodies[name], it)}, or load it less"
            )
    _said(system, found, level, stretch)
    return state


def _over_time(system: System, t: np.ndarray, e: np.ndarray) -> dict[str, Deformation]:
    """Every flexible body as if its far end were free; those beyond the hypothesis by that once more, as joints hold them."""
    layout, out = system.layout, dict[str, Deformation]()

    def motion(name: str) -> tuple[np.ndarray, np.ndarray]:
        sigma = e[:, layout[f"{name}.sigma"]] if system.bodies[name].stresses else np.zeros((len(t), 0))
        return e[:, layout[f"{name}.eta"]], sigma

    for names in _alike(system):
        found = largest_deformations(system.bodies[names[0]], t, [motion(name) for name in names])
        out |= dict(zip(names, found, strict=False))
    for name in sorted(out, key=lambda name: -out[name].error)[:MOST]:
        it, body = out[name], system.bodies[name]
        if isinstance(body.recipe, Beam) and np.isfinite(it.error) and not it.error < _limit(body):
            k = int(np.searchsorted(t, it.t))
            far = held_ends(system, State(system.bodies, layout, e[k]), name)
            again = largest_deformation(body, t, *motion(name), far=far) if far.any() else None
            out[name] = it if again is None else again
    return out


def _alike(system: System) -> list[list[str]]:
    """The flexible bodies, those that are copies of one together."""
    groups: dict[int, list[str]] = {}
    for name, body in system.bodies.items():
        if body.coordinates:
            groups.setdefault(id(body), []).append(name)
    return list(groups.values())


def _said(
    system: System, found: Mapping[str, Deformation], level: int, stretch: float = STRETCHED
) -> dict[str, dict[str, float]]:
    """Plain numbers by body; one warning for all bodies beyond the hypothesis, about the worst of them; of the others, what
    beams in one frame leave out."""
    large = {name: it for name, it in found.items() if not it.error < _limit(system.bodies[name])}
    if large:
        name = max(large, key=lambda key: large[key].error)
        it, others = large[name], f" (and {len(large) - 1} more bodies)" if len(large) > 1 else ""
        warnings.warn(
            f"body {name!r}{others} deforms too far for small deformation within its frame: at t = {it.t:.4g} s the estimated "
            f"error is {100 * it.error:.2g} % of its length (sections turn by up to {it.rotation:.3g} rad, strain "
            f"{it.strain:.2g}); {_cure(system.bodies[name], it)}",
            LargeDeformationWarning,
            stacklevel=level,
        )
    warn_of_beams(
        system, {name: it for name, it in found.items() if name not in large}, stretch=stretch, level=level + 1
    )
    return {name: it._asdict() for name, it in found.items()}


def _limit(body: Body) -> float:
    """From where on it is said: later of a body without stiffening, whose user has chosen to neglect the shortening."""
    return LARGE if getattr(body.recipe, "stiffening", True) else LARGE_UNSTIFFENED


def _cure(body: Body, it: Deformation) -> str:
    if not getattr(body.recipe, "stiffening", True):
        return "use stiffening=True, which lets the body shorten as it bends"
    if isinstance(body.recipe, Beam):
        pieces = max(4, ceil((it.error / AIM) ** (1 / 3))) if np.isfinite(it.error) else 64
        return f"split the beam into pieces: beam.split({min(max(body.pieces, 1) * pieces, 64)}).discretise(2)"
    return "cut the body into several bodies joined together, each of which deforms less"


# --- held ends -------------------------------------------------------------------------------------------------------
#
# Whether joints hold both ends of a beam: what its far end may not do beside the near one, whatever else moves.
#
# A motion r·w of an end beside the other is held where r is a combination of joint rows, r = Gᵀλ: by the ground or by rigid
# bodies. Flexible neighbours give way, and hold nothing.


HELD = 0.1  # of the row: what joints may leave of it; the frame of a bent beam stands a little across them
ITERATIONS = 400


def held_ends(system: System, state: State, name: str) -> Far:
    """(first or last end taken as held; about y, z; the other may not turn, not move across)."""
    body, out = system.bodies[name], FREE.copy()
    if not system.multipliers.size:
        return out
    G = velocity_rows(system, state)[0]
    columns = in_velocities(system).columns[name][-body.coordinates :]
    ends = np.array([0.0, 1.0])
    moved, turned = (rows(ends).toarray().reshape(2, 3, -1) for rows in (body.shape.displacement, body.shape.rotation))
    L, turn, move = body.extent, turned[1] - turned[0], moved[1] - moved[0]

    def held(row: np.ndarray) -> bool:
        r = np.zeros(G.shape[1])
        r[columns] = row
        return bool(
            r.any() and lsqr(G.T, r, atol=0.0, btol=0.1 * HELD, iter_lim=ITERATIONS)[3] < HELD * np.linalg.norm(r)
        )

    for k, (about, across, sign) in enumerate(((1, 2, -1.0), (2, 1, 1.0))):
        out[:, k, 0] = held(turn[about])
        for end in (0, 1):
            out[end, k, 1] = held(move[across] - sign * L * turned[end, about])
    return out
