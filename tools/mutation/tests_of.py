"""For each module of the physics the tests that its mutants must fail, quick tests first."""

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
_SMALL = "tests/physics/test_linearise.py::test_"
LINEAR = [
    "tests/identities/test_small_motion.py",
    *(
        f"{_SMALL}{test}"
        for test in (
            "a_pendulum_swings_or_falls_at_its_rate",
            "a_double_pendulum_has_the_frequencies_of_the_textbook",
            "a_mass_on_a_spring_and_a_preloaded_string",
            "a_free_rotor_keeps_its_rigid_motions_and_wobbles_at_eulers_rate",
            "the_rotating_cantilever_has_the_frequencies_of_the_table[2]",
            "without_stiffening_flap_stays_and_lag_turns_unstable",
            "hanging_raises_and_standing_lowers_the_frequency",
            "the_nonlinear_motion_comes_to_the_linear_one_with_the_amplitude[sagging arm]",
            "the_nonlinear_motion_comes_to_the_linear_one_with_the_amplitude[crank-slider]",
        )
    ),
    "tests/faults/test_linear_analysis.py::test_an_open_joint_is_named_with_its_gap",
    "tests/physics/test_follower_loads.py::test_a_follower_load_is_no_energy",
    "tests/faults/test_joints_that_repeat.py::test_the_warning_points_at_the_line_that_asked",
]
PLAIN = "phloat.motion.kernel"  # mutants of these modules run uncompiled, those of other modules with the compiled step
KERNEL = (
    *("body", "tangent", "ports", "port_tangent", "rows", "partition", "newton", "step"),
    *("machine.inverse", "machine.block_solve", "machine.dense"),
)

ROUND_OFFS = ["tests/identities/test_round_offs.py"]
FEW = "tests/identities/test_few_steps.py::test_"
MARCH = [
    "tests/identities/test_iterations.py",
    "tests/identities/test_march_of_steps.py",
    f"{FEW}reactions_are_means_of_the_steps_beside_their_time",
    f"{FEW}a_driven_frame_goes_where_it_is_told",
    f"{FEW}the_books_close_from_the_first_step_on[xy-rate]",
    f"{FEW}the_books_close_from_the_first_step_on[xy-pin]",
    f"{FEW}the_steps_before_tell_where_the_next_one_goes",
    f"{FEW}factors_are_kept_while_they_serve",
    f"{FEW}a_spring_on_a_hinge_counts_turns_a_third_at_a_step[xy]",
    f"{_ORACLE}[revolute-rigid-None]",
]
CORRECTED = [
    "tests/identities/test_corrections.py",
    "tests/identities/test_iterations.py",
    *(
        f"{_STEP}{test}[{case}]"
        for case in ("revolute-rigid-None", "prismatic-rigid-xy", "slide-beam-xy")
        for test in ("forces_are_transposes_of_the_discrete_rows", "tangents_of_bodies_and_rows_are_derivatives")
    ),
    f"{FEW}the_steps_before_tell_where_the_next_one_goes",
    f"{FEW}a_driven_frame_goes_where_it_is_told",
    f"{FEW}the_books_close_from_the_first_step_on[xy-rate]",
    f"{FEW}a_spring_by_a_table_holds_what_leans_on_it",
    f"{_ORACLE}[revolute-rigid-None]",
    f"{_SOFT}[prismatic-rigid-xy]",
]

TESTS = {
    "phloat.bodies.inertia": TERMS,
    "phloat.bodies.strain": TERMS,
    "phloat.joints.rows": ROWS,
    "phloat.analysis.linearise": LINEAR,
    "phloat.analysis.tangent": LINEAR,
    **{f"{PLAIN}.{name}": STEP for name in KERNEL},
    f"{PLAIN}.step": MARCH,
    f"{PLAIN}.newton": [*CORRECTED, *ROUND_OFFS],
    f"{PLAIN}.partition": CORRECTED,
}
