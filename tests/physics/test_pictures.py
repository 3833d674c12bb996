"""What is chosen of a run is drawn with its numbers; diagrams show every joint; maps the stress; films the motion."""

from itertools import pairwise

import numpy as np
import pytest
from bodies_zoo import steel
from looking_zoo import HOSTILE, falling, hostile, in_si, overlaps, satellite, sliding, turning

import phloat as ph
from phloat.view.diagram import block_positions, diagram_lines
from phloat.view.mechanism import film_frames, frame_renderer

# --- chosen lines ----------------------------------------------------------------------------------------------------


def test_a_body_at_a_place_is_drawn_in_its_axes_and_in_space(tmp_path):
    run = sliding()
    bent, there = ph.plot(run, "rod", s=0.5).axes
    np.testing.assert_allclose(in_si(bent, 1), run.displacement("rod", s=0.5)[:, 1])
    np.testing.assert_allclose(there.lines[0].get_ydata(), run.position("rod", s=0.5)[:, 0])
    assert (bent.get_ylabel(), there.get_ylabel(), there.get_xlabel()) == ("deformation (mm)", "position (m)", "t (s)")
    at = ph.plot(run, "rod", at=(0.15, 0.003, 0.0)).axes[1]
    np.testing.assert_allclose(at.lines[1].get_ydata(), run.position("rod", at=(0.15, 0.003, 0.0))[:, 1])


def test_a_joint_is_drawn_with_its_forces_and_moments():
    run = turning()
    labels = [ax.get_ylabel() for ax in ph.plot(run, "hinge").axes]
    assert labels == ["joint angle (rad)", "joint force (N)", "joint moment (mN m)"]
    angle, force, moment = ph.plot(run, "hinge").axes
    np.testing.assert_allclose(angle.lines[0].get_ydata(), run["hinge.angle"])
    np.testing.assert_allclose(force.lines[2].get_ydata(), run["hinge.lam"][:, 2])
    np.testing.assert_allclose(in_si(moment), run["hinge.lam"][:, 3])
    assert moment.lines[0].get_label() == "hinge, perpendicular xz"


def test_several_names_are_several_panels():
    run = sliding()
    figure = ph.plot(run, ["rod.theta", "ground-slider.P.slide", "crank pin.lam", "rod.eta"])
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "theta (rad)",
        "joint slide (m)",
        "joint force (N)",
        "eta (mixed)",
    ]
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), run["rod.theta"])
    assert len(figure.axes[3].lines) == 8  # of twelve, those that move most


def test_rates_efforts_and_motions_of_points_are_drawn_with_their_units():
    names = ["hinge.rate", "hinge.angle_rate", "hinge.torque", "spring.effort", "wheel.effort", "bar.C.velocity"]
    labels = [ax.get_ylabel() for ax in ph.plot(turning(), names).axes]
    units = ["rad/s", "rad/s", "N m", "N m", "N m", "m/s"]
    assert [label.rpartition("(")[2] for label in labels] == [f"{unit})" for unit in units]
    slide = ph.plot(sliding(), ["ground-slider.P.rate", "ground-slider.P.force"])
    assert [ax.get_ylabel() for ax in slide.axes] == ["rate (m/s)", "force (N)"]


