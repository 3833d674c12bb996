"""The words of the command line, and the help that teaches them by example."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import Any

from phloat.algebra.version import __version__

WHAT = "Flexible mechanisms: simulate them, find their modes, look at them.\nModels are YAML or JSON files."
FIRST = """\
begin:
  phloat examples                     what there is to try
  phloat examples crank_slider        copies crank_slider.yaml to here
  phloat check crank_slider.yaml      is it right, how many degrees of freedom?
  phloat run crank_slider.yaml        simulate it: results and a page
  phloat view crank_slider.run        look at the page in a browser

Every command has its own help with examples: phloat run --help
exit codes: 0 fine, 1 a fault of phloat, 2 bad input, 3 no convergence,
  130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """All commands."""
    out = argparse.ArgumentParser(
        "phloat", description=WHAT, epilog=FIRST, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("--version", action="version", version=f"phloat {__version__}")
    out.set_defaults(command=None, quiet=False, json=False)
    commands = out.add_subparsers(title="commands", metavar="COMMAND")
    _run(commands)
    _modes(commands)
    _response(commands)
    _sweep(commands)
    _check(commands)
    _view(commands)
    _examples(commands)
    _doctor(commands)
    _verify(commands)
    _schema(commands)
    return out


def _command(commands: Any, name: str, module: str, what: str, more: str, examples: str) -> argparse.ArgumentParser:
    """One command, with the options that all have."""
    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 20)
    found: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description="\n".join(textwrap.wrap(f"{what[0].upper()}{what[1:]}. {more}", width)),
        epilog="examples:\n" + textwrap.indent(textwrap.dedent(examples), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.set_defaults(command=name, module=module)
    found.add_argument("--json", action="store_true", help="one JSON object on stdout, and nothing else there")
    found.add_argument("-q", "--quiet", action="store_true", help="say nothing unless something is wrong")
    return found


MODEL = "a model file, YAML or JSON"


def _run(commands: Any) -> None:
    words = _command(
        commands,
        "run",
        "running",
        "simulate a model",
        "The run goes to a folder as it proceeds, with its outputs as a table and a page to look at. "
        "An interrupted run (Ctrl-C) is kept, and goes on with --resume.",
        """\
        phloat run crank_slider.yaml                     into crank_slider.run
        phloat run crank_slider.yaml -o fast --dt 50us   elsewhere, with another step
        phloat run crank_slider.yaml --resume fast       go on where it was cut short
        phloat run crank_slider.yaml --resume fast --t-end 0.2s    and further
        phloat run crank_slider.yaml --json | jq .outputs
        """,
    )
    words.add_argument("model", help=MODEL)
    words.add_argument(
        "-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.run, or the next free)"
    )
    words.add_argument("--overwrite", action="store_true", help="replace the run that is in the folder")
    words.add_argument("--resume", metavar="FOLDER", help="go on with the run in this folder")
    words.add_argument("--t-end", metavar="TIME", help="when it ends, instead of what the model says: 2, 2s, 500ms")
    words.add_argument("--dt", metavar="TIME", help="the step, instead of what the model says")
    words.add_argument("--threads", type=int, default=1, metavar="N", help="that share the bodies of a large system")
    words.add_argument("--no-page", action="store_true", help="write no page")


def _modes(commands: Any) -> None:
    words = _command(
        commands,
        "modes",
        "frequencies",
        "natural frequencies and mode shapes",
        "At the start of the model, or along a quantity if the model says so. A model that does not ask for modes gives all.",
        """\
        phloat modes satellite.yaml
        phloat modes satellite.yaml --count 8 -o modes.html    the shapes, moving
        phloat modes four_bar.yaml -o curves.csv               along the crank angle
        phloat modes four_bar.yaml --at-start --lock motor -o modes.png
        """,
    )
    words.add_argument("model", help=MODEL)
    words.add_argument("--count", type=int, metavar="N", help="how many of the lowest, rigid ones included")
    words.add_argument(
        "--lock", action="append", metavar="JOINT", help="a joint whose free axes stand still (again for more)"
    )
    words.add_argument(
        "--at-start", action="store_true", help="at the start, though the model asks for them along a quantity"
    )
    _files(words, ".html (a page), .png, .svg, .pdf (a picture), .csv, .json")


def _response(commands: Any) -> None:
    words = _command(
        commands,
        "response",
        "frequencies",
        "frequency response between ports",
        "As the model asks for it under `response`, about its start; the peaks are listed.",
        """\
        phloat response flexible_arm.yaml
        phloat response flexible_arm.yaml -o bode.png -o bode.csv
        phloat response flexible_arm.yaml --json | jq .peaks
        """,
    )
    words.add_argument("model", help=MODEL)
    _files(words, ".png, .svg, .pdf (a picture), .csv, .json")


def _sweep(commands: Any) -> None:
    words = _command(
        commands,
        "sweep",
        "sweeping",
        "many runs with parameters that vary",
        "As the model asks for it under `sweep`, on all cores. Results go to a folder as they come, with a table samples.csv; "
        "the same command goes on where it was stopped.",
        """\
        phloat sweep crank_slider.yaml                    into crank_slider.sweep
        phloat sweep crank_slider.yaml --samples 256 -o many --workers 4
        phloat sweep crank_slider.yaml --json | jq .outputs
        """,
    )
    words.add_argument("model", help=MODEL)
    words.add_argument("-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.sweep)")
    words.add_argument("--overwrite", action="store_true", help="replace the sweep that is in the folder")
    words.add_argument("--samples", type=int, metavar="N", help="how many runs, instead of what the model says")
    words.add_argument("--workers", type=int, metavar="N", help="how many cores (default: all)")


def _check(commands: Any) -> None:
    words = _command(
        commands,
        "check",
        "checking",
        "look over a model without running it",
        "Reads it, connects it, finds its start; counts degrees of freedom, names joints that repeat each other, "
        "and draws the mechanism where it starts.",
        """\
        phloat check four_bar.yaml
        phloat check four_bar.yaml -o four_bar.png        the mechanism as a picture
        phloat check four_bar.yaml --diagram blocks.svg   bodies, joints as blocks
        phloat check *.yaml --quiet && echo all fine
        """,
    )
    words.add_argument("models", nargs="+", metavar="model", help=MODEL)
    words.add_argument("--no-drawing", action="store_true", help="draw nothing on the terminal")
    words.add_argument("--diagram", metavar="FILE", help="write the block diagram: .png, .svg, .pdf")
    _files(words, ".png, .svg, .pdf (the mechanism)")


def _view(commands: Any) -> None:
    words = _command(
        commands,
        "view",
        "viewing",
        "look at a run in a browser",
        "Of a folder with a run, its page, made if it is not there; of a model, its run or else its modes. "
        "Where no browser can be opened, the path of the page is said.",
        """\
        phloat view crank_slider.run
        phloat view crank_slider.yaml        runs it first, to crank_slider.html
        phloat view crank_slider.run --no-browser
        """,
    )
    words.add_argument("what", metavar="FOLDER|MODEL|PAGE", help="a run, a model file, or a page")
    words.add_argument("-o", "--output", metavar="FILE", help="where the page is written")
    words.add_argument("--modes", action="store_true", help="of a model, its modes")
    words.add_argument("--no-browser", action="store_true", help="only make the page, and say where it is")


def _examples(commands: Any) -> None:
    words = _command(
        commands,
        "examples",
        "gallery",
        "list examples, or copy them to here",
        "Model files, and Python scripts that do the same and more. What an example needs beside it is copied too.",
        """\
        phloat examples
        phloat examples four_bar                 copies four_bar.yaml
        phloat examples four_bar.py heavy_top    a script and a model
        phloat examples --all -o examples
        """,
    )
    words.add_argument("names", nargs="*", metavar="NAME", help="examples to copy")
    words.add_argument("--all", action="store_true", help="copy all")
    words.add_argument("-o", "--output", metavar="FOLDER", default=".", help="where to (default: here)")
    words.add_argument("--overwrite", action="store_true", help="replace files that are there")


def _doctor(commands: Any) -> None:
    words = _command(
        commands,
        "doctor",
        "doctor",
        "what is installed, and what could be",
        "Versions, whether the time step is compiled, and the extras with what each is for.",
        """\
        phloat doctor
        phloat doctor --compile      so that the first run does not have to
        phloat doctor --json
        """,
    )
    words.add_argument("--compile", action="store_true", help="compile the time step now, unless it is")


def _verify(commands: Any) -> None:
    words = _command(
        commands,
        "verify",
        "verifying",
        "compare with answers known from elsewhere",
        "Exact solutions, published benchmarks and the paper's examples: the reference, what is found here, the difference, and "
        "how much is allowed. Exit code 3 if a row is off.",
        """\
        phloat verify --quick               what takes seconds
        phloat verify                       all, some minutes
        phloat verify pendulum bricard      some cases
        phloat verify --list                what there is
        phloat verify --quick -o report.txt -o report.json
        """,
    )
    words.add_argument("names", nargs="*", metavar="CASE", help="cases to run (default: all)")
    words.add_argument("--list", action="store_true", help="name the cases, and run none")
    words.add_argument("--quick", action="store_true", help="leave out what takes longer than a few seconds")
    words.add_argument("--fine", action="store_true", help="with half the mesh and half the step")
    _files(words, ".txt, .json")


def _schema(commands: Any) -> None:
    _command(
        commands,
        "schema",
        "gallery",
        "print the JSON Schema of model files",
        "Editors complete and check model files by it.",
        """\
        phloat schema > model.schema.json
        phloat schema --json | jq .schema
        """,
    )


def _files(words: argparse.ArgumentParser, endings: str) -> None:
    words.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE", help=f"write a file: {endings}; again for more"
    )
