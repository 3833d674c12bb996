"""The command phloat: its arguments and their help, Ctrl-C, and exit codes."""

from __future__ import annotations

import argparse
import inspect
import os
import shutil
import signal
import sys
import textwrap
import threading
import warnings
from _thread import interrupt_main
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any, NoReturn

from phloat.algebra.version import __version__
from phloat.cli.console import PIPE, SUCCESS, Console, is_utf, report_error

DESCRIPTION = "Flexible mechanisms: simulation, modes, pages in a browser.\nModels are YAML or JSON files."
EPILOG = """\
to begin:
  phloat examples                     lists models to try
  phloat examples crank_slider        copies crank_slider.yaml here
  phloat check crank_slider.yaml      checks it, counts degrees of freedom
  phloat run crank_slider.yaml        simulates it: results and a page
  phloat view crank_slider.run        shows the page in a browser

Every command has its own help with examples: phloat run --help
exit codes: 0 success, 1 internal error, 2 bad input, 3 no convergence,
  130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command phloat with these arguments (default: those of the process); returns its exit code. See phloat --help."""
    with recorded_interrupts() as interrupts:
        return _execute(argv, interrupts)


def _execute(argv: Sequence[str] | None, interrupts: list[int]) -> int:
    """Parses the arguments, calls the function of the command, prints its data or its error; returns the exit code."""
    console = Console()
    try:
        for stream in (sys.stdout, sys.stderr):  # characters that the encoding lacks are printed as question marks
            if isinstance(stream, TextIOWrapper) and not is_utf(stream):
                stream.reconfigure(errors="replace")
        arguments = parser()
        args = arguments.parse_args(argv)
        console = Console(quiet=args.quiet, json=args.json)
        if args.run is None:
            arguments.print_help()
        else:
            with warnings.catch_warnings():
                warnings.filterwarnings("always", category=UserWarning)
                warnings.showwarning = lambda message, *place, **more: console.note(str(message))
                data = args.run(args, console)
            console.print_json({"phloat": __version__, "command": args.command, **data, "notes": console.notes})
        sys.stdout.flush()  # a broken pipe raises now
        return SUCCESS
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE
    except (Exception, KeyboardInterrupt) as error:
        if interrupts and not isinstance(error, KeyboardInterrupt):  # replaced by an import
            error = KeyboardInterrupt("interrupted")
        return report_error(error, console)


# --- Control-C -------------------------------------------------------------------------------------------------------
#
# Python ignores a KeyboardInterrupt inside callbacks, and libraries turn it into other errors while they are imported.


REPEAT_DELAY = 0.01  # seconds


