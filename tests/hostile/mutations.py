"""Wrong files by the thousand: model files and runs on disk, changed by chance. All chance comes from the number of a case."""

import copy
import io
import json
import string
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

HUGE = [
    10**9,
    10**18,
    10**400,
    1e308,
    -1e308,
    1e-320,
    "1e999",
    "1e400 mm",
    "-1e308 GPa",
    2**63,
    -(2**63) - 1,
    "9" * 5000,
]
ODD_NUMBERS = [
    *HUGE,
    0,
    -0.0,
    -1,
    0.5,
    1.5,
    ".nan",
    ".inf",
    "-.Inf",
    "0x10",
    "1_000",
    "1e",
    "٣",
    "½",
    "1,5",
    True,
    None,
]
UNITS = [
    "mm",
    "m",
    "kg",
    "GPa",
    "N m",
    "rad/s",
    "deg",
    "Hz",
    "N/m",
    "m^4",
    "kg m^2",
    "s",
    "%",
    "mm^99",
    "m/0",
    "furlong",
]
PATHS = [
    "../link.msh",
    "/etc/passwd",
    "..\\x",
    "C:\\x",
    "a/../../b",
    "~/x",
    "file:///etc/passwd",
    "link.msh",
    ".",
    "",
    "\0",
]
MARKUP = [
    "<script>alert(1)</script>",
    "</svg><script>",
    "'\"&<>",
    "${7*7}",
    "{{7*7}}",
    "%s%n",
    "$(true)",
    "`true`",
    "\u202e",
]
WORDS = [
    "",
    " ",
    "x",
    "ground",
    "upper.P",
    "P",
    "C",
    "steel",
    "true",
    "~",
    "null",
    "no",
    "*",
    "&a",
    "<<",
    "!!int",
    "a.b.c",
    "=1",
]
TAGS = [
    "!!python/object/apply:os.system ['true']",
    "!!python/name:os.system",
    "!include x",
    "!!binary aGVsbG8=",
    "!!set {a}",
]


def deep(chance: Random) -> Any:
    """Lists or mappings in one another."""
    out: Any = 1
    for _ in range(chance.choice([5, 40, 60, 400])):
        out = [out] if chance.random() < 0.5 else {"a": out}
    return out


