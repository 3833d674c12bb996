"""The crank-slider of the paper, 6.2, with membrane stiffening: how far the rod bends from its chord, over its length.

A rigid crank turns at 150 rad/s from angle 0, the rod straight, for 8 rad. The rod is impulsively loaded along its axis, so that
below 1e-3 of the peak the axial ringing has to be resolved too: that is why 1e-4 takes many steps in both codes.
"""

import numpy as np

TITLE = "crank-slider of the paper"
RATE, RADIUS, LENGTH, DIAMETER, SLIDER = 150.0, 0.15, 0.3, 6e-3, 0.03337785
E, RHO = 0.2e12, 7870.0
T_END, SAMPLES = 8 / RATE, 80
SCALE = 0.01537  # the peak
SHARED = False  # one frame is a theory of its own: squares of the slope


def bending(P, middle, C):
    """Mid-span deflection from the chord over the length, without the start."""
    P, middle, C = (np.asarray(x)[-SAMPLES:, :2] for x in (P, middle, C))
    chord = (C - P) / np.linalg.norm(C - P, axis=1, keepdims=True)
    off = middle - (P + C) / 2
    return (chord[:, 0] * off[:, 1] - chord[:, 1] * off[:, 0]) / LENGTH


def run(code, **member):
    return phloat(**member) if code == "phloat" else exudyn(**member)


def phloat(elements, steps, pieces=1, modes=0, axial=2, scheme="midpoint"):
    import ours

    import phloat as ph

    def build():
        recipe = ph.Beam(
            length=LENGTH, section=ph.Circle(DIAMETER), material=ph.Material(E=E, rho=RHO, nu=0.3), frame="pinned"
        )
        crank = ph.RigidBody(1e-3, 1e-5 * np.eye(3), center=(RADIUS / 2, 0.0, 0.0), ports={"C": (RADIUS, 0.0, 0.0)})
        bodies = {"crank": crank.discretise(), "rod": ours.beam(recipe, pieces, elements, modes, axial)}
        system = ph.connect(
            bodies | {"slider": ph.PointMass(SLIDER).discretise()},
            joints=[
                ph.Revolute("ground", "crank.P", name="motor"),
                ph.Revolute("crank.C", "rod.P"),
                ph.Revolute("rod.C", "slider.P"),
                ph.Slide("ground", "slider.P", along=(1, 0, 0)),
            ],
            plane="xy",
        )
        system = ph.drive(system, "motor")
        state = ph.place(system, {"crank.theta": 0.0})
        return system, ph.set_moving(system, state, u={"motor": RATE})

    def look(result):
        return bending(*(result.position("rod", s=s) for s in (0.0, 0.5, 1.0)))

    return ours.moved(build, T_END, steps, steps // SAMPLES, look, scheme, u={"motor": RATE})


def exudyn(elements, steps, energy=False, **options):
    """A crank whose rate is given at velocity level, without a function of Python; the slider as a mass along x."""
    import exudyn.itemInterface as Item
    import peer

    area, inertia = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64

    def velocity(s):
        return [0, RATE * RADIUS * (1 - s), 0, -RATE * RADIUS / LENGTH]

    def build():
        model = peer.Model()
        nodes = model.link(RADIUS, LENGTH, elements, RHO * area, E * inertia, E * area, velocity=velocity)
        hub = model.mbs.AddNode(Item.NodeRigidBody2D(referenceCoordinates=[0, 0, 0], initialVelocities=[0, 0, RATE]))
        crank = model.mbs.AddObject(Item.ObjectRigidBody2D(nodeNumber=hub, mass=1e-3, inertia=1e-5))
        for k in (0, 1):
            model.tie(model.still, model.coordinate(hub, k))
        motor = model.tie(model.still, model.coordinate(hub, 2), velocityLevel=True, offset=RATE)
        pin = model.mbs.AddMarker(Item.MarkerBodyPosition(bodyNumber=crank, localPosition=[RADIUS, 0, 0]))
        model.hinge(pin, model.place(nodes[0]))
        slider = model.mbs.AddNode(Item.Node1D(referenceCoordinates=[0.0]))
        model.bodies += [crank, model.mbs.AddObject(Item.ObjectMass1D(nodeNumber=slider, mass=SLIDER))]
        model.tie(model.still, model.coordinate(nodes[-1], 1))
        model.tie(model.coordinate(slider, 0), model.coordinate(nodes[-1], 0))
        model.look_at(nodes[0])
        model.middle(nodes, LENGTH)
        model.look_at(nodes[-1])
        if energy:
            model.supply(motor, RATE)
        return model

    return peer.solved(
        build, T_END, steps, 1 if energy else steps // SAMPLES, lambda seen: bending(*seen), energy, **options
    )
