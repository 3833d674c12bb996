"""A system at a state, with its inputs, as the arrays that the twin works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from phloat.bodies.body import Body
from phloat.errors import InputError, positive
from phloat.joints.curves import Pieces
from phloat.joints.rows import FIRST, SECOND, VECTORS, Row, product_matrices
from phloat.motion.initial.velocities import consistent_state, redundant_rows, require_closed
from phloat.motion.inputs.inputs import Inputs, as_inputs
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import AXES, Arrays
from phloat.motion.run.kernel_run import KernelRun
from phloat.motion.run.states import RunBuffers
from phloat.motion.run.task import Task
from phloat.system.state import State
from phloat.system.system import System, fits
from phloat.twin.equations import DROPPED
from phloat.twin.model import Model, Names, Tree


def exported(
    system: System,
    state: State,
    t_end: float,
    *,
    dt: float,
    u: Mapping[str, object] | Inputs | None = None,
    t_start: float = 0.0,
    watch: Mapping[str, tuple[str, float]] | None = None,
    apart: bool = False,
) -> Model:
    """The arrays of a run: constants of bodies, joints, the state, and the inputs of every step.

    `watch` {name: (body, s)} are places of bodies whose displacement is wanted. Equal bodies share their constants, unless they
    are to stand `apart`, so that each may change.
    """
    state = fits(system, state)
    steps = max(1, int(np.ceil((t_end - t_start) / positive("dt", dt) * (1 - 1e-9))))
    times = np.linspace(t_start, t_end, steps + 1)
    inputs = as_inputs(system, u)
    require_closed(system, state)
    state = consistent_state(system, state, inputs.at(t_start))
    task = Task(system, state, t_start, t_end, dt, inputs, dropped=redundant_rows(system, state))
    runner = KernelRun(task)
    if follows := [name for name, a in system.actuators.items() if a.area is not None]:
        raise InputError(
            f"the twin has no pressure that follows a surface ({follows[0]!r}); use Traction(…) or simulate"
        )
    export = Export(runner.assembly, set(task.dropped), apart)
    series = {"given": runner.mean_efforts(times), "moving": runner.drive_positions(times)}
    series |= {"h": np.array(times[1] - times[0]), "t_0": np.array(float(t_start))}
    arrays = {"model": export.model(), "state": export.state(), "inputs": series, **export.outside(watch or {})}
    return Model(arrays, export.names(watch or {}))


@dataclass(eq=False)
class Export:
    """The buffers of the kernel, sorted by shape and kind; ends are (entry, side)."""

    run: RunBuffers
    dropped: set[int]
    apart: bool = False

    def __post_init__(self) -> None:
        packed = self.run.packed
        self.entries, self.w, self.kernel = packed.entries, packed.w, packed.model
        self.bodies = list(packed.arrays.items())
        self.sides = {(j, k): side for j, e in enumerate(self.entries) for k, side in enumerate((e.first, e.second))}
        self.held = [[end for end, side in self.sides.items() if side.body == i] for i in range(len(self.bodies))]
        self.rows = [(j, row) for j, entry in enumerate(self.entries) for row in entry.rows]
        self.first_row = np.cumsum([0, *(len(entry.rows) for entry in self.entries)])
        self.unknown = sum(len(e.rows) for e in self.entries if e.rows[0].mode != t.GIVEN)
        shapes: dict[tuple[int, ...], list[int]] = {}
        for i, (_, arrays) in enumerate(self.bodies):
            sizes = (arrays.body.coordinates, arrays.linear, arrays.turning, int(arrays.quadratic.sum()))
            shapes.setdefault(sizes, []).append(i)
        self.groups = list(shapes.values())
        self._number_ends()

    def _number_ends(self) -> None:
        """Bodies' ends first, group by group, each with as many slots as the most held body of its group."""
        self.slots = [max(len(self.held[i]) for i in group) for group in self.groups]
        self.number: dict[tuple[int, int], int] = {}
        at = 0
        for group, slots in zip(self.groups, self.slots, strict=True):
            for i in group:
                self.number |= {end: at + k for k, end in enumerate(self.held[i])}
                at += slots
        of_ground = [end for end, side in self.sides.items() if side.body < 0]
        self.number |= {end: at + k for k, end in enumerate(of_ground)}
        self.ends = at + len(of_ground)

    def model(self) -> Tree:
        """What never changes during a run."""
        rows, order = self._rows()
        groups = [self._group(group, slots) for group, slots in zip(self.groups, self.slots, strict=True)]
        mode = [DROPPED if r in self.dropped else row.mode for r, (_, row) in enumerate(self.rows)]
        compliant = np.flatnonzero(np.array(mode, int) == t.COMPLIANT)
        m = self.unknown
        row_owners = np.concatenate([g["rows"].ravel() for g in groups])
        pair_owners = np.concatenate([pairs(g["rows"], m).ravel() for g in groups])
        return {
            "groups": groups,
            "gravity": self.run.packed.gravity,
            "frames": self._frames(),
            "targets": self._numbers(t.TARGET1),
            "moves": self._moves(),
            "rows": rows,
            "order": order,
            "on_ends": positions_of(
                np.array([self.number[j, k] for j, _ in self.rows for k in (0, 1)], int), self.ends
            ),
            "mode": np.array(mode, int),
            "compliant": compliant,
            "laws": self._laws(compliant),
            "law_functions": self._law_functions(compliant),
            "touching": positions_of(row_owners, m),
            "crossing": positions_of(pair_owners, m * m),
            **self._velocity_rows(compliant),
        }

    def _velocity_rows(self, compliant: np.ndarray) -> Tree:
        """Compliant rows that have a rate and no gap, with their ends; nothing where there are none."""
        rows = [r for r in compliant if not self.rows[r][1].row.has_gap]
        ends = np.array([[self.number[self.rows[r][0], side] for side in (0, 1)] for r in rows]).reshape(-1, 2)
        return {"velocity_rows": {"number": np.array(rows), "A": ends[:, 0], "B": ends[:, 1]}} if rows else {}

    def _numbers(self, column: int) -> np.ndarray:
        """Gaps or targets of all rows."""
        return self.w[self.kernel.rows[:, t.R_COEF] + column]

    # --- bodies ------------------------------------------------------------------------------------------------------

    def _group(self, group: list[int], slots: int) -> Tree:
        distinct, stressed = {id(self.bodies[i][1]) for i in group}, any(np.any(self.run.prestress[i]) for i in group)
        shared = not self.apart and len(distinct) == 1 and not stressed
        ends = [self._ends(i, slots) for i in group]
        unknown_rows = [[place for place in self._rows_at(i) if place[0] < self.unknown] for i in group]
        most = max(map(len, unknown_rows), default=0)
        rows, pulls, places = (
            np.full((len(group), most), beyond, int) for beyond in (self.unknown, 2 * self.first_row[-1], 0)
        )
        for b, mine in enumerate(unknown_rows):
            for c, (row, side, slot) in enumerate(mine):
                rows[b, c], pulls[b, c], places[b, c] = row, 2 * row + side, slot
        turning = any(self._uses_directions(j, k) for i in group for j, k in self.held[i])
        return {
            "constants": stacked_constants([self._constants(i) for i in (group[:1] if shared else group)]),
            "ends": {key: np.stack([end[key] for end in ends]) for key in ("x", "Phi", "Psi")},
            "turns": np.zeros(int(turning)),
            "rows": rows,
            "pulls": pulls,
            "slots": places,
        }

    def _rows_at(self, i: int) -> list[tuple[int, int, int]]:
        """The rows that touch a body, as (row, side, slot)."""
        return [
            (int(self.first_row[j]) + r, k, slot)
            for slot, (j, k) in enumerate(self.held[i])
            for r in range(len(self.entries[j].rows))
        ]

    def _uses_directions(self, j: int, side: int) -> bool:
        """Whether rows of an entry pull at directions of this end, or turn it."""
        first = SECOND if side else FIRST
        rows = [one.row for one in self.entries[j].rows]
        return any(row.function == "spin" or any(first <= a < first + 3 for a in row.vectors) for row in rows)

    def _constants(self, i: int) -> Tree:
        arrays: Arrays = self.bodies[i][1]
        body, elastic, before = arrays.body, arrays.body.elastic, self.run.prestress[i]
        if body.inertia.second is not None:
            raise InputError(
                f"{self.bodies[i][0]!r} has slaved shortening, which the twin lacks; leave shortening='slaved' out"
            )
        (j0, j1, N), (c0, Gamma), kept = arrays.rotary, arrays.coupling, arrays.quadratic
        D, Q, columns = strain_coordinates(body, kept)
        return {
            "m": np.array(float(body.inertia.m)),
            **{"j0": j0, "j1": j1, "N": N, "c0": c0, "Gamma": Gamma, "M_ff": arrays.M_ff, "K": arrays.K},
            "R_d": arrays.R_d,
            **{"D": D, "Q": Q, "columns": columns, "S": elastic.C_inverse[kept][:, kept].toarray()},
            "H": elastic.viscous[kept][:, kept].toarray(),
            "touching": positions_of(columns.ravel(), body.coordinates),
            "sigma": before[kept],
            "force": elastic.D[~kept].T @ before[~kept],
        }

    def _ends(self, i: int, slots: int) -> Tree:
        arrays: Arrays = self.bodies[i][1]
        n = arrays.body.coordinates
        out = {
            "x": np.zeros((slots, 3)),
            "Phi": np.zeros((slots, arrays.linear, n)),
            "Psi": np.zeros((slots, arrays.turning, n)),
        }
        for s, (j, k) in enumerate(self.held[i]):
            port = self.sides[j, k].port
            assert port is not None
            out["x"][s], out["Phi"][s], out["Psi"][s] = arrays.port(port)
        return out

    # --- ends and rows -----------------------------------------------------------------------------------------------

    def _frame_place(self, j: int, k: int) -> int:
        return int(self.kernel.ends[self.kernel.entries[j, t.J_B if k else t.J_A], t.E_FRAME1])

    def _frames(self) -> np.ndarray:
        frames = np.zeros((self.ends, 4, 3))
        frames[:, 1:] = np.eye(3)
        for (j, k), e in self.number.items():
            place = self._frame_place(j, k)
            frames[e] = self.w[place : place + t.FRAME_SIZE].reshape(4, 3)
        return frames

    def _moves(self) -> np.ndarray:
        """Which of (frames, targets, moving numbers) each frame number and target is."""
        size = t.FRAME_SIZE
        indices = {self._frame_place(j, k) + n: size * e + n for (j, k), e in self.number.items() for n in range(size)}
        indices |= {int(row[t.R_COEF]) + t.TARGET1: size * self.ends + r for r, row in enumerate(self.kernel.rows)}
        moves = np.arange(size * self.ends + len(self.rows))
        for k, place in enumerate(self.run.drive_indices):
            moves[indices[int(place)]] = len(moves) + k
        return moves

    def _rows(self) -> tuple[Tree, np.ndarray]:
        functions: dict[str, list[tuple[int, int, Row]]] = {}
        for r, (j, one) in enumerate(self.rows):
            function = f"following {one.row.function}" if one.row.follows else one.row.function
            functions.setdefault(function, []).append((r, j, one.row))
        out: Tree = {}
        for function, mine in sorted(functions.items()):
            out[function] = {
                "number": np.array([r for r, _, _ in mine]),
                "A": np.array([self.number[j, 0] for _, j, _ in mine]),
                "B": np.array([self.number[j, 1] for _, j, _ in mine]),
                **factors_of([row for _, _, row in mine]),
            }
        numbers = np.concatenate([np.zeros(0, int), *(rows["number"] for rows in out.values())])
        return out, np.argsort(numbers)

    def _laws(self, compliant: np.ndarray) -> Tree:
        laws, places = [self.rows[r][1].law for r in compliant], self.kernel.rows[compliant, t.R_LAW]
        linear = {"stiffness": t.STIFFNESS, "rest": t.REST, "damping": t.DAMPING}
        out: Tree = {name: self.w[places + column] for name, column in linear.items()}
        return out | {name: side_by_side([getattr(law, name) for law in laws]) for name in ("spring", "damper")}

    def _law_functions(self, compliant: np.ndarray) -> Tree:
        """Laws that are written as functions: {name: which of the compliant rows, and their numbers}."""
        laws, out = [self.rows[r][1].law for r in compliant], dict[str, list[int]]()
        for k, law in enumerate(laws):
            if law.function is not None:
                out.setdefault(law.function.name, []).append(k)
        return {
            name: {"rows": np.array(mine), "numbers": np.array([laws[k].numbers for k in mine]).reshape(len(mine), -1)}
            for name, mine in out.items()
        }

    # --- states and names --------------------------------------------------------------------------------------------

    def state(self) -> Tree:
        """The start of a run."""
        bodies = []
        for group in self.groups:
            states = []
            for i in group:
                B, arrays = self.kernel.bodies[i], self.bodies[i][1]
                n, q, v = int(B[t.N_ETA]), self.w[B[t.W_Q] :], self.w[B[t.W_V] :]
                states.append(
                    {
                        "r": q[: t.Q_A],
                        "A": q[t.Q_A : t.Q_ETA].reshape(3, 3),
                        "eta": q[t.Q_ETA :][:n],
                        "V": v[: arrays.linear],
                        "omega": v[t.V_OMEGA : t.V_RATE][AXES[arrays.turning]],
                        "rate": v[t.V_RATE :][:n],
                    }
                )
            bodies.append({key: np.array([one[key] for one in states]) for key in states[0]})
        x = [np.concatenate([b["V"], b["omega"], b["rate"]], axis=1) for b in bodies]
        return {
            "bodies": bodies,
            "frames": self._frames(),
            "gaps": self._numbers(t.GAP0),
            "lam": np.zeros(self.unknown),
            "history": [x, [a.copy() for a in x], [a.copy() for a in x]],
            "count": np.array(0),
            "loss": np.array(0.0),
            "work": np.array(0.0),
        }

    def outside(self, watch: Mapping[str, tuple[str, float]]) -> Tree:
        """Frames, ports and watched places of bodies, from their mass centres."""
        ports = {
            f"{body}.{name}": arrays.port(port)
            for body, arrays in self.bodies
            for name, port in arrays.body.ports.items()
        }
        shapes = {body: arrays.body.shape for body, arrays in self.bodies}
        return {
            "shift": {name: dict(zip(("at", "along"), arrays.shift, strict=True)) for name, arrays in self.bodies},
            "ports": {name: dict(zip(("x", "Phi", "Psi"), made, strict=True)) for name, made in ports.items()},
            "watched": {n: shapes[body].displacement(np.array([float(s)])).toarray() for n, (body, s) in watch.items()},
        }

    def names(self, watch: Mapping[str, tuple[str, float]]) -> Names:
        bodies = [(self.bodies[i][0], g, k) for g, group in enumerate(self.groups) for k, i in enumerate(group)]
        entries = [(e.name, int(at), len(e.rows)) for e, at in zip(self.entries, self.first_row, strict=False)]
        ports = [(f"{body}.{port}", body) for body, arrays in self.bodies for port in arrays.body.ports]
        inputs = [(name, first - self.unknown, count) for name, first, count in entries if first >= self.unknown]
        watched = tuple((name, body) for name, (body, _) in watch.items())
        return Names(tuple(bodies), tuple(entries), tuple(inputs), tuple(ports), watched)


