"""SciPy's systems, there and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from phloat.algebra.sparse import Matrix
from phloat.errors import InputError
from phloat.linear.passive_form import from_state_space
from phloat.linear.phdae import LinearPHDAE
from phloat.linear.state_space import state_space

if TYPE_CHECKING:  # it takes half a second to import
    import scipy.signal as signal


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
