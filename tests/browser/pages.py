"""Pages for the tests: each is written to a file, and comes with what it shows."""

import html
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import phloat as ph
from phloat.view.page.write import page_text

RATE, RADIUS = 150.0, 0.15
STEEL = ph.Material(E=0.2e12, rho=7870.0, nu=0.3)
HOSTILE = "<script>broken=1</script>"
TITLE = "</title><img src=x onerror=window.broken=2></script>&amp;"


def pin(t: float) -> np.ndarray:
    return RATE * RADIUS * np.array([-np.sin(RATE * t), np.cos(RATE * t)])


def crank_slider(path: Path):
    """The paper's crank-slider, in few elements."""
    rod = ph.Beam(length=0.3, section=ph.Circle(6e-3), material=STEEL, frame="pinned").discretise(3)
    system = ph.connect(
        {"rod": rod, "slider": ph.PointMass(0.03337785).discretise()},
        joints=[
            ph.Drive("ground", "rod.P", name="crank pin"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Slide("ground", "slider.P", along=(1, 0, 0), name="rail"),
        ],
        plane="xy",
    )
    u = {"crank pin": pin}
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (RADIUS, 0.0)}), u=u)
    result = ph.simulate(system, state, t_end=0.04, dt=1e-4, u=u)
    return ph.to_html(result, path, title="Crank-slider", u=u), result


def arm(path: Path):
    """In space, with gravity: a rigid hub, a plate and a solid, a spring and a damper."""
    soft = ph.Material(E=2e9, rho=1200.0, nu=0.3)
    plate = ph.Plate.rectangle(0.6, 0.3, thickness=0.01, material=soft, frame="left", ports={"P": "left", "C": "right"})
    solid = ph.Solid.box(0.4, 0.05, 0.05, material=soft, frame="left", ports={"P": "left", "C": "right"})
    hub = ph.RigidBody(5.0, np.diag([0.02, 0.02, 0.03]), center=(0, 0, 0.05), ports={"C": (0.15, 0, 0)})
    bodies = {
        "hub": hub.discretise(),
        "plate": plate.discretise((6, 3)).reduced(modes=3),
        "solid": solid.discretise((6, 1, 1)).reduced(modes=3),
    }
    system = ph.connect(
        bodies,
        joints=[
            ph.Revolute("ground", "hub.P", name="turn"),
            ph.Weld("hub.C", "plate.P"),
            ph.Spherical("plate.C", "solid.P"),
            ph.Spring("ground", "solid.C", at=(1.0, 0.0, 0.5), stiffness=30.0, length=0.3, name="spring"),
            ph.Damper("hub.P", "plate.C", damping=0.5, name="damper"),
            ph.Torque("hub.P", about=(0, 0, 1), name="motor"),
        ],
        gravity=(0, 0, -9.81),
    )
    u = {"motor": 3.0}
    result = ph.simulate(system, ph.place(system), t_end=0.6, dt=4e-3, u=u)
    return ph.to_html(result, path, u=u), result


def telescope(path: Path):
    """A turning boom with a telescope that slides out of it."""
    boom = ph.Beam(length=0.5, section=ph.Rectangle(0.03, 0.03), material=STEEL).discretise(2)
    inner = ph.Beam(length=0.4, section=ph.Rectangle(0.02, 0.02), material=STEEL).discretise(2)
    joints = [
        ph.Revolute("ground", "boom.P", name="base"),
        ph.Prismatic("boom.C", "inner.P", axis=(1, 0, 0), name="out"),
    ]
    system = ph.drive(ph.connect({"boom": boom, "inner": inner}, joints, gravity=(0, 0, -9.81)), "base", "out")
    u = {"base": 2.0, "out": 0.3}
    result = ph.simulate(system, ph.set_moving(system, ph.place(system, {"out.slide": 0.1}), u=u), 0.5, dt=0.01, u=u)
    return ph.to_html(result, path, u=u), result


def plate(path: Path):
    """Small motions of a plate with a rigid rod at its edge."""
    alu = ph.Material(E=70e9, nu=0.35, rho=2700.0)
    recipe = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=alu, clamped="left")
    rod = ph.RigidBody(mass=50.0, inertia=np.diag([4.16667, 1.0, 4.16667])).discretise()
    push = ph.Pressure("plate", lambda x, y: 1e5 * (y + 10 * (y - 0.5) ** 2), name="push")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.UnfeltMotionWarning)
        system = ph.tie({"plate": recipe.discretise(6), "rod": rod}, [ph.Tie("plate.right", "rod.P", of="w"), push])
    result = ph.simulate(system, t_end=4e-3, dt=4e-5, u={"push": lambda t: float(t < 2e-3)})
    return ph.to_html(result, path), result


