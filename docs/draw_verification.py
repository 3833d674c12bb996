"""Runs the verification on its meshes and on finer ones, draws docs/pictures/verification/*.png and writes docs/verification.md.

python docs/draw_verification.py           runs all cases, twice, which takes minutes
python docs/draw_verification.py pendulum  only these; what the others gave is kept in docs/pictures/verification/results.json
"""

import dataclasses
import json
import math
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import phloat as ph
from phloat.view.figures import COLOURS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from verification import Case, Row, exact  # noqa: E402
from verification.cases import large, spatial, turning  # noqa: E402
from verification.verify import CASES, SUBJECTS, chosen, tried  # noqa: E402

PICTURES = ROOT / "docs/pictures/verification"
RESULTS = PICTURES / "results.json"
FIELDS = {field.name for field in dataclasses.fields(Row)}
PAGE = ROOT / "docs/verification.md"
TITLES = {
    "paper": "The paper's examples",
    "rigid": "Rigid bodies",
    "linkages": "Closed loops",
    "beams": "Beams",
    "turning": "Beams that turn",
    "large": "Beams that bend far",
    "spatial": "Beams that bend and twist far",
    "plates": "Plates",
    "solids": "Solids and sheets",
    "nafems": "NAFEMS",
}
HEAD = """# Verification

The results of phloat beside answers that are known from elsewhere: exact solutions, published benchmarks, and numbers converged by
independent methods. Every row has a source that is not phloat, and a tolerance with a reason: the error that theory gives a
mesh or a step, what halving them changes, or the digits of the source. The last column is the difference after mesh and
step are halved: where they matter, it shrinks; elsewhere only the digits of the source are left.

Not every tolerance was fixed before its case was first run. The order (2 or 4) with which halving predicts an error was chosen
for each case with its first results at hand. First estimates or meshes that turned out wrong were replaced in `precession`,
`hinged beam` (mean rate), `plate with rod`, `disc`, `plate as a blade`, `blade on a hub`, `strip on edge` (its loads),
`right-angle cantilever` and `nafems fv2`; the percentages of `crank-slider`, `spin-up`, `plate with rod` and `nafems fv4` are
judgements.

```
phloat verify                      all cases, in some minutes
phloat verify --quick              cases that take seconds
phloat verify pendulum bricard     some cases
```

In Python, from the folder `tests`: `from verification import verify` and `print(verify("pendulum"))`. The cases are in
`tests/verification` of the source and are not part of an installed phloat. `./test --most` asserts every row of the quick cases,
`./test --all` those of all. `python docs/draw_verification.py` writes this page.

"""


# --- running ---------------------------------------------------------------------------------------------------------


def run(names: list[str]) -> dict[str, Any]:
    """Rows and seconds of the named cases, rows with what half the mesh and step gave; kept with what the others gave."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for case in chosen(names or None):
        coarse, fine = (tried(case, fine=fine) for fine in (False, True))
        finer = {row.quantity: row.difference for row in fine.rows}
        rows = [dataclasses.asdict(row) | {"finer": finer.get(row.quantity)} for row in coarse.rows]
        kept[case.name] = {"seconds": round(coarse.seconds, 2), "rows": rows}
        print(f"{case.name}: {coarse.seconds:.1f} s, {fine.seconds:.1f} s, {'good' if coarse.good else 'NOT GOOD'}")
    kept = {name: kept[name] for name in CASES if name in kept}
    RESULTS.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    return kept


# --- pictures --------------------------------------------------------------------------------------------------------


def draw(name: str, rows: list[dict[str, Any]]) -> None:
    """Differences over tolerances, on both meshes; of the paper's examples the published curves beside."""
    look = CURVES.get(name)
    height = max(0.17 * len(rows) + 0.7, 2.4 if look else 0.0)
    figure, axes = plt.subplots(
        1, 2 if look else 1, figsize=(8.5 if look else 5.5, height), layout="constrained", squeeze=False
    )
    differences(axes[0, 0], rows)
    if look:
        look(axes[0, 1])
    figure.savefig(PICTURES / f"{slug(name)}.png", dpi=100)
    plt.close(figure)


