"""Docstrings of the public names that a beginner needs have parameters, returned values and an example that runs."""

import doctest
from operator import attrgetter

import numpy as np
import pytest

import phloat as ph

BODIES = (
    *("Beam", "Rectangle", "Circle", "Tube", "Section", "Material", "RigidBody", "PointMass", "Plate", "Solid"),
    *("Revolute", "Prismatic", "Weld", "Spherical", "Universal", "Cylindrical", "Slide", "Drive"),
    *("Spring", "Damper", "Bushing", "JointSpring", "JointDamper", "JointFriction", "Force", "Torque", "Load"),
)
VERBS = (
    *("connect", "tie", "wire", "lock", "drive", "place", "set_moving", "settle", "equilibrium", "reactions", "gaps"),
    *(
        "simulate",
        "Midpoint",
        "Event",
        "prescribed_position",
        "piecewise",
        "energy",
        "energy_ledger",
        "terms",
        "momenta",
        "dirac_structure",
        "io.save_result",
        "io.load_result",
    ),
)
LINEAR = (
    *(
        "linearise",
        "modes",
        "poles",
        "zeros",
        "response",
        "LinearPHDAE.split_port",
        "io.to_titop",
        "io.connect_titop",
        "reduction.project",
        "reduction.modal_basis",
        "reduction.krylov_basis",
        "reduction.reduce_to_tolerance",
    ),
    *("control.passive_pid", "control.closed_loop", "control.lqr", "parameters", "with_parameters", "ensemble", "plot"),
    *("find_smallest", "to_html", "io.load_model"),
)
NAMES = BODIES + VERBS + LINEAR
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(name):
    """The examples in the docstring of a public name, and their runner."""
    found = doctest.DocTestParser().get_doctest(attrgetter(name)(ph).__doc__, {"ph": ph, "np": np}, name, None, 0)
    return found, doctest.DocTestRunner(optionflags=FLAGS)


@pytest.mark.parametrize("name", NAMES)
def test_its_docstring_has_parameters_and_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    thing = attrgetter(name)(ph)
    said = thing.__doc__
    assert "Parameters\n" in said, "no parameters"
    assert isinstance(thing, type) or "Returns\n" in said, "nothing about what is returned"
    test, runner = examples(name)
    assert test.examples, "no example"
    assert runner.run(test).failed == 0, "its example fails"
