"""Results of an ensemble: parameters and outputs of all samples by name, statistics, failed samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from phloat.algebra.tables import grid
from phloat.errors import InputError, PortError, finite, unknown
from phloat.many.samples import Samples
from phloat.many.store import SINGLE_OUTPUT, EnsembleFolder, ResultBlocks
from phloat.motion.result import Result


class FailedSample(NamedTuple):
    """A sample without outputs: its number, its parameters and its error."""

    sample: int
    parameters: dict[str, float]
    error: str


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Many runs: `runs["rod.material.E"]` and `runs["peak"]` with the sample first; NaN where a sample failed.

    Statistics are those of the samples that succeeded, in the form that the output function returns: a number, an array, or a
    mapping by name. Saved ensembles stay on disk and are read when needed.
    """

    samples: Samples
    pieces: ResultBlocks
    run: Callable[[np.ndarray], Result] | None = None  # the run with given values of the parameters
    info: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, name: str) -> np.ndarray:
        if name in self.parameters:
            return self.parameters[name]
        if name not in self.shapes:
            raise PortError(unknown("parameter or output", name, (*self.parameters, *self.shapes)))
        out: np.ndarray = np.full((len(self), *self.shapes[name]), np.nan, dtype=self.pieces.form.kind(name))
        for samples, values in self.pieces.columns(name):
            out[samples] = values
        return out

    # --- samples and outputs -----------------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> dict[str, np.ndarray]:
        """The values of each parameter, (samples,)."""
        return dict(zip(self.samples.names, self.samples.values.T, strict=True))

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """All outputs by name, (samples, …)."""
        return {name: self[name] for name in self.shapes}

    @property
    def values(self) -> Any:
        """The outputs in the form that the output function returns, with the sample first, (samples, …)."""
        return self._as_returned(self.__getitem__)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """{output: shape of one sample}."""
        return self.pieces.form.shapes

    @property
    def t(self) -> np.ndarray | None:
        """The output times of a run (s), if it has any."""
        return self.pieces.form.t

    @cached_property
    def ok(self) -> np.ndarray:
        """Which samples have outputs, (samples,)."""
        out = np.zeros(len(self), dtype=bool)
        for block in self.pieces.arrays("sample"):
            out[block["sample"]] = True
        return out

    @cached_property
    def failed(self) -> list[FailedSample]:
        """The samples that failed, with their parameters and errors, ascending by number."""
        return [FailedSample(k, self.samples.named(k), error) for k, error in sorted(self.pieces.failed())]

    @property
    def missing(self) -> int:
        """The number of samples that have not been run, because the sweep was interrupted."""
        return len(self) - int(self.ok.sum()) - len(self.failed)

    def over_time(self, name: str) -> bool:
        """Whether the first axis of an output is that of the output times."""
        return self.t is not None and self.shapes[name][:1] == self.t.shape and len(self.t) > 1

    # --- statistics --------------------------------------------------------------------------------------------------

    def mean(self) -> Any:
        """The mean of each output."""
        return self._as_returned(lambda name: self._moments(name)[1])

    def std(self) -> Any:
        """The standard deviation of each output (with n − 1)."""
        return self._as_returned(self._spread)

    def quantile(self, q: Any) -> Any:
        """The quantiles of each output; of complex ones those of real and imaginary part. Several q are the first axis, (q, …)."""
        levels = np.asarray(q, dtype=float)
        if not ((levels >= 0.0) & (levels <= 1.0)).all():
            raise InputError(f"quantile {q!r} is not between 0 and 1")

        def quantiles(name: str) -> Any:
            x = self._successful_values(name)
            out = np.quantile(x.real, levels, axis=0)
            return out + 1j * np.quantile(x.imag, levels, axis=0) if x.dtype.kind == "c" else out

        return self._as_returned(quantiles)

    def sensitivity(self, kind: str = "rank") -> Any:
        """The sensitivity of each output to the parameters, {parameter: number or array}.

        "rank" is Spearman's rank correlation, from −1 to 1, valid for any monotonic dependence. "regression" are the standardised
        coefficients of a linear fit, whose squares are fractions of the variance if the parameters are independent.
        """
        if kind not in ("rank", "regression"):
            raise InputError(unknown("sensitivity", kind, ("rank", "regression")))
        from scipy.stats import rankdata

        X = self.samples.values[self.ok]

        def sensitivities(name: str) -> dict[str, Any]:
            values = self._successful_values(name)
            if len(values) < 3:
                raise InputError(f"{len(values)} samples say nothing of sensitivity; take more")
            Y = np.abs(values) if values.dtype.kind == "c" else values
            Y = Y.reshape(len(Y), -1)
            r = correlations(rankdata(X, axis=0), rankdata(Y, axis=0)) if kind == "rank" else regression(X, Y)
            rows = r.reshape(len(self.samples.names), *self.shapes[name])
            return {parameter: _plain(row) for parameter, row in zip(self.samples.names, rows, strict=True)}

        return self._as_returned(sensitivities)

    def on_grid(self, name: str = SINGLE_OUTPUT) -> np.ndarray:
        """An output over the grid of the parameters, (values of the first, values of the second, …); see `axes`."""
        sizes = tuple(size for _, size in self.samples.levels)
        if not sizes:
            raise InputError(f"these samples are {self.samples.sampling!r}, and no grid; give lists of values for one")
        values = self[name]
        return values.reshape(*sizes, *values.shape[1:])

    @property
    def axes(self) -> dict[str, np.ndarray]:
        """{parameter: values} of a grid."""
        sizes = [size for _, size in self.samples.levels]
        grid = {name: self.parameters[name].reshape(sizes) for name, _ in self.samples.levels}
        return {name: np.moveaxis(x, j, 0).reshape(sizes[j], -1)[:, 0] for j, (name, x) in enumerate(grid.items())}

    # --- other forms -------------------------------------------------------------------------------------------------

    def rerun(self, sample: int) -> Result:
        """Runs one sample again and returns its Result, or raises its error."""
        if self.run is None:
            raise InputError("a loaded ensemble does not know its system; call ensemble(…, save=folder) as it was made")
        k = int(finite("sample", sample, ()))
        if not 0 <= k < len(self):
            raise InputError(f"sample {k} is not there; there are {len(self)}, from 0")
        return self.run(self.samples.values[k])

    def to_xarray(self) -> Any:
        """An xarray.Dataset over `sample`, or over the parameters of a grid (extra `io`)."""
        if self.samples.levels:
            dims: tuple[str, ...] = tuple(self.axes)
            coords: dict[str, Any] = dict(self.axes)
            values = {name: self.on_grid(name) for name in self.shapes}
        else:
            dims, values = ("sample",), self.outputs
            coords = {"sample": np.arange(len(self)), **{n: ("sample", x) for n, x in self.parameters.items()}}
        if self.t is not None and any(self.over_time(name) for name in self.shapes):
            coords["t"] = self.t
        data = {}
        for name, shape in self.shapes.items():
            inner = [f"{name}[{j}]" for j in range(len(shape))]
            data[name] = ((*dims, *(["t", *inner[1:]] if self.over_time(name) else inner)), values[name])
        return dataset(data, coords)

    # --- private -----------------------------------------------------------------------------------------------------

    def _successful_values(self, name: str) -> np.ndarray:
        """The values of an output in the samples that succeeded."""
        self._require_output()
        return self[name][self.ok]

    def _moments(self, name: str) -> tuple[int, np.ndarray, np.ndarray]:
        self._require_output()
        return moments(values for _, values in self.pieces.columns(name))

    def _spread(self, name: str) -> np.ndarray:
        n, _, squares = self._moments(name)
        return np.asarray(np.sqrt(squares / max(n - 1, 1)))

    def _require_output(self) -> None:
        """Raises InputError with the first error if no sample has an output."""
        if not self.ok.any():
            reason = f"; sample {self.failed[0].sample}: {self.failed[0].error}" if self.failed else ""
            raise InputError(f"none of the {len(self)} samples has an output{reason}")

    def _as_returned(self, statistic: Callable[[str], Any]) -> Any:
        """The statistic of each output by name, in the form that the output function returns."""
        self._require_output()
        if self.pieces.form.single:
            return _plain(statistic(SINGLE_OUTPUT))
        return {name: _plain(statistic(name)) for name in self.shapes}

    def __repr__(self) -> str:
        varied = ", ".join(self.samples.names)
        missing = f", {self.missing} not run" if self.missing else ""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"Ensemble({len(self)} samples of {varied}; outputs {', '.join(self.shapes) or 'none'}{failed}{missing})"

    def _repr_html_(self) -> str:
        table = [line.strip().split("  ", 1) for line in str(self).splitlines()[1:]]
        return grid(repr(self), ("", ""), ([word.strip() for word in row] for row in table))

    def __str__(self) -> str:
        lines = [f"{len(self)} samples ({self.samples.sampling}), {len(self.failed)} failed"]
        lines[0] += f", {self.missing} not run" if self.missing else ""
        names = [*self.samples.names, *self.shapes]
        width = max(map(len, names))
        for name, x in self.parameters.items():
            lines.append(f"  {name:<{width}}  {x.min():.5g} … {x.max():.5g}")
        for name, shape in self.shapes.items() if self.ok.any() else ():
            if shape:
                over_time = f" over time, at runs.t: runs[{name!r}]" if self.over_time(name) else ""
                lines.append(f"  {name:<{width}}  {' × '.join(map(str, shape))} numbers{over_time}")
                continue
            x, mean, spread = self._successful_values(name), self._moments(name)[1], self._spread(name)
            limits = f", {x.min():.5g} … {x.max():.5g}" if x.dtype.kind == "f" else ""
            lines.append(f"  {name:<{width}}  {mean:.5g} ± {spread:.2g}{limits}")
        return "\n".join(lines)


