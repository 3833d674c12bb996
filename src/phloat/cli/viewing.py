"""phloat view: the page of a run, in a browser where there is one."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Any

import phloat as ph
from phloat.cli import models
from phloat.cli.running import PAGE, SUMMARY
from phloat.cli.talk import Talk
from phloat.errors import InputError
from phloat.files.requests import ModesRequest

TEXT_BROWSERS = ("www-browser", "links", "elinks", "lynx", "w3m")


def view(asked: argparse.Namespace, talk: Talk) -> dict[str, Any]:
    """Make a page and open it."""
    what = Path(asked.what)
    if not what.exists():
        raise InputError(f"there is no {asked.what!r}; give a folder with a run, a model file or a page")
    if asked.modes and (what.is_dir() or what.suffix.lower() in (".html", ".htm")):
        raise InputError(f"--modes is for model files, and {asked.what!r} is none")
    if what.is_dir():
        page = _of_folder(what, asked.output)
    elif what.suffix.lower() in (".html", ".htm"):
        page = what
    else:
        page = _of_model(asked, talk)
    opened = not asked.no_browser and open_page(page)
    talk.say(f"{'opened' if opened else 'open in a browser'}: {page.resolve().as_uri()}")
    return {"what": asked.what, "page": str(page), "opened": opened}


def _of_folder(folder: Path, output: str | None) -> Path:
    """The page of a run: the one that lies there, unless the run is newer."""
    page, run = folder / PAGE, folder / "run.json"
    if not run.exists():
        if page.exists() and output is None:
            return page
        raise InputError(f"{str(folder)!r} holds no run and no page; `phloat run model.yaml -o {folder}` makes one")
    if output is None and page.exists() and page.stat().st_mtime >= run.stat().st_mtime:
        return page
    target = _checked(output) if output else page
    title, inputs = _told(folder)
    return ph.to_html(ph.load_result(folder), target, title=title or folder.stem, u=inputs)


def _told(folder: Path) -> tuple[str, dict[str, Any] | None]:
    """Name and inputs of the model that was run, where its file lies in the folder."""
    own = ("run.json", "model.json", SUMMARY)
    for file in sorted(folder.iterdir()):
        if file.suffix in (".yaml", ".yml", ".json") and file.name not in own:
            try:
                model = ph.load_model(file)
            except (OSError, InputError):  # a mesh that it names is elsewhere
                continue
            return model.name, dict(model.inputs) or None
    return "", None


def _of_model(asked: argparse.Namespace, talk: Talk) -> Path:
    """The page of what a model asks for: its run, or else its modes."""
    model = models.loaded(asked.what)
    page = _checked(asked.output or f"{models.stem(model)}.html")
    title = model.name or models.stem(model)
    if model.simulate is not None and not asked.modes:
        moved = ph.run(model, progress=False if talk.quiet else None)
        return ph.to_html(moved, page, title=title, u=dict(model.inputs) or None)
    wanted = model.modes or ModesRequest()
    found = ph.run_modes(replace(model, modes=replace(wanted, along=None)))
    assert isinstance(found, ph.Modes)
    return ph.to_html(found, page, title=title)


def _checked(path: str) -> Path:
    models.ending(path, (".html", ".htm"))
    return Path(path)


def open_page(page: Path) -> bool:
    """Show a page in a graphical browser; whether there was one."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        browser = webbrowser.get()
        if getattr(browser, "name", "") in TEXT_BROWSERS:
            return False
        return bool(browser.open(page.resolve().as_uri()))
    except (webbrowser.Error, OSError):
        return False
