"""Vectors that would poison an index are refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.embed.vectors import pooled, unit_vectors
from knowledge.errors import ToolDown


def test_vectors_come_out_with_unit_length_as_float32():
    vectors = unit_vectors([[3.0, 4.0], [0.0, 1e30]], rows=2, dim=2, origin="m")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0.0, 1.0]], rtol=1e-6)


def test_no_text_gives_no_row_but_still_the_dimension():
    assert unit_vectors([], rows=0, dim=7, origin="m").shape == (0, 7)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ([[1.0, float("nan")]], "not finite"),
        ([[1.0, float("inf")]], "not finite"),
        ([[0.0, 0.0]], "zeros"),
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\)"),
        ([[1.0, 2.0], [1.0, 2.0]], r"shape \(2, 2\)"),
        ([[1.0, "x"]], "no number"),
        ([[1.0, None]], "not finite|no number"),
    ],
)
def test_a_broken_vector_is_refused_and_its_origin_named(raw, reason):
    with pytest.raises(ToolDown, match=reason) as caught:
        unit_vectors(raw, rows=1, dim=2, origin="bge-m3 at http://127.0.0.1:11434")
    assert "bge-m3" in str(caught.value)


def test_rows_of_unequal_length_are_refused():
    with pytest.raises(ToolDown, match="unequal length"):
        unit_vectors([[1.0, 2.0], [1.0]], rows=2, dim=2, origin="m")


def test_parts_count_by_their_length():
    parts = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    np.testing.assert_allclose(pooled(parts, [3, 4]), [0.6, 0.8], rtol=1e-6)


def test_parts_that_cancel_out_leave_the_longest_part():
    parts = np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    np.testing.assert_array_equal(pooled(parts, [5, 5]), [1.0, 0.0])
