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

# of each command: its module, and its help: what it does, more about it, and examples
COMMANDS = {
    "run": (
        "run",
        """simulate a model
        The run is written to a folder as it proceeds, with its outputs as a table and a page. An interrupted run (Ctrl-C) is kept,
        and continues with --resume.

        phloat run crank_slider.yaml                     into crank_slider.run
        phloat run crank_slider.yaml -o fast --dt 50us   elsewhere, with another step
        phloat run crank_slider.yaml --resume fast       continue an interrupted run
        phloat run crank_slider.yaml --resume fast --t-end 0.2s    and further
        phloat run crank_slider.yaml --json | jq .outputs""",
    ),
    "modes": (
        "frequencies",
        """natural frequencies and mode shapes
        At the start of the model, or along a quantity if the model has one. All modes if the model has no `modes`.

        phloat modes satellite.yaml
        phloat modes satellite.yaml --count 8 -o modes.html    the shapes, moving
        phloat modes four_bar.yaml -o curves.csv               along the crank angle
        phloat modes four_bar.yaml --at-start --lock motor -o modes.png""",
    ),
    "response": (
        "frequencies",
        """frequency response between ports
        As the model describes it under `response`, at its start; lists the peaks.

        phloat response flexible_arm.yaml
        phloat response flexible_arm.yaml -o bode.png -o bode.csv
        phloat response flexible_arm.yaml --json | jq .peaks""",
    ),
    "sweep": (
        "sweep",
        """many runs with varying parameters
        As the model describes it under `sweep`, on all cores. Writes results to a folder as they come, and a table samples.csv; the
        same command continues an interrupted sweep.

        phloat sweep crank_slider.yaml                    into crank_slider.sweep
        phloat sweep crank_slider.yaml --samples 256 -o many --workers 4
        phloat sweep crank_slider.yaml --json | jq .outputs""",
    ),
    "check": (
        "check",
        """check a model without running it
        Reads it, connects it and finds its start; counts degrees of freedom, names redundant joints, and draws the mechanism at its
        start.

        phloat check four_bar.yaml
        phloat check four_bar.yaml -o four_bar.png        the mechanism as a picture
        phloat check four_bar.yaml --diagram blocks.svg   bodies, joints as blocks
        phloat check *.yaml --quiet && echo all fine""",
    ),
    "view": (
        "run",
        """show a run in a browser
        The page of a run in a folder, made if it is not there; of a model, its run or else its modes. If no browser can be opened,
        prints the path of the page.

        phloat view crank_slider.run
        phloat view crank_slider.yaml        runs it first, to crank_slider.html
        phloat view crank_slider.run --no-browser""",
    ),
    "examples": (
        "examples",
        """list examples, or copy them
        Model files, and Python scripts that do the same and more. Files that an example needs are copied too.

        phloat examples
        phloat examples four_bar                 copies four_bar.yaml
        phloat examples four_bar.py heavy_top    a script and a model
        phloat examples --all -o examples""",
    ),
    "doctor": (
        "installation",
        """list what is installed, and the extras
        Versions, whether the time step is compiled, and the purpose of each extra.

        phloat doctor
        phloat doctor --compile      compile now rather than in the first run
        phloat doctor --json""",
    ),
    "verify": (
        "installation",
        """compare with known results
        Exact solutions, published benchmarks and the paper's examples: the reference, the result here, the difference, and the
        tolerance. Exit code 3 if a row is outside its tolerance.

        phloat verify --quick               cases that take seconds
        phloat verify                       all, some minutes
        phloat verify pendulum bricard      some cases
        phloat verify --list                list the cases
        phloat verify --quick -o report.txt -o report.json""",
    ),
    "schema": (
        "examples",
        """print the JSON Schema of model files
        Editors use it to complete and check model files.

        phloat schema > model.schema.json
        phloat schema --json | jq .schema""",
    ),
}


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    out = argparse.ArgumentParser(
        "phloat", description=WHAT, epilog=FIRST, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    out.add_argument("--version", action="version", version=f"phloat {__version__}")
    out.set_defaults(command=None, quiet=False, json=False)
    commands = out.add_subparsers(title="commands", metavar="COMMAND")
    _add_arguments({name: _command(commands, name, *about) for name, about in COMMANDS.items()})
    return out


def _command(commands: Any, name: str, module: str, text: str) -> Any:
    """The parser of one command, with the options that all have."""
    about, _, examples = text.partition("\n\n")
    what, _, more = about.partition("\n")
    width = max(min(shutil.get_terminal_size().columns, 80) - 2, 20)
    command = commands.add_parser(
        name,
        help=what,
        description="\n".join(textwrap.wrap(f"{what[0].upper()}{what[1:]}. {' '.join(more.split())}", width)),
        epilog="examples:\n" + textwrap.indent(textwrap.dedent(examples), "  "),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(command=name, module=module)
    command.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    command.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    return command


def _add_arguments(commands: dict[str, Any]) -> None:
    def add(names: str, *flags: str, **options: Any) -> None:
        for name in names.split():
            commands[name].add_argument(*flags, **options)

    def switch(names: str, *flags: str, help: str) -> None:
        add(names, *flags, action="store_true", help=help)

    add("run modes response sweep", "model", help="a model file, YAML or JSON")
    add("check", "models", nargs="+", metavar="model", help="a model file, YAML or JSON")
    add("run", "-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.run, or the next free)")
    add("sweep", "-o", "--output", metavar="FOLDER", help="where it is written (default: MODEL.sweep)")
    switch("run", "--overwrite", help="replace the run that is in the folder")
    switch("sweep", "--overwrite", help="replace the sweep that is in the folder")
    add("run", "--resume", metavar="FOLDER", help="continue the run in this folder")
    add("run", "--t-end", metavar="TIME", help="end time, instead of the model's: 2, 2s, 500ms")
    add("run", "--dt", metavar="TIME", help="the step, instead of the model's")
    add("run", "--threads", type=int, default=1, metavar="N", help="threads that share the bodies of a large system")
    switch("run", "--no-page", help="write no page")
    add("modes", "--count", type=int, metavar="N", help="how many of the lowest, rigid ones included")
    add(
        "modes", "--lock", action="append", metavar="JOINT", help="a joint whose free axes stand still (again for more)"
    )
    switch("modes", "--at-start", help="at the start, even if the model has them along a quantity")
    add("sweep", "--samples", type=int, metavar="N", help="how many runs, instead of the model's")
    add("sweep", "--workers", type=int, metavar="N", help="how many cores (default: all)")
    switch("check", "--no-drawing", help="draw nothing on the terminal")
    add("check", "--diagram", metavar="FILE", help="write the block diagram: .png, .svg, .pdf")
    add("view", "what", metavar="FOLDER|MODEL|PAGE", help="a run, a model file, or a page")
    add("view", "-o", "--output", metavar="FILE", help="where the page is written")
    switch("view", "--modes", help="of a model, its modes")
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
        what = f"write a file: {endings}; again for more"
        add(name, "-o", "--output", action="append", default=[], metavar="FILE", help=what)
