"""SUNDIALS' IDA: backward differentiation of variable step and order, for the equations of motion as F(t, y, ẏ) = 0.

Joints are enforced as rates and, by the multipliers μ of Gear, Gupta and Leimkuhler, as gaps (index 2). Works are integrated by
Simpson's rule. A. C. Hindmarsh et al., SUNDIALS: suite of nonlinear and differential/algebraic equation solvers, ACM TOMS 31
(2005). Needs `pip install phloat[ida]`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from phloat.errors import InputError, positive
from phloat.motion.continuous import residual as compiled
from phloat.motion.continuous.pattern import DENSE
from phloat.motion.continuous.stepper import MASS, ContinuousStepper, DenseStep, require_mass_matrix
from phloat.motion.result import Result
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.interpolation import hermite
from phloat.motion.run.task import Task

FREE = 1e12  # absolute tolerance of multipliers, which have no error control
RATES = 100.0  # absolute tolerance of rates relative to that of positions, 1/s


@dataclass(frozen=True)
class IDA:
    """Orders 1 to 5, adaptive step; dt, if given, is the first step.

    Errors of positions are below rtol of their value or atol (metres, radians), those of rates below rtol or 100 atol per second.
    Undamped oscillations keep the step small for any tolerance: orders above 2 are not stable for them. `mass`: see `RadauIIA`.
    """

    rtol: float = 1e-6
    atol: float = 1e-8
    mass: str = field(default="full", metadata=MASS)

    def __post_init__(self) -> None:
        require_mass_matrix(self.mass)
        if not 1e-15 <= positive("rtol", self.rtol) <= 1e-2:
            raise InputError(f"rtol is {self.rtol:g}; IDA needs one between 1e-15 and 1e-2")
        positive("atol", self.atol)

    def run(self, task: Task) -> Result:
        return run_to_end(IDASteps(task, self, sundials()))


def sundials() -> ModuleType:
    """The module of scikit-sundae; raises InputError if it is not installed."""
    try:
        from sksundae import ida
    except ImportError:
        raise InputError("scheme=IDA() needs scikit-sundae: pip install phloat[ida]") from None
    return ida


class IDASteps(ContinuousStepper):
    """Steps of IDA."""

    name, adaptive, consistent_rates = "IDA", True, True
    counted = ("steps",)

    def __init__(self, task: Task, scheme: IDA, package: ModuleType) -> None:
        super().__init__(task, scheme.mass)
        self.scheme, self.package, flow = scheme, package, self.flow
        self.cached_inputs: tuple[float, np.ndarray] | None = None
        self.y, self.yd, self.F = (np.zeros(flow.size) for _ in range(3))
        self.small = flow.size <= DENSE
        self.prepare()

    def begin(self, time: float, y: np.ndarray, yd: np.ndarray, works: np.ndarray) -> None:
        flow = self.flow
        self.cached_inputs = None
        atol = np.full(flow.size, self.scheme.atol)
        atol[flow.v] *= RATES
        atol[flow.lam.start :] = FREE
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # IDA warns that it uses our derivatives
            self.solver = self.package.IDA(
                self.residual,
                jacfn=self.jacobian,
                rtol=self.scheme.rtol,
                atol=atol,
                first_step=(flow.task.dt or 0.0) if not self.counts["steps"] else 0.0,
                algebraic_idx=np.arange(flow.lam.start, flow.mu.stop),
                **({"linsolver": "dense"} if self.small else {"linsolver": "sparse", "sparsity": self.entries()}),
            )
        self.time, self.works, self.node = time, works, (y, yd, flow.powers(self.inputs(time), y))
        self.solver.init_step(time, y, yd)

    def entries(self) -> sp.csc_array:
        """The sparsity pattern of the derivative, with the index type of SuperLU."""
        t = self.flow.pattern.template
        parts = np.ones(t.nnz), t.indices.astype(np.int32), t.indptr.astype(np.int32)
        return sp.csc_array(parts, shape=t.shape)

    def step(self, limit: float) -> DenseStep:
        """One internal step of IDA, not beyond the limit."""
        t_0 = self.time
        solution = self.solve_to(limit, "onestep", limit)
        if solution.t <= t_0:  # after dense output IDA first returns to its last time
            solution = self.solve_to(limit, "onestep", limit)
        self.counts["steps"] += 1
        end = float(solution.t)
        end = limit if abs(limit - end) < 1e-12 * abs(limit) else end
        (y_0, yd_0, power_0), works_0 = self.node, self.works
        y_1, yd_1 = np.array(solution.y).ravel(), np.array(solution.yp).ravel()
        h, middle = end - t_0, 0.5 * (t_0 + end)
        power_middle = self.flow.powers(self.flow.inputs(middle), hermite(y_0, y_1, h * yd_0, h * yd_1, 0.5))
        power_1 = self.flow.powers(self.inputs(end), y_1)
        compiled.settle_gaps(self.flow.model, self.flow.w, self.flow.offsets, end)
        works_1 = works_0 + h / 6 * (power_0 + 4 * power_middle + power_1)
        self.time, self.node, self.works = end, (y_1, yd_1, power_1), works_1

        def within(time: float) -> tuple[np.ndarray, np.ndarray]:
            y = np.array(self.solve_to(time, "normal", None).y).ravel()
            return y, hermite(works_0, works_1, h * power_0, h * power_1, (time - t_0) / h)

        return DenseStep(t_0, end, (y_1, works_1), within)

    def solve_to(self, time: float, method: str, stop: float | None) -> Any:
        """The solution of IDA at a time; raises ConvergenceError if it fails."""
        solution = self.solver.step(time, method=method, tstop=stop)
        if not solution.success:
            raise self.step_failure(str(solution.message))
        return solution

    def inputs(self, time: float) -> np.ndarray:
        """The inputs s at a time; those of the last time are cached."""
        if self.cached_inputs is None or self.cached_inputs[0] != time:
            self.cached_inputs = time, self.flow.inputs(time)
        return self.cached_inputs[1]

    def residual(self, time: float, y: np.ndarray, yd: np.ndarray, out: np.ndarray) -> None:
        self.y[:], self.yd[:] = y, yd  # IDA's arrays are read-only, for which the kernel is not compiled
        out[:] = self.flow.residual(self.inputs(time), self.y, self.yd, self.F)

    def jacobian(self, time: float, y: np.ndarray, yd: np.ndarray, res: np.ndarray, c: float, out: np.ndarray) -> None:
        self.y[:], self.yd[:] = y, yd
        by_y, by_yd = self.flow.derivatives(self.inputs(time), self.y, self.yd)
        data = by_y + c * by_yd
        out[:] = self.flow.matrix(data) if self.small else data
