"""Outputs that read: a score for each symbol at each step of a picture or a sound."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract.kind import AttachedOutput, Core
from packager.contract.labels import Lines, read, split
from packager.contract.scores import Activation, activated, floats, in_words
from packager.contract.writer import Writer
from packager.core.contract import TextOutput
from packager.core.errors import ConfigError, nearest
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT


@dataclass(frozen=True, kw_only=True)
class Text:
    """Scores of a model trained with CTC: `[1, steps, n]`, `[steps, 1, n]` or `[steps, n]`, one of the n a blank.

    The graph takes the best symbol of each step (of equal ones the first), leaves out those that repeat the step
    before, then blanks: what PyTorch's tutorials call the greedy decoder. The score of a symbol is that of the first
    of its steps.
    """

    KIND: ClassVar[str] = "text"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["text"] = "text"
    """what the output is"""
    alphabet: Path | None = None
    """a text with each symbol on a line of its own, in the model's order, without the blank"""
    alphabet_metadata: str = ""
    """instead: where the model's own metadata have such a text. PP-OCR's have it at `character`"""
    append_space: bool = False
    """the model knows one more symbol behind the alphabet's last, a space: PP-OCR's do"""
    blank: int = 0
    """position of the blank among the model's classes; -1 is the last"""
    activation: Activation = "none"
    """`softmax` for a model that gives logits: scores are probabilities then"""

    def __post_init__(self) -> None:
        """Raises ValueError: what is wrong, `|`, what to do."""
        if not self.alphabet and not self.alphabet_metadata:
            raise ValueError("'alphabet' is missing|name a text with one symbol on each line, or alphabet-metadata")
        if self.alphabet and self.alphabet_metadata:
            raise ValueError("'alphabet' and 'alphabet-metadata' say the same|take one of them out")

    def within(self, folder: Path) -> Self:
        return replace(self, alphabet=folder / self.alphabet) if self.alphabet else self

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        count = _classes_of(spec)
        blank = self.blank + count if self.blank < 0 else self.blank
        if not 0 <= blank < count:
            raise ConfigError(f"blank {self.blank} is none of the model's {count} classes", hint="0 is the first")
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
        """The `count` symbols; ConfigError when there are more or fewer."""
        lines = self._lines(core)
        alphabet = (*lines.texts, " ") if self.append_space else lines.texts
        if "" in alphabet:
            line = alphabet.index("") + 1
            raise ConfigError(f"{lines.source}:{line}: no symbol", hint="a space is written as a space")
        if len(alphabet) != count:
            space = "a space among them: take out append-space" if self.append_space else "append-space adds a space"
            raise ConfigError(
                f"{lines.source} has {len(alphabet)} symbols, the model {count} and a blank",
                hint=space if abs(len(alphabet) - count) == 1 else "give the alphabet that the model was trained with",
            )
        return alphabet

    def _lines(self, core: Core) -> Lines:
        if self.alphabet:
            return read(self.alphabet)
        if self.alphabet_metadata not in core.metadata:
            hint = nearest(self.alphabet_metadata, core.metadata) if core.metadata else "name a file: alphabet"
            raise ConfigError(f"the model's metadata have no '{self.alphabet_metadata}'", hint=hint)
        return split(core.metadata[self.alphabet_metadata], f"metadata '{self.alphabet_metadata}'")


def _classes_of(spec: TensorSpec) -> int:
    """How many classes each step has, the blank among them."""
    *others, count = spec.shape or (None,)
    is_one_text = len(others) == 1 or (len(others) == 2 and (1 in others or not isinstance(others[0], int)))
    if not is_one_text or not isinstance(count, int) or count < 2:
        raise ConfigError(
            f"the output is {in_words(spec)}: not [1, steps, symbols]",
            hint='give the output that a CTC loss is computed of, or leave this one as it is: kind = "tensor"',
        )
    return count


def _decoded(writer: Writer, steps: str, blank: int) -> tuple[str, str]:
    """Positions in an alphabet without the blank, and scores, of `steps` [steps, classes]."""
    best = writer.node("ArgMax", steps, axis=1, keepdims=0)
    scores = writer.node("ReduceMax", steps, [1], keepdims=0)
    before = writer.node("Slice", writer.node("Concat", [-1], best, axis=0), [0], [-1], [0])
    is_repeated, is_blank = writer.node("Equal", best, before), writer.node("Equal", best, blank)
    is_read = writer.node("Not", writer.node("Or", is_repeated, is_blank))
    found = writer.node("Compress", best, is_read, axis=0)
    is_behind = writer.cast(writer.node("Greater", found, blank), ElementType.INT64)
    return writer.node("Sub", found, is_behind), writer.node("Compress", scores, is_read, axis=0)
