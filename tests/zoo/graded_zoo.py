"""Random models whose stiffnesses, masses and lengths spread over twelve orders of magnitude, with reference matrices M and K.

Each of MAKERS returns (linear system, M, K); M and K are computed in mpmath (60 digits) directly from the numbers of the model.
"""

import mpmath as mp
import numpy as np

import phloat as ph

mp.mp.dps = 60


def decades(rng, low=-6.0, high=6.0):
    """A random number between 10^low and 10^high with uniformly distributed logarithm."""
    return float(10.0 ** rng.uniform(low, high))


def springs(rng, count):
    """Random stiffnesses; one in five is zero, so that there can be rigid motions."""
    return [decades(rng) if rng.random() < 0.8 else 0.0 for _ in range(count)]


def carriages(rng):
    """A tree of masses that slide along x on their parent or the ground, with springs along the slides."""
    n = int(rng.integers(2, 11))
    parent = [int(rng.integers(-1, i)) for i in range(n)]
    m, k = [decades(rng) for _ in range(n)], springs(rng, n)
    joints = []
    for i, p in enumerate(parent):
        below = "ground" if p < 0 else f"b{p}.P"
        joints.append(ph.Prismatic(below, f"b{i}.P", axis=(1, 0, 0), name=f"j{i}"))
        joints += [ph.JointSpring(f"j{i}", stiffness=k[i])] if k[i] else []
    bodies = {f"b{i}": ph.RigidBody(m[i], m[i] * np.eye(3)).discretise() for i in range(n)}
    system = ph.connect(bodies, joints, plane="xy")
    path = mp.zeros(n, n)
    for i in range(n):
        q = i
        while q >= 0:
            path[i, q], q = 1, parent[q]
    return ph.linearise(system, ph.place(system)), path.T * mp.diag(m) * path, mp.diag(k)


def levers(rng):
    """A chain of rigid bars in a plane with springs in the hinges; the lengths of one chain spread over twelve orders."""
    n = int(rng.integers(2, 9))
    m, l, k = [decades(rng) for _ in range(n)], [decades(rng) for _ in range(n)], springs(rng, n)
    bodies, joints = {}, []
    for i in range(n):
        inertia = m[i] * l[i] ** 2 / 12 * np.eye(3)
        bodies[f"b{i}"] = ph.RigidBody(m[i], inertia, center=(l[i] / 2, 0, 0), ports={"C": (l[i], 0, 0)}).discretise()
        joints.append(ph.Revolute(f"b{i - 1}.C" if i else "ground", f"b{i}.P", name=f"j{i}"))
        joints += [ph.JointSpring(f"j{i}", stiffness=k[i])] if k[i] else []
    system = ph.connect(bodies, joints, plane="xy")
    M, long = mp.zeros(n, n), [mp.mpf(x) for x in l]
    for i in range(n):
        arm = mp.matrix([[mp.fsum(long[q:i]) + long[i] / 2 if q <= i else 0 for q in range(n)]])
        turn = mp.matrix([[1 if q <= i else 0 for q in range(n)]])
        M += m[i] * (arm.T * arm) + m[i] * long[i] ** 2 / 12 * (turn.T * turn)
    return ph.linearise(system, ph.place(system)), M, mp.diag(k)


def truss(rng):
    """Point masses in a plane with springs between some of them; the size of the truss is also random over twelve orders."""
    n = int(rng.integers(2, 8))
    m = [decades(rng) for _ in range(n)]
    x = decades(rng) * rng.normal(size=(n, 2)) * [[decades(rng, -0.5, 0.5)] for _ in range(n)]
    k = {(i, j): decades(rng) for i in range(n) for j in range(i + 1, n) if j == i + 1 or rng.random() < 0.4}
    joints = [
        ph.Spring(f"b{i}.P", f"b{j}.P", stiffness=one, length=float(np.linalg.norm(np.append(x[j] - x[i], 0.0))))
        for (i, j), one in k.items()
    ]
    system = ph.connect({f"b{i}": ph.PointMass(m[i]).discretise() for i in range(n)}, joints, plane="xy")
    K = mp.zeros(2 * n, 2 * n)
    for (i, j), one in k.items():
        d = [mp.mpf(x[j, a]) - mp.mpf(x[i, a]) for a in range(2)]
        row = mp.zeros(1, 2 * n)
        for a in range(2):
            row[2 * j + a], row[2 * i + a] = d[a] / mp.hypot(*d), -d[a] / mp.hypot(*d)
        K += one * (row.T * row)
    state = ph.place(system, {f"b{i}.r_P": x[i] for i in range(n)})
    return ph.linearise(system, state), mp.diag([one for one in m for _ in range(2)]), K


MAKERS = (carriages, levers, truss)


def below(M, K, omega):
    """The number of frequencies below ω: the number of negative pivots of K − ω²M (Sylvester's law of inertia), in 60 digits."""
    A = (K - mp.mpf(omega) ** 2 * M).tolist()
    count = 0
    for k, row in enumerate(A):
        count += row[k] < 0
        for i in range(k + 1, len(A)):
            if row[i]:
                part = row[i] / row[k]
                for j in range(i, len(A)):
                    A[i][j] -= part * row[j]
    return int(count)
