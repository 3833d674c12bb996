"""An import hook that changes the code of one module when it is imported; its file is not changed."""

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

from mutants import mutated


class _Faulty(SourceFileLoader):
    """Loads a module with one fault: of this kind, at this node of its syntax tree."""

    node: int
    kind: str

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        tree = mutated(self.get_data(path).decode(), self.node, self.kind)
        return compile(tree, path, "exec")


class Finder(MetaPathFinder):
    """Finds the module of a mutant named "module:node:kind", and loads it with that fault; ignores all other modules."""

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
    """Installs the hook for a mutant named "module:node:kind"."""
    sys.meta_path.insert(0, Finder(mutant))
