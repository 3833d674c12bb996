"""Puts the pages together in build/pages and builds build/site from them. Run by docs/build."""

import os
import re
import shutil
import sys
from pathlib import Path

import api_pages
import gallery_pages
import search_words
from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ELSEWHERE = {  # files outside docs/ that are pages of the site
    ROOT / "benchmarks/RESULTS.md": "measured/benchmarks.md",
    ROOT / "benchmarks/versus/RESULTS.md": "measured/versus.md",
    ROOT / "benchmarks/versus/README.md": "measured/versus_how.md",
    ROOT / "benchmarks/rigid/RESULTS.md": "measured/rigid.md",
    ROOT / "benchmarks/rigid/README.md": "measured/rigid_how.md",
    ROOT / "CHANGELOG.md": "changes.md",
    ROOT / "examples": "gallery.md",
    ROOT / "examples/models": "gallery.md",
} | {file: f"examples/{file.stem}.md" for file in (ROOT / "examples").glob("*.py")}

NOTEBOOKS = """c = get_config()
c.IPKernelApp.log_level = 40
"""


def assemble(pages: Path) -> None:
    """docs/, the files from elsewhere and the pages that are made, as Sphinx reads them."""
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("__pycache__", "build"))
    written = {page: str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    texts = {
        place: linked(file, Path(place), pages) for file, place in (written | ELSEWHERE).items() if file.suffix == ".md"
    }
    for place, text in (search_words.put_words(texts) | gallery_pages.pages() | api_pages.pages()).items():
        put(pages / place, text)


def linked(file: Path, place: Path, pages: Path) -> str:
    """A page that comes to stand at `place`: its links go to pages, or to copies of what else they name."""

    def here(found: re.Match[str]) -> str:
        target = (file.parent / found[1]).resolve()
        if target in ELSEWHERE:
            there = ELSEWHERE[target]
        elif target.is_relative_to(DOCS):
            there = str(target.relative_to(DOCS))
        elif target.is_file():
            there = f"linked/{target.name}"
            (pages / "linked").mkdir(exist_ok=True)
            shutil.copy2(target, pages / there)
        else:
            return found[0]  # Sphinx will say that it leads nowhere
        return f"]({os.path.relpath(there, place.parent)}{found[2] or ''})"

    return re.sub(r"\]\((?!http|#)([^)#\s]+)(#[^)\s]*)?\)", here, file.read_text())


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def build(pages: Path, site: Path, *options: str) -> int:
    """The site; any warning is an error."""
    assemble(pages)
    sys.path.insert(0, str(DOCS))
    os.environ |= {"MATPLOTLIBRC": str(DOCS / "static"), "IPYTHONDIR": str(pages.parent / "ipython")}
    os.environ.pop("MPLBACKEND", None)  # notebooks draw by their own
    profile = pages.parent / "ipython/profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(NOTEBOOKS)
    kept = f"-Dnb_execution_cache_path={pages.parent / 'notebooks'}"
    return build_main(["-E", "-W", "--keep-going", "-q", kept, *options, str(pages), str(site)])


if __name__ == "__main__":
    code = build(ROOT / "build/pages", ROOT / "build/site", *sys.argv[1:])
    print("the site is build/site/index.html" if code == 0 else "the site has warnings, see above", file=sys.stderr)
    sys.exit(code)
