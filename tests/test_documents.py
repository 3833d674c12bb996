"""The documentation: its code runs, its links have targets, reference and gallery are complete, the site builds."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import quote_plus

import pytest

import phloat

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

sys.path += [str(DOCS), str(ROOT / "tests/browser")]
api_pages, gallery_pages, search_words = map(import_module, ("api_pages", "gallery_pages", "search_words"))
chromium = import_module("chromium")
MADE = {DOCS / page: text for page, text in (api_pages.pages() | gallery_pages.pages()).items()}


# --- code ------------------------------------------------------------------------------------------------------------


def blocks(text: str) -> list[str]:
    """The Python code blocks and notebook cells of a page, without the options of cells."""
    found = re.findall(r"^```(?:python|\{code-cell\}[^\n]*)\n(.*?)^```", text, flags=re.S | re.M)
    return [re.sub(r"\A(?::[\w-]+:[^\n]*\n)+", "", block) for block in found]


def test_both_kinds_of_code_are_found():
    page = "```python\na\n```\ntext\n```{code-cell} ipython3\n:tags: [hide-input]\nb\n```\n```text\nc\n```\n"
    assert blocks(page) == ["a\n", "b\n"]


MARKS = {ROOT / "README.md": pytest.mark.quick, DOCS / "start.md": pytest.mark.quick}
MARKS[DOCS / "twin.md"] = pytest.mark.long  # JAX compiles its gradients for a minute


def with_code() -> list:
    """All pages as parameters of a test, with their marks."""
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)), marks=[MARKS[page]] if page in MARKS else [])
        for page in PAGES
    ]


@pytest.mark.parametrize("page", with_code())
def test_the_code_of_a_page_runs_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope: dict = {"__name__": page.stem}
    for block in blocks(page.read_text()):
        exec(compile(block, page.name, "exec"), scope)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def test_the_readme_states_the_numbers_that_its_example_gives(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text()
    block = blocks(text)[0]
    assert len([line for line in block.splitlines() if line.strip()]) <= 26
    scope: dict = {}
    exec(compile(block, "README.md", "exec"), scope)
    stated = [float(x) for x in re.search(r"# ([\d., ]+?), … rad/s", text).group(1).split(",")]
    assert [round(float(w), 2) for w in scope["locked"][:3]] == stated
    assert (tmp_path / "modes.png").stat().st_size > 10_000


# --- links -----------------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page: lower case, with hyphens."""
    return {search_words.slug(title) for _, title in search_words.headings(text)}


def dead_links(page: Path, text: str) -> list[str]:
    """The links of a page to files or headings of the project that do not exist."""
    dead = []
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)", text):
        file = (page.parent / target).resolve()
        there = MADE.get(file, file.read_text() if file.suffix == ".md" and file.exists() else "") if target else text
        if not (file in MADE or file.exists()) or (anchor and anchor[1:] not in anchors(there)):
            dead.append(target + anchor)
    return dead


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert not dead_links(page, page.read_text())


def test_dead_links_are_seen():
    text = "## A title\n[a](motion.md#saved-runs) [b](nowhere.md) [c](motion.md#nowhere) [d](#a-title) [e](#b) [f](gallery.md)"
    assert dead_links(DOCS / "here.md", text) == ["nowhere.md", "motion.md#nowhere", "#b"]


# --- nothing is left out ---------------------------------------------------------------------------------------------


def test_every_public_name_is_on_one_page_of_the_reference():
    listed = [name for names in api_pages.grouped().values() for name in names]
    assert sorted(listed) == sorted(api_pages.public())
    assert {f"phloat.{name}" for name in phloat.__all__} <= set(listed)


def test_every_page_is_in_the_contents():
    texts = {page: page.read_text() for page in PAGES[1:]} | MADE
    listed = {
        (page.parent / entry).with_suffix(".md").resolve()
        for page, text in texts.items()
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", text, flags=re.S | re.M)
        for entry in re.findall(r"^(?!:)(\S+)$", block, flags=re.M)
    }
    assert not set(texts) - listed - {DOCS / "index.md"}


