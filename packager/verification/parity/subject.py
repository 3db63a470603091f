"""The subject of a comparison with an original: a file that ships, or the graph that files are made from."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from packager.core.values import Compiled, Style, Variant, baseline
from packager.engines.runners import Runnable


@dataclass(frozen=True, kw_only=True)
class Subject:
    variant: Variant
    compiled: Compiled | None = None
    """the file; None for the graph, for runners that open no file that ships"""

    @property
    def style(self) -> Style:
        return self.compiled.style if self.compiled else Style.PLAIN

    @property
    def is_for_16_bits(self) -> bool:
        """Whether it is a file for processors that compute in 16 bits."""
        return bool(self.compiled and self.compiled.processor)

    @property
    def sha256(self) -> str:
        """SHA-256 of the file, or of the graph without its weights."""
        return self.compiled.sha256 if self.compiled else hashlib.sha256(self.variant.graph).hexdigest()

    @property
    def words(self) -> str:
        kind = f"{self.compiled.style} .{self.compiled.format}" if self.compiled else "ONNX graph"
        return f"model '{self.variant.model.name}' ({self.variant.name}, {kind})"

    @property
    def against(self) -> str:
        """Description of its reference."""
        if not is_own_original(self.variant):
            return "the original"
        return "the float graph in it" if self.variant.quantizer == "dequantized" else "the quantized graph"

    @property
    def original(self) -> Variant:
        """Its reference: the user's model, or the graph in another precision that was made from it."""
        return self.variant if is_own_original(self.variant) else baseline(self.variant.model)

    def runnable(self, folder: Path) -> Runnable:
        """The file that runners open; a graph is written to `folder`."""
        if self.compiled:
            return Runnable(path=self.compiled.path, needs_fp16=self.is_for_16_bits, settings=self.compiled.settings)
        path = folder / "graph.onnx"
        path.write_bytes(self.variant.graph)
        return Runnable(path=path, data_folder=self.variant.data_folder, source=self.variant.model.path)


def is_own_original(variant: Variant) -> bool:
    """Whether the variant's precision differs from the model's: the two then differ by rounding, however right the file
    is."""
    return variant.weights is not None or variant.quantizer == "dequantized"
