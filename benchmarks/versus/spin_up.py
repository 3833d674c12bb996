"""The spin-up beam of Simo and Vu-Quoc (1986): how far the tip lags behind a hub whose angle ψ(t) is given, over 20 s."""

import numpy as np

TITLE = "spin-up beam"
LENGTH, AREA, INERTIA, E, RHO = 10.0, 1.0, 5e-4, 2.8e7, 1.2
RATE, RAMP, T_END, SAMPLES = 6.0, 15.0, 20.0, 100
SCALE = 0.576  # the largest lag


def psi(t, cos=np.cos):
    """The hub angle up to the end of the ramp."""
    return RATE / RAMP * (t**2 / 2 + (RAMP / (2 * np.pi)) ** 2 * (cos(2 * np.pi * t / RAMP) - 1))


def psi_rate(t, sin=np.sin):
    return RATE / RAMP * (t - RAMP / (2 * np.pi) * sin(2 * np.pi * t / RAMP))


def angle(t):
    return psi(t) if t < RAMP else RATE * (t - RAMP / 2)


def lag(places):
    """The tip across the hub's direction, without the start."""
    tip, t = np.asarray(places)[-SAMPLES:, :2], T_END * np.arange(1, SAMPLES + 1) / SAMPLES
    turned = np.array([angle(x) for x in t])
    return np.cos(turned) * tip[:, 1] - np.sin(turned) * tip[:, 0]


def run(code, **member):
    return phloat(**member) if code == "phloat" else exudyn(**member)


def phloat(elements, steps, pieces=1, modes=0, scheme="midpoint"):
    import ours

    import phloat as ph

    u = {"hub": ph.prescribed_position(angle)}

    def build():
        section, material = ph.Section(A=AREA, I=INERTIA), ph.Material(E=E, rho=RHO, nu=0.3)
        body = ours.beam(ph.Beam(length=LENGTH, section=section, material=material), pieces, elements, modes)
        system = ph.connect({"beam": body}, [ph.Revolute("ground", "beam.P", name="hub")], plane="xy")
        system = ph.drive(system, "hub")
        return system, ph.set_moving(system, ph.place(system), u=u)

    return ours.moved(
        build, T_END, steps, steps // SAMPLES, lambda result: lag(result.position("beam", s=1.0)), scheme, u=u
    )


def exudyn(elements, steps, energy=False, **options):
    """The hub's angle is tied to a symbolic function of time, which Exudyn evaluates without Python."""
    import exudyn.itemInterface as Item
    import peer
    from exudyn import symbolic

    def place(mbs, t, number, offset):
        return symbolic.IfThenElse(t < RAMP, psi(t, symbolic.cos), RATE * (t - RAMP / 2))

    def rate(mbs, t, number, offset):
        return symbolic.IfThenElse(t < RAMP, psi_rate(t, symbolic.sin), symbolic.Real(RATE))

    def build():
        model = peer.Model()
        nodes = model.link(0.0, LENGTH, elements, RHO * AREA, E * INERTIA, E * AREA)
        node = model.mbs.AddNode(Item.NodeRigidBody2D(referenceCoordinates=[0, 0, 0]))
        hub = model.mbs.AddObject(Item.ObjectRigidBody2D(nodeNumber=node, mass=1.0, inertia=1.0))
        for k in (0, 1):
            model.tie(model.still, model.coordinate(node, k))
        motor = model.tie(
            model.still,
            model.coordinate(node, 2),
            offsetUserFunction=model.symbolic(place, "offsetUserFunction", "ObjectConnectorCoordinate"),
            offsetUserFunction_t=model.symbolic(rate, "offsetUserFunction_t", "ObjectConnectorCoordinate"),
        )
        clamp = [
            model.mbs.AddMarker(Item.MarkerBodyRigid(bodyNumber=hub, localPosition=[0, 0, 0])),
            model.mbs.AddMarker(Item.MarkerNodeRigid(nodeNumber=nodes[0])),
        ]
        model.mbs.AddObject(Item.ObjectJointGeneric(markerNumbers=clamp, constrainedAxes=[1, 1, 0, 0, 0, 1]))
        model.bodies.append(hub)
        model.look_at(nodes[-1])
        if energy:
            model.supply(motor, lambda t: np.array([psi_rate(x) if x < RAMP else RATE for x in t]))
        return model

    every = 1 if energy else steps // SAMPLES
    return peer.solved(build, T_END, steps, every, lambda seen: lag(seen[0]), energy, **options)
