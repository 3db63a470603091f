"""The kind `text`: a score for each symbol at each step of a picture or a sound."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.labels import Lines, read, split
from packager.contract.scores import Activation, activated, floats, in_words
from packager.core.contract import TextOutput
from packager.core.errors import ConfigError, SettingError, nearest
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Text:
    """Scores of a model trained with CTC: `[1, steps, n]`, `[steps, 1, n]` or `[steps, n]`, including a blank.

    Greedy decoding, as in PyTorch's tutorials: the graph takes the best symbol of each step (of equal ones the first),
    then drops repetitions of the previous step, then blanks. The score of a symbol is that of its first step.
    """

    KIND: ClassVar[str] = "text"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["text"] = "text"
    """kind of the output"""
    alphabet: Path | None = None
    """file with one symbol per line, in the model's order, without the blank"""
    alphabet_metadata: str = ""
    """alternative to `alphabet`: key of the model's metadata with such a text; PP-OCR models use `character`"""
    append_space: bool = False
    """whether the model has a space as an additional last symbol, as PP-OCR models do"""
    blank: int = 0
    """index of the blank among the model's classes; -1 is the last"""
    activation: Activation = "none"
    """`softmax` for a model that outputs logits, so that scores are probabilities"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if not self.alphabet and not self.alphabet_metadata:
            raise SettingError(
                "'alphabet' is missing", hint="set it to a file with one symbol per line, or set alphabet-metadata"
            )
        if self.alphabet and self.alphabet_metadata:
            raise SettingError("'alphabet' and 'alphabet-metadata' exclude each other", hint="remove one of them")

    def within(self, folder: Path) -> Self:
        return replace(self, alphabet=folder / self.alphabet) if self.alphabet else self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        count = _classes_of(spec)
        blank = self.blank + count if self.blank < 0 else self.blank
        if not 0 <= blank < count:
            raise ConfigError(
                f"blank {self.blank} is not one of the model's {count} classes",
                hint="use an index from 0, or -1 for the last",
            )
        alphabet = self._alphabet(core, count - 1)
        steps = writer.node("Reshape", floats(writer, spec), [-1, count])
        symbols, scores = _decoded(writer, activated(writer, steps, self.activation), blank)
        shape = (f"{spec.name}.count",)
        typed = TextOutput(
            identifier=spec.identifier,
            symbols=writer.output(symbols, "symbols", ElementType.INT64, shape),
            scores=writer.output(scores, "scores", ElementType.FLOAT, shape),
            alphabet=alphabet,
        )
        return AttachedOutput(typed=typed, taken=(spec.name,))

    def _alphabet(self, core: Core, count: int) -> tuple[str, ...]:
        """The `count` symbols. Raises ConfigError for another number."""
        lines = self._lines(core)
        alphabet = (*lines.texts, " ") if self.append_space else lines.texts
        if "" in alphabet:
            line = alphabet.index("") + 1
            raise ConfigError(
                f"{lines.source}:{line}: the line is empty", hint="write one symbol, which may be a space"
            )
        if len(alphabet) != count:
            space = (
                "remove append-space if the alphabet has a space"
                if self.append_space
                else "set append-space for a space"
            )
            raise ConfigError(
                f"{lines.source} has {len(alphabet)} symbols, but the model has {count} and a blank",
                hint=space if abs(len(alphabet) - count) == 1 else "use the alphabet that the model was trained with",
            )
        return alphabet

    def _lines(self, core: Core) -> Lines:
        if self.alphabet:
            return read(self.alphabet)
        if self.alphabet_metadata not in core.metadata:
            hint = nearest(self.alphabet_metadata, core.metadata) if core.metadata else "name a file: alphabet"
            raise ConfigError(f"the model's metadata has no '{self.alphabet_metadata}'", hint=hint)
        return split(core.metadata[self.alphabet_metadata], f"metadata '{self.alphabet_metadata}'")


def _classes_of(spec: TensorSpec) -> int:
    """Number of classes per step, including the blank."""
    *others, count = spec.shape or (None,)
    is_one_text = len(others) == 1 or (len(others) == 2 and (1 in others or not isinstance(others[0], int)))
    if not is_one_text or not isinstance(count, int) or count < 2:
        raise ConfigError(
            f"the output is {in_words(spec)}: not [1, steps, symbols]",
            hint='choose the output that the CTC loss uses, or use kind = "tensor" for this one',
        )
    return count


def _decoded(writer: Writer, steps: str, blank: int) -> tuple[str, str]:
    """Indexes into the alphabet without the blank, and scores, from `steps` [steps, classes]."""
    best = writer.node("ArgMax", steps, axis=1, keepdims=0)
    scores = writer.node("ReduceMax", steps, [1], keepdims=0)
    before = writer.node("Slice", writer.node("Concat", [-1], best, axis=0), [0], [-1], [0])
    is_repeated, is_blank = writer.node("Equal", best, before), writer.node("Equal", best, blank)
    is_read = writer.node("Not", writer.node("Or", is_repeated, is_blank))
    found = writer.node("Compress", best, is_read, axis=0)
    is_behind = writer.cast(writer.node("Greater", found, blank), ElementType.INT64)
    return writer.node("Sub", found, is_behind), writer.node("Compress", scores, is_read, axis=0)
