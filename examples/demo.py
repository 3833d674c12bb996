"""The paper's examples, one after the other: a table of references and what phloat finds, figures and moving pages.

Everything is left in results/; results/index.html shows it.
"""

import csv
import html
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np

import phloat as ph

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results"
sys.path.insert(0, str(HERE))


class Row(NamedTuple):
    """A row of the table: a quantity, its value elsewhere and here, and where the other one is from.

    `authors` is the value with the choices of the authors: their elements, and for the crank-slider their mass matrix.
    """

    quantity: str
    reference: float
    phloat: float
    source: str
    authors: float | None = None

    @property
    def differences(self) -> list[str]:
        """Of the value here, and of that with the choices of the authors, relative to the reference."""
        values = (self.phloat, self.authors)
        return ["" if value is None else f"{100 * (value / self.reference - 1):+.3f} %" for value in values]


@dataclass(frozen=True)
class Example:
    """What the demo has of an example: rows of the table, the page where it moves, pictures with what is on them, files."""

    title: str
    said: str
    rows: list[Row]
    page: str
    seen: str  # what is drawn of it at first
    pictures: dict[str, str]
    files: dict[str, str]

    @property
    def address(self) -> str:
        return f"{self.page}#{self.seen}"


def four_bar() -> Example:
    """6.1: eigenfrequencies against crank angle, beside the TITOP model with which Fig. 6 compares."""
    import four_bar as example
    from matplotlib.figure import Figure

    titop = np.loadtxt(HERE.parent / "tests" / "reference" / "fourbar_titop.csv", delimiter=",", comments="#")
    np.savetxt(
        RESULTS / "four_bar.csv",
        np.column_stack([example.degrees, example.omega]),
        delimiter=",",
        header="crank_angle_deg,omega1_rad_s,omega2_rad_s,omega3_rad_s",
    )
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    for k, colour in enumerate(("#0072B2", "#D55E00", "#009E73")):
        ax.plot(example.degrees, example.omega[:, k], color=colour, label=f"phloat, ω{'₁₂₃'[k]}")
        ax.plot(
            titop[:, 0],
            titop[:, k + 1],
            "o",
            color=colour,
            mfc="none",
            ms=4,
            label="TITOP, the points of Fig. 6" if k == 2 else None,
        )
    ax.set(xlabel="crank angle (°)", ylabel="pulsation (rad/s)", title="Flexible four-bar, crank locked", xlim=(0, 360))
    ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=4)
    figure.savefig(RESULTS / "four_bar.png", dpi=150)
    links = {name: replace(link, spaces="paper") for name, link in example.LINKS.items()}
    of_paper = {n: example.frequencies(example.four_bar(n, links), example.degrees) for n in (2, 3)}
    here = {2: example.frequencies(example.four_bar(2), example.degrees), 3: example.omega}
    places = {(3, i, k): "" for i in (0, 10, 25, 40) for k in range(3)}
    for n, words in ((3, ", the worst of 153"), (2, ", two elements a link, the worst of 153")):
        i, k = np.unravel_index(np.abs(here[n] / titop[:, 1:] - 1).argmax(), titop[:, 1:].shape)
        places[n, i, k] = words
    rows = []
    for (n, i, k), words in places.items():
        quantity = f"four-bar{words}, ω{'₁₂₃'[k]} at {titop[i, 0]:g}° (rad/s)"
        source = "TITOP, the points of Fig. 6"
        rows.append(Row(quantity, titop[i, k + 1], here[n][i, k], source, of_paper[n][i, k]))
    show_four_bar(example)
    return Example(
        "Four-bar",
        "How do the eigenfrequencies of a flexible four-bar depend on its crank angle? Here it moves under a torque at the crank.",
        rows,
        "four_bar.html",
        "magnify=3",
        {
            "four_bar.png": "Three eigenfrequencies over the crank angle, beside the points of Fig. 6: the TITOP model",
            "four_bar_modes.png": "The four lowest mode shapes with the crank locked at 30°",
        },
        {"its modes, moving": "four_bar_modes.html", "numbers": "four_bar.csv"},
    )


