"""The kind `embedding`: a vector whose distance to others measures similarity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.scores import TEXTS, batch_rows, floats, in_words, row, rows
from packager.core.contract import EmbeddingOutput
from packager.core.errors import ConfigError, SettingError, nearest
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

MASK = "attention_mask"
"""name that exporters give to the mask of tokens"""
LEAST = 1e-9
"""least sum of a mask, as in sentence-transformers' Pooling"""


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """One vector: `[1, n]`, `[n]` or `[1, n, 1, 1]`; with `pooling`, one for each token: `[1, tokens, n]`.

    The graph divides it by its Euclidean norm; a zero vector stays unchanged. This equals torch.nn.functional.normalize
    for norms above 1e-12. The dot product of two such vectors is the cosine of their angle.
    """

    KIND: ClassVar[str] = "embedding"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["embedding"] = "embedding"
    """kind of the output"""
    pooling: Literal["none", "mean", "cls", "last"] = "none"
    """vector of a text from those of its tokens: `mean` of all tokens of the mask, the first one (`cls`), or the `last`
    one of the mask. `none`: the output is one vector"""
    mask: str = ""
    """input that is 1 for tokens and 0 for padding, for `mean` and `last`; default: `attention_mask`"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if self.mask and self.pooling not in ("mean", "last"):
            raise SettingError(f"mask has no effect with pooling '{self.pooling}'", hint="omit it")

    def within(self, folder: Path) -> Self:
        return self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        if core.is_batch:
            return self._attach_batch(writer, spec, core)
        if self.pooling == "none":
            numbers, size = row(writer, spec, what="numbers")
        else:
            numbers, size = self._pooled(writer, spec, core)
        divided = writer.node("LpNormalization", numbers, axis=0, p=2)
        vector = writer.output(divided, "vector", ElementType.FLOAT, (size,))
        return AttachedOutput(typed=EmbeddingOutput(identifier=spec.identifier, vector=vector), taken=(spec.name,))

    def _attach_batch(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        if self.pooling == "none":
            numbers, size = batch_rows(writer, spec, what="numbers")
        else:
            numbers, size = self._pooled_batch(writer, spec, core)
        divided = writer.node("LpNormalization", numbers, axis=1, p=2)
        vector = writer.output(divided, "vector", ElementType.FLOAT, (TEXTS, size))
        typed = EmbeddingOutput(identifier=spec.identifier, vector=vector)
        return AttachedOutput(typed=typed, taken=(spec.name,), is_batch=True)

    def _pooled_batch(self, writer: Writer, spec: TensorSpec, core: Core) -> tuple[str, int]:
        """float [texts, n], and n. The first and the last token are those of the mask: either side may be padded."""
        size = spec.shape[-1] if len(spec.shape) == 3 else None
        if not isinstance(size, int) or isinstance(spec.shape[0], int):
            raise ConfigError(
                f"the output is {in_words(spec)}: not a vector for each token of each text",
                hint="choose the output that has them ([texts, tokens, n]), often last_hidden_state, or omit pooling",
            )
        batch = next(iter(core.batches.values()))
        writer = replace(writer, flat=batch.flat)
        mask = batch.mask
        if self.pooling != "cls":
            self._refuse_no_mask(core)
            mask = self.mask or MASK
        texts = writer.node("Shape", batch.mask, end=1)
        tokens = _shaped(writer, floats(writer, spec), texts, (size,))
        weights = _shaped(writer, writer.cast(mask, ElementType.FLOAT), texts, ())
        if self.pooling != "mean":
            is_last = int(self.pooling == "last")
            place = writer.node("ArgMax", weights, axis=1, select_last_index=is_last)
            index = writer.node("Expand", writer.node("Unsqueeze", place, [2]), [1, 1, size])
            return writer.node("Squeeze", writer.node("GatherElements", tokens, index, axis=1), [1]), size
        total = writer.node("Max", writer.node("ReduceSum", weights, [1], keepdims=1), writer.floats(LEAST))
        summed = writer.node("MatMul", writer.node("Unsqueeze", weights, [1]), tokens)
        return writer.node("Div", writer.node("Squeeze", summed, [1]), total), size

    def _pooled(self, writer: Writer, spec: TensorSpec, core: Core) -> tuple[str, int]:
        """float [n], and n."""
        size = spec.shape[-1] if len(spec.shape) == 3 else None
        if not isinstance(size, int) or (isinstance(spec.shape[0], int) and spec.shape[0] != 1):
            raise ConfigError(
                f"the output is {in_words(spec)}: not a vector for each token",
                hint="choose the output that has them ([1, tokens, n]), often last_hidden_state, or omit pooling",
            )
        writer = _hiding(writer, core)
        tokens = rows(writer, spec, size)
        if self.pooling == "cls" and any(each.is_padded_before for each in core.tokens.values()):
            first = writer.node("Slice", writer.positions(self._mask(writer, core)), [0], [1], [0])
            return writer.node("Squeeze", writer.node("Gather", tokens, first), [0]), size
        if self.pooling == "cls":
            return writer.node("Squeeze", writer.node("Slice", tokens, [0], [1], [0]), [0]), size
        mask = self._mask(writer, core)
        if self.pooling == "last":
            places = writer.positions(mask)
            last = writer.node("Slice", places, [-1], [2**62], [0])
            return writer.node("Squeeze", writer.node("Gather", tokens, last), [0]), size
        weights = writer.cast(mask, ElementType.FLOAT)
        total = writer.node("Max", writer.node("ReduceSum", weights, [0], keepdims=1), writer.floats(LEAST))
        summed = writer.node("MatMul", weights, tokens)
        return writer.node("Div", summed, total), size

    def _mask(self, writer: Writer, core: Core) -> str:
        """The mask in one dimension."""
        self._refuse_no_mask(core)
        return writer.flattened(self.mask or MASK)

    def _refuse_no_mask(self, core: Core) -> None:
        name = self.mask or MASK
        if name not in core.inputs:
            raise ConfigError(
                f"pooling '{self.pooling}' needs the mask, but the model has no input '{name}'",
                hint=f"name it: mask = ...; {nearest(name, list(core.inputs))}",
            )


def _shaped(writer: Writer, value: str, texts: str, sizes: Sequence[int]) -> str:
    """`value` as [texts, tokens, *sizes], of a rank that is only known when the model runs."""
    shape = writer.node("Concat", texts, writer.flat, *([list(sizes)] if sizes else []), axis=0)
    return writer.node("Reshape", value, shape)


def _hiding(writer: Writer, core: Core) -> Writer:
    """A Writer whose values have a rank that is only known when the model runs, if the model takes a text: a few nodes
    behind the core are not worth a piece of a provider's own."""
    flat = next((tokens.flat for tokens in core.tokens.values()), "")
    return replace(writer, flat=flat)
