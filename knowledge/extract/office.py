"""LibreOffice as a converter that is not trusted: own profile, no macros, no links, no network, limits, no survivors.

soffice ends with status 0 also when it made nothing, and makes a PDF of random bytes: callers sniff the input first,
and the output is checked here.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from knowledge.errors import ReaderMissing, UnreadableFile
from knowledge.extract.office_profile import DEAD_PROXY, write_profile
from knowledge.extract.process_tree import kill_tree, resident_bytes

PACKAGE = "libreoffice-writer"
_POLL_S = 0.1
_OUTPUT_FILTERS = {
    "docx": "docx:MS Word 2007 XML",
    "pdf": "pdf:writer_pdf_Export",
    "pptx": "pptx:Impress MS PowerPoint 2007 XML",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeLimits:
    """Limits on one conversion; resident memory is that of all processes of LibreOffice together."""

    wall_s: float = 120.0
    memory_bytes: int = 1_500_000_000
    output_bytes: int = 300_000_000


DEFAULT_LIMITS = OfficeLimits()


def convert(content: bytes, *, name: str, suffix: str, to: str, limits: OfficeLimits = DEFAULT_LIMITS) -> bytes:
    """The document as "docx", "pdf" or "pptx"; `suffix` (".doc") tells LibreOffice what it gets.

    Raises UnreadableFile where LibreOffice is missing, hits a limit, or makes nothing of the file.
    """
    soffice = shutil.which("soffice") or shutil.which("libreoffice")
    if soffice is None:
        raise ReaderMissing(
            f"{name} is a document that LibreOffice reads, but that is not installed; "
            f"install the Debian package {PACKAGE} and ingest again."
        )
    with tempfile.TemporaryDirectory(prefix="haechi-office-") as folder:
        home = Path(folder)
        source = home / f"in{suffix}"
        source.write_bytes(content)
        write_profile(home / "profile")
        (home / "out").mkdir()
        _run(_command(soffice, home, source, to), home, name=name, limits=limits)
        output = home / "out" / f"in.{to}"
        if not output.is_file() or not 0 < output.stat().st_size <= limits.output_bytes:
            raise UnreadableFile(
                f"{name} could not be converted by LibreOffice, so it is damaged or not what its first bytes say; "
                "open it in its own program and save it anew, as DOCX or PDF."
            )
        return output.read_bytes()


@functools.cache
def network_isolation() -> tuple[str, ...]:
    """The command that runs another one without any network; empty where the kernel does not let this user."""
    for prefix in (("unshare", "--net"), ("unshare", "--user", "--map-root-user", "--net")):
        if shutil.which(prefix[0]) is None:
            break
        try:
            run = subprocess.run([*prefix, "true"], capture_output=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if run.returncode == 0:
            return prefix
    return ()


def _command(soffice: str, home: Path, source: Path, to: str) -> list[str]:
    proxy = "http://{}:{}".format(*DEAD_PROXY)
    environment = [
        f"HOME={home}",
        f"TMPDIR={home}",
        "PATH=/usr/bin:/bin",
        "LANG=C.UTF-8",
        "SAL_USE_VCLPLUGIN=svp",
        *(f"{kind}_proxy={proxy}" for kind in ("http", "https", "ftp", "all")),
    ]
    # when this process dies, LibreOffice dies with it
    leash = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    return [
        "env",
        "-i",
        *environment,
        *leash,
        *network_isolation(),
        soffice,
        f"-env:UserInstallation={(home / 'profile').as_uri()}",
        "--headless",
        "--norestore",
        "--nolockcheck",
        "--nodefault",
        "--nofirststartwizard",
        "--convert-to",
        _OUTPUT_FILTERS[to],
        "--outdir",
        str(home / "out"),
        str(source),
    ]


def _run(command: list[str], home: Path, *, name: str, limits: OfficeLimits) -> None:
    """Waits for the command within the limits. LibreOffice's own words go nowhere: they quote paths and content."""
    try:
        process = subprocess.Popen(
            command,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UnreadableFile(
            f"{name} could not be converted: LibreOffice does not start ({error.strerror}); install {PACKAGE} again."
        ) from error
    deadline = time.monotonic() + limits.wall_s
    try:
        while True:
            try:
                process.wait(timeout=_POLL_S)
                return
            except subprocess.TimeoutExpired:
                pass
            if time.monotonic() > deadline:
                raise UnreadableFile(
                    f"{name} kept LibreOffice busy for more than {limits.wall_s:.0f} s and was given up; "
                    "open it in its own program and save it anew, as DOCX or PDF."
                )
            if resident_bytes(process.pid) > limits.memory_bytes:
                raise UnreadableFile(
                    f"{name} made LibreOffice take more than {limits.memory_bytes // 1_000_000} MB of memory and was "
                    "given up; open it in its own program and save it anew, as DOCX or PDF."
                )
    finally:
        kill_tree(process.pid)  # also what a LibreOffice that ended left behind
        process.wait()
