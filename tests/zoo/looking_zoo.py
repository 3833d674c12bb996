"""Short runs for tests of plots, films and pages, computed once: in a plane, in space with plate and solid, with hostile names."""

import re
from functools import cache

import numpy as np
from bodies_zoo import steel

import phloat as ph

HOSTILE = "<b>&\"'$x$/\\"


def crank_slider() -> ph.System:
    """A flexible rod with a prescribed crank pin, and a mass on a slide."""
    rod = ph.Beam(0.3, ph.Circle(6e-3), steel, frame="pinned").discretise(3)
    joints = [
        ph.Drive("ground", "rod.P", name="crank pin"),
        ph.Revolute("rod.C", "slider.P"),
        ph.Slide("ground", "slider.P", along=(1, 0, 0)),
    ]
    return ph.connect({"rod": rod, "slider": ph.PointMass(0.0334).discretise()}, joints, plane="xy")


def v_pin(t: float) -> np.ndarray:
    """The velocity of the crank pin (m/s)."""
    return 22.5 * np.array([-np.sin(150 * t), np.cos(150 * t)])


@cache
def sliding() -> ph.Result:
    """A run of the crank-slider, driven at its crank pin."""
    system = crank_slider()
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, 0.0)}), u={"crank pin": v_pin})
    return ph.simulate(system, state, 8e-3, dt=1e-4, u={"crank pin": v_pin})


@cache
def satellite() -> ph.System:
    """A hub with a plate and a beam, in space, and a solid on a spring."""
    hub = ph.RigidBody(5.0, np.diag([0.2, 0.3, 0.4]), ports={"left": (-0.1, 0, 0), "right": (0.1, 0, 0)}).discretise()
    plate = ph.Plate.rectangle(0.6, 0.2, thickness=0.004, material=steel, frame="left", ports={"root": "left"})
    bar = ph.Beam(0.6, ph.Rectangle(0.03, 0.004), steel).discretise(2)
    box = ph.Solid.box(0.3, 0.05, 0.02, material=steel, frame="left", ports={"root": "left"})
    joints = [
        ph.Weld("hub.right", "panel.root"),
        ph.Weld("hub.left", "bar.P", turned=(0.0, 0.0, np.pi)),
        ph.Revolute("bar.C", "box.root", axis=(0, 0, 1), name="hinge"),
        ph.JointSpring("hinge", stiffness=3.0, name="spring"),
        ph.Torque("hub.P", about=(0, 0, 1), name="wheel"),
    ]
    bodies = {
        "hub": hub,
        "panel": plate.discretise((3, 1)).reduced(modes=2),
        "bar": bar,
        "box": box.discretise((3, 1, 1)).reduced(modes=2),
    }
    return ph.connect(bodies, joints)


@cache
def turning() -> ph.Result:
    """A run of the satellite, which rotates, with a torque on its hub."""
    system = satellite()
    state = ph.set_moving(system, ph.place(system), {"hub.omega": (0.2, 0.3, 1.0)})
    return ph.simulate(system, state, 0.1, dt=2e-3, u={"wheel": 5.0})


@cache
def hostile() -> ph.System:
    """A double pendulum whose names contain special characters of HTML, XML, TeX and paths, or begin with an underscore."""
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.004), steel).discretise(1)
    joints = [ph.Revolute("ground", f"{HOSTILE}.P", name="_m"), ph.Revolute(f"{HOSTILE}.C", "_link.P", name="<i>")]
    return ph.connect({HOSTILE: link, "_link": link}, joints, plane="xy", gravity=(0, -9.81, 0))


@cache
def falling() -> ph.Result:
    """A run of the double pendulum with hostile names, from rest."""
    system = hostile()
    return ph.simulate(system, ph.place(system), 0.02, dt=2e-3)


FACTORS = {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}


def in_si(ax, k: int = 0) -> np.ndarray:
    """The k-th line of an axes in SI units, by the prefix of the unit in its label."""
    prefix, _ = re.fullmatch(r".*\(([GMkmµn]?)(m|N|N m|J|Pa|rad|m/s)\)", ax.get_ylabel()).groups()
    return FACTORS[prefix] * np.asarray(ax.lines[k].get_ydata())


def overlaps(figure) -> list[tuple[str, str]]:
    """Pairs of texts of a figure that lie over each other, and texts that reach beyond its border."""
    figure.draw_without_rendering()
    found = [text for legend in figure.legends for text in legend.get_texts()]
    found += [figure._suptitle] if figure._suptitle else []
    for ax in [ax for ax in figure.axes if ax.get_visible()]:
        for axis in () if not ax.axison else (ax.xaxis, ax.yaxis, *([ax.zaxis] if hasattr(ax, "zaxis") else [])):
            low, high = sorted(axis.get_view_interval())
            ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
            found += [label for tick in ticks for label in (tick.label1, tick.label2)] + [axis.label, axis.offsetText]
        found += [ax.title, ax._left_title, ax._right_title, *ax.texts]
        legend = ax.get_legend()
        found += legend.get_texts() if legend else []
    boxes = [(x.get_text(), x.get_window_extent()) for x in found if x.get_visible() and x.get_text().strip()]
    border = figure.bbox.padded(2.0)
    out = [(name, "border") for name, box in boxes if not border.x0 <= box.x0 <= box.x1 <= border.x1]
    out += [(name, "border") for name, box in boxes if not border.y0 <= box.y0 <= box.y1 <= border.y1]
    pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a[1].padded(-0.5).overlaps(b[1].padded(-0.5))]
    return out + [(a[0], b[0]) for a, b in pairs]
