"""States from measurements: x̂' = A x̂ + B u + L (m − C x̂), with m the rates and positions of ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.control.closed import closed
from phloat.control.design import Design, in_order, riccati
from phloat.control.pid import pid
from phloat.control.wires import numbers
from phloat.errors import InputError, not_negative, positive
from phloat.linear.phdae import LinearPHDAE


@dataclass(frozen=True, eq=False)
class Observer:
    """The gain L of the measured `rates` and `places` (positions) of ports of the plant of `design`.

    `error` is what the estimate misses, as a port-Hamiltonian system, where the observer is made so.
    """

    design: Design
    rates: tuple[str, ...]
    places: tuple[str, ...]
    L: np.ndarray
    error: LinearPHDAE | None = None

    @cached_property
    def C(self) -> np.ndarray:
        """m = C x."""
        return np.vstack([self.design.rates(self.rates), self.design.places(self.places)])

    @property
    def poles(self) -> np.ndarray:
        """Of the error, rad/s, by size."""
        values = np.linalg.eigvals(self.design.A - self.L @ self.C)
        return values[np.argsort(np.abs(values), kind="stable")]


@one_thread()
def kalman(
    plant: LinearPHDAE,
    *,
    rate: Mapping[str, float] | None = None,
    position: Mapping[str, float] | None = None,
    disturbance: float | Mapping[str, float] = 1.0,
    energy: float = 0.0,
) -> Observer:
    """The observer of least variance: white noise of these intensities in the measured rates and positions of ports.

    `disturbance` is the intensity of white efforts at all ports, or at those named; `energy` that of noise in every energy
    coordinate, for what the model leaves out.
    """
    rates, places = (
        {p: positive(f"noise in the {what} of {p!r}", w) for p, w in numbers(what, given).items()}
        for what, given in (("rate", rate), ("position", position))
    )
    design = Design(plant, in_order(plant, places))
    observer = _measured(design, rates, places)
    noises = disturbance if isinstance(disturbance, Mapping) else dict.fromkeys(plant.ports, disturbance)
    W = np.zeros_like(design.A)
    W[: design.size, : design.size] += not_negative("energy", energy) * np.eye(design.size)
    for port, intensity in numbers("disturbance", noises).items():
        B = design.inputs([port])
        W += not_negative(f"disturbance at {port!r}", intensity) * B @ B.T
    V = np.diag([*(rates[p] for p in observer.rates), *(places[p] for p in observer.places)])
    seen = ", ".join(map(repr, dict.fromkeys([*observer.rates, *observer.places])))
    P = riccati(design.A.T, observer.C.T, W, V, f"seen at {seen}")
    return Observer(design, observer.rates, observer.places, P @ observer.C.T @ np.linalg.inv(V))


@one_thread()
def passive_observer(
    plant: LinearPHDAE, *, rate: Mapping[str, float], position: Mapping[str, float] | None = None
) -> Observer:
    """The plant once more, held to the measured one by dampers (`rate`) and springs (`position`) at the ports.

    What the estimate misses is then itself a passive system, `error`: the plant with these dampers and springs. It dies away
    for any gains, and whatever the plant, as long as no undamped mode stands still at all of these ports.
    """
    rates, places = numbers("rate", rate), numbers("position", position)
    for what, given in (("rate", rates), ("position", places)):
        for port, gain in given.items():
            positive(f"{what} gain at {port!r}", gain)
    design = Design(plant, in_order(plant, places))
    made = _measured(design, rates, places)
    L = np.hstack(
        [
            design.inputs(made.rates) * np.array([rates[p] for p in made.rates]),
            design.inputs(made.places) * np.array([places[p] for p in made.places]),
        ]
    )
    ports = in_order(plant, [*rates, *places])
    parts = [pid(p, proportional=rates.get(p, 0.0), integral=places.get(p, 0.0), name=f"{p}.observer") for p in ports]
    observer = Observer(design, made.rates, made.places, L, closed(plant, *parts))
    if (slowest := observer.poles.real.max()) >= -1e-12 * max(design.fastest, 1.0):
        raise InputError(
            f"the error of the estimate does not die away: a pole at {slowest:.3g} 1/s; measure at a port that moves with it, "
            "or damp the plant"
        )
    return observer


def _measured(design: Design, rates: Mapping[str, float], places: Mapping[str, float]) -> Observer:
    if not rates and not places:
        raise InputError(
            f"nothing is measured; give rate={{port: …}} or position={{port: …}}: {', '.join(design.plant.ports)}"
        )
    L = np.zeros((len(design.A), len(rates) + len(places)))
    return Observer(design, in_order(design.plant, rates), in_order(design.plant, places), L)
