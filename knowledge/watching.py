"""File events of folders: tells that something in one changed, once it has been quiet for a moment.

Events only say when to look. What changed is found by the sync itself, so an event that is lost costs time, not truth.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from knowledge.sources.mounts import network_file_system_of

QUIET_MS = 2_000
AT_LEAST_EVERY_MS = 60_000  # under unceasing changes


def reason_without_events(folder: Path) -> str | None:
    """Why events of `folder` cannot be relied on; None when they can."""
    if not folder.is_dir():
        return "the folder is not there"
    if (kind := network_file_system_of(folder)) is not None:
        return f"the folder is on a network file system ({kind}), which reports no changes of other machines"
    return None


def watch_folder(folder: Path, on_change: Callable[[], None], stop: threading.Event) -> str | None:
    """Calls `on_change` after changes in `folder` until `stop` is set, then returns None; returns why when events end
    before that. Blocks: for a thread."""
    from watchfiles import watch

    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it reports every change by itself
    try:
        for changes in watch(
            folder,
            watch_filter=_is_of_interest,
            debounce=AT_LEAST_EVERY_MS,
            step=QUIET_MS,
            stop_event=stop,
            rust_timeout=1_000,
            yield_on_timeout=True,
            recursive=True,
            ignore_permission_denied=True,
        ):
            if changes:
                on_change()
            if not folder.is_dir():
                return "the folder is not there any more"
    except (OSError, RuntimeError) as error:  # too many watches (fs.inotify.max_user_watches), a folder that went
        return f"the file system gives no events ({error})"
    return None


def _is_of_interest(change: object, path: str) -> bool:
    """Whether a change can matter: hidden files, and what editors put beside a file, never become documents."""
    name = Path(path).name.lower()
    return not name.startswith((".", "~$")) and not name.endswith((".tmp", ".part", ".crdownload", ".swp", "~"))
