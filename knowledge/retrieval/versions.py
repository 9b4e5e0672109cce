"""Versions of the parts that a calibration depends on."""

from __future__ import annotations

from knowledge.types import EvidenceKind


def chunking_version(kind: EvidenceKind) -> str:
    """The version of the chunker that cuts this kind of source."""
    if kind == "code":
        from knowledge.chunking.code import CODE_CHUNKING_VERSION

        return CODE_CHUNKING_VERSION
    from knowledge.chunking import CHUNKING_VERSION

    return CHUNKING_VERSION
