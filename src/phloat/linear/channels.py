"""Inputs and outputs by name: "port" for all its components, "port[i]" for one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phloat.errors import InputError
from phloat.linear.phdae import LinearPHDAE


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several, as several."""
    return tuple(names) if isinstance(names, Sequence) and not isinstance(names, str) else (names,)


def channels(system: LinearPHDAE, names: str | Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Columns of B and B_λ that belong to the named ports or components, and a name for each."""
    if not listed(names):
        raise InputError(f"name an input and an output; the open ports are {', '.join(system.ports) or 'none'}")
    columns: list[np.ndarray] = []
    labels: list[str] = []
    for name in listed(names):
        port, _, index = str(name).partition("[")
        where = system.ports[port if index.endswith("]") else name]
        chosen = np.arange(where.start, where.stop)
        if index.endswith("]"):
            number = int(index[:-1]) if index[:-1].isdigit() else -1
            if not 0 <= number < len(chosen):
                raise InputError(
                    f"port {port!r} has {len(chosen)} components, counted from 0; {name!r} is none of them"
                )
            chosen = chosen[number : number + 1]
        columns.append(chosen)
        labels += [name] if len(chosen) == 1 else [f"{name}[{i}]" for i in range(len(chosen))]
    return np.concatenate(columns), tuple(labels)
