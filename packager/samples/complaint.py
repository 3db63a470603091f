"""Parses ONNX Runtime's error for a sample: the failing node, the sizes it mentions, or an index out of range."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packager.core.values import Model
from packager.samples.flow import Flow

if TYPE_CHECKING:
    from onnx import NodeProto

MARK = "mobpack/"
"""prefix of node names during a search: `mobpack/17` is node 17 of the graph, counted from 0"""
NODE = re.compile(rf"{MARK}(\d+)")
DECLARED = re.compile(r"Got invalid dimensions for input: (.+?) for the following indices")
WANTED = re.compile(r"index: (\d+) Got: \d+ Expected: (\d+)")
OUT_OF_RANGE = ("out of data bounds", "must be within bounds", "invalid index found", "invalid indice found")
BOUND = re.compile(r"\[-?\d+ ?, ?(-?\d+) ?\]")
"""range of valid indices, both ends included"""
SOURCE = re.compile(r"\S+\.(?:cc|cpp|h):\d+")
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\d*[A-Za-z])")
MAX_SIZE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """An error of ONNX Runtime, parsed."""

    text: str
    node: int | None = None
    """index in the main graph; None if the error names no node"""
    declared: tuple[tuple[str, int, int], ...] = ()
    """input, axis and size that the model declares"""
    is_index: bool = False
    """whether an index is out of range"""
    bound: int | None = None
    """largest valid index, if stated"""
    sequence: tuple[int, ...] = ()
    """sizes in the error, in order"""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The distinct sizes."""
        return tuple(dict.fromkeys(self.sequence))


def complaint(text: str) -> Complaint:
    found = NODE.search(text)
    declared = DECLARED.search(text)
    message = SOURCE.sub("", NODE.sub("", text.partition("Status Message:")[2] or text))
    bound = BOUND.search(message)
    return Complaint(
        text=text,
        node=int(found.group(1)) if found else None,
        declared=tuple((declared.group(1), int(axis), int(size)) for axis, size in WANTED.findall(text))
        if declared
        else (),
        is_index=any(words in message for words in OUT_OF_RANGE),
        bound=int(bound.group(1)) if bound else None,
        sequence=tuple(int(each) for each in NUMBER.findall(message) if 0 < int(each) <= MAX_SIZE),
    )


def marked(graph: bytes) -> bytes:
    """A serialized ModelProto whose nodes are named by their index."""
    import onnx

    proto = onnx.ModelProto.FromString(graph)
    for index, node in enumerate(proto.graph.node):
        node.name = f"{MARK}{index}"
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def in_words(found: Complaint, flow: Flow, model: Model, shapes: Sequence[tuple[int, ...]]) -> str:
    """The error with the node's own name, and the inputs and dimensions that it depends on."""
    text = NODE.sub(lambda match: node_name(flow.nodes[int(match.group(1))]), found.text)
    if found.node is None:
        return text
    behind = flow.behind(flow.nodes[found.node].input)
    own = dict(zip((spec.name for spec in model.signature.inputs), shapes, strict=True))
    named = [
        f"'{spec.name}' {_dimensions(spec.shape, own[spec.name])}"
        for spec in model.signature.inputs
        if spec.name in behind
    ]
    return f"{text}; node '{node_name(flow.nodes[found.node])}' depends on {' and '.join(named)}" if named else text


def node_name(node: "NodeProto") -> str:
    """Its name, or its first output if it has none."""
    return node.name or f"{node.op_type} that gives {next((each for each in node.output if each), '')}"


def _dimensions(declared: tuple[int | str | None, ...], sizes: tuple[int, ...]) -> str:
    """`[1, height 64, ? 64]`: sizes of dynamic dimensions with their names."""
    each = [
        f"{size}" if isinstance(name, int) else f"{name or '?'}={size}"
        for name, size in zip(declared, sizes, strict=True)
    ]
    return f"[{', '.join(each)}]"
