"""All benchmarks, or those named: python benchmarks/run.py [import] [four-bar] [frame]

Prints a table and leaves it in benchmarks/RESULTS.md and, with all numbers, in benchmarks/results.json. Every measurement
runs in a process of its own.
"""

import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
SHAPES = ("many members", "few members")

FOUR_BAR = """
import json, sys, time
sys.path.insert(0, "examples")
import four_bar as example
seconds = []
for _ in range(3):
    begin = time.perf_counter()
    example.frequencies(example.four_bar(3), example.degrees)
    seconds.append(time.perf_counter() - begin)
print(json.dumps(min(seconds)))
"""


def run(*arguments):
    """What a fresh Python prints."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=HERE.parent, check=True, capture_output=True, text=True
    ).stdout


def fastest(statement, times=5):
    """The shortest of several fresh processes, start of the interpreter included."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        run("-c", statement)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def row(what, value, unit, peer=None, beside=""):
    return {"what": what, "value": value, "unit": unit, "peer": peer, "beside": beside}


def of_import():
    ours, core = fastest("import phloat"), fastest("import numpy, scipy.sparse")
    return [row("`import phloat`, a fresh process", ours, "s", core, "`import numpy, scipy.sparse`")]


def of_four_bar():
    seconds = json.loads(run("-c", FOUR_BAR))
    return [
        row("four-bar, 51 angles, 3 elements a link", seconds, "s"),
        row("four-bar, one angle: place, linearise, modes", 1e3 * seconds / 51, "ms"),
    ]


def of_frame():
    rows = []
    for shape in SHAPES:
        ours, peer = (
            json.loads(run(str(HERE / "frame_modes.py"), shape, method)) for method in ("phloat", "classical")
        )
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


BENCHMARKS = {"import": of_import, "four-bar": of_four_bar, "frame": of_frame}


def shown(value, unit):
    if value is None:
        return "—"
    number = str(value) if isinstance(value, int) else f"{value:.1e}" if value < 1e-3 else f"{value:.3g}"
    number = f"{value:.0f}" if isinstance(value, float) and value >= 1000 else number
    return f"{number} {unit}".strip()


def table(rows):
    lines = ["| what | phloat | peer | ratio | the peer |", "|---|---|---|---|---|"]
    for r in rows:
        ratio = "—" if not r["peer"] else f"{r['value'] / r['peer']:.2f}"
        lines.append(
            f"| {r['what']} | {shown(r['value'], r['unit'])} | {shown(r['peer'], r['unit'])} | {ratio} "
            f"| {r['beside'] or '—'} |"
        )
    return "\n".join(lines)


def main():
    names = sys.argv[1:] or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        raise SystemExit(f"no benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}")
    file = HERE / "results.json"
    found = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else {}
    for name in names:
        print(f"{name} ... ", end="", flush=True)
        begin = time.perf_counter()
        found[name] = BENCHMARKS[name]()
        print(f"{time.perf_counter() - begin:.0f} s", flush=True)
    header = {package: version(package) for package in ("numpy", "scipy")}
    header = {"python": platform.python_version(), **header, "cores": os.cpu_count()}
    rows = {name: found[name] for name in BENCHMARKS if name in found}
    lines = table([r for some in rows.values() for r in some])
    file.write_text(json.dumps({"machine": header, "rows": rows}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    said = ", ".join(f"{key} {value}" for key, value in header.items())
    text = f"# Benchmarks\n\n`python benchmarks/run.py` with {said}.\n\n{lines}\n"
    (HERE / "RESULTS.md").write_text(text + NOTE, encoding="utf-8")
    print(f"\n{said}\n\n{lines}")


NOTE = """
Imports are the shortest of 5, the four-bar of 3; a frame runs once. Peak memory is that of the whole process.

The frames hold 10⁵ unknowns, rows and multipliers of the `LinearPHDAE`: a lattice tower of 900 members with 8 elements each (no
two bays alike, so no two bodies shared), and 12 members with 700 elements each. The peer is the same mesh as classical 12 × 12
displacement elements without stresses or multipliers as unknowns. With 700 elements a member the difference is rounding of the
peer's assembled K; phloat's frequencies stay on the h⁴ curve of coarser meshes to 2e-9.
"""

if __name__ == "__main__":
    main()
