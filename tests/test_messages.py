"""tests/messages.py fails on a wrong class, a missing name, another message and a missing entry."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import messages
import pytest
from messages import BOOK, Book, masked, raises, read, text, tidy, warns

import phloat as ph

TESTS = Path(__file__).parent
OTHERS = """
import warnings
import pytest
from messages import raises, warns

class InputError(ValueError):
    __module__ = "phloat.errors"

class JumpsWarning(UserWarning):
    __module__ = "phloat.errors"

@pytest.mark.parametrize("name", ["A", "B"])
def test_error(name):
    with raises(InputError, name):
        raise InputError(f"{name} is WORD\\n  at 0.5")

def test_warning():
    with warns(JumpsWarning, "rod"):
        warnings.warn("rod jumps", JumpsWarning, stacklevel=1)
"""


def refused(name="rod.C"):
    """Raises a PortError with this name."""
    raise ph.errors.PortError(f"no port {name!r}; there are 2")


def book(monkeypatch, *filed):
    """Replaces the messages on file of the current test by these."""
    there = Book({messages.running(): list(filed)})
    monkeypatch.setattr(messages, "BOOK", there)
    return there


def test_a_class_and_a_name_are_enough(monkeypatch):
    book(monkeypatch, "PortError: no port 'rod.C'; there are 7")
    with raises(ph.errors.InputError, "'rod.C'", "2") as caught:
        refused()
    assert isinstance(caught.value, ph.errors.PortError)


def test_another_class_fails(monkeypatch):
    book(monkeypatch)
    with pytest.raises(ph.errors.PortError, match="rod"), raises(ph.errors.JointError):
        refused()
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"), raises(ph.errors.JointError):
        pass


def test_a_missing_name_fails_and_names_are_no_patterns(monkeypatch):
    book(monkeypatch, "PortError: no port 'rod.C'; there are 2")
    for name in ("rod.P", "rod..", ".*"):
        with pytest.raises(pytest.fail.Exception, match="in: no port"), raises(ph.errors.PortError, name):
            refused()


def test_other_words_fail_with_both(monkeypatch):
    book(monkeypatch, "PortError: a port 'rod.C' is missing")
    with (
        pytest.raises(pytest.fail.Exception, match=r"--messages\nold: .*missing\nnew: .*there are 2"),
        raises(ph.errors.PortError),
    ):
        refused()


def test_a_message_without_an_entry_fails(monkeypatch):
    book(monkeypatch)
    with pytest.raises(pytest.fail.Exception, match=r"new message.*--messages"), raises(ph.errors.PortError):
        refused()


def test_messages_come_in_order_and_all_of_them(monkeypatch):
    there = book(monkeypatch, "PortError: no port 'a'; there are 2", "PortError: no port 'b'; there are 2")
    with raises(ph.errors.PortError, "'a'"):
        refused("a")
    with pytest.raises(pytest.fail.Exception, match=r"message 2 did not come(.|\n)*'b'"):
        there.ended(messages.running())


def test_messages_of_others_and_of_chance_are_not_compared(monkeypatch):
    there = book(monkeypatch)
    with raises(ZeroDivisionError):
        _ = 1 / 0
    with raises(ph.errors.PortError, golden=False):
        refused()
    assert not there.met


def test_warnings_are_matched_alike(monkeypatch):
    def jumps(words="rod jumps 3 times"):
        warnings.warn(words, ph.errors.JumpsWarning, stacklevel=1)

    book(monkeypatch, "JumpsWarning: rod jumps 4 times")
    with warns(ph.errors.JumpsWarning, "rod") as record:
        jumps()
    assert len(record) == 1
    with pytest.raises(pytest.fail.Exception, match="new message"), warns(ph.errors.JumpsWarning, "rod"):
        jumps()
    with pytest.raises(pytest.fail.Exception, match="DID NOT WARN"), warns(ph.errors.LooseBodyWarning):
        pass
    with pytest.raises(ph.errors.JumpsWarning), warns(ph.errors.JumpsWarning, "rod"):
        jumps()
        jumps("another body")  # goes on to the filters, which make it an error


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("t = 0.5 s", "t = 5e-01 s"),
        ("holds −2, 1e-12", "holds -3.25, 7"),
        ("a pole at 0+131.5j", "a pole at 1e-17-131j"),
        ("[0. 0.5 1.]", "[0.25 3. 7e3]"),
        ("no mesh (ValueError: shape (5,4)); look", "no mesh (OSError: [Errno 2]); look"),
        ("<function f at 0x7f3a>", "<function f at 0x10a2b3>"),
        ("cannot read '/one/pytest-3/test_x0/run.json': no", "cannot read '/other/a b/c/run.json': no"),
    ],
)
def test_what_differs_between_machines_is_masked(one, other):
    assert masked(one) == masked(other)


@pytest.mark.parametrize("words", ["3 rad/s", "m/s and 'rod.C/2'", "https://a.b/c", "a/b/c.txt"])
def test_what_only_looks_like_a_path_is_not(words):
    assert tidy(words) == words


def test_words_are_not_masked():
    assert masked("no port 'a'") != masked("no port 'b'")
    assert masked("/a/b/run.json") != masked("/a/b/memory.json")


def test_the_file_is_read_as_it_was_written():
    filed = {
        "tests/a.py::test_b[x y]": ["InputError: one\n\n  two", "PortError: \\x00 | ="],
        "tests/a.py::test_a": ["A: b"],
    }
    assert read(text(filed)) == filed
    assert text(read(text(filed))) == text(filed)
    assert text(filed).index("test_a\n") < text(filed).index("test_b")
    alike = text({"a.py::test[1]": ["A: 1"], "a.py::test[2]": ["A: 2"], "a.py::test[3]": ["A: x"]})
    assert alike.endswith("test[1]\ntest[2]\n    A: 2\ntest[3]\n    A: x\n")
    assert read(alike) == {"a.py::test[1]": ["A: 2"], "a.py::test[2]": ["A: 2"], "a.py::test[3]": ["A: x"]}


def test_every_entry_has_its_test():
    gone = [test for test in BOOK.filed if not messages.there(test, set(), set(), TESTS.parent)]
    assert not gone, "run ./test --messages"


def run(folder, *arguments):
    """Runs pytest in a folder; returns exit code and output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # they take seconds to start
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-p", "no:cacheprovider", "tests", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_the_file_is_written_by_an_option(tmp_path):
    """Also by workers of pytest-xdist; messages that differ in numbers only stay, entries of removed tests are removed."""
    folder = tmp_path / "tests"
    folder.mkdir()
    for name in ("conftest.py", "messages.py", "tiers.py", "durations.csv"):
        shutil.copy(TESTS / name, folder)
    file, filed = folder / "test_others.py", folder / "messages.txt"
    file.write_text(OTHERS)
    assert run(tmp_path, "-n", "2", "--messages")[0] == 0
    first = filed.read_text()
    assert (
        "\n== tests/test_others.py\ntest_error[A]\n    InputError: A is WORD\n    |   at 0.5\ntest_error[B]\n" in first
    )

    file.write_text(OTHERS.replace("0.5", "0.25"))
    assert run(tmp_path, "-n", "0", "--messages", "-k", "error")[0] == 0
    assert filed.read_text() == first

    file.write_text(OTHERS.replace('"B"', '"C"').replace("WORD", "wrong"))
    code, words = run(tmp_path, "-n", "0")
    assert code == 1 and "2 failed, 1 passed" in words
    assert "old: InputError: A is WORD" in words and "new: InputError: A is wrong" in words and "a new message" in words
    assert run(tmp_path, "-n", "0", "--messages")[0] == 0
    assert "C is wrong" in filed.read_text() and "test_error[B]" not in filed.read_text()
