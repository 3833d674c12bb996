"""Prints the coverage of each package, and the files with most uncovered lines: python tools/coverage_table.py coverage.json"""

import json
import sys
from collections import defaultdict
from pathlib import Path

WORST = 12  # files in the second table


def main(path: str) -> None:
    """Prints two Markdown tables from the JSON report of coverage.py."""
    files = json.loads(Path(path).read_text())["files"]
    packages: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    left = []
    for name, file in files.items():
        parts = Path(name).parts
        inside = parts[parts.index("phloat") + 1 :]
        s = file["summary"]
        counts = s["covered_lines"], s["num_statements"], s["covered_branches"], s["num_branches"]
        for key in (inside[0] if len(inside) > 1 else "phloat", "all"):
            packages[key] = [a + b for a, b in zip(packages[key], counts, strict=True)]
        missed = counts[1] - counts[0] + counts[3] - counts[2]
        left.append((missed, "/".join(inside), f"{counts[0]} of {counts[1]}", f"{counts[2]} of {counts[3]}"))
    print("| package | lines | run | branches | taken |\n|---|---|---|---|---|")
    for key in sorted(packages, key=lambda k: (k == "all", k)):
        run, lines, taken, branches = packages[key]
        print(f"| {key} | {lines} | {run / lines:.1%} | {branches} | {taken / max(1, branches):.1%} |")
    print("\n| most left in | lines | branches |\n|---|---|---|")
    for _, name, lines_, branches_ in sorted(left, reverse=True)[:WORST]:
        print(f"| {name} | {lines_} | {branches_} |")


if __name__ == "__main__":
    main(sys.argv[1])
