"""Wrong names, missing packages, places that are taken: sentences."""

import importlib.util
import json
import sys

import numpy as np
import pytest
from bodies_zoo import steel
from looking_zoo import sliding, turning, v_pin

import phloat as ph


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (("rodd",), {}, r"no body, joint or quantity 'rodd' \(did you mean 'rod'"),
        (("rod.thet",), {}, r"did you mean 'rod\.theta'"),
        ((3,), {}, "3 names nothing to draw"),
        (([],), {}, "list of names is empty"),
        (("crank pin",), {"s": 0.5}, "places of a body, and 'crank pin' is none"),
        (("rod",), {"s": 1.5}, "fraction of the length"),
        (("rod",), {"stress": "M_q"}, r"no stress resultant of 'rod', 'M_q'.*M_z"),
        (("slider",), {"stress": True}, "no stress: it is rigid"),
        (("nobody",), {"stress": True}, "no body 'nobody'"),
        ((["rod", "slider"],), {"stress": True}, "one body at a time"),
        ((), {"s": 0.5}, "Result as a whole takes no s"),
    ],
)
def test_what_cannot_be_drawn_of_a_result_is_said(arguments, options, sentence):
    with pytest.raises(ph.InputError, match=sentence):
        ph.plot(sliding(), *arguments, **options)


def test_options_that_make_no_sense_are_said():
    with pytest.raises(ph.InputError, match="has all its states"):
        ph.plot(sliding(), sliding().state())
    with pytest.raises(ph.InputError, match="drawn with its State"):
        ph.plot(sliding().system, "rod")
    with pytest.raises(ph.InputError, match="picture of a Ledger takes no stress"):
        ph.plot(ph.energy_ledger(sliding()), stress=True)
    with pytest.raises(ph.InputError, match=r"lies on a mesh.*stress=True"):
        ph.plot(turning(), "panel", stress="M_xx")


@pytest.mark.parametrize(
    ("path", "options", "sentence"),
    [
        ("run.avi", {}, r"must end in \.gif or \.mp4"),
        ("nowhere/run.gif", {}, "folder .* is not there"),
        ("run.gif", {"speed": 0.0}, "speed is 0; it must be positive"),
        ("run.gif", {"fps": -1.0}, "fps is -1"),
        ("run.gif", {"magnify": -1.0}, "magnify is -1"),
        ("run.gif", {"speed": 1e-6}, "frames is too long.*try speed=2e-06"),
    ],
)
def test_films_that_cannot_be_made_are_said(path, options, sentence, tmp_path):
    with pytest.raises(ph.InputError, match=sentence):
        ph.animate(sliding(), tmp_path / path, **options)


def test_what_is_no_result_is_said(tmp_path):
    for verb in (ph.animate, ph.to_vtu, ph.to_netcdf):
        with pytest.raises(ph.InputError, match="int is no Result"):
            verb(3, tmp_path / "run.gif")


