"""Chains of flexible links in a plane, hinged to the ground and to each other, let go along the horizontal: one tip over time.

Two links are the flexible double pendulum (1 m, 20 × 20 mm, E = 1e9); more are the chains of benchmarks/chains.py.
"""

import numpy as np

GRAVITY = 9.81


def run(code, **member):
    return phloat(**member) if code == "phloat" else exudyn(**member)


def tip(places, samples):
    return np.asarray(places)[-samples:, :2]


def phloat(
    links,
    link,
    t_end,
    samples,
    elements,
    steps,
    pieces=1,
    modes=0,
    axial=2,
    frame="cantilever",
    scheme="midpoint",
    alone=False,
):
    import ours

    import phloat as ph

    def build():
        recipe = ph.Beam(
            length=link["length"],
            section=ph.Rectangle(link["width"], link["height"]),
            material=ph.Material(E=link["E"], rho=link["rho"], nu=0.3),
            frame=frame,
        )
        body = ours.beam(recipe, pieces, elements, modes, axial)
        joints = [ph.Revolute("ground", "0.P"), *(ph.Revolute(f"{k}.C", f"{k + 1}.P") for k in range(links - 1))]
        system = ph.connect({f"{k}": body for k in range(links)}, joints, gravity=(0.0, -GRAVITY, 0.0), plane="xy")
        return system, ph.place(system)

    def look(result):
        return tip(result.position(f"{links - 1}", s=1.0), samples)

    return ours.moved(build, t_end, steps, steps // samples, look, scheme, alone=alone)


def exudyn(links, link, t_end, samples, elements, steps, energy=False, **options):
    import peer

    area = link["width"] * link["height"]
    inertia = area * link["height"] ** 2 / 12

    def build():
        model = peer.Model()
        before = model.on_ground()
        for k in range(links):
            nodes = model.link(
                k * link["length"],
                link["length"],
                elements,
                link["rho"] * area,
                link["E"] * inertia,
                link["E"] * area,
                GRAVITY,
            )
            model.hinge(before, model.place(nodes[0]))
            before = model.place(nodes[-1])
        model.look_at(nodes[-1])
        return model

    return peer.solved(build, t_end, steps, steps // samples, lambda seen: tip(seen[0], samples), energy, **options)
