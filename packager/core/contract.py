"""Describes a model's inputs and outputs in an app's terms: pictures in, labels and boxes out.

A model with `[model.NAME.inputs]` or `[model.NAME.outputs]` has a Contract. The graph does the computing
(`packager/contract/`); these values tell targets which of its tensors belong together and what they mean.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

from packager.core.chat import ChatTemplate
from packager.core.described import Described, Plain
from packager.core.signature import Signature, TensorSpec

SEVERAL = "predict"
"""Name of the method that returns several outputs, or a tensor."""
CONVERSIONS = ("none", "bt601-full", "bt601-video", "bt709-full", "bt709-video")
"""conversions of a picture's pixels to red, green and blue, in the order in which graphs and packages number them"""


@dataclass(frozen=True, kw_only=True)
class ImageInput:
    """One picture of any size, as it lies in memory."""

    identifier: str
    """camelCase name of the parameter"""
    pixels: TensorSpec
    """uint8 [height, width, channels], rows without gaps"""
    channels: TensorSpec
    """int64 [3]: where red, green and blue lie in a pixel: 0 1 2 of RGBA and RGB, 2 1 0 of BGRA, 0 0 0 of grey and of
    brightness (Y of YUV)"""
    chroma: TensorSpec
    """uint8 [chroma height, chroma width, chroma channels]: U and V of the same picture, usually of half its height and
    width; one zero for a picture that is not YUV"""
    conversion: TensorSpec
    """int64 [3]: where U and V lie in a pixel of `chroma`, and the conversion to red, green and blue: an index of
    `packager.core.contract.CONVERSIONS`"""
    orientation: TensorSpec
    """int64, no dimensions: EXIF orientation, 1 to 8; other values count as 1"""


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """Numbers of a stream of sound: samples at the rate of the model."""

    rate: int
    """per second"""
    hop: int
    """from one run of the model to the next"""
    length: int
    """of a run: those of the hop, and before them the last ones of the hops before"""


@dataclass(frozen=True, kw_only=True)
class AudioInput:
    """One recording of any length and rate."""

    identifier: str
    samples: TensorSpec
    """float [frames, channels] from -1 to 1, or int16 [frames, channels]"""
    rate: TensorSpec
    """int64, no dimensions: frames per second"""
    place: TensorSpec | None = None
    """int64 [3] of a model with streams, zeros for a whole recording: time from the first of `samples` to the first
    that the model takes, where the unit is a frame divided by the model's rate, with both rates in lowest terms; and
    numbers of zeros that the model takes before its first sample and after its last one"""
    streamed: Streamed | None = None
    """if apps may pass a sound piece by piece"""


BETWEEN = -2
"""stands between the code points of two texts"""


@dataclass(frozen=True, kw_only=True)
class TextInput:
    """One string, or several. The graph contains the tokenizer."""

    identifier: str
    """camelCase name of the parameter"""
    code_points: TensorSpec
    """int32 [characters]: Unicode code points of the string. Lone surrogates are allowed and count as U+FFFD; -1 counts
    as nothing: an empty string is one of these. Those of several strings have BETWEEN between two of them"""
    is_batch: bool = False
    """whether apps may pass several strings: the outputs have a row for each"""


@dataclass(frozen=True, kw_only=True)
class StateInput:
    """A value that a model carries from one run to the next: zeros first, then the previous value of `output`."""

    identifier: str
    input: TensorSpec
    output: TensorSpec
    """of the same type; of the same size, where the input's is fixed"""
    start_size: int = 0
    """what open sizes of the input are in the first run: 0 or 1"""

    @property
    def first_shape(self) -> tuple[int, ...]:
        """Shape in the first run."""
        return tuple(size if isinstance(size, int) else self.start_size for size in self.input.shape)


@dataclass(frozen=True, kw_only=True)
class TensorInput:
    """An input that the app passes unchanged."""

    identifier: str
    spec: TensorSpec


