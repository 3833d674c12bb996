"""Pictures show what they should: lines where the bodies are."""

from itertools import pairwise

import numpy as np
import pytest
from bodies_zoo import steel
from looking_zoo import in_si
from messages import raises

import phloat as ph


@pytest.fixture(scope="module")
def hung():
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), steel).discretise(2)
    system = ph.connect(
        {"a": link, "b": link}, joints=[ph.Weld("ground", "a.P"), ph.Revolute("a.C", "b.P", name="pin")]
    )
    state = ph.place(system, {"pin.angle": 0.5})
    return system, state, ph.linearise(system, state)


def test_a_system_is_drawn_where_it_stands(hung, tmp_path):
    system, state, _ = hung
    figure = ph.plot(system, state)
    line = figure.axes[0].lines[0].get_xdata()
    assert line[0] == 0.0 and line[-1] == pytest.approx(0.5)
    figure.savefig(tmp_path / "system.png")


def test_modes_are_drawn_over_the_undeformed_bodies(hung, tmp_path):
    found = ph.modes(hung[2])
    figure = ph.plot(found)
    titles = [ax.get_title() for ax in figure.axes]
    assert f"{found.elastic[0]:.5g} rad/s" in titles[0]
    figure.savefig(tmp_path / "modes.png")


def test_a_response_is_drawn_as_magnitude_and_phase(hung, tmp_path):
    bode = ph.response(hung[2], "pin", omega=np.geomspace(1, 1e3, 20))
    top, bottom = ph.plot(bode).axes
    np.testing.assert_allclose(top.lines[0].get_ydata(), bode.magnitude[:, 0, 0])
    assert "°" in bottom.get_ylabel()


def test_a_linear_system_is_drawn_as_its_matrices(hung):
    assert [ax.get_title().split()[0] for ax in ph.plot(hung[2]).axes] == ["E", "J"]
    names = ["E", "J", "R", "B", "G", "B_lam"]
    for name in names:
        if getattr(hung[2], name).nnz:
            assert ph.plot(hung[2], name).axes[0].get_title().split()[0] == name


def test_terms_are_drawn_with_the_names_of_fields_bodies_and_joints(hung):
    system, state, _ = hung
    moving = ph.set_moving(system, state, {"pin.angle_rate": 2.0})
    figure = ph.plot(ph.terms(system, moving))
    E, J = figure.axes
    fields = ["r_P", "A_IB", "eta", "v_P", "omega", "eta_dot", "sigma"]
    assert [label.get_text() for label in E.get_yticklabels()] == fields * 2
    assert [label.get_text() for label in J.get_xticklabels()] == [*fields, *fields, "ground-a.P", "pin"]
    assert [label.get_text() for label in J.child_axes[0].get_yticklabels()] == ["a", "b"]
    image = np.asarray(J.collections[1].get_array().filled(0.0))
    np.testing.assert_array_equal(image, -image.T)  # J and its border G are skew: mirrored with the other colour
    assert image.any() and not E.collections[1].get_array().filled(0.0).T.tolist() == image.tolist()


@pytest.mark.parametrize("count", [1, 2, 10])
def test_names_beside_matrices_do_not_overlap(count):
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), steel).discretise(4)
    joints = [ph.Revolute(f"link{k}.C", f"link{k + 1}.P", name=f"hinge{k}") for k in range(count - 1)]
    system = ph.connect({f"link{k}": link for k in range(count)}, joints)
    figure = ph.plot(ph.terms(system, ph.place(system)))
    figure.draw_without_rendering()
    for ax in figure.axes:
        assert len(ax.get_yticklabels()) >= 7 * count
        for labels in (ax.get_xticklabels(), ax.get_yticklabels(), ax.child_axes[0].get_yticklabels()):
            boxes = [label.get_window_extent() for label in labels]
            assert not any(one.overlaps(two) for one, two in pairwise(boxes))


def test_a_large_matrix_is_drawn_by_the_largest_entries_of_its_cells():
    system = ph.Plate.rectangle(1.0, 0.5, thickness=0.01, material=steel, frame="left", ports={"root": "left"})
    plate = system.discretise((12, 6)).linear()
    image = ph.plot(plate).axes[1].collections[1].get_array()
    assert max(image.shape) < 600 < plate.rows.size
    assert np.abs(image).max() == pytest.approx(0.8)


