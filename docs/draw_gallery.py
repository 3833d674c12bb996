"""Draws the pictures of the gallery from the examples: docs/pictures/gallery/*.png. Run by docs/build --pictures [names]."""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
from gallery_pages import EXAMPLES, ROOT, SECTIONS
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import phloat as ph
from phloat.view.figures import COLOURS

FOLDER = ROOT / "docs/pictures/gallery"
SIZE = (4.0, 2.6)  # inches, at 120 dots each
ALONG = np.linspace(0.0, 1.0, 13)

Draw = Callable[[ModuleType, Figure], None]
PICTURES: dict[str, Draw] = {}


def picture(draw: Draw) -> Draw:
    """Draws the example of the same name."""
    PICTURES[draw.__name__] = draw
    return draw


def curve(state: ph.State, name: str) -> np.ndarray:
    """The axis of a beam at a state."""
    return np.array([state.position(name, s) for s in ALONG])


def motion(ax: Axes, result: ph.Result, names: Iterable[str], times: np.ndarray) -> None:
    """Beams at several times, the last ones darkest, in the plane xy."""
    for k, t in enumerate(times):
        state = result.at(float(t))
        for name, colour in zip(names, COLOURS, strict=False):
            x = curve(state, name)
            ax.plot(x[:, 0], x[:, 1], color=colour, lw=1.6, alpha=0.15 + 0.85 * (k + 1) / len(times))
    drawn(ax)


def drawn(ax: Axes) -> None:
    ax.set_aspect("equal")
    ax.set_axis_off()


def path(ax: Axes, x: np.ndarray, **look: object) -> None:
    ax.plot(x[:, 0], x[:, 1], **{"color": "0.6", "lw": 0.8, **look})


