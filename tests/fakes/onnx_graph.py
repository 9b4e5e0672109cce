"""Writes models in the ONNX format: the few messages of its protobuf schema that small graphs need.

Field numbers are those of onnx.proto (IR version 8, operators of version 17).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FLOAT, INT32, INT64, FLOAT16 = 1, 6, 7, 10
_TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int32): INT32, np.dtype(np.int64): INT64}
Attribute = int | float | Sequence[int]


@dataclass
class Graph:
    """A graph that grows: every operation gives the name of its only output."""

    inputs: list[bytes] = field(default_factory=list)
    outputs: list[bytes] = field(default_factory=list)
    nodes: list[bytes] = field(default_factory=list)
    constants: list[bytes] = field(default_factory=list)
    count: int = 0

    def input(self, name: str, kind: int, shape: Sequence[str | int]) -> str:
        self.inputs.append(_value_info(name, kind, shape))
        return name

    def output(self, name: str, kind: int, shape: Sequence[str | int], value: str) -> None:
        self.nodes.append(_node("Identity", [value], name, {}))
        self.outputs.append(_value_info(name, kind, shape))

    def constant(self, value: npt.NDArray[np.generic]) -> str:
        name = self._next("constant")
        dims = b"".join(_number(1, size) for size in value.shape)
        tensor = dims + _number(2, _TYPES[value.dtype]) + _text(8, name) + _bytes(9, value.tobytes())
        self.constants.append(tensor)
        return name

    def run(self, operator: str, *inputs: str, **attributes: Attribute) -> str:
        name = self._next(operator)
        self.nodes.append(_node(operator, inputs, name, attributes))
        return name

    def model(self) -> bytes:
        graph = b"".join(
            (
                *(_bytes(1, node) for node in self.nodes),
                _text(2, "graph"),
                *(_bytes(5, constant) for constant in self.constants),
                *(_bytes(11, value) for value in self.inputs),
                *(_bytes(12, value) for value in self.outputs),
            )
        )
        return _number(1, 8) + _text(2, "tests") + _bytes(7, graph) + _bytes(8, _number(2, 17))

    def _next(self, word: str) -> str:
        self.count += 1
        return f"{word}_{self.count}"


def _node(operator: str, inputs: Sequence[str], output: str, attributes: Mapping[str, Attribute]) -> bytes:
    named = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(3, output) + _text(4, operator)
    return named + b"".join(_bytes(5, _attribute(name, value)) for name, value in attributes.items())


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _key(2, 5) + np.float32(value).tobytes() + _number(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + b"".join(_number(8, item) for item in value) + _number(20, 7)


def _value_info(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(_bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def _number(field_number: int, value: int) -> bytes:
    return _key(field_number, 0) + _varint(value % (1 << 64))


def _text(field_number: int, value: str) -> bytes:
    return _bytes(field_number, value.encode())


def _bytes(field_number: int, value: bytes) -> bytes:
    return _key(field_number, 2) + _varint(len(value)) + value


def _key(field_number: int, wire_type: int) -> bytes:
    return _varint(field_number << 3 | wire_type)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