def show_four_bar(example: object) -> None:
    """In motion under a torque at the crank; and the modes at a crank angle of 30°."""
    system = example.four_bar(3)
    state = ph.place(system, {"crank.theta": np.pi / 6}, near={"coupler.theta": 0.9, "follower.theta": -1.6})
    modes = ph.modes(ph.linearise(ph.lock(system, "motor"), state))
    ph.plot(modes).savefig(RESULTS / "four_bar_modes.png", dpi=110)
    ph.to_html(modes, RESULTS / "four_bar_modes.html", title="Four-bar, crank locked at 30°")
    torque = {"motor": ph.piecewise({0.0: 0.0, 0.1: 0.05, 0.4: 0.05, 0.5: 0.0})}
    result = ph.simulate(system, state, t_end=1.0, dt=1e-3, u=torque)
    ph.to_html(result, RESULTS / "four_bar.html", title="Four-bar", u=torque)


def crank_slider() -> Example:
    """6.2: mid-span deflection of the rod beside Fig. 8; two elements as there, then eight, and with the membrane strain."""
    import crank_slider as example
    from matplotlib.figure import Figure

    two = example.motion(replace(example.rod, stiffening=False).discretise(2))
    of_paper = replace(example.rod, stiffening=False, spaces="paper").discretise(2)
    constant_mass = example.motion(of_paper, dt=None, scheme=ph.RadauIIA(1e-5, mass="constant"))
    theirs = np.interp(example.angle, example.rate * constant_mass.t, example.bending(constant_mass))
    angle, paper = read("crank_slider_bending.csv")
    off = np.abs(np.interp(angle, example.angle, theirs) - paper).max() / paper.max()
    curves = {
        "phloat, two elements": (example.bending(two), "#0072B2", "-"),
        "with the choices of the authors": (theirs, "#CC79A7", ":"),
        "phloat, eight elements": (example.bending(example.linear), "#D55E00", "--"),
        "eight elements with stiffening": (example.bending(example.stiffened), "#009E73", "-."),
    }
    table = np.column_stack([example.angle, *(u for u, *_ in curves.values())])
    header = "crank_angle_rad,two,two_of_the_authors,eight,eight_stiffened"
    np.savetxt(RESULTS / "crank_slider.csv", table, delimiter=",", header=header)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    for name, (u, colour, style) in curves.items():
        ax.plot(example.angle / np.pi, u, style, color=colour, label=name)
    ax.plot(angle / np.pi, paper, "o", color="black", mfc="none", ms=3, label="Fig. 8 (two elements)")
    ax.set(xlabel="crank angle (π rad)", ylabel="$u_y/L$ at mid-span", title="Crank-slider at 150 rad/s")
    ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(RESULTS / "crank_slider.png", dpi=150)
    u, stiff = example.bending(two), example.bending(example.stiffened)
    title = "Crank-slider at 150 rad/s"
    ph.to_html(example.linear, RESULTS / "crank_slider.html", title=title, u={"crank pin": example.pin})
    return Example(
        title,
        "How far does the rod of a fast crank-slider bend?",
        [
            Row("crank-slider, largest u_y/L", paper.max(), u.max(), "Fig. 8, right", theirs.max()),
            Row(
                "crank-slider, crank angle there (rad)",
                angle[paper.argmax()],
                example.angle[u.argmax()],
                "Fig. 8, right",
                example.angle[theirs.argmax()],
            ),
            Row("crank-slider, smallest u_y/L", paper.min(), u.min(), "Fig. 8, right", theirs.min()),
            Row("crank-slider, largest u_y/L with stiffening", 0.01541, stiff.max(), "a fully nonlinear beam code"),
            *stretch_of_the_rod(example, two),
        ],
        "crank_slider.html",
        "magnify=1",
        {
            "crank_slider.png": "Deflection of the rod at mid-span over the crank angle, beside Fig. 8, right, which the "
            f"choices of the authors meet to {100 * off:.1f} % of its peak",
            "crank_slider_stretch.png": "Stretch of the rod at mid-span. Fig. 8, left, grows to 0.001, an artefact of integration",
        },
        {"numbers": "crank_slider.csv"},
    )


