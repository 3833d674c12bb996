"""phloat verify: the table for people, the same as JSON, and an exit code that tells."""

import json
import re
from dataclasses import replace

import pytest
from verification.verify import CASES

import phloat
from phloat.cli.main import main, parser

NAMES = ["rod", "free rotation"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_table_is_printed(capsys):
    assert main(["verify", *NAMES]) == 0
    out = capsys.readouterr().out
    assert "source  roots of β tan β" in out
    assert "NOT WITHIN" not in out
    assert out.rstrip().endswith("7 of 7 rows within tolerance, 2 cases")


def test_json_has_every_row_and_files_are_written(capsys, tmp_path):
    assert main(["verify", *NAMES, "--json", "-o", "report.json", "-o", "report.txt"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["good"] is True
    assert [case["name"] for case in found["cases"]] == NAMES
    assert sum(len(case["rows"]) for case in found["cases"]) == 7
    assert json.loads((tmp_path / "report.json").read_text())["cases"] == found["cases"]
    assert "7 of 7 rows" in (tmp_path / "report.txt").read_text()


def test_a_row_that_is_off_is_named_and_the_exit_code_is_3(monkeypatch, capsys):
    def off(fine):
        return [replace(row, found=2 * row.found) for row in run(fine)]

    run = CASES["rod"].run
    monkeypatch.setitem(CASES, "rod", replace(CASES["rod"], run=off))
    assert main(["verify", *NAMES]) == 3
    out, err = capsys.readouterr()
    assert "NOT WITHIN" in out
    assert "3 of 7 rows within tolerance, 2 cases; to look at: rod" in err


def test_cases_are_listed_and_unknown_ones_refused(capsys):
    assert main(["verify", "--list", "--quick"]) == 0
    out = capsys.readouterr().out
    assert "pendulum" in out
    assert "end moment" not in out
    assert main(["verify", "pendulums"]) == 2
    assert "no case 'pendulums'; there are" in capsys.readouterr().err


def test_an_installation_without_the_source_says_where_the_cases_are(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(phloat, "__file__", str(tmp_path / "site-packages/phloat/__init__.py"))
    assert main(["verify", "--quick"]) == 2
    assert "repository of phloat, in tests/verification" in capsys.readouterr().err


def test_help_teaches_by_examples_that_are_right(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["verify", "--help"])
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines())
    lines = re.findall(r"^ +phloat (verify\b.*)$", out.partition("examples:")[2], re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        asked = parser().parse_args(re.split(r" {2,}", line)[0].split())
        assert asked.command == "verify"
        assert set(asked.names) <= set(CASES)
