"""How does a long beam on a ball joint move after a torque and a blow? (Paper, 6.3 and Fig. 10.)

A torque about the vertical turns it for 10 s, then a vertical blow at the tip makes it swing out of the plane. Between and
after the two the energy stands still, and so does the angular momentum about the vertical, 200 × 10 = 2000.
"""

import numpy as np

import phloat as ph

beam = ph.Beam(
    length=141.42,
    section=ph.Section(A=9.0, I=6.75, J=13.5),
    material=ph.Material(E=2.1e6, rho=7.8e-3, nu=0.3),
)
torque = ph.piecewise({0.0: 0.0, 0.2: 200.0, 10.0: 200.0, 10.2: 0.0})
blow = ph.piecewise({15.0: 0.0, 15.2: 100.0, 15.4: 0.0})


def hinged(beam: ph.Body) -> ph.System:
    return ph.connect(
        {"beam": beam},
        joints=[
            ph.Spherical("ground", "beam.P", name="hinge"),
            ph.Torque("beam.P", about=(0, 0, 1), name="torque"),
            ph.Force("beam.C", along=(0, 0, 1), name="blow"),
        ],
    )


def motion(beam: ph.Body, dt: float = 5e-3) -> ph.Result:
    system = hinged(beam)
    return ph.simulate(system, ph.place(system), t_end=50.0, dt=dt, u={"torque": torque, "blow": blow})


def vertical_rate(result: ph.Result) -> np.ndarray:
    """ω_z of the frame at the hinge, in inertial axes."""
    return np.einsum("tj,tj->t", result["beam.A_IB"][:, 2], result["beam.omega"])


result = motion(beam.discretise(2))
turning, swinging = (result.t > 10.2) & (result.t < 15.0), result.t > 15.4
energy = result.energy[turning].mean(), result.energy[swinging].mean()
momentum = result.angular_momentum[result.t > 10.2, 2]
omega_z = vertical_rate(result)

if __name__ == "__main__":
    print(f"energy {energy[0]:.2f} while it turns, {energy[1]:.2f} after the blow")
    print(f"angular momentum about the vertical 2000 + {momentum.max() - 2000:.0e}")
    print(
        f"mean ω_z {omega_z[swinging].mean():.4f}, between {omega_z[swinging].min():.3f} and {omega_z.max():.3f} rad/s"
    )
