"""A result on disk is the result: with its system, in NetCDF, and for ParaView."""

import csv
import json
import warnings
from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
import xarray
from bodies_zoo import steel
from looking_zoo import HOSTILE, crank_slider, falling, sliding, turning, v_pin
from messages import warns

import phloat as ph
from phloat.motion.saving import recorder
from phloat.system.stresses import von_mises
from phloat.system.units import units

# --- folders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", [sliding, turning, falling])
def test_a_result_comes_back_from_its_folder_alone(run, tmp_path):
    result = run()
    ph.io.save_result(result, tmp_path / "run")
    back = ph.io.load_result(tmp_path / "run")
    for name in ("t", "e", "lam"):
        np.testing.assert_array_equal(getattr(back, name), getattr(result, name))
    np.testing.assert_array_equal(back.accounts.works, result.accounts.works)
    assert (
        back.info["scheme"] == result.info["scheme"] == {"name": "Midpoint", "rtol": None, "atol": 0.0, "newton": None}
    )
    assert back.info["dt"] == result.info["dt"]
    assert tuple(back.system.joints) == tuple(result.system.joints)
    for name, body in result.system.bodies.items():
        np.testing.assert_array_equal(
            back.system.bodies[name].shape.points(body.shape.places()), body.shape.points(body.shape.places())
        )
        np.testing.assert_array_equal(back.position(name, at=(0, 0, 0)), result.position(name, at=(0, 0, 0)))
    assert ph.energy_ledger(back).relative == ph.energy_ledger(result).relative


def test_a_run_saved_on_the_way_knows_its_system_scheme_and_units(tmp_path):
    system = crank_slider()
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, 0.0)}), u={"crank pin": v_pin})
    task = {"dt": 1e-4, "u": {"crank pin": v_pin}, "scheme": ph.Midpoint(newton=1e-9)}
    plain = ph.simulate(system, state, 2e-3, save=tmp_path / "run", **task)
    back = ph.io.load_result(tmp_path / "run")
    np.testing.assert_array_equal(back.e, plain.e)
    assert back.info["scheme"]["newton"] == 1e-9
    assert back.info["finished"] is True
    again = ph.simulate(back.system, back.state(0), 2e-3, **task)
    np.testing.assert_array_equal(again.e, plain.e)  # the system is the same to the last bit
    said = json.loads((tmp_path / "run" / "run.json").read_text())
    assert said["phloat"] == ph.__version__
    assert said["written"].startswith("20") and said["written"].endswith("+00:00")
    assert said["units"]["crank pin.lam"] == ["N", "N"]
    assert said["units"]["ports"]["crank pin"] == {"in": ["m/s", "m/s"], "out": ["N", "N"]}
    ph.io.save_result(back, tmp_path / "copy")
    assert ph.io.load_result(tmp_path / "copy").info["scheme"]["newton"] == 1e-9
    longer = ph.resume(tmp_path / "run", back.system, u=task["u"], t_end=3e-3)
    np.testing.assert_array_equal(ph.io.load_result(tmp_path / "run").e, longer.e)


def test_every_name_of_a_result_has_a_unit():
    for run in (sliding(), turning(), falling()):
        found = units(run.system)
        names = [*run.system.layout, *(f"{joint}.lam" for joint in run.system.multipliers), *run.coordinates]
        assert set(names) <= set(found)
        assert all(found.values())
        assert set(found["ports"]) == set(run.system.ports)
        for name, sides in found["ports"].items():
            assert len(sides["in"]) == len(sides["out"]) == run.system.ports.shape(name)[0]
    assert units(turning().system)["hinge.lam"] == ["N", "N", "N", "N m", "N m"]


def test_rows_before_the_damage_are_read(tmp_path):
    result = sliding()
    ph.io.save_result(result, tmp_path / "run")  # one piece
    file = tmp_path / "run" / "e.000000.npy"
    whole = file.read_bytes()
    row = result.e.shape[1] * 8
    file.write_bytes(whole[: len(whole) - 10 * row - 5])
    with warns(ph.errors.DamagedRunWarning, "e.000000.npy", "0.0069"):
        part = ph.io.load_result(tmp_path / "run")
    assert len(part) == len(result) - 11
    np.testing.assert_array_equal(part.e, result.e[:-11])
    np.testing.assert_array_equal(part.accounts.works, result.accounts.works[:-11])
    assert part.info["finished"] is False


