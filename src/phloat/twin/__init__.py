"""The step once more in JAX: ensembles on accelerators, gradients of runs.

`exported`, `family`, `gradient` and `optimise` start from a `System`; everything else here needs no more than NumPy and JAX, so
that a machine with nothing else can run it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phloat.twin.batch import Program, Runs, ensemble, program
    from phloat.twin.design import Design, optimise
    from phloat.twin.export import exported
    from phloat.twin.families import family
    from phloat.twin.gradients import Problem, gradient
    from phloat.twin.model import Family, Model, load_family, load_model
    from phloat.twin.motion import Motion
    from phloat.twin.run import simulate

__all__ = [
    "Design",
    "Family",
    "Model",
    "Motion",
    "Problem",
    "Program",
    "Runs",
    "ensemble",
    "exported",
    "family",
    "gradient",
    "load_family",
    "load_model",
    "optimise",
    "program",
    "simulate",
]

WHERE = {
    "batch": ("Program", "Runs", "ensemble", "program"),
    "design": ("Design", "optimise"),
    "export": ("exported",),
    "families": ("family",),
    "gradients": ("Problem", "gradient"),
    "model": ("Family", "Model", "load_family", "load_model"),
    "motion": ("Motion",),
    "run": ("simulate",),
}


def __getattr__(name: str) -> Any:
    module = next((module for module, names in WHERE.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module 'phloat.twin' has no attribute {name!r}")
    try:
        return getattr(import_module(f"phloat.twin.{module}"), name)
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise
        raise ModuleNotFoundError("the twin needs JAX: pip install 'phloat[jax]'", name="jax") from None
