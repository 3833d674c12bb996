"""Prints docstrings and messages drawn at random, for a fresh reader to judge: python tools/draw.py [SEED]"""

import argparse
import ast
import random
import re
from pathlib import Path

from house import SRC, modules

MESSAGES = SRC.parent / "tests" / "messages.txt"


def docstrings(src: Path) -> list[tuple[str, str]]:
    """(module.name, docstring) of all modules, classes and functions that have one."""
    found = []
    for module, file in modules(src).items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                found.append((module if isinstance(node, ast.Module) else f"{module}:{node.name}", text))
    return found


def messages(golden: str) -> list[str]:
    """Each sentence of an error or a warning once, where sentences that differ in names and numbers only are one."""
    sentences = re.findall(r"^    (\w+: .*)$", golden, flags=re.MULTILINE)
    return list({re.sub(r"'[^']*'|[\d.e+-]+", "_", sentence): sentence for sentence in sentences}.values())


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("seed", nargs="?", type=int, default=0)
    options.add_argument("--docstrings", type=int, default=60)
    options.add_argument("--messages", type=int, default=70)
    asked = options.parse_args()
    draw = random.Random(asked.seed)
    for name, text in draw.sample(docstrings(SRC), asked.docstrings):
        print(f"--- {name}\n{text}")
    for sentence in draw.sample(messages(MESSAGES.read_text(encoding="utf-8")), asked.messages):
        print(f"- {sentence}")