def load_ensemble(folder: str | Path) -> Ensemble:
    """Loads a saved ensemble, complete or not; `missing` is the number of samples that have not been run."""
    saved = EnsembleFolder(Path(folder))
    description = saved.description()
    table = saved.table(description)
    form, levels = saved.form(description), tuple((name, size) for name, size in description["levels"])
    samples = Samples(tuple(description["parameters"]), table, description["sampling"], levels)
    numbers = [number for number, _ in saved.readable_blocks(form, len(table))]
    info: dict[str, object] = {name: description[name] for name in ("finished", "units") if name in description}
    return Ensemble(samples, ResultBlocks(form, saved, numbers), None, info)


def _plain(x: Any) -> Any:
    """An array without axes as a Python number, other values unchanged."""
    return x.item() if np.ndim(x) == 0 and hasattr(x, "item") else x


# --- statistics ------------------------------------------------------------------------------------------------------
#
# Moments over blocks of samples, correlations and regression.


def moments(pieces: Iterable[np.ndarray]) -> tuple[int, np.ndarray, np.ndarray]:
    """Count, mean and sum of squared deviations over the first axis of all pieces (Chan, Golub, LeVeque 1983)."""
    n, mean, squares = 0, np.zeros(()), np.zeros(())
    for values in pieces:
        if not len(values):
            continue
        m, center = len(values), values.mean(axis=0)
        shift = center - mean if n else np.zeros_like(center)
        mean = mean + shift * (m / (n + m)) if n else center
        squares = squares + (np.abs(values - center) ** 2).sum(axis=0) + np.abs(shift) ** 2 * (n * m / (n + m))
        n += m
    return n, mean, squares


