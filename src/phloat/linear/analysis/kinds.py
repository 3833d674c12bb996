"""Kinds of modes in words, from shares of energy: which body bends, twists or swings, or moves on which spring.

Potential energy: the stress σ = E_σ⁻¹ε of a mode works on its strain ε = Lᵀv as Σ σ_i ε_i, which adds up by body and resultant, by
spring, and over the loads. Kinetic energy: Σ v_i (M v)_i adds up by body; with the momenta p of its rigid motions (v_P, ω) and
their inertia M_r, pᵀM_r⁻¹p belongs to its mean rigid motion. Nothing of this depends on the frame of the body.

The energy of springs and loads is divided among bodies by their kinetic energies. Shares are relative to the sum of the magnitudes
of all potential energies. Modes of equal frequency, whose combinations are modes too, have the mean of their energies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from phloat.algebra.layout import Layout
from phloat.algebra.sparse import Matrix
from phloat.linear.form.fields import Field
from phloat.linear.form.phdae import LinearPHDAE

EQUAL = 1e-6  # relative difference up to which two frequencies are equal
LEAST = 0.1  # share of the potential energy from which a part is in the name of a mode
MOST_PARTS = 3
CANCELLED = 1e-6  # potential energy of a mode, relative to its parts, up to which they cancel and it counts as rigid
RIGID = (
    0.9  # share of the mean rigid motion in the kinetic energy of a body from which it swings, translates or rotates
)
ALONG = 0.9  # share of an axis in the energy of a translation or rotation from which it is named
TURNING = 0.2  # share of the rotation in it from which a body rotates: a rod about its end has 0.25
AXES = {2: [0, 1], 3: [0, 1, 5], 6: [0, 1, 2, 3, 4, 5]}  # those of (v_P, ω), by their number
PLATE = "bending of {}"
BENDING = {
    "bending of {} along y": ("M_z", "Q_y", "bending along y"),
    "bending of {} along z": ("M_y", "Q_z", "bending along z"),
}
WORDS = BENDING | {
    "stretch of {}": ("N", "axial", "N_xx", "N_yy", "N_xy"),
    "torsion of {}": ("T", "torsion"),
    PLATE: ("M", "M_xx", "M_yy", "M_xy", "Q_x"),
    "deformation of {} in its plane xy": ("fields in plane", "pairs in plane"),
    "deformation of {} out of its plane xy": ("fields out of plane", "pairs out of plane"),
}


@dataclass
class BodyMotion:
    """Twice the kinetic energy of a body in each mode, and of its mean translation and rotation by inertial axes, (3, modes)."""

    kinetic: np.ndarray
    linear: np.ndarray
    angular: np.ndarray


@dataclass(frozen=True)
class Energies:
    """Twice the energies of modes: potential of strains by words, of springs by name, and of loads; kinetic of bodies."""

    strains: dict[str, np.ndarray]
    springs: dict[str, np.ndarray]
    loads: np.ndarray
    moving: dict[str, BodyMotion]
    spinning: bool


def mode_kinds(system: LinearPHDAE, vectors: np.ndarray, groups: np.ndarray) -> list[str]:
    """The kind of each mode, (velocities, modes); modes of equal frequency have the same number in `groups`, rigid ones 0.

    The kinds are empty where rows have no names of bodies, as in a reduced system.
    """
    mean = (groups[:, None] == groups) / np.bincount(groups)[groups]
    moving = _moving(system, vectors, mean)
    if not moving:
        return [""] * len(groups)
    x = Energies(*_potential(system, vectors, mean), moving, np.iscomplexobj(vectors))
    equal = [np.setdiff1d(np.flatnonzero(groups == group), k) for k, group in enumerate(groups)]
    return [_kind(x, k, equal[k], groups[k] == 0) for k in range(len(groups))]


# --- words -----------------------------------------------------------------------------------------------------------


def _kind(x: Energies, k: int, equal: np.ndarray, rigid: bool) -> str:
    """The kind of mode k: its largest parts with their shares, and the modes of equal frequency."""
    parts, springs = ({name: float(work[k]) for name, work in some.items()} for some in (x.strains, x.springs))
    loads = float(x.loads[k])
    works = [*parts.values(), *springs.values(), loads]
    total, inertia = sum(map(abs, works)), sum(one.kinetic[k] for one in x.moving.values())
    if rigid := rigid or abs(sum(works)) <= CANCELLED * total:
        parts, springs, loads, total = {}, {}, 0.0, 1.0
    supports = 1.0 if rigid else sum(map(abs, springs.values())) + abs(loads)
    on = [name for name, work in springs.items() if abs(work) > LEAST * total]
    verb = "" if abs(loads) <= 0.5 * supports else "motion" if x.spinning else "swing" if loads > 0.0 else "tilt"
    shares = {words: abs(work) / total for words, work in parts.items()}
    for name, one in x.moving.items():
        words = f"motion of {name}" if rigid and equal.size else _motion(name, one, k, verb, on)
        shares[words] = supports / total * one.kinetic[k] / inertia
    order = sorted(shares, key=lambda words: (-round(shares[words], 6), words))
    chosen = [words for words in order if shares[words] >= LEAST][:MOST_PARTS] or order[:1]
    text = ", ".join(f"{words} ({100 * shares[words]:.0f} %)" for words in chosen)
    others = f"{'modes' if len(equal) > 1 else 'mode'} {', '.join(map(str, equal))}"
    return f"{text}; same frequency as {others}" if equal.size and not rigid else text


def _motion(name: str, x: BodyMotion, k: int, verb: str, on: list[str]) -> str:
    """The motion of a body in mode k in words; `verb` is that under loads, `on` are the springs that deform."""
    linear, angular = x.linear[:, k], x.angular[:, k]
    support = f" on {', '.join(on) if len(on) <= MOST_PARTS else f'{len(on)} springs'}" if on else ""
    if verb == "motion" or linear.sum() + angular.sum() < RIGID * x.kinetic[k]:
        return f"motion of {name}{' under load' if verb else support}"
    turns = bool(verb) or angular.sum() >= TURNING * (linear.sum() + angular.sum())
    noun, by, energy = (verb or "rotation", "about", angular) if turns else ("translation", "along", linear)
    axis = int(energy.argmax())
    named = energy[axis] >= ALONG * energy.sum() and (x.angular[:2].any() or not turns)  # in a plane all turn about z
    return f"{noun} of {name}" + (f" {by} {'xyz'[axis]}" if named else "") + support


def _strain_words(name: str, names: Layout) -> str:
    """The words for one of the stresses of a body with these names; those of coupled families are joined by "and"."""
    families = [next((words for words, known in WORDS.items() if part in known), "") for part in name.split(" and ")]
    words = " and ".join(dict.fromkeys(family or "deformation of {}" for family in families))
    present = set(" and ".join(names).split(" and "))
    directions = sum(bool(present.intersection(known)) for known in BENDING.values())
    if directions == 1 or present.intersection(WORDS[PLATE]):  # in a plane, or a plate
        return words.replace(" along y", "").replace(" along z", "")
    return words


# --- energies --------------------------------------------------------------------------------------------------------


def _potential(
    system: LinearPHDAE, v: np.ndarray, mean: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """Twice the potential energies of the modes v: of strains by words, of springs by name, and of loads."""
    n, none = system.split, np.zeros(v.shape[1])
    strain, work = system.J[n:, :n] @ v, np.zeros((0, v.shape[1]))
    if strain.size:
        compliance = spla.splu(system.E[n:, n:].tocsc())
        work = (compliance.solve(strain.real) * strain.real + compliance.solve(strain.imag) * strain.imag) @ mean
    strains: dict[str, np.ndarray] = {}
    springs: dict[str, np.ndarray] = {}
    loads = none
    for words, spring, rows in _stress_parts(system):
        part = work[rows].sum(axis=0)
        if words:
            strains[words] = strains.get(words, none) + part
        elif spring:
            springs[spring] = springs.get(spring, none) + part
        else:
            loads = loads + part
    return strains, springs, loads


def _stress_parts(system: LinearPHDAE) -> Iterator[tuple[str, str, slice]]:
    """The words for a deformation, or the name of a spring, or neither for loads, and their rows among the stresses."""
    bodies = {name.removesuffix(".body"): _beam_name(name, part) for name, part in system.fields.items()}
    for block in (name for name in system.rows if system.rows[name].start >= system.split):
        here, names = system.rows[block], system.parts.get(block, Layout({}))
        owner, start = block.removesuffix("sigma").removesuffix(".") or "body", here.start - system.split
        loads = block.rpartition(".")[2] == "loads"
        for name, own in names.slices.items():
            words = "" if loads else _strain_words(name, names).format(bodies.get(owner, owner))
            yield words, name, slice(start + own.start, start + own.stop)
        if loads or not names.size:
            words = f"deformation of {bodies[owner]}" if owner in bodies else ""
            yield words, "" if loads else owner, slice(start + names.size, here.stop - system.split)


def _beam_name(name: str, part: Field) -> str:
    """The name of a body; of a piece of a split beam that of the beam."""
    return name.rpartition(".")[0] if getattr(part.body, "pieces", 0) else name


def _moving(system: LinearPHDAE, v: np.ndarray, mean: np.ndarray) -> dict[str, BodyMotion]:
    """Twice the kinetic energies of all bodies whose rows have their names; pieces of a split beam are added up."""
    out: dict[str, BodyMotion] = {}
    momenta, rows = system.E[: system.split, : system.split] @ v, system.rows
    for name, part in system.fields.items():
        prefix = f"{name}." if f"{name}.v_P" in rows or f"{name}.v" in rows else name.removesuffix("body")
        blocks = {q: rows[prefix + q] for q in ("v_P", "omega", "eta_dot", "v") if prefix + q in rows}
        if not blocks:
            continue
        none = np.zeros((3, v.shape[1]))
        x = out.setdefault(_beam_name(name, part), BodyMotion(none[0], none, none))
        for block in blocks.values():
            x.kinetic = x.kinetic + (v[block].conj() * momenta[block]).real.sum(axis=0) @ mean
        rigid = rows.indices([prefix + q for q in ("v_P", "omega") if q in blocks])
        if rigid.size:
            A = np.eye(3) if part.pose is None else part.pose.A
            linear, angular = _rigid_energies(system.E[rigid][:, rigid], momenta[rigid], A)
            x.linear, x.angular = x.linear + linear @ mean, x.angular + angular @ mean
    return out


def _rigid_energies(inertia: Matrix, momenta: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Twice the kinetic energies of the mean translation and rotation of a body by inertial axes, each (3, modes)."""
    axes = AXES[len(momenta)]
    M, p, twist = np.zeros((6, 6)), *np.zeros((2, 6, momenta.shape[1]), momenta.dtype)
    M[np.ix_(axes, axes)], p[axes] = inertia.toarray(), momenta
    twist[axes] = la.pinvh(inertia.toarray()) @ momenta
    arm = np.array([M[5, 1], -M[5, 0], M[4, 0]]) / M[0, 0]  # from P to the mass centre
    spin = p[3:] - np.cross(arm, p[:3], axis=0)
    return np.abs(A @ p[:3]) ** 2 / M[0, 0], ((A @ twist[3:]).conj() * (A @ spin)).real
