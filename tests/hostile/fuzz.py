"""Opens wrong files one after the other, in a process that may not take much memory, and says how each case ended.

    python fuzz.py KIND FIRST COUNT FOLDER       one line of JSON when a case begins, and one when it ends

Allowed is the file that turns out to be right, and a sentence of phloat's own errors. Everything else is a fault.
"""

import json
import os
import resource
import sys
import time
import traceback
import warnings
from pathlib import Path
from random import Random

import mutations
import numpy as np
import yaml

import phloat as ph
from phloat.files.model_files import parse_model

EXAMPLES = Path(__file__).parents[2] / "examples" / "models"
SENTENCES = (ph.errors.InputError, ph.errors.AccuracyError, ph.errors.ConvergenceError)
MEMORY = 3 * 2**30  # of addresses, beyond those of the start
BUILT = 2  # one in so many of the models that could be read is connected and placed, too


def small(path: Path) -> bool:
    return path.suffix == ".yaml" and path.stem not in ("robot_link", "plate_with_rod")


TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.iterdir()) if path.suffix == ".yaml"}
DATA = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(EXAMPLES.iterdir()) if small(path)
}


class Models:
    """Structured changes of the example models."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, chance: Random) -> None:
        text, name = mutations.structured(DATA[chance.choice(list(DATA))], chance)
        self.touched(parse_model(text, name, folder=EXAMPLES), chance)

    def touched(self, model: ph.io.Model, chance: Random) -> None:
        if chance.randrange(BUILT) == 0 and isinstance(model.system, ph.System):
            _ = model.state, model.controller


class Texts(Models):
    """Model files with bytes changed by chance, and bytes that are nothing but chance."""

    def __call__(self, chance: Random) -> None:
        some = mutations.noise(chance) if chance.random() < 0.2 else None
        data, name = some or mutations.torn(TEXTS[chance.choice(list(TEXTS))].encode(), chance)
        path = self.folder / name
        path.write_bytes(data)
        self.touched(ph.io.load_model(path), chance)


class Runs:
    """Folders of a run with files that were changed, exchanged or taken away."""

    def __init__(self, folder: Path) -> None:
        from phloat.motion.saving import recorder

        recorder.SECONDS = 0.0
        self.folder, good = folder / "run", folder / "good"
        body = ph.RigidBody(1.0, 0.1 * np.eye(3), center=(0.3, 0, 0)).discretise()
        self.system = ph.connect(
            {"a": body}, [ph.Revolute("ground", "a.P", name="m")], gravity=(0, -9.81, 0), plane="xy"
        )
        ph.simulate(self.system, ph.place(self.system), t_end=0.6, dt=1e-3, output=20, save=good)
        self.files, self.bombs = mutations.bare(good), [mutations.bomb()]
        self.folder.mkdir()

    def __call__(self, chance: Random) -> None:
        for file in self.folder.iterdir():
            file.unlink()
        for name, data in mutations.damaged(self.files, chance, self.bombs).items():
            (self.folder / name).write_bytes(data)
        kind = chance.randrange(5)
        if kind < 3:
            result = ph.io.load_result(self.folder)
        elif kind == 3:
            result = ph.io.load_result(self.folder, self.system)
        else:
            result = ph.resume(self.folder, self.system, t_end=chance.choice([None, 0.61]))
        _ = len(result), result["a.theta"], repr(result), result.energy


def way(result: ph.Result) -> float:
    return result["a.r_P"][-1, 0]


class Ensembles:
    """Folders of an ensemble, changed in the same ways."""

    def __init__(self, folder: Path) -> None:
        self.folder, good = folder / "ensemble", folder / "good"
        mass = ph.connect(
            {"a": ph.PointMass(2.0).discretise()}, [ph.Force("a.P", along=(1, 0, 0), name="push")], plane="xy"
        )
        run = {"t_end": 2.0, "dt": 0.5, "u": {"push": 3.0}, "output": way, "workers": 1}
        ph.ensemble(mass, {"a.mass": ph.random.uniform(1.0, 2.0)}, 20, save=good, **run)
        self.files, self.bombs = mutations.bare(good), [mutations.bomb()]
        self.folder.mkdir()

    def __call__(self, chance: Random) -> None:
        for file in self.folder.iterdir():
            file.unlink()
        for name, data in mutations.damaged(self.files, chance, self.bombs).items():
            (self.folder / name).write_bytes(data)
        found = ph.io.load_ensemble(self.folder)
        _ = len(found), found.missing, str(found), found.parameters


KINDS = {"models": Models, "texts": Texts, "runs": Runs, "ensembles": Ensembles}


def peak() -> int:
    """The most memory that was in use since the last look, in bytes."""
    status = Path("/proc/self/status").read_text()
    most = int(status.split("VmHWM:")[1].split()[0]) * 1024
    Path("/proc/self/clear_refs").write_text("5")
    return most


def tried(case, chance: Random) -> tuple[str, str]:
    try:
        case(chance)
    except SENTENCES as error:
        said = str(error)
        return ("sentence" if said else "no words"), f"{type(error).__name__}: {said[:200]}"
    except BaseException:
        return "FAULT", traceback.format_exc()[-3000:]
    return "right", ""


def main(kind: str, first: int, count: int, folder: Path) -> None:
    warnings.simplefilter("ignore")
    case = KINDS[kind](folder)
    os.chdir(folder)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
    peak()
    for number in range(first, first + count):
        print(json.dumps({"case": number}), flush=True)
        start, begin = peak(), time.perf_counter()
        how, said = tried(case, Random(f"{kind} {number}"))
        seconds, more = time.perf_counter() - begin, max(peak() - start, 0)
        if Path("executed").exists():
            how, said = "FAULT", "code in a file was run"
        print(json.dumps({"case": number, "how": how, "said": said, "seconds": seconds, "bytes": more}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
