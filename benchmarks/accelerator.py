"""Crank-sliders by the hundred thousand: steps·samples a second of the twin, on whatever device JAX finds.

    python benchmarks/accelerator.py write FOLDER        here: families of crank-sliders, rods of 2 and of 8 elements
    python benchmarks/accelerator.py run FOLDER [BATCH]  there: needs NumPy, JAX and src/phloat alone; prints a row a rod

Young's modulus of the rod and mass of the slider differ from sample to sample; 500 steps of 20 µs; the deflection of mid-span at
the end and the energy balance of every sample come back. Compilation is not counted; the shortest of 3 runs is.
"""

import json
import sys
import time
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

STEPS, DT, RENEW = 500, 2e-5, 20


def write(folder):
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import crank_slider as example

    import phloat as ph
    from phloat.twin.gradients import family

    u = {"crank pin": example.pin}

    def start(system):
        return ph.set_moving(system, ph.place(system, {"rod.r_P": (example.radius, 0.0)}), u=u)

    folder.mkdir(exist_ok=True)
    ranges = {"rod.material.E": (0.15e12, 0.25e12), "slider.mass": (0.028, 0.04)}
    for elements in (2, 8):
        system = example.crank_slider(example.rod.discretise(elements))
        made = family(system, ranges, start, STEPS * DT, dt=DT, u=u, watch={"middle": ("rod", 0.5)})
        made.save(folder / f"crank_slider_{elements}.npz")


def run(folder, batch, renew=RENEW):
    import jax.numpy as jnp
    import numpy as np

    from phloat.twin.batch import program
    from phloat.twin.model import load_family

    def output(motion):
        balance = motion.balance()
        return {
            "middle": motion.displacement("middle")[-1, 1],
            "energy": jnp.ptp(balance) / jnp.max(jnp.abs(motion.energy())),
        }

    rows = []
    for elements in (2, 8):
        made = load_family(folder / f"crank_slider_{elements}.npz")
        rng = np.random.default_rng(0)
        values = made.box[:, 0] + rng.random((batch, 2)) * (made.box[:, 1] - made.box[:, 0])
        begun = time.perf_counter()
        compiled = program(made, output, batch, renew=renew)
        compiling, best = time.perf_counter() - begun, np.inf
        for _ in range(3):
            begun = time.perf_counter()
            out, residual = compiled.run(values)
            best = min(best, time.perf_counter() - begun)
        rows.append(
            {
                "device": jax.devices()[0].device_kind,
                "elements": elements,
                "batch": batch,
                "steps·samples a second": batch * STEPS / best,
                "compilation, s": compiling,
                "energy balance, relative": float(np.max(out["energy"])),
                "residual, round-offs": float(np.max(residual)),
                "failed": int(np.sum(~(residual < 1e4))),
                "mid-span, mean and spread": [float(np.mean(out["middle"])), float(np.std(out["middle"]))],
            }
        )
        print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
    return rows


if __name__ == "__main__":
    verb, folder = sys.argv[1], Path(sys.argv[2])
    if verb == "write":
        write(folder)
    else:
        run(folder, int(sys.argv[3]) if len(sys.argv) > 3 else 1024)