# --- stress ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded():
    """A cantilever that stands still under a force at its tip, M_z = F (L − x)."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, stiffening=False).discretise(4)
    tip = ph.Force("beam.C", along=(0, 1, 0), name="tip")
    system = ph.connect({"beam": beam}, [ph.Weld("ground", "beam.P"), tip], plane="xy")
    state = ph.equilibrium(system, ph.place(system), u={"tip": 10.0})
    return ph.simulate(system, state, 3e-3, dt=1e-3, u={"tip": 10.0})


def test_the_map_of_a_moment_is_force_times_arm(loaded):
    figure = ph.plot(loaded, "beam", stress="M_z")
    ax, bar = figure.axes
    (mesh,) = ax.collections
    values = mesh.get_array().reshape(-1, len(loaded.t))
    s = np.sort(np.concatenate([np.linspace(0, 1, 17)[:-1] + part / 16 for part in (0.25, 0.75)]))
    np.testing.assert_allclose(np.abs(values), np.tile(10.0 * (1.0 - s)[:, None], len(loaded.t)), rtol=1e-6)
    assert (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == ("t (s)", "s along beam", "M_z (N m)")
    assert mesh.norm.vmin == -mesh.norm.vmax  # zero is white


def test_all_resultants_that_are_there_are_mapped():
    labels = [ax.get_ylabel() for ax in ph.plot(turning(), "bar", stress=True).axes]
    assert [label for label in labels if "(" in label] == ["N (N)", "T (mN m)", "M_y (N m)", "M_z (N m)"]


def test_stress_at_a_place_and_at_a_point(loaded):
    force, moment = ph.plot(loaded, "beam", stress=True, s=0.25).axes
    np.testing.assert_allclose(in_si(moment), loaded.stress("beam", s=0.25)["M_z"])
    assert force.get_ylabel() == "force (N)"
    (ax,) = ph.plot(loaded, "beam", stress=True, at=(0.25, 0.005, 0.0)).axes
    np.testing.assert_allclose(in_si(ax, -1), 7.5 * 0.005 / (0.02 * 0.01**3 / 12), rtol=1e-6)  # M y / I


def test_the_largest_stress_of_a_plate_is_drawn_over_time():
    run = turning()
    size, where = ph.plot(run, "panel", stress=True).axes
    largest, points = run.von_mises("panel")
    np.testing.assert_allclose(in_si(size), largest)
    np.testing.assert_allclose(where.lines[1].get_ydata(), points[:, 1])


def test_a_split_beam_is_mapped_as_one():
    pieces = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel).split(3).discretise(1)
    system = ph.connect({"long": pieces}, [ph.Revolute("ground", "long.P")], plane="xy", gravity=(0, -9.81, 0))
    run = ph.simulate(system, ph.place(system), 4e-3, dt=2e-3)
    (mesh,) = ph.plot(run, "long", stress="N").axes[0].collections
    assert mesh.get_array().size == 3 * 8 * len(run)


# --- labels ----------------------------------------------------------------------------------------------------------


def two_links() -> ph.System:
    link = ph.Beam(0.5, ph.Rectangle(0.02, 0.01), steel).discretise(2)
    joints = [ph.Revolute("ground", "a.P", name="shoulder"), ph.Revolute("a.C", "b.P", name="elbow")]
    return ph.connect({"a": link, "b": link}, joints, plane="xy")


def linear() -> ph.LinearPHDAE:
    system = two_links()
    return ph.linearise(system, ph.place(system, {"elbow.angle": 0.5}))


LABELLED = {
    "a run in a plane": lambda: ph.plot(sliding()),
    "a run in space": lambda: ph.plot(turning()),
    "hostile names": lambda: ph.plot(falling()),
    "a ledger": lambda: ph.plot(ph.energy_ledger(sliding())),
    "bodies and joints": lambda: ph.plot(turning(), ["bar", "hinge", "hub.omega", "bar.eta"]),
    "maps of stress": lambda: ph.plot(turning(), "bar", stress=True),
    "stress at a point": lambda: ph.plot(turning(), "box", stress=True, at=(0.1, 0.0, 0.005)),
    "a diagram": lambda: ph.plot(satellite()),
    "a diagram of a loop": lambda: ph.plot(sliding().system),
    "a state in a plane": lambda: ph.plot(sliding().system, sliding().state(5)),
    "a state in space": lambda: ph.plot(satellite(), turning().state()),
    "stress in a state": lambda: ph.plot(satellite(), turning().state(), stress=True),
    "a response": lambda: ph.plot(ph.response(linear(), ["shoulder", "elbow"], omega=np.geomspace(1.0, 1e4, 50))),
    "poles and zeros": lambda: ph.plot(ph.poles_zeros(linear(), "shoulder", "elbow")),
    "matrices": lambda: ph.plot(linear()),
    "one matrix": lambda: ph.plot(linear(), "B"),
    "modes": lambda: ph.plot(ph.modes(linear())),
}


@pytest.mark.parametrize("name", LABELLED)
def test_no_label_lies_over_another_or_beyond_the_border(name):
    assert overlaps(LABELLED[name]()) == []


# --- diagrams --------------------------------------------------------------------------------------------------------


def words(figure) -> str:
    return "\n".join(text.get_text() for text in figure.axes[0].texts)


def test_a_diagram_names_bodies_joints_elements_and_inputs(tmp_path):
    figure = ph.plot(satellite())
    said = words(figure)
    for word in (
        "hub",
        "RigidBody",
        "panel",
        "Plate",
        "bar",
        "Weld",
        "Revolute",
        "JointSpring",
        "spring",
        "wheel",
        "root",
    ):
        assert word in said
    assert "ground" not in said
    figure.savefig(tmp_path / "diagram.svg")
    figure.savefig(tmp_path / "diagram.png")


def test_a_diagram_tells_free_axes_from_driven_ones():
    system = sliding().system
    lines = {(line.kind, line.open) for line in diagram_lines(system)}
    assert lines == {("Drive", "driven"), ("Revolute", ""), ("Slide", "free")}  # no angle of a point mass
    labels = [text.get_text() for text in ph.plot(system).axes[0].get_legend().get_texts()]
    assert labels == ["joint", "open port: effort in, rate out", "driven: rate in, effort out"]
    locked = ph.lock(system, "ground-slider.P")
    assert "Slide, locked" in words(ph.plot(locked))


def test_a_diagram_draws_the_sections_of_beams_with_their_size():
    tube, bar = ph.Tube(0.02, 0.002), ph.Rectangle(0.03, 0.004)
    tapered = ph.Beam(0.2, lambda s: ph.Circle(0.02 - 0.01 * s), steel)
    beams = {"a": ph.Beam(0.2, bar, steel), "b": ph.Beam(0.2, tube, steel), "c": ph.Beam(0.3, bar, steel), "d": tapered}
    beams["e"] = ph.Beam(0.2, ph.Section(A=1e-4, I=1.6e-10), steel)
    names = list(beams)
    joints = [ph.Weld(f"{a}.C", f"{b}.P") for a, b in pairwise(names)]
    figure = ph.plot(ph.connect({name: beam.discretise(1) for name, beam in beams.items()}, joints, plane="xy"))
    said = words(figure)
    for text in ("a, c\n30 × 4 mm", "b\n⌀ 20 × 2 mm", "d\n⌀ 20 mm at P, varies", "e\nA = 100 mm², I = 160 mm⁴"):
        assert text in said
    outlines = [patch.get_xy() for patch in figure.axes[0].patches if patch.__class__.__name__ == "Polygon"]
    assert [round(float(np.divide(*np.ptp(xy, axis=0))), 6) for xy in outlines] == [7.5, 1.0, 1.0, 1.0]
    assert overlaps(figure) == []


def test_blocks_do_not_lie_on_each_other():
    chain = [("ground", "0"), *((str(k), str(k + 1)) for k in range(29))]
    tree = [(str(k // 3), str(k)) for k in range(1, 30)]
    for pairs in (chain, tree, [*chain, ("29", "ground")], []):
        blocks = dict.fromkeys(["ground", *map(str, range(30))])
        at = block_positions(blocks, pairs)
        assert set(at) == set(blocks)
        found = np.array(list(at.values()))
        apart = np.abs(found[:, None] - found[None]).max(axis=2) + np.eye(len(found))
        assert apart.min() >= 1.0
    for a, b in chain:
        far = np.abs(
            np.subtract(block_positions(["ground", *map(str, range(30))], chain)[a], block_positions(blocks, chain)[b])
        )
        assert far.max() == 1.0  # neighbours stand side by side


def test_a_closed_loop_stands_in_a_ring():
    at = block_positions(["ground", "a", "b", "c"], [("ground", "a"), ("a", "b"), ("b", "c"), ("c", "ground")])
    assert {x for x, _ in at.values()} == {0.0, 1.0}
    assert len({y for _, y in at.values()}) == 2


def test_hostile_names_are_drawn_as_they_are(tmp_path):
    said = words(ph.plot(hostile()))
    assert HOSTILE.replace("$", r"\$") in said
    for k, figure in enumerate((ph.plot(hostile()), ph.plot(falling()), ph.plot(falling(), "_link"))):
        figure.savefig(tmp_path / f"{k}.png")  # mathematics that cannot be read would stop this
    assert len(ph.plot(hostile(), ph.place(hostile())).axes[0].get_legend().get_texts()) == 2


def test_figures_show_themselves_in_notebooks():
    assert ph.plot(sliding())._repr_png_().startswith(b"\x89PNG")


def test_plates_are_shaded_in_their_modes():
    plate = ph.Plate.rectangle(1.0, 0.5, thickness=0.01, material=steel, clamped="left").discretise((4, 2))
    figure = ph.plot(ph.modes(plate.linear()))
    assert len(figure.axes[0].collections[0].get_facecolor()) > 4
    assert len(np.unique(figure.axes[0].collections[0].get_facecolor(), axis=0)) > 3


# --- films -----------------------------------------------------------------------------------------------------------


def test_the_frames_of_a_film_are_where_the_bodies_are():
    run = sliding()
    film = film_frames(run, speed=0.01, fps=10.0, magnify=1.0)
    np.testing.assert_allclose(film.t, np.arange(9) * 1e-3, atol=1e-15)
    for k in (0, 3, 8):
        state = run.at(film.t[k])
        np.testing.assert_allclose(film.points["rod"][k, -1, :2], state.position("rod", s=1.0), atol=1e-14)
        np.testing.assert_allclose(film.points["slider"][k, 0, :2], state.position("slider", s=0), atol=1e-14)
    figure, frame = frame_renderer(film)
    pixels = frame(5)
    assert pixels.shape == (500, 700, 4)
    assert np.abs(pixels.astype(int) - frame(6)).max() > 100
    frame(5)
    np.testing.assert_allclose(figure.axes[0].lines[0].get_xdata(), film.points["rod"][5, :, 0])
    assert "0.0050 s" in figure.texts[0].get_text()


def test_plates_and_solids_move_in_a_film_of_space():
    run = turning()
    film = film_frames(run, speed=1.0, fps=50.0, magnify=1.0)
    corner = film.drawn["box"].points[7]
    np.testing.assert_allclose(film.points["box"][5, 7], run.at(film.t[5]).position("box", at=corner), atol=1e-12)
    figure, frame = frame_renderer(film)
    put = []
    for surface in figure.axes[0].collections:
        surface.set_verts = put.append
    frame(5)
    for name, corners in zip(("hub", "panel", "box"), put, strict=True):  # the bar is a line
        np.testing.assert_array_equal(corners, film.points[name][5][film.drawn[name].triangles])


def test_deformation_can_be_magnified_in_a_film():
    run = sliding()
    plain, large = (film_frames(run, speed=0.01, fps=10.0, magnify=m).points["rod"][4] for m in (1.0, 20.0))
    moved = np.linalg.norm(large - plain, axis=1)
    bent = np.linalg.norm(run.at(4e-3)["rod.u_f"], axis=1)
    np.testing.assert_allclose(moved, 19.0 * bent, atol=1e-12)
    assert bent.max() > 1e-4


def test_a_gif_has_its_frames(tmp_path):
    from PIL import Image

    path = ph.animate(sliding(), tmp_path / "run.gif", speed=0.01, fps=5.0)
    with Image.open(path) as film:
        assert (film.n_frames, film.size, film.info["duration"]) == (5, (700, 500), 200)


def test_an_mp4_has_its_frames(tmp_path):
    import imageio_ffmpeg

    path = ph.animate(sliding(), tmp_path / "run.mp4", speed=0.01, fps=10)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == 9
    assert seconds == pytest.approx(0.9, abs=0.05)


def test_short_runs_are_slowed_down_and_long_ones_are_not():
    assert film_frames(sliding(), speed=None, fps=1.0, magnify=1.0).speed == pytest.approx(8e-3 / 8.0)
    system = hostile()
    swing = ph.simulate(system, ph.place(system), 2.5, dt=5e-3, output=100)
    assert film_frames(swing, speed=None, fps=1.0, magnify=1.0).speed == 1.0


def test_a_rigid_body_in_a_plane_is_drawn_flat_by_its_block():
    bob = ph.RigidBody(1.0, np.diag([0.01, 0.01, 0.02]), center=(0.3, 0, 0), ports={"end": (0.4, 0, 0)}).discretise()
    system = ph.connect({"bob": bob}, [ph.Revolute("ground", "bob.P")], plane="xy", gravity=(0, -9.81, 0))
    ax = ph.plot(system, ph.place(system)).axes[0]
    assert not hasattr(ax, "get_zlim")
    assert len(ax.collections[0].get_paths()) > 8
    run = ph.simulate(system, ph.place(system), 0.02, dt=1e-2)
    figure, frame = frame_renderer(film_frames(run, speed=1.0, fps=100.0, magnify=1.0))
    assert not hasattr(figure.axes[0], "get_zlim")
    assert np.any(frame(0) != frame(2))
