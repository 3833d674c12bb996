"""From the start to the end of a task: fixed steps or adaptive ones, controllers and events on the way."""

from __future__ import annotations

import numpy as np

from phloat.errors import InputError
from phloat.motion.keeping import keep, recalled
from phloat.motion.kernel import tables as t
from phloat.motion.nodes import Marks, Nodes
from phloat.motion.runner import Runner
from phloat.motion.watch import Watch

CHUNK = 256  # steps between looks at the clock
LOOK = 4  # steps between looks at the error


def fixed(runner: Runner, dt: float) -> None:
    """Steps of dt; the last one is shorter where dt does not divide the time."""
    task, memory = runner.task, recalled(runner)
    nodes = Nodes(task.t_0, task.t_end, dt)
    at = nodes.not_before(np.array([runner.t - 1e-9 * dt]))
    k = int(at[0])
    if nodes.at(at)[0] - runner.t > 1e-9 * dt:  # a run that ended between nodes goes on
        nodes, k = Nodes(runner.t, task.t_end, dt), 0
    marks = Marks(nodes, task.output)
    watch = Watch(runner, memory) if task.events else None
    single = task.controller is not None or watch is not None
    last = nodes.last
    while k < last:
        if task.controller is not None:
            runner.control(runner.outputs())
        stop = min(k + (1 if single else CHUNK), last)
        if stop == last and stop > k + 1:
            stop -= 1  # the last one by itself: it may be shorter
        times, wanted = nodes.within(k, stop), marks.within(k, stop)
        if watch is not None:
            if not watch.step(times[1]):
                break
        else:
            runner.go(times, wanted - k)
        if single and len(wanted):
            runner.snap()
        k = stop
        task.progress(runner.t, runner.missing)
        keep(runner, _levels(watch))
    keep(runner, _levels(watch), now=True)


def _levels(watch: Watch | None) -> dict[str, np.ndarray]:
    return {"levels": np.array(watch.levels)} if watch is not None else {}


def adaptive(runner: Runner, dt: float, rtol: float, atol: float) -> None:
    """Steps whose size follows the error of positions: halved where it is too large, doubled where it is far too small."""
    task = runner.task
    if task.controller is not None or task.events:
        raise InputError("an adaptive step takes no controller and no events yet; give dt and leave rtol out")
    memory = recalled(runner)
    h, count = memory["pace"] if "pace" in memory else (dt, 0)
    size = _Size(runner)
    while task.t_end - runner.t > 1e-9 * h:
        left = task.t_end - runner.t
        steps = LOOK if LOOK * h <= left * (1 + 1e-9) else max(1, int(np.ceil(left / h - 1e-9)))
        times = runner.t + (h if steps == LOOK else left / steps) * np.arange(steps + 1)
        if task.t_end - times[-1] < 1e-9 * h:
            times[-1] = task.t_end
        back = (
            runner.t,
            runner.run.moved,
            runner.packed.w.copy(),
            runner.packed.iw.copy(),
            runner.rows.fill,
            runner.rows.made,
        )
        marks = np.arange(1, steps + 1) if not isinstance(task.output, int) else _every(count, steps, task.output)
        runner.packed.iw[t.I_STARTED] = 0
        runner.go(times, marks.astype(np.int64))
        error = size.error(times[1] - times[0]) if steps >= 3 else 0.0
        allowed = size.allowed(rtol, atol)
        if error > allowed and h > 1e-12 * (task.t_end - task.t_0):
            _restore(runner, back)
            h *= 0.5
            continue
        count += steps
        h = 2.0 * h if 12.0 * error < allowed and steps == LOOK else h
        task.progress(runner.t, runner.missing)
        keep(runner, {"pace": np.array([h, count])})
    runner.snap()
    keep(runner, {"pace": np.array([h, count])}, now=True)


def _every(count: int, steps: int, output: int) -> np.ndarray:
    return np.array([k for k in range(1, steps + 1) if (count + k) % output == 0], dtype=np.int64)


def _restore(runner: Runner, back: tuple[float, np.ndarray, np.ndarray, np.ndarray, int, int]) -> None:
    """The runner as it was before some steps; rows they made go."""
    runner.t, runner.run.moved, runner.packed.w[:], runner.packed.iw[:], runner.rows.fill, made = back
    if runner.rows.fill >= 0:  # its λ was completed by a step that is taken back
        at = runner.packed.model.where[0]
        runner.rows.lam[runner.rows.fill] = runner.packed.w[at : at + runner.packed.multipliers]
    del runner.rows.t[made:]
    runner.packed.iw[t.I_FACTORED], runner.h = 0, 0.0


class _Size:
    """The local error of positions, h/12 of the second difference of mid-velocities, in metres or radians."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        bodies = runner.task.system.bodies.values()
        self.fields = [body.shape.displacement(body.shape.places()).toarray() for body in bodies]
        spans = [np.ptp(body.shape.points(body.shape.places()), axis=0).max() for body in bodies]
        self.length = float(max(spans, default=1.0)) or 1.0

    def error(self, h: float) -> float:
        w, worst = self.runner.packed.w, 0.0
        for b, field in zip(self.runner.packed.model.bodies, self.fields, strict=True):
            size, rigid = int(b[t.SIZE]), int(b[t.N_LIN] + b[t.N_ROT])
            new, old, older = (w[b[c] : b[c] + size] for c in (t.W_OLD, t.W_OLDER, t.W_OLDEST))
            change = h / 12 * (new - 2 * old + older)
            turned = self.length * np.abs(change[b[t.N_LIN] : rigid]).max(initial=0.0)
            bent = np.abs(field @ change[rigid:]).max(initial=0.0)
            worst = max(worst, float(np.abs(change[: b[t.N_LIN]]).max(initial=0.0)), float(turned), float(bent))
        return worst

    def allowed(self, rtol: float, atol: float) -> float:
        return atol + rtol * self.length