@contextmanager
def recorded_interrupts() -> Iterator[list[int]]:
    """Records Ctrl-C in the returned list, and raises again those KeyboardInterrupts that Python ignores in callbacks."""
    out: list[int] = []
    before, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield out  # the caller handles interrupts
        return

    def record(number: int, frame: FrameType | None) -> NoReturn:
        """The handler of SIGINT."""
        out.append(number)
        raise KeyboardInterrupt

    def repeat(what: sys.UnraisableHookArgs) -> None:
        """The hook for exceptions that Python ignores: interrupts the main thread again."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            threading.Timer(REPEAT_DELAY, interrupt_main).start()  # when that callback has ended
        else:
            hook(what)

    try:
        signal.signal(signal.SIGINT, record)
        sys.unraisablehook = repeat
        yield out
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook


# --- commands; the docstrings are their --help: title, description, examples -------------------------------------------


def _run(args: Namespace, console: Console) -> dict[str, Any]:
    """Simulate a model.

    The run is written to a folder as it proceeds, with its outputs as a table and a page. A run that was interrupted
    (Ctrl-C) is continued by --resume.

    phloat run crank_slider.yaml                     into crank_slider.run
    phloat run crank_slider.yaml -o fast --dt 50us   elsewhere, with another step
    phloat run crank_slider.yaml --resume fast       continue an interrupted run
    phloat run crank_slider.yaml --resume fast --t-end 0.2s    with a later end
    phloat run crank_slider.yaml --json | jq .outputs
    """
    from phloat.cli.run import run_command

    return run_command(args, console)


def _modes(args: Namespace, console: Console) -> dict[str, Any]:
    """Natural frequencies and mode shapes.

    Linearises the model in its initial state, or along the quantity that its `modes` names. Computes all modes if the model
    has no `modes`.

    phloat modes satellite.yaml
    phloat modes satellite.yaml --count 8 -o modes.html    the shapes, moving
    phloat modes four_bar.yaml -o curves.csv               along the crank angle
    phloat modes four_bar.yaml --at-start --lock motor -o modes.png
    """
    from phloat.cli.analyses import modes_command

    return modes_command(args, console)


def _response(args: Namespace, console: Console) -> dict[str, Any]:
    """Frequency response between ports.

    Computes the `response` of the model, linearised in its initial state, and lists the peaks.

    phloat response flexible_arm.yaml
    phloat response flexible_arm.yaml -o bode.png -o bode.csv
    phloat response flexible_arm.yaml --json | jq .peaks
    """
    from phloat.cli.analyses import response_command

    return response_command(args, console)


def _sweep(args: Namespace, console: Console) -> dict[str, Any]:
    """Many runs with varying parameters.

    Computes the `sweep` of the model on all cores. Writes each result to a folder when it is computed, and then
    tables: samples.csv, and series.NAME.csv of outputs over time. The same command continues an interrupted sweep.

    phloat sweep crank_slider.yaml                    into crank_slider.sweep
    phloat sweep crank_slider.yaml --samples 256 -o many --workers 4
    phloat sweep crank_slider.yaml --json | jq .outputs
    """
    from phloat.cli.run import sweep_command

    return sweep_command(args, console)


def _check(args: Namespace, console: Console) -> dict[str, Any]:
    """Check a model without running it.

    Reads the model, connects its bodies and computes the initial state; counts degrees of freedom and names redundant
    joints.

    phloat check four_bar.yaml
    phloat check four_bar.yaml -o four_bar.png        the mechanism as a picture
    phloat check four_bar.yaml --diagram blocks.svg   bodies, joints as blocks
    phloat check *.yaml --quiet && echo all fine
    """
    from phloat.cli.analyses import check_command

    return check_command(args, console)


def _view(args: Namespace, console: Console) -> dict[str, Any]:
    """Show a run in a browser.

    Opens the page of a run in a folder, written if it is missing. A model file is simulated; without `simulate`, its modes
    are shown. If no browser can be opened, prints the path of the page.

    phloat view crank_slider.run
    phloat view crank_slider.yaml        runs it first, to crank_slider.html
    phloat view crank_slider.run --no-browser
    """
    from phloat.cli.run import view_command

    return view_command(args, console)


def _examples(args: Namespace, console: Console) -> dict[str, Any]:
    """List examples, or copy them.

    Model files, and Python scripts that do the same and more. Files that an example needs are copied too.

    phloat examples
    phloat examples four_bar                 copies four_bar.yaml
    phloat examples four_bar.py heavy_top    a script and a model
    phloat examples --all -o examples
    """
    from phloat.cli.installation import examples_command

    return examples_command(args, console)


def _doctor(args: Namespace, console: Console) -> dict[str, Any]:
    """List what is installed, and the extras.

    Versions, whether the time step is compiled, and the purpose of each extra.

    phloat doctor
    phloat doctor --compile      compile now rather than in the first run
    phloat doctor --json
    """
    from phloat.cli.installation import doctor_command

    return doctor_command(args, console)


def _verify(args: Namespace, console: Console) -> dict[str, Any]:
    """Compare with known results.

    Exact solutions, published benchmarks and the paper's examples: the reference, the result here, the difference, and the
    tolerance. Exit code 3 if a row is outside its tolerance.

    phloat verify --quick               cases that take seconds
    phloat verify                       all, some minutes
    phloat verify pendulum bricard      some cases
    phloat verify --list                list the cases
    phloat verify --quick -o report.txt -o report.json
    """
    from phloat.cli.installation import verify_command

    return verify_command(args, console)


def _schema(args: Namespace, console: Console) -> dict[str, Any]:
    """Print the JSON Schema of model files.

    Editors use it to complete and check model files.

    phloat schema > model.schema.json
    phloat schema --json | jq .schema
    """
    from phloat.cli.installation import schema_command

    return schema_command(args, console)


# --- arguments -------------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """The argument parser with all commands; their help texts are the docstrings above."""
    out = argparse.ArgumentParser(
        "phloat", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("--version", action="version", version=f"phloat {__version__}")
    out.set_defaults(command=None, run=None, quiet=False, json=False)
    commands = out.add_subparsers(title="commands", metavar="COMMAND")
    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 20)
    parsers = {}
    for run_command in (_run, _modes, _response, _sweep, _check, _view, _examples, _doctor, _verify, _schema):
        summary, more, example = (inspect.getdoc(run_command) or "\n\n\n\n").split("\n\n", 2)
        name = run_command.__name__.removeprefix("_")
        about = textwrap.fill(f"{summary} {' '.join(more.split())}", width)
        parsers[name] = commands.add_parser(
            name,
            help=summary[:1].lower() + summary[1:].removesuffix("."),
            description=about,
            epilog="examples:\n" + textwrap.indent(example, "  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parsers[name].set_defaults(command=name, run=run_command)
        parsers[name].add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        parsers[name].add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    _add_arguments(parsers)
    return out


def _add_arguments(commands: dict[str, Any]) -> None:
    """Adds the arguments of each command to its parser."""

    def add(names: str, *flags: str, **options: Any) -> None:
        """Adds one argument to several commands."""
        for name in names.split():
            commands[name].add_argument(*flags, **options)

    def switch(names: str, *flags: str, help: str) -> None:
        """Adds an option without a value."""
        add(names, *flags, action="store_true", help=help)

    add("run modes response sweep", "model", help="a model file, YAML or JSON")
    add("check", "models", nargs="+", metavar="model", help="a model file, YAML or JSON")
    add(
        "run",
        "-o",
        "--output",
        metavar="FOLDER",
        help="where it is written (default: MODEL.run, or the next free name)",
    )
    add("sweep", "-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.sweep)")
    switch("run", "--overwrite", help="replace the run that is in the folder")
    switch("sweep", "--overwrite", help="replace the sweep that is in the folder")
    add("run", "--resume", metavar="FOLDER", help="continue the run in this folder")
    add("run", "--t-end", metavar="TIME", help="end time, instead of the model's: 2, 2s, 500ms")
    add("run", "--dt", metavar="TIME", help="the step, instead of the model's")
    add("run", "--threads", type=int, default=1, metavar="N", help="threads that share the bodies of a large system")
    switch("run", "--no-page", help="write no page")
    add("modes", "--count", type=int, metavar="N", help="how many of the lowest modes, rigid ones included")
    what = "a joint whose free axes are locked (may be repeated)"
    add("modes", "--lock", action="append", metavar="JOINT", help=what)
    switch("modes", "--at-start", help="modes at the start, even if the model has them along a quantity")
    add("sweep", "--samples", type=int, metavar="N", help="how many runs, instead of the model's")
    add("sweep", "--workers", type=int, metavar="N", help="how many cores (default: all)")
    add("check", "--diagram", metavar="FILE", help="write the block diagram: .png, .svg, .pdf")
    add("view", "what", metavar="FOLDER|MODEL|PAGE", help="a run, a model file, or a page")
    add("view", "-o", "--output", metavar="FILE", help="where the page is written")
    switch("view", "--modes", help="show the modes of a model")
    switch("view", "--no-browser", help="only make the page, and print its path")
    add("examples", "names", nargs="*", metavar="NAME", help="examples to copy")
    switch("examples", "--all", help="copy all")
    add("examples", "-o", "--output", metavar="FOLDER", default=".", help="where to (default: here)")
    switch("examples", "--overwrite", help="replace files that are there")
    switch("doctor", "--compile", help="compile the time step now, if it is not yet")
    add("verify", "names", nargs="*", metavar="CASE", help="cases to run (default: all)")
    switch("verify", "--list", help="list the cases without running them")
    switch("verify", "--quick", help="leave out cases that take longer than a few seconds")
    switch("verify", "--fine", help="with half the mesh and half the step")
    for name, endings in {
        "modes": ".html (a page), .png, .svg, .pdf (a picture), .csv, .json",
        "response": ".png, .svg, .pdf (a picture), .csv, .json",
        "check": ".png, .svg, .pdf (the mechanism)",
        "verify": ".txt, .json",
    }.items():
        what = f"write a file: {endings}; may be repeated"
        add(name, "-o", "--output", action="append", default=[], metavar="FILE", help=what)
