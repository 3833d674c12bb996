"""The code in the README and the docs runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_python_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.S):
        exec(compile(block, page.name, "exec"), scope)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_readme_states_the_numbers_that_its_example_gives(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```", text, flags=re.S).group(1)
    assert len([line for line in block.splitlines() if line.strip()]) <= 26
    scope: dict = {}
    exec(compile(block, "README.md", "exec"), scope)
    stated = [float(x) for x in re.search(r"# ([\d., ]+?), … rad/s", text).group(1).split(",")]
    assert [round(float(w), 2) for w in scope["locked"][:3]] == stated
    assert (tmp_path / "modes.png").stat().st_size > 10_000