def test_a_damaged_description_leaves_the_states(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "SECONDS", 0.0)
    system = crank_slider()
    state = ph.set_moving(system, ph.place(system, {"rod.r_P": (0.15, 0.0)}), u={"crank pin": v_pin})
    plain = ph.simulate(system, state, 0.03, dt=5e-5, output=10, u={"crank pin": v_pin}, save=tmp_path / "run")
    description = tmp_path / "run" / "run.json"
    description.write_text(description.read_text()[:200])
    with warns(ph.errors.DamagedRunWarning, "run.json"):
        back = ph.io.load_result(tmp_path / "run")
    np.testing.assert_array_equal(back.e, plain.e)
    np.testing.assert_allclose(back.energy, plain.energy, rtol=1e-9)


# --- NetCDF ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(tmp_path):
    def read(result):
        with warnings.catch_warnings():
            path = ph.io.to_netcdf(result, tmp_path / "run.nc")
            with xarray.open_dataset(path, engine="h5netcdf") as data:
                return data.load()

    return read


@pytest.mark.parametrize("run", [sliding, turning])
def test_netcdf_holds_every_quantity_with_its_unit(run, opened):
    result = run()
    data = opened(result)
    np.testing.assert_array_equal(data["t"], result.t)
    assert data["t"].attrs["units"] == "s"
    names = [*result.system.layout, *(f"{joint}.lam" for joint in result.system.multipliers), *result.coordinates]
    for name in names:
        np.testing.assert_array_equal(data[name].values, result[name])
        assert data[name].attrs["units"]
        assert data[name].dims[0] == "t"
    ledger = ph.energy_ledger(result)
    np.testing.assert_array_equal(data["energy"], ledger.energy)
    np.testing.assert_array_equal(data["energy.residual"], ledger.residual)
    for name, line in ledger.supplied.items():
        np.testing.assert_array_equal(data[f"energy.supplied.{name}"], line)
    assert data.attrs["source"] == f"phloat {ph.__version__}"


def test_netcdf_is_asked_by_place_and_axis(opened):
    result = sliding()
    data = opened(result)
    np.testing.assert_allclose(
        data["rod.u_f"].sel({"rod.s": 0.5, "axis_xy": "y"}), result.displacement("rod", s=0.5)[:, 1]
    )
    np.testing.assert_allclose(data["rod.M_z"].sel({"rod.s": 0.25}), result.stress("rod", s=0.25)["M_z"])
    assert data["rod.M_z"].attrs["units"] == "N m"
    assert data["crank pin.lam"].sel({"crank pin.row": "coincide x"}).shape == (len(result),)
    space = opened(turning())
    np.testing.assert_array_equal(space["panel.points"], turning().system.bodies["panel"].shape.places())
    assert space["hub.omega"].dims == ("t", "axis")


def test_netcdf_bears_any_name(opened):
    data = opened(falling())
    named = {variable.attrs.get("name") for variable in data.data_vars.values()}
    assert f"{HOSTILE}.r_P" in named
    assert "_link.theta" in data


# --- ParaView --------------------------------------------------------------------------------------------------------


def grids(result, folder, frames=None):
    """The series as [(time, grid)]."""
    path = ph.io.to_vtu(result, folder, frames=frames)
    series = ElementTree.parse(path).getroot().iter("DataSet")
    return [(float(one.get("timestep")), meshio.vtu.read(folder / one.get("file"))) for one in series]


def bodies_of(folder) -> list[str]:
    with open(folder / "bodies.csv", newline="", encoding="utf-8") as file:
        return [row["name"] for row in csv.DictReader(file)]


def test_paraview_gets_points_where_they_are(tmp_path):
    result = sliding()
    series = grids(result, tmp_path / "out")
    assert [time for time, _ in series] == result.t.tolist()
    s = result.system.bodies["rod"].shape.places()
    for k in (0, 30, 80):
        grid = series[k][1]
        there = np.array([result.position("rod", s=x)[k] for x in s])
        np.testing.assert_allclose(grid.points[: len(s), :2], there, atol=1e-7)
        bent = np.array([result.displacement("rod", s=x)[k] for x in s])
        found = grid.point_data["displacement"][: len(s), :2]
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.linalg.norm(bent, axis=1), atol=1e-8)
        pin = grid.point_data["velocity"][0, :2]
        np.testing.assert_allclose(pin, v_pin(result.t[k]), atol=2e-3)  # at the nodes to O(dt²)


