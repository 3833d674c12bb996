"""All public names: what `import phloat` offers, loaded when the first of them is asked for."""

from phloat.algebra.layout import Layout
from phloat.algebra.profiles import Polynomial, Polynomials, Profile
from phloat.algebra.version import __version__
from phloat.analysis.campbell import Campbell, campbell
from phloat.analysis.linearise import linearise
from phloat.analysis.pod import pod_basis
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
from phloat.control.closed_loop import (
    LoopLedger,
    PassivityCertificate,
    closed_loop,
    loop_ledger,
    loop_poles,
    passivity_certificate,
)
from phloat.control.coupling import Wire
from phloat.control.energy_shaping import energy_shaping
from phloat.control.exports import from_control, from_matlab, from_scipy, to_control, to_matlab, to_scipy
from phloat.control.feedback import Feedback, lqg
from phloat.control.fmu import to_fmu
from phloat.control.input_shaping import shape_input, shaper_impulses
from phloat.control.optimal import Observer, Regulator, kalman, lqr, passive_observer
from phloat.control.passive import (
    PassiveController,
    combine_controllers,
    damping_gain,
    damping_injection,
    passive_controller,
    passive_pid,
)
from phloat.control.sampled import Sampled
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
from phloat.files.model import Model, ModesAlong, run, run_modes, run_response, run_sweep
from phloat.files.model_files import load_model, read_model, save_model
from phloat.files.results import load_result, to_netcdf
from phloat.files.urdf import load_urdf
from phloat.format.node import FileError
from phloat.joints.elements import Bushing, Damper, JointDamper, JointSpring, Spring
from phloat.joints.force_laws import JointFriction, JointLaw, PortLaw
from phloat.joints.loads import Force, Load, Torque
from phloat.joints.pairs import Cylindrical, Drive, Planar, Prismatic, Revolute, Slide, Spherical, Universal, Weld
from phloat.joints.tie import Pressure, Tie, Traction
from phloat.linear.analysis.modes import Modes, modes
from phloat.linear.analysis.participation import (
    EffectiveMasses,
    PortsReport,
    effective_masses,
    participation,
    ports_report,
)
from phloat.linear.analysis.poles_zeros import PoleZeros, poles, poles_zeros, zeros
from phloat.linear.analysis.response import Response, response, transmission
from phloat.linear.form.interconnect import append_systems, gyrator, swap_causality, transformer
from phloat.linear.form.passive import from_state_space
from phloat.linear.form.phdae import Field, LinearPHDAE
from phloat.linear.form.state_space import StateSpace, descriptor, eliminate, state_space
from phloat.linear.reduction.balanced import balanced_basis
from phloat.linear.reduction.basis import Basis, project
from phloat.linear.reduction.krylov import krylov_basis
from phloat.linear.reduction.modal import craig_bampton_basis, modal_basis
from phloat.linear.reduction.pymor import from_pymor, irka_basis, to_pymor
from phloat.linear.reduction.reduce import BandError, reduce_to_tolerance, reduction_error
from phloat.linear.time.march import LinearResult
from phloat.many.distributions import choice, lognormal, normal, triangular, truncated, uniform
from phloat.many.ensemble import ensemble
from phloat.many.parametric_run import varied
from phloat.many.results import Ensemble, load_ensemble
from phloat.motion.initial.equilibrium import equilibrium, reactions
from phloat.motion.initial.place import place
from phloat.motion.initial.set_moving import set_moving
from phloat.motion.initial.settle import settle
from phloat.motion.inputs.drives import position
from phloat.motion.inputs.signals import piecewise
from phloat.motion.ledger import Ledger, energy_ledger
from phloat.motion.result import EnergyAccounts, Result
from phloat.motion.resume import resume
from phloat.motion.run.events import Event
from phloat.motion.saving.folder import load_run, save
from phloat.motion.schemes.generalised_alpha import GeneralisedAlpha
from phloat.motion.schemes.ida import IDA
from phloat.motion.schemes.midpoint import Composition4, Midpoint
from phloat.motion.schemes.radau import RadauIIA
from phloat.motion.simulate import simulate
from phloat.system.energy import PowerBalance, effort_defect, energy, power_balance, structure_defects
from phloat.system.joint_rows import gaps, joint_coordinates
from phloat.system.parameters import changed, parameters
from phloat.system.state import State
from phloat.system.stresses import StressField
from phloat.system.system import System, connect, drive, lock
from phloat.system.terms import Terms, terms
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
    "Bushing",
    "Campbell",
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
    "EnergyAccounts",
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
    "JointFriction",
    "JointLaw",
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
    "PassiveController",
    "PassivityCertificate",
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
    "PortLaw",
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
    "append_systems",
    "balanced_basis",
    "campbell",
    "changed",
    "choice",
    "closed_loop",
    "combine_controllers",
    "connect",
    "craig_bampton_basis",
    "damping_gain",
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
    "frequency_gradients",
    "from_control",
    "from_matlab",
    "from_pymor",
    "from_scipy",
    "from_state_space",
    "gaps",
    "gyrator",
    "irka_basis",
    "joint_coordinates",
    "kalman",
    "krylov_basis",
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
    "modal_basis",
    "modes",
    "normal",
    "parameters",
    "participation",
    "passive_controller",
    "passive_observer",
    "passive_pid",
    "passivity_certificate",
    "piecewise",
    "place",
    "plot",
    "pod_basis",
    "poles",
    "poles_zeros",
    "ports_report",
    "position",
    "power_balance",
    "project",
    "reactions",
    "read_mesh",
    "read_model",
    "reduce_to_tolerance",
    "reduction_error",
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
    "shape_input",
    "shaper_impulses",
    "shapes",
    "show",
    "simulate",
    "state_space",
    "steady_spin",
    "structure_defects",
    "swap_causality",
    "terms",
    "to_control",
    "to_fmu",
    "to_html",
    "to_matlab",
    "to_netcdf",
    "to_pymor",
    "to_scipy",
    "to_vtu",
    "transfer_gradients",
    "transformer",
    "transmission",
    "triangular",
    "truncated",
    "uniform",
    "varied",
    "write_mesh",
    "zeros",
]
