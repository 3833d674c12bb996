"""The public names of phloat itself; `phloat.control`, `errors`, `io`, `random`, `reduction` and `types` have the others."""

from phloat.algebra.layout import Layout as Layout
from phloat.algebra.profiles import Polynomial as Polynomial, Polynomials as Polynomials, Profile as Profile
from phloat.algebra.version import __version__ as __version__
from phloat.analysis.campbell import campbell as campbell
from phloat.analysis.linearise import linearise as linearise
from phloat.analysis.sensitivity import (
    frequency_gradients as frequency_gradients,
    transfer_gradients as transfer_gradients,
)
from phloat.analysis.steady_spin import steady_spin as steady_spin
from phloat.bodies.beams.beam import Beam as Beam
from phloat.bodies.beams.section import (
    Circle as Circle,
    Rectangle as Rectangle,
    Section as Section,
    Taper as Taper,
    Tube as Tube,
)
from phloat.bodies.body import Body as Body, Port as Port
from phloat.bodies.continua.continuum import Continuum as Continuum
from phloat.bodies.continua.mesh_body import Mean as Mean, Patch as Patch, Rigid as Rigid
from phloat.bodies.material import (
    KelvinVoigt as KelvinVoigt,
    Material as Material,
    ModalDamping as ModalDamping,
    Orthotropic as Orthotropic,
    Rayleigh as Rayleigh,
)
from phloat.bodies.plates.laminate import Laminate as Laminate
from phloat.bodies.plates.plate import Plate as Plate
from phloat.bodies.rigid import PointMass as PointMass, RigidBody as RigidBody
from phloat.bodies.solids.solid import Sheet as Sheet, Solid as Solid
from phloat.bodies.superelements.superelement import Superelement as Superelement
from phloat.control.servo import servo as servo
from phloat.fem.mesh import Mesh as Mesh
from phloat.joints.elements import (
    Bushing as Bushing,
    Damper as Damper,
    JointDamper as JointDamper,
    JointFriction as JointFriction,
    JointLaw as JointLaw,
    JointSpring as JointSpring,
    PortLaw as PortLaw,
    Spring as Spring,
)
from phloat.joints.loads import (
    BodyForce as BodyForce,
    Force as Force,
    Load as Load,
    Pressure as Pressure,
    Torque as Torque,
    Traction as Traction,
)
from phloat.joints.pairs import (
    Cylindrical as Cylindrical,
    Drive as Drive,
    Planar as Planar,
    Prismatic as Prismatic,
    Revolute as Revolute,
    Slide as Slide,
    Spherical as Spherical,
    Universal as Universal,
    Weld as Weld,
)
from phloat.joints.tie import Tie as Tie
from phloat.linear.analysis.modes import modes as modes
from phloat.linear.analysis.participation import (
    effective_masses as effective_masses,
    participation as participation,
    ports_report as ports_report,
)
from phloat.linear.analysis.poles_zeros import poles as poles, poles_zeros as poles_zeros, zeros as zeros
from phloat.linear.analysis.response import response as response, transmission as transmission
from phloat.linear.form.interconnect import (
    append_systems as append_systems,
    gyrator as gyrator,
    swap_causality as swap_causality,
    transformer as transformer,
)
from phloat.linear.form.passive import from_state_space as from_state_space
from phloat.linear.form.phdae import LinearPHDAE as LinearPHDAE
from phloat.linear.form.state_space import (
    StateSpace as StateSpace,
    descriptor as descriptor,
    eliminate as eliminate,
    state_space as state_space,
)
from phloat.linear.time.gauss import GaussLegendre as GaussLegendre
from phloat.linear.time.verlet import StormerVerlet as StormerVerlet
from phloat.many.ensemble import ensemble as ensemble
from phloat.many.limit_search import find_largest as find_largest, find_smallest as find_smallest
from phloat.many.parametric_run import parametric as parametric
from phloat.motion.initial.equilibrium import equilibrium as equilibrium, reactions as reactions
from phloat.motion.initial.place import place as place
from phloat.motion.initial.set_moving import set_moving as set_moving
from phloat.motion.initial.settle import settle as settle
from phloat.motion.inputs.drives import prescribed_position as prescribed_position
from phloat.motion.inputs.moves import (
    move as move,
    polynomial as polynomial,
    spline as spline,
    trapezoid as trapezoid,
)
from phloat.motion.inputs.signals import piecewise as piecewise
from phloat.motion.ledger import energy_ledger as energy_ledger
from phloat.motion.result import Result as Result
from phloat.motion.resume import resume as resume
from phloat.motion.run.task import Event as Event
from phloat.motion.schemes.generalised_alpha import GeneralisedAlpha as GeneralisedAlpha
from phloat.motion.schemes.ida import IDA as IDA
from phloat.motion.schemes.midpoint import Composition4 as Composition4, Midpoint as Midpoint
from phloat.motion.schemes.radau import RadauIIA as RadauIIA
from phloat.motion.simulate import simulate as simulate
from phloat.system.boundary_field import boundary_field as boundary_field
from phloat.system.connect import (
    Wire as Wire,
    connect as connect,
    drive as drive,
    lock as lock,
    wire as wire,
)
from phloat.system.dirac import dirac_structure as dirac_structure
from phloat.system.joint_rows import gaps as gaps, joint_coordinates as joint_coordinates
from phloat.system.momenta import momenta as momenta
from phloat.system.parameters import parameters as parameters, with_parameters as with_parameters
from phloat.system.state import State as State
from phloat.system.system import System as System
from phloat.system.terms import (
    effort_defect as effort_defect,
    energy as energy,
    power_balance as power_balance,
    structure_defects as structure_defects,
    terms as terms,
)
from phloat.system.tied_bodies import tie as tie
from phloat.view.mechanism import animate as animate
from phloat.view.page.write import show as show, to_html as to_html
from phloat.view.plot import plot as plot
