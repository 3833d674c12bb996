"""The energy of a nonlinear plant and its passive controller together, from a run of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.control.acting import Acting, wiring
from phloat.control.passive import Passive
from phloat.control.wires import axis, step_of
from phloat.errors import InputError
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.result import Result

Line = np.ndarray


@dataclass(frozen=True, eq=False)
class LoopLedger:
    """H + H_c − (H + H_c)(0) − Σ supplied + Σ dissipated + lost = residual, all (times,) in J.

    `plant` is the energy of the plant, `controller` that of the controller, `lost` what its own resistances took; `supplied` and
    `dissipated` are the lines of the plant's ledger that have nothing to do with the controller; `exchanged` is what the
    controller gave to the plant.
    """

    t: Line
    plant: Line
    controller: Line
    lost: Line
    exchanged: Line
    supplied: Mapping[str, Line]
    dissipated: Mapping[str, Line]

    @property
    def energy(self) -> Line:
        """H + H_c."""
        return self.plant + self.controller

    @property
    def residual(self) -> Line:
        """What does not balance: round-off."""
        nothing = np.zeros(len(self.t))
        out, into = sum(self.dissipated.values(), nothing), sum(self.supplied.values(), nothing)
        return self.energy - self.energy[0] - into + out + self.lost

    @property
    def surplus(self) -> float:
        """By how much the energy ever exceeded what was there and what other ports supplied: round-off, in a passive loop."""
        into = sum(self.supplied.values(), np.zeros(len(self.t)))
        return float((self.energy - self.energy[0] - into).max())


def loop_ledger(result: Result, controller: Passive) -> LoopLedger:
    """The ledger of a run simulate(…, controller=controller) that kept every step; the controller's steps are made again."""
    if not isinstance(result, Result) or not isinstance(controller, Passive):
        raise InputError(
            f"the ledger of a loop needs a Result and the passive controller of it, not "
            f"{type(result).__name__} and {type(controller).__name__}"
        )
    names = [f"{port}.{controller.name}" for port in controller.ports]
    if not set(names) & set(result.system.elements):
        raise InputError(f"{controller.name!r} had no part in this run; give the controller that simulate(…) had")
    h = np.diff(result.t)
    if len(h) == 0 or np.ptp(h) > 1e-6 * h[0]:
        raise InputError("the steps of this run are not equal; keep every step (output=1) and let dt divide the run")
    ledger, system = energy_ledger(result), result.system
    places = np.stack([result[f"{port}.{axis(system, port).label}"] for port in controller.ports], axis=1)
    moved = np.array(
        [[step_of(system, p, x) for p, x in zip(controller.ports, row, strict=True)] for row in np.diff(places, axis=0)]
    )
    stored, lost = _again(controller, result, places, moved, float(h[0]))
    return LoopLedger(
        result.t,
        ledger.energy,
        stored,
        lost,
        _given(ledger, controller, names),
        {name: line for name, line in ledger.supplied.items() if name not in controller.ports},
        {name: line for name, line in ledger.dissipated.items() if name not in names},
    )


def _again(
    controller: Passive, result: Result, places: np.ndarray, moved: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """H_c and its losses; a constant effort has the energy −bias q."""
    mine, ports = controller.system, controller.ports
    acting = Acting(mine, wiring(controller.name, mine.ports, controller.wires, ports, result.system.ports), h)
    e = controller.start(dict(zip(ports, places[0], strict=True)))
    bias = np.array([controller.bias.get(port, 0.0) for port in ports])
    stored, lost = [mine.energy(e)], [0.0]
    for step in moved:
        mean = acting.mean(e, step / h)
        e = 2.0 * mean - e
        stored.append(mine.energy(e))
        lost.append(lost[-1] + h * float(mean @ (mine.R @ mean)))
    way = np.concatenate([np.zeros((1, len(ports))), np.cumsum(moved, axis=0)])
    return np.array(stored) - way @ bias, np.array(lost)


def _given(ledger: Ledger, controller: Passive, names: list[str]) -> np.ndarray:
    nothing = np.zeros(len(ledger.t))
    pushed = sum((ledger.supplied.get(port, nothing) for port in controller.ports), nothing)
    return pushed - sum((ledger.dissipated.get(name, nothing) for name in names), nothing)