def junk(chance: Random) -> Any:
    """A value that hardly belongs where it is put."""
    kind = chance.randrange(9)
    if kind == 0:
        return chance.choice(ODD_NUMBERS)
    if kind == 1:
        return f"{chance.choice(['1', '-3', '1e9', '0', '2.5'])} {chance.choice(UNITS)}"
    if kind == 2:
        return chance.choice(WORDS + MARKUP)
    if kind == 3:
        return chance.choice(PATHS)
    if kind == 4:
        return [chance.choice(ODD_NUMBERS) for _ in range(chance.choice([0, 1, 2, 3, 4, 300]))]
    if kind == 5:
        return {chance.choice(WORDS): chance.choice(ODD_NUMBERS) for _ in range(chance.choice([0, 1, 2, 5]))}
    if kind == 6:
        return deep(chance)
    if kind == 7:
        return "".join(chance.choice(string.printable) for _ in range(chance.choice([1, 10, 1000])))
    return chance.choice([[], {}, [[]], [{}], {"a": {}}, "", None, False])


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every (holder, key) inside."""
    out: list[tuple[Any, Any]] = []
    keys = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in keys:
        out += [(data, key), *places(value)]
    return out


def changed(data: Any, chance: Random) -> Any:
    """The data with one to four of its values deleted, moved, renamed, retyped, or given other units and sizes."""
    data = copy.deepcopy(data)
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        there = places(data)
        if not there:
            return junk(chance)
        holder, key = chance.choice(there)
        kind = chance.randrange(8)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[chance.choice([*WORDS, *MARKUP, str(chance.choice(there)[1])])] = holder.pop(key)
        elif kind == 2:
            other, place = chance.choice(there)
            holder[key] = copy.deepcopy(other[place])
        elif kind == 3 and isinstance(holder, dict):
            holder[chance.choice(WORDS + MARKUP)] = junk(chance)
        elif kind == 4 and type(holder[key]) in (int, float) and abs(holder[key]) < 1e300:
            holder[key] = (
                chance.choice(HUGE) if chance.random() < 0.3 else holder[key] * chance.choice([-1, 1e-9, 1e9, 3])
            )
        elif kind == 5 and isinstance(holder[key], str) and " " in holder[key]:
            holder[key] = f"{holder[key].split()[0]} {chance.choice(UNITS)}"
        elif kind == 6 and isinstance(holder, list):
            holder += [holder[key]] * (3 if isinstance(holder[key], list | dict) else chance.choice([1, 3, 500]))
        else:
            holder[key] = junk(chance)
    return data


def scaled(data: Any, chance: Random) -> Any:
    """The data with some of its numbers far larger, far smaller, zero or negative; mostly something that can be read."""
    data = copy.deepcopy(data)
    there = [(holder, key) for holder, key in places(data) if _numeric(holder[key])]
    for holder, key in chance.sample(there, min(len(there), chance.choice([1, 1, 2, 5]))):
        value, unit = str(holder[key]).split(" ", 1) if isinstance(holder[key], str) else (holder[key], "")
        size = chance.choice([-1.0, 0.0, 1e-12, 1e-6, 0.5, 3.0, 1e3, 1e6, 1e12, 1e30, 1e150])
        new = int(value * abs(size)) if isinstance(value, int) and abs(size) < 1e18 else float(value) * size
        holder[key] = f"{new} {unit}" if unit else new
    return data


def _numeric(value: Any) -> bool:
    if isinstance(value, str):
        first = value.split(" ", 1)
        return len(first) == 2 and first[0].replace(".", "", 1).replace("-", "", 1).isdecimal()
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- texts of models --------------------------------------------------------------------------------------------------


def structured(data: Any, chance: Random) -> tuple[str, str]:
    """A changed model as text, and the name of its file; sometimes with a key twice, an alias, a tag or a merge."""
    if chance.random() < 0.3:
        return json.dumps(scaled(data, chance)), "model.json"
    text = json.dumps(changed(data, chance))
    name = chance.choice(["model.json", "model.yaml"])
    spots = [k for k, letter in enumerate(text) if letter == ","] or [0]
    kind = chance.randrange(8)
    if kind == 0:  # a piece of it once more: keys that stand there twice
        a, b = sorted(chance.sample(spots, 2)) if len(spots) > 1 else (0, 0)
        text = text[:b] + text[a:b] + text[b:]
    elif kind == 1 and name.endswith("yaml"):
        at = text.find("{", chance.choice(spots))
        text = f"{text[:at]}&a {text[at:-1]}, x: *a, y: [*a, *a, {{<<: *a}}]}}" if at > 0 else text
    elif kind == 2 and name.endswith("yaml"):
        at = chance.choice(spots)
        text = f"{text[:at]}, z: {chance.choice(TAGS)}{text[at:]}"
    return text, name


def torn(whole: bytes, chance: Random) -> tuple[bytes, str]:
    """Bytes with some of them changed, cut out, doubled or replaced by chance."""
    data = bytearray(whole)
    for _ in range(chance.choice([1, 1, 2, 10, 100])):
        if not data:
            break
        at, size = chance.randrange(len(data)), chance.choice([1, 1, 3, 50])
        kind = chance.randrange(6)
        if kind == 0:
            data[at] = chance.randrange(256)
        elif kind == 1:
            del data[at : at + size]
        elif kind == 2:
            data[at:at] = data[at : at + size]
        elif kind == 3:
            data[at:at] = bytes(chance.randrange(256) for _ in range(size))
        elif kind == 4:
            data[at:at] = chance.choice(
                [b": ", b"\n", b"- ", b"[", b"{", b"&a ", b"*a", b"\t", b"'", b'"', b"|", b"---\n", b"!"]
            )
        else:
            del data[at:]
    return bytes(data), chance.choice(["model.yaml", "model.json"])


def noise(chance: Random) -> tuple[bytes, str]:
    """Random bytes, or random letters of those that mean something."""
    letters = bytes(range(256)) if chance.random() < 0.5 else b"{}[]:,-&*!|>'\"%@`#?\n\t 0123456789.eEabcxyz~<"
    size = chance.choice([0, 1, 10, 100, 3000])
    return bytes(chance.choice(letters) for _ in range(size)), chance.choice(["model.yaml", "model.json"])


# --- runs on disk -----------------------------------------------------------------------------------------------------


def npy(array: Any, *, pickled: bool = False) -> bytes:
    out = io.BytesIO()
    np.save(out, array, allow_pickle=pickled)
    return out.getvalue()


def header(shape: Any, kind: str = "<f8", order: str = "False") -> bytes:
    """A .npy file whose head promises much, with little behind it."""
    said = f"{{'descr': {kind!r}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    said += b" " * (-(len(said) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(said).to_bytes(2, "little") + said + bytes(64)


class Called:
    """What a pickle would run, if one were opened."""

    def __reduce__(self) -> tuple[Callable, tuple]:
        return (exec, ("import pathlib; pathlib.Path('executed').touch()",))


def bomb(size: int = 400_000_000) -> bytes:
    """An archive of few bytes with a huge array of zeros in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("w.npy", "w") as member:
        member.write(header((size // 8,))[:-64])
        for _ in range(size // 10_000_000):
            member.write(bytes(10_000_000))
    return out.getvalue()


ARRAYS = [
    npy(np.array([Called()], dtype=object), pickled=True),
    npy(np.zeros(0)),
    npy(np.zeros((3, 2, 2))),
    npy(np.full((40, 7), np.nan)),
    npy(np.array(["a", "b"])),
    npy(np.zeros(5, dtype=[("a", "f8"), ("b", "i4")])),
    npy(np.array(3.0)),
    header((10**12,)),
    header((10**6, 10**6)),
    header((-5, 3)),
    header((2**63, 2)),
    header("(__import__('os').system('touch executed'),)"),
    header((3,), "|O"),
    header((3,), "<f0"),
    header((3,), "<i3"),
    header((3,), "<U0"),
    header((3,), "(3,3)f8"),
    header("(3"),
    header((3,), "<f8", "True"),
    header("(" * 300 + ")" * 300),
]


def damaged(files: dict[str, bytes], chance: Random, bombs: list[bytes]) -> dict[str, bytes]:
    """The files of a run with some of them changed."""
    out = dict(files)
    for _ in range(chance.choice([1, 1, 2, 3])):
        name = chance.choice([*(file for file in files if file.endswith(".json")), *files])
        kind = chance.randrange(7)
        if name.endswith(".json") and kind < 4:
            out[name] = json.dumps(changed(json.loads(files[name]), chance)).encode()
        elif kind == 4:
            out[name] = torn(files.get(name, b""), chance)[0]
        elif kind == 5:
            out.pop(name, None)
        elif kind == 6:
            out[name] = out.get(chance.choice(list(files)), b"")
        elif name.endswith(".npz"):
            out[name] = chance.choice([*ARRAYS, *bombs])
        else:
            out[name] = chance.choice(ARRAYS)
    return out


def bare(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
