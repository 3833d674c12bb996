"""Transfer functions between named ports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.errors import InputError, PortError, finite, finite_row, unknown
from phloat.linear.analysis.transfer import transfer_function
from phloat.linear.form.interconnect import swap_causality
from phloat.linear.form.phdae import LinearPHDAE, Ports, channels, linear_only

TURN = 1.1 * np.pi  # a lossless port jumps by π at poles and zeros, which unwrapping must not remove


@dataclass(frozen=True, eq=False)
class Response:
    """y(s) = H(s) u(s) at s = shift + jω: `values` is frequencies × outputs × inputs; `response["elbow", "shoulder"]` one curve."""

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
            raise InputError(f"{pair!r} is not a pair; use response[output, input]")
        places = []
        for kind, name, there in (("output", pair[0], self.outputs), ("input", pair[1], self.inputs)):
            if name not in there:
                raise PortError(unknown(kind, name, there))
            places.append(there.index(name))
        return self.values[:, places[0], places[1]]


@one_thread()
def response(
    system: LinearPHDAE,
    inputs: Ports,
    outputs: Ports | None = None,
    *,
    omega: np.ndarray,
    shift: float = 0.0,
) -> Response:
    """H(s) from the efforts (or driven flows) of ports to the outputs of ports, at s = shift + jω.

    A component of a port with several is named "port[i]". Many frequencies cost little more than a few.
    """
    linear_only(system, circulatory=True)
    into, input_names = channels(system, inputs)
    out, output_names = channels(system, inputs if outputs is None else outputs)
    omega, shift = finite_row("omega", omega), float(finite("shift", shift, ()))
    return Response(omega, transfer_function(system, into, out, shift + 1j * omega), input_names, output_names)


@one_thread()
def transmission(
    system: LinearPHDAE, source: str, targets: Ports, *, omega: np.ndarray, shift: float = 0.0
) -> Response:
    """The flows of the target ports per flow of the source port, T(s) = H_ts(s) H_ss(s)⁻¹ (transmissibility).

    A source that takes an effort is driven instead; a driven target gives its reaction. By reciprocity the same numbers are the
    part of a force at a target that reaches the fixed source.
    """
    linear_only(system, circulatory=True)
    driven = system if system.driven([source]) else swap_causality(system, source)
    return response(driven, source, targets, omega=omega, shift=shift)
