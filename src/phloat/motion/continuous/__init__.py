"""The continuous equations of motion on the buffers of the kernel: for schemes that take their steps elsewhere.

Numba's cache does not see that a called function changed; so a cache older than any file here or in the kernel goes.
"""

from contextlib import suppress
from pathlib import Path

_here = Path(__file__).parent
with suppress(OSError):
    _newest = max(file.stat().st_mtime for folder in (_here, _here.parent / "kernel") for file in folder.glob("*.py"))
    for _cached in (_here / "__pycache__").glob("*.nb?"):
        if _cached.stat().st_mtime < _newest:
            _cached.unlink()
