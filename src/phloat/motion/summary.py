"""A run in a table for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phloat.algebra.tables import facts, grid, listed


def run_table(
    title: str, info: Mapping[str, Any], energy: np.ndarray, missing: float | None, names: Sequence[str]
) -> str:
    """An HTML table of scheme, steps, events, energy and names of a run."""
    lines: dict[str, object] = {"scheme": _scheme(info), "steps": info.get("steps")}
    if info.get("events"):
        lines["events"] = listed(f"{name} at {time:.4g} s" for time, name in info["events"])
    left = [
        name for name, kinds in info.get("ranges", {}).items() if any(found[-1] is not None for found in kinds.values())
    ]
    if left:
        lines["beyond its range"] = listed(left)
    if far := info.get("deformation"):
        lines["deformation"] = describe_deformation(far)
    if info.get("finished") is False:
        lines["finished"] = "no: cut short"
    lines["energy (J)"] = f"{energy[0]:.6g} → {energy[-1]:.6g}" if len(energy) else ""
    lines["energy residual"] = "" if missing is None else f"{missing:.1e} of the largest energy or work"
    lines["quantities"] = listed(names)
    lines["look"] = "plot(result), show(result) in 3-D, energy_ledger(result)"
    return facts(title, lines)


def describe_deformation(far: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence on the body with the largest estimated error of deformation."""
    name = max(far, key=lambda body: far[body]["error"])
    it = far[name]
    strain = f", strain {it['strain']:.2g}" if "strain" in it else ""
    return f"{name} most: turns by {it['rotation']:.3g} rad{strain}; estimated error {it['error']:.1e} of its length"


def energy_tables(bodies: Sequence[str], parts: np.ndarray, done: Sequence[tuple[str, float]]) -> str:
    """The energy of each body at the end, and what was done on all of them since the start; `energy_ledger` has it over time."""
    rows = ((name, *(f"{x:.6g}" for x in row)) for name, row in zip(bodies, parts, strict=True))
    smallest = 1e-12 * max((abs(x) for _, x in done), default=0.0)  # joints do nothing in sum
    works = ((name, f"{x:+.6g}") for name, x in done if abs(x) > smallest)
    return grid("energy at the end (J)", ("body", "kinetic", "elastic", "potential"), rows) + grid(
        "work done on the bodies (J)", ("by", "since the start"), works
    )


def _scheme(info: Mapping[str, Any]) -> str:
    scheme = dict(info.get("scheme", {}))
    name = scheme.pop("name", "")
    options = ", ".join(f"{key}={value:g}" for key, value in scheme.items() if isinstance(value, float) and value)
    step = f", dt = {info['dt']:g} s" if info.get("dt") else ""
    return f"{name}({options}){step}" if name else ""
