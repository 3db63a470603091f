"""The kind `text`: strings, as token ids with their mask and types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal, Self

from packager.contract import tokenization
from packager.contract.kind import AttachedInput, BatchTokens, Inputs, Sizes, TextTokens
from packager.contract.tokens.words import continuing
from packager.core.contract import BETWEEN, TextInput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.core.strict_tables import STRICT
from packager.graph.writer import Writer

INTEGERS = (ElementType.INT64, ElementType.INT32)
MASK, TYPES, POSITIONS = "attention_mask", "token_type_ids", "position_ids"
"""names that exporters give to these inputs"""

RANDOM_SHAPES = ((40,), (120,))
RANDOM_CODE_POINTS = tuple(map(ord, "aabcdeeefghiiklmnnooprrssttuvwy    ,.19\u00e9\u6771\U0001f600"))


@dataclass(frozen=True, kw_only=True)
class StringInput:
    """Token ids of a string, or of a pair of strings: `[1, n]` or `[n]`; of several, `[texts, n]`. Fills the mask and
    the types of the tokens, too."""

    KIND: ClassVar[str] = "text"
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    kind: Literal["text"] = "text"
    """kind of the input"""
    tokenizer: Path
    """`tokenizer.json` of Hugging Face, `vocab.txt` of BERT, a SentencePiece `.model`, `.tiktoken` ranks, or
    `tokenizer_config.json` of ByT5 and CANINE"""
    names: tuple[str, ...] = ("text",)
    """names of the strings that apps pass: two for a model that compares them, as in `["query", "document"]`"""
    length: int | None = None
    """number of tokens of the model, if its shape leaves it open: shorter texts are padded, longer ones are truncated.
    Default: as many tokens as the text has"""
    max_length: int | None = None
    """number of tokens at which longer texts are truncated; default: that of the tokenizer's file"""
    mask: str = ""
    """input that is 1 for tokens and 0 for padding; default: `attention_mask`, if the model has it"""
    types: str = ""
    """input with the number of the string that a token belongs to; default: `token_type_ids`, if the model has it"""
    batch: bool = False
    """whether apps may pass several strings, or pairs, in one run: each is padded to the longest, and each output has a
    row for each. The model's first size must be open. Fills `position_ids`, too, if the model has it"""

    def __post_init__(self) -> None:
        """Raises SettingError."""
        if not 1 <= len(self.names) <= 2 or len(set(self.names)) != len(self.names):
            raise SettingError(
                f"names {list(self.names)} are not one or two names", hint='omit it, or use ["query", "document"]'
            )
        for key in ("length", "max_length"):
            value = getattr(self, key)
            if value is not None and value < 1:
                shown = key.replace("_", "-")
                raise SettingError(f"{shown} {value} is less than 1", hint="omit it, or use a number of tokens")

    def within(self, folder: Path) -> Self:
        return replace(self, tokenizer=folder / self.tokenizer)

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        size = self._size(spec)
        if self.batch:
            self._refuse_unfit_batch(spec, inputs, size)
        if size is None:
            return {}
        rows = None if self.batch else 1
        return {name: (rows, size)[-len(spec.shape) :] for name in self._shaped(spec, inputs)}

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        if self.batch:
            return self._attach_batch(writer, spec, inputs)
        tokenizer = tokenization.read(self.tokenizer)
        texts = [writer.input(name, ElementType.INT32, (f"{name} characters",)) for name in self.names]
        tokens = tokenization.write(writer, tokenizer, [text.name for text in texts], self._limits(spec))
        made = zip(self._filled(spec, inputs), (tokens.ids, tokens.mask, tokens.types), strict=True)
        values = {name: _laid(writer, value, inputs[name]) for name, value in made if name}
        return AttachedInput(
            typed=tuple(
                TextInput(identifier=name, code_points=text) for name, text in zip(self.names, texts, strict=True)
            ),
            value=values.pop(spec.name),
            filled=values,
            tokens=TextTokens(
                texts=tuple(texts),
                starts=tokens.starts,
                ends=tokens.ends,
                of_text=tokens.of_text,
                flat=tokens.flat,
                is_padded_before=tokenizer.padding.at_left and self._size(spec) is not None,
                goes_on=continuing(writer, tokenizer, tokens, texts[0].name),
            ),
            shapes={text.name: RANDOM_SHAPES for text in texts},
            values={text.name: RANDOM_CODE_POINTS for text in texts},
        )

    def _attach_batch(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        texts = [writer.input(name, ElementType.INT32, (f"{name} characters",)) for name in self.names]
        given = [text.name for text in texts]
        tokens = tokenization.write_batch(writer, tokenization.read(self.tokenizer), given, self._limits(spec))
        made = zip(self._filled(spec, inputs), (tokens.ids, tokens.mask, tokens.types), strict=True)
        values = {name: _laid_rows(writer, value, inputs[name]) for name, value in made if name}
        if POSITIONS in inputs:
            values[POSITIONS] = _laid_rows(writer, _positions(writer, tokens.mask), inputs[POSITIONS])
        return AttachedInput(
            typed=tuple(
                TextInput(identifier=name, code_points=text, is_batch=True)
                for name, text in zip(self.names, texts, strict=True)
            ),
            value=values.pop(spec.name),
            filled=values,
            batch=BatchTokens(texts=tuple(texts), mask=tokens.mask, flat=tokens.flat),
            shapes={text.name: RANDOM_SHAPES for text in texts},
            values={text.name: (*RANDOM_CODE_POINTS, BETWEEN) for text in texts},
        )

    def _refuse_unfit_batch(self, spec: TensorSpec, inputs: Inputs, size: int | None) -> None:
        """Raises ConfigError for a model that takes a fixed number of texts, or cannot tell padding from tokens."""
        for name in self._shaped(spec, inputs):
            shape = inputs[name].shape
            if len(shape) != 2 or isinstance(shape[0], int):
                raise ConfigError(
                    f"batch: the model takes one text in a run, '{name}' is {list(shape)}",
                    hint="export it with an open first size (dynamic_axes, dynamic_shapes), or omit batch",
                )
        if size is None and not self._filled(spec, inputs)[1]:
            raise ConfigError(
                "batch: shorter texts are padded, but the model has no mask for that",
                hint="name it: mask = ..., or set length, to which the model pads every text",
            )

    def ids(self, writer: Writer, texts: Sequence[str], *, is_whole: bool) -> str:
        if self.batch:
            raise ConfigError("batch has no effect where a text is generated", hint="omit it")
        if self.length:
            raise ConfigError("length has no effect where a text is generated", hint="omit it, or use max-length")
        if is_whole and self.max_length:
            raise ConfigError("max-length would cut off the end of a conversation", hint="omit it")
        tokenizer = tokenization.read(self.tokenizer)
        limits = tokenization.TokenLimits(longest=self.max_length)
        return tokenization.write(writer, tokenization.whole(tokenizer) if is_whole else tokenizer, texts, limits).ids

    def _size(self, spec: TensorSpec) -> int | None:
        """Number of tokens of the core's shape; None if every text has its own."""
        if spec.element not in INTEGERS:
            raise ConfigError(f"is {spec.element}, which cannot be token ids", hint="use this kind for input_ids")
        first = spec.shape[0] if len(spec.shape) == 2 else 1
        if not 1 <= len(spec.shape) <= 2 or (isinstance(first, int) and first != 1):
            raise ConfigError("has another shape than [1, tokens] or [tokens]", hint="use this kind for input_ids")
        fixed = spec.shape[-1]
        if isinstance(fixed, int) and self.length not in (None, fixed):
            raise ConfigError(f"takes {fixed} tokens, not {self.length}", hint="omit length")
        return fixed if isinstance(fixed, int) else self.length

    def _shaped(self, spec: TensorSpec, inputs: Inputs) -> list[str]:
        """Names of all inputs that the text fills."""
        positions = [POSITIONS] if self.batch and POSITIONS in inputs else []
        return [*filter(None, self._filled(spec, inputs)), *positions]

    def _limits(self, spec: TensorSpec) -> tokenization.TokenLimits:
        return tokenization.TokenLimits(longest=self.max_length, length=self._size(spec))

    def _filled(self, spec: TensorSpec, inputs: Inputs) -> tuple[str, ...]:
        """Names of the inputs for ids, mask and types; empty for those that the model does not have."""
        mask, types = (
            given or (usual if usual in inputs else "") for given, usual in ((self.mask, MASK), (self.types, TYPES))
        )
        for key, name in (("mask", mask), ("types", types)):
            if name and (name not in inputs or len(inputs[name].shape) != len(spec.shape)):
                raise ConfigError(
                    f"{key} '{name}' is not an input of the same dimensions", hint="name the model's input"
                )
        return spec.name, mask, types


def _positions(writer: Writer, mask: str) -> str:
    """int64 [texts, tokens]: the place of each token among those of its text, from 0; 0 for padding ahead of them."""
    return writer.node("Max", writer.node("Sub", writer.node("CumSum", mask, 1), 1), [0])


def _laid_rows(writer: Writer, value: str, spec: TensorSpec) -> str:
    """`value`, int64 [texts, tokens], in the core's shape and type."""
    tokens = spec.shape[1] if isinstance(spec.shape[1], int) else 0  # as many as it has
    return writer.node("Reshape", writer.cast(value, spec.element), [0, tokens])


def _laid(writer: Writer, value: str, spec: TensorSpec) -> str:
    """`value`, int64 [tokens], in the core's shape and type."""
    sizes = [size if isinstance(size, int) else -1 for size in spec.shape]
    shape = [1, *sizes[1:]] if len(sizes) == 2 else sizes
    return writer.node("Reshape", writer.cast(value, spec.element), shape)
