"""What libraries that parse Office files raise on damaged ones: nearly everything, so they are caught in one list."""

from __future__ import annotations

import struct
import zipfile
import zlib

# by damaging sound files at random: a wrong index, a missing part, an encoding that is none, a checksum that fails
LIBRARY_ERRORS: tuple[type[Exception], ...] = (
    ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, AssertionError, ArithmeticError, SyntaxError,
    RuntimeError, zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip
