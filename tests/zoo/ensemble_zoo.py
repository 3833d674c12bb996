"""A mass pushed along x: it comes to F t²/(2m), exactly, with any step."""

import phloat as ph

T = 2.0


def pushed() -> ph.System:
    ball = ph.PointMass(2.0).discretise()
    return ph.connect({"ball": ball}, [ph.Force("ball.P", along=(1, 0, 0), name="push")], plane="xy")


def way(result):
    return result["ball.r_P"][-1, 0]


def asked(parameters, samples=None, **other):
    """An ensemble of pushed masses."""
    return ph.ensemble(
        pushed(),
        parameters,
        samples,
        **{"t_end": T, "dt": 0.5, "u": {"push": 3.0}, "output": way, "workers": 1} | other,
    )
