"""Integer weights and activations, scales fixed before the model ships: the fastest on phones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from packager.core.strict_tables import STRICT
from packager.graph.rewriting import qdq
from packager.graph.rewriting.blocks import TABLE_BLOCK, BlockQuantizer
from packager.graph.rewriting.draft import Draft
from packager.graph.rewriting.embeddings import quantize_tables
from packager.graph.rewriting.layers import WeightedLayer, fit_layers, name_of, names_of
from packager.graph.rewriting.schemes import ActivationElement, Scheme, Scope, WeightElement
from packager.graph.rewriting.selection import Selection, select, values_to_measure
from packager.quantizers.quantizer import CalibrationKey

SINCE_OPSET = 10
"""First opset with QLinearConv, which ONNX Runtime makes of a quantized Conv."""


@dataclass(frozen=True, kw_only=True)
class StaticQdq:
    NAME: ClassVar[str] = "static-qdq"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    quantizer: Literal["static-qdq"] = "static-qdq"
    """how the variant is made"""
    calibration: CalibrationKey
    """samples for the ranges of activations"""
    activations: ActivationElement = "int8"
    """`int8` suits ARM's CPU kernels and XNNPACK; for providers that need `uint8` the activations are re-encoded with
    identical values. `uint16` keeps more precision on Qualcomm's processors, and has no kernels anywhere else"""
    weights: WeightElement = "int8"
    """`int8` is symmetric around zero; `uint8` has a zero point"""
    per_channel: bool = True
    """one scale for every output channel of a weight, instead of one for all"""
    symmetric: bool = False
    """whether activations, too, are symmetric around zero"""
    scope: Literal["auto", "kernels", "all"] = "auto"
    """operators without weights to quantize: `kernels`, those with 8-bit kernels on the CPU; `all` that a neural
    processor may support; `auto` is `all` for 16 bits, else `kernels`"""
    embeddings: bool = True
    """whether to quantize tables that a Gather reads rows of to 8 bits, too"""
    weight_only: tuple[str, ...] = ()
    """nodes, by name, with only their weights quantized: the same size, more precise, slower"""
    exclude: tuple[str, ...] = ()
    """nodes, by name, that stay in float"""
    scales_from: Path | None = None
    """release before, or a file in its folder `scales`: scales that still fit are kept, which makes deltas between the
    two versions small; see docs/quantization.md"""

    def measures(self, draft: Draft) -> tuple[str, ...]:
        """The values that any choice of layers needs, so that one calibration serves every choice."""
        layers = fit_layers(draft, ())
        return values_to_measure(select(draft, layers, dict.fromkeys(names_of(layers), self._scheme), self._scope))

    def quantize(self, draft: Draft) -> None:
        draft.refuse_older(SINCE_OPSET, self.NAME)
        draft.refuse_unknown(self.weight_only, "weight-only")
        layers = fit_layers(draft, self.exclude)
        schemes = {layer.name: self._scheme_of(layer) for layer in layers}
        selection = select(draft, layers, schemes, self._scope, self.exclude)
        joined = {name_of(unit.node) for unit in selection.units}  # such as a MatMul of two computed values
        draft.left[:] = [each for each in draft.left if each.name not in joined]
        for layer in layers:
            if reason := self._reason(layer, selection):
                draft.leave(layer.node, reason, layer.name)
        qdq.insert(draft, layers, schemes, selection)
        if self.embeddings:
            quantize_tables(draft, BlockQuantizer(draft=draft, bits=8, block_size=TABLE_BLOCK), self.exclude)
        draft.refuse_unchanged(self.exclude)

    @property
    def _scheme(self) -> Scheme:
        return Scheme(
            weights=self.weights,
            activations=self.activations,
            is_per_channel=self.per_channel,
            is_symmetric=self.symmetric,
        )

    @property
    def _scope(self) -> Scope:
        if self.scope != "auto":
            return self.scope
        return "all" if "16" in self.activations else "kernels"

    def _scheme_of(self, layer: WeightedLayer) -> Scheme:
        return replace(self._scheme, activations=None) if self._is_weight_only(layer) else self._scheme

    def _is_weight_only(self, layer: WeightedLayer) -> bool:
        return layer.name in self.weight_only or layer.node.output[0] in self.weight_only

    def _reason(self, layer: WeightedLayer, selection: Selection) -> str:
        """Why the activations of a layer stay in float; empty if they do not."""
        if self._is_weight_only(layer):
            return "its weights alone are quantized, by the configuration"
        return selection.refused.get(layer.name, "")
