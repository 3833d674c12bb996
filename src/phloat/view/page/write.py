"""to_html(result, path) writes a self-contained HTML page, show(result) displays it in a notebook."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from phloat.algebra.version import __version__
from phloat.errors import InputError, positive, require_folder
from phloat.linear.analysis.modes import Modes
from phloat.linear.time.march import LinearResult
from phloat.motion.inputs.inputs import Inputs
from phloat.motion.result import Result
from phloat.view.figures import COLOURS
from phloat.view.page.content import linear_content, modes_content, motion_content
from phloat.view.page.pack import Pack

SCRIPTS = ("data.js", "numbers.js", "camera.js", "bodies.js", "marks.js", "plots.js", "stage.js", "page.js")

Shown = Result | LinearResult | Modes


def to_html(
    x: Shown,
    path: str | Path,
    *,
    title: str | None = None,
    u: Mapping[str, object] | Inputs | None = None,
    plots: Sequence[str] | None = None,
) -> Path:
    """Writes a self-contained page of a run or of modes for a browser: the moving mechanism in 3-D, and plots.

    Parameters
    ----------
    x : Result, LinearResult or Modes
        What to show.
    path : path
        The file to write, in a folder that exists; a file of that name is replaced.
    title : str, optional
        Default: the name of the file.
    u : mapping of str to float, array or function of t, optional
        The inputs, as given to `simulate`, to plot them too.
    plots : sequence of str, optional
        The plots that the page opens with: quantities ("motor.angle", "boom.u_f"), bodies or joints with all of theirs, or kinds
        ("positions", "forces", "energy"). By default motion, deformation and the balance of energy.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> disc = ph.RigidBody(mass=1.0, inertia=np.diag([0.25, 0.25, 0.5])).discretise()
    >>> wheel = ph.connect({"disc": disc}, [ph.Revolute("ground", "disc.P", name="motor")], plane="xy")
    >>> result = ph.simulate(wheel, ph.place(wheel), t_end=1.0, dt=0.01, u={"motor": 2.0})
    >>> ph.to_html(result, "run.html", u={"motor": 2.0}, plots=["motor.angle", "inputs"]).name
    'run.html'
    """
    file = require_folder(path)
    text = page_text(x, title=title or file.stem.replace("_", " "), u=u, plots=plots)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{str(file)!r} cannot be written: {error.strerror or error}") from error
    return file


def page_text(
    x: Shown,
    *,
    title: str = "",
    u: Mapping[str, object] | Inputs | None = None,
    plots: Sequence[str] | None = None,
) -> str:
    """The HTML of a page, with its data, scripts and style. Raises InputError if there is nothing to show."""
    pack = Pack()
    if isinstance(x, Result):
        if not len(x):
            raise InputError("the result has no output times")
        document = motion_content(x, u, pack, plots)
    elif isinstance(x, LinearResult):
        document = linear_content(x, pack, plots)
    elif isinstance(x, Modes):
        if plots:
            raise InputError(f"plots is {plots!r}, and a page of modes has no plots over time; leave it out")
        document = modes_content(x, pack)
    else:
        raise InputError(f"{type(x).__name__} has no page; to_html takes a Result, a LinearResult or Modes")
    title = title or ("Modes" if isinstance(x, Modes) else "Motion")
    document |= {"title": title, "version": __version__, "colours": list(COLOURS), "arrays": pack.index}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<\u2028\u2029":  # in a script element, < could end it and the others end a line
        text = text.replace(character, f"\\u{ord(character):04x}")
    library, style = _page_file("three.min.js"), _page_file("page.css")
    script = "(() => {\n'use strict';\n" + "\n".join(_page_file(name) for name in SCRIPTS) + "\n})();\n"
    return Template(_page_file("page.html")).substitute(
        title=html.escape(title),
        allowed=f"{_csp_hash(library)} {_csp_hash(script)}",
        styled=_csp_hash(style),
        style=style,
        document=text,
        block=pack.text(),
        library=library,
        script=script,
    )


def _page_file(name: str) -> str:
    """The text of a file of this package: script, style or template."""
    return files("phloat.view.page").joinpath(name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    """The SHA-256 hash of a script or style for the Content-Security-Policy of the page, which allows only these."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


# --- in a notebook ---------------------------------------------------------------------------------------------------

MAX_BYTES = 20e6  # of a page in a notebook


@dataclass(frozen=True)
class NotebookPage:
    """A page that a notebook displays, `height` pixels high; `text` is its HTML."""

    text: str
    height: int

    def _repr_html_(self) -> str:
        style = f"width:100%;height:{self.height}px;border:0"
        return f'<iframe srcdoc="{html.escape(self.text)}" style="{style}" title="phloat" allowfullscreen></iframe>'

    def __repr__(self) -> str:
        return "NotebookPage(a page for notebooks; to_html(x, path) writes it to a file)"


def show(
    x: Shown,
    *,
    height: int = 640,
    u: Mapping[str, object] | Inputs | None = None,
    plots: Sequence[str] | None = None,
) -> NotebookPage:
    """Displays a result or modes in 3-D in a notebook: the page that `to_html` writes, `height` pixels high."""
    text = page_text(x, u=u, plots=plots)
    if len(text) > MAX_BYTES:
        size = f"the page has {len(text) / 1e6:.0f} MB, too much for a notebook"
        raise InputError(f"{size}; write it to a file: to_html(x, 'run.html')")
    return NotebookPage(text, int(positive("height", height)))
