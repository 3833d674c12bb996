"""Schemes of linear systems refuse what they cannot do, and say what can."""

from dataclasses import replace

import numpy as np
import pytest
from linear_zoo import random_system, start

import phloat as ph
from phloat.algebra.layout import Layout
from phloat.errors import InputError

VERLET = ph.StormerVerlet()


def test_stormer_verlet_refuses_a_step_beyond_its_limit_and_gives_the_number():
    system = random_system()
    limit = 2.0 / ph.modes(system).omega.max()
    assert np.isfinite(ph.simulate(system, start(system), 1000 * limit, dt=0.999 * limit, scheme=VERLET).e).all()
    with pytest.raises(InputError, match=f"{limit:.4g}"):
        ph.simulate(system, start(system), 10 * limit, dt=1.001 * limit, scheme=VERLET)


@pytest.mark.parametrize(
    ("options", "word"), [({"gyroscopic": 0.5}, "gyroscopic"), ({"joints": 2, "driven": True}, "drive")]
)
def test_stormer_verlet_refuses_gyroscopic_forces_and_driven_ports(options, word):
    with pytest.raises(InputError, match=word):
        ph.simulate(random_system(**options), t_end=1.0, dt=1e-2, scheme=VERLET)


def test_stormer_verlet_refuses_rows_without_order_and_motions_without_mass():
    with pytest.raises(InputError, match="order"):
        ph.simulate(replace(random_system(), split=-1), t_end=1.0, dt=1e-2, scheme=VERLET)
    rows, ports = Layout({"v": (2,), "s": (2,)}, "row"), Layout({}, "port")
    J = np.block([[np.zeros((2, 2)), -np.eye(2)], [np.eye(2), np.zeros((2, 2))]])
    light = ph.LinearPHDAE(E=np.diag([1.0, 0.0, 1.0, 1.0]), J=J, B=np.zeros((4, 0)), rows=rows, ports=ports, split=2)
    with pytest.raises(InputError, match="mass"):
        ph.simulate(light, t_end=1.0, dt=1e-2, scheme=VERLET)


@pytest.mark.parametrize("scheme", [ph.RadauIIA(), ph.Midpoint(rtol=1e-3), "verlet", ph.StormerVerlet])
def test_other_schemes_are_refused_for_linear_systems(scheme):
    with pytest.raises(InputError, match="GaussLegendre"):
        ph.simulate(random_system(), t_end=1.0, dt=0.1, scheme=scheme)


@pytest.mark.parametrize("scheme", [ph.GaussLegendre(2), VERLET])
def test_schemes_of_linear_systems_are_refused_for_mechanisms(scheme):
    mass = ph.connect({"mass": ph.PointMass(1.0).discretise()}, plane="xy")
    with pytest.raises(InputError, match="linearise"):
        ph.simulate(mass, ph.place(mass), 1.0, dt=0.1, scheme=scheme)


@pytest.mark.parametrize("stages", [0, 11, 1.5, True])
def test_numbers_of_stages_are_checked(stages):
    with pytest.raises(InputError, match="stages"):
        ph.GaussLegendre(stages)


def test_events_of_linear_systems_are_checked():
    system = random_system()
    run = {"t_end": 1.0, "dt": 0.1}
    with pytest.raises(InputError, match="events"):
        ph.simulate(system, **run, events=[lambda t, y: 1.0])
    with pytest.raises(ph.errors.PortError, match="nothing"):
        ph.simulate(system, **run, events=[ph.Event(lambda t, y: y["nothing"])])
    for after in ({"nothing": 1.0}, {"v": [1.0]}, [1.0]):
        with pytest.raises((InputError, ph.errors.PortError)):
            ph.simulate(system, **run, events=[ph.Event(lambda t, y: t - 0.5, do=lambda t, e, after=after: after)])


def test_a_driven_velocity_that_jumps_is_named():
    """The midpoint rule holds the means of a step: after a jump from 0 to 1 it gives 0, 2, 0, 2 … at the ends of steps."""
    bar = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)
    system = ph.drive(ph.connect({"bar": bar}, [ph.Revolute("ground", "bar.P", name="hub")], plane="xy"), "hub")
    linear = ph.linearise(system, ph.place(system))
    jump = {"hub": ph.piecewise({0.0: 0.0, 0.05: 0.0, 0.05 + 1e-9: 1.0})}
    with pytest.warns(ph.errors.AlternatingVelocityWarning, match="'hub'"):
        ph.simulate(linear, t_end=0.1, dt=1e-3, u=jump)
    smooth = ph.simulate(linear, t_end=0.1, dt=1e-3, u=jump, scheme=ph.GaussLegendre(2))
    assert abs(smooth.e @ linear.G.T - smooth.u @ linear.B_lam.T).max() < 1e-9
