"""Reduction of linear systems: bases of fewer coordinates, projection on them, and its error."""

from phloat.analysis.pod import pod_basis as pod_basis
from phloat.linear.reduction.balanced import balanced_basis as balanced_basis
from phloat.linear.reduction.basis import Basis as Basis
from phloat.linear.reduction.krylov import krylov_basis as krylov_basis
from phloat.linear.reduction.modal import craig_bampton_basis as craig_bampton_basis, modal_basis as modal_basis
from phloat.linear.reduction.projection import project as project
from phloat.linear.reduction.pymor import irka_basis as irka_basis
from phloat.linear.reduction.reduce import (
    BandError as BandError,
    reduce_to_tolerance as reduce_to_tolerance,
    reduction_error as reduction_error,
)
