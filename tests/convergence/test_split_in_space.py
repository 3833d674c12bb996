"""Split beams where bending twists: order 2, since the frame of a piece follows half its twist."""

import numpy as np
import pytest
from bodies_zoo import steel
from verification.rods import Rod

import phloat as ph

SECTION = ph.Rectangle(b=0.003, h=0.012)
FORCE = np.array([0.0, 20.0, 20.0])


def tip(pieces: int, frame=None, elements: int = 2) -> np.ndarray:
    beam = ph.Beam(0.5, SECTION, steel, frame=frame).split(pieces).discretise(elements)
    pull = [ph.Force("b.C", along=along, name=name) for name, along in (("y", (0, 1, 0)), ("z", (0, 0, 1)))]
    system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), *pull])
    return ph.equilibrium(system, ph.place(system), u={"y": FORCE[1], "z": FORCE[2]}).position("b", 1.0)


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    rod = Rod(0.5, (steel.G * SECTION.J, steel.E * SECTION.I_y, steel.E * SECTION.I), 1.0 / (steel.E * SECTION.A))
    return rod.bent(FORCE)[0]


@pytest.mark.parametrize(("elements", "close"), [(1, 2e-4), (2, 1.2e-4)])
def test_pieces_bent_about_both_axes_converge_with_order_two(elements, close, exact):
    """With the twist held at one end, as in a pinned frame, the order is 1: its error is 24 times as large with 4 pieces."""
    coarse, fine, pinned, cantilever = (
        float(np.linalg.norm(tip(n, frame, elements) - exact))
        for n, frame in ((4, None), (8, None), (4, "pinned"), (4, "cantilever"))
    )
    assert exact[2] > 0.1
    assert coarse / fine == pytest.approx(4.0, rel=0.15)
    assert fine < close * 0.5
    assert pinned > 5 * coarse
    assert cantilever > 2.5 * coarse


def test_the_error_of_pure_torsion_falls_with_order_four():
    """A twist of 1 rad: only the triads of sections miss, by ψ⁵/45 at each end of a piece."""
    beam = ph.Beam(0.5, SECTION, steel)
    u = {"torque": steel.G * SECTION.J / beam.length}
    miss = []
    for pieces in (2, 4):
        tip = ph.RigidBody(1e-6, 1e-9 * np.eye(3)).discretise()
        joints = [ph.Weld("ground", "b.P"), ph.Weld("b.C", "tip.P"), ph.Torque("b.C", about=(1, 0, 0), name="torque")]
        system = ph.connect({"b": beam.split(pieces).discretise(1), "tip": tip}, joints)
        A = ph.equilibrium(system, ph.place(system), u=u).pose("tip").A
        miss.append(abs(np.arctan2(A[2, 1], A[1, 1]) - 1.0))
    assert miss[0] / miss[1] > 12.0
    assert miss[1] < 5e-5
