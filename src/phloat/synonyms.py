"""Words that people try, and the names that mean the same or the nearest here; for messages about unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MEANINGS = {  # word: names, the nearest in meaning first
    # quantities of runs and states
    "torque moment": "torque effort lam drive pid",
    "force reaction load multiplier lambda": "force effort lam reactions lumped",
    "effort input command u": "effort",
    "velocity speed vel": "velocity v_P rate angle_rate slide_rate omega",
    "rate angular_velocity angular_rate spin w": "omega rate angle_rate slide_rate",
    "acceleration acc accel": "acceleration",
    "position pos x xyz translation location origin": "position r_P slide",
    "rotation orientation attitude euler quaternion phi angles roll yaw pitch": "theta A_IB angle A",
    "angle theta q": "angle theta slide A_IB",
    "displacement deflection deformation u w_f": "u_f eta slide",
    "stress strain sigma": "sigma",
    "kinetic potential elastic power work": "energy energy_ledger",
    # numbers of parts
    "young youngs young_modulus youngs_modulus modulus elasticity stiffness_modulus e_modulus": "E",
    "density": "rho",
    "poisson poisson_ratio poissons_ratio mu": "nu",
    "height": "h",
    "width": "b",
    "area": "A",
    "radius r d": "diameter circle tube",
    "wall_thickness": "wall",
    "second_moment second_moment_of_area moment_of_inertia": "I inertia",
    "m weight": "mass",
    "j moments_of_inertia inertia_tensor": "inertia",
    "com cog center_of_mass centre centre_of_mass": "center",
    "k spring_constant spring": "stiffness joint_spring",
    "c d damping_constant viscous damper": "damping joint_damper",
    "cross_section profile": "section",
    "l size": "length",
    "direction dir along": "axis along",
    "position_on_ground location offset": "at",
    "nelements n_elements n mesh": "elements",
    "time duration tend end t": "t_end",
    "timestep time_step step h": "dt",
    "connections constraints": "joints",
    "initial initial_conditions state": "start place",
    # parts and functions
    "hinge pin pivot revolutejoint rotational": "Revolute",
    "ball ball_joint balljoint socket": "Spherical",
    "fixed fix fixedjoint clamp rigid_joint": "Weld",
    "slider prismaticjoint rail linear translational": "Prismatic Slide",
    "cardan hooke": "Universal",
    "motor actuator": "servo drive torque",
    "rod bar link": "Beam",
    "shell membrane": "Plate Sheet",
    "fem": "Solid",
    "pointmass particle": "PointMass point_mass",
    "rigid rigidbody": "RigidBody rigid_body",
    "solve run integrate solve_ivp simulation": "simulate",
    "eig eigs eigenvalues eigenmodes frequencies natural_frequencies eigenfrequencies modal": "modes poles",
    "bode frf frequency_response tf transfer_function": "response",
    "assemble build make model mechanism": "connect System",
    "linearize linear": "linearise",
    "animation movie film video": "animate",
    "static statics": "equilibrium",
    "inverse_dynamics": "reactions drive",
    "optimize optimise minimize": "optimise twin with_parameters",
    "pid controller feedback": "passive_pid servo lqr",
    "sweep monte_carlo parameter_study": "ensemble",
    "save dump": "save_result save_model",
    "load read open": "load_result load_model",
    "view visualise visualize draw": "show plot",
}
SIMILAR = 0.85  # of letters, to be named beside names of the same meaning
TABLE = {word: names.split() for words, names in MEANINGS.items() for word in words.split()}


def suggestions(name: object, candidates: Iterable[str]) -> list[str]:
    """Up to three names that may be meant: equal but for case, then of the same meaning, then with similar letters."""
    names, text = list(candidates), str(name)
    same = [c for c in names if c.lower() == text.lower()] or _of_same_meaning(text, names)
    same = same or [c for c in names if c.lower().endswith(f".{text.lower()}")]  # without its owner
    similar = difflib.get_close_matches(text, names, n=3, cutoff=SIMILAR if same else 0.6)
    return list(dict.fromkeys([*same, *similar]))[:3]


def _of_same_meaning(name: str, names: list[str]) -> list[str]:
    """Names of the same owner whose last word means the same: "rod.density", "rod.material.rho"."""
    owner, _, word = name.rpartition(".")
    out = []
    for meaning in TABLE.get(_key(word), ()):
        mine = [c for c in names if _key(c.rpartition(".")[2]) == _key(meaning)]
        out += [c for c in mine if not owner or c.startswith(f"{owner}.")]
    return [c for c in out if c != name]


def _key(word: str) -> str:
    return word.lower().replace(" ", "_").replace("-", "_")
