"""The forces of random mechanisms: springs, dampers, bushings, forces, torques, loads, wrenches; and what they are given."""

import numpy as np
from bodies import direction
from mechanisms import GROUND, Link, Part, Plan
from worlds import Push

import phloat as ph


def forces_of(plan: Plan) -> tuple[list, dict[str, Push]]:
    """Springs, dampers, forces, torques, loads; and what they are given."""
    joints, pushes = [], {}
    for k, part in enumerate(plan.forces):
        made, push = force_of(f"f{k}", part, plan)
        joints += made
        pushes |= push
    return joints, pushes


def port(i: int, links: tuple[Link, ...]) -> str:
    return "ground" if i == GROUND else f"b{i}.P" if links[i].kind == "point" else f"b{i}.C"


def force_of(name: str, part: Part, plan: Plan) -> tuple[list, dict[str, Push]]:
    rng, flat = np.random.default_rng(part.seed), plan.where != "space"
    links, first, second = plan.links, port(part.first, plan.links), port(part.second, plan.links)
    along = direction(rng, flat)
    at = {"at": tuple(3.0 * direction(rng, flat))} if part.first == GROUND else {}
    axes = "body" if rng.random() < 0.5 and links[part.second].kind != "point" else "inertial"
    pulsation = rng.choice([0.0, rng.uniform(5.0, 50.0)])
    inner = links[part.second].parent != GROUND
    side = f"{'inner' if inner else 'outer'} {name}"
    joint, axis = f"j{part.second}", "slide" if links[part.second].joint == "prismatic" else "angle"
    turns = links[part.second].joint != "prismatic"
    match part.kind:
        case "spring":
            return [
                ph.Spring(first, second, stiffness=rng.uniform(20, 200), length=rng.uniform(0, 1), name=name, **at)
            ], {}
        case "curved spring":
            stiffness = {-1.0: -80.0, 0.0: 0.0, 0.5: 30.0, 2.0: 300.0}
            return [ph.Spring(first, second, stiffness=stiffness, length=0.7, name=name, **at)], {}
        case "damper":
            return [ph.Damper(first, second, damping=rng.uniform(0.5, 5.0), name=name, **at)], {}
        case "bushing":
            k, c = rng.uniform(20.0, 100.0, 6), rng.uniform(0.0, 1.0, 6)
            if part.first == GROUND:  # its axes are those of the ground, which is turned in other worlds
                k, c = np.repeat(k[[0, 3]], 3), np.repeat(c[[0, 3]], 3)
            near = {"at": tuple(direction(rng, flat))} if part.first == GROUND else {}
            rotation = ("small", "vector")[part.seed % 2]
            return [
                ph.Bushing(first, second, stiffness=tuple(k), damping=tuple(c), rotation=rotation, name=name, **near)
            ], {}
        case "joint spring":
            return [ph.JointSpring(joint, axis=axis, stiffness=rng.uniform(1, 20), rest=rng.normal(), name=side)], {}
        case "joint damper":
            return [ph.JointDamper(joint, axis=axis, damping=rng.uniform(0.1, 1.0), name=side)], {}
        case "force":
            return [ph.Force(second, along=tuple(along), axes=axes, name=name)], {
                name: Push(rng.normal(size=1) * 5, pulsation, "force")
            }
        case "torque":
            about = (0.0, 0.0, 1.0) if flat else tuple(along)
            return [ph.Torque(second, about=about, axes=axes, name=name)], {
                name: Push(rng.normal(size=1), pulsation, "torque")
            }
        case "load":
            return [ph.Load(f"b{part.second}", along=tuple(along), axes=axes, name=name)], {
                name: Push(rng.normal(size=1) * 5, pulsation, "factor")
            }
        case "effort":
            if plan.driven and part.second == 0:
                return [], {}
            return [], {joint: Push(rng.normal(size=1), pulsation, "torque" if turns else "force")}
        case _:
            if links[part.second].kind == "point":
                return [], {second: Push(rng.normal(size=2 if plan.plane else 3), pulsation, "force", inertial=True)}
            kind = "planar wrench" if plan.plane else "wrench"
            return [], {
                second: Push(
                    rng.normal(size=3 if plan.plane else 6) * ([1, 1, 0, 0, 0, 1] if plan.where == "flat" else 1),
                    pulsation,
                    kind,
                )
            }
