"""Which collection of the vector index holds the vectors of one source in one space."""

from __future__ import annotations

import hashlib
import re

_UNSAFE = re.compile(r"[^a-zA-Z0-9._-]")


def prefix_of(installation: str) -> str:
    """What the names of all collections of one catalog begin with: a server may hold those of others too."""
    return f"haechi-{installation}-"


def collection_name(installation: str, source: str, space_key: str) -> str:
    """A name that Chroma accepts (3-512 of [a-zA-Z0-9._-]), different for every source and space."""
    tail = hashlib.sha256(f"{source}\0{space_key}".encode()).hexdigest()[:10]
    readable = _UNSAFE.sub("-", f"{source}-{space_key}")[:120]
    return f"{prefix_of(installation)}{readable}-{tail}"