@dataclass(frozen=True, kw_only=True)
class ClassesOutput:
    """Classes with their scores."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="classify",
        type="Classification",
        is_list=True,
        tensors=("scores",),
        lines=("labels",),
        limits=("top_k", "threshold"),
        function="classificationsOf",
        module="classes",
        noun="classes",
        sentence="The classes that fit, best first; classes below the threshold of the model are left out.",
    )

    identifier: str
    scores: TensorSpec
    """float [classes], or [texts, classes] of a batch"""
    labels: tuple[str, ...]
    """one for each class; empty if the project names none"""
    top_k: int
    """default number of classes that an app gets, best first; ties go to the lower index"""
    threshold: float
    """minimum score: classes below it are left out; LOWEST for none"""


@dataclass(frozen=True, kw_only=True)
class BoxesOutput:
    """Detected objects, best first."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="detect",
        type="Detection",
        is_list=True,
        tensors=("boxes", "scores", "classes"),
        lines=("labels",),
        function="detectionsOf",
        module="boxes",
        noun="found",
        sentence="The objects in a picture and where they are, best first.",
        has_places=True,
    )

    identifier: str
    boxes: TensorSpec
    """float [boxes, 4]: left, top, right, bottom, in pixels of the upright picture if the model takes one"""
    scores: TensorSpec
    """float [boxes]"""
    classes: TensorSpec
    """int64 [boxes]"""
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class InstancesOutput:
    """Detected objects with their outlines, best first."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="segment",
        type="Instance",
        is_list=True,
        tensors=("boxes", "scores", "classes", "areas", "places"),
        lines=("labels",),
        function="instancesOf",
        module="instances",
        noun="found",
        sentence="The objects in a picture, where they are, and which pixels are theirs, best first.",
        has_places=True,
    )

    identifier: str
    boxes: TensorSpec
    """float [instances, 4]: left, top, right, bottom, in pixels of the upright picture"""
    scores: TensorSpec
    """float [instances]"""
    classes: TensorSpec
    """int64 [instances]"""
    areas: TensorSpec
    """int32 [instances, 4]: left, top, width and height of each mask, in pixels of the upright picture"""
    places: TensorSpec
    """uint8 [sum of width * height]: the masks one after the other, each row by row, 1 where the object is"""
    labels: tuple[str, ...]
    image: str
    """identifier of the picture that they are in"""


@dataclass(frozen=True, kw_only=True)
class KeypointsOutput:
    """Named points in a picture, in the model's order."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="locate",
        type="Keypoint",
        is_list=True,
        tensors=("points", "scores"),
        lines=("labels",),
        function="keypointsOf",
        module="keypoints",
        noun="points",
        sentence="The named points in a picture, in the model's order.",
        has_places=True,
    )

    identifier: str
    points: TensorSpec
    """float [points, 2]: x and y in pixels of the upright picture if the model takes one"""
    scores: TensorSpec
    """float [points]"""
    labels: tuple[str, ...]
    """name of each point"""


@dataclass(frozen=True, kw_only=True)
class MaskOutput:
    """A class for each place of a picture."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="segment",
        type="Mask",
        tensors=("classes", "scores"),
        shape="classes",
        lines=("labels",),
        function="maskOf",
        module="mask",
        noun="mask",
        sentence="The class at each place of a picture.",
        has_places=True,
    )

    identifier: str
    classes: TensorSpec
    """uint8 [height, width]: the best class of each place; for a model with one class, 1 where that class is"""
    scores: TensorSpec
    """float [height, width]: score of that class"""
    labels: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PictureOutput:
    """A picture that the model makes."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="render",
        type="RgbaPicture",
        tensors=("pixels",),
        shape="pixels",
        function="rgbaPictureOf",
        module="rgba",
        noun="rendered",
        sentence="The picture that the model makes.",
    )

    identifier: str
    pixels: TensorSpec
    """uint8 [height, width, 4]: red, green, blue and alpha, which is not premultiplied"""


