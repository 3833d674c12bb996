"""Numbers of a system by name, and the same system with other numbers.

    parameters(system)                              {"rod.material.E": 2e11, "rod.length": 0.3, "slider.mass": 0.033, …}
    with_parameters(system, {"rod.material.E": 1.9e11})     parts that depend on it are constructed again, others are shared

Names are those of the arguments of recipes, joints and force elements. Parts are constructed again by the same steps: elements,
reduction, plane, locks and drives stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from phloat.algebra.metadata import Numbers, numbers, with_numbers
from phloat.bodies.beams.split import Split
from phloat.bodies.body import Body
from phloat.bodies.variation import Maker, align_signs, fast_maker, same_ports, same_size
from phloat.errors import AccuracyError, InputError, finite, mapping, unknown
from phloat.joints.elements import OnJoint
from phloat.joints.pairs import Weld
from phloat.system.actuators import Actuator
from phloat.system.connection import Connection, Part, nested_part, resolve_part
from phloat.system.system import System

Names = str | tuple[str, ...]
Makers = Mapping[Body, Maker | None]
Change = tuple[Any, str]  # a new recipe, and the numbers that differ, as text for messages


@dataclass(frozen=True, eq=False)
class Owner:
    """A part of a system with parameters: a recipe of bodies, a joint, an element, an actuator, or gravity."""

    kind: str
    name: str
    recipe: Any
    members: tuple[str, ...]  # names of the bodies or parts that were constructed from it

    @property
    def value(self) -> Any:
        """The recipe with the numbers: of a split beam, the beam."""
        return self.recipe.beam if isinstance(self.recipe, Split) else self.recipe

    def with_value(self, value: Any) -> Any:
        """The recipe with `value` in place of `self.value`."""
        return replace(self.recipe, beam=value) if isinstance(self.recipe, Split) else value


@dataclass(frozen=True, eq=False)
class Place:
    """A parameter: its owner, its path in the owner's value, and its number."""

    owner: Owner
    path: tuple[Any, ...]
    value: float


@dataclass(frozen=True, eq=False)
class ParameterTable:
    """All parameters of a system by name, and the names of functions, whose numbers are not accessible."""

    places: Mapping[str, Place]
    functions: tuple[str, ...]

    def named(self, names: object) -> list[str]:
        """The parameters of a name, a pattern with * and ?, or a tuple of these. Raises InputError if there is none."""
        if isinstance(names, tuple):
            return [name for entry in names for name in self.named(entry)]
        if isinstance(names, str) and names in self.places:
            return [names]
        pattern = re.escape(str(names)).replace(r"\*", ".*").replace(r"\?", ".")
        matches = [name for name in self.places if re.fullmatch(pattern, name)] if isinstance(names, str) else []
        if not matches:
            inside = [f for f in self.functions if str(names).startswith(f)]
            hint = "; {} is a function, not a number: write it as a frozen dataclass with __call__, whose fields are parameters"
            raise InputError(unknown("parameter", names, self.places) + (hint.format(inside[0]) if inside else ""))
        return matches

    def resolve(self, requested: Iterable[object]) -> dict[str, Any]:
        """{parameter: the name or pattern that selects it}. Raises InputError if a parameter is selected twice."""
        out: dict[str, Any] = {}
        for names in requested:
            for name in self.named(names):
                if name in out:
                    raise InputError(
                        f"parameter {name!r} is given twice, by {out[name]!r} and by {names!r}; name it once"
                    )
                out[name] = names
        return out


def parameters(system: System) -> dict[str, float]:
    """All parameters of a system by name: of bodies, then of joints, springs, forces, and gravity.

    Parameters
    ----------
    system : System
        The mechanism, from `connect`.

    Returns
    -------
    dict of str to float
        In SI units, such as {"rod.length": 1.0, "rod.material.E": 2.1e11, "hinge.at[0]": 0.0}; `with_parameters` and `ensemble`
        take the same names.

    Examples
    --------
    >>> rails = [ph.Prismatic("ground", "cart.P", axis=(1, 0, 0), name="rail"), ph.JointSpring("rail", stiffness=8.0)]
    >>> body = ph.RigidBody(mass=2.0, inertia=np.eye(3)).discretise()
    >>> cart = ph.connect({"cart": body}, rails, plane="xy")
    >>> found = ph.parameters(cart)
    >>> found["cart.mass"], [name for name in found if name.endswith("stiffness")]
    (2.0, ['rail.spring.stiffness'])
    """
    return {name: place.value for name, place in parameter_table(system).places.items()}


