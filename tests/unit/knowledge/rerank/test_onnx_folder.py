"""Which files of a folder are taken for a cross-encoder, and what is said of a folder that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from knowledge.errors import ModelMissing
from knowledge.rerank.onnx_folder import find_model, read_limits

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 2270000000\n"


def lay_out(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["model.onnx"], "model.onnx"),
        (["onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_fp16.onnx"], "onnx/model.onnx"),
        (["onnx/model_quantized.onnx", "onnx/model_q4.onnx"], "onnx/model_quantized.onnx"),
        (["onnx/model_int8.onnx"], "onnx/model_int8.onnx"),
        (["onnx/model_qint8_avx512_vnni.onnx"], "onnx/model_qint8_avx512_vnni.onnx"),
        (["bge-reranker.onnx"], "bge-reranker.onnx"),  # whatever its name, when it is the only one
        (["model.onnx", "model.onnx_data"], "model.onnx"),
    ],
)
def test_the_usual_layouts_are_found(tmp_path, names, chosen):
    folder = lay_out(tmp_path / "bge", *names, "tokenizer.json")
    files = find_model(folder)
    assert files.model == folder / chosen
    assert files.tokenizer == folder / "tokenizer.json"
    assert files.name == f"bge/{Path(chosen).name}"


@pytest.mark.parametrize("tokenizer", ["tokenizer.json", "onnx/tokenizer.json"])
def test_a_file_that_is_named_is_taken_with_the_tokenizer_of_its_folder_or_the_one_above(tmp_path, tokenizer):
    folder = lay_out(tmp_path / "bge", "onnx/model.onnx", "onnx/model_uint8.onnx", tokenizer)
    files = find_model(folder / "onnx" / "model_uint8.onnx")
    assert (files.model.name, files.tokenizer) == ("model_uint8.onnx", folder / tokenizer)
    assert files.name == "bge/model_uint8.onnx"


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ([], "is not there"),
        (["tokenizer.json"], "has no model.onnx, neither itself nor in onnx/"),
        (["model.onnx"], "has no tokenizer.json"),
        (["a.onnx", "b.onnx", "tokenizer.json"], "has several models (a.onnx, b.onnx)"),
        (["pytorch_model.bin", "tokenizer.json"], "export the model for ONNX"),
    ],
)
def test_what_is_missing_is_named_with_the_folder_and_what_to_do(tmp_path, names, says):
    with pytest.raises(ModelMissing) as caught:
        find_model(lay_out(tmp_path / "bge", *names))
    assert says in str(caught.value)
    assert str(tmp_path / "bge") in str(caught.value)
    assert ":" in str(caught.value)  # what to do follows


def test_a_named_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelMissing, match=r"model_int8\.onnx is not there.*correct reranker\.model"):
        find_model(tmp_path / "bge" / "model_int8.onnx")


@pytest.mark.parametrize(
    ("content", "says"), [(POINTER, "pointer of Git LFS: run `git lfs pull`"), ("", "is empty: copy it again")]
)
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "model.onnx_data"])
def test_a_file_that_only_stands_for_the_real_one_is_told(tmp_path, name, content, says):
    folder = lay_out(tmp_path / "bge", "model.onnx", "tokenizer.json")
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(ModelMissing) as caught:
        find_model(folder)
    assert says in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize("changed", ["model.onnx", "model.onnx_data", "tokenizer.json"])
def test_files_that_change_are_other_files(tmp_path, changed):
    folder = lay_out(tmp_path / "bge", "model.onnx", "model.onnx_data", "tokenizer.json")
    before = find_model(folder)
    assert find_model(folder) == before
    (folder / changed).write_text("other content", encoding="utf-8")
    assert find_model(folder) != before


@pytest.mark.parametrize(
    ("config", "tokenizer_config", "tokens", "pad_id"),
    [
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}, {}, 512, 1),
        ({"model_type": "bert", "max_position_embeddings": 512, "pad_token_id": 0}, {"model_max_length": 512}, 512, 0),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 8194}, {"model_max_length": 8192}, 8192, None),
        ({"max_position_embeddings": 8192}, {"model_max_length": 1000000000000000019884624838656}, 8192, None),
        ({}, {"model_max_length": 1024}, 1024, None),
        ({"max_position_embeddings": "many", "pad_token_id": None}, {}, None, None),
        ({"pad_token_id": -1}, {}, None, None),
        ({"pad_token_id": 10**30}, {}, None, None),
    ],
)
def test_the_window_and_the_padding_come_from_the_files_beside_the_model(
    tmp_path, config, tokenizer_config, tokens, pad_id
):
    folder = lay_out(tmp_path / "bge", "onnx/model.onnx", "tokenizer.json")
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config), encoding="utf-8")
    limits = read_limits(find_model(folder))
    assert (limits.tokens, limits.pad_id) == (tokens, pad_id)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "[" * 200_000, "\udcff".encode("utf-8", "surrogateescape").decode("latin-1")]
)
def test_damaged_files_beside_the_model_say_nothing(tmp_path, content):
    folder = lay_out(tmp_path / "bge", "model.onnx", "tokenizer.json")
    (folder / "config.json").write_text(content, encoding="utf-8")
    assert read_limits(find_model(folder)).tokens is None
