"""Ensembles of a mass pushed along x by a constant force: the exact displacement is F t²/(2m), also with large steps."""

import phloat as ph

T = 2.0


def pushed() -> ph.System:
    """A mass of 2 kg in a plane with a force "push" along x."""
    ball = ph.PointMass(2.0).discretise()
    return ph.connect({"ball": ball}, [ph.Force("ball.P", along=(1, 0, 0), name="push")], plane="xy")


def way(result):
    """The displacement along x at the end (m)."""
    return result["ball.r_P"][-1, 0]


def asked(parameters, samples=None, **other):
    """`ph.ensemble` of the pushed mass with default options; `other` replaces options."""
    return ph.ensemble(
        pushed(),
        parameters,
        samples,
        **{"t_end": T, "dt": 0.5, "u": {"push": 3.0}, "output": way, "workers": 1} | other,
    )
