"""Importing one module with a fault in it; its file stays as it is."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

from mutants import mutated


class _Faulty(SourceFileLoader):
    node: int
    kind: str

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = mutated(self.get_data(path).decode(), self.node, self.kind)
        return compile(tree, path, "exec")


class Finder(MetaPathFinder):
    """Finds the module named in "module:node:kind", with that fault."""

    def __init__(self, mutant: str) -> None:
        self.module, node, self.kind = mutant.split(":")
        self.node = int(node)

    def find_spec(self, fullname, path=None, target=None) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path)
        assert spec is not None and spec.origin is not None
        loader = _Faulty(fullname, spec.origin)
        loader.node, loader.kind = self.node, self.kind
        spec.loader = loader
        return spec


def install(mutant: str) -> None:
    sys.meta_path.insert(0, Finder(mutant))
