"""The reranker behind an address: which form is spoken, what is sent again, what is told of each kind of trouble."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from knowledge.errors import ModelMissing, ToolDown
from knowledge.rerank.http import HttpReranker
from knowledge.rerank.http_forms import UnknownAnswer, forms_of, reason_of, scores_of
from tests.emulators.reranker import Failure, RerankServer, Style

QUESTION = "출장 여비"
PASSAGES = ["연차 휴가", "출장 여비 지급", "출장 보고"]
STYLES: list[Style] = ["tei", "llama", "vllm", "infinity", "cohere"]


@contextmanager
def asking(server: RerankServer, **settings: object) -> Iterator[HttpReranker]:
    settings.setdefault("model", server.model)
    settings.setdefault("timeout_s", 600.0)  # all the time that a busy machine needs
    with closing(HttpReranker(settings.pop("url", server.url), **settings)) as reranker:  # type: ignore[arg-type]
        yield reranker


# --- forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES)
def test_the_form_of_the_server_is_found_once_and_then_kept(style):
    with RerankServer(style=style) as server, asking(server) as reranker:
        first = reranker.score(QUESTION, PASSAGES)
        tried = len(server.received)
        second = reranker.score(QUESTION, PASSAGES)
        assert first == second
        assert len(server.received) == tried + 1
        assert tried <= 3


@pytest.mark.parametrize(
    ("style", "path"),
    [("tei", "/rerank"), ("llama", "/v1"), ("llama", "/reranking"), ("vllm", "/v2/rerank"), ("cohere", "/v2")],
)
def test_a_path_that_is_given_is_used(style, path):
    with RerankServer(style=style) as server, asking(server, url=f"{server.url}{path}") as reranker:
        assert len(reranker.score(QUESTION, PASSAGES)) == 3
        assert {request.path for request in server.received} == {path if "rerank" in path else f"{path}/rerank"}


def test_another_kind_of_server_at_the_same_address_is_understood_without_a_restart():
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        reranker.score(QUESTION, PASSAGES)
        port = server.port
    reranker.close()
    with RerankServer(style="tei", port=port):
        assert max(range(3), key=reranker.score(QUESTION, PASSAGES).__getitem__) == 1
    reranker.close()


def test_numbers_between_0_and_1_become_logarithms_of_odds_and_others_stay():
    answer = {"results": [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": 1.0}]}
    sure, half = scores_of(answer, 2)
    assert half == 0.0
    assert math.isfinite(sure)
    assert sure > 10
    assert scores_of([{"index": 0, "score": -3.5}, {"index": 1, "score": 0.5}], 2) == [-3.5, 0.5]


@pytest.mark.parametrize(
    "answer",
    [
        None, 5, "no", {}, {"results": None}, {"results": ["a"]}, [{"index": 0, "score": 1.0}],
        [{"index": 0, "score": 1.0}, {"index": 0, "score": 2.0}], [{"index": 0, "score": 1.0}, {"index": 5, "score": 2.0}],
        [{"index": 0, "score": 1.0}, {"index": 1, "score": "2"}], [{"index": 0, "score": 1.0}, {"index": 1, "score": True}],
        [{"index": 0, "score": 1.0}, {"index": 1, "score": float("nan")}], [{"index": 0}, {"index": 1}],
        [{"index": 0, "score": 1.0}, {"index": 1, "score": 2.0}, {"index": 1, "score": 2.0}],
    ],
)  # fmt: skip
def test_an_answer_that_does_not_score_each_passage_once_is_none(answer):
    with pytest.raises(UnknownAnswer):
        scores_of(answer, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"error": {"message": "no such model", "code": 404}}', "no such model"),
        ('{"error": "batch size 40 > 32", "error_type": "Validation"}', "batch size 40 > 32"),
        ('{"detail": [{"loc": ["body"], "msg": "Field required"}]}', "Field required"),
        ('{"detail": "Not Found"}', "Not Found"),
        ('{"message": "model is required"}', "model is required"),
        ("Failed to deserialize", "Failed to deserialize"),
        ("[]", "[]"),
        ("", ""),
    ],
)
def test_the_reason_is_found_in_every_form_of_error(text, reason):
    assert reason_of(text) == reason


def test_an_address_with_a_slash_at_its_end_is_the_same():
    assert forms_of("http://host:8080/") == forms_of("http://host:8080")


# --- what is sent ---------------------------------------------------------------------------------


def test_the_token_is_asked_for_at_each_request_so_that_a_new_one_is_used():
    tokens = ["old"]
    with RerankServer(style="vllm", token="new") as server, asking(server, token=lambda: tokens[-1]) as reranker:
        with pytest.raises(ToolDown, match=r"refuses the token \(status 401\): correct reranker\.token_env"):
            reranker.score(QUESTION, PASSAGES)
        tokens.append("new")
        assert len(reranker.score(QUESTION, PASSAGES)) == 3
        assert "new" not in reranker.check()


def test_long_texts_are_cut_before_they_are_sent():
    with RerankServer(style="vllm") as server, asking(server, max_tokens=64) as reranker:
        reranker.score("왜 " * 4000, ["긴 글 " * 10_000])
        body = server.received[-1].body
        assert len(body["documents"][0]) <= 64 * 4
        assert len(body["query"]) <= 64 * 2


@pytest.mark.parametrize("style", STYLES)
def test_a_server_that_finds_texts_too_long_gets_shorter_ones_from_then_on(style):
    with RerankServer(style=style, longest_chars=300) as server, asking(server) as reranker:
        passages = ["출장 여비 " + "가나다라 " * 400, "연차 " + "가나다라 " * 400]
        first, second = reranker.score(QUESTION, passages)
        assert first > second
        asked = len(server.received)
        reranker.score(QUESTION, passages)
        assert len(server.received) == asked + 1


def test_a_server_that_finds_everything_too_long_is_told_and_not_asked_for_ever():
    with RerankServer(style="llama", longest_chars=1) as server, asking(server) as reranker:
        with pytest.raises(ToolDown, match="failed with status 500: input is too large"):
            reranker.score(QUESTION, ["글 " * 4000])
        assert len(server.received) < 10


# --- trouble --------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [Failure(None), Failure(502), Failure(503, {"error": "loading"}), Failure(504)])
def test_what_passes_is_tried_a_second_time(failure):
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        reranker.score(QUESTION, PASSAGES)
        server.failures.append(failure)
        assert len(reranker.score(QUESTION, PASSAGES)) == 3
        server.failures.extend([failure, failure])
        with pytest.raises(ToolDown):
            reranker.score(QUESTION, PASSAGES)
        assert len(reranker.score(QUESTION, PASSAGES)) == 3


@pytest.mark.parametrize(
    ("failure", "kind", "says"),
    [
        (Failure(500, {"error": {"message": "out of memory"}}), ToolDown, "failed with status 500: out of memory"),
        (Failure(429, {"error": "overloaded"}), ToolDown, "allows no more requests for now"),
        (Failure(403, ""), ToolDown, "refuses the token"),
        (
            Failure(404, {"error": {"message": "The model `x` does not exist."}}),
            ModelMissing,
            "does not have the model",
        ),
        (Failure(200, "<html>"), ToolDown, "cannot be read .it is no JSON.: correct reranker.url"),
        (Failure(200, {"results": []}), ToolDown, "0 results for 3 passages"),
        (Failure(302, ""), ToolDown, "redirects"),
    ],
)
def test_trouble_is_told_with_what_to_do_and_the_next_search_asks_again(failure, kind, says):
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        reranker.score(QUESTION, PASSAGES)
        server.failures.extend([failure] * (4 if failure.status == 404 else 1))
        with pytest.raises(kind, match=says):
            reranker.score(QUESTION, PASSAGES)
        server.failures.clear()
        assert len(reranker.score(QUESTION, PASSAGES)) == 3


def test_what_has_no_such_route_is_told():
    with (
        RerankServer(style="vllm") as server,
        asking(server, url=f"{server.url}/other/rerank") as reranker,
        pytest.raises(ToolDown, match=r"has no /rerank \(status 404\): correct reranker\.url"),
    ):
        reranker.score(QUESTION, PASSAGES)


def test_secrets_in_what_a_server_says_are_masked():
    said = {"error": {"message": "bad key ghp_" + "a1B2" * 9}}
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        server.failures.append(Failure(500, said))
        with pytest.raises(ToolDown) as caught:
            reranker.score(QUESTION, PASSAGES)
    assert "a1B2a1B2" not in str(caught.value)


def test_what_stands_behind_the_question_mark_of_an_address_is_never_told():
    with (
        trickling([b"HTTP/1.1 501 X\r\nContent-Length: 0\r\n\r\n"]) as url,
        closing(HttpReranker(f"{url}/rerank?key=Zx81kPqw22", timeout_s=600.0)) as reranker,
        pytest.raises(ToolDown, match=r"/rerank failed with status 501") as caught,
    ):
        reranker.score(QUESTION, PASSAGES)
    assert "Zx81kPqw22" not in str(caught.value)


def test_a_server_that_cannot_be_reached_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with (
        closing(HttpReranker(url)) as reranker,
        pytest.raises(ToolDown, match=r"cannot be reached .*: start it, or correct reranker\.url"),
    ):
        reranker.score(QUESTION, PASSAGES)


def test_a_server_that_does_not_answer_ends_within_the_time_that_is_set():
    answering = threading.Event()
    with (
        RerankServer(style="vllm", before_answer=lambda: answering.wait(60) and None) as server,
        asking(server, timeout_s=0.2) as reranker,
    ):
        with pytest.raises(ToolDown, match=r"did not answer within 0\.2 s: .*raise reranker\.timeout_s"):
            reranker.score(QUESTION, PASSAGES)
        answering.set()


def test_an_answer_that_comes_drop_by_drop_ends_too():
    """Each drop comes in time, after the last one was read; the whole does not."""
    now_s = [0.0]
    read = threading.Semaphore(0)

    def clock() -> float:
        now_s[0] += 1.0
        read.release()
        return now_s[0]

    drops = [b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n ", *([b" "] * 200)]
    with (
        trickling(drops, before_each=lambda: read.acquire(timeout=60)) as url,
        closing(HttpReranker(url, timeout_s=30.0, monotonic_s=clock)) as reranker,
    ):
        with pytest.raises(ToolDown, match="did not answer within 30 s"):
            reranker.score(QUESTION, PASSAGES)
        read.release(1000)  # the server may end
    assert now_s[0] < 60


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'[{"index": 0, "score": ' + b"1" * 10_000 + b"}]",
        b'[{"index": 0, "score": ' + b"1" * 400 + b"}]",
        b'[{"index": false, "score": 1.0}]',
    ],
    ids=["brackets without end", "a number without end", "a number beyond all", "no index"],
)
def test_json_that_no_reader_takes_is_an_answer_that_cannot_be_read(body):
    with (
        trickling([b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body]) as url,
        closing(HttpReranker(f"{url}/rerank", timeout_s=600.0)) as reranker,
        pytest.raises(ToolDown, match="gives an answer that cannot be read"),
    ):
        reranker.score(QUESTION, PASSAGES[:1])


@pytest.mark.parametrize(
    ("body", "says"),
    [(b'{"error": "out of \\u001b[31m memory\\u0000"}', r"out of  \[31m memory $"), (b"[" * 5000, r"\[{300}$")],
    ids=["marks for terminals", "brackets without end"],
)
def test_what_a_server_says_of_a_failure_stays_one_line_of_text(body, says):
    with (
        trickling([b"HTTP/1.1 500 X\r\nContent-Length: %d\r\n\r\n" % len(body), body]) as url,
        closing(HttpReranker(f"{url}/rerank", timeout_s=600.0)) as reranker,
        pytest.raises(ToolDown, match=says),
    ):
        reranker.score(QUESTION, PASSAGES[:1])


def test_an_answer_that_never_ends_fills_no_memory():
    drops = [b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n", *([b"x" * 1_000_000] * 6)]
    with (
        trickling(drops) as url,
        closing(HttpReranker(url, timeout_s=30.0)) as reranker,
        pytest.raises(ToolDown, match="answers with more than 4000000 bytes"),
    ):
        reranker.score(QUESTION, PASSAGES)


@contextmanager
def trickling(drops: list[bytes], *, before_each: Callable[[], object] = lambda: None) -> Iterator[str]:
    """A server that gives every request these pieces, one by one."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    for drop in drops:
                        before_each()
                        connection.sendall(drop)
                    connection.recv(65536)  # until the other side has had enough
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    thread.join(10)


