"""Prints a random sample of docstrings and messages to review: python tools/draw.py [SEED] [--docstrings 60] [--messages 70]"""

import argparse
import ast
import random
import re
from pathlib import Path

from house import SRC, modules

MESSAGES = SRC.parent / "tests" / "messages.txt"


def docstrings(src: Path) -> list[tuple[str, str]]:
    """Name and docstring of all modules ("module"), classes and functions ("module:name") that have one."""
    found = []
    for module, file in modules(src).items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                found.append((module if isinstance(node, ast.Module) else f"{module}:{node.name}", text))
    return found


def messages(golden: str) -> list[str]:
    """The messages of errors and warnings in messages.txt; of those that differ in quoted names and numbers only, one."""
    sentences = re.findall(r"^    (\w+: .*)$", golden, flags=re.MULTILINE)
    return list({re.sub(r"'[^']*'|[\d.e+-]+", "_", sentence): sentence for sentence in sentences}.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--docstrings", type=int, default=60)
    parser.add_argument("--messages", type=int, default=70)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for name, text in draw.sample(docstrings(SRC), options.docstrings):
        print(f"--- {name}\n{text}")
    for sentence in draw.sample(messages(MESSAGES.read_text(encoding="utf-8")), options.messages):
        print(f"- {sentence}")