def stretch_of_the_rod(example: object, at_once: ph.Result) -> list[Row]:
    """u_x of Fig. 8, left: a rod that starts undeformed rings about its static stretch; with `settle` it follows it."""
    from matplotlib.figure import Figure

    system, u = at_once.system, {"crank pin": example.pin}
    settled = ph.simulate(system, ph.settle(system, at_once.state(0), u=u), t_end=8 / example.rate, dt=2e-5, u=u)
    stretch = [run.displacement("rod", s=0.5)[:, 0] / example.rod.length for run in (at_once, settled)]
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    ax.plot(example.angle / np.pi, 1e5 * stretch[0], color="#0072B2", lw=0.8, label="started undeformed")
    ax.plot(example.angle / np.pi, 1e5 * stretch[1], color="#D55E00", lw=1.8, label="with settle")
    ax.set(
        xlabel="crank angle (π rad)",
        ylabel="$10^5$ $u_x/L$ at mid-span",
        title="Crank-slider: stretch of the rod",
    )
    ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(RESULTS / "crank_slider_stretch.png", dpi=150)
    static = stretch_by_hand(example)
    return [
        Row("crank-slider, u_x/L at the start, settled", static, stretch[1][0], "statics by hand"),
        Row("crank-slider, largest u_x/L, started undeformed", 2 * static, stretch[0].max(), "twice the static one"),
    ]


def stretch_by_hand(example: object) -> float:
    """u_x/L at mid-span at crank angle 0, where N(x) = m a(L) + ∫ρA a dx with a = Ω²r + θ̇²x, θ̇ = Ωr/L."""
    L, material, A = example.rod.length, example.rod.material, example.rod.section.A
    pin, spin = example.rate**2 * example.radius, (example.rate * example.radius / L) ** 2
    of_slider = 0.03337785 * (pin + spin * L) * L / 2
    of_rod = material.rho * A * (pin * 3 / 8 * L**2 + spin * 11 / 48 * L**3)
    return (of_slider + of_rod) / (material.E * A * L)


def hinged_beam() -> Example:
    """6.3: energy and vertical angular velocity of the hinged beam beside Fig. 10, two elements as there."""
    import hinged_beam as example
    from matplotlib.figure import Figure

    t, result = example.result.t, example.result
    paper = {"energy": read("hinged_beam_energy.csv"), "ω_z (rad/s)": read("hinged_beam_omega_z.csv")}
    ours = {"energy": result.energy, "ω_z (rad/s)": example.omega_z}
    of_paper = example.motion(replace(example.beam, spaces="paper").discretise(2), dt=2e-3)
    theirs = {"energy": of_paper.energy, "ω_z (rad/s)": example.vertical_rate(of_paper)}
    table = np.column_stack([t, result.energy, example.omega_z, result.angular_momentum[:, 2]])
    np.savetxt(RESULTS / "hinged_beam.csv", table, delimiter=",", header="t_s,energy,omega_z,angular_momentum_z")
    figure = Figure(figsize=(9, 4), layout="constrained")
    for ax, name in zip(figure.subplots(1, 2), ours, strict=True):
        ax.plot(t, ours[name], color="#0072B2", lw=0.8, label="phloat")
        ax.plot(of_paper.t, theirs[name], color="#CC79A7", lw=0.8, label="in the spaces of the paper")
        ax.plot(*paper[name], "o", color="black", mfc="none", ms=2.5, mew=0.7, label="Fig. 10")
        ax.set(xlabel="time (s)", ylabel=name, xlim=(0, 50))
        ax.grid(alpha=0.3)
    ax.legend(fontsize=8, loc="upper left")
    figure.suptitle("Hinged beam: a torque up to 10.2 s, a blow at 15 s")
    figure.savefig(RESULTS / "hinged_beam.png", dpi=150)
    rows = []
    for name, (begin, end) in {"while it turns": (10.2, 15.0), "after the blow": (15.43, 50.0)}.items():
        for what, (x, y) in paper.items():
            printed, here = y[(x > begin) & (x < end)].mean(), ours[what][(t > begin) & (t < end)].mean()
            there = theirs[what][(of_paper.t > begin) & (of_paper.t < end)].mean()
            rows.append(Row(f"hinged beam, {what}, mean {name}", printed, here, "Fig. 10", there))
    momentum = result.angular_momentum[-1, 2]
    rows.append(Row("hinged beam, energy after the blow", 125.7, example.energy[1], "converged, two other codes"))
    rows.append(Row("hinged beam, vertical angular momentum", 2000.0, momentum, "exact: 200 × 10"))
    ph.to_html(
        result, RESULTS / "hinged_beam.html", title="Hinged beam", u={"torque": example.torque, "blow": example.blow}
    )
    return Example(
        "Hinged beam",
        "How does a long beam on a ball joint move after a torque and a blow?",
        rows,
        "hinged_beam.html",
        "colour=body",
        {"hinged_beam.png": "Energy and vertical angular velocity over time, beside Fig. 10"},
        {"numbers": "hinged_beam.csv"},
    )


