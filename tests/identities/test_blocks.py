"""Blocks of the matrices by the names of fields, ports and joints."""

import numpy as np
import pytest
from bodies_zoo import beam, random_state
from messages import raises

import phloat as ph


@pytest.fixture(scope="module")
def arm():
    link = beam().discretise(2)
    joints = [ph.Revolute("ground", "rod.P", name="hinge"), ph.Revolute("rod.C", "tip.P", name="elbow")]
    return ph.connect({"rod": link, "tip": link}, joints, plane="xy")


def test_blocks_of_J_are_the_operators_of_the_paper(arm):
    state = random_state(arm, 0)
    terms, p = ph.terms(arm, state), ph.momenta(arm, state)["rod"]
    np.testing.assert_allclose(terms.block("J", "rod.omega", "rod.eta_dot").toarray()[0], p.I_pf, rtol=1e-13)
    np.testing.assert_allclose(terms.block("J", "rod.eta_dot", "rod.omega").toarray()[:, 0], -p.I_pf, rtol=1e-13)
    np.testing.assert_allclose(terms.block("E", "rod.v_P", "rod.v_P").toarray(), p.m * np.eye(2), rtol=1e-13)
    strain = arm.bodies["rod"].elastic.gradient(state["rod.eta"])
    np.testing.assert_array_equal(terms.block("J", "rod.sigma", "rod.eta_dot").toarray(), strain)
    assert terms.block("J", "rod", "tip").nnz == 0 and terms.block("E", "rod", "rod").shape[0] * 2 == terms.rows.size


def test_blocks_of_B_and_G_have_ports_and_joints(arm):
    terms = ph.terms(arm, random_state(arm, 1))
    whole = terms.block("B", "rod.v_P", "rod.C")
    assert whole.shape == (2, 3)
    np.testing.assert_array_equal(terms.block("B", "rod.v_P[1]", "rod.C[0]").toarray(), whole.toarray()[1:, :1])
    assert terms.block("B", "rod.v_P", "tip").nnz == 0  # all ports of the other body
    rows, columns = terms.multipliers["elbow"], terms.layout["tip.eta_dot"]
    np.testing.assert_array_equal(terms.block("G", "elbow", "tip.eta_dot").toarray(), terms.G.toarray()[rows, columns])
    assert terms.block("B_lam", "elbow", "hinge").shape == (2, 1)


def test_a_linear_system_has_the_same_names(arm):
    plant = ph.linearise(arm, ph.place(arm))
    rows = plant.rows
    np.testing.assert_array_equal(
        plant.block("E", "rod.v_P", "rod.eta_dot").toarray(), plant.E.toarray()[rows["rod.v_P"], rows["rod.eta_dot"]]
    )
    terms = ph.terms(arm, ph.place(arm))
    for name in ("rod.sigma", "tip.sigma"):
        own = name.replace("sigma", "eta_dot")
        np.testing.assert_allclose(
            plant.block("J", name, own).toarray(), terms.block("J", name, own).toarray(), atol=1e-12
        )


def test_wrong_names_are_answered_with_those_that_are_there(arm):
    terms, plant = ph.terms(arm, ph.place(arm)), ph.linearise(arm, ph.place(arm))
    for matrices in (terms, plant):
        with raises(ph.errors.PortError, "rod.omeg"):
            matrices.block("J", "rod.omeg", "rod.sigma")
        with raises(ph.errors.PortError, "rod.v_P"):
            matrices.block("B", "rod.v_P", "rod.v_P")
        with raises(ph.errors.InputError, "rod.C[3]"):
            matrices.block("B", "rod.v_P", "rod.C[3]")
    with raises(ph.errors.InputError, "N"):
        terms.block("N", "rod.v_P", "rod.v_P")
