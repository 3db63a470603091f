"""The kind `embedding`: a vector whose distance to others measures similarity."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.scores import row
from packager.core.contract import EmbeddingOutput
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """One vector: `[1, n]`, `[n]` or `[1, n, 1, 1]`.

    The graph divides it by its Euclidean norm; a zero vector stays unchanged. This equals torch.nn.functional.normalize
    for norms above 1e-12. The dot product of two such vectors is the cosine of their angle.
    """

    KIND: ClassVar[str] = "embedding"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["embedding"] = "embedding"
    """kind of the output"""

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        numbers, size = row(writer, spec, what="numbers")
        divided = writer.node("LpNormalization", numbers, axis=0, p=2)
        vector = writer.output(divided, "vector", ElementType.FLOAT, (size,))
        return AttachedOutput(typed=EmbeddingOutput(identifier=spec.identifier, vector=vector), taken=(spec.name,))
