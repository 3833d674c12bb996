"""Plain data as text that people like to read: YAML in blocks, what is short on one line; or JSON."""

from __future__ import annotations

import json
import re
from typing import Any

WIDTH = 110
BARE = re.compile(r"[A-Za-zµ][\w .()/^%-]*[\w)%]|[A-Za-zµ]")
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "nan", "inf"}


def to_yaml(data: dict[str, Any]) -> str:
    """YAML of plain data, the same text for the same data."""
    out: list[str] = []
    for key, value in data.items():
        if out and isinstance(value, (dict, list)) and value:
            out.append("")
        out += _entry(key, value, 0)
    return "\n".join(out) + "\n"


def to_json(data: dict[str, Any]) -> str:
    """JSON of plain data."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _entry(key: str, value: Any, depth: int) -> list[str]:
    pad, name = "  " * depth, _word(key, is_key=True)
    flat = _flat(value)
    top = depth == 0 and isinstance(value, (dict, list)) and value and not _plain_list(value)
    if not top and len(pad) + len(name) + 2 + len(flat) <= WIDTH:
        return [f"{pad}{name}: {flat}"]
    if isinstance(value, dict) and value:
        return [f"{pad}{name}:", *(line for k, v in value.items() for line in _entry(k, v, depth + 1))]
    if isinstance(value, list) and value and not _plain_list(value):
        return [f"{pad}{name}:", *(line for item in value for line in _item(item, depth + 1))]
    return [f"{pad}{name}: {flat}"]


def _item(value: Any, depth: int) -> list[str]:
    pad, flat = "  " * depth, _flat(value)
    if len(pad) + 2 + len(flat) <= WIDTH or not isinstance(value, dict) or not value:
        return [f"{pad}- {flat}"]
    lines = [line for k, v in value.items() for line in _entry(k, v, depth + 1)]
    return [f"{pad}- {lines[0].lstrip()}", *lines[1:]]


def _plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(x, (dict, list)) for x in value)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(k, is_key=True)}: {_flat(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, allow_nan=False)


def _number(value: float) -> str:
    """All digits, as few characters as that takes."""
    text = json.dumps(value, allow_nan=False)
    if "e" in text or not text.endswith(".0"):
        return text
    digits = text[:-2].rstrip("0")
    zeros = len(text) - 2 - len(digits)
    return text if zeros < 5 else f"{digits or '0'}e{zeros}"


def _word(text: str, *, is_key: bool = False) -> str:
    if is_key and re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text):
        return text
    bare = BARE.fullmatch(text) and text.lower() not in RESERVED and "  " not in text
    return text if bare else json.dumps(text, ensure_ascii=False)
