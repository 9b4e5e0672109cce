"""A small cross-encoder as a folder: it counts the words of the question that the passage holds, by the real libraries.

The passage begins behind the first end mark, in either family; marks and padding count nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import numpy as np

from tests.fakes.onnx_graph import FLOAT, INT64, Graph

Family = Literal["bert", "roberta"]
Columns = Literal[0, 1, 2, 3]  # 0: the numbers stand in a row

SPECIAL: dict[Family, tuple[str, str, str, str]] = {
    "bert": ("[CLS]", "[SEP]", "[PAD]", "[UNK]"),
    "roberta": ("<s>", "</s>", "<pad>", "<unk>"),
}
_WORD = re.compile(r"\w+|[^\w\s]")


def write_reranker(
    folder: Path,
    texts: Iterable[str],
    *,
    family: Family = "bert",
    columns: Columns = 1,
    model: str = "model.onnx",
    config: dict[str, object] | None = None,
) -> Path:
    """The folder, with a tokenizer that knows the words of `texts` and the model beside it."""
    (folder / model).parent.mkdir(parents=True, exist_ok=True)
    (folder / model).write_bytes(counting_model(family=family, columns=columns))
    (folder / "tokenizer.json").write_text(tokenizer_of(texts, family=family), encoding="utf-8")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def tokenizer_of(texts: Iterable[str], *, family: Family = "bert") -> str:
    """A tokenizer.json of whole words, with the special tokens and the pair template of the family."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    start, end, pad, unknown = SPECIAL[family]
    special = [pad, start, end, unknown]
    words = sorted({word for text in texts for word in _WORD.findall(text.lower())} - set(special))
    vocabulary = {token: number for number, token in enumerate([*special, *words])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    pair = f"{start} $A {end} $B:1 {end}:1" if family == "bert" else f"{start} $A {end} {end} $B {end}"
    tokenizer.post_processor = TemplateProcessing(
        single=f"{start} $A {end}", pair=pair, special_tokens=[(start, 1), (end, 2)]
    )
    tokenizer.add_special_tokens(special)
    tokenizer.enable_padding(pad_id=0, pad_token=pad, length=512)  # as some exports do
    return str(tokenizer.to_str())


def counting_model(*, family: Family = "bert", columns: Columns = 1, extra_input: str | None = None) -> bytes:
    """The model; of the BERT family it has `token_type_ids`, too."""
    graph = Graph()
    ids = graph.input("input_ids", INT64, ["batch", "tokens"])
    mask = graph.input("attention_mask", INT64, ["batch", "tokens"])
    words = graph.run("Greater", ids, graph.constant(np.array(3, dtype=np.int64)))  # no special tokens
    real = graph.run("Mul", graph.run("Cast", mask, to=FLOAT), graph.run("Cast", words, to=FLOAT))
    if family == "bert":
        types = graph.input("token_type_ids", INT64, ["batch", "tokens"])
        typed = graph.run("Cast", types, to=FLOAT)
        real = graph.run("Add", real, graph.run("Mul", typed, graph.constant(np.array(0.0, dtype=np.float32))))
    if extra_input is not None:
        graph.input(extra_input, INT64, ["batch", "tokens"])
    last, middle = (graph.constant(np.array([axis], dtype=np.int64)) for axis in (2, 1))
    ends = graph.run("Cast", graph.run("Equal", ids, graph.constant(np.array(2, dtype=np.int64))), to=FLOAT)
    seen = graph.run("CumSum", ends, graph.constant(np.array(1, dtype=np.int64)))
    is_passage = graph.run("Greater", seen, graph.constant(np.array(0.5, dtype=np.float32)))
    passage = graph.run("Mul", real, graph.run("Cast", is_passage, to=FLOAT))
    question = graph.run("Sub", real, passage)
    equal = graph.run("Equal", graph.run("Unsqueeze", ids, last), graph.run("Unsqueeze", ids, middle))
    held = graph.run("Mul", graph.run("Cast", equal, to=FLOAT), graph.run("Unsqueeze", passage, middle))
    found = graph.run("Mul", graph.run("ReduceMax", held, axes=[2], keepdims=0), question)
    shared = graph.run("ReduceSum", found, middle, keepdims=0)
    if columns == 0:
        graph.output("logits", FLOAT, ["batch"], shared)
        return graph.model()
    score = graph.run("Unsqueeze", shared, middle)
    if columns > 1:
        none = graph.run("Mul", score, graph.constant(np.array(0.0, dtype=np.float32)))
        score = graph.run("Concat", *[none] * (columns - 1), score, axis=1)
    graph.output("logits", FLOAT, ["batch", columns], score)
    return graph.model()
