"""Arguments of the command line, and help with examples."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import Any

from phloat.algebra.version import __version__

WHAT = "Flexible mechanisms: simulation, modes, pages in a browser.\nModels are YAML or JSON files."
FIRST = """\
begin:
  phloat examples                     lists models to try
  phloat examples crank_slider        copies crank_slider.yaml here
  phloat check crank_slider.yaml      checks it, counts degrees of freedom
  phloat run crank_slider.yaml        simulates it: results and a page
  phloat view crank_slider.run        shows the page in a browser

Every command has its own help with examples: phloat run --help
exit codes: 0 success, 1 internal error, 2 bad input, 3 no convergence,
  130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
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
    """The parser of one command, with the options that all have."""
    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 20)
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description="\n".join(textwrap.wrap(f"{what[0].upper()}{what[1:]}. {more}", width)),
        epilog="examples:\n" + textwrap.indent(textwrap.dedent(examples), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(command=name, module=module)
    command.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    command.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    return command


MODEL = "a model file, YAML or JSON"


def _run(commands: Any) -> None:
    command = _command(
        commands,
        "run",
        "run",
        "simulate a model",
        "The run is written to a folder as it proceeds, with its outputs as a table and a page. "
        "An interrupted run (Ctrl-C) is kept, and continues with --resume.",
        """\
        phloat run crank_slider.yaml                     into crank_slider.run
        phloat run crank_slider.yaml -o fast --dt 50us   elsewhere, with another step
        phloat run crank_slider.yaml --resume fast       continue an interrupted run
        phloat run crank_slider.yaml --resume fast --t-end 0.2s    and further
        phloat run crank_slider.yaml --json | jq .outputs
        """,
    )
    command.add_argument("model", help=MODEL)
    command.add_argument(
        "-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.run, or the next free)"
    )
    command.add_argument("--overwrite", action="store_true", help="replace the run that is in the folder")
    command.add_argument("--resume", metavar="FOLDER", help="continue the run in this folder")
    command.add_argument("--t-end", metavar="TIME", help="end time, instead of the model's: 2, 2s, 500ms")
    command.add_argument("--dt", metavar="TIME", help="the step, instead of the model's")
    command.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads that share the bodies of a large system"
    )
    command.add_argument("--no-page", action="store_true", help="write no page")


def _modes(commands: Any) -> None:
    command = _command(
        commands,
        "modes",
        "frequencies",
        "natural frequencies and mode shapes",
        "At the start of the model, or along a quantity if the model has one. All modes if the model has no `modes`.",
        """\
        phloat modes satellite.yaml
        phloat modes satellite.yaml --count 8 -o modes.html    the shapes, moving
        phloat modes four_bar.yaml -o curves.csv               along the crank angle
        phloat modes four_bar.yaml --at-start --lock motor -o modes.png
        """,
    )
    command.add_argument("model", help=MODEL)
    command.add_argument("--count", type=int, metavar="N", help="how many of the lowest, rigid ones included")
    command.add_argument(
        "--lock", action="append", metavar="JOINT", help="a joint whose free axes stand still (again for more)"
    )
    command.add_argument(
        "--at-start", action="store_true", help="at the start, even if the model has them along a quantity"
    )
    _files(command, ".html (a page), .png, .svg, .pdf (a picture), .csv, .json")


def _response(commands: Any) -> None:
    command = _command(
        commands,
        "response",
        "frequencies",
        "frequency response between ports",
        "As the model describes it under `response`, at its start; lists the peaks.",
        """\
        phloat response flexible_arm.yaml
        phloat response flexible_arm.yaml -o bode.png -o bode.csv
        phloat response flexible_arm.yaml --json | jq .peaks
        """,
    )
    command.add_argument("model", help=MODEL)
    _files(command, ".png, .svg, .pdf (a picture), .csv, .json")


def _sweep(commands: Any) -> None:
    command = _command(
        commands,
        "sweep",
        "sweep",
        "many runs with varying parameters",
        "As the model describes it under `sweep`, on all cores. Writes results to a folder as they come, and a table samples.csv; "
        "the same command continues an interrupted sweep.",
        """\
        phloat sweep crank_slider.yaml                    into crank_slider.sweep
        phloat sweep crank_slider.yaml --samples 256 -o many --workers 4
        phloat sweep crank_slider.yaml --json | jq .outputs
        """,
    )
    command.add_argument("model", help=MODEL)
    command.add_argument("-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.sweep)")
    command.add_argument("--overwrite", action="store_true", help="replace the sweep that is in the folder")
    command.add_argument("--samples", type=int, metavar="N", help="how many runs, instead of the model's")
    command.add_argument("--workers", type=int, metavar="N", help="how many cores (default: all)")


