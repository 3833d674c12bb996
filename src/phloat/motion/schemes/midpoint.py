"""The default scheme: energy, momenta, joints and rotations to round-off, at any step."""

from __future__ import annotations

from dataclasses import dataclass

from phloat.errors import InputError, not_negative, positive
from phloat.motion.result import Result
from phloat.motion.run.driver import run_to_end
from phloat.motion.run.kernel_run import KernelRun, Substeps
from phloat.motion.run.task import Task
from phloat.motion.schemes.adaptive import AdaptiveSteps
from phloat.motion.schemes.fixed import FixedSteps
from phloat.system.system import System

FIRST = 1e-3  # of the run: the first step that an adaptive run tries


@dataclass(frozen=True)
class Midpoint:
    """Implicit midpoint rule: second order, any step; fixed unless a tolerance is given.

    Newton's method goes on to round-off, which keeps energy and joints.

    Parameters
    ----------
    rtol : float, optional
        Makes the step adaptive: at t_end each body is off by about rtol times its own scale, an error that may grow evenly over the
        run. Off is meant in the root mean square over its mass; its scale is its size (the root mean square distance of its mass
        from its centre) or how far it has come from where it started, whichever is larger. Every step is compared with one of twice
        the size; the dt of `simulate` is only the first step that is tried. Motion that magnifies small differences (unstable,
        chaotic) magnifies this error too.
    atol : float
        Added to that error, m.
    newton : float, optional
        Lets Newton's method stop where residuals are that fraction of their terms: faster, but energy then drifts, by up to about
        that fraction in every step.

    Examples
    --------
    An arm on a torsion spring of natural frequency ½ Hz is at −0.1 rad after one second, and at rest:

    >>> arm = ph.RigidBody(mass=2.0, inertia=0.1 * np.eye(3), center=(0.5, 0.0, 0.0)).discretise()
    >>> joints = [ph.Revolute("ground", "arm.P", name="hinge"), ph.JointSpring("hinge", stiffness=0.6 * np.pi**2)]
    >>> swing = ph.connect({"arm": arm}, joints, plane="xy")
    >>> start = ph.place(swing, {"hinge.angle": 0.1})
    >>> result = ph.simulate(swing, start, t_end=1.0, scheme=ph.Midpoint(rtol=1e-5))
    >>> print(result["hinge.angle"][-1].round(5), result["arm.omega"][-1].round(4) + 0.0)
    -0.1 0.0
    """

    rtol: float | None = None
    atol: float = 0.0
    newton: float | None = None

    def __post_init__(self) -> None:
        if self.rtol is not None:
            positive("rtol", self.rtol)
        not_negative("atol", self.atol)
        _require_tolerance(self.newton)

    def run(self, task: Task) -> Result:
        if self.rtol is None and task.dt is None:
            raise InputError("the step is missing: give dt=…, or scheme=Midpoint(rtol=…) to let it adapt")
        run = KernelRun(task, tolerance=self.newton)
        dt = task.dt or FIRST * (task.t_end - task.t_0)
        return run_to_end(FixedSteps(run, dt) if self.rtol is None else AdaptiveSteps(run, dt, self.rtol, self.atol))


def _require_tolerance(newton: float | None) -> None:
    """Raises InputError if Newton's method would stop too early."""
    if newton is not None and positive("newton", newton) > 1e-3:
        raise InputError(f"newton={newton:g} is no solution of a step; 1e-8 is loose, None is round-off")


# --- fourth order ----------------------------------------------------------------------------------------------------
#
# Fourth order by composition: the default step is symmetric in time, so five of them, one backwards, cancel its error.
#
#     h → (γ, γ, 1 − 4γ, γ, γ) h,   γ = 1/(4 − 4^⅓)                                                   (Suzuki)
#
# Every invariant of the default step survives. Velocities at the nodes stay O(h²) off the joints; positions are of order four.


GAMMA = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
PARTS = Substeps((GAMMA, GAMMA, 1.0 - 4.0 * GAMMA, GAMMA, GAMMA))


@dataclass(frozen=True)
class Composition4:
    """Fourth order in positions for systems without damping, five default steps a step; `newton` as in Midpoint."""

    newton: float | None = None

    def __post_init__(self) -> None:
        _require_tolerance(self.newton)

    def run(self, task: Task) -> Result:
        if task.dt is None:
            raise InputError("the step is missing: give dt=…")
        if damped := _damped(task.system):
            raise InputError(
                f"{damped!r} is damped, and Composition4 takes steps back in time, where damping feeds; use Midpoint"
            )
        return run_to_end(FixedSteps(KernelRun(task, tolerance=self.newton, parts=PARTS), task.dt))


def _damped(system: System) -> str:
    """The first body or element that takes energy."""
    bodies = (name for name, body in system.bodies.items() if body.elastic.damped)
    elements = (name for name, e in system.elements.items() if any(law.resists for law in e.laws))
    return next(iter([*bodies, *elements]), "")
