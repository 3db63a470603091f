"""Integer weights; activations are quantized as the model runs, with scales of the moment: no calibration.

The form is that of onnxruntime.quantization.quantize_dynamic, which ONNX Runtime fuses when it loads it
(DynamicQuantizeMatMul, MatMulIntegerToFloat): DynamicQuantizeLinear, MatMulInteger or ConvInteger, Cast, Mul.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph.rewriting.blocks import TABLE_BLOCK, BlockQuantizer
from packager.graph.rewriting.draft import MICROSOFT, Draft
from packager.graph.rewriting.embeddings import quantize_tables
from packager.graph.rewriting.layers import EXCLUDED, WEIGHTED, WeightedLayer, attribute, fit_layers, is_excluded
from packager.graph.rewriting.recurrent import quantized_lstm
from packager.graph.rewriting.weights import WeightQuantizer

if TYPE_CHECKING:
    from onnx import NodeProto

Operator = Literal["MatMul", "Gemm", "Conv", "LSTM", "Gather"]
SINCE_OPSET = 11
"""First opset with DynamicQuantizeLinear."""
SLOW = {
    "Conv": "an integer Conv with dynamic scales is slower than a float one",
    **dict.fromkeys(("ConvTranspose", "GRU", "RNN"), "there is no operator for it with dynamic scales"),
}
"""Operator with weights -> why it stays in float."""


@dataclass(frozen=True, kw_only=True)
class Dynamic:
    NAME: ClassVar[str] = "dynamic"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["dynamic"] = "dynamic"
    """how the variant is made"""
    operators: tuple[Operator, ...] = ("MatMul", "Gemm", "LSTM", "Gather")
    """operators to quantize. `Conv` only if named: it made MobileNetV2 eight times slower than float"""
    per_channel: bool = True
    """one scale for every output channel of a weight, instead of one for all"""
    exclude: tuple[str, ...] = ()
    """nodes, by name, that stay in float"""
    scales_from: Path | None = None
    """release before, or a file in its folder `scales`: scales that still fit are kept, which makes deltas between the
    two versions small; see docs/quantization.md"""

    def quantize(self, draft: Draft) -> None:
        draft.hoist_constants()
        draft.refuse_older(SINCE_OPSET, self.NAME)
        writer = _Writer(draft=draft, quantizer=WeightQuantizer(draft), is_per_channel=self.per_channel)
        layers = fit_layers(draft, self.exclude, [name for name in self.operators if name in WEIGHTED])
        by_output = {layer.node.output[0]: layer for layer in layers}
        nodes: list[NodeProto] = []
        for node in draft.graph.node:
            layer = by_output.get(node.output[0]) if node.output else None
            if layer:
                nodes += writer.layer(layer)
            elif node.op_type == "LSTM" and "LSTM" in self.operators and not is_excluded(node, self.exclude):
                nodes.append(quantized_lstm(draft, node) or node)
            else:
                nodes.append(node)
                self._leave(draft, node)
        draft.replace_nodes(nodes)
        if "Gather" in self.operators:
            quantize_tables(draft, BlockQuantizer(draft=draft, bits=8, block_size=TABLE_BLOCK), self.exclude)
        if any(node.domain == MICROSOFT for node in nodes):
            draft.import_opset(MICROSOFT)
        draft.refuse_unchanged(self.exclude)

    def _leave(self, draft: Draft, node: "NodeProto") -> None:
        """Records why a node with weights is not among the layers to quantize."""
        if node.op_type == "LSTM" and is_excluded(node, self.exclude):
            draft.leave(node, EXCLUDED)
        elif node.op_type in SLOW and node.op_type not in self.operators:
            draft.leave(node, SLOW[node.op_type])


@dataclass
class _Writer:
    draft: Draft
    quantizer: WeightQuantizer
    is_per_channel: bool
    activations: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """value -> its quantized counterpart, scale and zero point"""

    def layer(self, layer: WeightedLayer) -> Iterator["NodeProto"]:
        """Nodes that compute the same as the node of `layer`, with integers in between."""
        self.draft.changed += 1
        node, value = layer.node, layer.value
        if node.op_type == "Gemm" and attribute(node, "transA", 0):
            value = self.draft.unique(f"{layer.name}_transposed")
            yield self._node("Transpose", [layer.value], value, perm=[1, 0])
        yield from self._quantized(value)
        quantized, scale, zero_point = self.activations[value]
        weight = self.quantizer.matrix(layer, is_per_channel=self.is_per_channel)
        product = self.draft.unique(f"{node.output[0]}_integer")
        if node.op_type == "Conv":
            multiply = self._node("ConvInteger", [quantized, weight.name, zero_point], product)
            multiply.attribute.extend(node.attribute)
        else:
            multiply = self._node("MatMulInteger", [quantized, weight.name, zero_point], product)
        yield multiply
        yield from self._scaled(layer, product, scale, weight.scale)

    def _quantized(self, value: str) -> Iterator["NodeProto"]:
        if value not in self.activations:
            names = [self.draft.unique(f"{value}_{part}") for part in ("quantized", "scale", "zero_point")]
            quantized, scale, zero_point = names
            self.activations[value] = (quantized, scale, zero_point)
            node = self._node("DynamicQuantizeLinear", [value], quantized)
            node.output.extend([scale, zero_point])
            yield node

    def _scaled(self, layer: WeightedLayer, product: str, scale: str, weight_scale: str) -> Iterator["NodeProto"]:
        """float(product) * (scale * weight_scale) + bias"""
        (output,) = layer.node.output
        number, factor = (self.draft.unique(f"{output}_{part}") for part in ("float", "factor"))
        yield self._node("Cast", [product], number, to=1)  # TensorProto.FLOAT
        yield self._node("Mul", [scale, weight_scale], factor)
        scaled = self.draft.unique(f"{output}_scaled") if layer.bias else output
        yield self._node("Mul", [number, factor], scaled)
        if layer.bias:
            yield self._node("Add", [scaled, self._bias(layer)], output)

    def _bias(self, layer: WeightedLayer) -> str:
        """The bias; that of a Conv is reshaped to broadcast over the dimensions after its channels."""
        if layer.node.op_type != "Conv":
            return layer.bias
        bias = self.draft.weight(layer.bias).array()
        rank = len(self.draft.constants[layer.weight].dims)
        return self.draft.add(f"{layer.bias}_spread", bias.reshape([-1, *[1] * (rank - 2)]))

    def _node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> "NodeProto":
        from onnx import helper

        return helper.make_node(op, inputs, [output], name=self.draft.unique(f"{output}_{op}"), **attributes)