# --- check ----------------------------------------------------------------------------------------


def test_a_server_that_works_is_asked_whether_it_is_there_and_nothing_is_scored():
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        reranker.score(QUESTION, PASSAGES)
        asked = len(server.received)
        assert "last time" in reranker.check()
        assert len(server.received) == asked


@pytest.mark.parametrize(("health", "is_well"), [(200, True), (404, True), (401, True), (500, False), (503, False)])
def test_what_answers_to_a_look_is_there_unless_it_says_that_it_is_not(health, is_well):
    with RerankServer(style="cohere") as server, asking(server) as reranker:
        reranker.score(QUESTION, PASSAGES)
        server.health = health
        if is_well:
            assert reranker.check()
        else:
            with pytest.raises(ToolDown, match=f"failed with status {health}"):
                reranker.check()


def test_a_kept_connection_that_the_server_has_closed_is_no_trouble():
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        for ask in (reranker.check, lambda: reranker.score(QUESTION, PASSAGES)):
            reranker.score(QUESTION, PASSAGES)
            for connection in list(server.connections):
                connection.shutdown(socket.SHUT_RDWR)
            assert ask()


def test_a_server_that_was_never_asked_or_failed_last_is_tried_with_one_word_of_no_document():
    with RerankServer(style="vllm") as server, asking(server) as reranker:
        assert reranker.check() == f"The reranker {server.model} at {server.url}"
        assert server.received[-1].body["documents"] == ["probe"]
        server.failures.append(Failure(500))
        with pytest.raises(ToolDown):
            reranker.score(QUESTION, PASSAGES)
        assert reranker.check()
        assert server.received[-1].body["documents"] == ["probe"]


def test_requests_from_several_threads_at_once_each_get_their_own_answer():
    with RerankServer(style="tei") as server, asking(server) as reranker:
        from concurrent.futures import ThreadPoolExecutor

        questions = [f"출장 {n}" for n in range(20)]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda q: reranker.score(q, [f"출장 {n}" for n in range(20)]), questions))
    assert [max(range(20), key=scores.__getitem__) for scores in found] == list(range(20))
