"""Quantizes the constants of a draft: each once, however many nodes take it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from packager.graph.rewriting.draft import KEEP_INLINE_BYTES, Draft
from packager.graph.rewriting.layers import WeightedLayer, attribute
from packager.graph.rewriting.schemes import ActivationElement, Scheme, WeightElement
from packager.graph.weights.bias import quantize_bias, weight_scale_factors
from packager.graph.weights.groups import Groups, per_channel, per_tensor
from packager.graph.weights.quantizing import quantized, weight_parameters
from packager.graph.weights.reading import Weight
from packager.graph.weights.rounding import Element, Parameters, storage
from packager.graph.weights.streaming import CHUNK_ELEMENTS

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Quantized:
    """A quantized constant with its scale and zero point: names of constants of the draft."""

    name: str
    scale: str
    zero_point: str
    axis: int | None
    """of the scales; None if there is only one"""
    dequantized: str
    """name of the dequantized value; its first consumer adds the node that computes it"""
    parameters: Parameters


@dataclass
class WeightQuantizer:
    draft: Draft
    ranges: dict[tuple[str, WeightElement, int | None], Parameters] = field(default_factory=dict)
    """parameters of weights that were read"""
    made: dict[tuple[object, ...], Quantized] = field(default_factory=dict)

    def weight(self, layer: WeightedLayer, scheme: Scheme, activation_scale: float | None = None) -> Quantized:
        """The weight of `layer`. Given the scale of the activations, its scales are large enough for the bias to fit 32
        bits."""
        axis = layer.axis if scheme.is_per_channel else None
        parameters = self._parameters(layer.weight, scheme.weights, axis)
        if activation_scale is not None and layer.bias:
            bias = self.draft.weight(layer.bias).array().reshape(-1)
            factors = weight_scale_factors(bias, activation_scale, parameters.scale)
            if (factors > 1).any():
                scale = (parameters.scale * factors).astype(parameters.scale.dtype)
                parameters = replace(parameters, scale=scale)
        key = (layer.weight, scheme.weights, axis, parameters.scale.tobytes())
        if key not in self.made:
            self.made[key] = self._written(layer.weight, axis, parameters)
        return self.made[key]

    def matrix(self, layer: WeightedLayer, *, is_per_channel: bool) -> Quantized:
        """The weight of `layer` in int8, in the form of MatMulInteger and ConvInteger, with scales that the product can
        be multiplied with."""
        axis = layer.axis if is_per_channel else None
        is_transposed = bool(layer.node.op_type == "Gemm" and attribute(layer.node, "transB", 0))
        key = ("matrix", layer.weight, axis, is_transposed, layer.node.op_type == "Conv")
        if key in self.made:
            return self.made[key]
        parameters = self._parameters(layer.weight, "int8", axis)
        weight = self.draft.weight(layer.weight)
        chunks = self._chunks(weight, axis, parameters)
        if is_transposed:
            name = self._place_transposed(weight, chunks)
        else:
            name = self._place(weight, parameters.element, chunks)
        scale = parameters.scale
        if layer.node.op_type == "Conv" and scale.ndim:
            scale = scale.reshape([-1, *[1] * (len(weight.shape) - 2)])
        self.made[key] = Quantized(
            name=name,
            scale=self.draft.add(f"{layer.weight}_scale", scale),
            zero_point="",
            axis=axis,
            dequantized="",
            parameters=parameters,
        )
        return self.made[key]

    def bias(self, layer: WeightedLayer, weight: Quantized, activation_scale: float) -> Quantized:
        """The bias of `layer` in 32 bits, with the scale of the product with `weight`."""
        bias = self.draft.weight(layer.bias)
        found = quantize_bias(bias.array().reshape(-1), activation_scale, weight.parameters.scale, name=layer.bias)
        key = ("bias", layer.bias, found.parameters.scale.tobytes())
        if key not in self.made:
            name = self.draft.add_large(f"{layer.bias}_quantized", found.values)
            self.made[key] = self._named(layer.bias, name, found.parameters)
        return self.made[key]

    def operand(self, name: str, element: ActivationElement) -> Quantized:
        """A constant operand of an operator without weights, such as Add."""
        key = ("operand", name, element)
        if key not in self.made:
            weight = self.draft.weight(name)
            groups = per_tensor(weight.shape)
            own = weight_parameters(weight, groups, element, is_symmetric=False, threads=self.draft.threads)
            parameters = self.draft.scales.settled(f"operand:{name}", own)
            self.made[key] = self._written(name, None, parameters)
        return self.made[key]

    def _parameters(self, name: str, element: WeightElement, axis: int | None) -> Parameters:
        key = (name, element, axis)
        if key not in self.ranges:
            weight = self.draft.weight(name)
            own = weight_parameters(
                weight, _groups(weight, axis), element, is_symmetric=element == "int8", threads=self.draft.threads
            )
            along = "" if axis is None else f" along axis {axis}"
            self.ranges[key] = self.draft.scales.settled(f"weight{along}:{name}", own)
        return self.ranges[key]

    def _chunks(self, weight: Weight, axis: int | None, parameters: Parameters) -> Iterable[bytes]:
        return quantized(weight, _groups(weight, axis), parameters, threads=self.draft.threads)

    def _written(self, name: str, axis: int | None, parameters: Parameters) -> Quantized:
        weight = self.draft.weight(name)
        integers = self._place(weight, parameters.element, self._chunks(weight, axis, parameters))
        return self._named(name, integers, parameters, axis)

    def _named(self, name: str, integers: str, parameters: Parameters, axis: int | None = None) -> Quantized:
        axis = 0 if axis is None and parameters.scale.ndim else axis  # a bias lies along its only one
        return Quantized(
            name=integers,
            scale=self.draft.add(f"{name}_scale", parameters.scale),
            zero_point=self.draft.add(f"{name}_zero_point", parameters.zero_point),
            axis=axis,
            dequantized=self.draft.unique(f"{name}_dequantized"),
            parameters=parameters,
        )

    def _place_transposed(self, weight: Weight, chunks: Iterable[bytes]) -> str:
        """Like `_place` with int8, but transposed: holds the whole matrix, once."""
        import numpy
        from onnx import TensorProto

        integers, end = numpy.empty(weight.size, numpy.int8), 0
        for chunk in chunks:
            integers[end : end + len(chunk)] = numpy.frombuffer(chunk, numpy.int8)
            end += len(chunk)
        matrix, name = integers.reshape(weight.shape), f"{weight.name}_quantized"
        if weight.size < KEEP_INLINE_BYTES:
            return self.draft.add(name, matrix.T)
        return self.draft.add_chunks(name, TensorProto.INT8, weight.shape[::-1], _columns(matrix))

    def _place(self, weight: Weight, element: Element, chunks: Iterable[bytes]) -> str:
        """Adds the integers of `weight` to the file of weights as they come; small ones to the graph."""
        import numpy
        from onnx import helper

        kind = storage(element)
        name = f"{weight.name}_quantized"
        if weight.size * kind.itemsize < KEEP_INLINE_BYTES:
            return self.draft.add(name, numpy.frombuffer(b"".join(chunks), kind).reshape(weight.shape))
        return self.draft.add_chunks(name, helper.np_dtype_to_tensor_dtype(kind), weight.shape, chunks)


def _columns(integers: "NDArray[Any]") -> Iterator[memoryview]:
    """The matrix `integers` column by column."""
    import numpy

    rows, columns = integers.shape
    step = max(1, CHUNK_ELEMENTS // rows)
    for start in range(0, columns, step):
        yield numpy.ascontiguousarray(integers[:, start : start + step].T).data


def _groups(weight: Weight, axis: int | None) -> Groups:
    return per_tensor(weight.shape) if axis is None else per_channel(weight.shape, axis)
