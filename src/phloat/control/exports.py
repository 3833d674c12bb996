"""Plants for python-control and for SciPy, and controllers back, with named signals where these have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from phloat.algebra.sparse import Matrix
from phloat.errors import InputError
from phloat.linear.passive_form import from_state_space
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.state_space import state_space

if TYPE_CHECKING:
    import scipy.signal as signal  # it takes half a second to import
    from control import StateSpace

KINDS = re.compile(r"(?P<port>.+)_(?:effort|flow)(?:\[\d+\])?$")


def to_control(system: LinearPHDAE, *, name: str | None = None) -> StateSpace:
    """The system as a `control.StateSpace` of dense matrices; joints are eliminated.

    Inputs are called "elbow_effort", outputs "elbow_flow" ("tip_effort[0]" … of ports with several components); a dot in a
    name becomes "_", since python-control allows none. The states are coordinates of energy, H = ½ xᵀx, so that A + Aᵀ ≤ 0 and
    C = Bᵀ; `state_space(system).T` leads back to the rows.
    """
    control = _package()
    plant = state_space(system)
    inputs, outputs = _without_dots(plant.inputs), _without_dots(plant.outputs)
    if name is not None and (not isinstance(name, str) or not name or "." in name):
        raise InputError(f"{name!r} cannot name a system of python-control: a name is a word without a dot")
    return control.ss(plant.A, plant.B, plant.C, plant.D, inputs=inputs, outputs=outputs, name=name)


def from_control(
    system: StateSpace,
    *,
    ports: Mapping[str, int] | Sequence[str] | None = None,
    energy: ArrayLike | Matrix | None = None,
) -> LinearPHDAE:
    """A passive system or controller of python-control as a `LinearPHDAE`; one that is not passive is refused with a number.

    Ports are called by the signals: "elbow_effort" with "elbow_flow" make "elbow", others are called as the input; `ports`
    names them otherwise, {name: number of components}. The energy is found, unless it is given: H = ½ xᵀ energy x. A transfer
    function is realised first.
    """
    control = _package()
    if isinstance(system, control.TransferFunction):
        system = control.ss(system)
    if not isinstance(system, control.StateSpace):
        raise InputError(f"{type(system).__name__} is no state space of python-control; control.ss(…) makes one")
    if system.isdtime(strict=True):
        raise InputError(
            f"the system is sampled every {system.dt} s; only systems in continuous time are imported: take the continuous "
            "design, or use it as controller=f(t, y) with every="
        )
    named = _ports_of(system.input_labels, system.output_labels) if ports is None else ports
    return from_state_space(system.A, system.B, system.C, system.D, ports=named, energy=energy)


def _without_dots(names: Iterable[str]) -> list[str]:
    out: dict[str, str] = {}
    for name in names:
        plain = name.replace(".", "_")
        if plain in out:
            raise InputError(
                f"signals {out[plain]!r} and {name!r} are both {plain!r} without dots, which python-control does not allow; "
                "keep one of the ports with with_ports(…)"
            )
        out[plain] = name
    return list(out)


def _ports_of(inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, int]:
    ports: dict[str, int] = {}
    for u, y in zip(inputs, outputs, strict=False):
        pair = KINDS.match(u), KINDS.match(y)
        name = pair[0]["port"] if pair[0] and pair[1] and pair[0]["port"] == pair[1]["port"] else u
        ports[name] = ports.get(name, 0) + 1
    return ports if sum(ports.values()) == len(inputs) else dict.fromkeys(inputs, 1)


def _package() -> Any:
    try:
        import control
    except ImportError:
        raise InputError("python-control is not installed; pip install phloat[control]") from None
    return control


# --- SciPy -----------------------------------------------------------------------------------------------------------
#
# SciPy's systems, there and back.


def to_scipy(system: LinearPHDAE) -> signal.StateSpace:
    """The system as a `scipy.signal.StateSpace`; joints are eliminated, and H = ½ xᵀx.

    Inputs and outputs stand in the order of `system.ports`; `state_space(system)` has their names and the way back to the
    rows, `descriptor(system)` the sparse form with E and λ.
    """
    import scipy.signal as signal

    plant = state_space(system)
    return signal.StateSpace(plant.A, plant.B, plant.C, plant.D)


def from_scipy(
    system: signal.lti,
    *,
    ports: Mapping[str, int] | Sequence[str] | None = None,
    energy: ArrayLike | Matrix | None = None,
) -> LinearPHDAE:
    """A passive continuous system of SciPy as a `LinearPHDAE`, its energy given or found; as `from_control`."""
    import scipy.signal as signal

    if isinstance(system, signal.dlti):
        raise InputError(f"the system is sampled every {system.dt} s; only systems in continuous time are imported")
    if not isinstance(system, signal.lti):
        raise InputError(f"{type(system).__name__} is no system of SciPy; scipy.signal.StateSpace(…) makes one")
    space = system.to_ss()
    return from_state_space(space.A, space.B, space.C, space.D, ports=ports, energy=energy)
