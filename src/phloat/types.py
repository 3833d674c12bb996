"""Classes of what functions return, for annotations and isinstance."""

from phloat.analysis.campbell import Campbell as Campbell
from phloat.analysis.sensitivity import FrequencyGradients as FrequencyGradients, TransferGradients as TransferGradients
from phloat.bodies.continua.stress_continuum import StressContinuum as StressContinuum
from phloat.bodies.superelements.superelement import SuperelementReport as SuperelementReport
from phloat.linear.analysis.modes import Modes as Modes
from phloat.linear.analysis.participation import EffectiveMasses as EffectiveMasses, PortsReport as PortsReport
from phloat.linear.analysis.poles_zeros import PoleZeros as PoleZeros
from phloat.linear.analysis.response import Response as Response
from phloat.linear.form.fields import Field as Field
from phloat.linear.time.march import LinearResult as LinearResult
from phloat.many.limit_search import LimitSearch as LimitSearch
from phloat.many.results import Ensemble as Ensemble
from phloat.motion.ledger import Ledger as Ledger
from phloat.motion.result import EnergyAccounts as EnergyAccounts
from phloat.system.boundary_field import BoundaryField as BoundaryField
from phloat.system.dirac import DiracStructure as DiracStructure
from phloat.system.momenta import Momenta as Momenta
from phloat.system.stresses import StressField as StressField
from phloat.system.terms import PowerBalance as PowerBalance, Terms as Terms
