"""Checks of small deformation in the frame of a body: its rotations, strains, and the estimated error of the model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from phloat.algebra.cross import crosses, rotated
from phloat.algebra.sparse import Matrix, csr, zero_matrix
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.elasticity import radius
from phloat.bodies.beams.fields import Frame, conditions
from phloat.bodies.beams.section import Section, Shaped
from phloat.bodies.body import Body
from phloat.bodies.plates.plate import Plate
from phloat.bodies.shape import in_turn
from phloat.errors import InputError

# motions of the far end relative to the held one that joints prevent, (first or last end held; about y, z; rotation, deflection)
Far = np.ndarray
FREE: Far = np.zeros((2, 2, 2), dtype=bool)
PLACES = 200  # places of a mesh where rotations are evaluated, at most
AT_ONCE = 2048  # states of equal bodies that are evaluated together
TIMES = 16  # times with the largest rotations, at which strains and errors are evaluated
# errors of the tip of a cantilever relative to its length: with the quadratic strain 0.25 to 0.45 θ³ of the largest rotation in a
# frame fixed at the root, 0.03 to 0.15 θ³ in mean axes; without it the tip does not shorten, an error of 0.25 θ²
CUBIC, MEAN_CUBIC, SQUARE = 0.3, 0.15, 0.25


class Deformation(NamedTuple):
    """The largest rotation (rad), strain and deflection of a body, the estimated error and its time; deflection and error are
    relative to the size of the body.

    For a beam also the largest stretch N/EA, and `coupling` M² L² |1/EI_y − 1/EI| / GJ, a measure of lateral buckling.
    """

    rotation: float
    strain: float
    deflection: float
    error: float
    t: float
    stretch: float = 0.0
    coupling: float = 0.0


@dataclass(frozen=True, eq=False)
class Watch:
    """The matrices that give rotations and displacements of a body at some places, and its length."""

    length: float
    rotation: Matrix
    displacement: Matrix

    def rotations(self, eta: np.ndarray) -> np.ndarray:
        """Rotations of sections in the frame of the body, (times, places, 3)."""
        return (self.rotation @ eta.T).T.reshape(len(eta), -1, 3)

    def deflections(self, eta: np.ndarray) -> np.ndarray:
        """The largest displacement in the frame of the body relative to the length, (times,)."""
        u = (self.displacement @ eta.T).T.reshape(len(eta), -1, 3)
        return np.linalg.norm(u, axis=-1).max(axis=1, initial=0.0) / self.length

    def stretches(self, sigma: np.ndarray) -> np.ndarray:
        """The largest |N|/EA of a beam, (times,)."""
        return np.zeros(len(sigma))

    def couplings(self, sigma: np.ndarray) -> np.ndarray:
        """The largest M² L² |1/EI_y − 1/EI_z| / GJ of a beam, which measures how bending twists it, (times,); zero in a plane."""
        return np.zeros(len(sigma))


@dataclass(frozen=True, eq=False)
class MeshWatch(Watch):
    """The watch of a plate, a solid or a superelement; rotations are those at some places and at the ports."""

    body: Body
    cubic: float

    def strains(self, sigma: np.ndarray) -> np.ndarray:
        """The strains of the material at all stress points, (times, strains); zero if there are several materials."""
        if self._strain is None:
            return np.zeros((len(sigma), 1))
        return np.abs((self._strain @ sigma.T).T)

    def errors(self, eta: np.ndarray, sigma: np.ndarray, far: Far = FREE) -> np.ndarray:
        """The error estimated from the largest rotation, (times,): cubic with quadratic strain, else (and in plane) quadratic."""
        psi = np.abs(self.rotations(eta))
        planar = psi[..., 2].max(axis=1, initial=0.0) if isinstance(self.body.recipe, Plate) else np.zeros(len(eta))
        largest = np.linalg.norm(psi, axis=-1).max(axis=1, initial=0.0)
        stiffened = len(self.body.elastic.Q.strain) > 0
        return self.cubic * largest**3 + SQUARE * (planar if stiffened else largest) ** 2

    @cached_property
    def _strain(self) -> Matrix | None:
        law = getattr(getattr(self.body.recipe, "material", None), "elasticity", None)
        if law is None or not self.body.stresses:
            return None
        x = self.body.shape.stress_points()
        rows = self.body.shape.cauchy(x)
        return csr(sp.kron(sp.eye_array(len(x)), np.linalg.inv(law()), format="csr") @ rows)


def watch(body: Body) -> AnyWatch | None:
    """The watch of a body, cached; None for a rigid body."""
    if not body.coordinates:
        return None
    if body not in _WATCHES:
        _WATCHES[body] = beam_watch(body, body.recipe) if isinstance(body.recipe, Beam) else _mesh_watch(body)
    return _WATCHES[body]


AnyWatch: TypeAlias = "BeamWatch | MeshWatch"
_WATCHES: WeakKeyDictionary[Body, AnyWatch] = WeakKeyDictionary()


def _mesh_watch(body: Body) -> MeshWatch:
    """The watch of a body on a mesh."""
    places = body.shape.places()
    sampled = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), PLACES)).astype(int))]
    turns = [csr(port.Psi) for port in body.ports.values()]
    with suppress(InputError):  # nodes of a superelement may have no rotations
        turns.append(body.shape.rotation(sampled))
    cubic = MEAN_CUBIC if getattr(body.recipe, "frame", None) == "mean axes" else CUBIC
    return MeshWatch(body.extent, csr(sp.vstack(turns)), body.shape.displacement(places), body, cubic)


def largest_deformation(
    body: Body, t: np.ndarray, eta: np.ndarray, sigma: np.ndarray, *, far: Far = FREE
) -> Deformation | None:
    """The largest deformation over eta (times, coordinates), sigma (times, stresses), or None; `far` as in `BeamWatch.errors`."""
    results = largest_deformations(body, t, [(eta, sigma)], far=far)
    return results[0] if results else None


def largest_deformations(
    body: Body, t: np.ndarray, motions: Sequence[tuple[np.ndarray, np.ndarray]], *, far: Far = FREE
) -> list[Deformation]:
    """`largest_deformation` of several motions (eta, sigma) of one body, evaluated together; empty for a rigid body."""
    body_watch = watch(body)
    if body_watch is None or not len(t):
        return []
    step = max(1, AT_ONCE // len(t))
    parts = (motions[k : k + step] for k in range(0, len(motions), step))
    return [out for part in parts for out in _largest_together(body, body_watch, t, part, far)]


def _largest_together(
    body: Body, watched: AnyWatch, t: np.ndarray, motions: Sequence[tuple[np.ndarray, np.ndarray]], far: Far
) -> list[Deformation]:
    """`largest_deformations` of few enough motions to evaluate all of their times at once."""
    eta, sigma = (np.array([motion[k] for motion in motions]) for k in (0, 1))  # (motions, times, coordinates)
    count = len(motions)
    angle = np.linalg.norm(watched.rotations(eta.reshape(count * len(t), -1)), axis=-1).max(axis=1, initial=0.0)
    angle = angle.reshape(count, len(t))
    chosen = np.sort(np.argsort(angle, axis=1)[:, -TIMES:], axis=1)
    eta, selected = (_at_times(values, chosen) for values in (eta, sigma))
    loaded = _at_times(sigma, _most_loaded(body, sigma))
    error = watched.errors(eta, selected, far).reshape(count, -1)
    worst = np.argmax(error, axis=1)
    columns = (
        angle.max(axis=1),
        watched.strains(selected).max(axis=1, initial=0.0).reshape(count, -1).max(axis=1, initial=0.0),
        watched.deflections(eta).reshape(count, -1).max(axis=1),
        error[np.arange(count), worst],
        t[chosen[np.arange(count), worst]],
        watched.stretches(loaded).reshape(count, -1).max(axis=1, initial=0.0),
        watched.couplings(loaded).reshape(count, -1).max(axis=1, initial=0.0),
    )
    return [Deformation(*numbers) for numbers in np.column_stack(columns).tolist()]


def _at_times(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The rows of values (motions, times, numbers) at some times of each motion (motions, chosen), one after the other."""
    if values.shape[1] <= TIMES:
        return values.reshape(values.shape[0] * values.shape[1], -1)
    return np.take_along_axis(values, times[..., None], axis=1).reshape(times.size, -1)


