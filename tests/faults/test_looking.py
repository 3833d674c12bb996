"""Wrong names, missing packages, places that are taken: sentences."""

import importlib.util
import json
import sys

import numpy as np
import pytest
from bodies_zoo import steel
from looking_zoo import sliding, turning, v_pin
from messages import raises

import phloat as ph


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        (("rodd",), {}, "'rodd'"),
        (("rod.thet",), {}, "'rod.thet'"),
        ((3,), {}, "3"),
        (([],), {}, ""),
        (("crank pin",), {"s": 0.5}, "'crank pin'"),
        (("rod",), {"s": 1.5}, "1.5"),
        (("rod",), {"stress": "M_q"}, "'M_q'"),
        (("slider",), {"stress": True}, "'slider'"),
        (("nobody",), {"stress": True}, "'nobody'"),
        ((["rod", "slider"],), {"stress": True}, "stress"),
        ((), {"s": 0.5}, "Result"),
    ],
)
def test_what_cannot_be_drawn_of_a_result_is_said(arguments, options, name):
    with raises(ph.errors.InputError, name):
        ph.plot(sliding(), *arguments, **options)


def test_options_that_make_no_sense_are_said():
    with raises(ph.errors.InputError, "Result"):
        ph.plot(sliding(), sliding().state())
    with raises(ph.errors.InputError, "'rod'"):
        ph.plot(sliding().system, "rod")
    with raises(ph.errors.InputError, "Ledger", "stress"):
        ph.plot(ph.energy_ledger(sliding()), stress=True)
    with raises(ph.errors.InputError, "'panel'"):
        ph.plot(turning(), "panel", stress="M_xx")


@pytest.mark.parametrize(
    ("path", "options", "name"),
    [
        ("run.avi", {}, "'run.avi'"),
        ("nowhere/run.gif", {}, "nowhere"),
        ("run.gif", {"speed": 0.0}, "speed"),
        ("run.gif", {"fps": -1.0}, "fps"),
        ("run.gif", {"magnify": -1.0}, "magnify"),
        ("run.gif", {"speed": 1e-6}, "speed=2e-06"),
    ],
)
def test_films_that_cannot_be_made_are_said(path, options, name, tmp_path):
    with raises(ph.errors.InputError, name):
        ph.animate(sliding(), tmp_path / path, **options)


def test_what_is_no_result_is_said(tmp_path):
    for verb in (ph.animate, ph.io.to_vtu, ph.io.to_netcdf):
        with raises(ph.errors.InputError, "int"):
            verb(3, tmp_path / "run.gif")


