"""A graph of single numbers as a function in C that JAX calls: each thread of a GPU, or each turn of a loop, computes one sample.

The compiler is nvcc for a GPU and cc for the processor. What was compiled is kept on disk, under a digest of its source.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import Array

from phloat.errors import InputError
from phloat.twin.nodes import Loop, Node, Product, ordered

INFIX = {
    **{
        "add": "+",
        "sub": "-",
        "mul": "*",
        "div": "/",
        "lt": "<",
        "le": "<=",
        "gt": ">",
        "ge": ">=",
        "eq": "==",
        "ne": "!=",
    },
    **{"and": "&&", "or": "||"},
}
FUNCTIONS = {"max": "greatest", "min": "least", "abs": "fabs", "rem": "fmod"}
OF_INTEGERS = {"max": "larger", "min": "smaller", "abs": "abs"}
TYPES = {"f": "double", "i": "int", "b": "bool"}
COMPILERS = {  # by platform of JAX: command, options, and the keyword of the function that runs on the device
    "gpu": ("nvcc", ("-O3", "-arch=native", "-x", "cu", "-Xcompiler", "-fPIC"), "CUDA"),
    "cpu": ("cc", ("-O2", "-march=native", "-ffp-contract=fast", "-fPIC", "-x", "c"), "cpu"),
}
ROWS = 4  # of a matrix in a turn of a loop
CONSTANT_MEMORY = 48_000  # bytes
THREADS = 64  # of a block on a GPU

SOURCE = """
#include <math.h>
#include <stdbool.h>
#include "xla/ffi/api/c_api.h"
#ifdef __CUDACC__
#define DEVICE __device__ static
#define TABLE static __constant__ const double
#define LARGE_TABLE static __device__ const double
#define EXPORT extern "C"
#else
#define DEVICE static
#define TABLE static const double
#define LARGE_TABLE static const double
#define EXPORT
#define __restrict__ restrict
#endif
#define sign(a) ((double)(((a) > 0) - ((a) < 0)))
DEVICE double greatest(double a, double b) { return a > b || a != a ? a : b; }  // NaN stays, other than with fmax
DEVICE double least(double a, double b) { return a < b || a != a ? a : b; }
#define larger(a, b) ((a) > (b) ? (a) : (b))
#define smaller(a, b) ((a) < (b) ? (a) : (b))

@TABLES@

DEVICE void sample(@PARAMETERS@, double* __restrict__ out, long n, long s)
{
@BODY@
}

#ifdef __CUDACC__
__global__ void __launch_bounds__(@THREADS@) samples(@PARAMETERS@, double* __restrict__ out, long n)
{
    long s = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (s < n) sample(@NAMES@, out, n, s);
}
#endif

