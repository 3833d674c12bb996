"""Mutants applied after the tests were collected: each forked process has all modules imported and only runs the tests.

This works for modules of functions and constants: the code object of a function is replaced, so that the fault is in effect
wherever the function has been imported.
"""

import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from mutants import Mutant, mutated


def apply_mutant(mutant: Mutant) -> None:
    """Changes functions and constants of a module that is already imported to those of the mutant."""
    module = sys.modules[mutant.module]
    assert module.__file__ is not None
    tree = mutated(Path(module.__file__).read_text(), mutant.node, mutant.kind)
    fresh: dict = {"__name__": module.__name__, "__file__": module.__file__}
    exec(compile(tree, module.__file__, "exec"), fresh)
    for name, value in fresh.items():
        old = vars(module).get(name)
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__:
            old.__code__ = value.__code__
            old.__defaults__, old.__kwdefaults__ = value.__defaults__, value.__kwdefaults__
        elif isinstance(value, int | float) and value != old:
            for other in list(sys.modules.values()):
                if vars(other).get(name) is old:
                    setattr(other, name, value)


class Forks:
    """A pytest plugin that replaces the loop over the tests.

    It calls `with_start` with a function that forks a process, runs the tests there with a mutant, and returns the process id.
    """

    def __init__(self, build: Path, with_start: Callable[[Callable[[Mutant | None, str], int]], None]) -> None:
        self.build, self.with_start = build, with_start

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests must be collected before faults are put in")

        def start_tests(mutant: Mutant | None, module: str) -> int:
            child = os.fork()
            if child:
                return child
            os.setsid()
            out = os.open(
                self.build / f"{mutant.name if mutant else module}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            )
            os.dup2(out, 1)
            os.dup2(out, 2)
            code = 70
            try:
                if mutant is not None:
                    apply_mutant(mutant)
                code = 0
                for item, after in zip(session.items, [*session.items[1:], None], strict=True):
                    start = time.monotonic()
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                    print(f"{time.monotonic() - start:.2f} s {item.nodeid}", flush=True)
                    if session.testsfailed:
                        code = 1
                        break
            finally:
                sys.stdout.flush()
                os._exit(code)

        self.with_start(start_tests)
        return True
