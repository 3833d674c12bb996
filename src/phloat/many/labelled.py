"""Labelled arrays for xarray, and in NetCDF files (extra `io`)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from phloat.errors import InputError


def dataset(data: Mapping[str, Any], coords: Mapping[str, Any], about: Mapping[str, str] | None = None) -> Any:
    """An xarray.Dataset of variables (dims, values, attributes) over coordinates."""
    try:
        import xarray
    except ImportError as error:
        raise InputError("labelled arrays need xarray, which is not installed: pip install phloat[io]") from error
    return xarray.Dataset(data, coords, about)


def to_file(labelled: Any, path: Path) -> None:
    """Write a dataset as NetCDF 4."""
    for package in ("h5netcdf", "h5py"):
        if find_spec(package) is None:
            raise InputError(f"NetCDF files need {package}, which is not installed: pip install phloat[io]")
    labelled.to_netcdf(path, engine="h5netcdf")
