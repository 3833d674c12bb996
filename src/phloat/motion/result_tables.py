"""Tables of a run for notebooks, and its deformation as a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from phloat.algebra.tables import facts, grid, name_list


def run_table(
    title: str, info: Mapping[str, Any], energy: np.ndarray, residual: float | None, names: Sequence[str]
) -> str:
    """An HTML table with scheme, steps, events, energy and quantities of a run."""
    lines: dict[str, object] = {"scheme": _scheme(info), "steps": info.get("steps")}
    if info.get("events"):
        lines["events"] = name_list(f"{name} at {time:.4g} s" for time, name in info["events"])
    exceeded = [
        name
        for name, kinds in info.get("ranges", {}).items()
        if any(numbers[-1] is not None for numbers in kinds.values())
    ]
    if exceeded:
        lines["beyond its range"] = name_list(exceeded)
    if deformation := info.get("deformation"):
        lines["deformation"] = describe_deformation(deformation)
    if info.get("finished") is False:
        lines["finished"] = "no: cut short"
    lines["energy (J)"] = f"{energy[0]:.6g} → {energy[-1]:.6g}" if len(energy) else ""
    lines["energy residual"] = "" if residual is None else f"{residual:.1e} of the largest energy or work"
    lines["quantities"] = name_list(names)
    lines["look"] = "plot(result), show(result) in 3-D, energy_ledger(result)"
    return facts(title, lines)


def describe_deformation(deformation: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence about the body with the largest estimated error of deformation."""
    name = max(deformation, key=lambda body: deformation[body]["error"])
    values = deformation[name]
    strain = f", strain {values['strain']:.2g}" if "strain" in values else ""
    return f"{name} most: turns by {values['rotation']:.3g} rad{strain}; estimated error {values['error']:.1e} of its length"


def energy_tables(bodies: Sequence[str], parts: np.ndarray, contributions: Sequence[tuple[str, float]]) -> str:
    """HTML tables of the energy of each body at the end, and of all works since the start."""
    rows = ((name, *(f"{x:.6g}" for x in row)) for name, row in zip(bodies, parts, strict=True))
    smallest = 1e-12 * max((abs(x) for _, x in contributions), default=0.0)  # joints do nothing in sum
    works = ((name, f"{x:+.6g}") for name, x in contributions if abs(x) > smallest)
    return grid("energy at the end (J)", ("body", "kinetic", "elastic", "potential"), rows) + grid(
        "work done on the bodies (J)", ("by", "since the start"), works
    )


def _scheme(info: Mapping[str, Any]) -> str:
    scheme = dict(info.get("scheme", {}))
    name = scheme.pop("name", "")
    options = ", ".join(f"{key}={value:g}" for key, value in scheme.items() if isinstance(value, float) and value)
    step = f", dt = {info['dt']:g} s" if info.get("dt") else ""
    return f"{name}({options}){step}" if name else ""
