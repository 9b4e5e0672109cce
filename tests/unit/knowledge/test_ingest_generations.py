"""Another embedder or version builds a new generation beside the shown one and takes over when it is complete."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.knowledge.shelf import EVERYTHING, LEAVE, TRAVEL, Shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    shelf.write("leave.md", LEAVE)
    shelf.write("travel.md", TRAVEL)
    shelf.sync()
    yield shelf
    shelf.close()


def use_embedder(shelf: Shelf, *names: str) -> None:
    shelf.close()
    shelf.embedders = names


def states(shelf: Shelf) -> list[str]:
    return [generation.state for generation in shelf.knowledge._catalog.generations("rules")]


def test_another_embedder_takes_over_and_leaves_nothing_of_the_old_one(shelf: Shelf) -> None:
    (old,) = shelf.vector_ids()
    use_embedder(shelf, "other")
    report = shelf.sync()
    assert report.pending == 0
    assert states(shelf) == ["active"]
    (new,) = shelf.vector_ids()
    assert new != old
    assert shelf.dense("연차휴가")
    assert shelf.knowledge.status(scope=EVERYTHING)[0].embedders == ("other",)
    with shelf.knowledge._catalog.reading() as connection:
        for table in ("chunks", "documents", "terms", "spaces"):
            assert connection.execute(f"SELECT count(DISTINCT generation) FROM {table}").fetchone()[0] == 1
        chunks = connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
        assert connection.execute("SELECT count(*) FROM keywords").fetchone()[0] == chunks


def test_while_a_new_generation_is_built_every_question_is_answered_by_the_old_one(shelf: Shelf) -> None:
    use_embedder(shelf, "other")
    answers: list[tuple[str, bool, bool]] = []

    def ask(step: str) -> None:
        answers.append((step, bool(shelf.keyword("연차휴가")), bool(shelf.dense("연차휴가"))))

    shelf.on_step = ask
    shelf.sync()
    assert {"document-committed", "vectors-confirmed", "taken-over", "retired-removed"} <= {
        step for step, *_ in answers
    }
    assert all(words and vectors for step, words, vectors in answers if step != "document-written")


def test_an_interrupted_build_goes_on_and_embeds_nothing_twice(shelf: Shelf) -> None:
    use_embedder(shelf, "other")
    steps: list[str] = []
    shelf.on_step = steps.append
    shelf.sync(should_stop=lambda: steps.count("document-committed") == 1)
    assert states(shelf) == ["active", "building"]
    shelf.close()
    shelf.sync()
    assert states(shelf) == ["active"]
    other = shelf.built["other"]
    assert len(other.passages) == len(set(other.passages))


def test_changes_during_a_build_that_cannot_finish_go_into_both(shelf: Shelf) -> None:
    shelf.built["other"].down = True
    use_embedder(shelf, "counting", "other")
    shelf.sync()
    assert states(shelf) == ["active", "building"]
    shelf.write("leave.md", LEAVE.replace("15일", "16일"))
    report = shelf.sync()
    assert report.updated == 1
    assert "16일" in shelf.keyword("연차휴가")[0]
    assert any("16일" in text for text in shelf.dense("연차휴가 16일"))
    shelf.built["other"].down = False
    shelf.sync()
    assert states(shelf) == ["active"]
    assert len(shelf.vector_ids()) == 2
    assert "16일" in shelf.keyword("연차휴가")[0]


def test_going_back_to_the_old_embedder_gives_up_the_build(shelf: Shelf) -> None:
    shelf.built["other"].down = True
    use_embedder(shelf, "other")
    shelf.sync()
    use_embedder(shelf, "counting")
    shelf.embedder.passages.clear()
    report = shelf.sync()
    assert states(shelf) == ["active"]
    assert (report.pending, shelf.embedder.passages) == (0, [])


def test_a_new_chunker_version_rebuilds_everything_without_embedding_the_same_text_again(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shelf.chunk_ids()
    shelf.embedder.passages.clear()
    monkeypatch.setattr("knowledge.chunking.CHUNKING_VERSION", "another")
    report = shelf.sync()
    assert (report.embedded, shelf.embedder.passages) == (0, [])
    assert states(shelf) == ["active"]
    assert shelf.chunk_ids() == before
    assert set().union(*shelf.vector_ids().values()) == before


def test_questions_are_not_compared_with_vectors_of_another_model_version(shelf: Shelf) -> None:
    from knowledge.errors import ToolDown

    shelf.close()
    shelf.embedder._digest = "pulled anew"
    ((embedder, _),) = shelf.knowledge._spaces("rules")
    with pytest.raises(ToolDown, match="haechi ingest"):
        embedder.embed_queries(["연차휴가"])
    shelf.sync()
    assert shelf.dense("연차휴가")


def test_a_text_that_the_new_embedder_rejects_does_not_keep_the_old_generation_forever(shelf: Shelf) -> None:
    shelf.built["other"].rejects = "하루 3만원"
    use_embedder(shelf, "other")
    report = shelf.sync()
    assert states(shelf) == ["active"]
    assert report.pending == 1
    assert shelf.knowledge.status(scope=EVERYTHING)[0].pending == {"other": 1}


def between(shelf: Shelf, change: Callable[[], object]) -> None:
    """Carries out `change` once, in the middle of the next search: after the words were looked up."""
    inner = shelf.knowledge._keywords.search
    done = False

    def search(*arguments: object, **options: object) -> object:
        nonlocal done
        hits = inner(*arguments, **options)
        if not done:
            done = True
            changing = threading.Thread(target=change)  # another thread, as the syncs of a running bot
            changing.start()
            changing.join()
        return hits

    shelf.knowledge._keywords.search = search  # type: ignore[method-assign]


def test_a_search_in_whose_middle_a_new_generation_takes_over_finds_what_it_should(shelf: Shelf) -> None:
    use_embedder(shelf, "other")
    expected = [scored.chunk.text for scored in shelf.knowledge.search("연차휴가", scope=EVERYTHING).chunks]
    shelf.close()
    between(shelf, shelf.sync)
    found = shelf.knowledge.search("연차휴가", scope=EVERYTHING)
    assert states(shelf) == ["active"]  # the old one has gone altogether
    assert [scored.chunk.text for scored in found.chunks] == expected
    assert found.degraded == ()
    assert found.verdict.decision != "none"


def test_a_search_in_whose_middle_its_document_is_replaced_finds_the_new_text(shelf: Shelf) -> None:
    shelf.write("leave.md", LEAVE.replace("15일", "16일"))
    between(shelf, shelf.sync)
    texts = [scored.chunk.text for scored in shelf.knowledge.search("연차휴가", scope=EVERYTHING).chunks]
    assert any("16일의 연차휴가" in text for text in texts)
    assert not any("15일의 연차휴가" in text for text in texts)


def test_every_search_while_generations_swap_finds_all_that_is_there(shelf: Shelf) -> None:
    for number in range(40):
        shelf.write(
            f"rule{number}.md", f"# 규정{number}\n\n## 제1조(한도)\n공통한도 항목{number}의 금액은 7만원이다.\n"
        )
    shelf.sync()
    knowledge, over, asked = shelf.knowledge, threading.Event(), threading.Event()
    seen: list[tuple[int, str]] = []

    def ask() -> None:
        while not over.is_set():
            found = knowledge.search("공통한도 금액", scope=EVERYTHING, top_k=8)
            seen.append((len({scored.chunk.text for scored in found.chunks}), found.verdict.decision))
            asked.set()

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    assert asked.wait(60)
    for name in ("other", "counting", "other"):
        knowledge._config.embedders["docs"] = (name,)  # type: ignore[index]
        knowledge.sync()
    over.set()
    for thread in asking:
        thread.join()
    assert {count for count, _ in seen} == {8}
    assert "none" not in {decision for _, decision in seen}
    assert states(shelf) == ["active"]
