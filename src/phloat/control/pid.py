"""Passive controllers to begin with: dampers, PI and PID on the flow of a port, any port-Hamiltonian system by its wires."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import scipy.linalg as la

from phloat.algebra.layout import Layout
from phloat.control.passive import Passive
from phloat.control.wires import Wire
from phloat.errors import InputError, finite, not_negative, positive
from phloat.joints.elements import JointDamper, JointSpring
from phloat.linear.interconnect import side_by_side
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.state_space import state_space


def wired(controller: LinearPHDAE, *wires: Wire, name: str = "controller") -> Passive:
    """Control by interconnection: any passive port-Hamiltonian system as a controller."""
    for wire in wires:
        if not isinstance(wire, Wire):
            raise InputError(f"{wire!r} is no wire; write Wire('port of the controller', 'port of the plant')")
    return Passive(name=name, system=controller, wires=wires)


def damping_injection(port: str, gain: float, *, name: str = "") -> Passive:
    """u = −gain y: a damper at a port."""
    return pid(port, proportional=positive(f"gain at {port!r}", gain), name=name)


def pid(
    port: str,
    *,
    proportional: float = 0.0,
    integral: float = 0.0,
    derivative: float = 0.0,
    filter: float = 0.0,
    target: float = 0.0,
    origin: float = 0.0,
    name: str = "",
) -> Passive:
    """u = −(k_p + k_i/s + k_d s/(1 + τs)) y on the flow of a port: damper, spring about `target`, and an inertia.

    τ is `filter`: the derivative is that of an inertia k_d behind a damper k_d/τ. All of it is passive, for any gains ≥ 0.
    """
    gains = {"proportional": proportional, "integral": integral, "derivative": derivative}
    k_p, k_i, k_d = (not_negative(f"{what} gain at {port!r}", gain) for what, gain in gains.items())
    if not k_p + k_i + k_d:
        raise InputError(f"all gains at {port!r} are zero; give proportional=, integral= or derivative=")
    if k_d and not not_negative(f"filter at {port!r}", filter):
        raise InputError(f"a derivative at {port!r} needs filter=…, the time after which it gives way, in s")
    name = name or f"{port}.control"
    blocks: dict[str, tuple[float, float]] = {}  # E and R of each row
    if k_d:
        blocks["inertia"] = (k_d, 0.0)
    if k_i:
        blocks["spring"] = (1.0 / k_i, 0.0)
    if k_p:
        blocks["damper"] = (0.0, 1.0 / k_p)
    if k_d:
        blocks["behind"] = (0.0, filter / k_d)
    rows = Layout(dict.fromkeys(blocks, (1,)), "row")
    J = np.zeros((rows.size, rows.size))
    if k_d:
        a, b = rows["inertia"].start, rows["behind"].start
        J[a, b], J[b, a] = 1.0, -1.0
    system = LinearPHDAE(
        E=np.diag([E for E, _ in blocks.values()]),
        J=J,
        R=np.diag([R for _, R in blocks.values()]),
        B=np.array([[0.0 if row == "inertia" else 1.0] for row in rows]),
        rows=rows,
        ports=Layout({"port": (1,)}, "port"),
        split=int(k_d > 0),
    )
    parts: list[JointSpring | JointDamper] = []
    if k_i:
        parts.append(JointSpring(port, stiffness=k_i, rest=float(finite("target", target, ())), name=f"{name}.spring"))
    if k_p:
        parts.append(JointDamper(port, damping=k_p, name=f"{name}.damper"))
    return Passive(
        name=name,
        system=system,
        wires=(Wire("port", port),),
        springs={"spring": (port, k_i)} if k_i else {},
        target={port: float(finite("target", target, ()))},
        origin={port: float(finite("origin", origin, ()))},
        elements=None if k_d else tuple(parts),
        made=partial(pid, port, **gains, filter=filter, target=target, origin=origin, name=name),
    )


def together(*controllers: Passive, name: str = "controllers") -> Passive:
    """Passive controllers as one."""
    for c in controllers:
        if not isinstance(c, Passive):
            raise InputError(f"{c!r} is no passive controller; only those can be put together")
    merged: dict[str, dict[str, float]] = {}
    for what in ("target", "origin", "bias"):
        merged[what] = {}
        for c in controllers:
            for port, value in getattr(c, what).items():
                if merged[what].setdefault(port, value) != value:
                    raise InputError(
                        f"two controllers have different {what}s at {port!r}: {merged[what][port]:g}, {value:g}"
                    )
    lists = [c.elements for c in controllers]
    return Passive(
        name=name,
        system=side_by_side(*(c.system.prefixed(c.name) for c in controllers)),
        wires=tuple(replace(w, controller=f"{c.name}.{w.controller}") for c in controllers for w in c.wires),
        springs={f"{c.name}.{row}": s for c in controllers for row, s in c.springs.items()},
        target=merged["target"],
        origin=merged["origin"],
        bias=merged["bias"],
        elements=None if any(x is None for x in lists) else tuple(e for x in lists if x is not None for e in x),
    )


# --- tuning ----------------------------------------------------------------------------------------------------------
#
# The gain of a damper at a port for a wanted decay rate of a mode.


STEPS = 400  # between the smallest and the largest gain that are tried


def gain_for(plant: LinearPHDAE, port: str, *, decay: float, omega: float) -> float:
    """The least gain of damping_injection(port, gain) with which the mode near `omega` (rad/s) dies away as exp(−decay t)."""
    positive("decay", decay)
    positive("omega", omega)
    space = state_space(plant.with_ports(port))
    if space.B.shape[1] != 1:
        raise InputError(f"port {port!r} has {space.B.shape[1]} components; take one of one component")
    gains = np.concatenate([[0.0], np.geomspace(1e-6, 1e4, STEPS) * omega / max(float(np.sum(space.B**2)), 1e-300)])
    pole = _nearest(np.linalg.eigvals(space.A), 1j * omega)
    if -pole.real >= decay:
        raise InputError(f"the mode at {abs(pole.imag):.4g} rad/s decays by {-pole.real:.3g} 1/s without any gain")
    best = (0.0, -pole.real)
    for low, high in pairwise(gains):  # follow the pole from gain to gain
        after = _nearest(_poles(space.A, space.B, high), pole)
        if -after.real >= decay:
            return _between(space.A, space.B, pole, low, high, decay)
        if after.imag < 0.05 * omega:
            break
        pole, best = after, max(best, (high, -after.real), key=lambda pair: pair[1])
    raise InputError(
        f"a damper at {port!r} makes the mode near {omega:.4g} rad/s decay by {best[1]:.4g} 1/s at most, "
        f"with the gain {best[0]:.3g}; ask for less, or act where it moves more"
    )


def _between(A: np.ndarray, B: np.ndarray, pole: complex, low: float, high: float, decay: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        found = _nearest(_poles(A, B, middle), pole)
        low, high, pole = (low, middle, pole) if -found.real >= decay else (middle, high, found)
    return 0.5 * (low + high)


def _poles(A: np.ndarray, B: np.ndarray, gain: float) -> np.ndarray:
    return np.asarray(la.eigvals(A - gain * B @ B.T))


def _nearest(values: np.ndarray, to: complex) -> complex:
    return complex(values[np.argmin(np.abs(values - to))])
