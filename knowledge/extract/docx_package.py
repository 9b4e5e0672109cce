"""Checks on a DOCX before it is parsed: sizes once unzipped, entity declarations, encryption."""

from __future__ import annotations

import io
import zipfile

from knowledge.errors import UnreadableFile

MAX_MEMBER_BYTES = 200 * 1024 * 1024
MAX_TOTAL_BYTES = 500 * 1024 * 1024
MAX_MEMBERS = 10_000
_MAX_RATIO = 300  # of a member above _RATIO_FROM_BYTES: real XML compresses 10 to 30 times
_RATIO_FROM_BYTES = 20 * 1024 * 1024
_DOCTYPES = tuple("<!DOCTYPE".encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def check_package(content: bytes, *, name: str) -> None:
    """Nothing when the archive is safe to parse. Raises UnreadableFile that says which member is at fault.

    zipfile never yields more bytes than a member declares, so the declared sizes are a true bound.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _check_sizes(members, name=name)
            for member in members:
                if member.filename.lower().endswith((".xml", ".rels")):
                    data = archive.read(member)
                    if any(doctype in data for doctype in _DOCTYPES):
                        raise UnreadableFile(
                            f"{name} declares a document type in {member.filename}, which Office and Hangul never "
                            "write and entity attacks need; it was not opened. Save it anew from there if you trust it."
                        )
    except UnreadableFile:
        raise
    except RuntimeError as error:  # zipfile's way to say that a member is encrypted
        raise UnreadableFile(f"{name} is protected by a password; save a copy without it.") from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, ValueError, EOFError, NotImplementedError) as error:
        raise UnreadableFile(f"{name} is damaged ({error}); copy the file again from where it came.") from error
    except _zlib_error() as error:
        raise UnreadableFile(f"{name} is damaged ({error}); copy the file again from where it came.") from error


def _zlib_error() -> type[Exception]:
    import zlib

    return zlib.error


def _check_sizes(members: list[zipfile.ZipInfo], *, name: str) -> None:
    if len(members) > MAX_MEMBERS:
        raise UnreadableFile(
            f"{name} holds {len(members)} parts, more than the {MAX_MEMBERS} allowed; it was not opened."
        )
    total = sum(member.file_size for member in members)
    if total > MAX_TOTAL_BYTES:
        raise UnreadableFile(
            f"{name} unzips to {total // 1024**2} MiB, more than the {MAX_TOTAL_BYTES // 1024**2} MiB allowed "
            "(a zip bomb?); split the document or remove it."
        )
    for member in members:
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > MAX_MEMBER_BYTES or (member.file_size > _RATIO_FROM_BYTES and ratio > _MAX_RATIO):
            raise UnreadableFile(
                f"{name}: {member.filename} unzips to {member.file_size // 1024**2} MiB "
                "(a zip bomb?); split the document or remove it."
            )
