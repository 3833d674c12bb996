"""Checks that every body deforms little within its frame, as floating frames assume."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
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

STRETCHED, STRETCHED_LITTLE = 1e-2, 1e-3  # thresholds of warnings: 1 % for motions, 0.1 % for frequencies
LARGE = 2.5e-3  # of the length: larger estimated errors are reported
LARGE_UNSTIFFENED = 1e-2
# error of a linear tip relative to its length, by the square of its turn: 0.38 of a cantilever, ½ of a hinge
LINEAR = 0.4
SAMPLES = 200  # maximum number of times and points at which a linear motion is checked
MOST = 32  # maximum number of bodies whose joints are considered
AIM = 1e-4  # of the length: the target error of the recommended number of pieces


def check_run(result: Result) -> dict[str, dict[str, float]]:
    """The largest rotation, strain, deflection and error of each flexible body during a run; warns if the error is large."""
    return _warn_of(result.system, _largest_deformations(result.system, result.t, result.e), level=6)


def check_linear_run(result: LinearResult) -> dict[str, dict[str, float]]:
    """The largest rotation θ of each field of a linear system, and its linearisation error ½ θ²; warns if that is large."""
    times = np.unique(np.linspace(0, len(result) - 1, min(len(result), SAMPLES)).astype(int))
    out = {}
    for name, field in result.system.fields.items():
        samples = np.unique(np.linspace(0, len(field.points) - 1, min(len(field.points), SAMPLES)).astype(int))
        extent = float(np.ptp(field.points, axis=0).max())
        if extent:
            rows = field.motion[(3 * samples[:, None] + np.arange(3)).ravel(), : result.way.shape[1]]
            u = (rows @ result.way[times].T).T.reshape(len(times), -1, 3)
            turn = np.linalg.norm(u - u.mean(axis=1, keepdims=True), axis=-1).max(axis=1) / (0.5 * extent)
            k = int(turn.argmax())
            error = float(LINEAR * turn[k] ** 2)
            out[name] = {"rotation": float(turn[k]), "error": error, "t": float(result.t[times[k]])}
    body = max(out, key=lambda name: out[name]["error"], default="")
    if body and not out[body]["error"] < LARGE:
        largest = out[body]
        warnings.warn(
            f"{body!r} moves too far for a linear system: at t = {largest['t']:.4g} s it turns by about {largest['rotation']:.3g} "
            f"rad, and points of it are off by about {100 * largest['error']:.2g} % of its size; simulate the System itself",
            LargeDeformationWarning,
            stacklevel=4,
        )
    return out


def check_state(system: System, state: State, *, t: float = 0.0, level: int = 5, stretch: float = STRETCHED) -> State:
    """Returns the state. Warns if a body deforms too far; raises LargeDeformationError for impossible deformations."""
    deformations = _largest_deformations(system, np.array([t]), state.e[None])
    for name, d in deformations.items():
        if d.deflection > 1.0 or d.strain > 1.0:
            raise LargeDeformationError(
                f"this is no equilibrium of body {name!r}: it is deflected by {d.deflection:.3g} of its length within its "
                f"frame, and strained by {d.strain:.3g}; {_cure(system.bodies[name], d)}, or load it less"
            )
    _warn_of(system, deformations, level, stretch)
    return state


def _largest_deformations(system: System, t: np.ndarray, e: np.ndarray) -> dict[str, Deformation]:
    """The largest deformation of each flexible body; large ones are evaluated again with ends fixed by joints."""
    layout, slices, out = system.layout, system.layout.slices, dict[str, Deformation]()

    def motion(name: str) -> tuple[np.ndarray, np.ndarray]:
        sigma = e[:, slices[f"{name}.sigma"]] if system.bodies[name].stresses else np.zeros((len(t), 0))
        return e[:, slices[f"{name}.eta"]], sigma

    for body, names in _equal_bodies(system, [name for name, body in system.bodies.items() if body.coordinates]):
        out |= dict(zip(names, largest_deformations(body, t, [motion(name) for name in names]), strict=False))
    for name in sorted(out, key=lambda name: -out[name].error)[:MOST]:
        d, body = out[name], system.bodies[name]
        if isinstance(body.recipe, Beam) and np.isfinite(d.error) and not d.error < _limit(body):
            k = int(np.searchsorted(t, d.t))
            restraints = restrained_ends(system, State(system.bodies, layout, e[k]), name)
            restrained = largest_deformation(body, t, *motion(name), far=restraints) if restraints.any() else None
            out[name] = d if restrained is None else restrained
    return out


def _equal_bodies(system: System, names: Iterable[str]) -> Iterable[tuple[Body, list[str]]]:
    """Each of these bodies once, with its names."""
    names_of: dict[int, list[str]] = {}
    for name in names:
        names_of.setdefault(id(system.bodies[name]), []).append(name)
    return [(system.bodies[same[0]], same) for same in names_of.values()]


def _warn_of(
    system: System, bodies: Mapping[str, Deformation], level: int, stretch: float = STRETCHED
) -> dict[str, dict[str, float]]:
    """Deformations as numbers by body.

    Warns of bodies beyond the assumption of small deformation, and of beams among the others beyond the limits of their strains.
    """
    large = {name: d for name, d in bodies.items() if not d.error < _limit(system.bodies[name])}
    if large:
        name = max(large, key=lambda key: large[key].error)
        d = large[name]
        warnings.warn(
            f"body {name!r}{_others_text(len(large))} deforms too far for small deformation within its frame: at t = {d.t:.4g} s "
            f"the estimated error is {100 * d.error:.2g} % of its length (sections turn by up to {d.rotation:.3g} rad, strain "
            f"{d.strain:.2g}); {_cure(system.bodies[name], d)}",
            LargeDeformationWarning,
            stacklevel=level,
        )
    rest = {name: d for name, d in bodies.items() if name not in large}
    warn_of_beams(system, rest, stretch=stretch, level=level + 1)
    return {name: d._asdict() for name, d in bodies.items()}


def _limit(body: Body) -> float:
    """The error above which a body is reported: larger without stiffening, where shortening is neglected on purpose."""
    return LARGE if getattr(body.recipe, "stiffening", True) else LARGE_UNSTIFFENED


def _cure(body: Body, d: Deformation) -> str:
    """Advice for a body that deforms too far."""
    if not getattr(body.recipe, "stiffening", True):
        return "use stiffening=True, which lets the body shorten as it bends"
    if isinstance(body.recipe, Beam):
        pieces = max(4, ceil((d.error / AIM) ** (1 / 3))) if np.isfinite(d.error) else 64
        return f"split the beam into pieces: beam.split({min(max(body.pieces, 1) * pieces, 64)}).discretise(2)"
    return "cut the body into several bodies joined together, each of which deforms less"


# --- fixed ends ------------------------------------------------------------------------------------------------------
#
# Motions of the ends of a beam relative to each other that joints prevent.
#
# A relative motion r·w is prevented if r is a combination of joint rows, r = Gᵀλ: by the ground or by rigid bodies. Flexible
# neighbours deform, and prevent nothing.


FIXED = 0.1  # residual of r = Gᵀλ relative to r; the frame of a bent beam is slightly rotated
ITERATIONS = 400


def restrained_ends(system: System, state: State, name: str) -> Far:
    """Restraints, as a mask (first or last end fixed; about y, z; the other end cannot rotate, cannot move across)."""
    body, out = system.bodies[name], FREE.copy()
    if not system.multipliers.size:
        return out
    G = velocity_rows(system, state)[0]
    columns = columns_in_velocities(system).columns[name][-body.coordinates :]
    ends = np.array([0.0, 1.0])
    displacement, rotation = (
        rows(ends).toarray().reshape(2, 3, -1) for rows in (body.shape.displacement, body.shape.rotation)
    )
    L, turn, move = body.extent, rotation[1] - rotation[0], displacement[1] - displacement[0]

    def is_fixed(row: np.ndarray) -> bool:
        r = np.zeros(G.shape[1])
        r[columns] = row
        residual = lsqr(G.T, r, atol=0.0, btol=0.1 * FIXED, iter_lim=ITERATIONS)[3] if r.any() else np.inf
        return bool(residual < FIXED * np.linalg.norm(r))

    for k, (about, across, sign) in enumerate(((1, 2, -1.0), (2, 1, 1.0))):
        out[:, k, 0] = is_fixed(turn[about])
        for end in (0, 1):
            out[end, k, 1] = is_fixed(move[across] - sign * L * rotation[end, about])
    return out


# --- limits of beams --------------------------------------------------------------------------------------------------
#
# Effects that the strains of a beam in one frame neglect: the coupling of bending and torsion, and large stretch.
#
# Coupling: x² = M² L² |1/EI_y − 1/EI| / GJ. Without it there is no lateral–torsional buckling (a cantilever under a tip force
# buckles at x = 4.01). The first frequency of cantilevers was off by 1 % at x² = 0.23 to 0.29 under an end moment and 0.48 under a
# tip force about the stiff axis, their static tip sideways at 0.23; by 2 % a unit of x².
# Stretch: ε = u_x' + ½ (u_y'² + u_z'²) is not Green's, ½ u_x'² is missing; frequencies under tension are off by up to the stretch
# itself (taut wires by 0.5 to 1.7 of it), and depend on frame=.
# Both errors fall with the square of the number of pieces.


COUPLED = 0.2  # x²: larger values are reported
FAR_COUPLED = 5.0  # x²: half the force at which a cantilever buckles
PIECE = 0.25  # x of a recommended piece: errors of frequencies 0.1 to 0.3 %
FREQUENCY_ERROR = 1e-4  # of a frequency, by stretch
MOST_PIECES = 64  # pieces


def warn_of_frequencies(system: System, state: State, *, level: int) -> None:
    """Warns of beams whose frequencies about a loaded state are inaccurate."""
    poses = {name: state.pose(name) for name, body in system.bodies.items() if isinstance(body.recipe, Beam)}
    motions = {name: (pose.eta[None], pose.sigma[None]) for name, pose in poses.items() if pose.sigma.any()}
    deformations: dict[str, Deformation] = {}
    for body, names in _equal_bodies(system, motions):
        found = largest_deformations(body, np.zeros(1), [motions[name] for name in names])
        deformations |= dict(zip(names, found, strict=False))
    warn_of_beams(system, deformations, stretch=STRETCHED_LITTLE, level=level + 1)


def warn_of_beams(system: System, bodies: Mapping[str, Deformation], *, stretch: float = STRETCHED, level: int) -> None:
    """One warning for all beams with coupled bending and torsion, and one for all stretched beams, with the largest of each."""
    stiffened = [name for name in bodies if getattr(system.bodies[name].recipe, "stiffening", False)]
    coupled = [name for name in bodies if bodies[name].coupling > COUPLED]
    long = [name for name in stiffened if bodies[name].stretch > stretch]
    if coupled:
        name = max(coupled, key=lambda key: bodies[key].coupling)
        coupling = bodies[name].coupling
        error = f"about {2 * coupling:.2g} %" if coupling < FAR_COUPLED else "10 % and more"
        text = (
            f"body {name!r}{_others_text(len(coupled))} bends so hard that bending and torsion couple, which one frame leaves out: "
            f"it knows no lateral–torsional buckling, and its lowest frequencies are off by {error} (M² L² |1/EI_y − 1/EI| / GJ = "
            f"{coupling:.3g}); {_advise_split(system.bodies[name], sqrt(coupling) / PIECE)}.discretise(1)"
        )
        warnings.warn(text, LateralTorsionWarning, level)
    if long:
        name = max(long, key=lambda key: bodies[key].stretch)
        strain = bodies[name].stretch
        text = (
            f"body {name!r}{_others_text(len(long))} is stretched along its axis by {strain:.2g}, and one frame is linear in that: "
            f"its frequencies are off by up to {100 * strain:.2g} %, and depend on frame=; "
            f"{_advise_split(system.bodies[name], max(4.0, sqrt(strain / FREQUENCY_ERROR)))}.discretise(2)"
        )
        warnings.warn(text, LargeStretchWarning, level)


def _others_text(count: int) -> str:
    return f" (and {count - 1} more bodies)" if count > 1 else ""


def _advise_split(beam: Body, times: float) -> str:
    pieces = min(max(beam.pieces, 1) * max(2, ceil(min(times, MOST_PIECES))), MOST_PIECES)
    return f"split the beam into pieces: beam.split({pieces})"
