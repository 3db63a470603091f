"""Interfaces of input and output kinds: tables of mobpack.toml that write themselves into a graph."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol, Self, runtime_checkable

from packager.core.contract import StateInput, TypedInput, TypedOutput
from packager.core.errors import ConfigError, nearest
from packager.core.signature import Signature, TensorSpec
from packager.graph.writer import Writer


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Position of the upright picture in the core's picture: `core = made / size * upright + offset`, in pixels.

    All are names of values in the graph: int64 [1], most of them of a hidden length. No provider of a phone takes
    nodes that depend on those, so that none of it is computed in 16 bits.
    """

    made_width: str
    """width of the whole upright picture in the core's picture"""
    made_height: str
    offset_x: str
    offset_y: str
    width: str
    """width of the upright picture"""
    height: str
    core_width: int
    """width of the core's picture; 0 where each picture has its own"""
    core_height: int
    nothing: str = ""
    """as in Writer"""
    colours: Callable[[], str] | None = None
    """writes the upright picture in its own size: uint8 [height, width, 3], red first"""


@dataclass(frozen=True, kw_only=True)
class TextTokens:
    """Tokens of one text or two, and where they come from. Names of values in the graph, [tokens]."""

    texts: tuple[TensorSpec, ...]
    """code points of the texts that apps pass, in their order"""
    starts: str
    """int64: first code point that a token comes from, in its own text; 0 for tokens of the template and padding"""
    ends: str
    """int64: code point after the last one"""
    of_text: str
    """int64: 1 for tokens of a text, 0 for those of the template and padding"""
    goes_on: str
    """bool: whether a token continues the word of the token before"""
    flat: str
    """as in Writer, int64 [1]"""
    is_padded_before: bool = False
    """whether padding comes before the tokens"""


@dataclass(frozen=True, kw_only=True)
class BatchTokens:
    """Tokens of several texts, or pairs of texts, in a run. Names of values in the graph."""

    texts: tuple[TensorSpec, ...]
    """as in TextTokens"""
    mask: str
    """int64 [texts, tokens]: 1 for tokens, 0 for padding"""
    flat: str
    """as in Writer, int64 [1]"""


@dataclass(frozen=True, kw_only=True)
class AttachedInput:
    """Nodes that a kind added before an input."""

    typed: tuple[TypedInput, ...]
    """values that apps pass; none for an input that they no longer pass"""
    value: str
    """value that replaces the core's input, with its element type and shape; empty if the core keeps the input"""
    filled: Mapping[str, str] = field(default_factory=dict)
    """values that replace other inputs of the core, by their names"""
    placement: Placement | None = None
    """position of a picture"""
    tokens: TextTokens | None = None
    """tokens of a text"""
    batch: BatchTokens | None = None
    """tokens of several texts"""
    rate: int | None = None
    """frames per second of a sound, as the core takes it"""
    shapes: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """as in Contract"""
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AttachedOutput:
    """Nodes that a kind added after an output."""

    typed: TypedOutput
    taken: tuple[str, ...]
    """outputs of the core that are no longer outputs of the graph"""
    states: tuple[StateInput, ...] = ()
    """states of the kind's own"""
    is_batch: bool = False
    """whether the output has a row for each text of a batch"""
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """as in Contract"""


@dataclass(frozen=True, kw_only=True)
class Core:
    """Facts about the model that output kinds need."""

    outputs: Mapping[str, TensorSpec]
    """by name, including those of other kinds"""
    placements: Mapping[str, Placement]
    """by name of the input"""
    tokens: Mapping[str, TextTokens] = field(default_factory=dict)
    """of texts, by name of the input"""
    batches: Mapping[str, BatchTokens] = field(default_factory=dict)
    """of several texts in a run, by name of the input"""
    rates: frozenset[int] = frozenset()
    """frames per second of the sounds that the core takes"""
    inputs: Mapping[str, TensorSpec] = field(default_factory=dict)
    """by name; values in the finished graph, too, whoever makes them"""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """metadata of the model file"""
    carried: frozenset[str] = frozenset()
    """outputs that are states"""

    @property
    def is_batch(self) -> bool:
        """Whether outputs have a row for each text."""
        return bool(self.batches)

    def refuse_batch(self, kind: str) -> None:
        """Raises ConfigError for a model of several texts."""
        if self.is_batch:
            raise ConfigError(f"a batch of texts has no kind '{kind}'", hint='use kind = "tensor", or omit batch')

    def other(self, key: str, name: str, spec: TensorSpec) -> TensorSpec:
        """The output `name`, which `key` of the table of `spec` names. Raises ConfigError for `spec` itself, a state
        or no output."""
        if name not in self.outputs or name == spec.name or name in self.carried:
            raise ConfigError(f"{key} '{name}' is not another output", hint=nearest(name, self.outputs))
        return self.outputs[name]


Inputs = Mapping[str, TensorSpec]
"""all inputs of the core, by name"""
Sizes = tuple[int | None, ...]
"""a shape; None for a size that stays open"""


class InputKind(Protocol):
    """An input kind. The fields are the keys of `[model.NAME.inputs.INPUT]`, `kind` the first of them."""

    KIND: ClassVar[str]

    def within(self, folder: Path) -> Self:
        """A copy with absolute paths."""
        ...

    def shapes(self, spec: TensorSpec, inputs: Inputs) -> Mapping[str, Sizes]:
        """Shapes that the input `spec` and those made with it must have first, by name; others stay unchanged.

        Raises ConfigError if the keys do not fit the input; the message continues `model.NAME.inputs.INPUT: `.
        """
        ...

    def attach(self, writer: Writer, spec: TensorSpec, inputs: Inputs) -> AttachedInput:
        """Writes the nodes that make `spec`, one of the core's `inputs`, from the app's input. Raises ConfigError as
        `shapes` does."""
        ...


class OutputTable(Protocol):
    """A table `[model.NAME.outputs.OUTPUT]`. The fields are its keys. It is an OutputKind, or Expanding."""

    KIND: ClassVar[str]

    def within(self, folder: Path) -> Self:
        """A copy with absolute paths."""
        ...


@runtime_checkable
class OutputKind(OutputTable, Protocol):
    """An output kind."""

    def attach(self, writer: Writer, spec: TensorSpec, core: Core) -> AttachedOutput:
        """Writes the nodes that make the app's output from `spec`. Raises ConfigError as input kinds do."""
        ...


@runtime_checkable
class Tokenizing(Protocol):
    """An input kind that makes token ids of strings."""

    @property
    def tokenizer(self) -> Path: ...

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the strings that apps pass."""
        ...

    def ids(self, writer: Writer, texts: Sequence[str], *, is_whole: bool) -> str:
        """int64 [tokens]: ids of the tokens of `texts`, int32 [code points]; those that are whole have the tokens of
        the tokenizer's template already, and are not cut."""
        ...


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """Tables that one table implies."""

    inputs: Mapping[str, InputKind]
    """by name; they replace those of mobpack.toml"""
    output: OutputKind


@runtime_checkable
class Expanding(OutputTable, Protocol):
    """A table of an output that implies tables of inputs, too."""

    def expanded(self, name: str, inputs: Mapping[str, InputKind], signature: Signature) -> Expanded:
        """The tables that the table of the output `name` implies, beside `inputs`. Raises ConfigError as `attach`
        does."""
        ...

    def left_out(self, signature: Signature) -> Mapping[str, int | None]:
        """Inputs that the graph fills in the first step, and apps never pass: what a token adds from one to the next, 0
        for the mask's ones and 1 for positions; None for caches, which begin without tokens."""
        ...
