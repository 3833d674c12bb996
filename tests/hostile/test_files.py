"""Files made to hurt: bombs, depth, huge counts, paths that lead elsewhere, names with markup. What the fuzz finds is kept here."""

import json
import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from messages import raises

import phloat as ph
from phloat.algebra.array_files import read_npy, read_npz
from phloat.files.text import MAX_NODES
from phloat.motion.saving import recorder
from phloat.system.parts import Parts

sys.path.insert(0, str(Path(__file__).parent))
import mutations

STEEL = "{E: 200 GPa, rho: 7870, nu: 0.3}"
BEAM = f"beam: {{length: 30 cm, section: {{circle: 6 mm}}, material: {STEEL}}}"
MODEL = f"""\
phloat: 1
plane: xy
bodies:
  rod: {{{BEAM}, elements: 2}}
joints:
  hinge: {{revolute: [ground, rod.P]}}
simulate: {{t_end: 10 ms, dt: 1 ms}}
"""
PLATE = f"phloat: 1\nbodies: {{p: {{plate: {{SHAPE, thickness: 1 mm, material: {STEEL}}}, cells: 4}}}}"
SOLID = f"phloat: 1\nbodies: {{p: {{solid: {{SHAPE, material: {STEEL}}}, cells: 4}}}}"


# --- counts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MODEL.replace("elements: 2", "elements: 1000000000"), "1.0e+09"),
        (MODEL.replace("elements: 2", "elements: 2, split: 1000000000"), "1.0e+09"),
        (MODEL.replace("elements: 2", f"elements: {10**17}"), "1.0e+17"),
        (MODEL.replace("elements: 2", f"elements: {10**30}"), "bodies.rod.elements"),
        (MODEL.replace("elements: 2", "elements: 2000, split: 2000"), "4.0e+06"),
        (PLATE.replace("SHAPE", "rectangle: {a: 1, b: 1}").replace("cells: 4", "cells: 1000000"), "1.0e+12"),
        (PLATE.replace("SHAPE", "rectangle: {a: 1, b: 1}").replace("cells: 4", "cells: [90000, 90000]"), "8.1e+09"),
        (PLATE.replace("SHAPE", "rectangle: {a: 1, b: 1}").replace("cells: 4", "cells: 4, refine: 60"), "bodies.p"),
        (PLATE.replace("SHAPE", "disc: {radius: 1, inner: 0.9999999999}"), "bodies.p"),
        (SOLID.replace("SHAPE", "box: {a: 1, b: 1, c: 1}").replace("cells: 4", "cells: 5000"), "1.2e+11"),
        (SOLID.replace("SHAPE", "bracket: {a: 1, b: 1, thickness: 1e-9, width: 1}"), "bodies.p"),
        (
            SOLID.replace("SHAPE", "tube: {length: 1, outer: 1}").replace("cells: 4", "cells: 4, refine: 999"),
            "bodies.p",
        ),
        (MODEL + "response: {inputs: [hinge], omega: {from: 1, to: 2, count: 1000000000}}", "response.omega.count"),
        (MODEL + "sweep: {parameters: {rod.material.E: [1, 2]}, samples: 1000000000000}", "sweep.samples"),
    ],
)
def test_huge_counts_are_refused_before_they_cost_anything(text, name):
    with raises(ph.errors.FileError, name) as caught:
        ph.io.parse_model(text)
    assert caught.value.line > 1


def test_thin_shapes_are_counted_as_they_are_meshed():
    thin = SOLID.replace("SHAPE", "box: {a: 1, b: 0.1, c: 0.01}").replace("cells: 4", "cells: 200")
    assert ph.io.parse_model(thin).parts is not None


def test_steps_that_cannot_be_counted_are_said_of_the_file():
    with raises(ph.errors.FileError, "1.0e+18") as caught:
        ph.io.run_model(ph.io.parse_model(MODEL.replace("dt: 1 ms", "dt: 1e-20")))
    assert caught.value.key.startswith("simulate")


def test_a_wrong_joint_among_thousands_is_found_soon(monkeypatch):
    good = "\n".join(f"  s{k}: {{joint spring: hinge, stiffness: 1}}" for k in range(1000))
    text = MODEL.replace("simulate:", f"{good}\n  wrong: {{joint spring: henge, stiffness: 1}}\nsimulate:")
    connected, calls = Parts.connected, []
    monkeypatch.setattr(Parts, "connected", lambda *given: calls.append(given) or connected(*given))
    with raises(ph.errors.FileError, "'henge'") as caught:
        _ = ph.io.parse_model(text).system
    assert caught.value.key == "joints.wrong.joint spring"
    assert len(calls) < 20  # and not a thousand


# --- bombs ------------------------------------------------------------------------------------------------------------


