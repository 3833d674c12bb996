"""Faults put in after the tests were collected: each process begins with all that is imported, and only runs the tests.

For modules that consist of functions and constants: the code of a function is changed where it stands, so that all who have
imported it see the fault.
"""

import os
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from mutants import Mutant, mutated


def put_in(mutant: Mutant) -> None:
    """The fault, into the module that is already imported."""
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
    """In the place of the loop over the tests: `go` is called with what begins them in a process of its own."""

    def __init__(self, build: Path, go: Callable[[Callable[[Mutant | None, str], int]], None]) -> None:
        self.build, self.go = build, go

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests must be collected before faults are put in")

        def begun(mutant: Mutant | None, module: str) -> int:
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
                    put_in(mutant)
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

        self.go(begun)
        return True