def rows_of_the_paper(text: str) -> list[list[str]]:
    """The cells of the rows of all tables whose first column is called "equation"."""
    tables = re.findall(r"^\| equation \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, flags=re.M)
    return [[cell.strip() for cell in line.strip("|").split("|")] for table in tables for line in table.splitlines()]


def items(cell: str) -> list[str]:
    """The equations, remarks, tables and figures that a cell names."""
    found = re.findall(r"\((\d+)\)|(Remark|Table|Fig\.) (\d+)", cell)
    return [f"({equation})" if equation else f"{kind} {number}" for equation, kind, number in found]


def test_everything_numbered_in_the_paper_has_a_row():
    rows = rows_of_the_paper((DOCS / "paper.md").read_text())
    assert all(len(row) == 4 and all(row) for row in rows), [row for row in rows if len(row) != 4 or not all(row)]
    wanted = [f"({n})" for n in range(1, 69)] + [f"Remark {n}" for n in range(1, 7)]
    wanted += ["Table 1", "Table 2", *(f"Fig. {n}" for n in range(1, 11))]
    named = [item for row in rows for item in items(row[0])]
    assert not set(wanted) - set(named)
    assert not set(named) - set(wanted)


def test_a_missing_row_of_the_paper_is_seen():
    text = "| equation | in phloat |\n|---|---|\n| (1), Fig. 2 | `b` |\n\n| (3) | outside of a table of equations |\n"
    assert [items(row[0]) for row in rows_of_the_paper(text)] == [["(1)", "Fig. 2"]]


def test_a_name_without_a_page_is_seen():
    assert api_pages.group_of("phloat.elsewhere") is None
    assert api_pages.group_of("phloat.motion.ledger").title == "Motion"
    assert api_pages.group_of("phloat.motion.saving.folder").title == "Files and saved runs"


def test_docstrings_are_plain_text_to_sphinx():
    lines = ["Takes `a` times *b, of u_ and |x|.", "", "    T = ½ *m* v_", "", "Then more."]
    api_pages.as_rst(lines)
    assert lines[0] == r"Takes ``a`` times \*b, of u\_ and \|x\|."
    assert lines[1:] == ["", "::", "", "    T = ½ *m* v_", "", "Then more.", ""]


def test_every_example_is_in_the_gallery_with_a_small_picture():
    shown = [name for names in gallery_pages.SECTIONS.values() for name in names]
    assert sorted([*shown, "demo"]) == sorted(file.stem for file in gallery_pages.EXAMPLES.glob("*.py"))
    for name in shown:
        assert 2_000 < (DOCS / f"pictures/gallery/{name}.png").stat().st_size < 80_000, name
        assert gallery_pages.said(name)[0].endswith(("?", ")")), name


# --- the search ------------------------------------------------------------------------------------------------------

QUESTIONS = {  # what somebody types into the search of the site, and the page that its first hit should be
    "gear ratio": "how_to/gears",
    "joint limits": "how_to/stops_and_contact",
    "Simulink": "how_to/export",
    "contact": "how_to/stops_and_contact",
    "friction": "how_to/stops_and_contact",
    "cable": "how_to/stops_and_contact",
    "motor": "how_to/motor",
    "encoder": "how_to/controller",
    "gravity compensation": "how_to/inverse_dynamics",
    "units": "files",
    "natural frequencies at a pose": "how_to/modes_at_poses",
    "reaction forces": "how_to/stress",
    "stress at a point": "how_to/stress",
    "inverse kinematics": "how_to/inverse_dynamics",
    "animation": "page",
    "STEP": "find",
}


def words_of_pages() -> dict[tuple[str, str], list[str]]:
    texts = {str(page.relative_to(DOCS)): page.read_text() for page in DOCS.rglob("*.md")}
    return search_words.places(texts["find.md"], texts)


def test_every_word_of_the_index_has_one_row_and_leads_to_a_heading():
    places = words_of_pages()
    words = [word.lower() for found in places.values() for word in found]
    assert len(words) == len(set(words)) > 300
    for (page, anchor), found in places.items():
        text = search_words.indexed((DOCS / page).read_text(), anchor, found)
        assert f"\n```{{index}} ! {found[0]}" in text


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_a_word_of_the_right_page(question):
    found = {
        page
        for (page, _), words in words_of_pages().items()
        for word in words
        if question.lower() in (word.lower(), search_words.plural(word.lower()))
    }
    assert found == {f"{QUESTIONS[question]}.md"}


def test_words_that_a_page_does_not_have_stay_in_the_index():
    text = "# Index\n## Files\n| word | |\n|---|---|\n| STEP, mesh | **not read**: [meshes](a.md#b) |\n"
    pages = {"find.md": text, "a.md": "# A\n```\n# B\n```\n## B\nOne step on a mesh."}
    assert search_words.places(text, pages) == {("find.md", "files"): ["STEP"], ("a.md", "b"): ["mesh"]}
    assert "## B\n\n```{index} ! mesh, ! meshes\n```\n" in search_words.put_words(pages)["a.md"]


# --- the site --------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    code = "import sys, pathlib as p, make_site as m; sys.exit(m.build(*(p.Path(x) for x in sys.argv[1:])))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "pages"), str(tmp_path / "site")],
        env=os.environ | {"PYTHONPATH": str(DOCS)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for page in ("index", "start", "tutorials/ledger", "how_to/add_joint", "gallery", "reference/bodies", "comparison"):
        assert (tmp_path / "site" / f"{page}.html").stat().st_size > 5_000
    if chromium.found():
        assert first_hits(tmp_path / "site") == QUESTIONS


FIRST_HIT = "document.querySelector('#search-results li a')"


def first_hits(site: Path) -> dict[str, str]:
    """The page of the first hit of every question, in a site that is opened from disk."""
    browser = chromium.Chromium(chromium.found())
    hits = {}
    for question in QUESTIONS:
        page = browser.page(f"file://{site}/search.html?q={quote_plus(question)}", ready="")
        page.until(FIRST_HIT)
        hits[question] = page(f"{FIRST_HIT}.getAttribute('href')").partition(".html")[0]
        assert not page.errors()
    browser.close()
    return hits