EXPORT XLA_FFI_Error* call(XLA_FFI_CallFrame* frame)
{
    for (__typeof__(frame->extension_start) e = frame->extension_start; e; e = e->next)
        if (e->type == XLA_FFI_Extension_Metadata) {
            XLA_FFI_Metadata* about = ((XLA_FFI_Metadata_Extension*)e)->metadata;
            about->api_version.major_version = XLA_FFI_API_MAJOR;
            about->api_version.minor_version = XLA_FFI_API_MINOR;
            return 0;
        }
    double* a[@COUNT@ + 1];
    for (int k = 0; k < @COUNT@; k++) a[k] = (double*)((XLA_FFI_Buffer*)frame->args.args[k])->data;
    XLA_FFI_Buffer* out = (XLA_FFI_Buffer*)frame->rets.rets[0];
    a[@COUNT@] = (double*)out->data;
    long n = out->dims[out->rank - 1];
#ifdef __CUDACC__
    XLA_FFI_Stream_Get_Args get = {sizeof(XLA_FFI_Stream_Get_Args), 0, frame->ctx, 0};
    XLA_FFI_Error* error = frame->api->XLA_FFI_Stream_Get(&get);
    if (error) return error;
    samples<<<(n + @THREADS@ - 1) / @THREADS@, @THREADS@, 0, (cudaStream_t)get.stream>>>(@POINTERS@, n);
    cudaError_t state = cudaGetLastError();
    if (state != cudaSuccess) {
        XLA_FFI_Error_Create_Args text = {
            sizeof(XLA_FFI_Error_Create_Args), 0, cudaGetErrorString(state), XLA_FFI_Error_Code_INTERNAL};
        return frame->api->XLA_FFI_Error_Create(&text);
    }
#else
    for (long s = 0; s < n; s++) sample(@POINTERS@, n, s);
#endif
    return 0;
}
"""


class Writer:
    """Lines of C that compute nodes; `read(k, offset)` is the expression of an input, or of one so many behind it."""

    def __init__(self, read: Callable[..., str]) -> None:
        self.read, self.count = read, 0
        self.lines: list[str] = []
        self.known: dict[int, Any] = {}
        self.tables: dict[bytes, str] = {}  # names of matrices of numbers, by their bytes

    def all(self, outputs: Sequence[Any]) -> list[str]:
        """Writes all that outputs depend on, and returns their expressions."""
        for node in ordered(outputs, self.known):
            self.known[id(node)] = self.assigned(TYPES[node.dtype], self.expression(node))
        return [self.value(a) for a in outputs]

    def assigned(self, kind: str, expression: str) -> str:
        self.count += 1
        self.lines.append(f"{kind} v{self.count} = {expression};")
        return f"v{self.count}"

    def value(self, a: Any) -> str:
        if isinstance(a, Node):
            return self.known[id(a)]
        if isinstance(a, bool | int):
            return str(int(a))
        if math.isnan(a):
            return "NAN"
        return f"({a!r})" if math.isfinite(a) else "INFINITY" if a > 0 else "(-INFINITY)"

    def expression(self, node: Node) -> str:
        if node.op == "input":
            return self.read(node.args[0])
        if node.op == "result":
            loop, position = node.args
            if id(loop) not in self.known:
                self.known[id(loop)] = self.loop(loop)
            return self.known[id(loop)][position]
        if node.op == "product":
            product, i, j = node.args
            if id(product) not in self.known:
                self.known[id(product)] = self.product(product)
            return f"{self.known[id(product)]}[{i * len(product.columns) + j}]"
        a = [self.value(x) for x in node.args]
        if node.op in INFIX:
            return f"{a[0]} {INFIX[node.op]} {a[1]}"
        if node.op == "as":
            return f"({TYPES[node.dtype]}){a[0]}"
        if node.op == "select":
            return f"{a[0]} ? {a[2]} : {a[1]}"
        if node.op in ("neg", "not"):
            return f"{'-' if node.op == 'neg' else '!'}{a[0]}"
        names = OF_INTEGERS if node.dtype == "i" else FUNCTIONS
        return f"{names.get(node.op, node.op)}({', '.join(a)})"

    def loop(self, loop: Loop) -> list[str]:
        """Writes a loop, and returns the variables it carries."""
        kinds = [TYPES[node.dtype] for node in loop.carried]
        names = [self.assigned(kind, self.value(a)) for kind, a in zip(kinds, loop.starts, strict=True)]
        outer = dict(self.known)
        self.known |= {id(node): name for node, name in zip(loop.carried, names, strict=True)}
        self.lines.append("while (true) {")
        self.lines.append(f"if (!({self.all([loop.condition])[0]})) break;")
        ends = [self.assigned(kind, value) for kind, value in zip(kinds, self.all(loop.ends), strict=True)]
        self.lines += [f"{name} = {end};" for name, end in zip(names, ends, strict=True)]
        self.lines.append("}")
        self.known = outer
        return names

    def product(self, product: Product) -> str:
        """Writes a loop over the rows of a matrix, four in a turn, and returns the array of its result."""
        (m, k), n = product.rows.shape, len(product.columns)
        turns = -(-m // ROWS)
        self.count += 1
        name = f"v{self.count}"
        self.lines += [
            f"double {name}[{ROWS * turns * n}];",
            "#pragma unroll 1",
            f"for (int i = 0; i < {turns * ROWS}; i += {ROWS}) {{",
        ]
        values = [[self.value(x) for x in column] for column in product.columns]
        used = [j for j in range(k) if any(column[j] != "0.0" for column in values)]
        for row in range(ROWS):
            at = f"i + {row}" if m % ROWS == 0 else f"smaller(i + {row}, {m - 1})"
            self.lines.append(
                f"{{ const long r = (long)({at}) * {k}; double " + ", ".join(f"s{c} = 0.0" for c in range(n)) + ", a;"
            )
            for j in used:
                self.lines.append(f"a = {self.entry(product, j)};")
                self.lines += [f"s{c} += a * {values[c][j]};" for c in range(n) if values[c][j] != "0.0"]
            self.lines += [f"{name}[(i + {row}) * {n} + {c}] = s{c};" for c in range(n)]
            self.lines.append("}")
        self.lines.append("}")
        return name

    def entry(self, product: Product, j: int) -> str:
        """Entry j of the row that begins at r."""
        if isinstance(first := product.rows[0, 0], Node):
            return self.read(first.args[0], f" + {j} + r")
        table = product.rows.astype(float)
        name = self.tables.setdefault(table.tobytes(), f"t{len(self.tables)}")
        return f"{name}[{j} + r]"

    def table_lines(self) -> str:
        """Definitions of the matrices of numbers, in the constant memory of a GPU as far as that goes."""
        lines: list[str] = []
        size = 0
        for data, name in self.tables.items():
            size += len(data)
            kind = "TABLE" if size <= CONSTANT_MEMORY else "LARGE_TABLE"
            numbers = ", ".join(map(repr, np.frombuffer(data).tolist()))
            lines.append(f"{kind} {name}[] = {{{numbers}}};")
        return "\n".join(lines)


def source(outputs: Sequence[Any], names: Sequence[str], read: Callable[..., str]) -> str:
    """The source of a function of these arrays with rows of samples; entry k of sample s is `name[k * n + s]`."""
    writer = Writer(read)
    results = writer.all(outputs)
    lines = [*writer.lines, *(f"out[{k} * n + s] = {value};" for k, value in enumerate(results))]
    filled = {
        "PARAMETERS": ", ".join(f"const double* __restrict__ {name}" for name in names),
        "NAMES": ", ".join(names),
        "POINTERS": ", ".join(f"a[{k}]" for k in range(len(names) + 1)),
        "COUNT": str(len(names)),
        "THREADS": str(THREADS),
        "TABLES": writer.table_lines(),
        "BODY": "\n".join(lines),
    }
    text = SOURCE
    for key, value in filled.items():
        text = text.replace(f"@{key}@", value)
    return text


def compiler(platform: str) -> str | None:
    """The path of the compiler for a platform; None if there is none."""
    return shutil.which(COMPILERS[platform][0]) if platform in COMPILERS else None


def folder() -> Path:
    """Where compiled programs are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "phloat"


