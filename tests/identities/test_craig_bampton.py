"""Craig-Bampton coordinates: what they span, what they leave uncoupled, and that every way of solving gives the same."""

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
from matrices_zoo import box, rigid_motions
from messages import raises

import phloat as ph
from phloat.bodies.continua import craig_bampton as cb
from phloat.bodies.continua.craig_bampton import Averaged, Tied, fixed_interface_basis

BODY = box((6, 2, 2))
RIGID = rigid_motions(BODY.nodes)


def tied(x: float) -> Tied:
    at = (3 * np.array(BODY.on(x))[:, None] + np.arange(3)).ravel()
    return Tied(at, rigid_motions(BODY.nodes - [x, 0, 0])[at])


def averaged(x: float) -> Averaged:
    tie = tied(x)
    L = np.zeros((6, len(RIGID)))
    L[:, tie.coordinates] = np.linalg.pinv(tie.R)
    return Averaged(L)


KINDS = {
    "none": {},
    "one tied": {"A": tied(0.0)},
    "one averaged": {"A": averaged(0.0)},
    "both tied": {"A": tied(0.0), "B": tied(1.0)},
    "both averaged": {"A": averaged(0.0), "B": averaged(1.0)},
    "one of each": {"A": averaged(0.0), "B": tied(1.0)},
}


def frequencies(V: np.ndarray) -> np.ndarray:
    return np.sqrt(np.abs(la.eigh(V.T @ (BODY.K @ V), V.T @ (BODY.M @ V), eigvals_only=True)))


def held_in_full(interfaces: dict, count: int) -> np.ndarray:
    """The frequencies with all interfaces held, from dense matrices and a null space."""
    rows = [np.zeros((0, len(RIGID)))]
    for i in interfaces.values():
        rows.append(i.L if isinstance(i, Averaged) else np.eye(len(RIGID))[i.coordinates])
    Z = la.null_space(np.vstack(rows)) if interfaces else np.eye(len(RIGID))
    squared = la.eigh(Z.T @ BODY.K @ Z, Z.T @ BODY.M @ Z, eigvals_only=True)
    return np.sqrt(squared[0 if interfaces else 6 :][:count])


