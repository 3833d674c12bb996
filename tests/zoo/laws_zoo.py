"""Laws written as functions that several tests use."""

from dataclasses import dataclass, field

import phloat as ph
from phloat.joints.scalar import where


@dataclass(frozen=True)
class HuntCrossley(ph.JointLaw):
    """A contact beyond `limit`, k d^(3/2) (1 + a v) (Hunt and Crossley, J. Appl. Mech. 42, 1975)."""

    k: float = field(kw_only=True)
    limit: float = field(kw_only=True)
    a: float = field(kw_only=True)

    @staticmethod
    def spring(x, k, limit, a):
        d = where(x > limit, x - limit, 0.0)
        return k * d**1.5, 1.5 * k * d**0.5, 0.4 * k * d**2.5

    @staticmethod
    def damper(x, v, k, limit, a):
        d = where(x > limit, x - limit, 0.0)
        return k * d**1.5 * a * v, k * d**1.5 * a
