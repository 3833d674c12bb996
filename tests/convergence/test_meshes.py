"""Areas of round shapes converge: chords with h², curved cells with h⁴."""

import numpy as np
import pytest

from phloat.fem.shapes import disc, tube


@pytest.mark.parametrize("kind", ["triangle", "quadrilateral"])
@pytest.mark.parametrize(("order", "rate"), [(1, 2.0), (2, 4.0)])
def test_area_of_a_disc(kind, order, rate):
    off = [np.pi - disc(1.0, n, kind=kind, order=order).measure.sum() for n in (4, 8, 16)]
    np.testing.assert_allclose(np.diff(np.log2(off)), -rate, atol=0.05)


@pytest.mark.parametrize("kind", ["tetrahedron", "hexahedron"])
@pytest.mark.parametrize(("order", "rate"), [(1, 2.0), (2, 4.0)])
def test_volume_of_a_tube(kind, order, rate):
    around = (8, 16, 32)
    off = [3 * np.pi - tube(1.0, 2.0, 1.0, 1, around=n, kind=kind, order=order).measure.sum() for n in around]
    np.testing.assert_allclose(np.diff(np.log2(off)), -rate, atol=0.12)