@pytest.mark.parametrize("inertial", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_span_holds_all_rigid_motions(kind, inertial):
    V = fixed_interface_basis(
        BODY.K, BODY.M, KINDS[kind], modes=5, rigid=RIGID, inertial=RIGID[:, :0] if inertial else None
    ).V
    left = RIGID - V @ np.linalg.lstsq(V, RIGID, rcond=None)[0]
    assert np.abs(left).max() < 1e-11
    assert (frequencies(V)[:6] < 1e-5 * frequencies(V)[6]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_modes_are_those_of_the_body_with_its_interfaces_held(kind):
    basis = fixed_interface_basis(BODY.K, BODY.M, KINDS[kind], modes=8, rigid=RIGID)
    np.testing.assert_allclose(basis.omega, held_in_full(KINDS[kind], 8), rtol=1e-9)
    Phi = basis.V[:, basis.loose : basis.loose + 8]
    np.testing.assert_allclose(Phi.T @ (BODY.M @ Phi), np.eye(8), atol=1e-9)
    np.testing.assert_allclose(Phi.T @ (BODY.K @ Phi) / basis.omega**2, np.eye(8), atol=1e-7)


@pytest.mark.parametrize("kind", ["both tied", "both averaged", "one of each"])
@pytest.mark.parametrize("inertial", [False, True])
def test_each_interface_moves_by_its_own_columns_only_and_energy_does_not_couple(kind, inertial):
    interfaces = KINDS[kind]
    basis = fixed_interface_basis(
        BODY.K, BODY.M, interfaces, modes=5, rigid=RIGID, inertial=RIGID[:, :0] if inertial else None
    )
    for name, i in interfaces.items():
        motion = i.L @ basis.V if isinstance(i, Averaged) else np.linalg.pinv(i.R) @ basis.V[i.coordinates]
        expected = np.zeros_like(motion)
        expected[:, basis.columns[name]] = np.eye(6)
        np.testing.assert_allclose(motion, expected, atol=1e-10)
    inner = len(basis.omega)
    energy = basis.V.T @ (BODY.K @ basis.V)
    size = np.sqrt(np.diag(energy))
    assert np.abs(energy[:inner, inner:] / np.outer(size[:inner], size[inner:])).max() < 1e-9


@pytest.mark.parametrize("kind", ["none", "both tied", "one of each"])
def test_lanczos_and_dense_modes_agree(kind, monkeypatch):
    dense = fixed_interface_basis(BODY.K, BODY.M, KINDS[kind], modes=6, rigid=RIGID).omega
    monkeypatch.setattr(cb, "DENSE", 0)
    np.testing.assert_allclose(
        fixed_interface_basis(BODY.K, BODY.M, KINDS[kind], modes=6, rigid=RIGID).omega, dense, rtol=1e-9
    )


@pytest.mark.parametrize("kind", ["one tied", "both tied", "one of each"])
def test_every_frame_sees_the_same_deformation(kind):
    basis = fixed_interface_basis(BODY.K, BODY.M, KINDS[kind], modes=5, rigid=RIGID)
    bases = [basis.held_at(name) for name in KINDS[kind]] + [basis.mean_axes(BODY.M, RIGID)]
    for V in bases:
        assert V.shape[1] == basis.V.shape[1] - 6
        np.testing.assert_allclose(frequencies(np.hstack([RIGID, V]))[6:], frequencies(basis.V)[6:], rtol=1e-8)
    assert np.abs(RIGID.T @ (BODY.M @ bases[-1])).max() < 1e-11 * np.abs(RIGID.T @ (BODY.M @ RIGID)).max()


def test_motions_that_a_point_does_not_hold_are_kept_as_rigid_ones():
    node = BODY.on(0.0)[0]
    pin = Tied(3 * node + np.arange(3), np.eye(3, 6))  # a ball joint: no rotation of its own
    basis = fixed_interface_basis(BODY.K, BODY.M, {"A": pin}, modes=4, rigid=RIGID)
    assert basis.loose == 3 and basis.fixed.motions["A"].shape == (6, 3) and basis.fixed.rigid_motions_left["A"] == 3
    assert np.abs(RIGID - basis.V @ np.linalg.lstsq(basis.V, RIGID, rcond=None)[0]).max() < 1e-11
    with raises(ph.errors.InputError, "'A'"):
        basis.held_at("A")


def test_twenty_modes_and_inertial_responses_give_the_ten_lowest_frequencies_within_a_thousandth():
    body = box((16, 5, 4))
    rigid = rigid_motions(body.nodes)
    at = {n: (3 * np.array(body.on(x))[:, None] + np.arange(3)).ravel() for n, x in (("A", 0.0), ("B", 1.0))}
    ties = {n: Tied(c, rigid[c]) for n, c in at.items()}

    def lowest(modes: int, inertial: bool) -> np.ndarray:
        V = fixed_interface_basis(
            body.K, body.M, ties, modes=modes, rigid=rigid, inertial=rigid[:, :0] if inertial else None
        ).V
        return np.sqrt(la.eigh(V.T @ (body.K @ V), V.T @ (body.M @ V), eigvals_only=True)[6:16])

    inside = np.setdiff1d(np.arange(len(rigid)), np.concatenate(list(at.values())))
    T = sp.hstack([sp.eye_array(len(rigid), format="csr")[:, inside], *(_spread(t, len(rigid)) for t in ties.values())])
    full = np.sqrt(la.eigh((T.T @ body.K @ T).toarray(), (T.T @ body.M @ T).toarray(), eigvals_only=True)[6:16])
    assert np.abs(lowest(20, True) / full - 1).max() < 1e-3
    plain = [np.abs(lowest(m, False) / full - 1).max() for m in (10, 20, 40, 80)]
    assert 1e-3 < plain[-1] < plain[-2] < plain[-3] < plain[-4]


def _spread(tie: Tied, n: int) -> sp.csr_array:
    out = np.zeros((n, 6))
    out[tie.coordinates] = tie.R
    return sp.csr_array(out)
