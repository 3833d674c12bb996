"""How the command line talks: tables, colours, JSON, help that is right; and that it is a program."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import phloat as ph
import phloat.names
from phloat.cli import console
from phloat.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples" / "models"
CRANK = str(MODELS / "crank_slider.yaml")
SHORT = ["--t-end", "2ms", "--dt", "100us"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Commands write to where they are called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


# --- how it talks ----------------------------------------------------------------------------------------------------


def test_tables_fit_narrow_terminals():
    rows = [("crank_slider.yaml", "How far does the rod of a fast crank-slider bend, and where?"), ("b", "short")]
    wide = console.table_lines(("file", "about"), rows, 200)
    assert len(wide) == 3 and wide[1].startswith("  crank_slider.yaml  How far")
    narrow = console.table_lines(("file", "about"), rows, 40)
    assert all(len(line) <= 40 for line in narrow)
    assert "".join(narrow).replace(" ", "") == "".join(wide).replace(" ", "")
    numbers = console.table_lines(("name", "x"), [("a", 1.5), ("b", -22.25)], 80)
    assert numbers == ["  name       x", "  a        1.5", "  b     -22.25"]


@pytest.mark.parametrize(("settings", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colours_are_for_terminals_that_want_them(monkeypatch, settings, coloured):
    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert ("\033[" in console.styled("word", "bold", Terminal)) == coloured
    assert console.styled("word", "bold", sys.__stdin__ if not sys.__stdin__.isatty() else Terminal).endswith(
        ("word", "m")
    )


def test_json_has_no_numbers_that_json_does_not_know():
    said = console.as_json(
        {"a": np.array([1.0, np.nan, np.inf]), "b": 1 + 2j, "c": Path("x"), 3: np.int64(4), "d": None}
    )
    assert json.loads(said) == {"a": [1.0, None, None], "b": {"re": 1.0, "im": 2.0}, "c": "x", "3": 4, "d": None}


def test_quiet_is_quiet(capsys):
    for words in (
        ["check", CRANK],
        ["examples"],
        ["run", CRANK, *SHORT],
        ["doctor"],
        ["modes", str(MODELS / "satellite.yaml")],
    ):
        assert main([*words, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "command", ["run", "modes", "response", "sweep", "check", "view", "examples", "doctor", "schema"]
)
def test_help_teaches_by_examples_that_are_right(command, capsys, monkeypatch):
    """Every example in the help is understood by the command line itself."""
    from phloat.cli.main import parser

    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    lines = re.findall(rf"^ +phloat ({command}\b.*)$", out.partition("examples:")[2], re.MULTILINE)
    assert len(lines) >= 2
    for line in lines:
        words = re.split(r" {2,}| \| | && | > ", line)[0].split()
        assert parser().parse_args(words).command == command


# --- as a program ----------------------------------------------------------------------------------------------------


def test_help_loads_nothing_heavy():
    code = "import sys\nfrom phloat.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit: pass\n"
    code += "print('LOADED', *(m for m in ('numpy', 'scipy', 'numba', 'skfem') if m in sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "LOADED"
    assert out.startswith("usage: phloat")


def test_a_name_loads_its_own_module_only():
    code = "import sys, phloat as ph\nph.Beam(1.0, ph.Circle(0.02), ph.Material(E=7e10, rho=2700.0, nu=0.3)).discretise(2)\n"
    code += "print(*(m for m in ('numba', 'scipy.optimize', 'scipy.spatial', 'phloat.motion') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"
    assert sorted(ph.__all__) == ph.public_names(ph.names) and set(ph.__all__) < set(dir(ph))


def test_python_m_phloat_is_the_same_program():
    done = subprocess.run([sys.executable, "-m", "phloat", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"phloat {ph.__version__}\n"
    bare = subprocess.run([sys.executable, "-m", "phloat"], capture_output=True, text=True, check=True)
    assert "phloat run crank_slider.yaml" in bare.stdout


@pytest.mark.long
def test_a_wheel_has_the_examples_and_the_schema(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
    )
    if "hatchling" in done.stderr:
        pytest.skip("hatchling, which makes wheels, cannot be had here")
    assert done.returncode == 0, done.stderr
    zipfile.ZipFile(next(tmp_path.glob("*.whl"))).extractall(tmp_path / "there")
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'there')!r}); from phloat.cli.main import main; sys.exit(main())"
    for words, said in (
        (["examples", "robot_link", "-o", str(tmp_path / "copy")], "link.msh"),
        (["schema"], "phloat model"),
    ):
        out = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True).stdout
        assert said in out
    copy = (tmp_path / "copy" / "robot_link.yaml").read_text(encoding="utf-8")
    assert copy.splitlines()[0].endswith("$schema=model.schema.json")
    assert (tmp_path / "copy" / "model.schema.json").is_file()
