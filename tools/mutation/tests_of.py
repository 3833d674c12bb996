"""The fast tests of each module of the physics, the quickest and most telling first."""

_STEP = "tests/identities/test_step.py::test_"
_ORACLE = f"{_STEP}the_step_is_that_of_the_oracle"
_SOFT = f"{_STEP}forces_springs_and_efforts_of_the_step_are_those_of_the_oracle"
STEP = [
    f"{_STEP}forces_are_transposes_of_the_discrete_rows",
    f"{_STEP}tangents_of_bodies_and_rows_are_derivatives",
    f"{_STEP}any_floating_body_steps_as_the_oracle",
    *(
        f"{_STEP}driven_joints_of_the_step_are_those_of_the_oracle[{case}]"
        for case in ("space-rigid-prismatic", "plane-beam-revolute")
    ),
    *(f"{_ORACLE}[{case}]" for case in ("revolute-rigid-None", "slide-beam-xy", "universal-beam-None")),
    *(
        f"{_SOFT}[{case}]"
        for case in (
            "revolute-rigid-None",
            "prismatic-rigid-xy",
            "spherical-rigid-None",
            "revolute-beam-xy",
            "prismatic-beam-xy",
        )
    ),
    "tests/identities/test_few_steps.py",
    "tests/identities/test_kernel_functions.py::test_the_inverse_of_a_tangent_is_one",
]
TERMS = [
    *("tests/identities/test_terms.py", "tests/identities/test_reduced.py", "-k"),
    "lagrange or cloud or stress_follows or newton_and_euler or (gradient and 0) or projection or shape or basis",
]
ROWS = [
    *("tests/identities/test_elements.py", "tests/identities/test_joints.py", "tests/identities/test_terms.py"),
    *("tests/identities/test_few_steps.py", f"{_SOFT}[prismatic-rigid-xy]", f"{_SOFT}[cylindrical-beam-None]"),
    *(f"{_ORACLE}[{case}]" for case in ("planar-rigid-None", "universal-rigid-None")),
    *(
        "-k",
        "oracle or first_step or beside_their_time or of_their_gaps or skew_row or triad_turned or twist_of_its_port",
    ),
]
ROWS[-1] += (
    " or back_to_the_other or do_not_work or balanced_through or named or law or turned_from or counts or forward"
)
LINEAR = ["tests/physics/test_linearise.py"]
PLAIN = "phloat.motion.kernel"  # these run as they are written; the others beside the compiled step
KERNEL = (
    *("body", "tangent", "ports", "own", "rows", "geometric"),
    *("admittance", "inverse", "solve", "ranges", "off", "newton", "step"),
)

TESTS = {
    "phloat.bodies.inertia": TERMS,
    "phloat.bodies.strain": TERMS,
    "phloat.joints.rows": ROWS,
    "phloat.analysis.linearise": LINEAR,
    "phloat.analysis.tangent": LINEAR,
    **{f"{PLAIN}.{name}": STEP for name in KERNEL},
}
