"""Energy ledger of a run: H − H(0) = Σ supplied − Σ dissipated − residual of the scheme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.errors import InputError
from phloat.joints.rows import gap_units
from phloat.motion.result import COMPONENTS, EnergyAccounts, Result
from phloat.system.joint_rows import element_energies
from phloat.system.system import System
from phloat.system.terms import body_energy

Line = np.ndarray  # (times,), J
SQRT_EPSILON = 1.5e-8  # √ε


@dataclass(frozen=True, eq=False)
class Ledger:
    """H − H(0) − Σ supplied + Σ dissipated = residual, all (times,) in J and counted from the start of the run.

    `stored` is the energy of each body and spring (`parts[body]`: kinetic, elastic, potential); `supplied` the work of each drive,
    effort, wrench, force, torque and load, and of events that changed the state; `dissipated` the losses by damping of bodies and
    by dampers; `exchanged[joint]` (times, 2) the work of a joint on its first and second body, zero in sum unless it is driven.
    `note` says if works are not known. `carried` is the largest joint load as an energy: forces times the extent of the system plus
    moments times one radian.
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
        """The total energy H, springs included."""
        return _sum(self.stored, self.t)

    @property
    def residual(self) -> Line:
        """The imbalance: round-off for the default scheme."""
        H = self.energy
        return H - H[0] - _sum(self.supplied, self.t) + _sum(self.dissipated, self.t)

    @property
    def lost(self) -> Line:
        """The energy lost by the scheme, −residual."""
        return -self.residual

    @property
    def relative(self) -> float:
        """The largest residual relative to the largest stored, supplied or dissipated energy of one part.

        In a system at rest these energies are round-off; then it is relative to √ε `carried`.
        """
        lines = [line for part in self.parts.values() for line in part.values()]
        lines += [*self.stored.values(), *self.supplied.values(), *self.dissipated.values()]
        largest = max((float(np.abs(line).max(initial=0.0)) for line in lines), default=0.0)
        largest = max(largest, SQRT_EPSILON * self.carried)
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


def energy_ledger(result: Result) -> Ledger:
    """The energy ledger of a run: what was stored, supplied and dissipated, and where.

    Parameters
    ----------
    result : Result
        What `simulate` returned.

    Returns
    -------
    Ledger
        Lines (times,) in J by name, `stored`, `supplied`, `dissipated`, with H − H(0) = Σ supplied − Σ dissipated + `residual`.
        `relative` is the largest residual relative to the largest energy; print it for a summary.

    Examples
    --------
    A motor works by torque times angle:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> robot = ph.connect({"arm": arm}, [ph.Revolute("ground", "arm.P", name="motor")], plane="xy")
    >>> result = ph.simulate(robot, ph.place(robot), t_end=1.0, dt=0.01, u={"motor": 3.0})
    >>> ledger = ph.energy_ledger(result)
    >>> print(bool(np.isclose(ledger.supplied["motor"][-1], 3.0 * result["motor.angle"][-1])), bool(ledger.relative < 1e-10))
    True True
    """
    if not isinstance(result, Result):
        raise InputError(f"{type(result).__name__} is no Result; simulate(…) makes one")
    if result.accounts is not None:
        return _ledger_from_accounts(result, result.accounts)
    return _ledger_from_states(result)


def _ledger_from_accounts(result: Result, accounts: EnergyAccounts) -> Ledger:
    """The ledger from the works that the scheme has integrated."""
    system = result.system
    parts = {
        name: {part: accounts.bodies[:, i, k] for k, part in enumerate(COMPONENTS)}
        for i, name in enumerate(system.bodies)
    }
    stored = {name: accounts.bodies[:, i].sum(axis=1) for i, name in enumerate(system.bodies)}
    dissipated = {
        name: accounts.losses[:, i] - accounts.losses[0, i]
        for i, (name, body) in enumerate(system.bodies.items())
        if body.elastic.damped
    }
    supplied: dict[str, Line] = {}
    exchanged: dict[str, np.ndarray] = {}
    for j, name in enumerate(accounts.names):
        works = accounts.works[:, j] - accounts.works[0, j]
        if name in system.elements:
            spring, key, laws = accounts.springs[:, j], _element_name(system, name), system.elements[name].laws
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


def _carried(result: Result) -> float:
    """The largest joint load as an energy: forces times the extent of the system, plus moments times one radian."""
    system, start = result.system, result.state(0)
    positions = np.array([start.pose(name).r_P for name in system.bodies])
    extent = float(np.ptp(positions, axis=0).max() + max(body.extent for body in system.bodies.values()))
    most = 0.0
    for name in system.multipliers:
        rows = system.joints[name].rows
        arm = gap_units(rows, extent)  # forces have an arm, moments none
        most = max(most, float((np.abs(result[f"{name}.lam"]) @ arm).max(initial=0.0)))
    return most


def _element_name(system: System, name: str) -> str:
    """The name of an element in the ledger, which differs from the names of bodies."""
    return f"{name} (element)" if name in system.bodies else name


def _sum(lines: Mapping[str, Line], t: Line) -> Line:
    return sum(lines.values(), np.zeros(len(t)))


def _ledger_from_states(result: Result) -> Ledger:
    """The stored energies at all states, without works and losses."""
    system, states = result.system, [result.state(k) for k in range(len(result))]
    parts: dict[str, dict[str, Line]] = {}
    stored: dict[str, Line] = {}
    for name, body in system.bodies.items():
        energies = np.array([body_energy(body, state.pose(name), system.gravity) for state in states])
        parts[name], stored[name] = dict(zip(COMPONENTS, energies.T, strict=True)), energies.sum(axis=1)
    springs = [element_energies(system, state) for state in states]
    for name, element in system.elements.items():
        if any(law.stores for law in element.laws):
            stored[_element_name(system, name)] = np.array([row[name] for row in springs])
    note = (
        "this run keeps no energy accounts: works and losses are not known, and the residual is all that they changed"
    )
    return Ledger(result.t, stored, parts, {}, {}, {}, note, _carried(result))
