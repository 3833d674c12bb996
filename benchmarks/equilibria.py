"""How long does `equilibrium` take for a cantilever in pieces that is bent far, in a plane and in space?"""

from measure import answer, fastest, measured, row

NOTE = """
Equilibrium: a steel strip of 1 m, 20 × 2 mm, in 16 pieces of one element, clamped, under a force across its tip that turns the tip
by about 1 rad, in a plane and in space; and a strip of 0.5 m, 12 × 3 mm, pulled along both axes of its section. Shortest of five.
"""
CASES = {"in a plane": "xy", "in space": None, "about both axes": None}


def measure(case):
    import phloat as ph

    steel, both = ph.Material(E=2.1e11, rho=7800.0, nu=0.3), case == "about both axes"
    length, section = (0.5, ph.Rectangle(b=0.003, h=0.012)) if both else (1.0, ph.Rectangle(b=0.02, h=0.002))
    pulls = [ph.Force("b.C", along=along, name=name) for name, along in (("y", (0, 1, 0)), ("z", (0, 0, 1)))]
    beam = ph.Beam(length, section, steel).split(16).discretise(1)
    system = ph.connect({"b": beam}, [ph.Weld("ground", "b.P"), *pulls[: 1 + both]], plane=CASES[case])
    u = {"y": 60.0, "z": 60.0} if both else {"y": 3.2 * steel.E * section.I}
    state = ph.place(system)
    return {"seconds": fastest(lambda: ph.equilibrium(system, state, u=u), times=5)}


def rows(quick=False):
    return [
        row(f"equilibrium of 16 pieces, bent far {case}", measured("equilibria.py", case=case)["seconds"], "s")
        for case in list(CASES)[: 1 if quick else 3]
    ]


if __name__ == "__main__":
    answer(measure)
