"""The buffers of a run with other numbers in them: the tables stay, only constants of bodies, laws and gravity are written anew.

All systems of a family have the same tables where only masses, stiffnesses and the like differ, and ports and joints stand where
they did. A new sample is then a copy of the buffers of the first with new numbers, in a fraction of a millisecond.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from phloat.algebra.cross import cross
from phloat.bodies.alike import same_geometry, same_size
from phloat.bodies.body import Body, Port
from phloat.bodies.strain import Quadratic
from phloat.many.family import Family
from phloat.motion.kernel import pack
from phloat.motion.kernel import tables as t
from phloat.motion.kernel.arrays import Arrays
from phloat.motion.kernel.machine.padding import padded
from phloat.motion.kernel.step import arrive
from phloat.motion.run.assembly import Assembly
from phloat.system.elements import Element
from phloat.system.state import Pose, State
from phloat.system.system import System


@dataclass(frozen=True, eq=False)
class Group:
    """Bodies that are one and the same in all systems of a family: their numbers in the row of bodies, and what is fixed."""

    names: tuple[str, ...]
    members: tuple[int, ...]
    base: Body
    quadratic: np.ndarray  # as in Arrays
    triples: np.ndarray
    shares: np.ndarray  # (4, shares): an entry of Q, row and column of L, and the value that they add to
    unshared: np.ndarray  # where L has to be zero …
    unstrained: np.ndarray  # … and LᵀD
    ends: tuple[
        tuple[int, str, Port], ...
    ]  # rows in the table of ends, and which port of the body that is, if it is one
    straight: bool  # undeformed at the start, and not deforming
    start: int  # of its constants in the data …
    order: np.ndarray  # … and which of them comes when

    def arrays(self, body: Body) -> Arrays | None:
        """The constants of a body; None where the pattern of its stresses is not that of the first."""
        out, quadratic = Arrays(body), self.quadratic
        straight = np.logical_not(quadratic)
        D, inverse = body.elastic.D.toarray(), body.elastic.C_inverse.toarray()
        bent, entry = inverse[straight][:, straight], self.shares
        L = np.linalg.cholesky(inverse[quadratic][:, quadratic])
        membrane = L.T @ D[quadratic]
        if not _same_entries(body.elastic.Q, self.base.elastic.Q) or not _alike_damped(body, self.base):
            return None
        if L[self.unshared].any() or membrane[self.unstrained].any():
            return None
        parts = body.elastic.Q.value[entry[0]] * L[entry[1], entry[2]]
        values = np.bincount(entry[3], parts, minlength=len(self.triples))
        K = D[straight].T @ (bent @ D[straight])
        vars(out).update(quadratic=quadratic, L=L, K=K, membrane=(membrane, self.triples, values))  # known already
        return out

    def fits(self, body: Body) -> bool:
        """Whether a body stands where the first does: with the same ports, or, undeformed, with ports at the same places."""
        if same_geometry(body, self.base) or not same_size(body, self.base):
            return same_size(body, self.base)
        there = all(np.array_equal(body.ports[name].x, port.x) for name, port in self.base.ports.items())
        return there and self.straight and all(name for _, name, _ in self.ends)


def _same_entries(one: Quadratic, other: Quadratic) -> bool:
    """Whether two lists of quadratic strains are other in their values only."""
    pairs = ((one.strain, other.strain), (one.row, other.row), (one.column, other.column))
    return all(a is b or np.array_equal(a, b) for a, b in pairs)


def _alike_damped(one: Body, other: Body) -> bool:
    """Whether both have a viscosity that couples stresses, or none."""
    return (one.elastic.viscosity is None) == (other.elastic.viscosity is None)


@dataclass(frozen=True, eq=False)
class Template:
    """The buffers of the first run of a family, at its start."""

    run: Assembly
    state: State
    poses: dict[str, Pose]
    groups: tuple[Group, ...]
    elements: dict[str, tuple[Element, int]]  # those that change, as they are at first, and the first of their rows

    def patched(self, system: System, state: State) -> Assembly | None:
        """The buffers for another system of the family from the same start; None where more than numbers is other."""
        first, packed = self.run.system, self.run.packed
        if any(system.joints[name] is not joint for name, joint in first.joints.items()):
            return None
        if not all(group.fits(system.bodies[name]) for group in self.groups for name in group.names):
            return None
        own = {name: getattr(packed.model, name).copy() for name in ("data", "bodies", "crew")}
        model = packed.model._replace(**own)
        out = replace(packed, model=model, w=packed.w.copy(), iw=packed.iw.copy(), arrays=dict(packed.arrays))
        out.gravity = system.gravity.astype(float)
        run = replace(
            self.run, system=system, packed=out, constant=self.run.constant.copy(), before=list(self.run.before)
        )
        for group in self.groups:
            body = system.bodies[group.names[0]]
            arrays = packed.arrays[group.names[0]] if body is group.base else group.arrays(body)
            if arrays is None:
                return None
            if body is not group.base:
                _write(run, group, arrays)
            for name, i in zip(group.names, group.members, strict=True):
                out.arrays[name] = arrays
                _load(run, i, arrays, self.poses[name], state, name)
        for name, (element, row) in self.elements.items():
            new = system.elements[name]
            if not _alike(new, element):
                return None
            for k, law in enumerate(law for law in new.laws if law.stores or law.resists):
                at = int(model.rows[row + k, t.R_LAW])
                out.w[at : at + t.LAW_SIZE] = law.stiffness, law.rest, law.damping
        arrive(model, out.w)
        return run


def _alike(new: Element, old: Element) -> bool:
    """Whether two elements are other in the numbers of their laws only."""
    ends = ((new.first, old.first), (new.second, old.second))
    if new.rows != old.rows or not all(
        np.array_equal(a.at, b.at) and np.array_equal(a.triad, b.triad) for a, b in ends
    ):
        return False
    return all(
        a.stores == b.stores and a.resists == b.resists and a.spring.same(b.spring) and a.damper.same(b.damper)
        for a, b in zip(new.laws, old.laws, strict=True)
    )


def _write(run: Assembly, group: Group, arrays: Arrays) -> None:
    """The constants of a body where `packed` put those of the first."""
    model, body = run.packed.model, arrays.body
    model.data[group.start : group.start + len(group.order)] = _listed(arrays)[group.order]
    model.bodies[list(group.members), t.DAMPED] = arrays.damped
    for end, name, port in group.ends:
        port = body.ports[name] if name else port
        x, Phi, Psi = arrays.port(port)
        for column, value in ((t.E_X, x), (t.E_PHI, padded(Phi)), (t.E_PSI, padded(Psi))):
            at = model.ends[end, column]
            model.data[at : at + value.size] = value.ravel()


def _listed(arrays: Arrays) -> np.ndarray:
    """All constants of a body in one row, after a zero."""
    body = arrays.body
    parts = [arrays.T, *arrays.rotary, *arrays.coupling, arrays.M_ff, arrays.K, arrays.R_d]
    parts += [arrays.membrane[0], arrays.membrane[2]]
    return np.concatenate([np.array([0.0, body.inertia.m, body.elastic.time]), *(part.ravel() for part in parts)])


def _order(arrays: Arrays) -> tuple[np.ndarray, int]:
    """Which of the listed constants stands where among those that `packed` puts for a body, and where its mass is there.

    It is asked for a body whose constants are their own numbers in the list; zeros stay zeros.
    """
    body, places = arrays.body, np.arange(1.0, len(_listed(arrays)))

    def numbered(shape: tuple[int, ...]) -> np.ndarray:
        nonlocal places
        size = int(np.prod(shape))
        taken, places = places[:size].reshape(shape), places[size:]
        return taken

    mass, time = map(float, numbered((2,)))
    T = numbered(arrays.T.shape)
    rotary = tuple(numbered(part.shape) for part in arrays.rotary)
    coupling = tuple(numbered(part.shape) for part in arrays.coupling)
    M_ff, K, R_d = (numbered(arrays.M_ff.shape) for _ in range(3))
    D, triples, values = arrays.membrane
    membrane = np.where(D != 0.0, numbered(D.shape), 0.0), triples, numbered(values.shape)
    elastic, inertia = replace(body.elastic, time=time), replace(body.inertia, m=mass)
    asked = Arrays(replace(body, elastic=elastic, inertia=inertia))
    vars(asked).update(rotary=rotary, coupling=coupling, M_ff=M_ff, K=K, membrane=membrane, T=T, R_d=R_d)
    data = pack.Buffer()
    row = pack.constants(asked, data, pack.Buffer(), pack.Buffer())
    return data.made(float).astype(np.int64), int(row[t.D_MASS])


def _load(run: Assembly, i: int, arrays: Arrays, pose: Pose, state: State, name: str) -> None:
    """The state of one body: r and V of its mass centre, which may have moved, and its pre-stress."""
    w, B = run.packed.w, run.packed.model.bodies[i]
    at, along = arrays.shift
    y = at + along @ pose.eta
    r = pose.r_P + pose.A @ y
    w[B[t.W_Q] : B[t.W_Q] + 3] = w[B[t.W_Q1] : B[t.W_Q1] + 3] = r
    w[B[t.W_V] : B[t.W_V] + 3] = pose.A @ (pose.v_P + cross(pose.omega, y) + along @ pose.rates)
    n = int(B[t.N_ETA])
    sigma = state[f"{name}.sigma"] if n and arrays.body.stresses else pose.sigma
    if not n or not (sigma.any() or pose.eta.any()):
        return
    run.before[i] = sigma - arrays.body.elastic.stress(pose.eta)
    strain, force, run.constant[i] = arrays.prestress(run.before[i])
    w[B[t.W_PRE] : B[t.W_PRE] + len(strain)] = strain
    w[B[t.W_FPRE] : B[t.W_FPRE] + n] = force


# --- the first one ----------------------------------------------------------------------------------------------------


def apart(family: Family) -> tuple[System, dict[str, tuple[str, ...]]]:
    """The system with one body for each group of bodies that change together, and the names of these groups."""
    keys: dict[tuple[object, ...], list[str]] = {}
    changes: dict[str, list[tuple[object, ...]]] = {}
    for name, k in family.meant.items():
        place = family.there.places[name]
        for member in place.owner.members if place.owner.kind == "body" else ():
            changes.setdefault(member, []).append((id(place.owner.recipe), place.path, k))
    for member, some in changes.items():
        keys.setdefault((id(family.base.bodies[member]), *some), []).append(member)
    bodies, groups = dict(family.base.bodies), {}
    for members in keys.values():
        own = copy(bodies[members[0]])
        bodies |= dict.fromkeys(members, own)
        groups[members[0]] = tuple(members)
    return replace(family.base, bodies=bodies), groups


def template(family: Family, run: Assembly, state: State, groups: dict[str, tuple[str, ...]]) -> Template:
    """What `patched` needs of a run at its start."""
    names = list(run.system.bodies)
    found = [_group(run, state, some, tuple(map(names.index, some)), family) for some in groups.values()]
    changing = {p.owner.name for p in (family.there.places[name] for name in family.meant) if p.owner.kind == "element"}
    entries = {
        name: run.names.index(name) for name in changing if name in run.names
    }  # one that does nothing is not there
    rows = {name: int(run.packed.model.entries[j, t.J_ROW]) for name, j in entries.items()}
    elements = {name: (run.system.elements[name], rows.get(name, 0)) for name in changing}
    return Template(run, state, {name: state.pose(name) for name in names}, tuple(found), elements)


def _group(run: Assembly, state: State, names: tuple[str, ...], members: tuple[int, ...], family: Family) -> Group:
    arrays, model, base = run.packed.arrays[names[0]], run.packed.model, family.base.bodies[names[0]]
    known = {id(port): name for name, port in base.ports.items()}
    ports = [side.port for entry in run.packed.entries for side in (entry.first, entry.second)]
    ends = [
        (k, known.get(id(port), ""), port)
        for k, port in enumerate(ports)
        if port is not None and model.ends[k, t.E_BODY] in members
    ]
    straight = not any(state.pose(name).eta.any() or state.pose(name).rates.any() for name in names)
    D, triples, _ = arrays.membrane
    Q, place = arrays.body.elastic.Q, np.cumsum(arrays.quadratic) - 1
    where = {tuple(triple): k for k, triple in enumerate(triples.tolist())}
    rows = [
        (e, place[s], c, where[int(c), int(Q.row[e]), int(Q.column[e])])
        for e, s in enumerate(Q.strain)
        for c in np.flatnonzero(arrays.L[place[s]])
    ]
    shares = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    unshared, unstrained = np.ones(arrays.L.shape, dtype=bool), D == 0.0
    unshared[shares[1], shares[2]] = False
    unshared[np.setdiff1d(np.arange(len(unshared)), shares[1])] = False  # strains without entries share nothing
    unstrained[triples[:, 0], triples[:, 1]] = False
    order, mass = _order(arrays)
    return Group(
        *(names, members, base, arrays.quadratic, triples, shares, unshared, unstrained, tuple(ends), straight),
        start=int(model.bodies[members[0], t.D_MASS]) - mass,
        order=order,
    )
