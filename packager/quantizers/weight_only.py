"""Integer weights of matrices and tables, in blocks that share a scale; activations stay in float.

The form is that of onnxruntime.quantization's MatMulNBitsQuantizer: com.microsoft's MatMulNBits for a MatMul or Gemm,
GatherBlockQuantized for a table of embeddings. ONNX's own operators for either do not stay small in memory.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from packager.core.errors import ConfigError, SettingError
from packager.core.strict_tables import STRICT
from packager.graph.rewriting.blocks import BlockQuantizer
from packager.graph.rewriting.draft import MICROSOFT, Draft
from packager.graph.rewriting.embeddings import tables_of, with_tables
from packager.graph.rewriting.layers import WeightedLayer, attribute, fit_layers, inner_layer, is_excluded, is_named
from packager.graph.rewriting.widening import Matrix, widened
from packager.graph.traversal import nodes_in
from packager.quantizers.quantizer import Calibration, CalibrationKey

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

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
    method: Literal["round", "gptq"] | None = None
    """`gptq` chooses integers with which the products with the calibration's inputs change least, `round` the nearest
    ones; default: `gptq` with a calibration"""
    calibration: CalibrationKey | None = None
    """samples for `gptq`: for a model of texts, 50 to 200 texts of the kind that it will work with"""
    symmetric: bool = False
    """without zero points: they make 4-bit matrices more precise and 2 to 3 % larger"""
    eight_bits: tuple[str, ...] = ()
    """nodes, by name, whose weights take 8 bits instead of 4"""
    max_size_mb: float | None = None
    """size of the file in MB (10^6 bytes) to fill: matrices that lose the most in 4 bits take 8 while it is not
    exceeded"""
    scales_from: Path | None = None
    """release before, or a file in its folder `scales`: scales that still fit are kept, which makes deltas between the
    two versions small; see docs/quantization.md"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.method == "gptq" and self.calibration is None:
            raise SettingError("method 'gptq' needs a calibration", hint='add calibration = "samples/"')
        if self.max_size_mb is not None and self.bits == 8:
            raise SettingError("max-size-mb chooses between 4 and 8 bits", hint="remove bits = 8")
        if self.calibration and self.calibration.method != Calibration.method:
            ignored = f"calibration.method '{self.calibration.method}' would be ignored"
            raise SettingError(ignored, hint="weight-only needs no ranges: remove it")

    @property
    def is_calibrated(self) -> bool:
        """Whether it needs the inputs that samples give its matrices."""
        return self.calibration is not None and self.method != "round"

    def widths(self, draft: Draft) -> Mapping[str, int]:
        """The inputs of its matrices, whose moments it needs, and the numbers in a row of each."""
        draft.hoist_constants()
        found = fit_layers(draft, self.exclude, self._matrices) if self.is_calibrated else []
        return {
            each.value: draft.constants[each.weight].dims[-1 if _is_turned(each.node, "transB") else 0]
            for each in found
            if len(draft.constants[each.weight].dims) == 2 and not _is_turned(each.node, "transA")
        }

    @property
    def _matrices(self) -> list[str]:
        return [name for name in self.operators if name != "Gather"]

    def quantize(self, draft: Draft) -> None:
        draft.hoist_constants()
        draft.hoist_inner()
        draft.refuse_unknown(self.eight_bits, "eight-bits")
        layers = {
            layer.node.output[0]: layer for layer in fit_layers(draft, self.exclude, self._matrices, leaves_inner=False)
        }
        named = [node for node in nodes_in(draft.graph.node) if is_named(node, self.eight_bits)]
        wide = {name for node in named for name in node.input}
        if self.max_size_mb is not None:
            wide |= self._widened(draft, wide, self.max_size_mb * 1e6)
        writer = BlockQuantizer(
            draft=draft,
            bits=self.bits,
            block_size=self.block_size,
            is_symmetric=self.symmetric,
            wide=wide,
            tables=tables_of(draft) if "Gather" in self.operators else (),
        )
        for graph in draft.inner_graphs():
            _refill(graph, self._rewritten(draft, writer, graph.node, lambda node: self._inner(draft, node)))
        draft.replace_nodes(self._rewritten(draft, writer, draft.graph.node, lambda node: layers.get(node.output[0])))
        if "Gather" in self.operators:
            for graph in draft.inner_graphs():
                _refill(graph, with_tables(draft, writer, graph.node, self.exclude))
            draft.replace_nodes(with_tables(draft, writer, draft.graph.node, self.exclude))
        if draft.changed:
            draft.import_opset(MICROSOFT)
        draft.refuse_unchanged(self.exclude)

    def _widened(self, draft: Draft, wide: Collection[str], size_bytes: float) -> set[str]:
        """Constants that take 8 bits, too. Raises ConfigError if the file has no room for all of them in 4."""
        tables = tables_of(draft) if "Gather" in self.operators else set()
        nodes = [
            node
            for node in nodes_in(draft.graph.node)
            if node.op_type in self.operators and not is_excluded(node, self.exclude)
        ]
        read = {node.input[0 if node.op_type == "Gather" else 1] for node in nodes}
        sizes = {name: draft.weight(name) for name in draft.constants}
        small = {name for name, found in sizes.items() if name in read and len(found.shape) == 2 and found.is_float}
        graph = draft.proto.ByteSize() - sum(len(each.raw_data) for each in draft.constants.values())
        others = sum(found.size_bytes for name, found in sizes.items() if name not in small)
        least = graph + others + sum(sizes[name].size * self._bits_each(name in wide) / 8 for name in small)
        if least > size_bytes:
            raise ConfigError(
                f"max-size-mb {size_bytes / 1e6:g}: the file takes about {least / 1e6:.1f} MB with 4 bits everywhere",
                hint="allow more, or use larger blocks (block-size)",
            )
        matrices = [
            Matrix(
                name=node.input[1],
                is_transposed=_is_turned(node, "transB"),
                is_symmetric=self.symmetric or node.input[1] in tables,
                moments=None if _is_turned(node, "transA") else draft.moments.get(node.input[0]),
            )
            for node in nodes
            if node.op_type in self._matrices and node.input[1] in small and node.input[1] not in wide
        ]
        return widened(draft, matrices, self.block_size, int(size_bytes - least))

    def _bits_each(self, is_wide: bool) -> float:
        """Bits of a number with its share of the block's scale, of 32 bits, and zero point."""
        return (8 if is_wide else 4) + (32 if is_wide or self.symmetric else 36) / self.block_size

    def _inner(self, draft: Draft, node: "NodeProto") -> WeightedLayer | None:
        return inner_layer(draft, node, self.exclude, self._matrices)

    def _rewritten(
        self,
        draft: Draft,
        writer: BlockQuantizer,
        nodes: "Iterable[NodeProto]",
        layer_of: "Callable[[NodeProto], WeightedLayer | None]",
    ) -> "list[NodeProto]":
        made: list[NodeProto] = []
        for node in nodes:
            layer = layer_of(node) if node.output else None
            if layer:
                made += self._matrix(draft, writer, layer)
            else:
                made.append(node)
                if node.op_type in ("Conv", "ConvTranspose", "LSTM", "GRU", "RNN"):
                    draft.leave(node, "there is no operator for it with weights in blocks")
        return made

    def _matrix(self, draft: Draft, writer: BlockQuantizer, layer: WeightedLayer) -> "Iterator[NodeProto]":
        from onnx import helper

        node, value = layer.node, layer.value
        if len(draft.constants[layer.weight].dims) != 2:
            draft.leave(node, "its weights are more than one matrix", layer.name)
            yield node
            return
        draft.changed += 1
        is_turned = _is_turned(node, "transA")
        if is_turned:
            value = draft.unique(f"{layer.name}_transposed")
            yield helper.make_node("Transpose", [layer.value], [value], draft.unique(f"{value}_node"), perm=[1, 0])
        level: dict[str, Any] = {"accuracy_level": self.accuracy_level} if self.accuracy_level else {}
        blocks = writer.matrix(
            layer.weight,
            is_transposed=_is_turned(node, "transB"),
            moments=None if is_turned else draft.moments.get(layer.value),
        )
        yield helper.make_node(
            "MatMulNBits",
            _without_last([value, blocks.name, blocks.scales, blocks.zeros, "", _flat(draft, layer.bias)]),
            list(node.output),
            node.name,
            domain=MICROSOFT,
            K=blocks.rows,
            N=blocks.columns,
            bits=blocks.bits,
            block_size=self.block_size,
            **level,
        )


def _refill(graph: "GraphProto", nodes: "list[NodeProto]") -> None:
    copies = [type(node).FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def _is_turned(node: "NodeProto", name: str) -> bool:
    """Whether a Gemm transposes the operand that attribute `name` is about."""
    return bool(node.op_type == "Gemm" and attribute(node, name, 0))


def _flat(draft: Draft, bias: str) -> str:
    """A bias with the one dimension that MatMulNBits requires; empty without one."""
    if not bias or len(draft.constants[bias].dims) == 1:
        return bias
    return draft.add_large(f"{bias}_flat", draft.weight(bias).array().reshape(-1))


def _without_last(names: list[str]) -> list[str]:
    """The inputs without empty ones at their end."""
    while not names[-1]:
        names = names[:-1]
    return names