def correlations(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Pearson's r of every column of X with every column of Y; 0 if one of them is constant."""
    X, Y = _standard(X), _standard(Y)
    return X.T @ Y / len(X)


def regression(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Coefficients of the linear fit of standardised values: the change of Y in its σ for one σ of X."""
    return np.linalg.lstsq(_standard(X), _standard(Y), rcond=None)[0]


def _standard(X: np.ndarray) -> np.ndarray:
    """The columns with mean 0 and standard deviation 1; constant columns become 0."""
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    return X / np.where(spread > 0.0, spread, np.inf)


# --- labelled arrays -------------------------------------------------------------------------------------------------
#
# Labelled arrays for xarray, and in NetCDF files (extra `io`).


def dataset(data: Mapping[str, Any], coords: Mapping[str, Any], about: Mapping[str, str] | None = None) -> Any:
    """An xarray.Dataset of variables (dims, values, attributes) over coordinates."""
    try:
        import xarray
    except ImportError as error:
        raise InputError("labelled arrays need xarray, which is not installed: pip install phloat[io]") from error
    return xarray.Dataset(data, coords, about)


def to_file(labelled: Any, path: Path) -> None:
    """Writes a dataset as NetCDF 4."""
    for package in ("h5netcdf", "h5py"):
        if find_spec(package) is None:
            raise InputError(f"NetCDF files need {package}, which is not installed: pip install phloat[io]")
    labelled.to_netcdf(path, engine="h5netcdf")