def test_matrices_that_are_not_there_are_said(hung):
    with raises(ph.errors.InputError, "Q"):
        ph.plot(hung[2], "Q")
    with raises(ph.errors.InputError, "B_lam"):
        ph.plot(hung[2], "B_lam")
    with raises(ph.errors.InputError, "at"):
        ph.plot(hung[2], at=(0.0, 0.0, 0.0))


def test_what_cannot_be_drawn_is_said():
    with raises(ph.errors.InputError, "int"):
        ph.plot(3)


@pytest.fixture(scope="module")
def swung(hung):
    system, state, _ = hung
    return ph.simulate(system, state, 0.05, dt=1e-3, u={"pin": 2.0})


def test_a_result_is_drawn_over_time(swung, tmp_path):
    figure = ph.plot(swung)
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels == ["joint angle (rad)", "deformation (mm)", "deformation (µm)", "energy (mJ)"]
    angle, bent, other, energy = figure.axes
    np.testing.assert_allclose(in_si(bent), swung.displacement("a", s=1.0)[:, 1])
    np.testing.assert_allclose(in_si(other), swung.displacement("b", s=1.0)[:, 1])
    assert bent.lines[0].get_label() == "a, y at s = 1"
    np.testing.assert_allclose(angle.lines[0].get_ydata(), swung["pin.angle"])
    np.testing.assert_allclose(in_si(energy, -1), swung.energy)
    figure.savefig(tmp_path / "result.png")


def test_a_joint_that_is_locked_is_not_drawn(hung):
    system, state, _ = hung
    run = ph.simulate(ph.lock(system, "pin"), state, 5e-3, dt=1e-3)
    assert "joint angle (rad)" not in [ax.get_ylabel() for ax in ph.plot(run).axes]
    assert ph.plot(run, "pin").axes[0].get_ylabel() == "joint angle (rad)"


def test_a_ledger_is_drawn_with_its_residual_beneath(swung, tmp_path):
    ledger = ph.energy_ledger(swung)
    figure = ph.plot(ledger)
    stored, since, missing = figure.axes
    np.testing.assert_allclose(in_si(stored, -1), swung.energy)
    assert [line.get_label() for line in since.lines] == ["pin", "stored"]
    assert missing.get_yscale() == "log"
    assert f"{ledger.relative:.1e}" in missing.get_title(loc="right")
    assert f"{np.abs(ledger.residual).max():.1e} J" in missing.get_title(loc="right")
    figure.savefig(tmp_path / "ledger.png")


def test_a_body_in_free_flight_is_drawn_by_its_position(tmp_path):
    system = ph.connect({"ball": ph.PointMass(0.3).discretise()}, gravity=(0, -9.81, 0), plane="xy")
    nothing = {"ball.P": np.zeros(2)}
    falling = ph.simulate(system, ph.place(system, {}), 0.05, dt=1e-2, u=nothing)
    figure = ph.plot(falling)
    assert [line.get_label() for line in figure.axes[0].lines] == ["ball, x", "ball, y"]
    figure.savefig(tmp_path / "flight.png")
    resting = ph.connect({"ball": ph.PointMass(0.3).discretise()}, plane="xy")
    still = ph.energy_ledger(ph.simulate(resting, ph.place(resting, {}), 0.05, dt=1e-2, u=nothing))
    assert still.relative == 0.0
    ph.plot(still).savefig(tmp_path / "still.png")


