"""Which files of a folder make a cross-encoder, as exports for ONNX lay them out, and what their own settings say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowledge.errors import ModelMissing

# The plain export first, since it is the most faithful one; then the smaller ones. Other names are taken when the
# folder holds no second one; and a setting may name the file itself.
MODEL_NAMES = (
    "model.onnx",
    "model_optimized.onnx",
    "model_O2.onnx",
    "model_O3.onnx",
    "model_fp16.onnx",
    "model_quantized.onnx",
    "model_int8.onnx",
    "model_uint8.onnx",
    "model_qint8_avx512_vnni.onnx",
    "model_quint8_avx2.onnx",
    "model_q4.onnx",
)
TOKENIZER = "tokenizer.json"
_FOLDERS = ("", "onnx")
_LFS_POINTER = b"version https://git-lfs"
_MOST_TOKENS = 1_000_000  # a tokenizer without a limit of its own names a huge number
_MOST_IDS = 2**31  # of tokens: models count them in numbers of 32 bits, some of 64
_POSITIONS_BEFORE_FIRST = 2  # of the RoBERTa family: positions are counted from the number of the padding token on

FileState = tuple[str, int, int, int]  # path, inode, bytes, time of the last change in ns


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """The files of one cross-encoder. Two that are equal are the same files in the same state."""

    name: str
    model: Path
    tokenizer: Path
    state: tuple[FileState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimits:
    """What the files beside the model say of it."""

    tokens: int | None  # of question and passage together; None when nothing is said
    pad_id: int | None
    pad_type_id: int = 0


def find_model(place: Path) -> ModelFiles:
    """The files in a folder, or those of one ".onnx" file in it. Reads only their beginnings.

    Raises ModelMissing, which names what is missing and what to do.
    """
    model, folder = _model_of(place)
    tokenizer = next((path for path in _tokenizer_places(model, folder) if path.is_file()), None)
    if tokenizer is None:
        raise ModelMissing(
            f"The reranker's folder {folder} has no {TOKENIZER}: copy it there from where {model.name} comes from"
        )
    beside = sorted(path for path in model.parent.glob(f"{model.name}*") if path != model)  # weights kept apart
    states = []
    for path in (model, tokenizer, *beside):
        try:
            states.append(_state_of(path))
        except OSError as error:
            raise ModelMissing(
                f"The reranker's file {path} cannot be read ({error.strerror}): mend its rights"
            ) from error
    return ModelFiles(name=f"{folder.name}/{model.name}", model=model, tokenizer=tokenizer, state=tuple(states))


def read_limits(files: ModelFiles) -> ModelLimits:
    """The window and the padding of the model, as far as config.json and tokenizer_config.json say it."""
    config = _beside(files, "config.json")
    said = [_window(config), _beside(files, "tokenizer_config.json").get("model_max_length")]
    windows = [int(value) for value in said if isinstance(value, int | float) and 0 < value < _MOST_TOKENS]
    pad_id = config.get("pad_token_id")
    is_id = type(pad_id) is int and 0 <= pad_id < _MOST_IDS
    return ModelLimits(tokens=min(windows, default=None), pad_id=pad_id if is_id else None)


def _model_of(place: Path) -> tuple[Path, Path]:
    """The model's file and the folder of all files."""
    if place.suffix == ".onnx":
        if not place.is_file():
            raise ModelMissing(f"The reranker's model {place} is not there: copy it there, or correct reranker.model")
        return place, place.parent.parent if place.parent.name == "onnx" else place.parent
    if not place.is_dir():
        raise ModelMissing(
            f"The reranker's folder {place} is not there: copy model.onnx and {TOKENIZER} there, or correct "
            "reranker.model"
        )
    for folder in _FOLDERS:
        for name in MODEL_NAMES:
            if (place / folder / name).is_file():
                return place / folder / name, place
    others = sorted(path for folder in _FOLDERS for path in (place / folder).glob("*.onnx"))
    if len(others) == 1:
        return others[0], place
    if others:
        names = ", ".join(str(path.relative_to(place)) for path in others)
        raise ModelMissing(f"The reranker's folder {place} has several models ({names}): name one in reranker.model")
    raise ModelMissing(
        f"The reranker's folder {place} has no model.onnx, neither itself nor in onnx/: export the model for ONNX, or "
        "copy the file there"
    )


def _tokenizer_places(model: Path, folder: Path) -> tuple[Path, ...]:
    return folder / TOKENIZER, model.parent / TOKENIZER


def _state_of(path: Path) -> FileState:
    """Raises OSError, and ModelMissing for a file that only stands for the real one."""
    found = path.stat()
    with path.open("rb") as file:
        beginning = file.read(len(_LFS_POINTER))
    if not beginning:
        raise ModelMissing(f"The reranker's file {path} is empty: copy it again")
    if beginning == _LFS_POINTER:
        raise ModelMissing(f"The reranker's file {path} is only a pointer of Git LFS: run `git lfs pull` in its folder")
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns


def _beside(files: ModelFiles, name: str) -> Mapping[str, Any]:
    """A JSON file beside the tokenizer; one that is missing or damaged says nothing."""
    try:
        said = json.loads((files.tokenizer.parent / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _window(config: Mapping[str, Any]) -> int | None:
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int):
        return None
    family = str(config.get("model_type", "")).lower()
    return positions - _POSITIONS_BEFORE_FIRST if "roberta" in family or family == "camembert" else positions
