"""The compiled time step: flat buffers of numbers, tables of where they stand, plain loops.

Numba's cache knows when the file of a function changed, not when what it calls did; so a cache older than any file here goes.
"""

from contextlib import suppress
from pathlib import Path

_here = Path(__file__).parent
with suppress(OSError):
    _newest = max(file.stat().st_mtime for file in _here.glob("*.py"))
    for _cached in (_here / "__pycache__").glob("*.nb?"):
        if _cached.stat().st_mtime < _newest:
            _cached.unlink()
