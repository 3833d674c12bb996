"""Parameters that are not there, and values that cannot be."""

import numpy as np
import pytest
from bodies_zoo import beam
from messages import raises

import phloat as ph
from phloat.many.parametric_run import ParametricRun
from phloat.system.parameters import parameter_table


def system() -> ph.System:
    return ph.connect(
        {"rod": beam(ports={"mid": 0.5}).discretise(2), "slider": ph.PointMass(1.0).discretise()},
        [
            ph.Revolute("ground", "rod.P", name="hinge"),
            ph.Revolute("rod.C", "slider.P"),
            ph.Spring("slider.P", "ground", stiffness=3.0, name="spring"),
        ],
        plane="xy",
    )


CASES = {
    "unknown": ({"rod.materal.E": 1.0}, "'rod.materal.E'"),
    "pattern": ({"*.modulus": 1.0}, "'*.modulus'"),
    "negative": ({"rod.material.E": -1.0}, "rod.material.E"),
    "both": (
        {"rod.material.E": 1e9, "rod.material.nu": 0.6},
        "rod.material.nu",
    ),
    "nan": ({"slider.mass": np.nan}, "'slider.mass'"),
    "word": ({"slider.mass": "heavy"}, "'heavy'"),
    "twice": (
        {"*.mass": 1.0, "slider.mass": 2.0},
        "'*.mass'",
    ),
    "axis": ({"hinge.axis[0]": 1.0}, "hinge.axis[0]"),
    "spring": (
        {"spring.stiffness": -3.0},
        "spring.stiffness",
    ),
    "mapping": ([("slider.mass", 1.0)], "parameters"),
    "number": ({3: 1.0}, "3"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_sentence_says_which_parameter_and_why(case):
    values, name = CASES[case]
    with raises(ph.errors.InputError, name):
        ph.with_parameters(system(), values)


def test_a_port_that_moves_may_cut_other_elements_and_states_say_so():
    old = system()
    new = ph.with_parameters(old, {"rod.ports.mid": 0.3})
    with raises(ph.errors.InputError, "rod.eta"):
        ph.energy(new, ph.place(old))


def test_functions_are_no_numbers():
    arm = beam(section=lambda s: ph.Rectangle(0.03, 0.05 * (1 - 0.4 * s))).discretise(2)
    with raises(ph.errors.InputError, "'arm.section.h'"):
        ph.with_parameters(ph.connect({"arm": arm}), {"arm.section.h": 0.04})


def test_only_systems_have_parameters():
    with raises(ph.errors.InputError, "Body"):
        ph.parameters(beam().discretise(2))


def test_a_family_says_what_is_wrong_at_once_or_with_its_sample():
    with raises(ph.errors.InputError, "'rod.mass'"):
        parameter_table(system()).resolve(("rod.mass",))
    run = ParametricRun(system(), ("rod.material.E", "slider.mass"), None, {"t_end": 1.0, "dt": 0.1})
    with raises(ph.errors.InputError, "rod.material.E", "-3"):
        run.result(np.array([-3.0, 1.0]))
    with raises(ph.errors.InputError, "'slider.mass'"):
        ph.with_parameters(system(), {"rod.material.E": 1e9, "slider.mass": np.nan})


def test_bodies_put_together_by_hand_have_no_parameters():
    from bodies_zoo import Cloud

    assert not any(name.startswith("cloud") for name in ph.parameters(ph.connect({"cloud": Cloud(3).discretise()})))
