"""What a run of the twin gives: motions of bodies, ports, joints and energies by name, all of them to be differentiated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from phloat.errors import PortError, unknown
from phloat.twin.body import Tree
from phloat.twin.model import Places
from phloat.twin.rates import row_rates
from phloat.twin.run import energies


@dataclass(frozen=True, eq=False)
class Motion:
    """States one after the other (the first axis), or one state. Bodies, ports and joints are called as in the system."""

    arrays: Tree  # of the model that moves
    states: Tree
    names: Places
    t: Array

    def _of(self, body: str, quantity: str) -> Array:
        if body not in (name for name, _, _ in self.names.bodies):
            raise PortError(unknown("body", body, [name for name, _, _ in self.names.bodies]))
        group, at = self.names.body(body)
        value = self.states["bodies"][group][quantity]
        return value[at] if self.t.ndim == 0 else value[:, at]

    def A(self, body: str) -> Array:
        """Rotation of the frame of a body, (…, 3, 3)."""
        return self._of(body, "A")

    def eta(self, body: str) -> Array:
        return self._of(body, "eta")

    def eta_dot(self, body: str) -> Array:
        return self._of(body, "rate")

    def omega(self, body: str) -> Array:
        """Angular velocity in body axes; one number in a plane."""
        return self._of(body, "omega")

    def theta(self, body: str) -> Array:
        """The angle of a body in the plane, without its turns."""
        A = self.A(body)
        return jnp.arctan2(A[..., 1, 0], A[..., 0, 0])

    def mass_centre(self, body: str) -> Array:
        return self._of(body, "r")

    def r_P(self, body: str) -> Array:
        """The origin of the frame of a body, (…, 3)."""
        shift = self.arrays["shift"][body]
        y = shift["at"] + self.eta(body) @ shift["along"].T
        return self.mass_centre(body) - jnp.einsum("...ij,...j->...i", self.A(body), y)

    def place(self, port: str) -> Array:
        """Where a port is, (…, 3)."""
        body = self._owner(port, self.names.ports, "port")
        end = self.arrays["ports"][port]
        moved = self.eta(body) @ end["Phi"].T
        y = end["x"] + jnp.pad(moved, [(0, 0)] * (moved.ndim - 1) + [(0, 3 - moved.shape[-1])])
        return self.mass_centre(body) + jnp.einsum("...ij,...j->...i", self.A(body), y)

    def displacement(self, watched: str) -> Array:
        """u_f at a watched place, in body axes, (…, 3)."""
        body = self._owner(watched, self.names.watched, "watched place")
        return self.eta(body) @ self.arrays["watched"][watched].T

    def _owner(self, name: str, there: tuple[tuple[str, str], ...], kind: str) -> str:
        if name not in dict(there):
            raise PortError(unknown(kind, name, dict(there)))
        return dict(there)[name]

    def _rows(self, name: str, *, held: bool = False) -> slice:
        """The rows of a name: those that a joint holds, or what is free of it (the later ones)."""
        found = [slice(first, first + count) for other, first, count in self.names.entries if other == name]
        if not found:
            raise PortError(unknown("joint, spring or input", name, [other for other, _, _ in self.names.entries]))
        return found[0] if held else found[-1]

    def coordinate(self, name: str) -> Array:
        """Gaps of the rows of a joint, spring or input, (…, rows): the angle of a hinge with an input, the length of a spring."""
        return self.states["gaps"][..., self._rows(name)]

    def rate(self, name: str) -> Array:
        """The rates of those, (…, rows)."""
        return self._each(lambda state: row_rates(self.arrays["model"], state))[..., self._rows(name)]

    def multipliers(self, joint: str) -> Array:
        """λ of a joint, of the step that ends at each state, (…, rows)."""
        return self.states["lam"][..., self._rows(joint, held=True)]

    def energy(self) -> Array:
        """All of H, springs included."""
        return self._each(lambda state: sum(energies(self.arrays["model"], state).values(), jnp.zeros(())))

    def balance(self) -> Array:
        """H of bodies less the work of ports on them and with what damping took: it stays as it is."""

        def bodies(state: Tree) -> Array:
            parts = energies(self.arrays["model"], state)
            return parts["kinetic"] + parts["elastic"] + parts["potential"]

        return self._each(bodies) - self.states["work"] + self.states["loss"]

    def _each(self, f: Callable[[Tree], Array]) -> Array:
        return f(self.states) if self.t.ndim == 0 else jax.vmap(f)(self.states)