def with_parameters(system: System, values: Mapping[Any, float]) -> System:
    """The same system with other numbers.

    Elements, reduction, plane, locks and drives stay the same. Modes are computed again and keep their signs, so that a state of
    the old system has the same meaning in the new one. A basis that a body was reduced with does not change.

    Parameters
    ----------
    system : System
        The mechanism, which is not changed.
    values : mapping of str, or tuple of str, to float
        {name: value} in SI units with names as in `parameters`, patterns ("*.material.E"), or tuples of names that get the same
        value.

    Returns
    -------
    System
        A new system with these numbers.

    Examples
    --------
    Four times the modulus of elasticity doubles the frequencies.

    >>> beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=210e9, rho=7800.0, nu=0.3)).discretise(4)
    >>> arm = ph.connect({"beam": beam}, [ph.Revolute("ground", "beam.P", name="motor")], plane="xy")
    >>> stiff = ph.with_parameters(arm, {"beam.material.E": 4 * 210e9})
    >>> one, two = (ph.modes(ph.linearise(s, ph.place(s))).elastic[0] for s in (arm, stiff))
    >>> round(float(two / one), 6)
    2.0
    """
    table = parameter_table(system)
    requested = mapping("parameters", values, "{name: value}")
    new_values = {name: parameter_value(name, requested[names]) for name, names in table.resolve(requested).items()}
    return with_parameter_values(system, table, new_values)


def parameter_value(name: str, value: object) -> float:
    """The value of a parameter as float. Raises InputError if it is not a finite number."""
    return float(finite(f"parameter {name!r}", value, ()))


def fast_makers(system: System, table: ParameterTable, names: Iterable[str]) -> dict[Body, Maker | None]:
    """For each body that changes with these parameters, the maker that constructs it without assembly; None where there is none."""
    changing: dict[Body, set[str]] = {}
    for name in names:
        owner = table.places[name].owner
        for member in owner.members if owner.kind == "body" else ():
            changing.setdefault(system.bodies[member], set()).add(name.removeprefix(f"{owner.name}."))
    return {body: fast_maker(body, changed) for body, changed in changing.items()}


def _remake_body(old: Body, recipe: Any, shared: dict[tuple[Any, ...], Any], maker: Maker | None) -> Body:
    """The body from another recipe by the construction steps of the old one; `shared` caches what several bodies share."""
    key = (id(old), id(recipe))
    if key not in shared:
        new = maker(recipe) if maker is not None else None
        if new is None:
            assert old.construction is not None
            unchecked = replace(recipe, mass=None) if "mass" in getattr(recipe, "not_numbers", ()) else recipe
            new = align_signs(old.construction.repeat(unchecked, shared), old)
        shared[key] = new
    return shared[key]


def with_parameter_values(
    system: System, table: ParameterTable, values: Mapping[str, float], makers: Makers = MappingProxyType({})
) -> System:
    """The system with other numbers, by their full names in the table; `makers` are those of `fast_makers`."""
    by_owner: dict[Owner, list[str]] = {}
    for name, value in values.items():
        if value != table.places[name].value:
            by_owner.setdefault(table.places[name].owner, []).append(name)
    fresh: dict[str, dict[str, Change]] = {}
    recipes: dict[tuple[Any, ...], Any] = {}  # equal changes of one recipe share the new recipe
    for owner, names in by_owner.items():
        changes = {table.places[name].path: values[name] for name in names}
        summary = ", ".join(f"{name} = {values[name]:g}" for name in names)
        key = (id(owner.recipe), *changes.items())
        if key not in recipes:
            with _error_context(summary):
                recipes[key] = owner.with_value(with_numbers(owner.value, changes))
        fresh.setdefault(owner.kind, {}).update(dict.fromkeys(owner.members, (recipes[key], summary)))
    return _remake_system(system, fresh, makers) if fresh else system


