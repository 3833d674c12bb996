"""Docstrings of the names that a beginner meets: parameters, what is returned, and an example that runs."""

import doctest

import numpy as np
import pytest

import phloat as ph

BODIES = (
    *("Beam", "Rectangle", "Circle", "Tube", "Section", "Material", "RigidBody", "PointMass", "Plate", "Solid"),
    *("Revolute", "Prismatic", "Weld", "Spherical", "Universal", "Cylindrical", "Slide", "Drive"),
    *("Spring", "Damper", "Bushing", "JointSpring", "JointDamper", "JointFriction", "Force", "Torque", "Load"),
)
VERBS = (
    *("connect", "lock", "drive", "place", "set_moving", "settle", "equilibrium", "reactions", "gaps"),
    *(
        "simulate",
        "Midpoint",
        "Event",
        "position",
        "piecewise",
        "energy",
        "energy_ledger",
        "terms",
        "save",
        "load_result",
    ),
)
LINEAR = (
    *(
        "linearise",
        "modes",
        "poles",
        "zeros",
        "response",
        "project",
        "modal_basis",
        "krylov_basis",
        "reduce_to_tolerance",
    ),
    *("passive_pid", "closed_loop", "lqr", "parameters", "changed", "ensemble", "plot", "to_html", "load_model"),
)
NAMES = BODIES + VERBS + LINEAR
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples(name):
    found = doctest.DocTestParser().get_doctest(getattr(ph, name).__doc__, {"ph": ph, "np": np}, name, None, 0)
    return found, doctest.DocTestRunner(optionflags=FLAGS)


@pytest.mark.parametrize("name", NAMES)
def test_its_docstring_has_parameters_and_an_example_that_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = getattr(ph, name).__doc__
    assert "Parameters\n" in said, "no parameters"
    assert isinstance(getattr(ph, name), type) or "Returns\n" in said, "nothing about what is returned"
    test, runner = examples(name)
    assert test.examples, "no example"
    assert runner.run(test).failed == 0, "its example fails"