def plate_with_rod() -> Example:
    """The authors' slides: energies of a plate and of the rod on its edge, beside the figure there."""
    import plate_with_rod as example
    from matplotlib.figure import Figure

    result = example.results["bfs"]
    t = result.t
    ours = {"plate": result.energy_of("plate"), "rod": result.energy_of("rod"), "total": result.energy}
    theirs = {part: read(f"plate_with_rod_{part}.csv") for part in ours}
    np.savetxt(
        RESULTS / "plate_with_rod.csv",
        np.column_stack([t, *ours.values()]),
        delimiter=",",
        header="t_s,plate_J,rod_J,total_J",
    )
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.subplots()
    for (part, H), colour in zip(ours.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True):
        ax.plot(1e3 * t, H, color=colour, label=part)
        x, y = theirs[part]
        ax.plot(
            1e3 * x, y, "o", color=colour, mfc="none", ms=3, label="figure of the slides" if part == "total" else None
        )
    ax.set(xlabel="time (ms)", ylabel="energy (J)", title="Plate with a rod on its edge: a pressure acts for 2 ms")
    ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=4)
    figure.savefig(RESULTS / "plate_with_rod.png", dpi=150)
    ph.to_html(result, RESULTS / "plate_with_rod.html", title="Plate with a rod", u=example.load)
    (x, total), rod, after = theirs["total"], theirs["rod"], t > 2.1e-3
    energy, w = ours["total"][after].mean(), example.deflection["bfs"].max()
    coarse = example.motion(example.welded(example.plate("hhj", 8)))
    return Example(
        "Plate with a rod",
        "How does a rigid rod, welded to the edge of a cantilever plate, share in the plate's energy?",
        [
            Row(
                "plate with rod, energy after the load (J)",
                total[x > 2.1e-3].mean(),
                energy,
                "figure of the slides",
                coarse.energy[after].mean(),
            ),
            Row("plate with rod, energy after the load (J)", 145.50, energy, "converged"),
            Row(
                "plate with rod, most energy of the rod (J)",
                rod[1].max(),
                ours["rod"].max(),
                "figure of the slides",
                coarse.energy_of("rod").max(),
            ),
            Row(
                "plate with rod, when that is (ms)",
                1e3 * rod[0][rod[1].argmax()],
                1e3 * t[ours["rod"].argmax()],
                "figure of the slides",
            ),
            Row("plate with rod, largest deflection (mm)", 8.22, w, "converged"),
        ],
        "plate_with_rod.html",
        "colour=speed&magnify=4",
        {"plate_with_rod.png": "Energy of the plate, of the rod and of both over time, beside the slides"},
        {"numbers": "plate_with_rod.csv"},
    )


def plate_without_rod() -> Example:
    """The same plate and load, its right edge free: energy and deflection of the middle of that edge beside those with the rod."""
    import plate_with_rod as example
    from matplotlib.figure import Figure

    result = example.results["no rod"]
    t, points = result.t, example.systems["bfs"].fields["plate"].points
    tip = int(np.linalg.norm(points - (1.0, 0.5, 0.0), axis=1).argmin())
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, words, colour in (("bfs", "with the rod", "#0072B2"), ("no rod", "without it", "#D55E00")):
        left.plot(1e3 * t, example.results[name].energy, color=colour, label=words)
        right.plot(1e3 * t, example.deflection[name][:, tip], color=colour)
    left.set(xlabel="time (ms)", ylabel="energy (J)")
    right.set(xlabel="time (ms)", ylabel="w at the middle of the right edge (mm)")
    for ax in (left, right):
        ax.grid(alpha=0.3)
    figure.legend(fontsize=8, loc="outside lower center", ncols=2)
    figure.savefig(RESULTS / "plate_without_rod.png", dpi=150)
    ph.to_html(result, RESULTS / "plate_without_rod.html", title="Plate without its rod", u=example.load)
    w, omega = example.deflection["no rod"].max(), example.omega
    return Example(
        "Plate without its rod",
        "And without the rod? The same load gives the plate a third more energy, and its edge moves further and faster.",
        [
            Row("plate without rod, energy after the load (J)", 198.32, example.energy["no rod"], "converged"),
            Row("plate without rod, largest deflection (mm)", 12.99, w, "converged"),
            Row("plate with rod, ω₁ (rad/s)", 170.92, omega["bfs"][0], "converged"),
            Row("plate without rod, ω₁ (rad/s)", 270.95, omega["no rod"][0], "converged"),
        ],
        "plate_without_rod.html",
        "colour=speed&magnify=4",
        {
            "plate_without_rod.png": "The plate with its rod and without: energy, and deflection of the middle of its right edge"
        },
        {},
    )