def test_of_many_elastic_bodies_those_are_drawn_that_deform_most():
    link = ph.Beam(0.2, ph.Rectangle(0.02, 0.004), steel).discretise(1)
    joints = [ph.Revolute("ground", "0.P")] + [ph.Revolute(f"{k}.C", f"{k + 1}.P") for k in range(7)]
    chain = ph.connect({str(k): link for k in range(8)}, joints, plane="xy", gravity=(0, -9.81, 0))
    run = ph.simulate(chain, ph.place(chain), 0.02, dt=2e-3)
    sizes = {name: np.abs(run[f"{name}.u_f"]).max() for name in chain.bodies}
    most = sorted(sorted(sizes, key=sizes.get)[2:])
    figure = ph.plot(run)
    bent = [ax for ax in figure.axes if ax.get_ylabel().startswith("deformation")]
    assert [ax.lines[0].get_label().partition(",")[0] for ax in bent] == most
    assert "6 of 8" in bent[0].get_title(loc="right")


# --- bodies on meshes ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def panelled():
    """A plate and a solid on a hinge each, under gravity."""
    plate = ph.Plate.rectangle(1.0, 0.2, thickness=0.01, material=steel, frame="left", ports={"root": "left"})
    box = ph.Solid.box(1.0, 0.1, 0.05, material=steel, frame="left", ports={"root": "left"})
    system = ph.connect(
        {"panel": plate.discretise((4, 1)).reduced(modes=2), "bar": box.discretise((4, 1, 1)).reduced(modes=2)},
        joints=[
            ph.Weld("ground", "panel.root", at=(0.0, 0.0, 0.3)),
            ph.Weld("ground", "bar.root"),
        ],
        gravity=(0.0, 0.0, -9.81),
    )
    return system, ph.equilibrium(system, ph.place(system))


def test_plates_and_solids_are_drawn_by_their_facets(panelled, tmp_path):
    system, state = panelled
    figure = ph.plot(system, state)
    panel, bar = figure.axes[0].collections
    mesh = system.bodies["panel"].shape.continuum.mesh
    assert len(panel.get_paths()) == 2 * 2 * len(mesh.cells) + 2 * (2 * 4 + 2)  # both faces and the rim
    assert len(bar.get_paths()) == 8 * (4 * 4 + 2)  # through the nodes in the middle of edges and faces
    assert figure.axes[0].get_zlim()[0] < -0.025 and figure.axes[0].get_zlim()[1] > 0.3
    figure.savefig(tmp_path / "meshes.png")


def test_stress_shades_them_on_one_scale(panelled, tmp_path):
    system, state = panelled
    figure = ph.plot(system, state, stress=True)
    ax, bar = figure.axes
    assert bar.get_ylabel() == "von Mises stress (MPa)"
    largest = (
        0.5 * steel.rho * 9.81 / (0.01 / 6.0)
    )  # M / W at the root of the panel, which is stressed more than the bar
    assert 0.7 * largest < 1e6 * bar.get_ylim()[1] < largest  # the points of stress lie inside the cells
    colours = [np.unique(body.get_facecolor(), axis=0) for body in ax.collections]
    assert len(colours[0]) > 4 and len(colours[1]) > 4  # from root to tip
    figure.savefig(tmp_path / "stress.png")


def test_stress_needs_a_body_on_a_mesh(hung):
    system, state, _ = hung
    with raises(ph.errors.InputError):
        ph.plot(system, state, stress=True)


def test_a_bent_beam_of_many_elements_is_still_a_line():
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).discretise(20)
    system = ph.connect({"beam": beam}, joints=[ph.Weld("ground", "beam.P")], plane="xy", gravity=(0, -9.81, 0))
    line = ph.plot(system, ph.equilibrium(system, ph.place(system))).axes[0].lines[0]
    assert line.get_linestyle() == "-" and len(line.get_xdata()) > 20


def test_a_linear_motion_is_drawn_over_time(tmp_path):
    plate = ph.Plate.rectangle(1.0, 1.0, thickness=0.05, material=steel, clamped="left").discretise(2)
    system = ph.tie({"plate": plate}, [ph.Pressure("plate", 1e4, name="push")])
    run = ph.simulate(system, t_end=2e-3, dt=1e-4, u={"push": 1.0})
    figure = ph.plot(run)
    moved, energy, missing = figure.axes
    assert moved.lines[0].get_label().startswith("plate, z at (1, ")
    np.testing.assert_allclose(in_si(energy, -1), run.energy)
    assert [line.get_label() for line in energy.lines] == ["push, supplied", "stored"]
    assert f"{np.abs(run.residual).max():.1e} J" in missing.get_title(loc="right")
    figure.savefig(tmp_path / "linear.png")