def _remake_system(system: System, fresh: Mapping[str, Mapping[str, Change]], makers: Makers) -> System:
    """The system with new recipes {kind: {name: change}}; parts that do not depend on them are shared."""
    unchanged: Mapping[str, Change] = {}
    bodies, joints = dict(system.bodies), dict(system.joints)
    elements, actuators = dict(system.elements), dict(system.actuators)
    shared: dict[tuple[Any, ...], Any] = {}
    for name, (recipe, summary) in fresh.get("body", unchanged).items():
        with _error_context(summary):
            old = system.bodies[name]
            bodies[name] = _remake_body(old, recipe, shared, makers.get(old))
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (("joint", joints), ("element", elements), ("actuator", actuators))
    for kind, parts in kinds:
        for name, old in parts.items():
            recipe, summary = fresh.get(kind, unchanged).get(name, (old.recipe, ""))
            affected = kind == "element" and "joint" in fresh
            if isinstance(old, Actuator):
                new_body, old_body = bodies[old.body], system.bodies[old.body]
                affected = new_body is not old_body if old.recipe.kind == "load" else not same_ports(new_body, old_body)
            if summary or affected:
                with _error_context(summary):
                    parts[name] = _remake_part(old, recipe, bodies, joints, system.plane)
    gravity = system.gravity.copy()
    for recipe, _ in fresh.get("gravity", unchanged).values():
        gravity[: len(recipe["gravity"])] = recipe["gravity"]
    out = replace(system, bodies=bodies, joints=joints, elements=elements, actuators=actuators, gravity=gravity)
    if "joint" not in fresh and all(same_size(bodies[name], body) for name, body in system.bodies.items()):
        vars(out).update({name: getattr(system, name) for name in ("layout", "ports", "multipliers")})  # the same
    return out


@contextmanager
def _error_context(changes: str) -> Iterator[None]:
    """Puts the changed parameters before the message of an InputError or AccuracyError of the block."""
    try:
        yield
    except (InputError, AccuracyError) as error:
        if not changes:
            raise
        raise type(error)(f"with {changes}: {error}") from error


# --- the table --------------------------------------------------------------------------------------------------------


def parameter_table(system: System) -> ParameterTable:
    """The table of all parameters of a system."""
    if not isinstance(system, System):
        raise InputError(
            f"{type(system).__name__} is no System; connect(…) makes one, and parameters are those of systems"
        )
    places: dict[str, Place] = {}
    functions: list[str] = []
    for owner in _owners(system):
        contents: Numbers = numbers(owner.value)
        for name, value in contents.values.items():
            places[_name(owner, name, places)] = Place(owner, contents.paths[name], value)
        functions += [f"{owner.name}.{name}" for name in contents.functions]
    return ParameterTable(places, tuple(functions))


def _name(owner: Owner, name: str, places: Mapping[str, Place]) -> str:
    """The full name of a parameter; the kind of its owner comes first if the name is taken, as by a spring named like a body."""
    full = f"{owner.name}.{name}" if owner.name else name
    return full if full not in places else f"{owner.kind} {full}"


def _owners(system: System) -> Iterator[Owner]:
    pieces: dict[str, list[str]] = {}
    for name, body in system.bodies.items():
        pieces.setdefault(name.rpartition(".")[0] if body.pieces else name, []).append(name)
    for name, members in pieces.items():
        construction = system.bodies[members[0]].construction
        if construction is not None:
            yield Owner("body", name, construction.recipe, tuple(members))
    split = [name for name, members in pieces.items() if len(members) > 1]
    welds = tuple(f"{name.rpartition('.')[2]}.weld " for name in split)
    for kind, parts in (("joint", system.joints), ("element", system.elements), ("actuator", system.actuators)):
        for name, part in parts.items():
            if not (isinstance(part.recipe, Weld) and part.recipe.label.startswith(welds)):
                yield Owner(kind, name, part.recipe, (name,))
    gravity = tuple(map(float, system.gravity[: 2 if system.plane else 3]))
    yield Owner("gravity", "", {"gravity": gravity}, ("gravity",))


# --- parts from other recipes ----------------------------------------------------------------------------------------


T = TypeVar("T")


def _remake_part(
    old: Part, recipe: Any, bodies: Mapping[str, Body], joints: Mapping[str, Connection], plane: str | None
) -> Part:
    """The part from this recipe and these bodies and joints; free axes are locked or driven as in the old part."""
    prefix = old.name.removesuffix(recipe.label).removesuffix(".")  # the systems that it is nested in
    new = resolve_part(recipe, _nested(prefix, bodies), _nested(prefix, joints), plane)
    if isinstance(recipe, OnJoint):  # its joint has its full name already
        return replace(new, name=old.name)
    if isinstance(old, Connection) and isinstance(new, Connection):
        if old.locked:
            new = replace(new, free=(), locked=new.free)
        elif old.driven and not recipe.moves_ground:
            new = replace(new, free=(), driven=new.free)
    return nested_part(prefix, new)


def _nested(prefix: str, parts: Mapping[str, T]) -> dict[str, T]:
    """The parts of a nested system, by their names without the prefix."""
    start = f"{prefix}." if prefix else ""
    return {name.removeprefix(start): part for name, part in parts.items() if name.startswith(start)}
