"""The crank-slider with a solid rod in floating frames of both codes: the same matrices, the same modes, one and the same model.

A rod of 5.3 × 5.3 mm, as stiff in bending as the paper's, without stiffening: Exudyn's floating-frame body has none.
"""

import functools

import crank_slider as paper
import numpy as np

SIDE, CELLS = 5.3e-3, (16, 1, 1)
MIDDLE = paper.LENGTH / 2


def run(code, **member):
    return phloat(**member) if code == "phloat" else exudyn(**member)


def solid():
    import phloat as ph

    material = ph.Material(E=paper.E, rho=paper.RHO, nu=0.3)
    ports = {"P": "left", "C": "right"}
    rod = ph.Solid.box(paper.LENGTH, SIDE, SIDE, material=material, frame="left", ports=ports, stiffening=False)
    return rod.discretise(CELLS)


def phloat(modes, steps, scheme="midpoint"):
    import ours

    import phloat as ph

    def build():
        crank = ph.RigidBody(
            1e-3, 1e-5 * np.eye(3), center=(paper.RADIUS / 2, 0.0, 0.0), ports={"C": (paper.RADIUS, 0.0, 0.0)}
        )
        axis = (0, 0, 1)
        system = ph.connect(
            {
                "crank": crank.discretise(),
                "rod": solid().reduced(modes=modes, inertial=False),
                "slider": ph.PointMass(paper.SLIDER).discretise(),
            },
            joints=[
                ph.Revolute("ground", "crank.P", axis=axis, name="motor"),
                ph.Revolute("crank.C", "rod.P", axis=axis),
                ph.Spherical("rod.C", "slider.P"),
                ph.Slide("ground", "slider.P", along=(1, 0, 0)),
            ],
        )
        system = ph.drive(system, "motor")
        return system, ph.set_moving(system, ph.place(system), u={"motor": paper.RATE})

    def look(result):
        places = (result.position("rod", at=(x, SIDE / 2, SIDE / 2)) for x in (0.0, MIDDLE, paper.LENGTH))
        return paper.bending(*places)

    return ours.moved(build, paper.T_END, steps, steps // paper.SAMPLES, look, scheme, u={"motor": paper.RATE})


@functools.cache
def given():
    """Nodes, M and K as phloat assembles them: node by node, (x, y, z) each."""
    body = solid()
    return np.asarray(body.mesh.points), body.M.tocsr(), body.K.tocsr()


def exudyn(modes, steps, energy=False, node="RotationRxyz", **options):
    """ObjectFFRFreducedOrder on a planar crank; the slider is a mass point that keeps its y and z."""
    import exudyn as exu
    import exudyn.itemInterface as Item
    import peer
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface

    points, M, K = given()
    at = {x: np.flatnonzero(np.abs(points[:, 0] - x) < 1e-9).tolist() for x in (0.0, MIDDLE, paper.LENGTH)}
    spin = -paper.RATE * paper.RADIUS / paper.LENGTH

    def build():
        fem = FEMinterface()
        fem.nodes = {"Position": points}
        fem.massMatrix, fem.stiffnessMatrix = M, K
        fem.ComputeHurtyCraigBamptonModes(
            [at[0.0], at[paper.LENGTH]], modes, computationMode=HCBstaticModeSelection.RBE2
        )
        model = peer.Model()
        rod = ObjectFFRFreducedOrderInterface(
            fem, rigidBodyNodeType=getattr(exu.NodeType, node)
        ).AddObjectFFRFreducedOrder(
            model.mbs,
            positionRef=[paper.RADIUS, -SIDE / 2, -SIDE / 2],
            initialVelocity=[spin * SIDE / 2, paper.RATE * paper.RADIUS, 0],
            initialAngularVelocity=[0, 0, spin],
        )["oFFRFreducedOrder"]
        near, middle, far = (
            model.mbs.AddMarker(
                Item.MarkerSuperElementRigid(
                    bodyNumber=rod, meshNodeNumbers=nodes, weightingFactors=[1 / len(nodes)] * len(nodes)
                )
            )
            for nodes in at.values()
        )
        hub = model.mbs.AddNode(
            Item.NodeRigidBody2D(referenceCoordinates=[0, 0, 0], initialVelocities=[0, 0, paper.RATE])
        )
        crank = model.mbs.AddObject(Item.ObjectRigidBody2D(nodeNumber=hub, mass=1e-3, inertia=1e-5))
        for k in (0, 1):
            model.tie(model.still, model.coordinate(hub, k))
        motor = model.tie(model.still, model.coordinate(hub, 2), velocityLevel=True, offset=paper.RATE)
        pin = model.mbs.AddMarker(Item.MarkerBodyRigid(bodyNumber=crank, localPosition=[paper.RADIUS, 0, 0]))
        model.mbs.AddObject(Item.ObjectJointGeneric(markerNumbers=[pin, near], constrainedAxes=[1, 1, 1, 1, 1, 0]))
        end = model.mbs.AddNode(Item.NodePoint(referenceCoordinates=[paper.RADIUS + paper.LENGTH, 0, 0]))
        slider = model.mbs.AddObject(Item.ObjectMassPoint(nodeNumber=end, mass=paper.SLIDER))
        for k in (1, 2):
            model.tie(model.still, model.coordinate(end, k))
        model.mbs.AddObject(Item.ObjectJointSpherical(markerNumbers=[far, model.place(end)]))
        model.bodies += [rod, crank, slider]
        for marker in (near, middle, far):
            model.look_at_marker(marker)
        if energy:
            model.supply(motor, paper.RATE)
        return model

    every = 1 if energy else steps // paper.SAMPLES
    return peer.solved(build, paper.T_END, steps, every, lambda seen: paper.bending(*seen), energy, **options)
