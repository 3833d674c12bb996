"""How well a body satisfies small deformation in its frame: rotations, strains, and the estimated error of the model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from phloat.algebra.sparse import Matrix, csr
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.deformation_error import FREE, BeamWatch, Far, beam_watch
from phloat.bodies.body import Body
from phloat.bodies.plates.plate import Plate
from phloat.errors import InputError

PLACES = 200  # of a mesh where rotations are looked at, at most
TIMES = 16  # with the largest rotations, where strains and errors are looked at
# errors of the tip of a cantilever beside its length: with the quadratic strain 0.25 to 0.45 θ³ of the largest rotation in a
# frame that is held at the root, 0.03 to 0.15 θ³ in mean axes; without it the tip is not drawn in, by 0.25 θ²
CUBIC, MEAN_CUBIC, SQUARE = 0.3, 0.15, 0.25


class Deformation(NamedTuple):
    """The largest rotation (rad), strain and deflection of a body, the estimated error and the time of that; deflection and error
    relative to the size of the body.

    Of a beam the largest stretch N/EA, and M² L² |1/EI_y − 1/EI| / GJ, by which it would turn sideways.
    """

    rotation: float
    strain: float
    deflection: float
    error: float
    t: float
    stretch: float = 0.0
    coupling: float = 0.0


@dataclass(frozen=True, eq=False)
class MeshWatch:
    """A plate, a solid or a superelement, by rotations at places and ports of it."""

    body: Body
    rotation: Matrix
    displacement: Matrix
    cubic: float

    def rotations(self, eta: np.ndarray) -> np.ndarray:
        """Of sections within the frame, (times, places, 3)."""
        return (self.rotation @ eta.T).T.reshape(len(eta), -1, 3)

    def strains(self, sigma: np.ndarray) -> np.ndarray:
        """The largest strain S σ of the material at every place, (times, places); zero if there are several materials."""
        if self._strain is None:
            return np.zeros((len(sigma), 1))
        return np.abs((self._strain @ sigma.T).T)

    def deflections(self, eta: np.ndarray) -> np.ndarray:
        """The largest displacement within the frame relative to the size of the body, (times,)."""
        u = (self.displacement @ eta.T).T.reshape(len(eta), -1, 3)
        return np.linalg.norm(u, axis=-1).max(axis=1, initial=0.0) / self.body.extent

    def errors(self, eta: np.ndarray, sigma: np.ndarray) -> np.ndarray:
        """By the largest rotation: of third order where the strain is quadratic, else of second; in a plate's plane always."""
        turn = np.abs(self.rotations(eta))
        within = turn[..., 2].max(axis=1, initial=0.0) if isinstance(self.body.recipe, Plate) else np.zeros(len(eta))
        largest = np.linalg.norm(turn, axis=-1).max(axis=1, initial=0.0)
        stiffened = len(self.body.elastic.Q.strain) > 0
        return self.cubic * largest**3 + SQUARE * (within if stiffened else largest) ** 2

    @cached_property
    def _strain(self) -> Matrix | None:
        law = getattr(getattr(self.body.recipe, "material", None), "elasticity", None)
        if law is None or not self.body.stresses:
            return None
        x = self.body.shape.stress_points()
        rows = self.body.shape.cauchy(x)
        return csr(sp.kron(sp.eye_array(len(x)), np.linalg.inv(law()), format="csr") @ rows)


def watch(body: Body) -> BeamWatch | MeshWatch | None:
    """The watch of a body, built once; None for a rigid one."""
    if not body.coordinates:
        return None
    if body not in _WATCHES:
        _WATCHES[body] = beam_watch(body, body.recipe) if isinstance(body.recipe, Beam) else _mesh_watch(body)
    return _WATCHES[body]


_WATCHES: WeakKeyDictionary[Body, BeamWatch | MeshWatch] = WeakKeyDictionary()


def _mesh_watch(body: Body) -> MeshWatch:
    places = body.shape.places()
    some = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), PLACES)).astype(int))]
    turns = [csr(port.Psi) for port in body.ports.values()]
    with suppress(InputError):  # nodes of a superelement may have no rotations
        turns.append(body.shape.rotation(some))
    cubic = MEAN_CUBIC if getattr(body.recipe, "frame", None) == "mean axes" else CUBIC
    return MeshWatch(body, csr(sp.vstack(turns)), body.shape.displacement(places), cubic)


def largest_deformation(
    body: Body, t: np.ndarray, eta: np.ndarray, sigma: np.ndarray, *, far: Far = FREE
) -> Deformation | None:
    """The largest deformation over time; eta (times, coordinates), sigma (times, stresses), `far` as in `BeamWatch.errors`."""
    found = largest_deformations(body, t, [(eta, sigma)], far=far)
    return found[0] if found else None


def largest_deformations(
    body: Body, t: np.ndarray, motions: Sequence[tuple[np.ndarray, np.ndarray]], *, far: Far = FREE
) -> list[Deformation]:
    """The same of several motions (eta, sigma) of one body, looked at together; empty where a body is not watched."""
    looking = watch(body)
    if looking is None or not len(t):
        return []
    angles = [np.linalg.norm(looking.rotations(eta), axis=-1).max(axis=1, initial=0.0) for eta, _ in motions]
    some = [np.sort(np.argsort(angle)[-TIMES:]) for angle in angles]
    eta, sigma = (np.concatenate([m[k][s] for m, s in zip(motions, some, strict=True)]) for k in (0, 1))
    beam = looking if isinstance(looking, BeamWatch) else None
    error = looking.errors(eta, sigma) if beam is None else beam.errors(eta, sigma, far)
    of_all = (error, looking.strains(sigma).max(axis=1, initial=0.0), looking.deflections(eta))
    each = zip(*(np.split(values, np.cumsum([len(s) for s in some])[:-1]) for values in of_all), strict=True)
    out = []
    for (_, stress), angle, times, (off, strain, deflection) in zip(motions, angles, some, each, strict=True):
        k, loaded = int(np.argmax(off)), stress[_most_loaded(body, stress)]
        out.append(
            Deformation(
                rotation=float(angle.max()),
                strain=float(strain.max(initial=0.0)),
                deflection=float(deflection.max()),
                error=float(off[k]),
                t=float(t[times[k]]),
                stretch=0.0 if beam is None else float(beam.stretches(loaded).max()),
                coupling=0.0 if beam is None else float(beam.couplings(loaded).max()),
            )
        )
    return out


def _most_loaded(body: Body, sigma: np.ndarray) -> np.ndarray:
    """The times with the largest of every resultant."""
    parts = [np.abs(sigma[:, where]).max(axis=1, initial=0.0) for where in body.elastic.stresses.slices.values()]
    return np.unique([np.argsort(part)[-TIMES:] for part in parts]).astype(int)
