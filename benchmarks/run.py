"""All benchmarks, or those named: python benchmarks/run.py [import] [four-bar] [frame] [chains] [crank-slider] …

Prints a table and leaves it in benchmarks/RESULTS.md and, with all numbers, in benchmarks/results.json. Every measurement
runs in a process of its own. With --quick everything is small and few steps long, and nothing is written: a look whether it runs.
"""

import json
import os
import platform
import sys
from importlib.metadata import version

import beam_spaces
import building
import chains
import compiling
import ensembles
import equilibria
import first_plot
import linearising
import long_run
import memory
import pages
import reduction
import shortening
import solids
import surface_loads
import threads
from measure import HERE, fastest, row, run, seconds

FOUR_BAR = """
import sys
sys.path[:0] = ["benchmarks", "examples"]
import four_bar as example
from measure import fastest
print(fastest(lambda: example.frequencies(example.four_bar(3), example.degrees)))
"""


def of_import(quick=False):
    core = "import numpy, scipy.sparse"
    beam = "import phloat as ph; ph.Beam(1.0, ph.Circle(0.02), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)"
    ours, peer = (fastest(lambda s=s: run("-c", s), times=1 if quick else 5) for s in (beam, core))
    return [row("`import phloat` and a beam, a fresh process", ours, "s", peer, f"`{core}`")]


def of_four_bar(quick=False):
    taken = float(run("-c", FOUR_BAR))
    return [
        row("four-bar, 51 angles, 3 elements a link", taken, "s"),
        row("four-bar, one angle: place, linearise, modes", 1e3 * taken / 51, "ms"),
    ]


def of_frame(quick=False):
    rows = []
    for shape in ("a small one",) if quick else ("many members", "few members"):
        turns = [
            [json.loads(run(str(HERE / "frame_modes.py"), shape, method)) for method in ("phloat", "classical")]
            for _ in range(1 if quick else 3)
        ]
        ours, peer = (min(each, key=lambda x: sum(x["seconds"].values())) for each in zip(*turns, strict=True))
        apart = max(abs(a / b - 1) for a, b in zip(ours["omega"], peer["omega"], strict=True))
        name, total = f"frame, {shape}", sum(ours["seconds"].values())
        rows += [row(f"{name}: unknowns", ours["unknowns"], "", peer["unknowns"], "displacement elements, `eigsh`")]
        rows += [row(f"{name}: {step}", s, "s") for step, s in ours["seconds"].items() if step != "modes"]
        rows += [
            row(f"{name}: 20 modes", ours["seconds"]["modes"], "s", peer["seconds"]["modes"], "`eigsh` alone"),
            row(f"{name}: all of it", total, "s", sum(peer["seconds"].values()), "assembly and `eigsh`"),
            row(f"{name}: peak memory", ours["peak_MB"], "MB", peer["peak_MB"], "displacement elements, `eigsh`"),
            row(f"{name}: largest relative difference of ω from the peer", apart, ""),
        ]
    return rows


BENCHMARKS = {
    "import": of_import,
    "four-bar": of_four_bar,
    "frame": of_frame,
    "beam-spaces": beam_spaces.rows,
    "chains": chains.rows,
    "building": building.rows,
    "threads": threads.rows,
    "crank-slider": first_plot.rows,
    "hinged-beam": long_run.rows,
    "compile": compiling.rows,
    "memory": memory.rows,
    "solids": solids.rows,
    "reduction": reduction.rows,
    "shortening": shortening.rows,
    "loads": surface_loads.rows,
    "linearise": linearising.rows,
    "equilibrium": equilibria.rows,
    "ensembles": ensembles.rows,
    "pages": pages.rows,
}


def shown(value, unit):
    if value is None:
        return "—"
    number = str(value) if isinstance(value, int) else f"{value:.1e}" if abs(value) < 1e-3 else f"{value:.3g}"
    number = f"{value:.0f}" if isinstance(value, float) and value >= 1000 else number
    return f"{number} {unit}".strip()


def table(rows):
    lines = ["| what | phloat | also | peer | ratio | the peer |", "|---|---|---|---|---|---|"]
    for r in rows:
        ratio = "—" if not r["peer"] else f"{r['value'] / r['peer']:.2f}"
        also = ", ".join(shown(value, unit) for unit, value in r.get("also", {}).items())
        lines.append(
            f"| {r['what']} | {shown(r['value'], r['unit'])} | {also or '—'} | {shown(r['peer'], r['unit'])} | {ratio} "
            f"| {r['beside'] or '—'} |"
        )
    return "\n".join(lines)


def write(rows, header):
    """RESULTS.md and results.json."""
    record = json.dumps({"machine": header, "rows": rows}, indent=1, ensure_ascii=False)
    (HERE / "results.json").write_text(record + "\n", encoding="utf-8")
    text = f"# Benchmarks\n\n`python benchmarks/run.py` with {said(header)}.\n\n{table(flat(rows))}\n"
    notes = [
        NOTE,
        *(
            module.NOTE
            for module in (
                beam_spaces,
                chains,
                building,
                threads,
                first_plot,
                long_run,
                compiling,
                memory,
                solids,
                reduction,
                shortening,
                surface_loads,
                linearising,
                equilibria,
                ensembles,
                pages,
            )
        ),
    ]
    (HERE / "RESULTS.md").write_text(text + "".join(notes), encoding="utf-8")


def said(header):
    return ", ".join(f"{key} {value}" for key, value in header.items())


def flat(rows):
    return [r for some in rows.values() for r in some]


def main():
    quick, names = "--quick" in sys.argv[1:], [name for name in sys.argv[1:] if name != "--quick"]
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise SystemExit(f"no benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}")
    file, found = HERE / "results.json", {}
    if file.exists() and not quick:
        found = json.loads(file.read_text(encoding="utf-8"))["rows"]
    header = {package: version(package) for package in ("numpy", "scipy", "numba")}
    header = {"python": platform.python_version(), **header, "cores": os.cpu_count()}
    for name in names or BENCHMARKS:
        print(f"{name} ... ", end="", flush=True)
        taken = seconds(lambda name=name: found.update({name: BENCHMARKS[name](quick)}))
        print(f"{taken:.0f} s", flush=True)
        rows = {name: found[name] for name in BENCHMARKS if name in found}
        if not quick:
            write(rows, header)
    print(f"\n{said(header)}\n\n{table(flat(rows))}")


NOTE = """
Imports are the shortest of 5, the four-bar of 3; so are the frames, in turn with their peer, in time of the processor. Peak memory
is that of the whole process.

The frames hold 10⁵ unknowns, rows and multipliers of the `LinearPHDAE`: a lattice tower of 900 members with 8 elements each (no
two bays alike, so no two bodies shared), and 12 members with 700 elements each. The peer is the same mesh as classical 14 × 14
displacement elements without stresses or multipliers as unknowns. With 700 elements a member the difference is rounding of the
peer's assembled K; phloat's frequencies stay on the h⁴ curve of coarser meshes to 2e-9.
"""

if __name__ == "__main__":
    main()