@pytest.mark.parametrize(
    ("package", "use", "extra"),
    [
        ("matplotlib", lambda folder: ph.plot(sliding()), "plot"),
        ("matplotlib", lambda folder: ph.animate(sliding(), folder / "run.gif"), "plot"),
        ("imageio_ffmpeg", lambda folder: ph.animate(sliding(), folder / "run.mp4"), "plot"),
        ("h5netcdf", lambda folder: ph.io.to_netcdf(sliding(), folder / "run.nc"), "io"),
        ("xarray", lambda folder: ph.io.to_netcdf(sliding(), folder / "run.nc"), "io"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(package, use, extra, tmp_path, monkeypatch):
    there = importlib.util.find_spec
    for module in ("phloat.view.figures", "phloat.many.results"):
        monkeypatch.setattr(sys.modules[module], "find_spec", lambda name: None if name == package else there(name))
    monkeypatch.setitem(sys.modules, package, None)  # importing it fails
    with raises(ph.errors.InputError, package, extra):
        use(tmp_path)


def test_no_display_is_needed(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert "matplotlib.pyplot" not in type(ph.plot(sliding())).__module__
    ph.plot(sliding())._repr_png_()


# --- folders ---------------------------------------------------------------------------------------------------------


def test_folders_that_are_taken_are_not_written_over(tmp_path):
    ph.io.to_vtu(sliding(), tmp_path / "out", frames=1)
    with raises(ph.errors.InputError, "out"):
        ph.io.to_vtu(sliding(), tmp_path / "out")
    with raises(ph.errors.InputError, "frames"):
        ph.io.to_vtu(sliding(), tmp_path / "other", frames=0)
    assert not (tmp_path / "other").exists()
    with raises(ph.errors.InputError, "nowhere"):
        ph.io.to_netcdf(sliding(), tmp_path / "nowhere" / "run.nc")


def test_folders_without_a_run_are_said(tmp_path):
    with raises(ph.errors.InputError, "nowhere"):
        ph.io.load_result(tmp_path / "nowhere")
    with raises(ph.errors.InputError, "run.json"):
        ph.io.load_result(tmp_path)
    (tmp_path / "run.json").write_text('{"format": "phloat run", "version": 99}')
    with raises(ph.errors.InputError, "run.json", "99"):
        ph.io.load_result(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with raises(ph.errors.InputError, "model.json"):
        ph.io.load_result(tmp_path)


def test_runs_of_an_older_phloat_open_with_their_system(tmp_path):
    ph.io.save_result(sliding(), tmp_path / "run")
    said = json.loads((tmp_path / "run" / "run.json").read_text())
    old = {key: value for key, value in said.items() if key not in ("phloat", "written", "units", "model")}
    (tmp_path / "run" / "run.json").write_text(json.dumps(old))
    (tmp_path / "run" / "model.json").unlink()
    with raises(ph.errors.InputError):
        ph.io.load_result(tmp_path / "run")
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run", sliding().system).e, sliding().e)


def test_a_system_that_no_file_can_say_is_saved_with_the_reason(tmp_path):
    rod = ph.Beam(0.3, lambda s: ph.Circle(6e-3 + 1e-3 * s), steel, frame="pinned").discretise(2)
    system = ph.connect({"rod": rod}, [ph.Drive("ground", "rod.P", name="pin")], plane="xy")
    state = ph.set_moving(system, ph.place(system), u={"pin": v_pin})
    result = ph.simulate(system, state, 1e-3, dt=1e-4, u={"pin": v_pin}, save=tmp_path / "run")
    said = json.loads((tmp_path / "run" / "run.json").read_text())["model"]
    assert said["file"] is None and "rod" in said["why"]
    with raises(ph.errors.InputError, "'rod'"):
        ph.io.load_result(tmp_path / "run")
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run", system).e, result.e)


def test_a_model_that_was_changed_is_refused_by_what_differs(tmp_path):
    ph.io.save_result(sliding(), tmp_path / "run")
    file = tmp_path / "run" / "model.json"
    file.write_text(file.read_text().replace('"elements": 3', '"elements": 4'))
    with raises(ph.errors.InputError, "'rod.eta'"):
        ph.io.load_result(tmp_path / "run")


def test_saving_again_leaves_no_piece_of_the_run_before(tmp_path):
    mesh = ph.shapes.link(length=0.4, width=0.08, thickness=0.03, bore=0.02, n=1, kind="hexahedron")
    link = ph.Solid(mesh, steel, frame="bore A", ports={"A": "bore A"}).discretise().reduced(modes=2)
    system = ph.connect({"link": link}, [ph.Revolute("ground", "link.A", axis=(0, 0, 1))], gravity=(0, -9.81, 0))
    run = ph.simulate(system, ph.place(system), 4e-3, dt=2e-3)
    ph.io.save_result(run, tmp_path / "run")
    assert [file.name for file in (tmp_path / "run").glob("*.npz")] == ["model.0.npz"]  # the mesh
    back = ph.io.load_result(tmp_path / "run")
    np.testing.assert_array_equal(back.von_mises("link")[0], run.von_mises("link")[0])
    ph.io.save_result(sliding(), tmp_path / "run", overwrite=True)
    assert not list((tmp_path / "run").glob("*.npz"))
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run").e, sliding().e)
