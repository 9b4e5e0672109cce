"""What is said about Hangul files that cannot be read, the same for all of their formats."""

from __future__ import annotations

from knowledge.errors import NoText, UnreadableFile

MAX_STREAM_BYTES = 256 * 1024 * 1024  # inflated; the largest real sections are below 50 MB


def damaged(name: str, detail: str) -> UnreadableFile:
    """The error for a file that is cut off or broken, with what to do."""
    return UnreadableFile(
        f"{name} is a Hangul file that is damaged or cut off ({detail}); copy it again from where it came, "
        "or open it in Hangul and save it anew."
    )


def too_large(name: str) -> UnreadableFile:
    """The error for content that inflates beyond the limit."""
    return UnreadableFile(
        f"{name} inflates to more than {MAX_STREAM_BYTES // 2**20} MB; split it into smaller files, "
        "or check whether it is what it claims to be."
    )


def no_text(name: str) -> NoText:
    """The error for a document without a single word."""
    return NoText(
        f"{name} is a Hangul document without text (blank, or only drawings); export it as PDF so that it can be read "
        "by OCR, or remove it."
    )
