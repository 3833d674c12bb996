"""Plants for tests of controllers: a wheel, a two-link flexible arm, two masses on a spring."""

import numpy as np

import phloat as ph

alu = ph.Material(E=70e9, rho=2700.0, nu=0.33)
LINK = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.002), material=alu, damping=ph.KelvinVoigt(2e-5))
ORIGIN, TARGET = {"shoulder": 0.3, "elbow": 0.6}, {"shoulder": 0.5, "elbow": 0.3}


def wheel(inertia: float = 0.2) -> ph.System:
    """A rigid wheel on a pin, in a plane."""
    body = ph.RigidBody(mass=1.0, inertia=np.diag([inertia] * 3)).discretise()
    return ph.connect({"wheel": body}, joints=[ph.Revolute("ground", "wheel.P", name="pin")], plane="xy")


def arm(
    elements: int = 2, gravity: tuple[float, float, float] = (0.0, 0.0, 0.0), plane: str | None = "xy"
) -> ph.System:
    """Two flexible links with hinges "shoulder" and "elbow"."""
    link = LINK.discretise(elements)
    joints = [ph.Revolute("ground", "upper.P", name="shoulder"), ph.Revolute("upper.C", "lower.P", name="elbow")]
    return ph.connect({"upper": link, "lower": link}, joints=joints, plane=plane, gravity=gravity)


def at(system: ph.System, angles: dict[str, float]) -> ph.State:
    """The state with these joint angles (rad), at rest."""
    return ph.place(system, {f"{joint}.angle": angle for joint, angle in angles.items()})


def linear_arm(elements: int = 2, angles: dict[str, float] = TARGET) -> ph.LinearPHDAE:
    """The arm linearised at these angles, with ports "shoulder" and "elbow" and without multipliers."""
    system = arm(elements)
    return ph.eliminate(ph.linearise(system, at(system, angles)).with_ports("shoulder", "elbow"))


def two_masses(m_1: float, m_2: float, k: float, c: float = 0.0) -> ph.LinearPHDAE:
    """Two masses joined by a spring and a damper, a force on the first; rows (v_1, v_2 | σ)."""
    return ph.LinearPHDAE(
        E=np.diag([m_1, m_2, 1.0 / k]),
        J=np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]),
        R=np.array([[c, -c, 0.0], [-c, c, 0.0], [0.0, 0.0, 0.0]]),
        B=np.array([[1.0], [0.0], [0.0]]),
        rows=ph.Layout({"v": (2,), "sigma": (1,)}, "row"),
        ports=ph.Layout({"push": (1,)}, "port"),
        split=2,
    )
