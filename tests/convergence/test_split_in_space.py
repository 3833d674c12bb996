"""Split beams where bending twists: order 2 if the frame of a piece follows half its twist."""

import numpy as np
import pytest
from bodies_zoo import steel

import phloat as ph
from phloat.verification.rods import Rod

SECTION = ph.Rectangle(b=0.003, h=0.012)
CHORD = {0.0: ("u_x", "u_y", "u_z"), 0.5: ("theta_x",), 1.0: ("u_y", "u_z")}
FORCE = np.array([0.0, 20.0, 20.0])


def tip(pieces: int, frame) -> np.ndarray:
    beam = ph.Beam(0.5, SECTION, steel, frame=frame).split(pieces).discretise(2)
    pull = [ph.Force("b.C", along=along, name=name) for name, along in (("y", (0, 1, 0)), ("z", (0, 0, 1)))]
    system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), *pull])
    return ph.equilibrium(system, ph.place(system), u={"y": FORCE[1], "z": FORCE[2]}).position("b", 1.0)


def test_pieces_bent_about_both_axes_converge_with_order_two():
    """With the twist held at one end, as in a pinned frame, the order is 1: its error is 24 times as large with 4 pieces."""
    rod = Rod(0.5, (steel.G * SECTION.J, steel.E * SECTION.I_y, steel.E * SECTION.I), 1.0 / (steel.E * SECTION.A))
    known = rod.bent(FORCE)[0]
    coarse, fine, pinned = (
        float(np.linalg.norm(tip(n, frame) - known)) for n, frame in ((4, CHORD), (8, CHORD), (4, "pinned"))
    )
    assert known[2] > 0.1
    assert coarse / fine == pytest.approx(4.0, rel=0.15)
    assert fine < 2e-4 * 0.5
    assert pinned > 5 * coarse
