"""All public names: what `import phloat` offers, loaded when the first of them is asked for."""

from phloat.algebra.layout import Layout
from phloat.algebra.profiles import Polynomial, Polynomials, Profile
from phloat.algebra.version import __version__
from phloat.analysis.campbell import Campbell, campbell
from phloat.analysis.linearise import linearise
from phloat.analysis.pod import pod
from phloat.analysis.sensitivity import (
    FrequencyGradients,
    TransferGradients,
    frequency_gradients,
    transfer_gradients,
)
from phloat.analysis.steady_spin import steady_spin
from phloat.bodies.beams.beam import Beam
from phloat.bodies.beams.section import Circle, Rectangle, Section, Taper, Tube
from phloat.bodies.body import Body, Port
from phloat.bodies.continua.continuum import Continuum
from phloat.bodies.continua.interfaces import Mean, Rigid
from phloat.bodies.continua.patches import Patch
from phloat.bodies.material import KelvinVoigt, Material, ModalDamping, Orthotropic, Rayleigh
from phloat.bodies.plates.laminate import Laminate
from phloat.bodies.plates.plate import Plate
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.bodies.solids.solid import Sheet, Solid
from phloat.bodies.superelements.report import Report as SuperelementReport
from phloat.bodies.superelements.superelement import Superelement
from phloat.control.closed import Certificate, certificate, closed, loop_poles
from phloat.control.energy_shaping import energy_shaping
from phloat.control.exports import from_control, from_scipy, to_control, to_scipy
from phloat.control.feedback import Feedback, lqg
from phloat.control.fmu import to_fmu
from phloat.control.input_shaping import impulses, shaped
from phloat.control.loop_ledger import LoopLedger, loop_ledger
from phloat.control.lqr import Regulator, lqr
from phloat.control.matlab import from_matlab, to_matlab
from phloat.control.observers import Observer, kalman, passive_observer
from phloat.control.passive import Passive
from phloat.control.pid import damping_injection, gain_for, pid, together, wired
from phloat.control.sampled import Sampled
from phloat.control.wires import Wire
from phloat.errors import (
    AccuracyError,
    ClosureError,
    CoarsePatchWarning,
    ConvergenceError,
    CurveRangeWarning,
    DamagedRunWarning,
    FailedSamplesWarning,
    IgnoredWarning,
    InputError,
    JointError,
    JumpsWarning,
    LargeDeformationError,
    LargeDeformationWarning,
    LargeStretchWarning,
    LargeTurnWarning,
    LateralTorsionWarning,
    LooseBodyWarning,
    PointPortWarning,
    PortError,
    ProjectedStartWarning,
    RedundancyWarning,
    SampleTimeWarning,
    SaveError,
    SectionInertiaWarning,
    StructureError,
    ThickBeamWarning,
    UnfeltMotionWarning,
    UnstableEquilibriumWarning,
)
from phloat.fem import shapes
from phloat.fem.mesh import Mesh
from phloat.fem.mesh_files import read_mesh, write_mesh
from phloat.files.answers import ModesAlong, run_modes, run_response, run_sweep
from phloat.files.model import Model, run
from phloat.files.reading import load_model, read_model, save_model
from phloat.files.results import load_result, to_netcdf
from phloat.files.urdf import load_urdf
from phloat.joints.elements import Bushing, Damper, Force, JointDamper, JointSpring, Load, Spring, Torque
from phloat.joints.pairs import Cylindrical, Drive, Planar, Prismatic, Revolute, Slide, Spherical, Universal, Weld
from phloat.joints.tie import Pressure, Tie, Traction
from phloat.linear.balanced import balanced
from phloat.linear.bases import Basis
from phloat.linear.course import LinearResult
from phloat.linear.eliminate import eliminate
from phloat.linear.error import BandError, error
from phloat.linear.interconnect import gyrator, side_by_side, swapped, transformer
from phloat.linear.krylov import krylov
from phloat.linear.modal import craig_bampton, modal
from phloat.linear.modes import Modes, modes
from phloat.linear.participation import EffectiveMasses, effective_masses, participation
from phloat.linear.passive_form import from_state_space
from phloat.linear.phdae import Field, LinearPHDAE
from phloat.linear.ports_report import PortsReport, ports_report
from phloat.linear.project import project
from phloat.linear.pymor import from_pymor, irka, to_pymor
from phloat.linear.reduce import reduce
from phloat.linear.response import Response, response, transmission
from phloat.linear.state_space import StateSpace, descriptor, state_space
from phloat.linear.zeros import PoleZeros, poles, poles_zeros, zeros
from phloat.many.distributions import choice, lognormal, normal, triangular, truncated, uniform
from phloat.many.ensemble import ensemble
from phloat.many.parametric_run import varied
from phloat.many.results import Ensemble, load_ensemble
from phloat.motion.equilibrium import equilibrium, reactions
from phloat.motion.events import Event
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.place import place
from phloat.motion.positions import position
from phloat.motion.result import Books, Result
from phloat.motion.resume import resume
from phloat.motion.saved import load_run, save
from phloat.motion.schemes.generalised_alpha import GeneralisedAlpha
from phloat.motion.schemes.ida import IDA
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.schemes.radau import RadauIIA
from phloat.motion.set_moving import set_moving
from phloat.motion.settle import settle
from phloat.motion.signals import piecewise
from phloat.motion.simulate import simulate
from phloat.system.energy import PowerBalance, effort_defect, energy, power_balance, structure_defects
from phloat.system.jointed import gaps, joint_coordinates
from phloat.system.parameters import changed, parameters
from phloat.system.state import State
from phloat.system.stresses import StressField
from phloat.system.system import System, connect, drive, lock
from phloat.system.terms import Terms, terms
from phloat.system.words.node import FileError
from phloat.view.film import animate
from phloat.view.page.write import show, to_html
from phloat.view.plot import plot
from phloat.view.vtu import to_vtu

