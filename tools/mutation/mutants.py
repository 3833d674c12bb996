"""Mutants of a module: small changes of its syntax tree, each of one sign, factor, index, condition or line."""

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

REPLACED_BY = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One change of a module: the index of the node in `ast.walk`, the kind of change, and the node's code before and after."""

    module: str
    node: int
    kind: str
    line: int
    before: str
    after: str

    @property
    def name(self) -> str:
        return f"{self.module}:{self.node}:{self.kind}"


def mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module; types, decorators, assertions, messages and strings are not changed."""
    tree = ast.parse(source)
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    found = []
    for number, node in enumerate(ast.walk(tree)):
        if not _is_physics(node, parents):
            continue
        for kind in _kinds(node):
            at = node if hasattr(node, "lineno") else parents[node]
            shown = deepcopy(node)
            before, after = ast.unparse(node), ast.unparse(_changed(shown, kind))
            found.append(Mutant(module, number, kind, at.lineno, before, after))
    return found


def mutated(source: str, node: int, kind: str) -> ast.Module:
    """The syntax tree of a module with the change of this kind at this node."""
    tree = ast.parse(source)
    target = next(n for k, n in enumerate(ast.walk(tree)) if k == node)
    fault = _changed(deepcopy(target), kind)
    return ast.fix_missing_locations(_Replace(target, fault).visit(tree))


class _Replace(ast.NodeTransformer):
    """Replaces one node of a tree by another."""

    def __init__(self, target: ast.AST, fault: ast.AST) -> None:
        self.target, self.fault = target, fault

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.fault, node) if node is self.target else super().visit(node)


def _kinds(node: ast.AST) -> Iterator[str]:
    """The kinds of changes that apply to a node."""
    match node:
        case ast.BinOp(op=op) if type(op) in REPLACED_BY:
            yield "operator"
        case ast.AugAssign(op=op) if type(op) in REPLACED_BY:
            yield "operator"
            yield "dropped"
        case ast.Compare(ops=[op]) if type(op) in REPLACED_BY:
            yield "operator"
        case ast.BoolOp():
            yield "operator"
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield "dropped sign"
        case ast.Constant(value=bool()):
            yield "turned"
        case ast.Constant(value=int() | float()):
            yield "constant"
        case ast.If() | ast.IfExp():
            yield "always"
            yield "never"
        case ast.Expr(value=ast.Call()):
            yield "dropped"
        case ast.Assign(targets=[ast.Subscript()]):
            yield "dropped"
        case ast.Break():
            yield "dropped"


def _changed(node: ast.AST, kind: str) -> ast.AST:
    """The changed node; `node` itself is modified where possible."""
    match kind, node:
        case "operator", (ast.BinOp() | ast.AugAssign() | ast.BoolOp()):
            node.op = REPLACED_BY[type(node.op)]()  # type: ignore[assignment]
        case "operator", ast.Compare():
            node.ops = [REPLACED_BY[type(node.ops[0])]()]  # type: ignore[list-item]
        case "dropped sign", ast.UnaryOp():
            return node.operand
        case "turned", ast.Constant():
            node.value = not node.value
        case "constant", ast.Constant():
            assert isinstance(node.value, int | float)
            node.value = node.value + 1 if isinstance(node.value, int) else (2.0 * node.value or 1.0)
        case "always", (ast.If() | ast.IfExp()):
            node.test = ast.Constant(True)
        case "never", (ast.If() | ast.IfExp()):
            node.test = ast.Constant(False)
        case "dropped", _:
            return ast.Pass()
    return node


def _is_physics(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a change of this node can change results: not in a type, a decorator, an assertion, an error or its message."""
    child: ast.AST = node
    while child in parents:
        parent = parents[child]
        match parent:
            case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.FormattedValue():
                return False
            case ast.AnnAssign(annotation=annotation) if annotation is child:
                return False
            case ast.arg(annotation=annotation) if annotation is child:
                return False
            case ast.FunctionDef(decorator_list=marks, returns=returns) if child in marks or child is returns:
                return False
            case ast.ClassDef(decorator_list=marks) if child in marks:
                return False
        child = parent
    return True
