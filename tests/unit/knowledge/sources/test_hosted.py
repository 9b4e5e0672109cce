"""Organisations and groups as one source, against an emulated host: lists, choices, limits, failures, renames."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from knowledge.errors import NotFound, SourceEmpty, SourceMissing, ToolDown
from knowledge.ports import DiscoveryTask
from knowledge.sources import hosting
from knowledge.sources.github import api_address
from knowledge.sources.hosted import HostedSource
from knowledge.sources.registry import build_source
from knowledge.types import Discovery, RemoteConfig, SourceConfig
from tests.emulators.git_hosting import EPOCH, GitHosting, Refusal, git_hosting
from tests.emulators.git_repositories import commit

CODE = "def pay():\n    return 1\n"


class Company:
    """A GitHub organisation with three repositories, and the source that reads it."""

    def __init__(self, folder: Path, host: GitHosting) -> None:
        self.folder = folder
        self.host = host
        self.remote = RemoteConfig(github="acme", base_url=host.url, token=host.allow("t" * 30))
        self.words: list[str] = []
        self.known: dict[str, str] = {}
        self.built: list[HostedSource] = []

    def source(self, **changes: object) -> HostedSource:
        config = SourceConfig(name="company", kind="repository", remote=replace(self.remote, **changes))  # type: ignore[arg-type]
        built = build_source(config, data_dir=self.folder, clock=self.host.clock, pause=self.host.clock.pause)
        assert isinstance(built, HostedSource)
        self.built.append(built)
        return built

    def close(self) -> None:
        for source in self.built:
            source.close()

    def discover(self, source: HostedSource | None = None, *, force: bool = False) -> Discovery:
        """As a sync does it: what is complete then need not be listed the next time."""
        task = DiscoveryTask(known=self.known, force=force, progress=lambda d, t, words: self.words.append(words))
        reader = source or self.source()
        found = reader.discover_with(task)
        reader.close()
        self.known = {part.prefix: part.state for part in found.parts if part.state}
        return found

    def git_requests(self) -> list[str]:
        return [asked.path for asked in self.host.asked if "/api/" not in asked.path]


@pytest.fixture
def company(tmp_path: Path) -> Iterator[Company]:
    with git_hosting(tmp_path / "host") as host:
        for name in ("shop", "pay", "web"):
            host.add(f"acme/{name}", {"src/a.py": CODE + f"# {name}\n"})
        company = Company(tmp_path / "data", host)
        yield company
        company.close()


def uris(found: Discovery) -> list[str]:
    return [item.uri for item in found.items]


def test_every_repository_is_a_folder_of_the_source_at_its_own_commit(company: Company) -> None:
    source = company.source()
    found = company.discover(source)
    assert uris(found) == ["pay/src/a.py", "shop/src/a.py", "web/src/a.py"]
    assert len({item.revision for item in found.items}) == 3
    item = found.items[1]
    assert source.fetch("shop/src/a.py") == (CODE + "# shop\n").encode()
    assert source.file_at("shop/src/a.py", item.revision or "") == (CODE + "# shop\n").encode()
    link = source.permalink("shop/src/a.py", item.revision or "", 1, 2)
    assert link == f"{company.host.url}/acme/shop/blob/{item.revision}/src/a.py#L1-L2"
    with pytest.raises(NotFound):
        source.fetch("shop/nothing.py")
    with pytest.raises(NotFound):
        source.fetch("elsewhere/a.py")
    source.close()


def test_a_repository_that_has_not_moved_is_not_listed_again(company: Company) -> None:
    company.discover()
    new = commit(company.host.repositories["acme/shop"].root, {"src/b.py": CODE})
    found = company.discover()
    assert uris(found) == ["shop/src/a.py", "shop/src/b.py"]
    assert [(part.prefix, part.is_kept) for part in found.parts] == [("pay/", True), ("shop/", False), ("web/", True)]
    assert {item.revision for item in found.items} == {new}
    assert company.discover(force=True).kept_prefixes == ()


def test_other_patterns_list_everything_again(company: Company) -> None:
    company.discover()
    source = company.source()
    source._exclude = ("b.py",)
    assert company.discover(source).kept_prefixes == ()


def test_one_broken_repository_does_not_stop_the_others_and_keeps_what_is_known(company: Company) -> None:
    company.discover()
    company.host.repositories["acme/pay"].broken = True
    commit(company.host.repositories["acme/web"].root, {"src/b.py": CODE})
    found = company.discover()
    assert uris(found) == ["web/src/a.py", "web/src/b.py"]
    assert found.kept_prefixes == ("pay/", "shop/")
    (problem,) = [part for part in found.parts if part.problem]
    assert problem.prefix == "pay/"
    assert "repository pay" in str(problem.problem)
    company.host.repositories["acme/pay"].broken = False
    commit(company.host.repositories["acme/pay"].root, {"src/b.py": CODE})
    assert uris(company.discover()) == ["pay/src/a.py", "pay/src/b.py"]


def test_a_broken_repository_that_nothing_is_known_of_comes_from_its_copy(company: Company) -> None:
    company.discover()
    company.host.repositories["acme/pay"].broken = True
    company.known = {}  # a new generation is built
    found = company.discover()
    assert "pay/src/a.py" in uris(found)
    assert [part.problem is not None for part in found.parts] == [True, False, False]


def test_a_renamed_repository_keeps_its_copy(company: Company) -> None:
    company.discover()
    company.host.rename("acme/shop", "acme/store")
    company.host.asked.clear()
    found = company.discover()
    assert uris(found) == ["store/src/a.py"]
    assert not [path for path in company.git_requests() if "shop" in path]
    assert len(list((company.folder / "mirrors" / "company").glob("*.git"))) == 3


def test_a_repository_that_is_gone_takes_its_copy_with_it_and_a_new_one_comes(company: Company) -> None:
    company.discover()
    del company.host.repositories["acme/shop"]
    company.host.add("acme/new", {"n.py": CODE})
    found = company.discover()
    assert uris(found) == ["new/n.py"]
    assert [part.prefix for part in found.parts] == ["new/", "pay/", "web/"]
    assert len(list((company.folder / "mirrors" / "company").glob("*.git"))) == 3


def test_most_repositories_gone_at_once_looks_like_lost_rights(company: Company) -> None:
    for name in ("a", "b", "c"):
        company.host.add(f"acme/{name}", {"a.py": CODE}, private=False)
    company.discover()
    for name in ("shop", "pay", "web", "a"):
        del company.host.repositories[f"acme/{name}"]
    with pytest.raises(SourceEmpty, match=r"4 of 6 repositories .*--force"):
        company.discover()
    assert [part.prefix for part in company.discover(force=True).parts] == ["b/", "c/"]


def test_archived_forks_patterns_and_empty_ones_are_left_out_with_their_reason(company: Company) -> None:
    company.host.add("acme/old", {"a.py": CODE}, archived=True)
    company.host.add("acme/copy", {"a.py": CODE}, fork=True)
    company.host.add("acme/empty")
    found = company.discover(company.source(repositories=("*",), exclude_repositories=("W*",)))
    assert {part.prefix for part in found.parts if part.state != "empty"} == {"pay/", "shop/"}
    assert {item.uri: item.reason for item in found.skipped} == {
        "old": hosting.ARCHIVED,
        "copy": hosting.FORK,
        "web": hosting.NOT_CHOSEN,
        "empty": hosting.EMPTY,
    }
    both = company.discover(company.source(archived=True, forks=True, repositories=("old", "copy")))
    assert uris(both) == ["copy/a.py", "old/a.py"]


def test_the_second_listing_costs_no_requests_of_the_limit(company: Company) -> None:
    for number in range(120):
        company.host.add(f"acme/empty-{number}")
    source = company.source(repositories=("shop",))
    company.discover(source)
    company.host.asked.clear()
    company.discover(company.source(repositories=("shop",)))
    listings = [asked.status for asked in company.host.asked if "/repos?" in asked.path]
    assert listings == [304, 304]


@pytest.mark.parametrize(("refusal", "waits"), [
    (Refusal.primary(reset=EPOCH + timedelta(minutes=20)),
     [1201.0]),
    (Refusal.secondary(retry_after_s=45), [45.0]),
    (Refusal.secondary(retry_after_s=None), [60.0]),
    (Refusal(status=429, message="slow down"), [60.0]),
    (Refusal(status=502), [2.0]),
])  # fmt: skip
def test_limits_are_waited_for_and_said(company: Company, refusal: Refusal, waits: list[float]) -> None:
    company.host.refusals.append(refusal)
    assert len(company.discover().parts) == 3
    assert company.host.clock.waits == waits
    told = [words for words in company.words if "allows no more requests until" in words]
    assert (told != []) == (refusal.status != 502)


def test_secondary_limits_are_waited_for_longer_each_time(company: Company) -> None:
    company.host.refusals.extend([Refusal.secondary(retry_after_s=None)] * 3)
    company.discover()
    assert company.host.clock.waits == [60.0, 120.0, 240.0]


def test_a_host_that_is_down_changes_nothing(company: Company) -> None:
    company.discover()
    company.host.refusals.extend([Refusal(status=503)] * 4)
    with pytest.raises(ToolDown, match="asked again at the next sync"):
        company.discover()
    company.host.tokens.clear()
    with pytest.raises(SourceMissing, match="refuses the credentials"):
        company.discover()
    assert company.source().file_at("pay/src/a.py", company.known["pay/"].partition(":")[0])


def test_a_list_that_the_host_calls_partial_is_refused(company: Company) -> None:
    company.host.headers["X-GitHub-SSO"] = "partial-results; organizations=1"
    with pytest.raises(SourceMissing, match="single sign-on"):
        company.discover()


def test_waiting_for_a_limit_ends_when_it_is_asked_to_stop(company: Company) -> None:
    company.host.refusals.append(Refusal.secondary(retry_after_s=600))
    task = DiscoveryTask(should_stop=lambda: bool(company.host.clock.waits))
    with pytest.raises(ToolDown, match="asked to stop"):
        company.source().discover_with(task)


def test_an_unknown_owner_is_named(company: Company) -> None:
    with pytest.raises(SourceMissing, match="correct `github`"):
        company.source(github="nobody").discover()


def test_repositories_of_a_user_are_those_the_token_sees(company: Company) -> None:
    company.host.add("mina/notes", {"a.py": CODE})
    assert uris(company.discover(company.source(github="mina"))) == ["notes/a.py"]
    company.host.add("joon/open", {"a.py": CODE}, private=False)
    company.host.add("joon/closed", {"a.py": CODE})
    assert uris(company.discover(company.source(github="joon"))) == ["open/a.py"]


def test_addresses_on_another_server_get_no_token(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    company.host.repositories["acme/pay"].path = "acme/pay"
    source = company.source()
    source._access = replace(source._access, server_only="git.example.com")
    found = company.discover(source)
    assert all("another server" in str(part.problem) for part in found.parts)
    assert company.git_requests() == []


# --- GitHub Apps ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def test_an_app_logs_in_and_renews_its_token_before_it_ends(company: Company, key: rsa.RSAPrivateKey) -> None:
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    ).decode()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    company.host.app = ("4711", public.decode())
    source = company.source(token=None, app_id="4711", app_key=private)
    company.host.add("other/alien", {"a.py": CODE})
    assert [part.prefix for part in company.discover(source).parts] == ["pay/", "shop/", "web/"]
    assert source._host.token() == source._host.token()
    first = source._host.token()
    company.host.clock.now += timedelta(minutes=54)
    assert source._host.token() == first
    company.host.clock.now += timedelta(minutes=2)
    assert source._host.token() != first
    commit(company.host.repositories["acme/shop"].root, {"b.py": CODE})
    assert "shop/b.py" in uris(company.discover(source))


def test_a_key_that_is_none_is_named(company: Company) -> None:
    with pytest.raises(SourceMissing, match="app_key_file"):
        company.source(token=None, app_id="4711", app_key="no key").discover()


# --- GitLab ---------------------------------------------------------------------------------------


def test_a_gitlab_group_brings_its_subgroups(tmp_path: Path) -> None:
    with git_hosting(tmp_path / "host", kind="gitlab") as host:
        host.add("company/shop", {"a.py": CODE})
        host.add("company/backend/api", {"b.py": CODE})
        host.add("company/backend/old", {"b.py": CODE}, archived=True)
        host.add("company/backend/deep/er", {"한글 파일#1.py": CODE})
        host.add("elsewhere/x", {"x.py": CODE})
        for number in range(130):
            host.add(f"company/many/empty-{number}", archived=True)
        company = Company(tmp_path / "data", host)
        company.remote = RemoteConfig(gitlab="company", base_url=host.url, token=host.allow("g" * 20))
        source = company.source()
        found = company.discover(source)
        assert uris(found) == ["backend/api/b.py", "backend/deep/er/한글 파일#1.py", "shop/a.py"]
        assert sum(item.reason == hosting.ARCHIVED for item in found.skipped) == 131
        commit_id = found.items[1].revision
        assert source.permalink(found.items[1].uri, commit_id or "", 2, 2) == (
            f"{host.url}/company/backend/deep/er/-/blob/{commit_id}/%ED%95%9C%EA%B8%80%20%ED%8C%8C%EC%9D%BC%231.py#L2"
        )
        assert {asked.headers.get("PRIVATE-TOKEN") for asked in host.asked if "/api/" in asked.path} == {"g" * 20}
        company.remote = replace(company.remote, gitlab="company/backend")
        company.known = {}
        shutil.rmtree(tmp_path / "data")
        assert uris(company.discover()) == ["api/b.py", "deep/er/한글 파일#1.py"]
        company.close()


@pytest.mark.parametrize(("base_url", "address"), [
    (None, "https://api.github.com"),
    ("https://github.com", "https://api.github.com"),
    ("https://ghe.acme.com", "https://ghe.acme.com/api/v3"),
    ("https://ghe.acme.com/api/v3/", "https://ghe.acme.com/api/v3"),
    ("https://acme.ghe.com", "https://api.acme.ghe.com"),
])  # fmt: skip
def test_the_api_of_a_server(base_url: str | None, address: str) -> None:
    assert api_address(base_url) == address


def test_copies_and_lists_are_for_their_owner_alone(company: Company) -> None:
    company.discover()
    for folder in (company.folder / "mirrors", company.folder / "mirrors" / "company"):
        assert os.stat(folder).st_mode & 0o777 == 0o700