# --- ensembles -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def family():
    """A disc of uncertain inertia under a torque of 2 N m: after t its angle is t²/I."""
    disc = ph.RigidBody(mass=1.0, inertia=np.diag([600.0, 600.0, 0.5])).discretise()
    arm = ph.Beam(0.5, ph.Circle(0.02), steel).discretise(1)
    joints = [ph.Revolute("ground", "disc.P", name="motor"), ph.Weld("disc.P", "arm.P")]
    wheel = ph.connect({"disc": disc, "arm": arm}, joints, plane="xy")
    varied = {"disc.inertia[2,2]": np.geomspace(0.5, 500.0, 9), "arm.material.E": np.linspace(1e11, 3e11, 9)}
    both = {"sampling": "rows", "t_end": 0.02, "dt": 2e-3, "u": {"motor": 2.0}, "workers": 1, "progress": False}
    output = {"angle": lambda r: r["motor.angle"], "end": lambda r: r["motor.angle"][-1]}
    return ph.ensemble(wheel, varied, output=lambda r: {n: f(r) for n, f in output.items()}, **both)


def test_an_ensemble_has_units_scales_quantiles_and_extreme_samples(family):
    bands, histogram, inertia, modulus = ph.plot(family).axes
    assert (inertia.get_xlabel(), modulus.get_xlabel()) == ("disc.inertia[2,2] (kg m²)", "arm.material.E (GPa)")
    assert [ax.get_xscale() for ax in (bands, inertia, modulus)] == ["linear", "log", "linear"]
    assert histogram.get_yscale() == "log"
    end = family["end"]
    levels = [line.get_ydata()[0] for line in histogram.lines]
    np.testing.assert_allclose(levels, [end.mean(), *np.quantile(end, (0.05, 0.95))])
    labels = [line.get_label() for line in modulus.lines if line.get_label().startswith("sample")]
    assert labels == [f"sample {end.argmin()}", f"sample {end.argmax()}"] == ["sample 8", "sample 0"]
    np.testing.assert_allclose([line.get_xdata()[0] for line in modulus.lines[1:]], [300.0, 100.0])
    assert [line.get_label() for line in bands.lines] == ["median", "sample 0", "sample 8"]
    np.testing.assert_allclose(bands.lines[1].get_ydata(), family["angle"][0])


def test_units_of_parameters_are_saved_with_an_ensemble(family, tmp_path):
    ball = ph.connect({"ball": ph.PointMass(1.0).discretise()}, [ph.Force("ball.P", along=(1, 0, 0), name="push")])
    varied = {"ball.mass": [1.0, 2.0], "u.push": [1.0, 3.0]}
    run = {"t_end": 0.1, "dt": 0.05, "u": {"push": 1.0}, "workers": 1, "progress": False, "sampling": "rows"}
    ph.ensemble(ball, varied, output=lambda r: r["ball.r_P"][-1, 0], save=tmp_path / "runs", **run)
    labels = [ax.get_xlabel() for ax in ph.plot(ph.io.load_ensemble(tmp_path / "runs")).axes]
    assert labels == ["samples", "ball.mass (kg)", "u.push"]


@pytest.mark.filterwarnings("ignore::phloat.errors.FailedSamplesWarning")
def test_a_search_for_a_limit_shows_its_evaluations_the_limit_and_the_answer():
    def deflection(height):
        return np.nan if height < 0.02 else height**-3

    found = ph.find_smallest(deflection, (0.01, 1.0), below=100.0)
    (ax,) = ph.plot(found).axes
    dots, limit, answer, *failed = ax.lines
    good = np.isfinite(found.numbers)
    np.testing.assert_array_equal(dots.get_xydata(), np.column_stack([found.values, found.numbers])[good])
    assert set(limit.get_ydata()) == {100.0} and answer.get_xydata().tolist() == [[found.x, found.number]]
    assert [line.get_xdata()[0] for line in failed] == list(found.failed) == found.values[~good].tolist() != []
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("height", "deflection")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
