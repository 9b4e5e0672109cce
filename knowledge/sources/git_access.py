"""How a remote repository is reached: the environment of git's network commands, and what their failures mean.

Credentials stand in the environment of the one command that needs them, never in an address, an argument or a file: a
token is handed over by a credential helper that git asks for the one server it belongs to, so that a redirect to
another server does not carry it along. The environment is built from nothing, as for reading.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from knowledge.errors import KnowledgeError, SourceMissing, ToolDown
from knowledge.sources.git_process import GitFailed, git_environment

CONNECT_TIMEOUT_S = 20
STALL_BYTES_PER_S = 100  # slower than this for STALL_S means that the server hangs
STALL_S = 120

_SCP_LIKE = re.compile(r"(?:[A-Za-z0-9][\w.-]*@)?(?P<host>[A-Za-z0-9][\w.-]*):(?!//)(?P<path>[^\s-][^\s]*)")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$HAECHI_GIT_USER" "$HAECHI_GIT_SECRET"; }; f'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitAccess:
    """Credentials and trust for one server. `token` is asked before every command: those of an App change."""

    token: Callable[[], str | None] = field(default=lambda: None, repr=False)
    username: str = "x-access-token"
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    ca_file: Path | None = None
    proxies: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # https_proxy, no_proxy ...: may hold a password
    server_only: str | None = None  # the host that addresses of a list must be on, so that no other gets the token

    def environment(self, url: str) -> dict[str, str]:
        """The environment for a command that talks to `url`."""
        scheme = scheme_of(url)
        variables = {"GIT_ALLOW_PROTOCOL": scheme or "none"}
        config = [
            ("http.lowSpeedLimit", str(STALL_BYTES_PER_S)),
            ("http.lowSpeedTime", str(STALL_S)),
            ("credential.helper", ""),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("fetch.recurseSubmodules", "false"),
            ("submodule.recurse", "false"),
            ("transfer.bundleURI", "false"),
            ("protocol.version", "2"),
        ]
        if scheme in ("http", "https"):
            variables |= self.proxies
            token = self.token()
            if token is not None:
                server = server_of(url)
                config += [(f"credential.{server}.helper", _HELPER), (f"http.{server}/.proactiveAuth", "basic")]
                variables |= {"HAECHI_GIT_USER": self.username, "HAECHI_GIT_SECRET": token}
            if self.ca_file is not None:
                variables["GIT_SSL_CAINFO"] = str(self.ca_file)
        elif scheme == "ssh":
            variables["GIT_SSH_COMMAND"] = shlex.join(self._ssh_command())
            variables["GIT_SSH_VARIANT"] = "ssh"
        return git_environment(config, variables)

    def _ssh_command(self) -> list[str]:
        """Raises SourceMissing when ssh is not installed. Nothing is asked, forwarded or taken from a user's file."""
        program = shutil.which("ssh")
        if program is None:
            raise SourceMissing("ssh is not installed: install it (Debian: apt-get install openssh-client)")
        options = [
            "BatchMode=yes",
            "StrictHostKeyChecking=yes",
            f"ConnectTimeout={CONNECT_TIMEOUT_S}",
            "ServerAliveInterval=15",
            "ForwardAgent=no",
            "ForwardX11=no",
            "ClearAllForwardings=yes",
            "PermitLocalCommand=no",
        ]
        if self.known_hosts_file is not None:
            options.append(f"UserKnownHostsFile={_quoted(self.known_hosts_file)}")
        command = [program, "-F", os.devnull]
        if self.ssh_key_file is not None:
            command += ["-i", str(self.ssh_key_file)]
            options.append("IdentitiesOnly=yes")
        return command + [word for option in options for word in ("-o", option)]


def _quoted(path: Path) -> str:
    """A path as ssh options want it: blanks would separate two files."""
    return f'"{path}"' if " " in str(path) else str(path)


def scheme_of(url: str) -> str | None:
    """ "https", "http", "ssh" or "file" of an address that git may be given, else None.

    Remote helpers ("ext::..."), unencrypted git:// and anything that looks like an option are none of them.
    """
    if not url or url.startswith("-") or any(character.isspace() or ord(character) < 32 for character in url):
        return None
    if "::" in url.split("/", 1)[0]:
        return None
    if "://" not in url:
        return "ssh" if _SCP_LIKE.fullmatch(url) else None
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme == "file":
        return "file" if parts.path.startswith("/") and not host else None
    known = parts.scheme in ("http", "https", "ssh") and host and not host.startswith("-") and parts.path.strip("/")
    return parts.scheme if known else None