def test_yaml_bombs_end_at_a_number_of_values():
    lines = ["phloat: 1", "a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    with raises(ph.errors.FileError, MAX_NODES):
        ph.io.parse_model("\n".join(lines))
    merged = "phloat: 1\na: &a {x: 1}\n" + "".join(
        f"m{k}: &m{k} {{<<: [{', '.join(['*a'] * 500)}]}}\n" for k in range(900)
    )
    with raises(ph.errors.FileError):
        ph.io.parse_model(merged)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "- " * 100_000, "? " * 50_000, "&a [*a" * 5000, "{" * 1000 + "}" * 1000]
)
@pytest.mark.parametrize("name", ["model.yaml", "model.json"])
def test_depth_ends_in_a_sentence(text, name):
    with raises(ph.errors.FileError):
        ph.io.parse_model(text, name)


def test_archives_that_unpack_to_more_than_they_may_are_not_unpacked(tmp_path):
    (tmp_path / "a.npz").write_bytes(mutations.bomb())
    assert (tmp_path / "a.npz").stat().st_size < 1_000_000
    with raises(ValueError, "4000"):
        read_npz(tmp_path / "a.npz")
    text = SOLID.replace("SHAPE", "mesh: a.npz").replace(", cells: 4", "")
    (tmp_path / "model.yaml").write_text(text)
    with raises(ph.errors.FileError, "a.npz"):
        _ = ph.io.load_model(tmp_path / "model.yaml").system


@pytest.mark.parametrize("k", range(len(mutations.ARRAYS)))
def test_arrays_that_promise_or_hide_something_are_refused_or_plain(tmp_path, monkeypatch, k):
    monkeypatch.chdir(tmp_path)
    Path("a.npy").write_bytes(mutations.ARRAYS[k])
    try:
        assert read_npy(Path("a.npy")).nbytes <= len(mutations.ARRAYS[k])
    except ValueError as error:
        assert str(error)
    assert not Path("executed").exists()


def test_arrays_written_by_numpy_are_read_as_they_were(tmp_path):
    for array in (
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(["a", "bc"]),
        np.zeros((0, 3)),
    ):
        np.save(tmp_path / "a.npy", array)
        np.testing.assert_array_equal(read_npy(tmp_path / "a.npy"), array)
        np.savez_compressed(tmp_path / "a.npz", x=array, y=array)
        np.testing.assert_array_equal(read_npz(tmp_path / "a.npz", "y")["y"], array)


# --- paths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "../secret.msh",
        "/etc/passwd",
        "a/../../secret.msh",
        "..\\\\secret.msh",
        "C:/secret.msh",
        "link.msh",
        "inside/secret.msh",
        "\\0",
        ".",
    ],
)
def test_files_outside_the_folder_of_a_model_are_not_opened(tmp_path, path):
    (tmp_path / "secret.msh").write_text("secret words")
    folder = tmp_path / "model"
    folder.mkdir()
    os.symlink(tmp_path / "secret.msh", folder / "link.msh")
    os.symlink(tmp_path, folder / "inside")
    (folder / "model.yaml").write_text(SOLID.replace("SHAPE", f'mesh: "{path}"').replace(", cells: 4", ""))
    with raises(ph.errors.FileError) as caught:
        _ = ph.io.load_model(folder / "model.yaml").system
    assert "secret words" not in str(caught.value)
    assert "root:" not in str(caught.value)


def test_a_run_is_opened_from_its_own_folder_whatever_it_says(tmp_path, monkeypatch):
    monkeypatch.setattr(recorder, "SECONDS", 0.0)
    ph.io.run_model(ph.io.parse_model(MODEL), save=tmp_path / "run")
    said = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "run" / "run.json").write_text(json.dumps(said | {"model": {"file": "../other.json", "why": None}}))
    assert len(ph.io.load_result(tmp_path / "run")) == 11  # model.json, as always


# --- names with markup ------------------------------------------------------------------------------------------------

NAMES = [
    "<script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "'\"&<>",
    "]]>",
    "<!--",
    "\u202eabc",
    "a`b${c}",
    "$x^2$",
    "$\\frac$",
    "_^{}",
]


def named(name: str) -> ph.System:
    data = {"phloat": 1, "plane": "xy", "bodies": {name: {"rigid body": {"mass": 1, "inertia": [1, 1, 1]}}}}
    data |= {"joints": {f"{name} pin": {"revolute": ["ground", f"{name}.P"]}}, "gravity": [0, -9.81, 0]}
    return ph.io.parse_model(json.dumps(data), "model.json").system


@pytest.mark.parametrize("name", NAMES)
def test_markup_in_names_is_text_in_pages_and_diagrams(tmp_path, name):
    system = named(name)
    result = ph.simulate(system, ph.place(system), t_end=0.02, dt=0.01)
    page = ph.to_html(result, tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.count("<script") == 4
    assert "alert(1)</script>" not in page
    assert "<script>alert" not in system._repr_html_()
    ph.plot(result).savefig(tmp_path / "run.svg")
    ph.plot(system).savefig(tmp_path / "diagram.svg")
    shown = ph.show(result)._repr_html_()
    assert "alert(1)</script>" not in shown
    for file in tmp_path.glob("*.svg"):
        tags = {re.sub(r"\{.*\}", "", tag.tag) for tag in ElementTree.parse(file).iter() if isinstance(tag.tag, str)}
        assert "script" not in tags
