"""Exudyn's own floating-frame body beside phloat's: the same solid bar, its matrices given, reduced to the same coordinates.

A chain of bars of hexahedra, hinged about z. phloat assembles M and K; both codes reduce them by Craig and Bampton with rigid
ends: 6 static modes of the far end and so many with both ends held. Neither stiffens, so it is one and the same model.
"""

import functools

import numpy as np

TITLE = "chain of solid links, floating frames in both codes"
GRAVITY = 9.81
LENGTH, WIDTH, HEIGHT, E, RHO, CELLS = 0.5, 0.02, 0.005, 70e9, 2700.0, (16, 1, 1)


def run(code, **member):
    return phloat(**member) if code == "phloat" else exudyn(**member)


def tip(places, samples):
    return np.asarray(places)[-samples:, :2]


def solid():
    """The bar on its mesh, from one hinge to the other; thin across z so that gravity bends it."""
    import phloat as ph

    material = ph.Material(E=E, rho=RHO, nu=0.3)
    bar = ph.Solid.box(
        LENGTH, HEIGHT, WIDTH, material=material, frame="left", ports={"P": "left", "C": "right"}, stiffening=False
    )
    return bar.discretise(CELLS)


def phloat(links, t_end, samples, modes, steps, scheme="midpoint", alone=False):
    import ours

    import phloat as ph

    def build():
        body = solid().reduced(modes=modes, inertial=False)
        axis = (0, 0, 1)
        joints = [ph.Revolute("ground", "0.P", axis=axis)]
        joints += [ph.Revolute(f"{k}.C", f"{k + 1}.P", axis=axis) for k in range(links - 1)]
        system = ph.connect({f"{k}": body for k in range(links)}, joints, gravity=(0.0, -GRAVITY, 0.0))
        return system, ph.place(system)

    def look(result):
        return tip(result.position(f"{links - 1}", at=(LENGTH, HEIGHT / 2, WIDTH / 2)), samples)

    return ours.moved(build, t_end, steps, steps // samples, look, scheme, alone=alone)


@functools.cache
def given():
    """Nodes, M and K as phloat assembles them: node by node, (x, y, z) each."""
    body = solid()
    return np.asarray(body.mesh.points), body.M.tocsr(), body.K.tocsr()


def exudyn(links, t_end, samples, modes, steps, energy=False, node="RotationRxyz", **options):
    """ObjectFFRFreducedOrder, all in C++; hinges between rigid markers on the end faces."""
    import exudyn as exu
    import exudyn.itemInterface as Item
    import peer
    from exudyn.FEM import FEMinterface, HCBstaticModeSelection, ObjectFFRFreducedOrderInterface

    points, M, K = given()
    masses = np.asarray(M.sum(axis=1)).reshape(-1, 3)[:, 0]  # of the nodes: M is one block for each direction
    ends = [np.flatnonzero(np.abs(points[:, 0] - x) < 1e-9).tolist() for x in (0.0, LENGTH)]

    def build():
        fem = FEMinterface()
        fem.nodes = {"Position": points}
        fem.massMatrix, fem.stiffnessMatrix = M, K
        fem.ComputeHurtyCraigBamptonModes(ends, modes, computationMode=HCBstaticModeSelection.RBE2)
        bar = ObjectFFRFreducedOrderInterface(fem, rigidBodyNodeType=getattr(exu.NodeType, node))
        model = peer.Model()
        before = model.mbs.AddMarker(Item.MarkerBodyRigid(bodyNumber=model.ground, localPosition=[0, 0, 0]))
        for k in range(links):
            corner = [k * LENGTH, -HEIGHT / 2, -WIDTH / 2]
            added = bar.AddObjectFFRFreducedOrder(model.mbs, positionRef=corner, gravity=[0, -GRAVITY, 0])
            body = added["oFFRFreducedOrder"]
            near, far = (
                model.mbs.AddMarker(
                    Item.MarkerSuperElementRigid(
                        bodyNumber=body, meshNodeNumbers=end, weightingFactors=[1 / len(end)] * len(end)
                    )
                )
                for end in ends
            )
            model.mbs.AddObject(
                Item.ObjectJointGeneric(markerNumbers=[before, near], constrainedAxes=[1, 1, 1, 1, 1, 0])
            )
            model.bodies.append(body)
            if energy:
                model.weigh_mass(
                    body, list(range(len(points))), (masses / masses.sum()).tolist(), masses.sum() * GRAVITY
                )
            before = far
        model.look_at_marker(before)
        return model

    return peer.solved(build, t_end, steps, steps // samples, lambda seen: tip(seen[0], samples), energy, **options)
