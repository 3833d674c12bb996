"""What a run of the twin gives: motions of bodies, ports, joints and energy_parts by name, all of them to be differentiated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from phloat.errors import PortError, unknown
from phloat.twin.body import body_energies, velocities
from phloat.twin.equations import each_body, end_maps, joined, ports_of, pulls, sliced
from phloat.twin.model import Names, Tree
from phloat.twin.rows import law_energy, spring_energy


@dataclass(frozen=True, eq=False)
class Motion:
    """States one after the other (the first axis), or one state. Bodies, ports and joints are called as in the system."""

    arrays: Tree  # of the model that moves
    states: Tree
    names: Names
    t: Array

    def _quantity(self, body: str, quantity: str) -> Array:
        if body not in (name for name, _, _ in self.names.bodies):
            raise PortError(unknown("body", body, [name for name, _, _ in self.names.bodies]))
        group, at = self.names.body(body)
        value = self.states["bodies"][group][quantity]
        return value[at] if self.t.ndim == 0 else value[:, at]

    def A(self, body: str) -> Array:
        """Rotation of the frame of a body, (…, 3, 3)."""
        return self._quantity(body, "A")

    def eta(self, body: str) -> Array:
        return self._quantity(body, "eta")

    def eta_dot(self, body: str) -> Array:
        return self._quantity(body, "rate")

    def omega(self, body: str) -> Array:
        """Angular velocity in body axes; one number in a plane."""
        return self._quantity(body, "omega")

    def theta(self, body: str) -> Array:
        """The angle of a body in the plane, without its turns."""
        A = self.A(body)
        return jnp.arctan2(A[..., 1, 0], A[..., 0, 0])

    def mass_centre(self, body: str) -> Array:
        return self._quantity(body, "r")

    def r_P(self, body: str) -> Array:
        """The origin of the frame of a body, (…, 3)."""
        shift = self.arrays["shift"][body]
        y = shift["at"] + self.eta(body) @ shift["along"].T
        return self.mass_centre(body) - jnp.einsum("...ij,...j->...i", self.A(body), y)

    def place(self, port: str) -> Array:
        """Position of a port, (…, 3)."""
        body = self._owner(port, self.names.ports, "port")
        end = self.arrays["ports"][port]
        displacement = self.eta(body) @ end["Phi"].T
        y = end["x"] + jnp.pad(displacement, [(0, 0)] * (displacement.ndim - 1) + [(0, 3 - displacement.shape[-1])])
        return self.mass_centre(body) + jnp.einsum("...ij,...j->...i", self.A(body), y)

    def displacement(self, watched: str) -> Array:
        """u_f at a watched place, in body axes, (…, 3)."""
        body = self._owner(watched, self.names.watched, "watched place")
        return self.eta(body) @ self.arrays["watched"][watched].T

    def _owner(self, name: str, owners: tuple[tuple[str, str], ...], kind: str) -> str:
        if name not in dict(owners):
            raise PortError(unknown(kind, name, dict(owners)))
        return dict(owners)[name]

    def _rows(self, name: str, *, closed: bool = False) -> slice:
        """The rows of a name: those that a joint holds, or what is free of it (the later ones)."""
        slices = [slice(first, first + count) for other, first, count in self.names.entries if other == name]
        if not slices:
            raise PortError(unknown("joint, spring or input", name, [other for other, _, _ in self.names.entries]))
        return slices[0] if closed else slices[-1]

    def coordinate(self, name: str) -> Array:
        """Gaps of the rows of a joint, spring or input, (…, rows): the angle of a hinge with an input, the length of a spring."""
        return self.states["gaps"][..., self._rows(name)]

    def rate(self, name: str) -> Array:
        """The rates of those, (…, rows)."""
        return self._each(lambda state: gap_rates(self.arrays["model"], state))[..., self._rows(name)]

    def multipliers(self, joint: str) -> Array:
        """λ of a joint, of the step that ends at each state, (…, rows)."""
        return self.states["lam"][..., self._rows(joint, closed=True)]

    def energy(self) -> Array:
        """Total energy H, springs included (J)."""
        return self._each(lambda state: sum(energy_parts(self.arrays["model"], state).values(), jnp.zeros(())))

    def balance(self) -> Array:
        """Energy of the bodies − work of ports + loss by damping (J): constant in an exact step."""

        def bodies(state: Tree) -> Array:
            parts = energy_parts(self.arrays["model"], state)
            return parts["kinetic"] + parts["elastic"] + parts["potential"]

        return self._each(bodies) - self.states["work"] + self.states["loss"]

    def _each(self, f: Callable[[Tree], Array]) -> Array:
        return f(self.states) if self.t.ndim == 0 else jax.vmap(f)(self.states)


def energy_parts(model: Tree, state: Tree) -> Tree:
    """Kinetic, elastic and potential energy of all bodies, and that of springs."""
    three = sum(
        (
            jnp.sum(each_body(lambda b, s: body_energies(b, s, model["gravity"]), group, bodies), axis=0)
            for group, bodies in zip(model["groups"], state["bodies"], strict=True)
        ),
        jnp.zeros(3),
    )
    springs = jnp.zeros(())
    if (k := model["compliant"]).shape[0]:
        springs = jnp.sum(jax.vmap(spring_energy)(model["laws"], state["gaps"][k]))
        for name, laws in model.get("law_functions", {}).items():
            gaps = state["gaps"][k[laws["rows"]]]
            springs += jnp.sum(jax.vmap(lambda n, x, name=name: law_energy(name, n, x))(laws["numbers"], gaps))
    return {"kinetic": three[0], "elastic": three[1], "potential": three[2], "springs": springs}


def gap_rates(model: Tree, state: Tree) -> Array:
    """ġ of all rows, (M): pulls on ports times the rates of these."""
    ports = ports_of(model, state["bodies"], state["frames"])
    all_ports = joined(ports)
    unit, _ = pulls(model, all_ports, all_ports, state["gaps"], at_end=True)
    *_, of_ground = sliced(model, jnp.zeros((model["frames"].shape[0], unit.shape[1], 3)))
    rates_of_groups = []
    for group, group_ports, bodies in zip(model["groups"], ports, state["bodies"], strict=False):
        no_spin = jnp.zeros_like(bodies["omega"])
        T = end_maps(group, group_ports, bodies["A"], bodies["A"], no_spin, jnp.zeros(()))
        rates = jnp.einsum("beqik,bk->beqi", T, jax.vmap(velocities)(bodies))
        rates_of_groups.append(jnp.pad(rates, [(0, 0), (0, 0), (0, unit.shape[1] - rates.shape[2]), (0, 0)]))
    of_ends = joined([*rates_of_groups, of_ground])
    ends = jnp.zeros(model["mode"].shape[0] * 2, int)
    for rows in model["rows"].values():
        ends = ends.at[2 * rows["number"]].set(rows["A"]).at[2 * rows["number"] + 1].set(rows["B"])
    return jnp.sum((unit * of_ends[ends]).reshape(-1, 2 * unit.shape[1] * 3), axis=1)