@dataclass(frozen=True, kw_only=True)
class EmbeddingOutput:
    """A vector whose distance to others measures similarity."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="embed",
        type=Plain.NUMBERS,
        tensors=("vector",),
        noun="vector",
        sentence="A vector of length 1: vectors of similar inputs are near each other.",
    )

    identifier: str
    vector: TensorSpec
    """float [size], normalized to length 1, or [texts, size] of a batch"""


@dataclass(frozen=True, kw_only=True)
class TextOutput:
    """Recognized text, one symbol after the other."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="read",
        type="Reading",
        tensors=("symbols", "scores"),
        lines=("alphabet",),
        function="readingOf",
        module="text",
        noun="reading",
        sentence="The text that the model reads.",
    )

    identifier: str
    symbols: TensorSpec
    """int64 [symbols]: indices into `alphabet`"""
    scores: TensorSpec
    """float [symbols]"""
    alphabet: tuple[str, ...]
    """each of one or more characters"""


@dataclass(frozen=True, kw_only=True)
class SpansOutput:
    """Named parts of a text, such as people and places, in the order of the text."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="entities",
        type="Entity",
        is_list=True,
        tensors=("classes", "starts", "ends", "scores"),
        text="text",
        lines=("labels",),
        function="entitiesOf",
        module="entities",
        noun="found",
        sentence="The named parts of the text, in its order.",
    )

    identifier: str
    classes: TensorSpec
    """int64 [spans]: indices into `labels`"""
    starts: TensorSpec
    """int64 [spans]: first code point of each"""
    ends: TensorSpec
    """int64 [spans]: code point after its last one"""
    scores: TensorSpec
    """float [spans]"""
    text: TensorSpec
    """code points of the text: those of a TextInput"""
    labels: tuple[str, ...]
    """without prefixes of a scheme, and without the label of tokens outside of spans"""


@dataclass(frozen=True, kw_only=True)
class PairsOutput:
    """A score that says how well a document fits a query."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="score",
        type=Plain.NUMBER,
        tensors=("score",),
        function="scoreOf",
        module="ranking",
        noun="score",
        sentence="How well the document fits the query.",
    )

    identifier: str
    score: TensorSpec
    """float [1], or [texts] of a batch"""
    query: TensorSpec
    """code points of the query: those of a TextInput"""
    document: TensorSpec


@dataclass(frozen=True, kw_only=True)
class GeneratedOutput:
    """A text, of which each run gives a part. The states of the model lead from one run to the next."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="generate",
        type=Plain.TEXTS,
        tensors=("code_points",),
        function="textOf",
        module="generation",
        noun="found",
        sentence="The text that follows, part by part, as the model makes it.",
    )

    identifier: str
    code_points: TensorSpec
    """int32 [characters]: Unicode code points that a run adds to the text, often none"""
    is_finished: TensorSpec
    """int32 [1]: 1 in the last run, otherwise 0"""
    seed: TensorSpec | None
    """int64 [1]: input that random choices depend on; None if there are none"""
    has_encoder: bool
    """whether what apps pass is for an encoder, which only the first run takes"""
    chat: ChatTemplate | None = None
    """makes the prompt of a conversation; None for a model without `chat`"""


@dataclass(frozen=True, kw_only=True)
class ValuesOutput:
    """Named numbers with units, for each step of a series."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="estimate",
        type="NamedValues",
        tensors=("numbers",),
        lines=("labels", "units"),
        function="namedValuesOf",
        module="values",
        noun="values",
        sentence="Named numbers with their units, for each step of a series.",
    )

    identifier: str
    numbers: TensorSpec
    """float [steps, names]: one step for a model without a series"""
    labels: tuple[str, ...]
    """name of each number of a step"""
    units: tuple[str, ...]
    """unit of each; empty texts for numbers without one"""


@dataclass(frozen=True, kw_only=True)
class SoundOutput:
    """A sound: cleaned, or made."""

    DESCRIBED: ClassVar[Described] = Described(
        verb="render",
        type="Sound",
        tensors=("samples",),
        numbers=("rate", "channels"),
        function="soundOf",
        module="sound",
        noun="rendered",
        sentence="The sound that the model makes, samples from -1 to 1.",
    )

    identifier: str
    samples: TensorSpec
    """float [frames, channels] from -1 to 1; NaN where the model gives none"""
    rate: int
    """frames per second"""
    channels: int