def _most_loaded(body: Body, sigma: np.ndarray) -> np.ndarray:
    """Indices of the times with the largest values of every stress resultant, (motions, times)."""
    parts = [np.abs(sigma[..., block]).max(axis=2, initial=0.0) for block in body.elastic.stresses.slices.values()]
    latest = [np.argsort(part, axis=1)[:, -TIMES:] for part in parts]
    return np.concatenate(latest, axis=1) if latest else np.zeros((len(sigma), 0), dtype=int)


POINTS = 16  # points of the midpoint rule along a beam, at least
RESISTANCE_FROM = 1e-3  # of the length: smaller errors are estimated without the resistance of tension and supports
HINGED = 0.1  # of the largest moment: an end with a smaller moment counts as hinged
EQUAL_ENDS = 1e-6  # relative difference of the moments of both ends that is round-off: the first end is then fixed


@dataclass(frozen=True, eq=False)
class BeamWatch(Watch):
    """The watch of a beam: rotations and resultants at the midpoints of equal parts of every element."""

    h: np.ndarray  # lengths of the parts, (points,)
    element: np.ndarray  # the element of each part
    compliance: np.ndarray  # strain and curvatures per N, T, M_y, M_z, (points, 4, 4)
    winding: np.ndarray  # torque per axial force N of a pretwisted beam, (I_p/A) φ₀', (points,)
    fibre: np.ndarray  # largest distances from the axis: radial, along z, along y, (points, 3)
    frame_share: np.ndarray  # the part of a missing moment that the frame carries, about x, y, z, (points, 3)
    stiffening: bool
    stress: dict[str, Matrix]

    def resultants(self, sigma: np.ndarray) -> np.ndarray:
        """N, T, M_y, M_z at the points, (times, points, 4)."""
        return (self._all_stress @ sigma.T).T.reshape(len(sigma), len(self.h), 4)

    @cached_property
    def _all_stress(self) -> Matrix:
        """The rows of N, T, M_y, M_z of each point in turn; zero for absent ones."""
        none = zero_matrix(len(self.h), next(iter(self.stress.values())).shape[1])
        return in_turn([self.stress.get(name, none) for name in ("N", "T", "M_y", "M_z")])

    def strains(self, sigma: np.ndarray) -> np.ndarray:
        """The largest strain over the section at every point, (times, points)."""
        strain = np.abs(self._strains_of(self.resultants(sigma)))
        return strain[..., 0] + strain[..., 1] * self.fibre[:, 0] + (strain[..., 2:] * self.fibre[:, 1:]).sum(axis=-1)

    def _strains_of(self, resultant: np.ndarray) -> np.ndarray:
        """u_x' (with the part of the pretwist), θ_x', θ_y', θ_z' at the points, (times, points, 4)."""
        return np.einsum("pij,tpj->tpi", self.compliance, resultant)

    def _curvatures(self, N: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Curvatures under axial force N and moments m about the axes of the sections, (times, points, 3)."""
        torque = m[..., :1] - (self.winding * N)[..., None]
        return self._strains_of(np.concatenate([N[..., None], torque, m[..., 1:]], axis=-1))[..., 1:]

    def stretches(self, sigma: np.ndarray) -> np.ndarray:
        return np.abs(self.resultants(sigma)[..., 0] * self.compliance[:, 0, 0]).max(axis=1)

    def couplings(self, sigma: np.ndarray) -> np.ndarray:
        twist, bend = self.compliance[:, 1, 1], self.compliance[:, 2:, 2:]
        moment = self.resultants(sigma)[..., 2:]
        unlike = np.hypot(bend[:, 0, 0] - bend[:, 1, 1], 2.0 * bend[:, 0, 1]) * twist * ("T" in self.stress)
        return ((moment**2).sum(axis=-1) * self.length**2 * unlike).max(axis=1)

    def errors(self, eta: np.ndarray, sigma: np.ndarray, far: Far = FREE) -> np.ndarray:
        """The estimated error of the axis relative to the length, (times,); `far` masks motions of the far end that joints
        prevent."""
        psi, resultant = self.rotations(eta), self.resultants(sigma)
        N = resultant[..., 0]
        m = resultant[..., 1:] + np.stack([self.winding * N, 0.0 * N, 0.0 * N], axis=-1)
        slope = np.stack([0.0 * N, psi[..., 2], -psi[..., 1]], axis=-1)
        stiff = 1.0 if self.stiffening else 0.0
        stretch, e_x = N * self.compliance[:, 0, 0], np.array([1.0, 0.0, 0.0])
        exact = (1.0 + stretch)[..., None] * rotated(psi, np.broadcast_to(e_x, psi.shape))
        modelled = slope + (1.0 + stretch - 0.5 * stiff * (slope**2).sum(axis=-1))[..., None] * e_x
        n = self._forces(N, m, stiff * slope)
        load = crosses(exact, n) - crosses(e_x + stiff * slope, n) * (1.0 - e_x)  # the model's T ignores bending
        curvature = self._curvatures(N, rotated(-psi, m + self._missing_moments(load)))
        cross = crosses(psi, curvature)
        bend = curvature + 0.5 * cross + crosses(psi, cross) / 12.0 - self._curvatures(N, m)
        error = self._displaced_axis(bend, exact, exact - modelled, m)
        if (k := np.flatnonzero(error > RESISTANCE_FROM)).size:
            resisted = self._resistance(bend[k], (exact - modelled)[k], m[k], np.maximum(N[k], 0.0), far)
            error[k] = self._displaced_axis(bend[k] + resisted, exact[k], (exact - modelled)[k], m[k])
        return error

    def _missing_moments(self, load: np.ndarray) -> np.ndarray:
        """Moments that the model lacks: those of the load beyond a section minus the share of the frame, (times, points, 3)."""
        total = (self.h[:, None] * load).sum(axis=1, keepdims=True)
        return self._from_end(load) - self.frame_share * total

    def _displaced_axis(self, bend: np.ndarray, tangent: np.ndarray, gap: np.ndarray, m: np.ndarray) -> np.ndarray:
        """The largest displacement of the axis over the length, (times,), from the end of larger moment, or from the chord."""
        first, hinged = _ends(m)
        first = first[:, None, None]
        rotation = np.where(first, self._from_start(bend), -self._from_end(bend))
        increments = crosses(rotation, tangent) + gap
        path = np.where(first, self._from_start(increments), -self._from_end(increments))
        x = self._x / self.length
        chord = path[:, :1] + (path[:, -1:] - path[:, :1]) * x[:, None] * np.array([0.0, 1.0, 1.0])
        path = np.where(hinged[:, None, None], path - chord, path)
        return np.linalg.norm(path, axis=-1).max(axis=1, initial=0.0) / self.length

    def _resistance(self, bend: np.ndarray, gap: np.ndarray, m: np.ndarray, N: np.ndarray, far: Far) -> np.ndarray:
        """The curvatures about x (zero), y and z by which tension and the far support resist, (times, points, 3).

        μ' = N ϑ − n,  ϑ' = bend + c μ: T integrates from the fixed end, μ = −F N ϑ + R r, and r are the moment
        and force of the far support, so that the axis neither rotates (Σ h ϑ' = 0) nor deflects there (Σ h ϑ + steps = 0).
        """
        count, p, h, x, L, c = len(bend), len(self.h), self.h, self._x, self.length, self.compliance[:, 2:, 2:]
        first, hinged = _ends(m)
        steps = (h[:, None] * gap).sum(axis=1)[:, [2, 1]] * np.array([-1.0, 1.0])
        bend = bend[..., 1:]
        start, end = self._from_start(np.eye(p)[None])[0], self._from_end(np.eye(p)[None])[0]
        from_chord, ramp = start - h @ start / L, end - np.outer(1.0 - x / L, h)
        fixed_first, both_hinged = first[:, None, None], hinged[:, None, None]
        T = np.where(both_hinged, from_chord, np.where(fixed_first, start, -end))
        F = np.where(both_hinged, ramp, np.where(fixed_first, end, -start))
        R = np.where(fixed_first, np.stack([np.ones(p), 1.0 - x / L], axis=1), np.stack([np.ones(p), x / L], axis=1))
        pull = np.einsum("ikl,tij->tkilj", c, (F * N[:, None, :]) @ T)
        turn_and_move = np.stack([np.broadcast_to(h / L, (count, p)), h @ T / L**2], axis=1)
        end_motion = np.einsum("tcp,tpk->tkc", turn_and_move, bend) + np.stack([0.0 * steps, steps / L**2], axis=-1)
        prevented = np.where(fixed_first, far[0], far[1]) & ~both_hinged  # (times; about y, z; turn, move)
        A, b, n = np.zeros((count, 2 * p + 4, 2 * p + 4)), np.zeros((count, 2 * p + 4)), 2 * p
        A[:, :n, :n] = np.eye(n) + pull.reshape(count, n, n)
        A[:, :n, n:] = -np.einsum("ikl,tic->tkilc", c / np.abs(c).max(), R).reshape(count, n, 4)
        b[:, :n] = -np.einsum("tkilj,tjl->tki", pull, bend).reshape(count, n)
        rows = np.einsum("kl,tcp->tkclp", np.eye(2), turn_and_move) * prevented[..., None, None]
        A[:, n:, :n], A[:, n:, n:] = rows.reshape(count, 4, n), np.eye(4) * ~prevented.reshape(count, 4, 1)
        b[:, n:] = np.where(prevented, -end_motion, 0.0).reshape(count, 4)
        curvatures = np.linalg.solve(A, b[..., None])[:, :n, 0].reshape(count, 2, p)
        return np.stack([np.zeros((count, p)), curvatures[:, 0], curvatures[:, 1]], axis=-1)

    @cached_property
    def _element_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last point of the element of each point."""
        element = self.element
        return np.searchsorted(element, element), np.searchsorted(element, element, side="right") - 1

    @cached_property
    def _x(self) -> np.ndarray:
        return np.asarray(np.cumsum(self.h) - 0.5 * self.h)

    def _forces(self, N: np.ndarray, m: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The internal force n at the points, (times, points, 3): M_z' = −n_y + N u_y',  M_y' = n_z − N u_z' in each element."""
        first, last, x = self._element_ends[0], self._element_ends[1], self._x
        rate = (m[:, last] - m[:, first]) / (x[last] - x[first])[:, None]
        pull = N[..., None] * slope
        return np.stack([N, pull[..., 1] - rate[..., 2], pull[..., 2] + rate[..., 1]], axis=-1)

    def _from_start(self, f: np.ndarray) -> np.ndarray:
        """∫f dx from the first end to the points, (times, points, …)."""
        parts = self.h[:, None] * f
        return np.cumsum(parts, axis=1) - 0.5 * parts

    def _from_end(self, f: np.ndarray) -> np.ndarray:
        """∫f dx from the points to the last end, (times, points, …)."""
        parts = self.h[:, None] * f
        return np.cumsum(parts[:, ::-1], axis=1)[:, ::-1] - 0.5 * parts


def _ends(m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Masks (times,): the first end has the larger moment (or an equal one) and counts as fixed; both ends are hinged."""
    size = np.linalg.norm(m, axis=-1)
    ends = size[:, [0, -1]]
    return ends[:, 0] >= (1.0 - EQUAL_ENDS) * ends[:, 1], ends.max(axis=1) < HINGED * size.max(axis=1)


def beam_watch(body: Body, beam: Beam) -> BeamWatch:
    """The watch of the body of a beam, in a plane or in space, reduced or not."""
    nodes = body.shape.places()[::4]
    parts = max(4, -(-POINTS // (len(nodes) - 1)))
    edges = np.append((nodes[:-1, None] + np.diff(nodes)[:, None] * np.linspace(0, 1, parts + 1)[:-1]).ravel(), 1.0)
    s = 0.5 * (edges[1:] + edges[:-1])
    extents = np.array([_extent(one) for one in beam.sections(beam.length * (s if callable(beam.section) else s[:1]))])
    y, z = np.broadcast_to(extents.T, (2, len(s)))
    return BeamWatch(
        length=beam.length,
        h=beam.length * np.diff(edges),
        element=np.repeat(np.arange(len(nodes) - 1), parts),
        **_elasticity(beam, nodes, s),
        fibre=np.stack([np.hypot(y, z), z, y], axis=1),
        frame_share=_frame_moments(conditions(beam.frame), s),
        stiffening=beam.stiffening,
        rotation=body.shape.rotation(s),
        stress=body.shape.stress(s),
        displacement=body.shape.displacement(body.shape.places()),
    )


def _elasticity(beam: Beam, nodes: np.ndarray, s: np.ndarray) -> dict[str, np.ndarray]:
    """The fields `compliance` and `winding` of `BeamWatch` at fractions s; `nodes` are the fractions of the nodes."""
    number = beam.pretwisted(beam.length * s, beam.length * nodes)
    torsion = number["GJ"] > 0.0  # without a torsion constant the beam has no twist
    stiffness = np.zeros((len(s), 4, 4))
    for k, value in enumerate((number["EA"], np.where(torsion, number["GJ"], 1.0), number["EI_y"], number["EI"])):
        stiffness[:, k, k] = value
    stiffness[:, 2, 3] = stiffness[:, 3, 2] = -number["EI_yz"]
    compliance = np.linalg.inv(stiffness)
    compliance[:, 1, 1] *= torsion
    return {"compliance": compliance, "winding": radius(number) * number["pretwist"]}


def _frame_moments(frame: Frame, s: np.ndarray) -> np.ndarray:
    """The share of a missing moment that the frame carries at s, (points, 3): a step where the frame fixes the rotation, else a
    ramp between two places where it fixes deflections."""
    out = np.zeros((len(s), 3))
    for k, (turn, deflection) in enumerate((("theta_x", ""), ("theta_y", "u_z"), ("theta_z", "u_y"))):
        turns = [place for place, names in frame.items() if turn in names]
        a, *rest = turns or sorted(place for place, names in frame.items() if deflection in names) or [0.0]
        out[:, k] = s < a if turns or not rest else np.clip((rest[-1] - s) / (rest[-1] - a), 0.0, 1.0)
    return out


def _extent(section: Section) -> np.ndarray:
    """Half the height along y and half the width along z; without an outline, of the rectangle with the same moments."""
    if isinstance(section, Shaped):
        return np.asarray(np.abs(section.rim()).max(axis=0))
    I, I_y, _ = section.moments
    return np.sqrt(3.0 * np.array([I, I_y]) / section.A)
