"""The hinged beam of the paper, 6.3: a long beam on a ball joint, turned by a torque for 10 s and struck at its tip at 15 s.

Exudyn: its spatial ANCF beam (two nodes, shear deformable). Its cubic cable in space has no section that a torque could act on.
"""

import numpy as np

TITLE = "hinged spatial beam of the paper"
LENGTH, AREA, INERTIA, E, RHO = 141.42, 9.0, 6.75, 2.1e6, 7.8e-3
TORQUE = {0.0: 0.0, 0.2: 200.0, 10.0: 200.0, 10.2: 0.0}
BLOW = {15.0: 0.0, 15.2: 100.0, 15.4: 0.0}
T_END, SAMPLES = 20.0, 100
SCALE = LENGTH


def tip(places):
    return np.asarray(places)[-SAMPLES:]


def run(code, **member):
    return phloat(**member) if code == "phloat" else exudyn(**member)


def phloat(elements, steps, pieces=1, modes=0, scheme="midpoint"):
    import ours

    import phloat as ph

    def build():
        section, material = ph.Section(A=AREA, I=INERTIA, J=2 * INERTIA), ph.Material(E=E, rho=RHO, nu=0.3)
        body = ours.beam(ph.Beam(length=LENGTH, section=section, material=material), pieces, elements, modes)
        joints = [
            ph.Spherical("ground", "beam.P", name="hinge"),
            ph.Torque("beam.P", about=(0, 0, 1), name="torque"),
            ph.Force("beam.C", along=(0, 0, 1), name="blow"),
        ]
        system = ph.connect({"beam": body}, joints)
        return system, ph.place(system)

    u = {"torque": ph.piecewise(TORQUE), "blow": ph.piecewise(BLOW)}
    return ours.moved(
        build, T_END, steps, steps // SAMPLES, lambda result: tip(result.position("beam", s=1.0)), scheme, u=u
    )


def exudyn(elements, steps, energy=False, **options):
    import exudyn as exu
    import exudyn.itemInterface as Item
    import peer
    from exudyn import symbolic

    def lines(corners):
        """The same straight lines, in symbols."""
        at = list(corners.items())

        def value(mbs, t, load):
            out = symbolic.Real(at[-1][1])
            for (t0, y0), (t1, y1) in zip(at[-2::-1], at[:0:-1], strict=True):
                out = symbolic.IfThenElse(t < t1, y0 + (y1 - y0) / (t1 - t0) * (t - t0), out)
            return symbolic.IfThenElse(t < at[0][0], symbolic.Real(at[0][1]), out)

        return value

    def build():
        model = peer.Model()
        torque, blow = (
            model.symbolic(_vector(lines(corners)), "loadVectorUserFunction", kind)
            for corners, kind in ((TORQUE, "LoadTorqueVector"), (BLOW, "LoadForceVector"))
        )
        G, section = E / (2 * (1 + 0.3)), exu.BeamSection()
        section.stiffnessMatrix = np.diag([E * AREA, G * AREA, G * AREA, 2 * G * INERTIA, E * INERTIA, E * INERTIA])
        section.inertia, section.massPerLength = RHO * INERTIA * np.diag([2.0, 1.0, 1.0]), RHO * AREA
        nodes = [
            model.mbs.AddNode(
                Item.NodePointSlope23(referenceCoordinates=[LENGTH * k / elements, 0, 0, 0, 1, 0, 0, 0, 1])
            )
            for k in range(elements + 1)
        ]
        for k in range(elements):
            model.bodies.append(
                model.mbs.AddObject(
                    Item.ObjectANCFBeam(length=LENGTH / elements, sectionData=section, nodeNumbers=nodes[k : k + 2])
                )
            )
        for k in range(3):
            model.tie(model.still, model.coordinate(nodes[0], k))
        root, end = (
            model.mbs.AddMarker(kind(nodeNumber=node))
            for kind, node in ((Item.MarkerNodeRigid, nodes[0]), (Item.MarkerNodePosition, nodes[-1]))
        )
        model.mbs.AddLoad(Item.LoadTorqueVector(markerNumber=root, loadVector=[0, 0, 1], loadVectorUserFunction=torque))
        model.mbs.AddLoad(Item.LoadForceVector(markerNumber=end, loadVector=[0, 0, 1], loadVectorUserFunction=blow))
        model.look_at(nodes[-1])
        return model

    return peer.solved(build, T_END, steps, steps // SAMPLES, lambda seen: tip(seen[0]), energy, max(BLOW), **options)


def _vector(value):
    def along_z(mbs, t, load):
        from exudyn import symbolic

        return symbolic.Vector([0.0, 0.0, value(mbs, t, load)])

    return along_z
