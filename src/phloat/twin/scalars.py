"""A JAX function of small arrays as a graph of single numbers: known numbers are folded, zeros vanish, equal terms stand once.

`Graph.of(function, arguments)` traces the function and evaluates it on arrays whose entries are numbers, where these are known, or
nodes of the graph. `compiled` writes a graph as a function in C.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from phloat.twin.moves import MOVES, filled, gathered, known_integers, update_places
from phloat.twin.nodes import NONE, Loop, Node, OperationError, Product, entry_key, is_table, is_zero, kind_of, same

Tree = Any


ARITHMETIC: dict[str, Callable] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": np.divide,
    "rem": np.fmod,
    "max": np.maximum,
    "min": np.minimum,
    "pow": np.power,
    "atan2": np.arctan2,
    "neg": operator.neg,
    "abs": abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "log": np.log,
    **{name: getattr(np, name) for name in ("floor", "ceil", "sinh", "cosh", "tanh", "log1p", "expm1", "cbrt")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan")},
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
    "not": operator.not_,
}
COMPARISONS = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"}
REDUCTIONS = {
    "reduce_sum": "add",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and",
    "reduce_or": "or",
    "reduce_prod": "mul",
}
EMPTY = {"add": 0.0, "mul": 1.0, "max": -math.inf, "min": math.inf, "and": True, "or": False}


@dataclass(frozen=True)
class Traced:
    """A JAX function, traced for arguments of some shapes."""

    program: Any
    out: Any  # the tree of its outputs

    @classmethod
    def of(cls, function: Callable, *arguments: Tree) -> Traced:
        leaves, tree = jax.tree.flatten(arguments)
        shapes = [jax.ShapeDtypeStruct(np.shape(a), dtype_of(a)) for a in leaves]
        flat = lambda *leaves: function(*jax.tree.unflatten(tree, leaves))  # noqa: E731
        program, out = jax.make_jaxpr(flat, return_shape=True)(*shapes)
        return cls(program, jax.tree.structure(out))


class Graph:
    """Nodes that stand once each, and the evaluation of JAX functions on them."""

    def __init__(self) -> None:
        self.nodes: dict[tuple, Node] = {}
        self.products: dict[tuple, Product] = {}
        self.inputs: list[Node] = []

    # --- single numbers

    def input(self, dtype: str = "f") -> Node:
        """A new input."""
        self.inputs.append(Node("input", (len(self.inputs),), dtype, frozenset()))
        return self.inputs[-1]

    def node(self, op: Any, args: tuple, dtype: str) -> Node:
        key = (op, dtype, *map(entry_key, args))
        found = self.nodes.get(key)
        if found is None:
            loops = NONE.union(*(a.loops for a in args if isinstance(a, Node)))
            found = self.nodes[key] = Node(op, args, dtype, loops)
        return found

    def apply(self, op: str, *args: Any) -> Any:
        """An operation on numbers and nodes."""
        if not any(isinstance(a, Node) for a in args):
            value = ARITHMETIC[op](*args)
            return value.item() if isinstance(value, np.generic) else value
        if (short := self.simplified(op, *args)) is not None:
            return short
        first = next(a for a in args if isinstance(a, Node))
        return self.node(op, args, "b" if op in COMPARISONS else first.dtype)

    def simplified(self, op: str, a: Any, b: Any = None) -> Any:
        """The result of an operation with a number that makes it unnecessary; None if there is none."""
        if op == "add":
            return b if is_zero(a) else a if is_zero(b) else None
        if op == "sub":
            return a if is_zero(b) else self.apply("neg", b) if is_zero(a) else None
        if op == "mul":
            if is_zero(a) or is_zero(b):
                return 0.0
            for one, other in ((a, b), (b, a)):
                if not isinstance(one, Node) and abs(one) == 1:
                    return other if one == 1 else self.apply("neg", other)
        if op == "div" and not isinstance(b, Node):
            return self.apply("mul", a, 1.0 / b) if math.frexp(b)[0] == 0.5 else None
        if op == "div" and is_zero(a):
            return 0.0
        if op == "neg" and a.op == "neg":
            return a.args[0]
        if op in ("and", "or"):
            for one, other in ((a, b), (b, a)):
                if not isinstance(one, Node):
                    return other if bool(one) == (op == "and") else op == "or"
        return None

    def chosen(self, which: Any, *cases: Any) -> Any:
        """The case of this number, as `lax.select_n`."""
        if not isinstance(which, Node):
            return cases[int(which)]
        if cases[0] is cases[1] or (not any(isinstance(c, Node) for c in cases) and cases[0] == cases[1]):
            return cases[0]
        dtype = next((c.dtype for c in cases if isinstance(c, Node)), kind_of(cases[0]))
        return self.node("select", (which, *cases), dtype)

    # --- functions

    def of(self, traced: Traced, *arguments: Tree) -> Tree:
        """The outputs of a traced function; leaves of arguments are arrays of numbers or, with dtype object, of nodes."""
        leaves = [np.asarray(a, dtype=object) for a in jax.tree.leaves(arguments)]
        values = self.evaluated(traced.program.jaxpr, traced.program.consts, leaves)
        return jax.tree.unflatten(traced.out, values)

    def evaluated(self, jaxpr: Any, constants: Sequence[Any], arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Outputs of a jaxpr as arrays of numbers and nodes."""
        known: dict[Any, np.ndarray] = dict(zip(jaxpr.constvars, map(as_objects, constants), strict=True))
        known.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> np.ndarray:
            return as_objects(atom.val) if hasattr(atom, "val") else known[atom]

        for equation in jaxpr.eqns:
            results = self.equation(equation, [read(a) for a in equation.invars])
            known.update(zip(equation.outvars, results, strict=True))
        return [read(a) for a in jaxpr.outvars]

    def equation(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        """The outputs of one equation of a jaxpr."""
        name, params = equation.primitive.name.replace("add_any", "add"), equation.params
        if name in ARITHMETIC:
            return [elementwise(lambda *a: self.apply(name, *a), *args)]
        if name in REDUCTIONS:
            return [self.reduced(REDUCTIONS[name], args[0], params["axes"])]
        if name in MOVES:
            moved = MOVES[name](params, args)
            return moved if equation.primitive.multiple_results else [moved]
        inner = next((params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in params), None)
        method = getattr(self, f"_{name.replace('-', '_')}", None)
        if method is not None:
            return method(equation, args)
        if inner is not None and name != "scan":
            return self.evaluated(getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), args)
        raise OperationError(f"steps with the operation {name!r} cannot be written in C: use compiled=False")

    def reduced(self, op: str, a: np.ndarray, axes: Sequence[int]) -> np.ndarray:
        """A reduction over axes, in pairs."""
        kept = [k for k in range(a.ndim) if k not in axes]
        rows = np.transpose(a, [*kept, *axes]).reshape([math.prod(a.shape[k] for k in part) for part in (kept, axes)])
        return filled([self.folded(op, list(row)) for row in rows], [a.shape[k] for k in kept])

    def folded(self, op: str, terms: list[Any]) -> Any:
        """Terms joined by an operation, those that are zero left out of a sum."""
        if op == "add":
            terms = [t for t in terms if not is_zero(t)]
        result = terms[0] if terms else EMPTY[op]
        for term in terms[1:]:
            result = self.apply(op, result, term)
        return result

    def _dot_general(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        (over_a, over_b), (batch_a, batch_b) = equation.params["dimension_numbers"]
        (a, free_a), (b, free_b) = (
            sorted_axes(x, batch, over) for x, batch, over in ((args[0], batch_a, over_a), (args[1], batch_b, over_b))
        )
        shape = [args[0].shape[k] for k in batch_a] + free_a + free_b
        out = [x for rows, columns in zip(a, b, strict=True) for row in self.product(rows, columns) for x in row]
        return [filled(out, shape)]

    def product(self, rows: np.ndarray, columns: np.ndarray) -> list[list[Any]]:
        """rows · columnsᵀ, of (m, k) and (n, k)."""
        if is_table(rows):
            return self._table_product(rows, columns)
        if is_table(columns):
            return [list(row) for row in zip(*self._table_product(columns, rows), strict=True)]
        return [
            [
                self.folded("add", [self.apply("mul", x, y) for x, y in zip(row, column, strict=True)])
                for column in columns
            ]
            for row in rows
        ]

    def _table_product(self, rows: np.ndarray, columns: np.ndarray) -> list[list[Any]]:
        numbers = not isinstance(rows[0, 0], Node)
        key = (
            "product",
            *(map(entry_key, rows.ravel()) if numbers else [id(rows[0, 0])]),
            *map(entry_key, columns.ravel()),
        )
        product = self.products.setdefault(key, Product(rows, columns))
        nodes = [x for x in columns.ravel() if isinstance(x, Node)]
        if not nodes and numbers:
            return (rows.astype(float) @ columns.astype(float).T).tolist()
        loops = frozenset().union(*(x.loops for x in nodes))

        def entry(i: int, j: int) -> Node:
            found = self.nodes.get(key := (product, i, j))
            return found or self.nodes.setdefault(key, Node("product", (product, i, j), "f", loops))

        return [[entry(i, j) for j in range(len(columns))] for i in range(len(rows))]

    def _gather(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        """A gather; an index that is a node chooses among all entries it can mean."""
        a, indices = args
        if not any(isinstance(x, Node) for x in indices.ravel()):
            return [gathered(a, indices.astype(int), equation.params)]
        numbers = equation.params["dimension_numbers"]
        open_columns = [
            k for k in range(indices.shape[-1]) if any(isinstance(x, Node) for x in indices[..., k].ravel())
        ]
        if len(open_columns) > 1:
            raise OperationError(
                "steps with two indices that depend on the motion cannot be written in C: use compiled=False"
            )
        offsets, cases = numbers.offset_dims, []
        for value in range(a.shape[numbers.start_index_map[open_columns[0]]]):
            known = elementwise(lambda x, value=value: value if isinstance(x, Node) else x, indices).astype(int)
            cases.append(np.moveaxis(gathered(a, known, equation.params), offsets, range(-len(offsets), 0)))
        which = indices[..., open_columns[0]].reshape(*indices.shape[:-1], *[1] * len(offsets))
        result = cases[0]
        for value, case in enumerate(cases[1:], 1):
            result = elementwise(
                lambda x, a, b, value=value: self.chosen(self._is(x, value), a, b), which, result, case
            )
        return [np.moveaxis(result, range(-len(offsets), 0), offsets)]

    def _is(self, index: Any, value: int) -> Any:
        return self.apply("eq", index, value) if isinstance(index, Node) else True

    def _scatter_add(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        operand, updates = args[0], args[2]
        places, rows = (
            update_places(operand, known_integers(args[1]), updates, equation.params),
            operand.ravel().tolist(),
        )
        for place, update in zip(places, updates.ravel(), strict=True):
            if place >= 0:
                rows[place] = self.apply("add", rows[place], update)
        return [filled(rows, operand.shape)]

    def _select_n(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        return [elementwise(self.chosen, *np.broadcast_arrays(*args))]

    def _integer_pow(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        power = equation.params["y"]

        def one(a: Any) -> Any:
            product = self.folded("mul", [a] * abs(power)) if power else 1.0
            return product if power >= 0 else self.apply("div", 1.0, product)

        return [elementwise(one, args[0])]

    def _square(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        return [elementwise(lambda a: self.apply("mul", a, a), args[0])]

    def _clamp(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        low, x, high = np.broadcast_arrays(*args)
        return [elementwise(lambda a, b, c: self.apply("min", self.apply("max", b, a), c), low, x, high)]

    def _is_finite(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        return [elementwise(lambda a: self.apply("lt", self.apply("abs", a), math.inf), args[0])]

    def _convert_element_type(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        kind = KINDS[np.dtype(equation.params["new_dtype"]).kind]

        def one(a: Any) -> Any:
            if not isinstance(a, Node):
                return {"f": float, "i": int, "b": bool}[kind](a)
            return a if a.dtype == kind else self.node("as", (a,), kind)

        return [elementwise(one, args[0])]

    def _iota(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        return [as_objects(equation.primitive.bind(**equation.params))]

    def _cond(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        which, *operands = args
        branches = [self.evaluated(b.jaxpr, b.consts, operands) for b in equation.params["branches"]]
        return [elementwise(lambda *c: self.chosen(which.item(), *c), *outs) for outs in zip(*branches, strict=True)]

    def _while(self, equation: Any, args: list[np.ndarray]) -> list[np.ndarray]:
        """A loop; numbers that no turn changes are not carried."""
        params = equation.params
        counts = params["cond_nconsts"], params["body_nconsts"]
        for_condition, for_body = args[: counts[0]], args[counts[0] : sum(counts)]
        starts = args[sum(counts) :]
        shapes, flat = [a.shape for a in starts], [x for a in starts for x in a.ravel()]
        kinds = [KINDS[np.dtype(v.aval.dtype).kind] for v in equation.outvars for _ in range(math.prod(v.aval.shape))]
        changing: set[int] = set()
        while True:
            loop = Loop()
            entries = list(flat)
            for k in sorted(changing):
                entries[k] = Node("carried", (loop, len(loop.carried)), kinds[k], frozenset([loop]))
                loop.carried.append(entries[k])
            carry = split_flat(entries, shapes)
            ends = self.evaluated(params["body_jaxpr"].jaxpr, params["body_jaxpr"].consts, [*for_body, *carry])
            new = [x for a in ends for x in a.ravel()]
            more = {
                k for k, (a, b) in enumerate(zip(entries, new, strict=True)) if k not in changing and not same(a, b)
            }
            if not more:
                break
            changing |= more
        (condition,) = self.evaluated(params["cond_jaxpr"].jaxpr, params["cond_jaxpr"].consts, [*for_condition, *carry])
        loop.condition = condition.item()
        order = sorted(changing)
        loop.starts, loop.ends = [flat[k] for k in order], [new[k] for k in order]
        results = list(flat)
        outer = [x.loops for x in [*loop.starts, *loop.ends, loop.condition] if isinstance(x, Node)]
        within = frozenset().union(*outer) - {loop}
        for position, k in enumerate(order):
            results[k] = Node("result", (loop, position), kinds[k], within)
        return split_flat(results, shapes)


KINDS = {"f": "f", "i": "i", "u": "i", "b": "b"}


def as_objects(a: Any) -> np.ndarray:
    """An array whose entries are Python's numbers."""
    return np.asarray(a) if np.asarray(a).dtype == object else np.asarray(a).astype(object)


def dtype_of(a: Any) -> Any:
    if np.asarray(a).dtype != object:
        return np.asarray(a).dtype
    kinds = {kind_of(x) for x in np.asarray(a).ravel()} or {"f"}
    return np.dtype({"f": float, "i": int, "b": bool}["f" if "f" in kinds else kinds.pop()])


def split_flat(entries: list[Any], shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """A list of entries as arrays of these shapes, one after the other."""
    out, first = [], 0
    for shape in shapes:
        size = math.prod(shape)
        out.append(filled(entries[first : first + size], shape))
        first += size
    return out


def elementwise(f: Callable, *arrays: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    columns = [np.broadcast_to(a, shape).ravel() for a in arrays]
    return filled([f(*row) for row in zip(*columns, strict=True)], shape)


def sorted_axes(a: np.ndarray, batch: Sequence[int], over: Sequence[int]) -> tuple[np.ndarray, list[int]]:
    """An array as (batch, free, contracted), and the sizes of its free axes."""
    free = [k for k in range(a.ndim) if k not in (*batch, *over)]
    size = [math.prod(a.shape[k] for k in axes) for axes in (batch, free, over)]
    return np.transpose(a, [*batch, *free, *over]).reshape(size), [a.shape[k] for k in free]
