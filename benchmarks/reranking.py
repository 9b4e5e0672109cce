"""What a cross-encoder in a folder costs a question: milliseconds for 20 passages, loading, memory; JSON lines.

    python benchmarks/reranking.py [--size minilm base] [--max-tokens 128 256 512] [--threads 1 2] [--passages 20]

The models have random weights and the sizes of real ones: `minilm` those of mmarco-mMiniLMv2-L12-H384 (12 layers of
384), `base` those of bge-reranker-base and jina-reranker-v2-base-multilingual (12 layers of 768). Their vocabulary is
smaller, which changes the memory (noted as `vocabulary`) and not the time. Passages are longer than the window, which
is the worst case. On a busy machine compare `score_cpu`, the time of all processors together.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from knowledge.rerank.onnx import OnnxReranker
from tests.fakes.onnx_graph import FLOAT, INT64, Graph
from tests.fakes.reranker_folder import tokenizer_of

SIZES = {"tiny": (2, 64, 2), "minilm": (12, 384, 12), "base": (12, 768, 12)}  # layers, width, heads
WORDS = [f"w{number}" for number in range(8000)]
REPEATS = 5


def main() -> None:
    """Measures each combination in a process of its own, so that memory is that of one model."""
    options = _options()
    if options.folder is not None:
        _measure(Path(options.folder), options)
        return
    for size in options.size:
        with tempfile.TemporaryDirectory() as folder:
            write_model(Path(folder), size)
            for max_tokens in options.max_tokens:
                for threads in options.threads:
                    command = [sys.executable, __file__, "--folder", folder, "--size", size]
                    command += ["--max-tokens", str(max_tokens), "--threads", str(threads)]
                    command += ["--passages", str(options.passages)]
                    subprocess.run(command, check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", nargs="+", choices=SIZES, default=["minilm", "base"])
    parser.add_argument("--max-tokens", nargs="+", type=int, default=[128, 256, 512])
    parser.add_argument("--threads", nargs="+", type=int, default=[2])
    parser.add_argument("--passages", type=int, default=20)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


def write_model(folder: Path, size: str) -> None:
    """A folder with a tokenizer of whole words and a transformer of that size with random weights."""
    layers, width, heads = SIZES[size]
    (folder / "tokenizer.json").write_text(tokenizer_of(WORDS), encoding="utf-8")
    (folder / "model.onnx").write_bytes(transformer(layers, width, heads, vocabulary=len(WORDS) + 4))


def transformer(layers: int, width: int, heads: int, *, vocabulary: int) -> bytes:
    """An encoder as BERT's: attention, two dense layers with GELU, each behind a sum and a normalisation."""
    graph, random = Graph(), np.random.default_rng(7)

    def weights(*shape: int) -> str:
        return graph.constant((random.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32))

    def vector(value: float) -> str:
        return graph.constant(np.full(width, value, dtype=np.float32))

    def dense(value: str, rows: int, columns: int) -> str:
        return graph.run("Add", graph.run("MatMul", value, weights(rows, columns)), weights(columns))

    def normalised(value: str) -> str:
        return graph.run("LayerNormalization", value, vector(1.0), vector(0.0), axis=-1)

    ids = graph.input("input_ids", INT64, ["batch", "tokens"])
    mask = graph.input("attention_mask", INT64, ["batch", "tokens"])
    graph.input("token_type_ids", INT64, ["batch", "tokens"])
    hidden = normalised(graph.run("Gather", weights(vocabulary, width), ids))
    outside = graph.run("Sub", graph.run("Cast", mask, to=FLOAT), graph.constant(np.array(1.0, dtype=np.float32)))
    bias = graph.run("Mul", outside, graph.constant(np.array(10_000.0, dtype=np.float32)))
    bias = graph.run("Unsqueeze", bias, graph.constant(np.array([1, 2], dtype=np.int64)))
    split = graph.constant(np.array([0, 0, heads, width // heads], dtype=np.int64))
    joined = graph.constant(np.array([0, 0, width], dtype=np.int64))
    scale = graph.constant(np.array(1.0 / math.sqrt(width / heads), dtype=np.float32))
    half, one, root = (graph.constant(np.array(n, dtype=np.float32)) for n in (0.5, 1.0, math.sqrt(2.0)))

    for _ in range(layers):
        query, key, value = (graph.run("Reshape", dense(hidden, width, width), split) for _ in range(3))
        query, value = (graph.run("Transpose", one_of, perm=[0, 2, 1, 3]) for one_of in (query, value))
        key = graph.run("Transpose", key, perm=[0, 2, 3, 1])
        attention = graph.run("Add", graph.run("Mul", graph.run("MatMul", query, key), scale), bias)
        mixed = graph.run("MatMul", graph.run("Softmax", attention, axis=-1), value)
        mixed = graph.run("Reshape", graph.run("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
        hidden = normalised(graph.run("Add", hidden, dense(mixed, width, width)))
        inner = dense(hidden, width, 4 * width)
        curve = graph.run("Add", graph.run("Erf", graph.run("Div", inner, root)), one)
        inner = graph.run("Mul", graph.run("Mul", inner, half), curve)
        hidden = normalised(graph.run("Add", hidden, dense(inner, 4 * width, width)))
    first = graph.run("Gather", hidden, graph.constant(np.array(0, dtype=np.int64)), axis=1)
    graph.output("logits", FLOAT, ["batch", 1], dense(first, width, 1))
    return graph.model()


def _measure(folder: Path, options: argparse.Namespace) -> None:
    (size,), (max_tokens,), (threads,) = options.size, options.max_tokens, options.threads
    told = {"benchmark": "reranking", "size": size, "max_tokens": max_tokens, "threads": threads}
    told |= {"passages": options.passages, "vocabulary": len(WORDS)}
    reranker = OnnxReranker(folder, max_tokens=max_tokens, threads=threads, timeout_s=600.0)
    started = time.perf_counter()
    reranker.warm_up()
    _print(told, "load", round((time.perf_counter() - started) * 1000), "ms")
    random = np.random.default_rng(11)
    times, cpu_times, scores = [], [], []
    for _ in range(REPEATS):
        passages = [" ".join(random.choice(WORDS, size=2 * max_tokens)) for _ in range(options.passages)]
        started, started_cpu = time.perf_counter(), time.process_time()
        scores = reranker.score(" ".join(random.choice(WORDS, size=12)), passages)
        times.append((time.perf_counter() - started) * 1000)
        cpu_times.append((time.process_time() - started_cpu) * 1000)
    assert len(set(scores)) == options.passages, "every passage has a score of its own"
    _print(told, "score_p50", round(float(np.percentile(times, 50))), "ms")
    _print(told, "score_cpu", round(float(np.percentile(cpu_times, 50))), "ms")
    _print(told, "score_max", round(max(times)), "ms")
    _print(told, "resident", round(_memory_mib("VmRSS")), "MiB")
    _print(told, "resident_peak", round(_memory_mib("VmHWM")), "MiB")


def _print(told: dict[str, object], figure: str, value: float, unit: str) -> None:
    print(json.dumps({**told, "figure": figure, "value": value, "unit": unit}), flush=True)


def _memory_mib(name: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/self/status names no {name}: memory is measured on Linux only")


if __name__ == "__main__":
    main()
