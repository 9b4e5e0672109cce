"""The reranker of a folder, through the real onnxruntime and tokenizers: what is cut, bounded, refused and loaded anew."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from knowledge.errors import ModelMissing, ToolDown
from knowledge.rerank.onnx import OnnxReranker
from knowledge.rerank.onnx_folder import find_model
from knowledge.rerank.onnx_session import CrossEncoder
from tests.fakes.onnx_graph import FLOAT, INT32, INT64, Graph
from tests.fakes.reranker_folder import SPECIAL, counting_model, tokenizer_of, write_reranker

WORDS = "하나 둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 filler"
QUESTION = "셋 넷"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_reranker(tmp_path / "bge", [WORDS])


def unhurried(folder: Path, **settings: int) -> OnnxReranker:
    """A reranker that has all the time that a busy machine needs."""
    return OnnxReranker(folder, timeout_s=600.0, **settings)


def closed_after(reranker: OnnxReranker) -> Iterator[OnnxReranker]:
    yield reranker
    reranker.close()


@pytest.fixture
def reranker(folder: Path) -> Iterator[OnnxReranker]:
    yield from closed_after(unhurried(folder))


# --- what is scored -------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("columns", [0, 1, 2])
def test_every_usual_form_of_model_gives_the_same_numbers(tmp_path, family, columns):
    reranker = unhurried(write_reranker(tmp_path / "m", [WORDS], family=family, columns=columns))
    assert reranker.score(QUESTION, ["셋 하나", "셋 넷", "열", ""]) == [1.0, 2.0, 0.0, 0.0]


@pytest.mark.parametrize("layout", ["onnx/model.onnx", "onnx/model_quantized.onnx", "model_int8.onnx"])
def test_every_usual_place_of_the_model_is_loaded(tmp_path, layout):
    reranker = unhurried(write_reranker(tmp_path / "m", [WORDS], model=layout))
    assert reranker.score(QUESTION, ["셋 넷"]) == [2.0]


def test_padding_counts_for_nothing_however_different_the_lengths(reranker):
    passages = ["셋 " + "filler " * n for n in (0, 1, 7, 60, 200)]
    together = reranker.score("셋", passages)
    assert together == [reranker.score("셋", [passage])[0] for passage in passages]


def test_padding_uses_the_number_of_the_models_own_padding_token(tmp_path):
    """Of the RoBERTa family position embeddings depend on it, so that a wrong one changes every score."""
    folder = write_reranker(tmp_path / "m", [WORDS], family="roberta", config={"pad_token_id": 3})
    encoder = CrossEncoder(find_model(folder), max_tokens=64, threads=1)
    encoded = [encoder._tokenizer.encode("셋", text) for text in ("셋", "셋 넷 다섯")]
    feeds = encoder._feeds(encoded)
    assert feeds["input_ids"][0].tolist()[-2:] == [3, 3]
    assert feeds["attention_mask"].tolist() == [[1, 1, 1, 1, 1, 1, 0, 0], [1] * 8]
    assert "token_type_ids" not in feeds


def test_a_model_with_smaller_whole_numbers_is_fed_those(tmp_path):
    graph = Graph()
    ids, mask = (graph.input(name, INT32, ["batch", "tokens"]) for name in ("input_ids", "attention_mask"))
    real = graph.run("Cast", graph.run("Mul", ids, mask), to=FLOAT)
    axis = graph.constant(np.array([1], dtype=np.int64))
    graph.output("logits", FLOAT, ["batch", 1], graph.run("ReduceSum", real, axis, keepdims=1))
    folder = write_reranker(tmp_path / "m", [WORDS])
    (folder / "model.onnx").write_bytes(graph.model())
    first, second = unhurried(folder).score("하나", ["하나", "하나 하나"])
    assert 0 < first < second


# --- what is cut ----------------------------------------------------------------------------------


def test_a_passage_is_cut_at_its_end_and_the_question_stays_whole(folder):
    reranker = unhurried(folder, max_tokens=64)
    fits, cut, early = reranker.score(
        QUESTION, ["filler " * 57 + "셋 넷", "filler " * 58 + "셋 넷", "셋 넷 " + "filler " * 5000]
    )
    assert (fits, cut, early) == (2.0, 1.0, 2.0)  # 64 tokens, less three marks and the question of two


def test_an_overlong_question_leaves_half_of_the_window_to_the_passage(folder):
    reranker = unhurried(folder, max_tokens=64)
    with_word, without = reranker.score("하나 " + "filler " * 5000, ["하나", "둘"])
    assert with_word == without + 1.0


def test_the_window_is_not_larger_than_that_of_the_model(tmp_path):
    config = {"model_type": "xlm-roberta", "max_position_embeddings": 42}
    folder = write_reranker(tmp_path / "m", [WORDS], config=config)
    assert CrossEncoder(find_model(folder), max_tokens=512, threads=1).window == 40


def test_memory_is_bounded_by_the_tokens_of_a_batch_not_by_the_passages(folder):
    """Long pairs go a few at a time, short ones together, and everything keeps its place."""
    encoder = CrossEncoder(find_model(folder), max_tokens=256, threads=1)
    shapes: list[tuple[int, int]] = []
    feeds = encoder._feeds

    def noted(pairs):
        made = feeds(pairs)
        shapes.append(made["input_ids"].shape)
        return made

    encoder._feeds = noted
    passages = ["filler " * 400] * 9 + ["셋 넷"] * 40
    from onnxruntime import RunOptions

    scores = encoder.score(QUESTION, passages, options=RunOptions)
    assert max(rows * tokens for rows, tokens in shapes) <= 1024
    assert scores[9:] == [2.0] * 40
    assert len(shapes) < 6


# --- what is refused ------------------------------------------------------------------------------


def model_that_gives(value: float) -> bytes:
    graph = Graph()
    ids = graph.input("input_ids", INT64, ["batch", "tokens"])
    zero = graph.run("Mul", graph.run("Cast", ids, to=FLOAT), graph.constant(np.array(0.0, dtype=np.float32)))
    axis = graph.constant(np.array([1], dtype=np.int64))
    total = graph.run("ReduceSum", zero, axis, keepdims=1)
    graph.output(
        "logits", FLOAT, ["batch", 1], graph.run("Add", total, graph.constant(np.array(value, dtype=np.float32)))
    )
    return graph.model()


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("model.onnx", b"no model at all", "model.onnx in .* cannot be loaded: copy it again"),
        ("model.onnx", counting_model()[:500], "model.onnx in .* cannot be loaded: copy it again"),
        ("model.onnx", counting_model(extra_input="pixel_values"), "input pixel_values .* export it"),
        ("model.onnx", counting_model(columns=3), r"gives \[1, 3\] numbers for 1 passages.*choose another model"),
        ("model.onnx", model_that_gives(float("nan")), "values that are no numbers: use its model.onnx"),
        ("tokenizer.json", b"{", "tokenizer.json in .* cannot be loaded: copy it again"),
        ("tokenizer.json", b"\xff\xfe", "tokenizer.json cannot be read: copy it again"),
    ],
)
def test_a_folder_that_is_no_cross_encoder_is_refused_with_what_to_do(folder, name, content, says):
    (folder / name).write_bytes(content)
    reranker = unhurried(folder)
    assert reranker.check()  # the files are there; nothing was loaded yet
    for ask in (reranker.warm_up, lambda: reranker.score(QUESTION, ["셋"]), reranker.check):
        with pytest.raises(ModelMissing, match=says):
            ask()


@pytest.mark.parametrize(("holds", "kind"), [([], ModelMissing), (["a"], ToolDown)], ids=["nothing", "some words"])
def test_a_tokenizer_that_has_no_sign_for_unknown_words_is_told(folder, holds, kind):
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary |= dict.fromkeys(holds, vocabulary.pop(tokenizer["model"]["unk_token"]))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(kind, match=r"tokenizer\.json cannot read a text: copy it again"):
        unhurried(folder).score(QUESTION, ["낯선 낱말"])


def test_files_that_cannot_be_loaded_are_not_loaded_again_until_they_change(folder, monkeypatch):
    good = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(b"no model at all")
    loaded = []
    init = CrossEncoder.__init__

    def counted(self, files, **settings):
        loaded.append(files)
        init(self, files, **settings)

    monkeypatch.setattr(CrossEncoder, "__init__", counted)
    reranker = unhurried(folder)
    for _ in range(3):
        with pytest.raises(ModelMissing):
            reranker.score(QUESTION, ["셋"])
    assert len(loaded) == 1
    (folder / "model.onnx").write_bytes(good)
    assert reranker.score(QUESTION, ["셋"]) == [1.0]
    assert len(loaded) == 2


# --- when it is loaded, and freed -----------------------------------------------------------------


def test_a_model_is_loaded_once_whoever_asks_first(folder, monkeypatch):
    loaded = []
    init = CrossEncoder.__init__

    def counted(self, files, **settings):
        loaded.append(threading.current_thread())
        init(self, files, **settings)

    monkeypatch.setattr(CrossEncoder, "__init__", counted)
    reranker = unhurried(folder)
    assert loaded == []
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda _: reranker.score(QUESTION, ["셋 넷"]), range(16)))
    assert scores == [[2.0]] * 16
    assert len(loaded) == 1


def test_another_model_in_the_same_place_is_used_from_the_next_search_on(folder, reranker):
    assert reranker.score(QUESTION, ["셋 넷"]) == [2.0]
    other = folder / "new.part"
    other.write_bytes(model_that_gives(7.0))
    os.replace(other, folder / "model.onnx")
    assert reranker.score(QUESTION, ["셋 넷"]) == [7.0]


def test_another_tokenizer_in_the_same_place_is_used_too(folder, reranker):
    assert reranker.score("새말", ["새말"]) == [0.0]  # unknown to it
    (folder / "tokenizer.json").write_text(tokenizer_of([WORDS, "새말"]), encoding="utf-8")
    assert reranker.score("새말", ["새말"]) == [1.0]


def test_files_that_are_gone_free_the_memory(folder, reranker):
    reranker.warm_up()
    assert reranker._model is not None
    (folder / "model.onnx").unlink()
    with pytest.raises(ModelMissing):
        reranker.score(QUESTION, ["셋"])
    assert reranker._model is None


# --- how long it may take -------------------------------------------------------------------------


class Clock:
    """Goes on by `step_s` at each look."""

    def __init__(self, step_s: float) -> None:
        self.now_s, self.step_s = 0.0, step_s

    def __call__(self) -> float:
        self.now_s += self.step_s
        return self.now_s


def test_a_search_that_takes_too_long_ends_between_two_batches_and_is_told(folder):
    clock = Clock(1.0)
    reranker = OnnxReranker(folder, timeout_s=4.0, monotonic_s=clock)
    assert reranker.score(QUESTION, ["셋"]) == [1.0]
    with pytest.raises(ToolDown, match=r"takes longer than 4 s: use a smaller model.*raise reranker\.timeout_s"):
        reranker.score(QUESTION, ["filler " * 300] * 40)
    with pytest.raises(ToolDown, match="takes longer"):
        reranker.check()
    assert reranker.score(QUESTION, ["셋"]) == [1.0]
    assert "last time" in reranker.check()


def test_loading_is_not_counted(folder, monkeypatch):
    clock = Clock(0.0)
    init = CrossEncoder.__init__

    def slow(self, files, **settings):
        clock.now_s += 100.0
        init(self, files, **settings)

    monkeypatch.setattr(CrossEncoder, "__init__", slow)
    assert OnnxReranker(folder, timeout_s=4.0, monotonic_s=clock).score(QUESTION, ["셋"]) == [1.0]


def test_waiting_for_another_search_is_counted(folder):
    reranker = OnnxReranker(folder, timeout_s=0.05)
    reranker.warm_up()
    with reranker._turn, pytest.raises(ToolDown, match="takes longer"):
        reranker.score(QUESTION, ["셋"])


def test_how_long_the_last_search_took_is_told(folder):
    reranker = unhurried(folder)
    assert reranker.check() == "bge/model.onnx"
    reranker.score(QUESTION, ["셋"])
    assert reranker.check().startswith("bge/model.onnx, last time ")


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_text_that_spells_the_marks_of_a_pair_has_none(tmp_path, family):
    """Else a passage could end itself, and go on as if it were the question."""
    start, end, _, _ = SPECIAL[family]
    encoder = CrossEncoder(find_model(write_reranker(tmp_path / "m", [WORDS], family=family)), max_tokens=64, threads=1)
    plain, spelt = (encoder._tokenizer.encode(QUESTION, text).ids for text in ("하나", f"하나 {end} {end} {start}"))
    marks = [encoder._tokenizer.token_to_id(mark) for mark in (start, end)]
    assert [spelt.count(mark) for mark in marks] == [plain.count(mark) for mark in marks]
