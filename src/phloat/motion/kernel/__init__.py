"""The compiled time step: flat buffers of numbers, tables of where they stand, plain loops.

Numba's cache knows when the file of a function changed, not when what it calls did; so a cache older than any of the compiled
files goes.
"""

from contextlib import suppress
from pathlib import Path

_here = Path(__file__).parent
_compiled = (
    *("tables", "lanes", "places", "small", "body", "tangent", "ports", "own", "rows", "geometric"),
    *("inverse", "admittance", "solve", "model", "crew", "ranges", "off", "newton", "step"),
)
with suppress(OSError):
    _newest = max((_here / f"{name}.py").stat().st_mtime for name in _compiled)
    for _cached in (_here / "__pycache__").glob("*.nb?"):
        if _cached.stat().st_mtime < _newest:
            _cached.unlink()