@pytest.mark.parametrize(
    ("package", "use", "extra"),
    [
        ("matplotlib", lambda folder: ph.plot(sliding()), "plot"),
        ("matplotlib", lambda folder: ph.animate(sliding(), folder / "run.gif"), "plot"),
        ("imageio_ffmpeg", lambda folder: ph.animate(sliding(), folder / "run.mp4"), "plot"),
        ("h5netcdf", lambda folder: ph.to_netcdf(sliding(), folder / "run.nc"), "io"),
        ("xarray", lambda folder: ph.to_netcdf(sliding(), folder / "run.nc"), "io"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(package, use, extra, tmp_path, monkeypatch):
    there = importlib.util.find_spec
    for module in ("phloat.view.figures", "phloat.many.results"):
        monkeypatch.setattr(sys.modules[module], "find_spec", lambda name: None if name == package else there(name))
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails
    with pytest.raises(ph.InputError, match=rf"{package}, which is not installed: pip install phloat\[{extra}\]"):
        use(tmp_path)


def test_no_display_is_needed(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert "matplotlib.pyplot" not in type(ph.plot(sliding())).__module__
    ph.plot(sliding())._repr_png_()


# --- folders ---------------------------------------------------------------------------------------------------------


def test_folders_that_are_taken_are_not_written_over(tmp_path):
    ph.to_vtu(sliding(), tmp_path / "out", frames=1)
    with pytest.raises(ph.InputError, match="not an empty folder"):
        ph.to_vtu(sliding(), tmp_path / "out")
    with pytest.raises(ph.InputError, match="frames is 0"):
        ph.to_vtu(sliding(), tmp_path / "other", frames=0)
    assert not (tmp_path / "other").exists()
    with pytest.raises(ph.InputError, match=r"folder .* is not there"):
        ph.to_netcdf(sliding(), tmp_path / "nowhere" / "run.nc")


def test_folders_without_a_run_are_said(tmp_path):
    with pytest.raises(ph.InputError, match="it is not a folder"):
        ph.load_result(tmp_path / "nowhere")
    with pytest.raises(ph.InputError, match=r"holds no run\.json"):
        ph.load_result(tmp_path)
    (tmp_path / "run.json").write_text('{"format": "phloat run", "version": 99}')
    with pytest.raises(ph.InputError, match=r"version 99.*newer phloat"):
        ph.load_result(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ph.InputError, match=r"model\.json.* is gone"):
        ph.load_result(tmp_path)


def test_runs_of_an_older_phloat_open_with_their_system(tmp_path):
    ph.save(sliding(), tmp_path / "run")
    said = json.loads((tmp_path / "run" / "run.json").read_text())
    old = {key: value for key, value in said.items() if key not in ("phloat", "written", "units", "model")}
    (tmp_path / "run" / "run.json").write_text(json.dumps(old))
    (tmp_path / "run" / "model.json").unlink()
    with pytest.raises(ph.InputError, match=r"holds no model.*load_run\(folder, system\)"):
        ph.load_result(tmp_path / "run")
    np.testing.assert_array_equal(ph.load_run(tmp_path / "run", sliding().system).e, sliding().e)


def test_a_system_that_no_file_can_say_is_saved_with_the_reason(tmp_path):
    rod = ph.Beam(0.3, lambda s: ph.Circle(6e-3 + 1e-3 * s), steel, frame="pinned").discretise(2)
    system = ph.connect({"rod": rod}, [ph.Drive("ground", "rod.P", name="pin")], plane="xy")
    state = ph.set_moving(system, ph.place(system), u={"pin": v_pin})
    result = ph.simulate(system, state, 1e-3, dt=1e-4, u={"pin": v_pin}, save=tmp_path / "run")
    said = json.loads((tmp_path / "run" / "run.json").read_text())["model"]
    assert said["file"] is None and "rod" in said["why"]
    with pytest.raises(ph.InputError, match=r"holds no model \(.*rod.*give its system"):
        ph.load_result(tmp_path / "run")
    np.testing.assert_array_equal(ph.load_run(tmp_path / "run", system).e, result.e)


def test_a_model_that_was_changed_is_refused_by_what_differs(tmp_path):
    ph.save(sliding(), tmp_path / "run")
    file = tmp_path / "run" / "model.json"
    file.write_text(file.read_text().replace('"elements": 3', '"elements": 4'))
    with pytest.raises(ph.InputError, match=r"another system.*'rod\.eta'"):
        ph.load_result(tmp_path / "run")


def test_saving_again_leaves_no_piece_of_the_run_before(tmp_path):
    mesh = ph.shapes.link(length=0.4, width=0.08, thickness=0.03, bore=0.02, n=1, kind="hexahedron")
    link = ph.Solid(mesh, steel, frame="bore A", ports={"A": "bore A"}).discretise().reduced(modes=2)
    system = ph.connect({"link": link}, [ph.Revolute("ground", "link.A", axis=(0, 0, 1))], gravity=(0, -9.81, 0))
    run = ph.simulate(system, ph.place(system), 4e-3, dt=2e-3)
    ph.save(run, tmp_path / "run")
    assert [file.name for file in (tmp_path / "run").glob("*.npz")] == ["model.0.npz"]  # the mesh
    back = ph.load_result(tmp_path / "run")
    np.testing.assert_array_equal(back.von_mises("link")[0], run.von_mises("link")[0])
    ph.save(sliding(), tmp_path / "run", overwrite=True)
    assert not list((tmp_path / "run").glob("*.npz"))
    np.testing.assert_array_equal(ph.load_result(tmp_path / "run").e, sliding().e)