def differences(ax: Axes, rows: list[dict[str, Any]]) -> None:
    least, place = 1e-7, np.arange(len(rows))[::-1]
    for row in rows:
        row["difference"] = row["found"] - row["reference"]
    for key, look, label in (
        ("difference", {"mfc": "none"}, "as tested"),
        ("finer", {"ms": 4}, "mesh and step halved"),
    ):
        off = [math.nan if row[key] is None else abs(row[key]) for row in rows]
        x = [max(d / row["tolerance"], least) for d, row in zip(off, rows, strict=True)]
        ax.plot(x, place, "o", color=COLOURS[0], label=label, **look)
    ax.axvline(1.0, color="k", lw=0.8)
    ax.set_xscale("log")
    ax.set_xlim(min(ax.get_xlim()[0], 0.03), 3.0)
    ax.minorticks_off()
    ax.set_yticks(place, [row["quantity"].strip() for row in rows], fontsize=7)
    ax.set_xlabel("|difference| / allowed")
    ax.legend(frameon=False, fontsize=7, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    ax.margins(y=0.6 / max(len(rows), 1))


def published(name: str) -> np.ndarray:
    return np.genfromtxt(ROOT / "tests/reference" / name, delimiter=",", skip_header=1)


def four_bar(ax: Axes) -> None:
    m, known = import_module("four_bar"), published("fourbar_titop.csv")
    ax.plot(m.degrees, m.omega, color=COLOURS[0])
    ax.plot(known[:, 0], known[:, 1:], ".", ms=3, color=COLOURS[1])
    ax.set(xlabel="crank angle in degrees", ylabel="ω in rad/s", title="line: phloat; dots: TITOP, Fig. 6")


def crank_slider(ax: Axes) -> None:
    m, known = import_module("crank_slider"), published("crank_slider_bending.csv")
    ax.plot(m.angle / np.pi, m.bending(m.linear), color=COLOURS[0])
    ax.plot(known[:, 0] / np.pi, known[:, 1], ":", color=COLOURS[1])
    ax.set(xlabel="crank angle / π", ylabel="u_y/L", title="line: phloat, converged; dots: Fig. 8, two elements")


def hinged_beam(ax: Axes) -> None:
    m, known = import_module("hinged_beam"), published("hinged_beam_energy.csv")
    ax.plot(m.result.t, m.result.energy, color=COLOURS[0])
    ax.plot(known[:, 0], known[:, 1], ":", color=COLOURS[1])
    ax.set(xlabel="t in s", ylabel="energy", title="line: phloat; dots: Fig. 10")


def plate_with_rod(ax: Axes) -> None:
    m = import_module("plate_with_rod")
    result = m.results["bfs"]
    for part, colour in (("plate", COLOURS[0]), ("rod", COLOURS[2]), ("total", "k")):
        known = published(f"plate_with_rod_{part}.csv")
        ax.plot(1e3 * result.t, result.energy if part == "total" else result.energy_of(part), color=colour)
        ax.plot(1e3 * known[:, 0], known[:, 1], ":", color=COLOURS[1])
    ax.set(xlabel="t in ms", ylabel="energy in J", title="lines: phloat; dots: the slides")


def blade(ax: Axes) -> None:
    rates, at = np.linspace(0.0, 8.0, 33), np.array([1, 2, 3, 4, 5, 6, 7, 8])
    flap = np.array([exact.turning(rate, 0.0, 2) for rate in rates])
    found = np.array([turning.blade_frequencies(8, float(rate), 0.0) for rate in at])
    for k, label in ((0, "first"), (1, "second")):
        ax.plot(rates, flap[:, k], color=COLOURS[k], label=f"{label} flap")
        ax.plot(rates, np.sqrt(flap[:, k] ** 2 - rates**2), "--", color=COLOURS[k], label=f"{label} lag")
        ax.plot(at, found[:, 2 * k : 2 * k + 2], "k.", ms=4)
    ax.set(xlabel="Ω √(ρAL⁴/EI)", ylabel="ω √(ρAL⁴/EI)", title="lines: power series; dots: phloat")
    ax.legend(frameon=False, fontsize=7)


def tip_mass(ax: Axes) -> None:
    ratio = np.geomspace(0.05, 20.0, 40)
    beta = np.array([exact.roots(exact.clamped, exact.tip(m), 2) for m in ratio])
    rows = chosen("tip mass")[0].run(False)
    ax.semilogx(ratio, beta, color=COLOURS[0])
    ax.semilogx(np.repeat([0.5, 1.0, 5.0], 2), [row.found for row in rows], "k.", ms=5)
    ax.set(
        xlabel="mass at the tip / mass of the beam", ylabel="β", title="lines: characteristic equation; dots: phloat"
    )


def end_moment(ax: Axes) -> None:
    s = np.linspace(0.0, 1.0, 50)
    loads = np.arange(1, 9) * np.pi / 4
    tips = np.array(large.bent(8, ph.Torque("b.C", about=(0, 0, 1), name="load"), loads))
    for load in loads:
        ax.plot(np.sin(load * s) / load, (1 - np.cos(load * s)) / load, color=COLOURS[0], lw=0.8)
    ax.plot(tips[:, 0], tips[:, 1], "k.", ms=5)
    ax.set(aspect="equal", xlabel="x/L", ylabel="y/L", title="lines: circles; dots: tips by phloat")


def princeton(ax: Axes) -> None:
    angles, rod = np.linspace(0.0, 90.0, 31), spatial.rod(*spatial.PRINCETON)
    for k, load in enumerate(spatial.LOADS):
        ways = np.column_stack([0 * angles, np.cos(np.deg2rad(angles)), np.sin(np.deg2rad(angles))])
        tips = np.array([rod.bent(load * way)[0] for way in ways])
        found = np.array([spatial.deflected(8, load, angle) for angle in angles[::5]])
        ax.plot(angles, tips[:, 2], color=COLOURS[k], label=f"{load} N")
        ax.plot(angles, 10.0 * tips[:, 1], "--", color=COLOURS[k])
        ax.plot(angles[::5], found[:, 1], "k.", ms=4)
        ax.plot(angles[::5], 10.0 * found[:, 0], "k.", ms=4)
    ax.set(
        xlabel="angle of the load in degrees",
        ylabel="u_z, 10 u_y (dashed) in m",
        title="lines: shooting; dots: phloat, 8 pieces",
    )
    ax.legend(frameon=False, fontsize=7)


def right_angle(ax: Axes) -> None:
    system, push = spatial.elbow(20), ph.piecewise({0.0: 0.0, 1.0: 50.0, 2.0: 0.0})
    run = ph.simulate(system, ph.place(system), t_end=30.0, dt=0.025, u={"push": push})
    for name, label, colour in (("b20", "tip", COLOURS[0]), ("a20", "elbow", COLOURS[2])):
        ax.plot(run.t, run.position(name, s=1.0)[:, 2], color=colour, label=label)
    for value, time in spatial.ELBOW.values():
        ax.plot(time, value, "k.", ms=5)
    ax.set(xlabel="t in s", ylabel="out of the plane", title="lines: phloat; dots: extremes by Exudyn")
    ax.legend(frameon=False, fontsize=7)


CURVES: dict[str, Callable[[Axes], None]] = {
    "four-bar": four_bar,
    "crank-slider": crank_slider,
    "hinged beam": hinged_beam,
    "plate with rod": plate_with_rod,
    "blade": blade,
    "tip mass": tip_mass,
    "end moment": end_moment,
    "princeton beam": princeton,
    "right-angle cantilever": right_angle,
}


# --- the page --------------------------------------------------------------------------------------------------------


def page(results: dict[str, Any]) -> str:
    rows = [Row(**{k: v for k, v in row.items() if k in FIELDS}) for case in results.values() for row in case["rows"]]
    good = sum(row.good for row in rows)
    seconds = sum(case["seconds"] for case in results.values())
    out = (
        HEAD
        + f"**{good} of {len(rows)} rows in {len(results)} cases are within their tolerances** ({seconds:.0f} s).\n"
    )
    for subject in SUBJECTS:
        out += f"\n## {TITLES[subject.__name__.rpartition('.')[2]]}\n"
        out += "".join(section(case, results[case.name]["rows"]) for case in subject.CASES if case.name in results)
    return out


def section(case: Case, rows: list[dict[str, Any]]) -> str:
    title = case.name[0].upper() + case.name[1:]
    out = f"\n### {title}\n\n{case.about}\n\n*Source:* {case.source}.\n\n*Tolerances:* {case.tolerances}.\n\n"
    out += (
        "| quantity | reference | phloat | difference | allowed | mesh and step halved |\n|---|---|---|---|---|---|\n"
    )
    for row in rows:
        name = row["quantity"] + (f" ({row['unit']})" if row["unit"] else "")
        finer = "" if row["finer"] is None else f"{row['finer']:.1e}"
        found = f"{digits(row['found'], row['tolerance'])} | {row['found'] - row['reference']:.1e}"
        out += f"| {name} | {row['reference']:.10g} | {found} | {row['tolerance']:.1e} | {finer} |\n"
    return out + f"\n![{title}: differences over tolerances](pictures/verification/{slug(case.name)}.png)\n"


def digits(value: float, tolerance: float) -> str:
    """To two digits more than the tolerance."""
    places = min(max(2 - math.floor(math.log10(tolerance)), 0), 12)
    return f"{value:.{places}f}"


def slug(name: str) -> str:
    return re.sub(r"\W+", "_", name)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "examples"))
    plt.rcParams.update({"font.size": 8, "axes.titlesize": 8, "axes.spines.top": False, "axes.spines.right": False})
    PICTURES.mkdir(parents=True, exist_ok=True)
    found = run(sys.argv[1:])
    for name in sys.argv[1:] or found:
        draw(name, found[name]["rows"])
    PAGE.write_text(page(found))
