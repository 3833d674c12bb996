"""phloat examples and phloat schema."""

from __future__ import annotations

import argparse
import ast
import json
import re
from pathlib import Path
from typing import Any

import phloat
from phloat.cli.console import Console
from phloat.errors import InputError, unknown
from phloat.files.model_files import schema_text

MODELS, SCRIPTS = (".yaml", ".json"), (".py",)
SCHEMA = "model.schema.json"
NOT_FOR_COPYING = {"demo.py"}  # it needs the whole source


def examples_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Lists examples, or copies some."""
    there = catalogue()
    if not args.names and not args.all:
        for title, endings in (("models: phloat run FILE", MODELS), ("scripts: python FILE", SCRIPTS)):
            console.title(title)
            console.table(
                ("file", "about"), [(name, question(path)) for name, path in there.items() if name.endswith(endings)]
            )
        console.say("copy one: phloat examples crank_slider; or all: phloat examples --all -o examples")
        return {"examples": {name: question(path) for name, path in there.items()}}
    names = list(there) if args.all else [_find(name, there) for name in args.names]
    return {
        "copied": copy_examples([there[name] for name in names], Path(args.output), console, overwrite=args.overwrite)
    }


def schema_command(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Prints the JSON Schema of model files."""
    text = schema_text()
    console.say(text.rstrip())
    return {"schema": json.loads(text)}


# --- the examples ---------------------------------------------------------------------------------------------------


def folder() -> Path:
    """The folder of the examples: in the installed package, or in the source tree."""
    package = Path(phloat.__file__).parent
    for found in (package / "examples", package.parents[1] / "examples"):
        if (found / "models").is_dir():
            return found
    raise InputError("the examples are not in this installation; they are in the source of phloat, in examples/")


def catalogue() -> dict[str, Path]:
    """Examples by file name: models, then scripts."""
    where = folder()
    models = [path for path in sorted((where / "models").iterdir()) if path.suffix in MODELS]
    scripts = [path for path in sorted(where.glob("*.py")) if path.name not in NOT_FOR_COPYING]
    return {path.name: path for path in (*models, *scripts)}


def question(path: Path) -> str:
    """The question that an example answers, from its text."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    if path.suffix == ".json":
        return str(json.loads(text).get("about", ""))
    found = re.search(r"^about: *(?:>-\n +)?(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def _find(name: str, there: dict[str, Path]) -> str:
    """The file name of an example; a model if there is no suffix."""
    for ending in ("", *MODELS, *SCRIPTS):
        if name + ending in there:
            return name + ending
    if near := [found for found in there if name.lower() in found]:
        raise InputError(f"no example {name!r}; did you mean {' or '.join(near)}?")
    raise InputError(unknown("example", name, there))


# --- copies ----------------------------------------------------------------------------------------------------------


def copy_examples(sources: list[Path], target: Path, console: Console, *, overwrite: bool) -> list[str]:
    """Copies examples and the files they need; returns the paths."""
    if target.exists() and not target.is_dir():
        raise InputError(f"{str(target)!r} is a file; give a folder to copy to")
    plan = {target / place: source for path in sources for place, source in needed(path).items()}
    taken = [str(path) for path in plan if path.exists()]
    if taken and not overwrite:
        raise InputError(
            f"{', '.join(taken)} {'exists' if len(taken) == 1 else 'exist'} already; --overwrite, or -o elsewhere"
        )
    for path, source in plan.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in MODELS:  # they name the schema at the root of the source
            text = source.read_text(encoding="utf-8").replace(f"../../{SCHEMA}", SCHEMA)
            path.write_text(text, encoding="utf-8")
            path.with_name(SCHEMA).write_text(schema_text(), encoding="utf-8")
        else:
            path.write_bytes(source.read_bytes())
        console.say(f"written: {path}")
    return [str(path) for path in plan]


def needed(path: Path) -> dict[str, Path]:
    """An example and the files it uses, by their path in the copy."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in MODELS:
        beside = [other for other in path.parent.iterdir() if other.suffix not in MODELS and other.name in text]
        return {path.name: path} | {other.name: other for other in beside}
    out = {path.name: path}
    for name in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE):
        if (other := path.with_name(f"{name}.py")).exists() and other != path:
            out |= needed(other)
    for other in (path.parent / "models").iterdir():
        if other.suffix not in MODELS and other.name in text:
            out[f"models/{other.name}"] = other
    return out
