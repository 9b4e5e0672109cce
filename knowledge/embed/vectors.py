"""Checks and arithmetic that every embedder's vectors go through before they leave it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from knowledge.errors import ToolDown
from knowledge.ports import Vectors

_SMALLEST_NORM = 1e-9


def unit_vectors(raw: npt.ArrayLike, *, rows: int, dim: int, origin: str) -> Vectors:
    """(rows, dim) float32 of unit length, made from `raw`.

    Raises ToolDown, naming `origin`, when the shape is another one, a number is not finite, or a vector is zero:
    such a vector in an index would be near to nothing, or to everything, without anybody noticing.
    """
    if rows == 0:
        return np.zeros((0, dim), dtype=np.float32)
    try:
        # float64 while normalising: the squares of large float32 numbers overflow
        vectors = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ToolDown(f"{origin} gave vectors of unequal length or with something that is no number") from error
    if vectors.shape != (rows, dim):
        raise ToolDown(f"{origin} gave vectors of shape {vectors.shape} where ({rows}, {dim}) was expected")
    if not np.isfinite(vectors).all():
        raise ToolDown(f"{origin} gave a vector with a number that is not finite")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (norms < _SMALLEST_NORM).any():
        raise ToolDown(f"{origin} gave a vector of zeros")
    unit: Vectors = (vectors / norms).astype(np.float32)
    return unit


def pooled(parts: Vectors, lengths: list[int]) -> Vectors:
    """(dim,) float32 of unit length: the mean of the parts of one text, weighted by their lengths.

    Opposite parts can cancel out; then the longest part stands for the text.
    """
    mean = np.average(parts.astype(np.float64), axis=0, weights=np.maximum(lengths, 1))
    norm = float(np.linalg.norm(mean))
    if norm < _SMALLEST_NORM:
        mean, norm = parts[int(np.argmax(lengths))], 1.0
    unit: Vectors = (mean / norm).astype(np.float32)
    return unit
