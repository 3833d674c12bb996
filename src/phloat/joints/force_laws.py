"""Force elements whose law is written as functions: `JointLaw` and `PortLaw` for laws of your own, and friction."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from phloat.algebra.metadata import describe
from phloat.errors import finite, not_negative, positive
from phloat.joints.elements import Bushing, Damper, JointDamper, JointSpring, OnJoint, Spring
from phloat.joints.ends import Between
from phloat.joints.law_functions import LAWS, LawFunction, no_damper, no_spring
from phloat.joints.laws import Law
from phloat.joints.rows import Row
from phloat.joints.scalar import tanh
from phloat.joints.standard_rows import distance


def law_of(recipe: JointLaw | PortLaw) -> Law:
    """The law of a recipe whose class has the functions `spring` and `damper`, with the numbers of its fields."""
    function = type(recipe).function()
    numbers = tuple(float(finite(f"{name} of {recipe.label}", getattr(recipe, name), ())) for name in function.numbers)
    function.check(recipe.label, numbers)
    return Law(function=function, numbers=numbers)


class _Registered:
    """Has a law: its static functions, with its own fields as their parameters."""

    spring: ClassVar[Any] = staticmethod(no_spring)
    damper: ClassVar[Any] = staticmethod(no_damper)

    @classmethod
    def function(cls) -> LawFunction:
        """The law of this class; it stands in `LAWS` under the name of the class with that of its module."""
        name = f"{cls.__module__}.{cls.__qualname__}"
        known = LAWS.get(name)
        if known is None or (known.spring, known.damper) != (cls.spring, cls.damper):  # defined again in a notebook
            shared = {f.name for base in (JointLaw, PortLaw) for f in fields(base)}
            numbers = tuple(f.name for f in fields(cls) if f.name not in shared)  # type: ignore[arg-type]
            LAWS[name] = LawFunction(name, numbers, cls.spring, cls.damper)
        return LAWS[name]


@dataclass(frozen=True)
class JointLaw(OnJoint, _Registered):
    """A law of your own on a free axis of a joint: a subclass with parameters as fields and static functions of them.

    `spring(x, *parameters)` returns the effort against x, its slope and the stored energy; `damper(v, *parameters)` the effort
    against the rate v and its slope. They are scalar code with the functions of `phloat.joints.scalar`: `where` instead of `if`.
    """

    suffix: ClassVar[str] = ".law"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.law()

    def law(self) -> Law:
        return law_of(self)


@dataclass(frozen=True)
class PortLaw(Between, _Registered):
    """A law of your own between two ports, as `JointLaw`, along the row `row`: by default their distance."""

    row: ClassVar[Row] = distance()
    suffix: ClassVar[str] = ".law"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.row_laws()

    def row_laws(self) -> dict[Row, Law]:
        return {self.row: law_of(self)}


@dataclass(frozen=True)
class JointFriction(JointLaw):
    """Dry friction on a free axis of a joint, −effort tanh(rate/speed).

    Below `speed` it is a damper, so a joint that should stick creeps at a fraction of that speed.

    Parameters
    ----------
    joint : str
        Name of the joint; of several free axes `axis` says which ("angle", "slide" …); `name` is that of the friction.
    effort : float
        Torque (N m) or force (N) while it slips.
    speed : float
        Rate from which on it slips (rad/s or m/s).

    Examples
    --------
    >>> joints = [ph.Revolute("ground", "arm.P", name="elbow"), ph.JointFriction("elbow", effort=2.0, speed=0.01)]
    >>> arm = ph.RigidBody(mass=1.0, inertia=0.5 * np.eye(3)).discretise()
    >>> system = ph.connect({"arm": arm}, joints=joints)
    >>> ph.poles(ph.linearise(system, ph.place(system))).real.round(6)  # at rest a damper: −(effort/speed)/J
    array([-400.])
    """

    effort: float = field(kw_only=True, metadata=describe("while it slips", "torque", "force", least=0.0))
    speed: float = field(
        kw_only=True, metadata=describe("from which on it slips", "angular rate", "velocity", above=0.0)
    )
    suffix: ClassVar[str] = ".friction"

    def __post_init__(self) -> None:
        not_negative(f"effort of {self.label}", self.effort)
        positive(f"speed of {self.label}", self.speed)
        super().__post_init__()

    @staticmethod
    def damper(v: Any, effort: Any, speed: Any) -> Any:
        slip = tanh(v / speed)
        return effort * slip, effort * (1.0 - slip * slip) / speed


Passive: TypeAlias = Spring | Damper | Bushing | JointSpring | JointDamper | JointLaw | PortLaw
