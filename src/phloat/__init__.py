"""phloat: port-Hamiltonian flexible multibody dynamics."""

from phloat.algebra.layout import Layout
from phloat.analysis.linearise import linearise
from phloat.bodies.beam import Beam
from phloat.bodies.body import Body, Port
from phloat.bodies.material import KelvinVoigt, Material, Rayleigh
from phloat.bodies.rigid import PointMass, RigidBody
from phloat.bodies.section import Circle, Rectangle, Section, Tube
from phloat.errors import (
    AccuracyError,
    ClosureError,
    InputError,
    JointError,
    LooseBodyWarning,
    PortError,
    RedundancyWarning,
    StructureError,
)
from phloat.joints.pairs import Drive, Prismatic, Revolute, Slide, Spherical, Weld
from phloat.linear.eliminate import eliminate
from phloat.linear.interconnect import gyrator, side_by_side, swapped, transformer
from phloat.linear.modes import Modes, modes
from phloat.linear.phdae import Field, LinearPHDAE
from phloat.linear.response import Response, response
from phloat.motion.place import place
from phloat.system.energy import PowerBalance, effort_defect, energy, power_balance, structure_defects
from phloat.system.jointed import gaps, joint_coordinates
from phloat.system.state import State
from phloat.system.system import System, connect, drive, lock
from phloat.system.terms import Terms, terms
from phloat.view.plot import plot

__version__ = "0.1.0"

__all__ = [
    "AccuracyError",
    "Beam",
    "Body",
    "Circle",
    "ClosureError",
    "Drive",
    "Field",
    "InputError",
    "JointError",
    "KelvinVoigt",
    "Layout",
    "LinearPHDAE",
    "LooseBodyWarning",
    "Material",
    "Modes",
    "PointMass",
    "Port",
    "PortError",
    "PowerBalance",
    "Prismatic",
    "Rayleigh",
    "Rectangle",
    "RedundancyWarning",
    "Response",
    "Revolute",
    "RigidBody",
    "Section",
    "Slide",
    "Spherical",
    "State",
    "StructureError",
    "System",
    "Terms",
    "Tube",
    "Weld",
    "connect",
    "drive",
    "effort_defect",
    "eliminate",
    "energy",
    "gaps",
    "gyrator",
    "joint_coordinates",
    "linearise",
    "lock",
    "modes",
    "place",
    "plot",
    "power_balance",
    "response",
    "side_by_side",
    "structure_defects",
    "swapped",
    "terms",
    "transformer",
]
