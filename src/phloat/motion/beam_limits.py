"""Says where a beam in one frame misses what its strains leave out: the coupling of bending to torsion, and large stretch.

Coupling: x² = M² L² |1/EI_y − 1/EI| / GJ. Without it there is no lateral–torsional buckling (a cantilever under a tip force
buckles at x = 4.01). The first frequency of cantilevers was off by 1 % at x² = 0.23 to 0.29 under an end moment and 0.48 under a
tip force about the stiff axis, their static tip sideways at 0.23; by 2 % a unit of x².
Stretch: ε = u_x' + ½ (u_y'² + u_z'²) is not Green's, ½ u_x'² is missing; frequencies under tension are off by up to the stretch
itself (taut wires by 0.5 to 1.7 of it), and depend on frame=.
Both errors fall with the square of the number of pieces.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import ceil, sqrt

import numpy as np

from phloat.bodies.beams.beam import Beam
from phloat.bodies.body import Body
from phloat.bodies.deformation import Deformation, largest_deformation
from phloat.errors import LargeStretchWarning, LateralTorsionWarning
from phloat.system.state import State
from phloat.system.system import System

COUPLED = 0.2  # x², from which on it is said
FAR = 5.0  # x²: half the force at which a cantilever buckles
STRETCHED, STRETCHED_LITTLE = 1e-2, 1e-3  # off by 1 % is said of motions, 0.1 % where frequencies are asked for
PIECE = 0.25  # x of a piece that is advised: frequencies off by 0.1 to 0.3 %
AIM = 1e-4  # of a frequency, by stretch
MOST = 64  # pieces


def warn_of_frequencies(system: System, state: State, *, level: int) -> None:
    """Of the beams that the state loads, where frequencies about it are asked for."""
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
        warnings.warn(_coupled(name, len(coupled), system.bodies[name], found[name]), LateralTorsionWarning, level)
    if stretched:
        name = max(stretched, key=lambda key: found[key].stretch)
        warnings.warn(_stretched(name, len(stretched), system.bodies[name], found[name]), LargeStretchWarning, level)


def _coupled(name: str, count: int, body: Body, it: Deformation) -> str:
    off = f"about {2 * it.coupling:.2g} %" if it.coupling < FAR else "10 % and more"
    return (
        f"body {name!r}{_others(count)} bends so hard that bending and torsion couple, which one frame leaves out: it knows no "
        f"lateral–torsional buckling, and its lowest frequencies are off by {off} (M² L² |1/EI_y − 1/EI| "
        f"/ GJ = {it.coupling:.3g}); split the beam into pieces: beam.split({_pieces(body, sqrt(it.coupling) / PIECE)})"
        ".discretise(1)"
    )


def _stretched(name: str, count: int, body: Body, it: Deformation) -> str:
    return (
        f"body {name!r}{_others(count)} is stretched along its axis by {it.stretch:.2g}, and one frame is linear in that: its "
        f"frequencies are off by up to {100 * it.stretch:.2g} %, and depend on frame=; split the beam into pieces: "
        f"beam.split({_pieces(body, max(4.0, sqrt(it.stretch / AIM)))}).discretise(2)"
    )


def _others(count: int) -> str:
    return f" (and {count - 1} more bodies)" if count > 1 else ""


def _pieces(body: Body, times: float) -> int:
    return min(max(body.pieces, 1) * max(2, ceil(min(times, MOST))), MOST)
