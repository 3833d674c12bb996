"""Parameters that are not there, and values that cannot be."""

import numpy as np
import pytest
from bodies_zoo import beam

import phloat as ph
from phloat.many.family import family


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
    "unknown": ({"rod.materal.E": 1.0}, "no parameter 'rod.materal.E' (did you mean 'rod.material.E'"),
    "pattern": ({"*.modulus": 1.0}, "no parameter '*.modulus'; there are: rod.length"),
    "negative": ({"rod.material.E": -1.0}, "with rod.material.E = -1: Young's modulus E is -1; it must be positive"),
    "both": (
        {"rod.material.E": 1e9, "rod.material.nu": 0.6},
        "with rod.material.E = 1e+09, rod.material.nu = 0.6: Poisson's ratio nu is 0.6",
    ),
    "nan": ({"slider.mass": np.nan}, "parameter 'slider.mass' holds NaN"),
    "word": ({"slider.mass": "heavy"}, "parameter 'slider.mass' is 'heavy'; it must be a number"),
    "twice": (
        {"*.mass": 1.0, "slider.mass": 2.0},
        "parameter 'slider.mass' is given twice, by '*.mass' and by 'slider.mass'",
    ),
    "axis": ({"hinge.axis[0]": 1.0}, "with hinge.axis[0] = 1: hinge turns about (0.707107, 0, 0.707107); in the plane"),
    "spring": (
        {"spring.stiffness": -3.0},
        "with spring.stiffness = -3: stiffness of spring is -3; it must not be negative",
    ),
    "mapping": ([("slider.mass", 1.0)], "parameters is list; it must be a mapping {name: value}"),
    "number": ({3: 1.0}, "no parameter 3"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_a_sentence_says_which_parameter_and_why(case):
    values, sentence = CASES[case]
    with pytest.raises(ph.InputError) as error:
        ph.changed(system(), values)
    assert sentence in str(error.value), str(error.value)


def test_a_port_that_moves_may_cut_other_elements_and_states_say_so():
    old = system()
    new = ph.changed(old, {"rod.ports.mid": 0.3})
    with pytest.raises(
        ph.InputError, match=r"the state is of other bodies: rod\.eta has shape \(8,\) there, \(12,\) here"
    ):
        ph.energy(new, ph.place(old))


def test_functions_are_no_numbers():
    arm = beam(section=lambda s: ph.Rectangle(0.03, 0.05 * (1 - 0.4 * s))).discretise(2)
    with pytest.raises(
        ph.InputError, match=r"arm\.section is a function, not a number: write it as a frozen dataclass"
    ):
        ph.changed(ph.connect({"arm": arm}), {"arm.section.h": 0.04})


def test_only_systems_have_parameters():
    with pytest.raises(ph.InputError, match="Body is no System"):
        ph.parameters(beam().discretise(2))


def test_a_family_says_what_is_wrong_at_once_or_with_its_sample():
    with pytest.raises(ph.InputError, match=r"no parameter 'rod\.mass'"):
        family(system(), ("rod.mass",))
    with pytest.raises(ph.InputError, match="write a tuple of names"):
        family(system(), "rod.material.E")
    some = family(system(), ("rod.material.E", "slider.mass"))
    with pytest.raises(ph.InputError, match=r"with rod\.material\.E = -3: Young's modulus"):
        some.system((-3.0, 1.0))
    with pytest.raises(ph.InputError, match="1 values for 2 parameters"):
        some.system((1.0,))
    with pytest.raises(ph.InputError, match=r"'slider\.mass' holds NaN"):
        some.system((1e9, np.nan))


def test_bodies_put_together_by_hand_have_no_parameters():
    from bodies_zoo import Cloud

    assert not any(name.startswith("cloud") for name in ph.parameters(ph.connect({"cloud": Cloud(3).discretise()})))