def _check(commands: Any) -> None:
    command = _command(
        commands,
        "check",
        "check",
        "check a model without running it",
        "Reads it, connects it and finds its start; counts degrees of freedom, names redundant joints, "
        "and draws the mechanism at its start.",
        """\
        phloat check four_bar.yaml
        phloat check four_bar.yaml -o four_bar.png        the mechanism as a picture
        phloat check four_bar.yaml --diagram blocks.svg   bodies, joints as blocks
        phloat check *.yaml --quiet && echo all fine
        """,
    )
    command.add_argument("models", nargs="+", metavar="model", help=MODEL)
    command.add_argument("--no-drawing", action="store_true", help="draw nothing on the terminal")
    command.add_argument("--diagram", metavar="FILE", help="write the block diagram: .png, .svg, .pdf")
    _files(command, ".png, .svg, .pdf (the mechanism)")


def _view(commands: Any) -> None:
    command = _command(
        commands,
        "view",
        "run",
        "show a run in a browser",
        "The page of a run in a folder, made if it is not there; of a model, its run or else its modes. "
        "If no browser can be opened, prints the path of the page.",
        """\
        phloat view crank_slider.run
        phloat view crank_slider.yaml        runs it first, to crank_slider.html
        phloat view crank_slider.run --no-browser
        """,
    )
    command.add_argument("what", metavar="FOLDER|MODEL|PAGE", help="a run, a model file, or a page")
    command.add_argument("-o", "--output", metavar="FILE", help="where the page is written")
    command.add_argument("--modes", action="store_true", help="of a model, its modes")
    command.add_argument("--no-browser", action="store_true", help="only make the page, and print its path")


def _examples(commands: Any) -> None:
    command = _command(
        commands,
        "examples",
        "examples",
        "list examples, or copy them",
        "Model files, and Python scripts that do the same and more. Files that an example needs are copied too.",
        """\
        phloat examples
        phloat examples four_bar                 copies four_bar.yaml
        phloat examples four_bar.py heavy_top    a script and a model
        phloat examples --all -o examples
        """,
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="examples to copy")
    command.add_argument("--all", action="store_true", help="copy all")
    command.add_argument("-o", "--output", metavar="FOLDER", default=".", help="where to (default: here)")
    command.add_argument("--overwrite", action="store_true", help="replace files that are there")


def _doctor(commands: Any) -> None:
    command = _command(
        commands,
        "doctor",
        "installation",
        "list what is installed, and the extras",
        "Versions, whether the time step is compiled, and the purpose of each extra.",
        """\
        phloat doctor
        phloat doctor --compile      compile now rather than in the first run
        phloat doctor --json
        """,
    )
    command.add_argument("--compile", action="store_true", help="compile the time step now, if it is not yet")


def _verify(commands: Any) -> None:
    command = _command(
        commands,
        "verify",
        "installation",
        "compare with known results",
        "Exact solutions, published benchmarks and the paper's examples: the reference, the result here, the difference, and "
        "the tolerance. Exit code 3 if a row is outside its tolerance.",
        """\
        phloat verify --quick               cases that take seconds
        phloat verify                       all, some minutes
        phloat verify pendulum bricard      some cases
        phloat verify --list                list the cases
        phloat verify --quick -o report.txt -o report.json
        """,
    )
    command.add_argument("names", nargs="*", metavar="CASE", help="cases to run (default: all)")
    command.add_argument("--list", action="store_true", help="list the cases without running them")
    command.add_argument("--quick", action="store_true", help="leave out cases that take longer than a few seconds")
    command.add_argument("--fine", action="store_true", help="with half the mesh and half the step")
    _files(command, ".txt, .json")


def _schema(commands: Any) -> None:
    _command(
        commands,
        "schema",
        "examples",
        "print the JSON Schema of model files",
        "Editors use it to complete and check model files.",
        """\
        phloat schema > model.schema.json
        phloat schema --json | jq .schema
        """,
    )


def _files(command: argparse.ArgumentParser, endings: str) -> None:
    command.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE", help=f"write a file: {endings}; again for more"
    )
