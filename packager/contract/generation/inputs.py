"""Inputs of a model that generates a text: what the graph fills in each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from packager.contract.generation import caches
from packager.contract.kind import AttachedInput, Inputs, Sizes, Tokenizing
from packager.core.contract import StateInput, TextInput
from packager.core.errors import ConfigError
from packager.core.signature import ElementType, TensorSpec
from packager.graph.writer import Writer

INTEGERS = (ElementType.INT64, ElementType.INT32)
RANDOM_SHAPES = ((12,), (40,))
RANDOM_CODE_POINTS = tuple(map(ord, "aabcdeeefghiiklmnnooprrssttuvwy    ,.19\u00e9\u6771\U0001f600"))


@dataclass(frozen=True, kw_only=True)
class Names:
    """Inputs of the graph that the output adds, by its name."""

    output: str

    @property
    def progress(self) -> str:
        """int64 [PROGRESS]: see Progress"""
        return f"{self.output}.progress"

    @property
    def tokens(self) -> str:
        """int64 [tokens]: all tokens so far"""
        return f"{self.output}.tokens"

    @property
    def bytes(self) -> str:
        """int64 [bytes]: those that are no characters yet"""
        return f"{self.output}.bytes"


STEPS, LAST, TEXTS, STRIPPED, PROGRESS = range(5)
"""Places in the progress: steps so far, the last token, and `texts` and `stripped` of the decoder; and their number."""


def progress_of(writer: Writer, names: Names, place: int) -> str:
    """int64 [1]"""
    return writer.node("Slice", names.progress, [place], [place + 1], [0])


def is_first(writer: Writer, names: Names) -> str:
    """bool, no dimensions: whether this is the first step."""
    return writer.node("Equal", writer.node("Squeeze", progress_of(writer, names, STEPS), [0]), 0)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """Token ids: those of the app's texts in the first step, then the last token, or all tokens without caches."""

    KIND: ClassVar[str] = "prompt"

    text: Tokenizing
    names: Names
    cache: str
    """input that is a cache; empty for a model without"""
    mask: str
    """input that is 1 for each token; empty for a model without"""
    positions: str
    """input with the position of each token of this step; empty for a model without"""
    start: int
    """token for an empty prompt"""
    is_whole: bool
    """whether texts have the tokens of the tokenizer's template already, as a chat template writes them"""

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        found = {name: inputs[name] for name in (spec.name, self.mask, self.positions) if name}
        return {name: _open_row(name, each) for name, each in found.items()}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        texts = [writer.input(name, ElementType.INT32, (f"{name} characters",)) for name in self.text.names]
        ids = self._ids(writer, [text.name for text in texts])
        past = self._past(writer, inputs)
        total = writer.node("Add", past, writer.node("Shape", ids))
        filled: dict[str, str] = {}
        if self.mask:
            filled[self.mask] = _row(writer, writer.node("Expand", [1], total), inputs[self.mask])
        if self.positions:
            first, end = (writer.node("Squeeze", each, [0]) for each in (past, total))
            filled[self.positions] = _row(writer, writer.node("Range", first, end, 1), inputs[self.positions])
        return AttachedInput(
            typed=tuple(
                TextInput(identifier=name, code_points=text) for name, text in zip(self.text.names, texts, strict=True)
            ),
            value=_row(writer, ids, spec),
            filled=filled,
            shapes={text.name: RANDOM_SHAPES for text in texts},
            values={text.name: RANDOM_CODE_POINTS for text in texts},
        )

    def _ids(self, writer: Writer, texts: list[str]) -> str:
        """int64 [tokens]"""

        def prompt(inner: Writer) -> list[str]:
            found = inner.node("Concat", self.text.ids(inner, texts, is_whole=self.is_whole), [self.start], axis=0)
            size = inner.node("Max", inner.node("Sub", inner.node("Shape", found), 1), 1)
            return [inner.node("Slice", found, [0], size, [0])]

        def further(inner: Writer) -> list[str]:
            return [progress_of(inner, self.names, LAST) if self.cache else self.names.tokens]

        (ids,) = writer.branch(is_first(writer, self.names), prompt, further, [ElementType.INT64])
        return ids

    def _past(self, writer: Writer, inputs: Inputs) -> str:
        """int64 [1]: tokens of earlier steps in the cache"""
        if not self.cache:
            return writer.integers(0)
        axis = caches.length_axis(inputs[self.cache])
        return writer.node("Shape", self.cache, start=axis, end=axis + 1)


@dataclass(frozen=True, kw_only=True)
class StartTokens:
    """Token ids of a decoder with an encoder: the start tokens in the first step, then the last token."""

    KIND: ClassVar[str] = "start"

    names: Names
    tokens: tuple[int, ...]
    later: str
    """input, bool [1]: whether this is a further step"""

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        return {spec.name: _open_row(spec.name, spec)}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        later = writer.node("Reshape", writer.node("Not", is_first(writer, self.names)), [1])
        # no branch: ONNX Runtime loses the result of one that is a constant when it writes an optimized graph
        further, size = writer.cast(later, ElementType.INT64), len(self.tokens)
        known = writer.node("Concat", writer.integers(*self.tokens), progress_of(writer, self.names, LAST), axis=0)
        start, end = writer.node("Mul", further, size), writer.node("Add", further, size)
        ids = writer.node("Slice", known, start, end, [0])
        return AttachedInput(typed=(), value=_row(writer, ids, spec), filled={self.later: later})


@dataclass(frozen=True, kw_only=True)
class Cache:
    """The part of earlier tokens that attention keeps: nothing before the first step."""

    KIND: ClassVar[str] = "cache"

    output: str

    def within(self, folder: Path) -> Self:
        return self

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        return {spec.name: caches.sizes(spec)}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        after = TensorSpec(name=self.output, identifier=self.output, element=spec.element, shape=spec.shape)
        return AttachedInput(typed=(StateInput(identifier=spec.identifier, input=spec, output=after),), value="")


def _open_row(name: str, spec: TensorSpec) -> Sizes:
    """The shape `[1, tokens]`, or `[tokens]`."""
    first = spec.shape[0] if len(spec.shape) == 2 else 1
    if spec.element not in INTEGERS or not 1 <= len(spec.shape) <= 2 or (isinstance(first, int) and first != 1):
        raise ConfigError(
            f"'{name}' is {spec.element} {list(spec.shape)}, not integers of the shape [1, tokens]",
            hint="export the model as a decoder: one sequence, whose number of tokens is open",
        )
    if isinstance(spec.shape[-1], int):
        raise ConfigError(
            f"'{name}' takes {spec.shape[-1]} tokens in every run, so that it cannot take a prompt of any length",
            hint="export the model with an open number of tokens",
        )
    return (1, None)[-len(spec.shape) :]


def _row(writer: Writer, value: str, spec: TensorSpec) -> str:
    """`value`, int64 [tokens], in the shape and type of `spec`."""
    return writer.node("Reshape", writer.cast(value, spec.element), [1, -1][-len(spec.shape) :])
