"""Decisions about the files of a plan: which file each provider opens, how it is made, and why. Nothing is made yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from packager.core.values import Format, LeftOut, Precision, Style

Inside = Literal["nothing", "parameters", "weights"]
"""Tensors that stay in the graph itself, however large: scales, zero points and biases of quantized operators, or
all."""


class GraphForm(StrEnum):
    """The graph that a file is made of."""

    VARIANT = "the variant"
    MODEL = "the model that the variant was made of"
    DEQUANTIZED = "the variant without its quantization"
    UNSIGNED = "the variant with uint8 activations"
    SINGLE = "the variant with its contract in 32-bit floats"


@dataclass(frozen=True, kw_only=True)
class FileSpec:
    """How a file is made. Equal ones are the same file."""

    form: GraphForm
    style: Style
    format: Format
    processor: str = ""
    """processor feature that chooses the kernels, as in Compiled"""
    has_cache_key: bool = False
    """whether it has a key under which a provider caches what it compiled"""
    inside: Inside = "nothing"
    """tensors inside the graph of an ONNX file"""
    over: "FileSpec | None" = None
    """the ORT-format file whose weights it uses; None if it has weights of its own"""
    chip: str = ""
    """the chip that it is compiled for, by Android's name; empty for any"""

    def __str__(self) -> str:
        return ", ".join(self._words())

    def _words(self) -> Iterator[str]:
        yield f"{self.style} .{self.format} of {self.form}"
        if self.processor:
            yield f"rewritten on a processor with {self.processor}"
        if self.chip:
            yield f"for {self.chip}"
        if self.inside != "nothing":
            yield f"{self.inside} inside"
        if self.over:
            yield f"over the weights of the {self.over.style} .{self.over.format}"
        if self.has_cache_key:
            yield "with room for a cache key"


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """The file that a provider opens if ORT format cannot hold the graph of the selected one."""

    file: FileSpec
    beginning: str
    """of the reason, which ends with the values that ORT format cannot hold"""
    settings: Mapping[str, str] = field(default_factory=dict)

    def reason(self, unheld: str) -> str:
        return f"{self.beginning} {unheld} that ORT format cannot hold"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The file that a provider is to open, and why."""

    provider: str
    file: FileSpec
    reason: str
    soc_models: tuple[str, ...] = ()
    """chips that the file is for, by Android's name; empty for any"""
    variant: str = ""
    """variant that these chips open in the place of the target's; empty for the target's own"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """session configuration, in addition to what the file requires"""
    alternative: Alternative | None = None
    """None if the build fails without the file"""
    cpu_nodes_key: str = ""
    """session configuration with which the provider leaves nodes to the CPU: those that make tokens of texts, and those
    that computed in 64 bits before the file was given 32; empty if it needs none"""
    is_companion: bool = False
    """whether it ships only beside the selected file of the same provider, not beside the alternative"""

    def lines(self) -> Iterator[str]:
        where = f"{self.provider} on {', '.join(self.soc_models)}" if self.soc_models else self.provider
        yield f"  {where}: {self.file}"
        yield f"    {self.reason}"
        yield from (f"    session: {key} = {value}" for key, value in self.settings.items())
        if self.alternative:
            yield f"    else {self.alternative.file}"
            yield f"    {self.alternative.reason('...')}"
            yield from (f"    session: {key} = {value}" for key, value in self.alternative.settings.items())


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """Whether a provider stands before the CPU, and why."""

    provider: str
    is_worth: bool
    reason: str
    """the figures that decide, in words"""
    is_named: bool = False
    """whether the project names it: then only a provider that computes the file wrong or fails with it is left out"""
    is_refused: bool = False
    """whether the provider computes the file wrong or fails with it"""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Files that a variant ships as on one target: the whole of a plan, before anything is made."""

    model: str
    variant: str
    target: str
    environment: str
    """with the ONNX Runtime of the target's packages"""
    precision: Precision
    """of the variant"""
    selections: tuple[Selection, ...]
    """in the order in which an app tries them, `cpu` last"""
    notes: tuple[str, ...] = ()
    """requests that cannot be met, one sentence each"""
    left_out: tuple[LeftOut, ...] = ()
    """providers of the target's defaults that are not worth their files"""

    def __str__(self) -> str:
        """The decision in words, on one page."""
        title = f"{self.model} ({self.variant}, {self.precision}) on {self.target}:"
        lines = [line for each in self.selections for line in each.lines()]
        lines += [f"  {each.provider}: left out: {each.reason}" for each in self.left_out]
        return "\n".join([title, *lines, *(f"  note: {note}" for note in self.notes)])
