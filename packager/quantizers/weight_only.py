"""Integer weights of matrices and tables, in blocks that share a scale; activations stay in float.

The form is that of onnxruntime.quantization's MatMulNBitsQuantizer: com.microsoft's MatMulNBits for a MatMul or Gemm,
GatherBlockQuantized for a table of embeddings. ONNX's own operators for either do not stay small in memory.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph.rewriting.blocks import BlockQuantizer
from packager.graph.rewriting.draft import MICROSOFT, Draft
from packager.graph.rewriting.embeddings import quantize_tables
from packager.graph.rewriting.layers import WeightedLayer, attribute, fit_layers

if TYPE_CHECKING:
    from onnx import NodeProto

Operator = Literal["MatMul", "Gemm", "Gather"]


@dataclass(frozen=True, kw_only=True)
class WeightOnly:
    NAME: ClassVar[str] = "weight-only"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["weight-only"] = "weight-only"
    """how the variant is made"""
    bits: Literal[4, 8] = 4
    """of a weight"""
    block_size: Literal[16, 32, 64, 128, 256] = 32
    """number of weights that share a scale: fewer are more precise and take more space"""
    operators: tuple[Operator, ...] = ("MatMul", "Gemm", "Gather")
    """operators to quantize"""
    accuracy_level: Literal[0, 1, 4] = 0
    """precision in which MatMulNBits multiplies: 0 leaves it to the runtime, 1 is float32, 4 is int8, which is
    faster"""
    exclude: tuple[str, ...] = ()
    """nodes, by name, that stay in float"""
    scales_from: Path | None = None
    """release before, or a file in its folder `scales`: scales that still fit are kept, which makes deltas between the
    two versions small; see docs/quantization.md"""

    def quantize(self, draft: Draft) -> None:
        draft.hoist_constants()
        writer = BlockQuantizer(draft=draft, bits=self.bits, block_size=self.block_size)
        matrices = [name for name in self.operators if name != "Gather"]
        layers = {layer.node.output[0]: layer for layer in fit_layers(draft, self.exclude, matrices)}
        nodes: list[NodeProto] = []
        for node in draft.graph.node:
            layer = layers.get(node.output[0]) if node.output else None
            if layer:
                nodes += self._matrix(draft, writer, layer)
            else:
                nodes.append(node)
                if node.op_type in ("Conv", "ConvTranspose", "LSTM", "GRU", "RNN"):
                    draft.leave(node, "there is no operator for it with weights in blocks")
        draft.replace_nodes(nodes)
        if any(node.domain == MICROSOFT for node in nodes):
            draft.import_opset(MICROSOFT)
        if "Gather" in self.operators:
            quantize_tables(draft, writer, self.exclude)
        draft.refuse_unchanged(self.exclude)

    def _matrix(self, draft: Draft, writer: BlockQuantizer, layer: WeightedLayer) -> "Iterator[NodeProto]":
        from onnx import helper

        node, value = layer.node, layer.value
        if len(draft.constants[layer.weight].dims) != 2:
            draft.leave(node, "its weights are more than one matrix", layer.name)
            yield node
            return
        draft.changed += 1
        is_gemm = node.op_type == "Gemm"
        if is_gemm and attribute(node, "transA", 0):
            value = draft.unique(f"{layer.name}_transposed")
            yield helper.make_node("Transpose", [layer.value], [value], draft.unique(f"{value}_node"), perm=[1, 0])
        level: dict[str, Any] = {"accuracy_level": self.accuracy_level} if self.accuracy_level else {}
        blocks = writer.matrix(layer.weight, is_transposed=bool(is_gemm and attribute(node, "transB", 0)))
        yield helper.make_node(
            "MatMulNBits",
            [value, blocks.name, blocks.scales, *(["", "", _flat(draft, layer.bias)] if layer.bias else [])],
            list(node.output),
            node.name,
            domain=MICROSOFT,
            K=blocks.rows,
            N=blocks.columns,
            bits=self.bits,
            block_size=self.block_size,
            **level,
        )


def _flat(draft: Draft, bias: str) -> str:
    """A bias with the one dimension that MatMulNBits requires."""
    if len(draft.constants[bias].dims) == 1:
        return bias
    return draft.add_large(f"{bias}_flat", draft.weight(bias).array().reshape(-1))