def test_paraview_gets_the_velocity_of_positions(tmp_path):
    result = turning()
    grid = grids(result, tmp_path / "out")[25][1]
    h = result.t[26] - result.t[25]
    places = result.system.bodies["panel"].shape.places()
    (first,) = np.flatnonzero([name == "panel" for name in bodies_of(tmp_path / "out")])
    cells = [block.data[data == first] for block, data in zip(grid.cells, grid.cell_data["body"], strict=True)]
    nodes = np.unique(np.concatenate([block.ravel() for block in cells]))
    where = np.array([[result.position("panel", at=x)[k] for x in places] for k in (24, 25, 26)])
    np.testing.assert_allclose(grid.points[nodes], where[1], atol=1e-6)
    rate = (where[2] - where[0]) / (2 * h)
    np.testing.assert_allclose(grid.point_data["velocity"][nodes], rate, atol=5e-3 * np.abs(rate).max())


@pytest.mark.parametrize("body", ["box", "panel"])
def test_paraview_gets_the_stress_of_cells(tmp_path, body):
    result = turning()
    grid = grids(result, tmp_path / "out", frames=3)[1][1]
    k = 25
    number = bodies_of(tmp_path / "out").index(body)
    block = next(i for i, numbers in enumerate(grid.cell_data["body"]) if number in numbers)
    mine = grid.cell_data["body"][block] == number
    mesh = result.system.bodies[body].shape.continuum.mesh
    assert len(grid.cells[block].data[mine]) == len(mesh.cells)
    middle = mesh.points[mesh.corners].mean(axis=1)
    faces = (0.0,) if body == "box" else (0.002, -0.002)
    found = [
        [np.array([v[k] for v in result.stress(body, at=x + np.array([0.0, 0.0, z])).values()]) for x in middle]
        for z in faces
    ]
    largest = von_mises(np.array(found)).max(axis=0)
    np.testing.assert_allclose(grid.cell_data["von_mises"][block][mine], largest, rtol=1e-5, atol=1e-3)
    order = [0, 1, 2, 5, 3, 4]
    np.testing.assert_allclose(grid.cell_data["stress"][block][mine], np.array(found[0])[:, order], rtol=1e-4, atol=1.0)


def test_paraview_gets_the_largest_stress_of_a_beam(tmp_path):
    """A cantilever under a force across and one along: σ = F (L − x) / W + N / A, on one side only."""
    beam = ph.Beam(1.0, ph.Rectangle(0.02, 0.01), steel, stiffening=False).discretise(2)
    forces = [ph.Force("beam.C", along=(0, 1, 0), name="tip"), ph.Force("beam.C", along=(1, 0, 0), name="pull")]
    system = ph.connect({"beam": beam}, [ph.Weld("ground", "beam.P"), *forces], plane="xy")
    for sign in (1.0, -1.0):
        u = {"tip": sign * 1.0, "pull": 2000.0}
        still = ph.simulate(system, ph.equilibrium(system, ph.place(system), u=u), 2e-3, dt=1e-3, u=u)
        _, grid = grids(still, tmp_path / f"out {sign}")[-1]
        x = (np.arange(8) + 0.5) / 8
        moment, force = 1.0 - x, 2000.0
        np.testing.assert_allclose(np.abs(grid.cell_data["M_z"][0]), moment, rtol=1e-3)  # the pull turns a little
        np.testing.assert_allclose(grid.cell_data["N"][0], force, rtol=1e-6)
        largest = moment / (0.02 * 0.01**2 / 6) + force / (0.02 * 0.01)
        np.testing.assert_allclose(grid.cell_data["von_mises"][0], largest, rtol=1e-3)
        np.testing.assert_allclose(grid.cell_data["stress"][0][:, 0], largest, rtol=1e-3)
        np.testing.assert_allclose(grid.cell_data["stress"][0][:, 1:], 0.0)


def test_paraview_gets_few_times_of_long_runs(tmp_path):
    times = [time for time, _ in grids(sliding(), tmp_path / "few", frames=5)]
    np.testing.assert_allclose(times, [0.0, 2e-3, 4e-3, 6e-3, 8e-3], atol=1e-12)
    assert bodies_of(tmp_path / "few") == ["rod", "slider"]
    grids(falling(), tmp_path / "hostile", frames=1)
    assert bodies_of(tmp_path / "hostile") == [HOSTILE, "_link"]
