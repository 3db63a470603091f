"""What apps pass to models and get from them: one file for each kind, and one line here."""

from collections.abc import Mapping

from packager.contract.kind import AttachedInput, AttachedOutput, Core, InputKind, OutputKind, Placement
from packager.contract.tensor import PlainInput, PlainOutput
from packager.contract.writer import OPSET, Writer, Written

INPUT_KINDS: Mapping[str, type[InputKind]] = {
    PlainInput.KIND: PlainInput,
}

OUTPUT_KINDS: Mapping[str, type[OutputKind]] = {
    PlainOutput.KIND: PlainOutput,
}

__all__ = [
    "INPUT_KINDS",
    "OPSET",
    "OUTPUT_KINDS",
    "AttachedInput",
    "AttachedOutput",
    "Core",
    "InputKind",
    "OutputKind",
    "Placement",
    "PlainInput",
    "PlainOutput",
    "Writer",
    "Written",
]
