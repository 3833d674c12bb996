"""Errors and warnings are matched by class and by the names in them; what they say stands in messages.txt, to be read.

with raises(ph.PortError, "'rod.D'"): ...
with warns(ph.LooseBodyWarning, "'rod'"): ...

`./test --messages` writes messages.txt anew for the tests that run."""

import os
import re
from contextlib import contextmanager
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".txt")
HEAD = "Every error and warning that the tests meet. ./test --messages writes this file; numbers are not compared.\n"

NUMBER = re.compile(r"[-+−]?(?:\d+(?:\.\d*)?(?:[eE][-+−]?\d+)?|\b(?:nan|inf)\b)")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
FOLDERS = re.compile(r"(?<![\w.:<>/])/(?:[\w.@%+=~ -]+/)+(?=[\w.@%+=~-])")


@contextmanager
def raises(kind, *names, golden=True):
    """pytest.raises with names that the message must hold as they stand; golden=False: its words depend on the machine."""
    __tracebackhide__ = True
    with pytest.raises(kind) as caught:
        yield caught
    words = str(caught.value)
    missing = [name for name in names if str(name) not in words]
    if missing:
        pytest.fail(f"no {', '.join(map(repr, missing))} in {type(caught.value).__name__}: {words}")
    if golden:
        BOOK.compare(running(), caught.value)


@contextmanager
def warns(kind, *names, golden=True):
    """pytest.warns with names that a warning must hold as they stand; others are left to the filters."""
    __tracebackhide__ = True
    held = "".join(f"(?=.*{re.escape(str(name))})" for name in names)
    with pytest.warns(kind, match=rf"(?s)\A{held}") as record:
        yield record
    if golden:
        said = (one.message for one in record if isinstance(one.message, kind))
        found = {str(one): one for one in said if all(str(name) in str(one) for name in names)}
        for one in found.values():
            BOOK.compare(running(), one)


def running():
    """The node id of the test that runs."""
    return os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0]


class Book:
    """The messages of every test, in the order in which they come: those on file, and those of this run."""

    def __init__(self, filed, writing=False):
        self.filed, self.writing = filed, writing
        self.met, self.whole = {}, {}

    def compare(self, test, message):
        """Fails where this message is not the next of the test on file; only phloat's own are looked at."""
        __tracebackhide__ = True
        if not type(message).__module__.startswith("phloat"):
            return
        met, filed = self.met.setdefault(test, []), self.filed.get(test, [])
        met.append(tidy(f"{type(message).__name__}: {message}"))
        if self.writing:
            return
        if len(met) > len(filed):
            pytest.fail(f"a new message; read it, then run ./test --messages\n{met[-1]}")
        old = filed[len(met) - 1]
        if masked(old) != masked(met[-1]):
            pytest.fail(f"another message; read it, then run ./test --messages\nold: {old}\nnew: {met[-1]}")

    def ended(self, test):
        """Fails where a test that passed met fewer messages than are on file."""
        __tracebackhide__ = True
        met, filed = self.met.pop(test, []), self.filed.get(test, [])
        if self.writing:
            self.whole[test] = quiet(filed, met)
        elif len(met) < len(filed):
            pytest.fail(
                f"message {len(met) + 1} did not come; run ./test --messages if that is right\n{filed[len(met)]}"
            )

    def written(self, collected, root):
        """The text of the file: entries of tests that did not run are kept while there are such tests."""
        files = {test.partition("::")[0] for test in collected}
        kept = {test: said for test, said in self.filed.items() if there(test, files, collected, root)}
        return text({test: said for test, said in (kept | self.whole).items() if said})


def there(test, files, collected, root):
    file, _, name = test.partition("::")
    if file in files:
        return test in collected
    return (root / file).is_file() and f"def {name.partition('[')[0]}(" in (root / file).read_text(encoding="utf-8")


def quiet(filed, met):
    """`met`, but as on file where only numbers differ."""
    old = filed + [""] * len(met)
    return [was if masked(was) == masked(now) else now for was, now in zip(old, met, strict=False)]


def tidy(words):
    """Without folders and addresses of this machine, and without characters that no editor shows."""
    shown = "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in words)
    shown = ADDRESS.sub("0x…", FOLDERS.sub("<path>/", shown))
    return "\n".join(line.rstrip() for line in shown.split("\n"))


def masked(words):
    return NUMBER.sub("#", tidy(words))


def text(book):
    """file, test and messages, a line each; further lines of a message begin with a bar."""
    lines, at = [HEAD], None
    for test in sorted(book, key=lambda test: test.split("::", 1)):
        file, _, name = test.partition("::")
        if file != at:
            lines.append(f"\n== {file}\n")
            at = file
        lines.append(f"{name}\n")
        lines += ["    " + said.replace("\n", "\n    | ") + "\n" for said in book[test]]
    return "".join(lines)


def read(words):
    """The inverse of text."""
    book, file, said = {}, None, []
    for line in words.removeprefix(HEAD).split("\n"):
        if line.startswith("== "):
            file = line[3:]
        elif line.startswith("    | "):
            said[-1] += "\n" + line[6:]
        elif line.startswith("    "):
            said.append(line[4:])
        elif line:
            said = book[f"{file}::{line}"] = []
    return book


BOOK = Book(read(FILE.read_text(encoding="utf-8")) if FILE.exists() else {})
