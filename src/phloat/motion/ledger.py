"""Where the energy of a run came from and where it went: H − H(0) = Σ supplied − Σ dissipated − what the scheme lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError
from phloat.joints.rows import Along, Coincide, Distance, InPlane
from phloat.motion.inputs import Inputs, given_inputs
from phloat.motion.powers import sums
from phloat.motion.result import COMPONENTS, Books, Result
from phloat.system.system import System

Line = np.ndarray  # (times,), J
LENGTHS = (Along, Coincide, Distance, InPlane)  # rows whose multipliers are forces; those of others are moments
LEAST = 1.5e-8  # √ε


@dataclass(frozen=True, eq=False)
class Ledger:
    """H − H(0) − Σ supplied + Σ dissipated = residual, all (times,) in J and counted from the start of the run.

    `stored` the energy of each body and spring (`parts[body]` has it as kinetic, elastic, potential); `supplied` the work of
    each drive, effort, wrench, force, torque and load, and of events that changed the state; `dissipated` what damping of bodies
    and dampers took; `exchanged[joint]` (times, 2) what a joint did on its first and second body, zero in sum unless it is
    driven. `note` says how works were found if the scheme did not count them. `carried` is what the forces of the joint that
    carries most would do over the extent of the system, and its moments over a radian.
    """

    t: Line
    stored: Mapping[str, Line]
    parts: Mapping[str, Mapping[str, Line]]
    supplied: Mapping[str, Line]
    dissipated: Mapping[str, Line]
    exchanged: Mapping[str, np.ndarray]
    note: str = ""
    carried: float = 0.0

    @property
    def energy(self) -> Line:
        """H, springs included."""
        return _sum(self.stored, self.t)

    @property
    def residual(self) -> Line:
        """What does not balance: round-off for the default scheme."""
        H = self.energy
        return H - H[0] - _sum(self.supplied, self.t) + _sum(self.dissipated, self.t)

    @property
    def lost(self) -> Line:
        """What the scheme took: all that is missing."""
        return -self.residual

    @property
    def relative(self) -> float:
        """The largest residual beside the largest energy that was stored, supplied or dissipated in one place.

        Where nothing moves these are round-off themselves; then it stands beside √ε `carried`, as places are known to ε.
        """
        lines = [line for part in self.parts.values() for line in part.values()]
        lines += [*self.stored.values(), *self.supplied.values(), *self.dissipated.values()]
        largest = max((float(np.abs(line).max(initial=0.0)) for line in lines), default=0.0)
        largest = max(largest, LEAST * self.carried)
        return float(np.abs(self.residual).max(initial=0.0)) / largest if largest else 0.0

    def __str__(self) -> str:
        rows = [f"energy in J, from t = {self.t[0]:g} s to {self.t[-1]:g} s"]
        for title, lines in (("stored", self.stored), ("supplied", self.supplied), ("dissipated", self.dissipated)):
            for name, line in lines.items():
                change = f"{line[-1] - line[0]:+14.6g}" + (
                    f"   {line[0]:.6g} → {line[-1]:.6g}" if lines is self.stored else ""
                )
                rows.append(f"{title:<11}{name:<24}{change}")
        rows.append(f"{'H − H(0)':<35}{self.energy[-1] - self.energy[0]:+14.6g}")
        largest = float(np.abs(self.residual).max())
        rows.append(f"{'residual':<35}{self.residual[-1]:+14.3g}   at most {largest:.2g}, relative {self.relative:.1e}")
        return "\n".join(rows + ([self.note] if self.note else []))


def energy_ledger(result: Result, u: Mapping[str, object] | Inputs | None = None) -> Ledger:
    """The ledger of a run, from its books.

    Schemes that keep none are summed up from their states by the trapezoidal rule over the outputs; `u` is needed then, as it
    was given to `simulate`, and is ignored otherwise.
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is no Result; simulate(…) makes one")
    if result.books is not None:
        return _counted(result, result.books)
    return _summed(result, given_inputs(result.system, u), given=u is not None)


def _counted(result: Result, books: Books) -> Ledger:
    """From works that the scheme counted."""
    system = result.system
    parts = {
        name: {part: books.bodies[:, i, k] for k, part in enumerate(COMPONENTS)} for i, name in enumerate(system.bodies)
    }
    stored = {name: books.bodies[:, i].sum(axis=1) for i, name in enumerate(system.bodies)}
    dissipated = {
        name: books.losses[:, i] - books.losses[0, i] for i, name in enumerate(system.bodies) if _damped(system, name)
    }
    supplied: dict[str, Line] = {}
    exchanged: dict[str, np.ndarray] = {}
    for j, name in enumerate(books.names):
        works = books.works[:, j] - books.works[0, j]
        if name in system.elements:
            spring, key, laws = books.springs[:, j], _element(system, name), system.elements[name].laws
            if any(law.stores for law in laws):
                stored[key] = spring
            if any(law.resists for law in laws):
                dissipated[key] = -works.sum(axis=1) - (spring - spring[0])
        elif name in system.joints and name not in exchanged and system.joints[name].rows:
            exchanged[name] = works  # the entries of closed rows come before those of efforts
            if system.joints[name].driven:
                supplied[name] = works.sum(axis=1)
        else:
            supplied[name] = supplied.get(name, 0.0) + works.sum(axis=1)
    return Ledger(result.t, stored, parts, supplied, dissipated, exchanged, carried=_carried(result))


def _summed(result: Result, inputs: Inputs, *, given: bool) -> Ledger:
    """From states, multipliers and inputs at the outputs."""
    system = result.system
    at = sums(result, inputs)
    note = "this scheme keeps no books: works are sums by the trapezoidal rule over the outputs"
    note += "" if given else ", and inputs are not known; give them as energy_ledger(result, u=…) if there were any"
    elements = {_element(system, name): line for name, line in at.springs.items()}
    dampers = {_element(system, name): line for name, line in at.dampers.items()}
    stored = {name: sum(part.values(), np.zeros(len(result))) for name, part in at.parts.items()}
    return Ledger(
        result.t,
        stored | elements,
        at.parts,
        at.supplied,
        at.losses | dampers,
        at.exchanged,
        note=note,
        carried=_carried(result),
    )


def _carried(result: Result) -> float:
    """The most that a joint carries: forces times the extent of the system, and moments."""
    system, start = result.system, result.state(0)
    places = np.array([start.pose(name).r_P for name in system.bodies])
    extent = float(np.ptp(places, axis=0).max() + max(body.extent for body in system.bodies.values()))
    most = 0.0
    for name in system.multipliers:
        rows = system.joints[name].rows
        arm = np.concatenate([np.full(len(row.labels), extent if isinstance(row, LENGTHS) else 1.0) for row in rows])
        most = max(most, float((np.abs(result[f"{name}.lam"]) @ arm).max(initial=0.0)))
    return most


def _damped(system: System, body: str) -> bool:
    return system.bodies[body].elastic.damped


def _element(system: System, name: str) -> str:
    """The name of an element in the ledger: its own, unless a body has it too."""
    return f"{name} (element)" if name in system.bodies else name


def _sum(lines: Mapping[str, Line], t: Line) -> Line:
    return sum(lines.values(), np.zeros(len(t)))
