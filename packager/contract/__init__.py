"""Kinds of inputs and outputs in a contract. To add one: a file and a line here."""

from collections.abc import Mapping

from packager.contract.audio import SoundInput, pieces
from packager.contract.boxes import Boxes, Instances
from packager.contract.classes import Classes
from packager.contract.embedding import Embedding
from packager.contract.generation import Generated
from packager.contract.image import PictureInput
from packager.contract.keypoints import Keypoints
from packager.contract.kind import (
    AttachedInput,
    AttachedOutput,
    Core,
    Expanding,
    InputKind,
    OutputKind,
    OutputTable,
    Placement,
    Sizes,
    TextTokens,
)
from packager.contract.mask import Mask
from packager.contract.pairs import PairScore
from packager.contract.picture import Picture
from packager.contract.sound import Waveform
from packager.contract.spans import Spans
from packager.contract.state import CarriedInput
from packager.contract.tensor import PlainInput, PlainOutput
from packager.contract.text import Text
from packager.contract.tokens import StringInput
from packager.contract.values import Values
from packager.graph.writer import OPSET, Writer, Written

INPUT_KINDS: Mapping[str, type[InputKind]] = {
    PictureInput.KIND: PictureInput,
    SoundInput.KIND: SoundInput,
    StringInput.KIND: StringInput,
    CarriedInput.KIND: CarriedInput,
    PlainInput.KIND: PlainInput,
}

OUTPUT_KINDS: Mapping[str, type[OutputTable]] = {
    Boxes.KIND: Boxes,
    Classes.KIND: Classes,
    Embedding.KIND: Embedding,
    Generated.KIND: Generated,
    Instances.KIND: Instances,
    Keypoints.KIND: Keypoints,
    Mask.KIND: Mask,
    Picture.KIND: Picture,
    Text.KIND: Text,
    Spans.KIND: Spans,
    PairScore.KIND: PairScore,
    Values.KIND: Values,
    Waveform.KIND: Waveform,
    PlainOutput.KIND: PlainOutput,
}

__all__ = [
    "INPUT_KINDS",
    "OPSET",
    "OUTPUT_KINDS",
    "AttachedInput",
    "AttachedOutput",
    "CarriedInput",
    "Core",
    "Expanding",
    "InputKind",
    "OutputKind",
    "OutputTable",
    "Placement",
    "PlainInput",
    "PlainOutput",
    "Sizes",
    "TextTokens",
    "Writer",
    "Written",
    "pieces",
]