def function(text: str, rows: int, platform: str) -> Callable[..., Array]:
    """A JAX function of arrays that calls this source, compiled; its result has so many rows, and a column for each sample."""
    command, options, target = COMPILERS[platform]
    tools = [command, *options, "-shared", f"-I{jax.ffi.include_dir()}"]
    device = jax.devices(platform)[0].device_kind
    name = "phloat_" + hashlib.sha256("\n".join([text, *tools, device]).encode()).hexdigest()[:20]
    library = folder() / f"{name}.so"
    if not library.exists():
        build(text, tools, library)
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(ctypes.CDLL(str(library)).call), platform=target)

    def call(*arrays: Array) -> Array:
        out = jax.ShapeDtypeStruct((rows, arrays[0].shape[1]), float)
        return jax.ffi.ffi_call(name, out)(*arrays)

    return call


def build(text: str, tools: list[str], library: Path) -> None:
    """Compiles a source to a library; raises InputError with what the compiler says if it fails."""
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=library.parent) as work:
        (Path(work) / "step.c").write_text(text)
        made = Path(work) / "step.so"
        done = subprocess.run([*tools, "-o", str(made), str(Path(work) / "step.c")], capture_output=True, text=True)
        if done.returncode:
            raise InputError(f"{tools[0]} does not compile the step: {done.stderr.strip()[:500]}")
        made.replace(library)
