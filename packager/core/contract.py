"""What an app passes to a model and gets from it in its own words: pictures in, labels and boxes out.

A model whose `[model.NAME.inputs]` or `[model.NAME.outputs]` say so has a Contract. The computing is in the graph
(`packager/contract/`); these values tell targets which tensors of it belong together and what they mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packager.core.signature import TensorSpec


@dataclass(frozen=True, kw_only=True)
class ImageInput:
    """One picture of any size, as it lies in memory."""

    identifier: str
    """of the parameter, camelCase"""
    pixels: TensorSpec
    """uint8 [height, width, channels], rows without gaps"""
    channels: TensorSpec
    """int64 [3]: where red, green and blue lie in a pixel: 0 1 2 of RGBA and RGB, 2 1 0 of BGRA, 0 0 0 of grey"""
    orientation: TensorSpec
    """int64, no dimensions: EXIF's number, 1 to 8, of how the picture has to be turned; others count as 1"""


@dataclass(frozen=True, kw_only=True)
class AudioInput:
    """One recording of any length and rate."""

    identifier: str
    samples: TensorSpec
    """float [frames, channels] from -1 to 1, or int16 [frames, channels]"""
    rate: TensorSpec
    """int64, no dimensions: frames per second"""


@dataclass(frozen=True, kw_only=True)
class StateInput:
    """What a model carries from one run to the next: zeros first, then what `output` was."""

    identifier: str
    input: TensorSpec
    """its shape is static"""
    output: TensorSpec
    """of the same type and size"""


@dataclass(frozen=True, kw_only=True)
class TensorInput:
    """An input that is passed as it is."""

    identifier: str
    spec: TensorSpec


@dataclass(frozen=True, kw_only=True)
class ClassesOutput:
    """Which classes a model sees, and how sure it is."""

    identifier: str
    scores: TensorSpec
    """float [classes]"""
    labels: tuple[str, ...]
    """one for each class; empty when nobody named them"""
    top_k: int
    """how many an app gets unless it asks for another number, best first; of equal ones the lower index first"""
    threshold: float
    """classes with lower scores are left out"""


@dataclass(frozen=True, kw_only=True)
class BoxesOutput:
    """Where a model sees what: best first."""

    identifier: str
    boxes: TensorSpec
    """float [boxes, 4]: left, top, right, bottom, in pixels of the upright picture when the model takes one"""
    scores: TensorSpec
    """float [boxes]"""
    classes: TensorSpec
    """int64 [boxes]"""
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MaskOutput:
    """What a model sees at each place of a picture."""

    identifier: str
    classes: TensorSpec
    """uint8 [height, width]: the best class of each place; of a model with one class, 1 where it is"""
    scores: TensorSpec
    """float [height, width]: of that class"""
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class EmbeddingOutput:
    """A point in a space where near means alike."""

    identifier: str
    vector: TensorSpec
    """float [size] of length 1"""


@dataclass(frozen=True, kw_only=True)
class TextOutput:
    """What a model reads, one symbol after the other."""

    identifier: str
    symbols: TensorSpec
    """int64 [symbols]: positions in `alphabet`"""
    scores: TensorSpec
    """float [symbols]"""
    alphabet: tuple[str, ...]
    """one or more characters each"""


@dataclass(frozen=True, kw_only=True)
class TensorOutput:
    """An output that an app gets as it is."""

    identifier: str
    spec: TensorSpec


ADDED = "mobpack/"
"""How the names of nodes and values begin that a contract put around a model."""

TypedInput = ImageInput | AudioInput | StateInput | TensorInput
TypedOutput = ClassesOutput | BoxesOutput | MaskOutput | EmbeddingOutput | TextOutput | TensorOutput

VERBS: Mapping[type, str] = {
    ClassesOutput: "classify",
    BoxesOutput: "detect",
    MaskOutput: "segment",
    EmbeddingOutput: "embed",
    TextOutput: "read",
}
SEVERAL = "predict"
"""What the method is called that gives several things at once, or a tensor."""


@dataclass(frozen=True, kw_only=True)
class Contract:
    inputs: tuple[TypedInput, ...]
    """in the model's order, states among them"""
    outputs: tuple[TypedOutput, ...]
    """in the model's order, without those of states"""
    shapes: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """shapes that random inputs have, by the name of a tensor whose own is open: one after the other"""
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """what random inputs are chosen from, by the name of an integer tensor that is not any number"""

    @property
    def verb(self) -> str:
        """What the method is called."""
        if len(self.outputs) != 1:
            return SEVERAL
        return VERBS.get(type(self.outputs[0]), SEVERAL)

    @property
    def states(self) -> tuple[StateInput, ...]:
        return tuple(each for each in self.inputs if isinstance(each, StateInput))

    @property
    def parameters(self) -> tuple[ImageInput | AudioInput | TensorInput, ...]:
        """What an app passes: states are carried for it."""
        return tuple(each for each in self.inputs if not isinstance(each, StateInput))