def modes(path: Path):
    """A bent pair of beams, and its frequencies."""
    beam = ph.Beam(length=0.5, section=ph.Rectangle(0.02, 0.01), material=STEEL).discretise(3)
    system = ph.connect(
        {"a": beam, "b": beam}, [ph.Weld("ground", "a.P"), ph.Weld("a.C", "b.P", turned=(0, 0, 1.0))], plane="xy"
    )
    found = ph.modes(ph.linearise(system, ph.place(system)))
    return ph.to_html(found, path), found


def swinging(path: Path):
    """An arm with a payload on a ball joint under gravity: what swings, bends and twists, in space."""
    boom = ph.Beam(length=1.2, section=ph.Rectangle(0.04, 0.06), material=STEEL).discretise(3)
    payload = ph.RigidBody(40.0, np.diag([0.3, 0.5, 0.4]), center=(0, 0, -0.2)).discretise()
    joints = [
        ph.Weld("ground", "boom.P", name="wall"),
        ph.Prismatic("boom.C", "slide.P", axis=(1, 0, 0), name="telescope"),
        ph.Spherical("slide.C", "payload.P", name="ball"),
        ph.Spring("ground", "boom.C", at=(1.2, 0.5, 0.3), stiffness=50.0, length=0.5, name="stay"),
    ]
    slide = ph.RigidBody(2.0, np.diag([1e-3, 1e-2, 1e-2]), center=(-0.1, 0, 0), ports={"C": (0.2, 0, 0)}).discretise()
    bodies = {"payload": payload, "slide": slide, "boom": boom}
    system = ph.lock(ph.connect(bodies, joints, gravity=(0, 0, -9.81)), "telescope")
    state = ph.place(system, {"telescope.slide": 0.15})
    found = ph.modes(ph.linearise(system, ph.equilibrium(system, state)))
    return ph.to_html(found, path), found


def rotor(path: Path):
    """Complex modes: a blade in a spin."""
    blade = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), STEEL, theory="rayleigh").discretise(3)
    system = ph.connect({"blade": blade}, [ph.Revolute("ground", "blade.P", name="hub")])
    found = ph.modes(ph.linearise(system, ph.steady_spin(system, axis=(0, 0, 1), rate=60.0)))
    return ph.to_html(found, path), found


def hostile(path: Path):
    """Names that would be code if they were not text."""
    mass = ph.PointMass(1.0).discretise()
    system = ph.connect(
        {HOSTILE: mass, "${alert(1)}": mass},
        [ph.Spring("ground", f"{HOSTILE}.P", at=(0, 0, 1), stiffness=10.0, length=0.1, name='"onload="x'),
         ph.Spring(f"{HOSTILE}.P", "${alert(1)}.P", stiffness=10.0, length=0.1, name="</script>")],
        gravity=(0, 0, -9.81),
    )  # fmt: skip
    state = ph.place(system, {"${alert(1)}.r_P": (0.0, 0.2, 0.0)})
    result = ph.simulate(system, state, t_end=0.5, dt=0.01)
    return ph.to_html(result, path, title=TITLE), result


def one_state(path: Path):
    """What a run that was cut short at once leaves."""
    result = run_of_pendulum()
    short = replace(result, t=result.t[:1], e=result.e[:1], lam=result.lam[:1], accounts=None)
    return ph.to_html(short, path), short


def framed(path: Path):
    """As a notebook shows it."""
    result = run_of_pendulum()
    inside = html.escape(page_text(result, title="inside"), quote=True)
    path.write_text(
        f'<!doctype html><meta charset="utf-8"><iframe width="800" height="500" srcdoc="{inside}"></iframe>'
    )
    return path, result


def run_of_pendulum() -> ph.Result:
    rod = ph.Beam(length=0.3, section=ph.Circle(6e-3), material=STEEL).discretise(1)
    system = ph.connect({"rod": rod}, [ph.Revolute("ground", "rod.P")], plane="xy", gravity=(0, -9.81, 0))
    return ph.simulate(system, ph.place(system), t_end=0.1, dt=0.01)


PAGES = {
    "crank_slider": crank_slider,
    "arm": arm,
    "telescope": telescope,
    "plate": plate,
    "modes": modes,
    "hostile": hostile,
} | {
    "one_state": one_state,
    "swinging": swinging,
    "rotor": rotor,
    "framed": framed,
}