def has_credentials(url: str) -> bool:
    """Whether an address holds a password, or a user where none belongs: `git@` of ssh is a name, not a secret."""
    if "://" not in url:
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.password) or (bool(parts.username) and parts.scheme in ("http", "https"))


def is_loopback(url: str) -> bool:
    """Whether what is sent to this address stays on this machine."""
    try:
        return (urlsplit(url).hostname or "") in _LOOPBACK
    except ValueError:
        return False


def server_of(url: str) -> str:
    """`https://host:port` of an http(s) address."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


_MEANINGS: tuple[tuple[str, type[KnowledgeError], str], ...] = (
    (
        r"response 407|HTTP code 407|error: 407",
        SourceMissing,
        "the proxy wants a login: put user and password into HTTPS_PROXY, as in http://user:password@proxy:3128",
    ),
    (
        r"resolve proxy|from proxy after CONNECT|CONNECT tunnel failed|Proxy CONNECT aborted|Unsupported proxy",
        ToolDown,
        "the proxy does not let the connection through: check HTTPS_PROXY, and name servers of your own in NO_PROXY",
    ),
    (
        r"Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|"
        r"returned error: 40[13]|HTTP Basic: Access denied|invalid credentials",
        SourceMissing,
        "the server wants a valid token: check token_env or token_file, that it has not expired, and that it may read "
        "this repository",
    ),
    (
        r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED|No \S+ host key is known",
        SourceMissing,
        "the server's key is not known: compare its fingerprint, and put what `ssh-keyscan HOST` prints into "
        "known_hosts_file",
    ),
    (
        r"UNPROTECTED PRIVATE KEY|bad permissions",
        SourceMissing,
        "ssh refuses a key that others may read: chmod 600 the file of ssh_key_file",
    ),
    (
        r"Permission denied \(|Load key|invalid format|error in libcrypto",
        SourceMissing,
        "the server does not accept the key: check ssh_key_file, and that the key is added there as a deploy key",
    ),
    (
        r"SSL certificate|certificate verify|server certificate|unable to get local issuer|"
        r"setting certificate|SSL CA cert",
        SourceMissing,
        "its certificate is not trusted: set ca_file to the certificate (PEM) of your own authority, or of a proxy "
        "that opens TLS",
    ),
    (
        r"Could not resolve|Failed to connect|Couldn't connect|Connection (?:refused|timed out|reset|closed)|"
        r"timed out|No route to host|Network is unreachable|returned error: (?:429|5\d\d)|early EOF|"
        r"Operation too slow|unexpected disconnect|HTTP2? |remote end hung up|RPC failed|longer than",
        ToolDown,
        "the server cannot be reached now; it is asked again at the next sync",
    ),
    (
        r"not found|does not (?:appear to be a git repository|exist)|returned error: 404|"
        r"Could not read from remote repository|could not be found",
        SourceMissing,
        "it is not there, or the credentials may not see it: correct the address or give the token access",
    ),
    (
        r"redirect",
        SourceMissing,
        "it has moved to another server: set the new address",
    ),
)  # fmt: skip


def explain(failure: GitFailed, *, what: str, secret: str | None) -> KnowledgeError:
    """The failure of a network command as an error that says what to do; it never holds the token."""
    for pattern, kind, remedy in _MEANINGS:
        if re.search(pattern, failure.output, re.IGNORECASE):
            return kind(f"{what}: {remedy} (git: {_cause(failure, secret)})")
    return SourceMissing(f"{what} cannot be fetched (git: {_cause(failure, secret)})")


def _cause(failure: GitFailed, secret: str | None) -> str:
    """The line that says most, without the token."""
    from knowledge.masking import mask

    lines = [line.strip() for line in failure.output.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(?:fatal|error|remote|ssh)\b|.*(?:denied|failed)", line)]
    line = (telling or lines or [str(failure)])[0]
    if secret:
        line = line.replace(secret, "[masked:token]")
    return mask(line)[:300]