__all__ = [
    "IDA",
    "AccuracyError",
    "BandError",
    "Basis",
    "Beam",
    "Body",
    "Books",
    "Bushing",
    "Campbell",
    "Certificate",
    "Circle",
    "ClosureError",
    "CoarsePatchWarning",
    "Composition4",
    "Continuum",
    "ConvergenceError",
    "CurveRangeWarning",
    "Cylindrical",
    "DamagedRunWarning",
    "Damper",
    "Drive",
    "EffectiveMasses",
    "Ensemble",
    "Event",
    "FailedSamplesWarning",
    "Feedback",
    "Field",
    "FileError",
    "Force",
    "FrequencyGradients",
    "GeneralisedAlpha",
    "IgnoredWarning",
    "InputError",
    "JointDamper",
    "JointError",
    "JointSpring",
    "JumpsWarning",
    "KelvinVoigt",
    "Laminate",
    "LargeDeformationError",
    "LargeDeformationWarning",
    "LargeStretchWarning",
    "LargeTurnWarning",
    "LateralTorsionWarning",
    "Layout",
    "Ledger",
    "LinearPHDAE",
    "LinearResult",
    "Load",
    "LoopLedger",
    "LooseBodyWarning",
    "Material",
    "Mean",
    "Mesh",
    "Midpoint",
    "ModalDamping",
    "Model",
    "Modes",
    "ModesAlong",
    "Observer",
    "Orthotropic",
    "Passive",
    "Patch",
    "Planar",
    "Plate",
    "PointMass",
    "PointPortWarning",
    "PoleZeros",
    "Polynomial",
    "Polynomials",
    "Port",
    "PortError",
    "PortsReport",
    "PowerBalance",
    "Pressure",
    "Prismatic",
    "Profile",
    "ProjectedStartWarning",
    "RadauIIA",
    "Rayleigh",
    "Rectangle",
    "RedundancyWarning",
    "Regulator",
    "Response",
    "Result",
    "Revolute",
    "Rigid",
    "RigidBody",
    "SampleTimeWarning",
    "Sampled",
    "SaveError",
    "Section",
    "SectionInertiaWarning",
    "Sheet",
    "Slide",
    "Solid",
    "Spherical",
    "Spring",
    "State",
    "StateSpace",
    "StressField",
    "StructureError",
    "Superelement",
    "SuperelementReport",
    "System",
    "Taper",
    "Terms",
    "ThickBeamWarning",
    "Tie",
    "Torque",
    "Traction",
    "TransferGradients",
    "Tube",
    "UnfeltMotionWarning",
    "Universal",
    "UnstableEquilibriumWarning",
    "Weld",
    "Wire",
    "__version__",
    "animate",
    "balanced",
    "campbell",
    "certificate",
    "changed",
    "choice",
    "closed",
    "connect",
    "craig_bampton",
    "damping_injection",
    "descriptor",
    "drive",
    "effective_masses",
    "effort_defect",
    "eliminate",
    "energy",
    "energy_ledger",
    "energy_shaping",
    "ensemble",
    "equilibrium",
    "error",
    "frequency_gradients",
    "from_control",
    "from_matlab",
    "from_pymor",
    "from_scipy",
    "from_state_space",
    "gain_for",
    "gaps",
    "gyrator",
    "impulses",
    "irka",
    "joint_coordinates",
    "kalman",
    "krylov",
    "linearise",
    "load_ensemble",
    "load_model",
    "load_result",
    "load_run",
    "load_urdf",
    "lock",
    "lognormal",
    "loop_ledger",
    "loop_poles",
    "lqg",
    "lqr",
    "modal",
    "modes",
    "normal",
    "parameters",
    "participation",
    "passive_observer",
    "pid",
    "piecewise",
    "place",
    "plot",
    "pod",
    "poles",
    "poles_zeros",
    "ports_report",
    "position",
    "power_balance",
    "project",
    "reactions",
    "read_mesh",
    "read_model",
    "reduce",
    "response",
    "resume",
    "run",
    "run_modes",
    "run_response",
    "run_sweep",
    "save",
    "save_model",
    "set_moving",
    "settle",
    "shaped",
    "shapes",
    "show",
    "side_by_side",
    "simulate",
    "state_space",
    "steady_spin",
    "structure_defects",
    "swapped",
    "terms",
    "to_control",
    "to_fmu",
    "to_html",
    "to_matlab",
    "to_netcdf",
    "to_pymor",
    "to_scipy",
    "to_vtu",
    "together",
    "transfer_gradients",
    "transformer",
    "transmission",
    "triangular",
    "truncated",
    "uniform",
    "varied",
    "wired",
    "write_mesh",
    "zeros",
]
