"""Transfer functions between named ports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phloat.algebra.threads import one_thread
from phloat.errors import InputError, PortError, finite_row, number, unknown
from phloat.linear.analysis.transfer import transfer_function
from phloat.linear.form.interconnect import flow_ports, swap_causality
from phloat.linear.form.phdae import LinearPHDAE, Ports, inputs_outputs, linear_only

PHASE_JUMP = 1.1 * np.pi  # a lossless port jumps by π at poles and zeros, which unwrapping must not remove


@dataclass(frozen=True, eq=False)
class Response:
    """y(s) = H(s) u(s) at s = shift + jω: `values` (frequencies, outputs, inputs); `response[output, input]` is one curve."""

    omega: np.ndarray
    values: np.ndarray
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def magnitude(self) -> np.ndarray:
        return np.abs(self.values)

    @property
    def phase(self) -> np.ndarray:
        """The phase in radians, unwrapped along the frequencies."""
        return np.unwrap(np.angle(self.values), axis=0, discont=PHASE_JUMP)

    @property
    def singular_values(self) -> np.ndarray:
        """The singular values of H(s), descending, (frequencies, min(outputs, inputs))."""
        return np.linalg.svd(self.values, compute_uv=False)

    def __getitem__(self, pair: tuple[str, str]) -> np.ndarray:
        """H from input to output for a pair (output, input), (frequencies,)."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(f"{pair!r} is not a pair; use response[output, input]")
        indices = []
        for kind, name, names in (("output", pair[0], self.outputs), ("input", pair[1], self.inputs)):
            if name not in names:
                raise PortError(unknown(kind, name, names))
            indices.append(names.index(name))
        return self.values[:, indices[0], indices[1]]


@one_thread()
def response(
    system: LinearPHDAE,
    inputs: Ports,
    outputs: Ports | None = None,
    *,
    omega: np.ndarray,
    shift: float = 0.0,
) -> Response:
    """The transfer function H(s) from inputs to outputs of ports at s = shift + jω.

    The input of a port is its effort (force or torque), its output the flow (velocity); of a driven port the other way round.
    Many frequencies cost little more than a few.

    Parameters
    ----------
    system : LinearPHDAE
        A linear system of any size.
    inputs : str or sequence of str
        Ports; "port[i]" is component i of a port with several.
    outputs : str or sequence of str, optional
        Ports. Default: the inputs.
    omega : array_like, (frequencies,)
        Angular frequencies ω (rad/s).
    shift : float, optional
        Real part of s (1/s); a positive one avoids the infinite peaks of a system without damping.

    Returns
    -------
    Response
        `values` (frequencies, outputs, inputs) is H, complex; `response[output, input]` (frequencies,) is one entry. It also has
        `magnitude`, `phase` (rad) and `singular_values`.

    Examples
    --------
    A disc with moment of inertia I = 0.5 kg m² turned by a torque: H = 1/(I s).

    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> linear = ph.linearise(wheel, ph.place(wheel))
    >>> ph.response(linear, "motor", omega=[1.0, 10.0])["motor", "motor"].imag.round(6)
    array([-2. , -0.2])
    """
    linear_only(system, circulatory=True, feedthrough=True)
    into, out, ends = inputs_outputs(system, inputs, outputs)
    omega, shift = finite_row("omega", omega), number("shift", shift)
    return Response(omega, transfer_function(system, into, out, shift + 1j * omega), *ends)


@one_thread()
def transmission(
    system: LinearPHDAE, source: str, targets: Ports, *, omega: np.ndarray, shift: float = 0.0
) -> Response:
    """The transmissibility T(s) = H_ts(s) H_ss(s)⁻¹: flows of the target ports per flow of the source port, at s = shift + jω.

    A source port that takes an effort is driven instead. A target port that is driven gives its reaction. By reciprocity T is also
    the fraction of a force at a target that reaches the fixed source.
    """
    linear_only(system, circulatory=True, feedthrough=True)
    driven = system if source in flow_ports(system) else swap_causality(system, source)
    return response(driven, source, targets, omega=omega, shift=shift)
