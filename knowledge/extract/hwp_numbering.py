"""Automatic numbers of HWP paragraphs (1., 가., 제1조, ①): kept in the styles, not in the text."""

from __future__ import annotations
