"""Plans of mechanisms that Hypothesis draws: what is joined to what, by which joints, with which forces.

A plan is plain data. Its structure (how many bodies, of which kind, which joint where) is drawn, so that a failure shrinks to a
small mechanism; lengths, masses, directions and rates come from the seed of each part. `worlds.py` builds it.
"""

from dataclasses import dataclass

from hypothesis import strategies as st

GROUND = -1
BEAMS = ("beam", "rayleigh", "timoshenko", "pinned", "tapered", "damped", "limp", "reduced")
KINDS = ("rigid", *BEAMS, "split", "plate", "solid")
IN_SPACE = ("revolute", "spherical", "universal", "cylindrical", "prismatic", "planar", "slide", "weld")
IN_PLANE = ("revolute", "spherical", "prismatic", "slide", "weld")
ON_POINTS = ("spherical", "slide")
PUSHES = ("force", "torque", "load", "wrench", "effort")
HOLDS = ("spring", "damper", "bushing", "joint spring", "joint damper", "curved spring")
CLOSINGS = ("rod", "slide", "rod to the ground")


@dataclass(frozen=True)
class Link:
    """A body; `parent` is the number of the one that it hangs on, and `joint` what it hangs by."""

    kind: str
    parent: int
    joint: str
    seed: int


@dataclass(frozen=True)
class Part:
    """A force element, an input, or what closes a loop: a kind, the bodies that it stands between, and a seed."""

    kind: str
    first: int
    second: int
    seed: int


@dataclass(frozen=True)
class Plan:
    """A mechanism. `flat`: it moves in the plane xy, but in space, on hinges that repeat each other where it closes."""

    where: str  # "space", "plane" or "flat"
    links: tuple[Link, ...]
    closings: tuple[Part, ...] = ()
    forces: tuple[Part, ...] = ()
    gravity: bool = True
    driven: bool = False
    seed: int = 0

    @property
    def plane(self) -> str | None:
        return "xy" if self.where == "plane" else None

    @property
    def loses(self) -> bool:
        """Whether anything takes energy."""
        return any("damper" in part.kind or part.kind == "bushing" for part in self.forces) or any(
            link.kind == "damped" for link in self.links
        )

    @property
    def free(self) -> bool:
        """Whether nothing holds or pushes it from outside."""
        return (
            not (self.gravity or self.driven)
            and all(link.joint == "none" for link in self.links if link.parent == GROUND)
            and all(p.kind == "rod" for p in self.closings)
            and all(p.first != GROUND and p.kind in HOLDS for p in self.forces)
        )


SEEDS = st.integers(0, 2**20)


def joints_for(where: str, kind: str, parent: int) -> tuple[str, ...]:
    if kind == "point":
        return ON_POINTS
    if where == "flat":
        return ("revolute",)
    root = ("drive", "none") if parent == GROUND else ()
    return (IN_PLANE if where == "plane" else IN_SPACE) + root


@st.composite
def links(draw, where: str, shape: str, kinds: tuple[str, ...], most: int) -> tuple[Link, ...]:
    out: list[Link] = []
    for i in range(draw(st.integers(1, most))):
        solid = [j for j, link in enumerate(out) if link.kind != "point"]
        parent = GROUND if not solid else solid[-1] if shape == "chain" else draw(st.sampled_from([GROUND, *solid]))
        allowed = kinds if i == 0 or where == "flat" else (*kinds, "point")
        kind = draw(st.sampled_from(allowed))
        joint = draw(st.sampled_from(joints_for(where, kind, parent)))
        out.append(Link(kind, parent, joint, draw(SEEDS)))
    return tuple(out)


@st.composite
def closings(draw, where: str, chain: tuple[Link, ...]) -> tuple[Part, ...]:
    """Rods between bodies or to the ground, and slides: they close loops where the tree stands."""
    solid = [j for j, link in enumerate(chain) if link.kind != "point"]
    out = []
    for _ in range(draw(st.integers(1, 2 if len(solid) > 2 else 1))):
        kinds = [k for k in CLOSINGS if not (k == "rod" and len(solid) < 2) and not (k == "slide" and where == "flat")]
        kind = draw(st.sampled_from(kinds))
        second = draw(st.sampled_from(solid))
        others = [j for j in solid if j != second]
        first = draw(st.sampled_from(others)) if kind == "rod" else GROUND
        if not any(
            kind == "rod" and {first, second} == {part.first, part.second} for part in out
        ):  # one over the other
            out.append(Part(kind, first, second, draw(SEEDS)))
    return tuple(out)


@st.composite
def forces(draw, chain: tuple[Link, ...], kinds: tuple[str, ...]) -> tuple[Part, ...]:
    out = []
    solid = [j for j, link in enumerate(chain) if link.kind != "point"]
    for _ in range(draw(st.integers(0, 3))):
        kind, second = draw(st.sampled_from(kinds)), draw(st.sampled_from(range(len(chain))))
        first = GROUND
        if kind in HOLDS and chain[second].kind != "point":
            first = draw(st.sampled_from([GROUND, *(j for j in solid if j != second)]))
        if fits(kind, chain[second]):
            out.append(Part(kind, first, second, draw(SEEDS)))
    return tuple(out)


def fits(kind: str, link: Link) -> bool:
    """Whether a force of this kind can act on a body."""
    if kind == "load":
        return link.kind in BEAMS
    if kind in ("torque", "bushing"):
        return link.kind != "point"
    if kind in ("effort", "joint spring", "joint damper"):
        one_axis = link.joint in ("revolute", "prismatic") or (link.joint == "cylindrical" and kind != "effort")
        return one_axis and not turns_with_bending(link)
    return True


def turns_with_bending(link: Link) -> bool:
    """Whether the section at port P bends: its angle against the ground then depends on the axes of the ground to ψ²."""
    return link.kind == "pinned" and link.parent == GROUND


@st.composite
def plans(
    draw,
    where: tuple[str, ...] = ("space", "plane", "flat"),
    kinds: tuple[str, ...] = KINDS,
    shapes: tuple[str, ...] = ("chain", "tree", "loop"),
    pushed: tuple[str, ...] = HOLDS + PUSHES,
    most: int = 4,
) -> Plan:
    """Any mechanism of up to so many bodies, and up to two rods that close it."""
    there, shape = draw(st.sampled_from(where)), draw(st.sampled_from(shapes))
    kinds = tuple(k for k in kinds if there == "space" or k not in ("plate", "solid"))
    chain = draw(links(there, shape, kinds, most))
    return Plan(
        where=there,
        links=chain,
        closings=draw(closings(there, chain)) if shape == "loop" else (),
        forces=draw(forces(chain, pushed)),
        gravity=draw(st.booleans()),
        driven=chain[0].joint == "revolute" and not turns_with_bending(chain[0]) and draw(st.booleans()),
        seed=draw(SEEDS),
    )
