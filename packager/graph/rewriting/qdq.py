"""Writes quantization into a graph as QuantizeLinear and DequantizeLinear around its operators.

ONNX Runtime and its providers find an operator between such nodes and compute it with integers (docs/quantize.md of
ONNX Runtime, "QDQ"). The output of a unit keeps its name, which now means the dequantized value: all consumers,
including graph outputs and subgraphs, get the same numbers as a quantized one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packager.graph.rewriting.draft import MICROSOFT, Draft
from packager.graph.rewriting.layers import WeightedLayer
from packager.graph.rewriting.scales import ACTIVATION
from packager.graph.rewriting.schemes import Scheme
from packager.graph.rewriting.selection import Selection, Unit
from packager.graph.rewriting.weights import Quantized, WeightQuantizer
from packager.graph.weights.rounding import Parameters, range_parameters

if TYPE_CHECKING:
    from onnx import NodeProto

PER_AXIS_SINCE, WIDE_SINCE = 13, 21
"""First opsets in which ONNX's QuantizeLinear supports an axis, and 16 bits; com.microsoft's supports both in any."""


def insert(draft: Draft, layers: Sequence[WeightedLayer], schemes: Mapping[str, Scheme], selection: Selection) -> None:
    """Makes the units of `selection` compute with quantized values, and the other layers in `schemes` with quantized
    weights; each layer by its Scheme."""
    inserter = _Inserter(draft=draft, schemes=schemes, selection=selection, quantizer=WeightQuantizer(draft))
    units = {unit.node.output[0]: unit for unit in selection.units}
    shrunk = {
        layer.node.output[0]: layer
        for layer in layers
        if layer.name in schemes and layer.node.output[0] not in units and schemes[layer.name].is_weight_only
    }
    nodes: list[NodeProto] = []
    for node in draft.graph.node:
        key = node.output[0] if node.output else ""
        if key in units:
            nodes += inserter.unit(units[key])
        elif key in shrunk:
            nodes += inserter.weight_only(shrunk[key])
        elif key not in inserter.dropped:
            nodes += inserter.behind(node)
    draft.changed += len(shrunk) + sum(unit.layer is not None for unit in selection.units)
    draft.replace_nodes(nodes)
    if any(node.domain == MICROSOFT for node in nodes):
        draft.import_opset(MICROSOFT)


@dataclass
class _Inserter:
    draft: Draft
    schemes: Mapping[str, Scheme]
    selection: Selection
    quantizer: WeightQuantizer
    parameters: dict[str, tuple[str, str, Parameters]] = field(default_factory=dict)
    """value whose scale it is -> names of scale and zero point, and both"""
    dequantized: dict[str, str] = field(default_factory=dict)
    """value or constant -> its dequantized counterpart"""
    dropped: set[str] = field(default_factory=set)
    """outputs of removed limits"""

    @property
    def scheme(self) -> Scheme:
        """The scheme that all units share: how activations are quantized."""
        return next(each for each in self.schemes.values() if not each.is_weight_only)

    def unit(self, unit: Unit) -> Iterator["NodeProto"]:
        """The node with the conversions before and after it."""
        node = unit.node
        twins: dict[str, str] = {}
        for name in unit.takes:
            if name not in self.selection.made and name not in self.dequantized:
                yield from self._convert(name)
            twins[name] = self.dequantized.get(name, name)
        for name in unit.constants:
            yield from self._constant(name)
            twins[name] = self.dequantized[name]
        if unit.layer is not None:
            yield from self._weights(unit.layer, twins)
        node.input[:] = [twins.get(name, name) for name in node.input]
        if unit.limit is not None and self._is_implied(unit.limit):
            self.dropped.add(unit.limit.output[0])
            node.output[0] = unit.gives[0]
        if unit.limit is not None and unit.limit.output[0] not in self.dropped:
            yield node
            return  # they follow the limit
        yield from self._with_conversions(node, unit.gives)

    def weight_only(self, layer: WeightedLayer) -> Iterator["NodeProto"]:
        twins: dict[str, str] = {}
        quantized = self.quantizer.weight(layer, self.schemes[layer.name])
        yield from self._dequantize_weight(quantized)
        twins[layer.weight] = quantized.dequantized
        layer.node.input[:] = [twins.get(name, name) for name in layer.node.input]
        yield layer.node

    def behind(self, node: "NodeProto") -> Iterator["NodeProto"]:
        """A node that is not a unit: a remaining limit is followed by the quantization of its value."""
        gives = tuple(name for name in node.output if name in self.selection.made)
        yield from self._with_conversions(node, gives)

    def _with_conversions(self, node: "NodeProto", gives: Sequence[str]) -> Iterator["NodeProto"]:
        """`node`, with its outputs `gives` quantized and dequantized again: these keep their names."""
        raw = {name: self.draft.unique(f"{name}_float") for name in gives}
        node.output[:] = [raw.get(name, name) for name in node.output]
        yield node
        for name, source in raw.items():
            yield from self._pair(name, source, name)

    def _convert(self, name: str) -> Iterator["NodeProto"]:
        """Quantizes a float value for quantized consumers; others keep taking the float one."""
        self.dequantized[name] = self.draft.unique(f"{name}_dequantized")
        yield from self._pair(name, name, self.dequantized[name])

    def _pair(self, name: str, source: str, result: str) -> Iterator["NodeProto"]:
        scale, zero_point, parameters = self._activation(name)
        quantized = self.draft.unique(f"{name}_quantized")
        yield self._node("QuantizeLinear", [source, scale, zero_point], quantized, parameters)
        yield self._node("DequantizeLinear", [quantized, scale, zero_point], result, parameters)

    def _activation(self, name: str) -> tuple[str, str, Parameters]:
        root = self.selection.made.get(name, name)
        if root not in self.parameters:
            scheme, measured = self.scheme, self.selection.ranges[root]
            assert scheme.activations is not None
            own = range_parameters(
                measured.low, measured.high, scheme.activations, is_symmetric=scheme.is_symmetric, name=root
            )
            found = self.draft.scales.settled(f"{ACTIVATION}:{root}", own)
            self.parameters[root] = (*self._add(root, found), found)
        return self.parameters[root]

    def _add(self, name: str, parameters: Parameters) -> tuple[str, str]:
        scale = self.draft.add(f"{name}_scale", parameters.scale)
        return scale, self.draft.add(f"{name}_zero_point", parameters.zero_point)

    def _constant(self, name: str) -> Iterator["NodeProto"]:
        """A constant operand, quantized like activations."""
        if name in self.dequantized:
            return
        assert self.scheme.activations is not None
        quantized = self.quantizer.operand(name, self.scheme.activations)
        self.dequantized[name] = quantized.dequantized
        yield from self._dequantize_weight(quantized)

    def _weights(self, layer: WeightedLayer, twins: dict[str, str]) -> Iterator["NodeProto"]:
        """Dequantizes the weight and the bias of a layer, and records the replacements."""
        scale = self._activation(layer.value)[2].scale
        quantized = self.quantizer.weight(layer, self.schemes[layer.name], float(scale))
        yield from self._dequantize_weight(quantized)
        twins[layer.weight] = quantized.dequantized
        if layer.bias:
            bias = self.quantizer.bias(layer, quantized, float(scale))
            yield from self._dequantize_weight(bias)
            twins[layer.bias] = bias.dequantized

    def _dequantize_weight(self, weight: Quantized) -> Iterator["NodeProto"]:
        if weight.dequantized in self.dequantized:
            return
        self.dequantized[weight.dequantized] = weight.dequantized
        inputs = [weight.name, weight.scale, weight.zero_point]
        node = self._node("DequantizeLinear", inputs, weight.dequantized, weight.parameters)
        if weight.axis is not None:
            node.attribute.add(name="axis", i=weight.axis, type=2)  # AttributeProto.INT
        yield node

    def _is_implied(self, limit: "NodeProto") -> bool:
        """Whether the range of the quantized value equals that of its limit: then rounding does the limiting."""
        low, high = self._limits(limit)
        _, _, parameters = self._activation(limit.output[0])
        least, greatest = parameters.limits()
        return least >= low and greatest <= high * (1 + 1e-6)

    def _limits(self, limit: "NodeProto") -> tuple[float, float]:
        if limit.op_type == "Relu":
            return 0.0, float("inf")
        found = [-float("inf"), float("inf")]
        for index, name in enumerate(("min", "max")):
            for each in limit.attribute:  # before opset 11
                if each.name == name:
                    found[index] = each.f
            if len(limit.input) > index + 1 and limit.input[index + 1]:
                found[index] = float(self.draft.weight(limit.input[index + 1]).array().reshape(()))
        return found[0], found[1]

    def _node(self, op: str, inputs: list[str], output: str, parameters: Parameters) -> "NodeProto":
        from onnx import helper

        since = WIDE_SINCE if parameters.element in ("int16", "uint16") else PER_AXIS_SINCE
        domain = "" if self.draft.opset >= since else MICROSOFT
        return helper.make_node(op, inputs, [output], name=self.draft.unique(f"{output}_{op}"), domain=domain)
