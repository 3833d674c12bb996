"""The numerical frame of a beam is a choice of coordinates: no answer may depend on it beyond the error of the mesh.

200 random beams, supports, loads, damping and spins, each in three frames and on two meshes: poles (frequencies and decay),
reactions and a short motion. Deformations are small, so that what is left between frames is the mesh and, in a spin, the axial
strain (u' + ½ w'² is invariant under rotations but for ½ u'²) and the rotary inertia that Euler–Bernoulli's theory leaves out.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import phloat as ph

TIP = {1.0: ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")}
FRAMES = ("cantilever", "pinned", TIP)
SOFT = ph.Material(E=2.0e9, rho=1200.0, nu=0.3)
MESH = (3, 6)
ROUND_OFF = 1e-7  # relative: of poles of a stiff body by a dense solver


@dataclass(frozen=True)
class Case:
    """What is drawn; everything but the frame and the mesh."""

    theory: str
    length: float
    width: float
    height: float
    tapered: bool
    damping: object
    support: str
    plane: bool
    force: np.ndarray
    axes: str
    rate: float
    axis: np.ndarray

    def section(self, s: float) -> ph.Rectangle:
        thin = 1.0 - 0.4 * s if self.tapered else 1.0
        return ph.Rectangle(self.width, self.height * thin)

    @property
    def sections(self) -> float:
        """What Euler–Bernoulli's theory leaves out in a spin, and its frequencies are off by: ρI_pΩ/2√(EI ρA), the weaker I."""
        section = self.section(0.0)
        I_p, I = section.I + section.I_y, min(section.I, section.I_y)
        off = 0.5 * self.rate * I_p * np.sqrt(SOFT.rho / (SOFT.E * I * section.A))
        return float(off) if self.theory == "euler-bernoulli" else 0.0

    def system(self, frame, elements: int) -> ph.System:
        section = self.section if self.tapered else self.section(0.0)
        beam = ph.Beam(self.length, section, SOFT, theory=self.theory, frame=frame, damping=self.damping)
        joints = {
            "clamped": [ph.Weld("ground", "b.P", name="root")],
            "driven": [ph.Drive("ground", "b.P", of="pose", name="root")],
            "supported": [
                ph.Revolute("ground", "b.P", name="root") if self.plane else ph.Spherical("ground", "b.P", name="root"),
                ph.Slide("ground", "b.C", along=(1, 0, 0)),
            ],
            "free": [],
        }[self.support]
        push = ph.Force("b.C", along=self.force, axes=self.axes, name="push")
        return ph.connect({"b": beam.discretise(elements)}, [*joints, push], plane="xy" if self.plane else None)


def drawn(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    plane = bool(rng.random() < 0.3)
    support = str(rng.choice(["clamped", "supported", "free", "driven"]))
    force = rng.normal(size=3) * [0.2, 1.0, 0.0 if plane else 1.0]
    if support == "supported":
        force = np.array([1.0, 0.0, 0.0])
    damping = [
        ph.Rayleigh(),
        ph.KelvinVoigt(2e-4),
        ph.Rayleigh(mass=0.5, relative_to="P"),
        ph.Rayleigh(mass=0.5, relative_to="body", stiffness=1e-4),
    ][int(rng.integers(4))]
    height = rng.uniform(0.03, 0.08)
    rate = rng.uniform(1.0, 20.0) if support in ("driven", "supported") and not plane else 0.0
    return Case(
        theory=str(rng.choice(["euler-bernoulli", "rayleigh", "timoshenko"])),
        length=rng.uniform(0.6, 1.5),
        width=rng.uniform(0.02, 0.06),
        height=height,
        tapered=bool(rng.random() < 0.4),
        damping=damping,
        support=support,
        plane=plane,
        force=force / np.linalg.norm(force),
        axes=str(rng.choice(["inertial", "body"])),
        rate=rate,
        axis=np.array([1.0, 0.0, 0.0]) if support == "supported" else np.eye(3)[int(rng.integers(3))],
    )


def answers(case: Case, frame, elements: int) -> dict[str, np.ndarray]:
    """Poles, reactions at the root and the path of the tip."""
    system = case.system(frame, elements)
    u = {"push": 2e-5 * SOFT.E * case.width * case.height**3 / 12 / case.length**2}  # turns the tip by about 1e-5
    out = {}
    if case.rate:
        state, given = ph.steady_spin(system, axis=case.axis, rate=case.rate), {}
    elif case.support == "free":
        state, given = ph.place(system), {}
    else:
        state = ph.equilibrium(system, ph.place(system), u=u)
        given = u
        out["reactions"] = np.concatenate([np.ravel(r) for r in ph.reactions(system, state, u=u).values()])
    poles = ph.poles(ph.linearise(system, state, u=given))
    poles = poles[np.abs(poles) > 1e-2]
    out["poles"] = poles[poles.imag > 0.0][np.argsort(np.abs(poles[poles.imag > 0.0]))][:4]
    if not case.rate:
        period = 2 * np.pi / np.abs(out["poles"][0])
        push = ph.piecewise({0.0: 0.0, period: 2.0 * u["push"]})
        motion = ph.simulate(system, ph.place(system), period, dt=period / 64, u={"push": push}, output=8)
        out["path"] = motion.position("b", s=1.0) - motion.position("b", s=1.0)[0]
        out["resultants"] = motion.stress("b", s=0.5)["M_z"]
    return out


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, of the largest value; what is exactly zero in both is not apart."""
    difference = float(np.abs(a - b).max())
    return difference / float(np.abs(a).max()) if difference else 0.0


def frames_agree(seed: int) -> None:
    case = drawn(seed)
    allowed = ROUND_OFF + SOFT.rho * (case.rate * case.length) ** 2 / SOFT.E + case.sections  # strain, in a spin
    coarse, fine = ([answers(case, frame, n) for frame in FRAMES] for n in MESH)
    for name in fine[0]:
        between = [max(apart(mesh[0][name], other[name]) for other in mesh[1:]) for mesh in (coarse, fine)]
        halving = max(apart(f[name], c[name]) for f, c in zip(fine, coarse, strict=True))
        told = f"{name} of {case}: between frames {between}, on halving the mesh {halving:.1e}"
        assert between[0] < 3.0 * halving + allowed, told
        assert between[1] < 0.5 * between[0] + allowed, told


@pytest.mark.parametrize("seed", range(16))
def test_answers_do_not_depend_on_the_frame_of_a_beam(seed):
    frames_agree(seed)


@pytest.mark.long
@pytest.mark.parametrize("tens", range(2, 20))
def test_answers_of_many_beams_do_not_depend_on_their_frames(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        frames_agree(seed)
