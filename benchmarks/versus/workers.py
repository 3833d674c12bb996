"""A process for each code, so that neither sees the other's imports, memory or threads; asked in turn, one answer at a time."""

import gc
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Worker:
    """One code in a process of its own: `ask` runs a member of a problem there."""

    def __init__(self, code):
        self.code = code
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "workers.py"), self.code],
            cwd=HERE,
            env=os.environ | ONE_THREAD | {"MPLBACKEND": "Agg"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, problem, member):
        """What a run of this member took and found: {"build", "seconds", "values", …}, or {"failed": why}."""
        try:
            self.process.stdin.write(json.dumps({"problem": problem, "member": member}) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):  # it crashed
            self.process.kill()
            self.process.wait()
            self.start()
            return {"failed": f"the process of {self.code} ended"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def clocked(build, go):
    """A model and what going with it gave; seconds of the processor for each. `go` is given the model."""
    gc.collect()
    first = time.process_time()
    model = build()
    built = time.process_time()
    found = go(model)
    return model, found, {"build": built - first, "seconds": time.process_time() - built}


def imported(code):
    """Seconds of the processor for an import in a fresh process, the kernel of phloat loaded from its cache."""
    say = {
        "phloat": "import phloat; phloat.Beam, phloat.connect, phloat.place, phloat.simulate",  # names come when asked for
        "exudyn": "import sys; sys.exudynFast = True; import exudyn, exudyn.utilities",
    }[code]
    script = f"import time; t = time.process_time(); {say}; print('took', time.process_time() - t)"
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    return float(out.split("took")[-1])


def serve(code):
    """Answers questions until there are none; what the codes print goes to the terminal's errors."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if code == "exudyn":
        sys.exudynFast = True  # without range checks and with AVX2; to be said before the import
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = importlib.import_module(question["problem"]).run(**question["member"])
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
