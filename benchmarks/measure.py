"""What the benchmarks share: a process of its own for every measurement, the best of several times, a row of the table."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = str(HERE.parent / "examples")


def run(*arguments, **environment):
    """What a fresh Python prints; its complaints go to the terminal."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=HERE.parent,
        env=os.environ | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def measured(file, environment=None, **what):
    """What `measure(**what)` of a benchmark finds in a fresh process."""
    return json.loads(run(str(HERE / file), json.dumps(what), **(environment or {})))


def answer(measure):
    """The other end of `measured`."""
    print(json.dumps(measure(**json.loads(sys.argv[1]))))


def seconds(action):
    """How long it takes, by the clock on the wall."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def fastest(action, times=3):
    return min(seconds(action) for _ in range(times))


def peak_MB():
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**10 if sys.platform != "darwin" else 2**20)


def row(what, value, unit, peer=None, beside="", also=None):
    """A number with its unit, beside that of a peer; `also` {unit: number} was seen in the same run."""
    return {"what": what, "value": value, "unit": unit, "peer": peer, "beside": beside, "also": also or {}}