@dataclass(frozen=True, kw_only=True)
class TensorOutput:
    """An output that the app gets unchanged."""

    DESCRIBED: ClassVar[Described] = Described(
        verb=SEVERAL,
        type=Plain.TENSOR,
        tensors=("spec",),
        noun="found",
        sentence="A tensor, as the model has it.",
    )

    identifier: str
    spec: TensorSpec


LOWEST = -3.4028234663852886e38
"""smallest float: no score is below it"""
ADDED = "mobpack/"
"""Prefix of the nodes and values that a contract adds to a model."""

TypedInput = ImageInput | AudioInput | TextInput | StateInput | TensorInput
TypedOutput = (
    ClassesOutput
    | BoxesOutput
    | InstancesOutput
    | KeypointsOutput
    | MaskOutput
    | PictureOutput
    | EmbeddingOutput
    | TextOutput
    | SpansOutput
    | PairsOutput
    | GeneratedOutput
    | ValuesOutput
    | SoundOutput
    | TensorOutput
)

FUNCTIONS = frozenset(made for kind in get_args(TypedOutput) if (made := kind.DESCRIBED.function))
"""Names of functions that generated code calls in every language: a parameter has another name."""


def kind_of(typed: TypedInput | TypedOutput) -> str:
    """The kind as mobpack.toml names it: `classes` of a ClassesOutput."""
    return type(typed).__name__.removesuffix("Input").removesuffix("Output").lower()


@dataclass(frozen=True, kw_only=True)
class Contract:
    inputs: tuple[TypedInput, ...]
    """in the model's order, states among them"""
    outputs: tuple[TypedOutput, ...]
    """in the model's order, without outputs of states"""
    shapes: Mapping[str, tuple[tuple[int, ...], ...]] = field(default_factory=dict)
    """shapes of random inputs, in turn, by the name of a tensor whose own shape is open"""
    values: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """values that random inputs are drawn from, by the name of an integer tensor that does not take every number"""
    own: Signature | None = None
    """inputs and outputs of the model itself, which lie inside the graph"""

    @property
    def verb(self) -> str:
        """Name of the method."""
        return self.outputs[0].DESCRIBED.verb if len(self.outputs) == 1 else SEVERAL

    @property
    def top(self) -> int | None:
        """Default number of results, where apps can choose another: they cannot where there are several outputs."""
        only = self.outputs[0] if len(self.outputs) == 1 else None
        return getattr(only, only.DESCRIBED.limits[0]) if only and only.DESCRIBED.limits else None

    @property
    def is_batch(self) -> bool:
        """Whether apps may pass several texts at once: each output has a row for each of them."""
        return any(isinstance(each, TextInput) and each.is_batch for each in self.inputs)

    @property
    def ranks(self) -> bool:
        """Whether apps can rank several documents by one query: the model takes these two texts, and nothing else."""
        return (
            len(self.outputs) == 1
            and isinstance(self.outputs[0], PairsOutput)
            and len(self.inputs) == 2
            and all(isinstance(each, TextInput) for each in self.inputs)
        )

    @property
    def streamed(self) -> Streamed | None:
        """The stream of a model that takes a sound piece by piece, and nothing else."""
        only = self.parameters[0] if len(self.parameters) == 1 else None
        return only.streamed if isinstance(only, AudioInput) else None

    @property
    def generated(self) -> GeneratedOutput | None:
        """The output of a model that generates a text, which has no other."""
        first = self.outputs[0] if self.outputs else None
        return first if isinstance(first, GeneratedOutput) else None

    @property
    def states(self) -> tuple[StateInput, ...]:
        return tuple(each for each in self.inputs if isinstance(each, StateInput))

    @property
    def parameters(self) -> tuple[ImageInput | AudioInput | TextInput | TensorInput, ...]:
        """Inputs that the app passes; states are carried for it."""
        return tuple(each for each in self.inputs if not isinstance(each, StateInput))