@picture
def four_bar(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    ax.plot(m.degrees, m.omega)
    ax.set(xlabel="crank angle in degrees", ylabel="ω in rad/s", xticks=range(0, 361, 90))


@picture
def crank_slider(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for result, label in ((m.linear, "as published"), (m.stiffened, "with stiffening")):
        ax.plot(m.angle / np.pi, m.bending(result), label=label)
    ax.set(xlabel="crank angle / π", ylabel="mid-span deflection / length")
    ax.legend(frameon=False)


@picture
def hinged_beam(m: ModuleType, figure: Figure) -> None:
    ax = figure.add_subplot(projection="3d")
    tip = m.result.position("beam", s=1.0)
    ax.plot(*tip.T, lw=0.5, color=COLOURS[0])
    for t in np.linspace(16.0, 26.0, 11):
        ax.plot(*curve(m.result.at(float(t)), "beam").T, color=COLOURS[1], lw=1.2)
    ax.set_box_aspect((1, 1, 0.5), zoom=1.2)
    ax.view_init(35, -60)
    ax.set_axis_off()


@picture
def plate_with_rod(m: ModuleType, figure: Figure) -> None:
    ax, result = figure.subplots(), m.results["bfs"]
    for part in ("plate", "rod"):
        ax.plot(1e3 * result.t, result.energy_of(part), label=part)
    ax.plot(1e3 * result.t, result.energy, "k", label="both")
    ax.set(xlabel="t in ms", ylabel="energy in J")
    ax.legend(frameon=False, ncols=3, loc="upper right", bbox_to_anchor=(1.0, 1.13))


@picture
def double_pendulum(m: ModuleType, figure: Figure) -> None:
    ax, run = figure.subplots(), m.bent[-1]
    path(ax, run.position("lower", s=1.0))
    motion(ax, run, ("upper", "lower"), np.linspace(0.0, 0.72, 10))


@picture
def andrews(m: ModuleType, figure: Figure) -> None:
    ax, run = figure.subplots(), m.runs[-1]
    for k, t in enumerate((0.004, 0.009, 0.0125, 0.016)):
        state = run.at(t)
        for (name, (_, _, _, ports)), colour in zip(m.table.items(), COLOURS * 2, strict=False):
            x = np.array([state.position(name, at=(0, 0, 0)), *(state.position(name, at=at) for at in ports.values())])
            x = np.vstack([x, x[:1]]) if len(ports) > 1 else x
            ax.plot(x[:, 0], x[:, 1], "o-", ms=2.5, color=colour, alpha=0.2 + 0.2 * (k + 1), lw=1.6)
    drawn(ax)


@picture
def heavy_top(m: ModuleType, figure: Figure) -> None:
    ax = figure.add_subplot(projection="3d")
    x = m.second[-1].position("top", at=m.top.center)
    ax.plot(*x.T, color=COLOURS[0], lw=1.2)
    for k in np.linspace(0, len(x) - 1, 9).astype(int):
        ax.plot(*np.array([np.zeros(3), x[k]]).T, color=COLOURS[1], lw=1.2, alpha=0.3 + 0.7 * k / len(x))
    ax.set_box_aspect((1, 1, 0.8), zoom=1.35)
    ax.set_axis_off()


@picture
def spatial_slider_crank(m: ModuleType, figure: Figure) -> None:
    ax = figure.add_subplot(projection="3d")
    turn = np.linspace(0.0, 2 * np.pi / m.rate, 13)[:-1]
    for k, t in enumerate(turn):
        state, look = m.result.at(float(t)), {"alpha": 0.2 + 0.8 * k / len(turn), "lw": 1.4}
        rod = curve(state, "rod")
        ax.plot(*np.array([m.shaft, rod[0]]).T, color=COLOURS[1], **look)
        ax.plot(*rod.T, color=COLOURS[0], **look)
        ax.plot(*rod[-1:].T, "s", color="k", ms=3)
    ax.plot(*m.pin(np.linspace(0, 2 * np.pi, 60)).T, color="0.7", lw=0.8)
    ax.set_aspect("equal")
    ax.view_init(20, -75)
    ax.set_axis_off()


@picture
def spin_up(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    ax.plot(m.result.t, m.lag, label="mesh of 16 elements")
    ax.plot(m.reduced.t, m.reduced.displacement("beam", s=1.0)[:, 1], "--", label="2 modes and companions")
    ax.set(xlabel="t in s", ylabel="tip behind the hub in m")
    ax.legend(frameon=False)


@picture
def satellite(m: ModuleType, figure: Figure) -> None:
    ax, state = figure.subplots(), m.result.at(1.2)
    for name in ("left", "right"):
        x = np.array([state.position(name, s)[:2] for s in ALONG])
        bend = np.array([state.displacement(name, s)[:2] for s in ALONG])
        A = np.asarray(state[f"{name}.A_IB"])[:2, :2]
        path(ax, x - bend @ A.T, lw=1.0)
        path(ax, x + 19 * bend @ A.T, color=COLOURS[0], lw=2.5)
    hub = state.position("hub", at=(0, 0, 0))[:2] + 0.5 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
    path(ax, hub, color="k", lw=1.5)
    ax.set_title("panels bent 20 times as much as they are", fontsize=8)
    drawn(ax)
    ax.set_aspect("auto")
    ax.set_ylim(-2.5, 2.5)


@picture
def robot_link(m: ModuleType, figure: Figure) -> None:
    from phloat.view.plot import plot

    whole = plot(m.arm, m.result.state(m.worst), stress=True)
    whole.set_size_inches(*SIZE)
    whole.savefig(FOLDER / "robot_link.png", dpi=120)


@picture
def satellite_panels(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for n, w in m.tip.items():
        ax.plot(m.results[n].t, 1e3 * w, label=f"{n:g} periods each way")
    ax.set(xlabel="t in s", ylabel="tip of a panel in mm")
    ax.legend(frameon=False, fontsize=8)


@picture
def spinning_disc(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for gamma, w in m.tip.items():
        ax.plot(m.results[gamma].t * m.unit, 1e3 * w, label=f"γ = {gamma}")
    ax.set(xlabel="t √(EI/ρAL⁴)", ylabel="tip of the blade in mm")
    ax.legend(frameon=False, fontsize=8, loc="upper right")


@picture
def mindlin_plate(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for h in m.thickness:
        ax.loglog(m.cells, m.error[h][:, 0], "o-", label=f"h/a = {h}")
    ax.loglog(m.cells, 20.0 * np.array(m.cells, dtype=float) ** -4, "k:", label="order 4")
    ax.set(xlabel="cells along a side", ylabel="error of ω, relative", xticks=m.cells, xticklabels=m.cells)
    ax.minorticks_off()
    ax.legend(frameon=False)


@picture
def superelement(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    ax.plot(np.arange(1, 7), m.of_beams / 2 / np.pi, "o", ms=9, mfc="none", label="two beams")
    ax.plot(np.arange(1, 7), m.omega / 2 / np.pi, "x", label="superelement and beam")
    ax.set(xlabel="mode", ylabel="frequency in Hz", xticks=range(1, 7))
    ax.legend(frameon=False)


@picture
def beams(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for error, mark, what in ((m.error_free, "o-", "free"), (m.error_cantilever, "s--", "cantilever")):
        for k in range(3):
            ax.loglog(m.meshes, error[:, k], mark, color=COLOURS[k], ms=4, label=what if k == 0 else None)
    ax.set(xlabel="elements", ylabel="error of ω, relative", xticks=m.meshes, xticklabels=m.meshes)
    ax.minorticks_off()
    ax.legend(frameon=False)


@picture
def space_frame(m: ModuleType, figure: Figure) -> None:
    ax, fields = figure.add_subplot(projection="3d"), m.modes.system.fields
    largest = max(np.abs(m.modes.shape(0, name)).max() for name in m.members)
    for name in m.members:
        x = fields[name].points
        ax.plot(*x.T, color="0.75", lw=1.0)
        ax.plot(*(x + 0.7 / largest * m.modes.shape(0, name)).T, color=COLOURS[0], lw=1.8)
    ax.set_aspect("equal")
    ax.view_init(18, -65)
    ax.set_axis_off()


@picture
def rotating_blade(m: ModuleType, figure: Figure) -> None:
    ax, rates = figure.subplots(), np.array([0.0, 8.0])
    for omega, label in ((m.flap_1, "flap"), (m.lag_1, "lag"), (m.flap_2, None), (m.lag_2, None)):
        ax.plot(m.gamma, omega, color=COLOURS[0 if omega is m.flap_1 or omega is m.flap_2 else 1], label=label)
    for order in (1, 2, 3, 4):
        ax.plot(rates, order * rates, "k:", lw=0.8)
    ax.set(xlabel="Ω / unit", ylabel="ω / unit", ylim=(0, 31))
    ax.legend(frameon=False, loc="center left")


@picture
def beck_column(m: ModuleType, figure: Figure) -> None:
    ax, system = figure.subplots(), m.column()
    for load in np.linspace(0.0, 24.0, 49):
        low = sorted((p for p in m.poles(system, load) if p.imag > 0), key=abs)[:2]
        ax.plot(np.full(len(low), load), [p.imag for p in low], ".", ms=3, color=COLOURS[0])
    ax.axvline(20.05, color="k", lw=0.8, ls=":", label="flutter (Beck)")
    ax.set(xlabel="P in EI/L²", ylabel="frequency in √(EI/ρAL⁴)")
    ax.legend(frameon=False, loc="center left")


@picture
def pretwisted_blade(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    ax.plot(m.degrees, m.hertz, "o-", ms=3, color=COLOURS[0])
    ax.plot(np.full(4, 45), m.published, "kx", ms=7, label="published")
    ax.set(xlabel="pretwist in degrees", ylabel="frequency in Hz", xticks=m.degrees)
    ax.legend(frameon=False, loc="upper left")


@picture
def active_four_bar(m: ModuleType, figure: Figure) -> None:
    ax, t = figure.subplots(), m.result.t
    bend = 1e3 * m.result.displacement("coupler", s=0.5)[:, 1]
    ax.plot(t, bend, lw=0.7)
    late = np.abs(bend[t > 0.6]).max()
    for sign in (1, -1):
        ax.plot(t[t > 0.3], sign * late * np.exp(-m.wanted * (t[t > 0.3] - 0.6)), "k--", lw=0.9)
    ax.set(xlabel="t in s", ylabel="middle of the coupler in mm")


@picture
def flexible_arm(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for (name, angle), line in zip(m.angles.items(), ("-", "--", ":", "-."), strict=True):
        for k, colour in enumerate(COLOURS[:2]):
            ax.plot(m.runs[name].t, angle[k], line, color=colour, label=name if k == 0 else None)
    ax.set(xlabel="t in s", ylabel="shoulder, elbow in rad")
    ax.legend(frameon=False, ncols=2, fontsize=8)


@picture
def servo_arm(m: ModuleType, figure: Figure) -> None:
    ax, ratio = figure.subplots(), np.linspace(0.8, 1.2, 200)
    left = np.abs(np.cos(np.pi / (2.0 * ratio)))
    for colour, (kind, power) in zip(COLOURS, (("ZV", 1), ("ZVD", 2)), strict=False):
        ax.plot(ratio, left**power, color=colour, lw=0.8, label=f"{kind}, exact")
        runs = [(x, m.vibration(kind, wrong=x)[0] / m.alone) for x in (0.8, 0.9, 1.0, 1.1, 1.2)]
        ax.plot(*zip(*runs, strict=True), "o", ms=4, color=colour)
    ax.set(xlabel="frequency of the shaper / of the arm", ylabel="part of the vibration that is left")
    ax.legend(frameon=False)


@picture
def slewing_satellite(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for name, run in m.runs.items():
        ax.plot(run.t, 1e3 * run.displacement("right", s=1.0)[:, 1], label=name)
    ax.set(xlabel="t in s", ylabel="tip of a panel in mm")
    ax.legend(frameon=False)


@picture
def uncertain_crank_slider(m: ModuleType, figure: Figure) -> None:
    ax, bending = figure.subplots(), m.runs["bending"]
    angle = m.example.rate * m.runs.t / np.pi
    ax.fill_between(angle, bending.min(axis=0), bending.max(axis=0), color=COLOURS[0], alpha=0.3, label="64 samples")
    ax.plot(angle, bending.mean(axis=0), color=COLOURS[0], label="mean")
    ax.set(xlabel="crank angle / π", ylabel="mid-span deflection / length")
    ax.legend(frameon=False)


@picture
def ring_under_pressure(m: ModuleType, figure: Figure) -> None:
    ax, loads = figure.subplots(), np.linspace(0.0, 2.0, 5)
    for name, colour in (("following", COLOURS[0]), ("constant direction", COLOURS[1])):
        ring = ph.connect({"ring": m.ring}, m.LOADS[name], plane="xy")
        omega = np.array([m.frequency(ring, float(load)) for load in loads])
        ax.plot(loads, (omega / omega[0]) ** 2, "o", ms=3, color=colour, label=name)
        ax.plot([0.0, m.critical[name]], [1.0, 0.0], color=colour, lw=1.0)
    ax.axhline(0.0, color="0.6", lw=0.6)
    ax.set(xlabel="load in EI/R³", ylabel="squared frequency, relative")
    ax.legend(frameon=False)


@picture
def identification(m: ModuleType, figure: Figure) -> None:
    ax, t = figure.subplots(), np.linspace(0.0, 0.5, len(m.measured))
    found = ph.simulate(ph.with_parameters(m.system, m.fit.values), m.start, **m.run).displacement("beam", s=1.0)[:, 1]
    ax.plot(t, 1e3 * m.measured, ".", ms=2, color="0.6", label="measured")
    ax.plot(t, 1e3 * found, lw=1.0, label="fitted")
    ax.set(xlabel="t in s", ylabel="tip in mm")
    ax.legend(frameon=False)


@picture
def boom_height(m: ModuleType, figure: Figure) -> None:
    ax, heights = figure.subplots(), np.linspace(6e-3, 30e-3, 600)
    ax.semilogy(1e3 * heights, 1e3 * m.first_mode(heights), lw=0.6, color="0.5", label="first mode, exact")
    ax.plot(1e3 * m.found.values, 1e3 * m.found.numbers, ".", ms=4, color=COLOURS[0], label="runs")
    ax.axhline(1e3 * m.limit, color="k", ls="--", lw=0.8)
    ax.plot(1e3 * m.found.x, 1e3 * m.found.number, "o", color=COLOURS[1], label=f"{1e3 * m.found.x:.2f} mm")
    ax.set(xlabel="height in mm", ylabel="swing of the tip in mm", ylim=(0.02, 100))
    ax.legend(frameon=False, fontsize=8)


@picture
def panel_thickness(m: ModuleType, figure: Figure) -> None:
    ax, s = figure.subplots(), np.linspace(0.0, 1.0, len(m.thickness))
    ax.fill_between(s, m.thickness / 2, -m.thickness / 2, color=COLOURS[0], alpha=0.4, label="lightest")
    ax.plot(s, np.full_like(s, 5.0), "k--", s, np.full_like(s, -5.0), "k--", lw=1.0)
    ax.set(xlabel="fraction of the length of a panel", ylabel="thickness in mm")


@picture
def slewing_arm_design(m: ModuleType, figure: Figure) -> None:
    ax = figure.subplots()
    for values, gains, label in (
        (m.damper, m.kp, "before"),
        (m.tuned.values, m.tuned.gains, "gains alone"),
        (m.design.values, m.design.gains, "gains and taper"),
    ):
        run = ph.twin.simulate(m.problem.model(values), feedback=m.torque, gains=gains)
        ax.semilogy(run.t, 1e3 * abs(run.theta("arm") - 1.0 + run.displacement("tip")[:, 1]), label=label, lw=1.0)
    ax.set(xlabel="t in s", ylabel="tip from its target in mrad", ylim=(1e-3, 2e3))
    ax.legend(frameon=False, fontsize=8)


def films() -> None:
    """The films of the README."""
    crank_slider, satellite = import_module("crank_slider"), import_module("slewing_satellite")
    folder = FOLDER.parent
    ph.animate(crank_slider.stiffened, folder / "crank_slider.gif", speed=0.012, fps=14, magnify=5.0)
    ph.animate(satellite.runs["plain"], folder / "slewing_satellite.gif", speed=3.0, fps=12, magnify=4.0)


def main(names: list[str]) -> None:
    sys.path.insert(0, str(EXAMPLES))
    FOLDER.mkdir(parents=True, exist_ok=True)
    plt.rcParams.update(
        {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}
        | {"axes.prop_cycle": plt.cycler(color=COLOURS), "legend.fontsize": 8}
    )
    for name in names or [name for section in SECTIONS.values() for name in section]:
        figure = Figure(figsize=SIZE, layout="constrained")
        PICTURES[name](import_module(name), figure)
        if figure.axes:
            figure.savefig(FOLDER / f"{name}.png", dpi=120)
        print(name, flush=True)
    if not names:
        films()


if __name__ == "__main__":
    main(sys.argv[1:])