# --- arrays of one shape each, filled up where bodies, rows and curves differ ------------------------------------------


def factors_of(rows: list[Row]) -> Tree:
    """Factors of the products of rows of one function, or of the vectors that velocity and spin rows are along."""
    if rows[0].has_gap:
        out = {"S": product_matrices([row.terms for row in rows])}
        return out | ({"S_q": product_matrices([row.other_terms for row in rows])} if rows[0].other_terms else {})
    along = np.zeros((len(rows), VECTORS))
    for k, row in enumerate(rows):
        for factor, a, _ in row.terms:
            along[k, a] += factor
    return {"along": along}


def strain_coordinates(body: Body, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """D (s, c), Q (s, c, c) and the coordinates (s, c) that each of these strains touches."""
    n, elastic, place = body.coordinates, body.elastic, np.cumsum(kept) - 1
    D, Q = elastic.D[kept].toarray(), elastic.Q
    touched = [set(np.flatnonzero(row)) for row in D]
    for s, row, column in zip(place[Q.strain], Q.row, Q.column, strict=True):
        touched[s] |= {int(row), int(column)}
    width = max(map(len, touched), default=0)
    columns = np.full((len(D), width), n, int)
    out_D, out_Q = np.zeros((len(D), width)), np.zeros((len(D), width, width))
    for s, mine in enumerate(touched):
        columns[s, : len(mine)] = sorted(mine)
        out_D[s, : len(mine)] = D[s, sorted(mine)]
    for s, row, column, value in zip(place[Q.strain], Q.row, Q.column, Q.value, strict=True):
        a, b = np.searchsorted(columns[s], [row, column])
        out_Q[s, a, b] += 0.5 * value
        out_Q[s, b, a] += 0.5 * value
    return out_D, out_Q, columns


def positions_of(owners: np.ndarray, count: int) -> np.ndarray:
    """For each owner 0 … count − 1 the places where it stands in `owners`, filled up with a number beyond the end."""
    mine = [np.flatnonzero(owners == k) for k in range(count)]
    out = np.full((count, max((len(positions) for positions in mine), default=0)), len(owners), int)
    for k, positions in enumerate(mine):
        out[k, : len(positions)] = positions
    return out


def pairs(rows: np.ndarray, m: int) -> np.ndarray:
    """Numbers a m + b of all pairs (a, b) of the rows of each body, (bodies, k, k); m² where one of them is none."""
    a, b = rows[:, :, None], rows[:, None]
    return np.where((a < m) & (b < m), a * m + b, m * m)


def side_by_side(curves: list[Pieces]) -> Tree:
    """Piecewise polynomials as arrays of one shape: bounds that are missing are infinite, coefficients zero."""
    n = max((len(one.bounds) for one in curves), default=0)
    k = max((one.c.shape[1] for one in curves), default=0)
    bounds, origin = np.full((len(curves), n), np.inf), np.zeros((len(curves), n + 1))
    c = np.zeros((len(curves), n + 1, k))
    for i, one in enumerate(curves):
        bounds[i, : len(one.bounds)] = one.bounds
        origin[i, : len(one.origin)] = one.origin
        c[i, : len(one.c), : one.c.shape[1]] = one.c
    return {"bounds": bounds, "origin": origin, "c": c}


def stacked_constants(constants: list[Tree]) -> Tree:
    """Constants of bodies stacked; strains that touch fewer coordinates are filled up."""
    out: Tree = {}
    beyond = {"columns": constants[0]["K"].shape[0]}
    sizes = [one["columns"].size for one in constants]
    for key in constants[0]:
        all_of_them = [one[key] for one in constants]
        shape = np.max([a.shape for a in all_of_them], axis=0) if all_of_them[0].ndim else ()
        filled = []
        for a, size in zip(all_of_them, sizes, strict=True):
            fill = size if key == "touching" else beyond.get(key, 0)
            new = np.full(shape, fill, a.dtype)
            new[tuple(slice(0, k) for k in a.shape)] = a
            filled.append(new)
        out[key] = np.stack(filled)
    return out
