"""What the first runs after an installation wait for: the kernel, compiled into an empty cache, then loaded from it."""

import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from measure import answer, measured, row

HERE = Path(__file__).resolve().parent
EXAMPLE = re.search(r"```python\n(.*?)```", (HERE.parent / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
PARTS = {  # the name of a part, and the beginning of its first line in the example
    "s import": "import numpy",
    "s model and state": "alu = ",
    "s linearise and modes": "plant = ",
    "s picture": "ph.plot",
    "s simulate": "result = ",
    "s page": "print(ph.energy_ledger",
}

NOTE = """
The first motion is that of a rigid pendulum in a plane (10 steps), in a process of its own; its processor time is that from
`import phloat` on, with an empty cache (after an installation) and with a full one. Compilation and loading are what it takes
longer than the same again in that process; with RadauIIA (IDA and GeneralisedAlpha integrate the same functions) in a process where
the time step is compiled. The first script is the example of README.md with an empty cache: processor time of its parts.
"""


def measure(scheme=None):
    """Seconds of the processor of the first motion, from the import on, and what it takes longer than the second."""
    begin = time.process_time()
    import phloat as ph

    rod = ph.RigidBody(1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0)).discretise()
    hinge = ph.Revolute("ground", "rod.P")
    pendulum = ph.connect({"rod": rod}, [hinge], gravity=(0.0, -9.81, 0.0), plane="xy")
    import phloat.motion.continuous.flow
    import phloat.motion.schemes.midpoint

    imported = time.process_time()
    if scheme:  # with what it shares with the time step loaded
        ph.simulate(pendulum, ph.place(pendulum), 1e-2, dt=1e-3)
    times = [time.process_time()]
    for _ in range(2):
        ph.simulate(
            pendulum, ph.place(pendulum), 1e-2, dt=1e-3, **({"scheme": getattr(ph, scheme)()} if scheme else {})
        )
        times.append(time.process_time())
    first, second = times[1] - times[0], times[2] - times[1]
    return {"first": imported - begin + first, "compiled": first - second}


def first_script(cache):
    """Seconds of the processor of the parts of README's example, run by a Python whose cache is empty at first."""
    lines, marks = ["import time; marks = [time.process_time()]"], []
    for line in EXAMPLE.splitlines():
        if name := next((name for name, first in PARTS.items() if line.startswith(first)), None):
            lines += ["marks.append(time.process_time())"] if marks else []
            marks.append(name)
        lines.append(line)
    lines.append("marks.append(time.process_time()); print('marks', *marks)")
    command = [sys.executable, "-c", "\n".join(lines)]
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "MPLBACKEND": "Agg"}
        out = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
    found = [float(x) for x in out.splitlines()[-1].split()[1:]]
    return dict(zip(marks, (b - a for a, b in pairwise(found)), strict=True))


def rows(quick=False):
    with TemporaryDirectory() as cache:
        script = first_script(cache)
    with TemporaryDirectory() as cache:
        kept = {"NUMBA_CACHE_DIR": cache}
        new, later = (measured("compiling.py", environment=kept) for _ in range(2))
        radau, radau_later = (measured("compiling.py", environment=kept, scheme="RadauIIA") for _ in range(2))
    return [
        row("first motion after an installation, processor", new["first"], "s"),
        row("first motion of a later process, processor", later["first"], "s"),
        row("compilation, once per installation", new["compiled"], "s"),
        row("loading what was compiled, once per process", later["compiled"], "s"),
        row(
            "compilation for IDA, Radau, generalised-α",
            radau["compiled"],
            "s",
            also={"s loading": radau_later["compiled"]},
        ),
        row("first script after an installation, processor", sum(script.values()), "s", also=script),
    ]


if __name__ == "__main__":
    answer(measure)
