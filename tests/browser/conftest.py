"""One browser for all tests of a worker, and the pages they look at."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from chromium import Chromium, found
from pages import PAGES


@pytest.fixture(scope="session")
def chromium():
    path = found()
    if path is None:
        pytest.skip("no Chromium is installed: apt-get install chromium, or name one in $CHROMIUM")
    browser = Chromium(path)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """written(name) is the file of a page and what it shows."""
    folder, known = tmp_path_factory.mktemp("pages"), {}

    def write(name: str):
        if name not in known:
            known[name] = PAGES[name](folder / f"{name}.html")
        return known[name]

    return write


@pytest.fixture
def opened(chromium, written):
    """opened(name, **options) is a page of its own; at the end of the test it must have had nothing to complain about."""
    pages = []

    def open_page(name: str, **options):
        pages.append(chromium.page(written(name)[0].as_uri(), **options))
        return pages[-1]

    yield open_page
    complaints = [error for page in pages for error in page.errors()]
    for page in pages:
        page.close()
    assert complaints == []


@pytest.fixture(scope="session")
def kept(chromium, written):
    """Pages that several tests look at: opening one takes longer than most of what is done with it."""
    pages = {}

    def keep(name: str):
        if name not in pages:
            pages[name] = chromium.page(written(name)[0].as_uri())
        return pages[name]

    yield keep
    for page in pages.values():
        page.close()


RESET = """
for (const [id, value] of [["colour", "body"], ["magnify", "0"], ["trail", ""], ["scrub", "0"]]) {
  const control = document.getElementById(id);
  control.value = value;
  for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, { bubbles: true }));
}
document.querySelector("[data-view=fit]").click();
document.activeElement.blur();
"""


@pytest.fixture
def shared(kept):
    """shared(name) is a page as it was when it was opened, but for its camera."""
    used = []

    def take(name: str):
        page = kept(name)
        page.ask("Page.bringToFront")  # one that is hidden draws nothing
        page(RESET)
        page.settled()
        used.append(page)
        return page

    yield take
    assert [error for page in used for error in page.errors()] == []