def read(name: str) -> np.ndarray:
    """The columns of a curve read from a figure of the paper."""
    return np.loadtxt(HERE.parent / "tests" / "reference" / name, delimiter=",", skiprows=1).T


EXAMPLES = {
    "6.1 four-bar": four_bar,
    "6.2 crank-slider": crank_slider,
    "6.3 hinged beam": hinged_beam,
    "slides: plate with rod": plate_with_rod,
    "the plate without it": plate_without_rod,
}


def write_table(rows: list[Row]) -> None:
    with open(RESULTS / "table.csv", "w", newline="", encoding="utf-8") as file:
        columns = ("quantity", "reference", "phloat", "relative difference", "with the authors' choices", "source")
        lines = [(r.quantity, r.reference, r.phloat, r.phloat / r.reference - 1, r.authors, r.source) for r in rows]
        csv.writer(file).writerows([columns, *lines])
    named = [row._asdict() for row in rows]
    (RESULTS / "table.json").write_text(json.dumps(named, indent=1, ensure_ascii=False), encoding="utf-8")


def cells(row: Row) -> list[str]:
    """Reference, value and difference, value with the authors' choices and difference."""
    first, second = row.differences
    return [
        f"{row.reference:.5g}",
        f"{row.phloat:.5g}",
        first,
        "" if row.authors is None else f"{row.authors:.5g}",
        second,
    ]


def write_index(examples: list[Example]) -> None:
    """results/index.html: the examples moving, the table, the figures; it needs the files beside it and nothing else."""
    moving = []
    for e in examples:
        address, frame = html.escape(e.address), html.escape(f"{e.page}#only=view&{e.seen}")
        links = {"open it, with plots": address, **e.files}
        said = " · ".join(f'<a href="{file}">{html.escape(name)}</a>' for name, file in links.items())
        moving.append(
            f'<li><a href="{address}"><iframe src="{frame}" title="{html.escape(e.title)}, moving" loading="lazy" tabindex="-1">'
            f"</iframe><h2>{html.escape(e.title)}</h2></a><p>{html.escape(e.said)}</p><p>{said}</p></li>"
        )
    rows = [
        f'<tr><th scope="row">{html.escape(row.quantity)}</th>'
        + "".join(f"<td>{cell}</td>" for cell in cells(row)).replace("-", "−")
        + f"<td>{html.escape(row.source)}</td></tr>"
        for e in examples
        for row in e.rows
    ]
    pictures = [
        f'<figure><a href="{file}"><img src="{file}" alt="{html.escape(said)}" loading="lazy"></a>'
        f"<figcaption>{html.escape(said)}.</figcaption></figure>"
        for e in examples
        for file, said in e.pictures.items()
    ]
    parts = {"moving": moving, "rows": rows, "pictures": pictures}
    text = Template((HERE / "demo.html").read_text(encoding="utf-8")).substitute(
        version=ph.__version__, **{name: "\n".join(lines) for name, lines in parts.items()}
    )
    (RESULTS / "index.html").write_text(text, encoding="utf-8")


def main() -> None:
    RESULTS.mkdir(exist_ok=True)
    found: list[Example] = []
    for number, (name, run) in enumerate(EXAMPLES.items(), 1):
        print(f"[{number}/{len(EXAMPLES)}] {name} ... ", end="", flush=True)
        begin = time.perf_counter()
        found.append(run())
        print(f"{time.perf_counter() - begin:.1f} s")
    rows = [row for example in found for row in example.rows]
    width = max(len(row.quantity) for row in rows)
    heads = ("reference", "phloat", "difference", "as authors", "difference")
    print(f"\n{'quantity':<{width}}  {'  '.join(f'{head:>10}' for head in heads)}  source of the reference")
    for row in rows:
        print(f"{row.quantity:<{width}}  {'  '.join(f'{cell:>10}' for cell in cells(row))}  {row.source}")
    print("as authors: with their elements, and for the crank-slider their mass matrix; docs/paper.md says how")
    write_table(rows)
    write_index(found)
    where = RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS
    print(f"\nfigures and numbers are in {where}/; to see the mechanisms move, open {where}/index.html in a browser")


if __name__ == "__main__":
    main()
