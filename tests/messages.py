"""Helpers to test errors and warnings by their class and the names in their message; full messages are in messages.txt.

with raises(ph.errors.PortError, "'rod.D'"): ...
with warns(ph.errors.LooseBodyWarning, "'rod'"): ...

`./test --messages` updates messages.txt for the tests that run."""

import os
import re
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".txt")
HEAD = "Every error and warning that the tests meet. ./test --messages writes this file; numbers are not compared.\n"

NUMBER = re.compile(r"[-+−]?(?:\d+(?:\.\d*)?(?:[eE][-+−]?\d+)?|\b(?:nan|inf)\b)")
FOREIGN = re.compile(r"\((?:[A-Z]\w*Error|\[Errno)\b[^;\n]*\)|(?<=no YAML: ).*")  # texts of other libraries
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
FOLDERS = re.compile(r"(?<![\w.:<>/])/(?:[\w.@%+=~ -]+/)+(?=[\w.@%+=~-])")


def raises(kind, *names, golden=True):
    """pytest.raises with texts that the message must contain; golden=False: the message is not compared with messages.txt."""
    return Held(pytest.raises(kind), names, golden, lambda caught: [caught.value])


def warns(kind, *names, golden=True):
    """pytest.warns with texts that a warning of this class must contain; other warnings go on to the filters."""
    held = "".join(f"(?=.*{re.escape(str(name))})" for name in names)
    inner = pytest.warns(kind, match=rf"(?s)\A{held}")
    return Held(inner, names, golden, lambda record: [one.message for one in record if isinstance(one.message, kind)])


class Held:
    """The context manager of pytest, and then the comparison of the message with the names and with messages.txt."""

    def __init__(self, inner, names, golden, said):
        self.inner, self.names, self.golden, self.said = inner, names, golden, said

    def __enter__(self):
        self.found = self.inner.__enter__()
        return self.found

    def __exit__(self, kind, error, trace):
        __tracebackhide__ = True
        expected = self.inner.__exit__(kind, error, trace)
        if kind and not expected:
            return expected
        said = {str(one): one for one in self.said(self.found)}
        named = [one for words, one in said.items() if all(str(name) in words for name in self.names)]
        if not named:
            pytest.fail(f"no {', '.join(map(repr, self.names))} in: {', '.join(said)}")
        if self.golden:
            for one in named:
                BOOK.compare(running(), one)
        return expected


def running():
    """The node id of the current test."""
    return os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0]


class Book:
    """The messages of every test in order: `filed` those in messages.txt, `met` of the current test, `whole` of finished tests."""

    def __init__(self, filed, writing=False):
        self.filed, self.writing = filed, writing
        self.met, self.whole = {}, {}

    def compare(self, test, message):
        """Fails if this message is not the next one in the entry of the test; classes of other packages are ignored."""
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
        """Fails if a test that passed raised fewer messages than its entry has."""
        __tracebackhide__ = True
        met, filed = self.met.pop(test, []), self.filed.get(test, [])
        if self.writing:
            self.whole[test] = quiet(filed, met)
        elif len(met) < len(filed):
            pytest.fail(
                f"message {len(met) + 1} did not come; run ./test --messages if that is right\n{filed[len(met)]}"
            )

    def written(self, collected, root):
        """The new text of the file: entries of tests that did not run stay, unless these tests do not exist any more."""
        files = {test.partition("::")[0] for test in collected}
        kept = {test: said for test, said in self.filed.items() if there(test, files, collected, root)}
        return text({test: said for test, said in (kept | self.whole).items() if said})


def there(test, files, collected, root):
    """Whether a test exists: in `files`, which were collected completely, if it was collected; else if its file defines it."""
    file, _, name = test.partition("::")
    if file in files:
        return test in collected
    return (root / file).is_file() and f"def {name.partition('[')[0]}(" in (root / file).read_text(encoding="utf-8")


def quiet(filed, met):
    """The messages `met`, or those of the entry if only numbers differ, so that the file does not change needlessly."""
    old = filed + [""] * len(met)
    return [was if masked(was) == masked(now) else now for was, now in zip(old, met, strict=False)]


def tidy(words):
    """A message without the folders and addresses of this machine; unprintable characters are escaped."""
    shown = "".join(one if one.isprintable() or one == "\n" else repr(one)[1:-1] for one in words)
    shown = ADDRESS.sub("0x…", FOLDERS.sub("<path>/", shown))
    return "\n".join(line.rstrip() for line in shown.split("\n"))


def masked(words):
    """A message without its numbers and without the texts of other libraries, to compare."""
    return NUMBER.sub("#", FOREIGN.sub("(#)", tidy(words)))


def text(book):
    """The text of messages.txt: names of files, tests and messages, one a line; further lines of a message begin with a bar.

    Successive cases of a test with the same messages are listed above one copy of these.
    """
    lines, at = [HEAD], None
    tests = sorted(book, key=lambda test: test.split("::", 1))
    for test, after in zip(tests, [*tests[1:], None], strict=True):
        file, _, name = test.partition("::")
        if file != at:
            lines.append(f"\n== {file}\n")
            at = file
        lines.append(f"{name}\n")
        if not alike(test, after, book):
            lines += ["    " + said.replace("\n", "\n    | ") + "\n" for said in book[test]]
    return "".join(lines)


def alike(test, after, book):
    """Whether two successive cases of one test have messages that differ in numbers only."""
    if after is None or test.partition("[")[0] != after.partition("[")[0]:
        return False
    return list(map(masked, book[test])) == list(map(masked, book[after]))


def read(words):
    """The messages by test, from the text of messages.txt: the inverse of `text`."""
    book, file, tests, said = {}, None, [], []
    for line in words.removeprefix(HEAD).split("\n"):
        if line.startswith("== "):
            file = line[3:]
        elif line.startswith("    | "):
            said[-1] += "\n" + line[6:]
        elif line.startswith("    "):
            if tests:
                said = []
                book.update(dict.fromkeys(tests, said))
                tests = []
            said.append(line[4:])
        elif line:
            tests.append(f"{file}::{line}")
    return book


BOOK = Book(read(FILE.read_text(encoding="utf-8")) if FILE.exists() else {})
