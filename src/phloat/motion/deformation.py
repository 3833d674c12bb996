"""Checks of the hypothesis of floating frames, that every body deforms little within its frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import ceil, sqrt

import numpy as np
from scipy.sparse.linalg import lsqr

from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.deformation import FREE, Deformation, Far, largest_deformation, largest_deformations
from phloat.errors import LargeDeformationError, LargeDeformationWarning, LargeStretchWarning, LateralTorsionWarning
from phloat.linear.time.march import LinearResult
from phloat.motion.initial.velocities import velocity_rows
from phloat.motion.result import Result
from phloat.system.joint_rows import columns_in_velocities
from phloat.system.state import State
from phloat.system.system import System

STRETCHED, STRETCHED_LITTLE = 1e-2, 1e-3  # errors reported: 1 % of motions, 0.1 % of frequencies
LARGE = 2.5e-3  # of the length: estimated errors from here on are reported
LARGE_UNSTIFFENED = 1e-2
# error of a linear tip relative to its length, by the square of its turn: 0.38 of a cantilever, ½ of a hinge
LINEAR = 0.4
SAMPLES = 200  # times and points at which a linear motion is looked at, at most
MOST = 32  # bodies whose joints are looked at
AIM = 1e-4  # of the length: the error that the advised number of pieces is for


def check_run(result: Result) -> dict[str, dict[str, float]]:
    """The largest rotation, strain, deflection and error of every flexible body over a run; warns where the error is large."""
    return _warn(result.system, _over_time(result.system, result.t, result.e), level=6)


def check_linear_run(result: LinearResult) -> dict[str, dict[str, float]]:
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
            error = float(LINEAR * turn[k] ** 2)
            out[name] = {"rotation": float(turn[k]), "error": error, "t": float(result.t[times[k]])}
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


def check_state(system: System, state: State, *, t: float = 0.0, level: int = 5, stretch: float = STRETCHED) -> State:
    """Returns the state. Warns if a body deforms too far, raises LargeDeformationError if it deforms impossibly far."""
    found = _over_time(system, np.array([t]), state.e[None])
    for name, it in found.items():
        if it.deflection > 1.0 or it.strain > 1.0:
            raise LargeDeformationError(
                f"this is no equilibrium of body {name!r}: it is deflected by {it.deflection:.3g} of its length within its "
                f"frame, and strained by {it.strain:.3g}; {_cure(system.bodies[name], it)}, or load it less"
            )
    _warn(system, found, level, stretch)
    return state


def _over_time(system: System, t: np.ndarray, e: np.ndarray) -> dict[str, Deformation]:
    """The largest deformation of every flexible body; of those too large, once more with ends restrained by joints."""
    layout, out = system.layout, dict[str, Deformation]()

    def motion(name: str) -> tuple[np.ndarray, np.ndarray]:
        sigma = e[:, layout[f"{name}.sigma"]] if system.bodies[name].stresses else np.zeros((len(t), 0))
        return e[:, layout[f"{name}.eta"]], sigma

    flexible = {id(body): body for body in system.bodies.values() if body.coordinates}  # each body once
    for body in flexible.values():
        names = [name for name, other in system.bodies.items() if other is body]
        out |= dict(zip(names, largest_deformations(body, t, [motion(name) for name in names]), strict=False))
    for name in sorted(out, key=lambda name: -out[name].error)[:MOST]:
        it, body = out[name], system.bodies[name]
        if isinstance(body.recipe, Beam) and np.isfinite(it.error) and not it.error < _limit(body):
            k = int(np.searchsorted(t, it.t))
            far = restrained_ends(system, State(system.bodies, layout, e[k]), name)
            again = largest_deformation(body, t, *motion(name), far=far) if far.any() else None
            out[name] = it if again is None else again
    return out


def _warn(
    system: System, found: Mapping[str, Deformation], level: int, stretch: float = STRETCHED
) -> dict[str, dict[str, float]]:
    """Plain numbers by body; one warning for all bodies beyond the hypothesis, about the worst of them; of the others, what
    beams in one frame leave out."""
    large = {name: it for name, it in found.items() if not it.error < _limit(system.bodies[name])}
    if large:
        name = max(large, key=lambda key: large[key].error)
        it = large[name]
        warnings.warn(
            f"body {name!r}{_others(len(large))} deforms too far for small deformation within its frame: at t = {it.t:.4g} s the "
            f"estimated error is {100 * it.error:.2g} % of its length (sections turn by up to {it.rotation:.3g} rad, strain "
            f"{it.strain:.2g}); {_cure(system.bodies[name], it)}",
            LargeDeformationWarning,
            stacklevel=level,
        )
    others = {name: it for name, it in found.items() if name not in large}
    warn_of_beams(system, others, stretch=stretch, level=level + 1)
    return {name: it._asdict() for name, it in found.items()}


def _limit(body: Body) -> float:
    """The error that is reported: larger for a body without stiffening, whose user has chosen to neglect shortening."""
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
# Whether joints hold both ends of a beam: what its far end cannot do relative to the near one, whatever else moves.
#
# A motion r·w of an end relative to the other is held where r is a combination of joint rows, r = Gᵀλ: by the ground or by rigid
# bodies. Flexible neighbours give way, and hold nothing.


HELD = 0.1  # of the row: what joints may leave of it; the frame of a bent beam stands a little across them
ITERATIONS = 400


def restrained_ends(system: System, state: State, name: str) -> Far:
    """Restraints (first or last end fixed; about y, z; the other cannot turn, cannot move across)."""
    body, out = system.bodies[name], FREE.copy()
    if not system.multipliers.size:
        return out
    G = velocity_rows(system, state)[0]
    columns = columns_in_velocities(system).columns[name][-body.coordinates :]
    ends = np.array([0.0, 1.0])
    moved, turned = (rows(ends).toarray().reshape(2, 3, -1) for rows in (body.shape.displacement, body.shape.rotation))
    L, turn, move = body.extent, turned[1] - turned[0], moved[1] - moved[0]

    def held(row: np.ndarray) -> bool:
        r = np.zeros(G.shape[1])
        r[columns] = row
        left = lsqr(G.T, r, atol=0.0, btol=0.1 * HELD, iter_lim=ITERATIONS)[3] if r.any() else np.inf
        return bool(left < HELD * np.linalg.norm(r))

    for k, (about, across, sign) in enumerate(((1, 2, -1.0), (2, 1, 1.0))):
        out[:, k, 0] = held(turn[about])
        for end in (0, 1):
            out[end, k, 1] = held(move[across] - sign * L * turned[end, about])
    return out


# --- limits of beams --------------------------------------------------------------------------------------------------
#
# Says where a beam in one frame misses what its strains leave out: the coupling of bending to torsion, and large stretch.
#
# Coupling: x² = M² L² |1/EI_y − 1/EI| / GJ. Without it there is no lateral–torsional buckling (a cantilever under a tip force
# buckles at x = 4.01). The first frequency of cantilevers was off by 1 % at x² = 0.23 to 0.29 under an end moment and 0.48 under a
# tip force about the stiff axis, their static tip sideways at 0.23; by 2 % a unit of x².
# Stretch: ε = u_x' + ½ (u_y'² + u_z'²) is not Green's, ½ u_x'² is missing; frequencies under tension are off by up to the stretch
# itself (taut wires by 0.5 to 1.7 of it), and depend on frame=.
# Both errors fall with the square of the number of pieces.


COUPLED = 0.2  # x², from here on reported
FAR = 5.0  # x²: half the force at which a cantilever buckles
PIECE = 0.25  # x of a piece that is advised: frequencies off by 0.1 to 0.3 %
FREQUENCY_ERROR = 1e-4  # of a frequency, by stretch
MOST_PIECES = 64  # pieces


def warn_of_frequencies(system: System, state: State, *, level: int) -> None:
    """Warns of beams whose frequencies about a loaded state are inaccurate."""
    found: dict[str, Deformation] = {}
    for name, body in system.bodies.items():
        pose = state.pose(name)
        if isinstance(body.recipe, Beam) and pose.sigma.any():
            it = largest_deformation(body, np.zeros(1), pose.eta[None], pose.sigma[None])
            found |= {name: it} if it is not None else {}
    warn_of_beams(system, found, stretch=STRETCHED_LITTLE, level=level + 1)


def warn_of_beams(system: System, found: Mapping[str, Deformation], *, stretch: float = STRETCHED, level: int) -> None:
    """One warning for all beams that couple, and one for all that stretch, about the worst of them."""
    stiffened = [name for name in found if getattr(system.bodies[name].recipe, "stiffening", False)]
    coupled = [name for name in found if found[name].coupling > COUPLED]
    stretched = [name for name in stiffened if found[name].stretch > stretch]
    if coupled:
        name = max(coupled, key=lambda key: found[key].coupling)
        coupling = found[name].coupling
        off = f"about {2 * coupling:.2g} %" if coupling < FAR else "10 % and more"
        text = (
            f"body {name!r}{_others(len(coupled))} bends so hard that bending and torsion couple, which one frame leaves out: it "
            f"knows no lateral–torsional buckling, and its lowest frequencies are off by {off} (M² L² |1/EI_y − 1/EI| / GJ = "
            f"{coupling:.3g}); {_split(system.bodies[name], sqrt(coupling) / PIECE)}.discretise(1)"
        )
        warnings.warn(text, LateralTorsionWarning, level)
    if stretched:
        name = max(stretched, key=lambda key: found[key].stretch)
        by = found[name].stretch
        text = (
            f"body {name!r}{_others(len(stretched))} is stretched along its axis by {by:.2g}, and one frame is linear in that: its "
            f"frequencies are off by up to {100 * by:.2g} %, and depend on frame=; "
            f"{_split(system.bodies[name], max(4.0, sqrt(by / FREQUENCY_ERROR)))}.discretise(2)"
        )
        warnings.warn(text, LargeStretchWarning, level)


def _others(count: int) -> str:
    return f" (and {count - 1} more bodies)" if count > 1 else ""


def _split(beam: Body, times: float) -> str:
    pieces = min(max(beam.pieces, 1) * max(2, ceil(min(times, MOST_PIECES))), MOST_PIECES)
    return f"split the beam into pieces: beam.split({pieces})"
