"""Syncs of remote repositories: an organisation of 300, parts that move alone, failures named, nothing lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowledge.errors import SourceMissing
from knowledge.types import Progress, RemoteConfig, Scope, SourceConfig
from tests.emulators.git_hosting import GitHosting, Refusal, git_hosting
from tests.emulators.git_repositories import commit
from tests.unit.knowledge.shelf import EVERYTHING, Shelf


def source_code(word: str) -> str:
    return f"def {word}_total(amount):\n    '''Adds up what {word} costs.'''\n    return amount + 1\n"


class Organisation:
    def __init__(self, place: Path, host: GitHosting) -> None:
        self.host = host
        self.shelf = Shelf(place)
        token = host.allow("t" * 30)
        self.remote = RemoteConfig(github="acme", base_url=host.url, token=token)
        self.shelf.sources = (SourceConfig(name="acme", kind="repository", remote=self.remote),)

    def status(self):  # type: ignore[no-untyped-def]
        (status,) = self.shelf.knowledge.status(scope=EVERYTHING)
        return status

    def uris(self) -> list[str]:
        return [document.uri for document in self.shelf.knowledge.list_documents(scope=EVERYTHING)]


@pytest.fixture
def organisation(tmp_path: Path) -> Iterator[Organisation]:
    with git_hosting(tmp_path / "host") as host:
        for name in ("shop", "pay", "web"):
            host.add(f"acme/{name}", {"src/total.py": source_code(name)})
        organisation = Organisation(tmp_path / "company", host)
        yield organisation
        organisation.shelf.close()


@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.long)])
def test_a_whole_organisation_is_indexed_with_one_broken_repository_and_limits(tmp_path: Path, count: int) -> None:
    with git_hosting(tmp_path / "host") as host:
        for number in range(count):
            host.add(f"acme/service-{number:03}", {"main.py": source_code(f"service{number}")})
        host.repositories["acme/service-007"].broken = True
        host.refusals.append(Refusal.secondary(retry_after_s=1))
        organisation = Organisation(tmp_path / "company", host)
        steps: list[Progress] = []
        (report,) = organisation.shelf.knowledge.sync(progress=steps.append)
        assert report.added == count - 1
        assert [item.uri for item in report.failed] == ["service-007/"]
        assert "cannot be reached now" in report.failed[0].reason
        said = [step.detail for step in steps if step.stage == "discover"]
        assert any("allows no more requests until" in words for words in said)
        assert {step.total for step in steps if step.stage == "discover"} == {None, count}
        assert max(step.done for step in steps if step.stage == "discover") == count
        status = organisation.status()
        assert (status.documents, status.parts) == (count - 1, count)
        assert [item.uri for item in status.failed] == ["service-007/"]
        host.repositories["acme/service-007"].broken = False
        (report,) = organisation.shelf.knowledge.sync()
        assert (report.added, report.unchanged, report.failed) == (1, count - 1, ())
        assert organisation.shelf.keyword("service7")
        organisation.shelf.close()


def test_a_push_to_one_repository_reads_that_file_alone(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    shelf.embedder.passages.clear()
    new = commit(organisation.host.repositories["acme/pay"].root, {"src/total.py": source_code("payment")})
    report = shelf.sync()
    assert (report.added, report.updated, report.deleted, report.unchanged) == (0, 1, 0, 2)
    assert all("payment" in text for text in shelf.embedder.passages)
    revisions = {d.uri: d.revision for d in shelf.knowledge.list_documents(scope=EVERYTHING)}
    assert revisions["pay/src/total.py"] == new
    assert len(set(revisions.values())) == 3


def test_evidence_pages_show_the_right_repository_at_the_indexed_commit(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    commit(organisation.host.repositories["acme/pay"].root, {"src/total.py": "x = 1\n"})  # pushed, not synced yet
    evidence = shelf.knowledge.search("pay_total", scope=EVERYTHING, kind="code")
    chunk = next(scored.chunk for scored in evidence.chunks if scored.chunk.locator.uri == "pay/src/total.py")
    passage = shelf.knowledge.passage(chunk.id, scope=EVERYTHING)
    assert passage.lines[0] == "def pay_total(amount):"
    assert passage.url == f"{organisation.host.url}/acme/pay/blob/{chunk.locator.revision}/src/total.py#L1-L3"


def test_a_deleted_file_and_a_deleted_repository_are_gone_from_search_at_once(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    commit(organisation.host.repositories["acme/pay"].root, {"src/total.py": None, "b.py": "x = 1\n"})
    del organisation.host.repositories["acme/web"]
    report = shelf.sync()
    assert report.deleted == 2
    assert organisation.uris() == ["pay/b.py", "shop/src/total.py"]
    assert shelf.keyword("pay") == shelf.keyword("web") == []
    assert not any("web" in text or "pay_total" in text for text in shelf.dense("pay web total", source="acme"))


def test_a_host_that_is_down_deletes_nothing_and_is_named(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    before = organisation.uris()
    organisation.host.tokens.clear()
    with pytest.raises(SourceMissing):
        shelf.sync()
    assert organisation.uris() == before
    assert "refuses the credentials" in organisation.status().problem


def test_an_unreachable_repository_keeps_what_is_known_and_its_counts(organisation: Organisation) -> None:
    organisation.host.add("acme/bin", {"a.py": source_code("bin"), "logo.png": "x"})
    shelf = organisation.shelf
    shelf.sync()
    assert organisation.status().skipped == {"binary file": 1}
    organisation.host.repositories["acme/bin"].broken = True
    report = shelf.sync()
    assert (report.deleted, report.unchanged) == (0, 4)
    assert organisation.status().skipped == {"binary file": 1}
    assert [item.uri for item in organisation.status().failed] == ["bin/"]
    assert shelf.keyword("bin")


def test_another_embedder_gets_every_repository_also_one_that_is_unreachable_now(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    organisation.host.repositories["acme/pay"].broken = True
    shelf.close()
    shelf.embedders = ("other",)
    shelf.sync()
    assert organisation.uris() == ["pay/src/total.py", "shop/src/total.py", "web/src/total.py"]
    assert organisation.status().embedders == ("other",)


def test_a_renamed_repository_is_found_under_its_new_name_only(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    organisation.host.rename("acme/pay", "acme/billing")
    shelf.sync()
    assert organisation.uris() == ["billing/src/total.py", "shop/src/total.py", "web/src/total.py"]


def test_a_source_that_is_not_configured_any_more_leaves_no_copy(organisation: Organisation) -> None:
    shelf = organisation.shelf
    shelf.sync()
    copies = shelf.data_dir / "mirrors" / "acme"
    assert list(copies.glob("*.git"))
    shelf.close()
    shelf.sources = (SourceConfig(name="rules", kind="documents", path=shelf.folder),)
    shelf.write("a.md", "# A\n\n글\n")
    shelf.knowledge.sync()
    assert not copies.exists()


def test_one_repository_by_address_survives_its_host(organisation: Organisation) -> None:
    shelf = organisation.shelf
    token = organisation.remote.token
    remote = RemoteConfig(url=f"{organisation.host.url}/acme/shop.git", token=token)
    shelf.sources = (SourceConfig(name="shop", kind="repository", remote=remote, host_kind="gitlab"),)
    assert shelf.sync().added == 1
    organisation.host.repositories["acme/shop"].broken = True
    report = shelf.sync()
    assert "cannot be reached now" in (report.problem or "")
    assert shelf.keyword("shop")
    evidence = shelf.knowledge.search("shop_total", scope=Scope.of("shop"), kind="code")
    passage = shelf.knowledge.passage(evidence.chunks[0].chunk.id, scope=EVERYTHING)
    assert passage.url is not None
    assert "/acme/shop/-/blob/" in passage.url


def test_nothing_is_read_listed_or_written_when_no_repository_has_moved(organisation: Organisation) -> None:
    organisation.shelf.sync()
    steps: list[str] = []
    organisation.shelf.on_step = steps.append
    organisation.host.asked.clear()
    report = organisation.shelf.sync()
    assert report.unchanged == 3
    assert steps == ["documents-complete"]
    asked = [request.path.partition("?")[0] for request in organisation.host.asked if ".git/" in request.path]
    assert len([path for path in asked if path.endswith("/git-upload-pack")]) == 3  # ls-remote, one a repository
