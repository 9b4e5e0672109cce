"""Repositories and APIs behind a company's proxy and a company's own certificates, through the real git and httpx."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from knowledge.errors import KnowledgeError, SourceMissing, ToolDown
from knowledge.ports import DiscoveryTask
from knowledge.sources.registry import build_source
from knowledge.types import Discovery, RemoteConfig, SourceConfig
from tests.emulators.forward_proxy import ForwardProxy
from tests.emulators.git_hosting import GitHosting, git_hosting

NAME = "git.corp.example"  # no name server knows it: only the proxy does
TOKEN = "tok" + "t" * 30
LOGIN = "mina:p@ss w:rd%"
LOGIN_IN_URL = "mina:p%40ss%20w%3Ard%25"


class Office:
    """A host of git with the company's own certificate, and the file that holds its authority."""

    def __init__(self, folder: Path, host: GitHosting) -> None:
        self.folder = folder
        self.host = host
        self.ca_file = folder / "ca.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.ca_file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(NAME).configure_cert(context)
        host.encrypt(context, NAME)
        host.allow(TOKEN)
        host.add("acme/shop", {"a.py": "x = 1\n"})

    def discover(self, proxies: dict[str, str], *, whole: bool = False, ca_file: Path | None = None) -> Discovery:
        place = {"github": "acme", "base_url": self.host.url} if whole else {"url": f"{self.host.url}/acme/shop.git"}
        remote = RemoteConfig(token=TOKEN, ca_file=ca_file or self.ca_file, proxies=proxies, **place)  # type: ignore[arg-type]
        config = SourceConfig(name="shop", kind="repository", remote=remote)
        source = build_source(config, data_dir=self.folder, clock=self.host.clock, pause=self.host.clock.pause)
        try:
            return source.discover_with(DiscoveryTask()) if whole else source.discover()  # type: ignore[attr-defined]
        finally:
            source.close()  # type: ignore[attr-defined]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with git_hosting(tmp_path / "host") as host:
        yield Office(tmp_path, host)


def uris(found: Discovery) -> list[str]:
    return [item.uri for item in found.items]


def test_a_repository_is_fetched_through_the_proxy_which_never_sees_the_token(office: Office) -> None:
    with ForwardProxy(login=LOGIN, resolves={NAME: office.host.port}) as proxy:
        found = office.discover({"https_proxy": f"http://{LOGIN_IN_URL}@127.0.0.1:{proxy.port}"})
        assert uris(found) == ["a.py"]
        assert {target for target, _ in proxy.asked} == {f"{NAME}:443"}
        assert len({given for _, given in proxy.asked if given}) == 1  # the proxy's own login and nothing else


def test_an_organisation_is_listed_and_fetched_through_the_proxy(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ForwardProxy(resolves={NAME: office.host.port}) as proxy:
        address = f"http://127.0.0.1:{proxy.port}"
        monkeypatch.setenv("HTTPS_PROXY", address)  # the API's client reads the environment by itself
        found = office.discover({"https_proxy": address}, whole=True)
        assert uris(found) == ["shop/a.py"]
        assert len(proxy.asked) >= 2


@pytest.mark.parametrize(("state", "kind", "words"), [
    ("login", SourceMissing, "the proxy wants a login: put user and password into HTTPS_PROXY"),
    ("refused", ToolDown, "the proxy does not let the connection through: check HTTPS_PROXY"),
    ("unknown", ToolDown, "the proxy does not let the connection through|cannot be reached now"),
])  # fmt: skip
def test_what_is_wrong_with_a_proxy_is_said_without_its_password(
    office: Office, state: str, kind: type[KnowledgeError], words: str
) -> None:
    login, known = (LOGIN if state == "login" else None), ({} if state == "refused" else {NAME: office.host.port})
    with ForwardProxy(login=login, resolves=known) as proxy:
        port = 9 if state == "unknown" else proxy.port
        with pytest.raises(kind, match=words) as raised:
            office.discover({"https_proxy": f"http://mina:wrongword7@127.0.0.1:{port}"})
        assert "wrongword7" not in str(raised.value)


def test_a_proxy_of_a_kind_that_cannot_be_used_is_named(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    with pytest.raises(SourceMissing, match=r"proxy that HTTPS_PROXY or ALL_PROXY names: give http://host:port"):
        office.discover({}, whole=True)


def test_a_certificate_that_is_not_trusted_is_named(office: Office, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    with ForwardProxy(resolves={NAME: office.host.port}) as proxy:
        proxies = {"https_proxy": f"http://127.0.0.1:{proxy.port}"}
        with pytest.raises(SourceMissing, match="not trusted: set ca_file"):
            office.discover(proxies, ca_file=other)
        with pytest.raises(SourceMissing, match="not trusted: set ca_file"):
            office.discover(proxies, ca_file=tmp_path / "none.pem")


@pytest.mark.parametrize("content", [None, b"no certificate\n"])
def test_a_file_without_certificates_is_named_by_the_api(office: Office, tmp_path: Path, content: bytes | None) -> None:
    broken = tmp_path / "broken.pem"
    if content is not None:
        broken.write_bytes(content)
    with pytest.raises(SourceMissing, match=r"ca_file .*broken\.pem holds no certificate that can be read"):
        office.discover({}, whole=True, ca_file=broken)
