"""Transfer functions between named ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phloat.algebra.sparse import largest
from phloat.algebra.threads import one_thread
from phloat.errors import InputError, PortError, finite, finite_row, unknown
from phloat.linear.channels import channels, listed
from phloat.linear.interconnect import swapped
from phloat.linear.phdae import LinearPHDAE, linear_only
from phloat.linear.sweep import swept
from phloat.linear.transfer import FEW, SMALL, Pencil, one_by_one, triangular

TURN = 1.1 * np.pi  # a lossless port jumps by half a turn at poles and zeros: that is no whole turn to take away


@dataclass(frozen=True, eq=False)
class Response:
    """y(s) = H(s) u(s) at s = shift + jω: `values` is frequencies × outputs × inputs; `response["elbow", "shoulder"]` one line."""

    omega: np.ndarray
    values: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def magnitude(self) -> np.ndarray:
        return np.abs(self.values)

    @property
    def phase(self) -> np.ndarray:
        """In radians, unwrapped along the frequencies."""
        return np.unwrap(np.angle(self.values), axis=0, discont=TURN)

    @property
    def singular_values(self) -> np.ndarray:
        """The gains of H(s), largest first: frequencies × the smaller of outputs and inputs."""
        return np.linalg.svd(self.values, compute_uv=False)

    def __getitem__(self, pair: tuple[str, str]) -> np.ndarray:
        """The output from the input, over the frequencies."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"{pair!r} is no pair; ask for response[output, input]")
        places = []
        for kind, name, there in (("output", pair[0], self.outputs), ("input", pair[1], self.inputs)):
            if name not in there:
                raise PortError(unknown(kind, name, there))
            places.append(there.index(name))
        return self.values[:, places[0], places[1]]


@one_thread()
def response(
    system: LinearPHDAE,
    inputs: str | Sequence[str],
    outputs: str | Sequence[str] | None = None,
    *,
    omega: np.ndarray,
    shift: float = 0.0,
) -> Response:
    """H(s) from the efforts (or driven flows) of ports to the outputs of ports, at s = shift + jω.

    A component of a port with several is named "port[i]". Many frequencies cost little more than a few.
    """
    linear_only(system, circulatory=True)
    if not listed(inputs) or (outputs is not None and not listed(outputs)):
        raise InputError(f"a response needs an input and an output; the open ports are {', '.join(system.ports)}")
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    omega, shift = finite_row("omega", omega), float(finite("shift", shift, ()))
    return Response(omega, _values(system, into, out, shift + 1j * omega), input_names, output_names)


@one_thread()
def transmission(
    system: LinearPHDAE,
    source: str,
    targets: str | Sequence[str],
    *,
    omega: np.ndarray,
    shift: float = 0.0,
) -> Response:
    """What the target ports do per motion of the source port: flows from its flow, T(s) = H_ts(s) H_ss(s)⁻¹.

    A source that takes an effort is driven instead; a target that is driven itself gives its reaction. By reciprocity the
    same numbers say which part of a force at a target reaches the source when that is held.
    """
    linear_only(system, circulatory=True)
    driven = system if largest(system.B_lam[:, system.ports[source]]) else swapped(system, source)
    return response(driven, source, targets, omega=omega, shift=shift)


def _values(system: LinearPHDAE, into: np.ndarray, out: np.ndarray, s: np.ndarray) -> np.ndarray:
    pencil = Pencil.of(system, into, out)
    values = None
    if len(s) > FEW and pencil.size <= SMALL:
        values = triangular(pencil, s)
    elif len(s) > FEW and not largest(system.B_lam[:, np.union1d(into, out)]):
        values = swept(*Pencil.without_joints(system, into, out), s)
    return one_by_one(pencil, s) if values is None else values
