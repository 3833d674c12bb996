"""How near do beams come with the spaces of the paper and with local ones, on the same mesh, and what do their modes cost?"""

import sys
import time
from dataclasses import replace

import frames
import numpy as np
from measure import EXAMPLES, answer, measured, row

import phloat as ph

sys.path.insert(0, EXAMPLES)
NOTE = """
Spaces of beams: relative errors with `spaces="paper"`, and beside them with `spaces="local"`, on 4 elements (10 of
the blade). ω₁ and ω₃ are the first and third frequency of a bar of 1 m, 20 × 10 mm, that bends in a plane, beside those of
48 elements with local spaces. Errors of moments are relative to the largest moment.
"""
steel = ph.Material(E=2.1e11, rho=7800.0, nu=0.3)
BAR = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, ports={"mid": 0.5})
EI, UNIT = steel.E * 0.02 * 0.01**3 / 12, np.sqrt(steel.E * 0.01**2 / 12 / steel.rho)
ROUND_OFF = 1e-12
FOOT = [ph.Weld("ground", "b.P")]
ROLLER = [ph.Slide("ground", "b.mid", along=(1, 0, 0))]
HELD = {
    "cantilever": ({}, FOOT),
    "free at both ends": ({}, []),
    "clamped at both ends": ({}, [*FOOT, ph.Weld("ground", "b.C", at=(1, 0, 0))]),
    "height tapered to 0.4": ({"section": lambda s: ph.Rectangle(0.02, 0.01 * (1 - 0.6 * s))}, FOOT),
    "wedge": ({"section": lambda s: ph.Rectangle(0.02, 0.01 * (1 - s))}, FOOT),
    "cone": ({"section": lambda s: ph.Circle(0.01 * (1 - s))}, FOOT),
    "height halved at 0.37": ({"section": lambda s: ph.Rectangle(0.02, 0.01 if s < 0.37 else 0.005)}, FOOT),
    "its own mass at the middle": ({"masses": {0.5: 1.56}}, FOOT),
    "its own mass at the tip": ({"masses": {1.0: 1.56}}, FOOT),
    "a support at the middle": ({}, [*FOOT, *ROLLER]),
}


def clamped(spaces, elements=4, joints=FOOT, **options):
    beam = replace(BAR, spaces=spaces, **options)
    return ph.connect({"b": beam.discretise(elements)}, joints, plane="xy")


def frequencies(spaces, case, elements=4):
    options, joints = HELD[case]
    system = clamped(spaces, elements, joints, **options)
    return ph.modes(ph.linearise(system, ph.place(system))).elastic[:3]


def of_frequencies(case):
    exact = frequencies("local", case, 48)
    return {
        f"{case}: ω{'₁' if k == 0 else '₃'}": [
            float(abs(frequencies(s, case)[k] / exact[k] - 1)) for s in ("paper", "local")
        ]
        for k in (0, 2)
    }


def of_loads(case):
    """Moments of a cantilever under a uniform load (at root and middle), and at the middle where a torque or a force acts."""
    acting = {
        "uniform load": (ph.Load("b", along=(0, 1, 0), name="u"), 0.5, {0.0: 0.5, 0.5: 0.125}),
        "torque at the middle": (ph.Torque("b.mid", about=(0, 0, 1), name="u"), 1.0, {0.5: 0.0}),
        "force at the middle": (ph.Force("b.mid", along=(0, 1, 0), name="u"), 0.5, {0.5: 0.0}),
    }
    (element, largest, exact), out = acting[case], {}
    for spaces in ("paper", "local"):
        system = clamped(spaces, joints=[*FOOT, element])
        state = ph.equilibrium(system, ph.place(system), u={"u": 1.0})
        for s, M in exact.items():
            error = abs(state.stress("b", s)["M_z"] - M) / largest
            out.setdefault(f"{case}: moment at s = {s:g}", []).append(float(error) if error > ROUND_OFF else 0.0)
    return out


def of_spin(case):
    """The first flap frequency of a rotating blade at γ = 8 with 10 elements."""
    out = []
    section, material = ph.Section(A=1.0, I=5e-4, J=1e-3), ph.Material(E=2.8e7, rho=1.2, nu=0.3)
    unit = np.sqrt(1.4e4 / (1.2 * 10.0**4))
    for spaces in ("paper", "local"):
        blade = ph.Beam(10.0, section, material, spaces=spaces).discretise(10)
        rotor = ph.connect({"b": blade}, [ph.Drive("ground", "b.P", of="pose", name="hub")])
        flap = ph.campbell(rotor, np.array([8.0 * unit]), axis=(0, 0, 1), count=2).omega.max() / unit
        out.append(float(abs(flap / 9.256838 - 1)))
    return {"rotating blade, γ = 8: first flap": out}


def of_times(shape):
    """Seconds of the 20 lowest modes of a frame."""
    import space_frame as example

    f, out = frames.SHAPES[shape], []
    beams = example.beams(f.points, f.members, frames.tube, frames.steel)
    for spaces in ("paper", "local"):
        bodies = {name: replace(beam, spaces=spaces).discretise(f.elements) for name, beam in beams.items()}
        system = ph.connect(bodies, example.welds(f.points, f.members, f.feet))
        linear = ph.linearise(system, ph.place(system))
        begin = time.perf_counter()
        ph.modes(linear, 20)
        out.append(time.perf_counter() - begin)
    return {f"frame, {shape}: 20 modes": out}


MEASURED = {
    **dict.fromkeys(HELD, of_frequencies),
    **dict.fromkeys(("uniform load", "torque at the middle", "force at the middle"), of_loads),
    "spin": of_spin,
    **dict.fromkeys(frames.SHAPES, of_times),
}


def measure(case):
    return MEASURED[case](case)


def rows(quick=False):
    cases = ("cantilever", "a small one") if quick else [case for case in MEASURED if case != "a small one"]
    out = []
    for case in cases:
        unit = "s" if case in frames.SHAPES else ""
        numbers = measured("beam_spaces.py", case=case, environment={"PYTHONWARNINGS": "ignore"})
        out += [row(f"beam spaces, {what}", a, unit, b, "local spaces") for what, (a, b) in numbers.items()]
    return out


if __name__ == "__main__":
    answer(measure)
