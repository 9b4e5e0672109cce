"""A cross-encoder that is loaded: pairs of question and passage in, one number a pair out.

The forms are those of exports for ONNX: inputs `input_ids`, `attention_mask` and, for the BERT family,
`token_type_ids`; the first output has one column, or two of which the second one speaks for the passage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knowledge.embed.text import embeddable
from knowledge.errors import ModelMissing, ToolDown
from knowledge.rerank.onnx_folder import TOKENIZER, ModelFiles, ModelLimits, read_limits

if TYPE_CHECKING:
    from onnxruntime import RunOptions
    from tokenizers import Encoding, Tokenizer

_KNOWN_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_BATCH_TOKENS = 1024  # of the pairs that are computed at once, padding included: bounds memory and time
_QUESTION_SHARE = 2  # a question takes at most this part of the window, so that there is room for the passage
_MOST_CHARS_PER_TOKEN = 12  # what is longer is cut before it is tokenised
_SMALLEST_WINDOW = 32


class CrossEncoder:
    """One model and its tokenizer. Not to be used by two threads at once; what is computed is exact either way."""

    def __init__(self, files: ModelFiles, *, max_tokens: int, threads: int) -> None:
        """Loads both. Raises ModelMissing for files that are damaged or are no cross-encoder."""
        limits = read_limits(files)
        self.window = max(_SMALLEST_WINDOW, min(max_tokens, limits.tokens or max_tokens))
        self._tokenizer = _load_tokenizer(files, self.window)
        self._pad_id = _pad_id(self._tokenizer, limits)
        self._session = _load_session(files, threads)
        self._inputs = _inputs_of(self._session, files)
        self._prove(files)

    def score(self, query: str, passages: Sequence[str], *, options: Callable[[], RunOptions]) -> list[float]:
        """One number a passage, the logarithm of the odds that it answers the question.

        `options` is asked before each batch and may raise to end the work. Raises ToolDown.
        """
        question = self._cut(query, self.window // _QUESTION_SHARE)
        longest = self.window * _MOST_CHARS_PER_TOKEN
        pairs = [self._encoded(question, embeddable(passage[:longest])) for passage in passages]
        scores = [0.0] * len(pairs)
        for batch in _batches(pairs):
            values = self._run([pairs[place] for place in batch], options())
            for place, value in zip(batch, values, strict=True):
                scores[place] = value
        return scores

    def _prove(self, files: ModelFiles) -> None:
        """Raises ModelMissing when the model cannot score one word against itself, whatever the reason."""
        from onnxruntime import RunOptions

        try:
            self.score("a", ["a"], options=RunOptions)
        except ToolDown as error:
            raise ModelMissing(f"{error} ({files.name})") from error

    def _cut(self, query: str, tokens: int) -> str:
        """The beginning of the question, as long as it may be; the rest of the window belongs to the passage."""
        text = embeddable(query[: tokens * _MOST_CHARS_PER_TOKEN])
        self._tokenizer.no_truncation()
        try:
            encoded = self._encoded(text, add_special_tokens=False)
        finally:
            self._tokenizer.enable_truncation(self.window, strategy="only_second")
        return text if len(encoded.ids) <= tokens else text[: encoded.offsets[tokens - 1][1]]

    def _encoded(self, text: str, passage: str | None = None, *, add_special_tokens: bool = True) -> Encoding:
        """Raises ToolDown, for words that the vocabulary has no sign for."""
        try:
            return self._tokenizer.encode(text, passage, add_special_tokens=add_special_tokens)
        except Exception as error:  # nothing narrower: the library raises Exception itself
            raise ToolDown(
                f"The reranker's {TOKENIZER} cannot read a text: copy it again ({_first_line(error)})"
            ) from error

    def _run(self, pairs: Sequence[Encoding], options: RunOptions) -> list[float]:
        try:
            outputs = self._session.run(None, self._feeds(pairs), options)
        except _runtime_failures() as error:
            raise ToolDown(f"The reranker failed on a text: {_first_line(error)}") from error
        return _log_odds(np.asarray(outputs[0], dtype=np.float32), len(pairs))

    def _feeds(self, pairs: Sequence[Encoding]) -> dict[str, npt.NDArray[np.integer[Any]]]:
        longest = max(len(pair.ids) for pair in pairs)
        feeds = {}
        for name, kind in self._inputs.items():
            filler = self._pad_id if name == "input_ids" else 0
            feed = np.full((len(pairs), longest), filler, dtype=kind)
            for row, pair in enumerate(pairs):
                feed[row, : len(pair.ids)] = getattr(pair, _KNOWN_INPUTS[name])
            feeds[name] = feed
        return feeds


def _batches(pairs: Sequence[Encoding]) -> Iterator[list[int]]:
    """Places of pairs of about one length, so that little is padded, as many as may be computed at once."""
    order = sorted(range(len(pairs)), key=lambda place: -len(pairs[place].ids))
    start = 0
    while start < len(order):
        most = max(1, _BATCH_TOKENS // max(1, len(pairs[order[start]].ids)))
        yield order[start : start + most]
        start += most


def _log_odds(output: npt.NDArray[np.float32], rows: int) -> list[float]:
    """One number a row. Raises ToolDown for another form, or for values that are no numbers."""
    if output.shape[:1] != (rows,) or output.ndim > 2 or (output.ndim == 2 and output.shape[1] not in (1, 2)):
        raise ToolDown(
            f"The reranker gives {list(output.shape)} numbers for {rows} passages: it is no cross-encoder with one or "
            "two labels, choose another model"
        )
    if output.ndim == 2:
        output = output[:, 1] - output[:, 0] if output.shape[1] == 2 else output[:, 0]
    if not np.isfinite(output).all():
        raise ToolDown("The reranker gives values that are no numbers: use its model.onnx instead of a smaller form")
    return [float(value) for value in output]


def _load_tokenizer(files: ModelFiles, window: int) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        content = files.tokenizer.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelMissing(f"The reranker's {files.tokenizer} cannot be read: copy it again") from error
    try:
        tokenizer: Tokenizer = Tokenizer.from_str(content)
    except Exception as error:  # nothing narrower: the library raises Exception itself for bad content
        raise _damaged(files.tokenizer.name, files, error) from error
    tokenizer.no_padding()  # exports may pad everything to the whole window
    tokenizer.encode_special_tokens = True  # a text that spells "</s>" has no mark there
    tokenizer.enable_truncation(window, strategy="only_second")
    return tokenizer


def _load_session(files: ModelFiles, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it would keep the memory of the largest batch for good
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(files.model), options, providers=["CPUExecutionProvider"])
    except _runtime_failures() as error:
        raise _damaged(files.model.name, files, error) from error


def _runtime_failures() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: classes without a common base of their own."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return tuple(
        getattr(state, name)
        for name in (
            "EPFail", "EngineError", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoModel",
            "NoSuchFile", "NotFound", "NotImplemented", "RuntimeException",
        )
    )  # fmt: skip


def _inputs_of(session: Any, files: ModelFiles) -> dict[str, Any]:
    """Name -> number type of the inputs. Raises ModelMissing for one that no cross-encoder has."""
    found = {}
    for entry in session.get_inputs():
        if entry.name not in _KNOWN_INPUTS or entry.type not in _INTEGERS:
            raise ModelMissing(
                f"The reranker {files.name} asks for the input {entry.name} ({entry.type}), but a cross-encoder has "
                f"{', '.join(_KNOWN_INPUTS)} alone: export it for sequence classification"
            )
        found[entry.name] = _INTEGERS[entry.type]
    if "input_ids" not in found:
        raise ModelMissing(f"The reranker {files.name} has no input input_ids: export it for sequence classification")
    return found


def _pad_id(tokenizer: Tokenizer, limits: ModelLimits) -> int:
    if limits.pad_id is not None:
        return limits.pad_id
    known = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
    return next((number for number in known if number is not None), 0)


def _damaged(name: str, files: ModelFiles, error: Exception) -> ModelMissing:
    return ModelMissing(
        f"The reranker's file {name} in {files.tokenizer.parent} cannot be loaded: copy it again, with the files that "
        f"belong to it ({_first_line(error)})"
    )


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__
