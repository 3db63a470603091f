"""The values a build passes from step to step, in the order they flow. All are immutable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath

from packager.core.contract import Contract
from packager.core.signature import LENGTH_WORDS, Dimension, ElementType, Signature, TensorSpec

__all__ = [
    "LENGTH_WORDS",
    "Artifact",
    "Choice",
    "Compiled",
    "Contract",
    "Dimension",
    "ElementType",
    "FloatLayer",
    "Format",
    "GraphRequirements",
    "Model",
    "Package",
    "Plan",
    "Precision",
    "Range",
    "Signature",
    "Sources",
    "Style",
    "TensorSpec",
    "Traits",
    "Variant",
    "baseline",
    "data_folder",
    "distinct_files",
]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A checked ONNX graph without its weights, which stay in the user's files."""

    name: str
    """the key of `[model.NAME]`; class and asset names derive from it"""
    path: Path
    """the file the user gave"""
    graph: bytes
    """serialized ModelProto; large tensors are external references into `path` or the model's own data files"""
    signature: Signature
    ir_version: int
    opsets: Mapping[str, int]
    operators: Mapping[str, int]
    """`domain::Op` or `Op` -> number of nodes, subgraphs and functions included"""
    size_bytes: int
    """the file and its external data"""
    parameter_count: int
    sha256: str
    """of the file and its external data; empty as long as nobody has read them"""
    data_files: tuple[Path, ...] = ()
    """external data files of the original model"""
    notes: tuple[str, ...] = ()
    """what loading changed or noticed, one sentence each; --strict makes each an error"""
    license_file: Path | None = None
    contract: Contract | None = None
    """what an app passes and gets, where that is more than tensors; what it computes is in `graph` already"""

    @property
    def data_folder(self) -> Path:
        """What external references in `graph` are relative to."""
        return data_folder(self.path)

    @property
    def random_operators(self) -> tuple[str, ...]:
        """Its operators that draw random numbers: outputs may differ from run to run."""
        return tuple(op for op in self.operators if op.startswith(("Random", "Bernoulli", "Multinomial")))


def data_folder(path: Path) -> Path:
    """The folder that external references of the model at `path` are relative to, links resolved.

    Model hubs keep files as links into a folder of blobs; ONNX Runtime refuses links that leave the model's folder.
    """
    return path.resolve().parent


@dataclass(frozen=True, kw_only=True)
class Range:
    """Between which numbers a value of a graph lies, as calibration found it."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class FloatLayer:
    """A layer that a quantizer left in float."""

    name: str
    """of its node"""
    operator: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One ONNX graph for one purpose, and how it was made."""

    model: Model
    name: str
    """`source` for the model's own numbers, else as in `[variant.NAME]`"""
    graph: bytes
    """serialized ModelProto, external references as in Model.graph, or all of them into `weights`"""
    quantizer: str
    weights: Path | None = None
    """the file with the weights that a quantizer wrote, in the store; None where those of the model are used"""
    left: tuple[FloatLayer, ...] = ()
    """what a quantizer left in float"""

    @property
    def data_folder(self) -> Path:
        """What external references in `graph` are relative to."""
        return self.weights.parent if self.weights else self.model.data_folder

    @property
    def size_bytes(self) -> int:
        """Of the graph and its weights."""
        return len(self.graph) + self.weights.stat().st_size if self.weights else self.model.size_bytes


def baseline(model: Model, name: str = "source") -> Variant:
    """The variant that has the model's own numbers."""
    return Variant(model=model, name=name, graph=model.graph, quantizer="none")


class Precision(StrEnum):
    """What a graph computes with: decides which providers can use it."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    QDQ = "quantize-dequantize"
    """activations and weights quantized, written as QuantizeLinear and DequantizeLinear around float operators"""
    QUANTIZED_OPERATORS = "quantized operators"
    """activations quantized, written as operators such as QLinearConv or ConvInteger that few providers know"""
    WEIGHT_ONLY = "weight-only"
    """float activations; weights are dequantized when the model runs"""


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What of a variant decides which graph a provider should get."""

    precision: Precision
    activations: str = ""
    """element type of quantized activations: `int8`, `uint8`, `uint16`; several with `+` between"""
    weights: str = ""
    """element type of quantized weights, as above"""
    has_dynamic_shapes: bool = False


@dataclass(frozen=True, kw_only=True)
class GraphRequirements:
    """The graph that a provider wants of a variant."""

    style: "Style"
    reason: str
    """why, in words that end a line of the plan"""
    needs_float: bool = False
    """a variant with quantized activations must have the quantization taken out first"""
    needs_unsigned: bool = False
    """int8 activations must be written as uint8 ones first"""
    needs_parameters_inside: bool = False
    """it does not find scales, zero points and biases that lie in another file than the graph"""
    needs_one_file: bool = False
    """it may not find weights that lie in another file"""
    needs_cache_key: bool = False
    """it keeps what it compiled under a key that it looks for in the file"""
    refuses_ort: str = ""
    """why the provider cannot use an unfused graph in ORT format, in words; empty when it can"""
    note: str = ""
    """what the provider will not do well with this variant, one sentence; empty when nothing"""


class Style(StrEnum):
    """How far a graph is rewritten before it ships."""

    FIXED = "fixed"
    """every rewrite that helps ARM's CPU kernels is in the file; providers cannot take the fused nodes apart"""
    UNFUSED = "unfused"
    """basic rewrites alone: providers find the nodes they know, and the runtime fuses what they leave to the CPU"""
    PLAIN = "plain"
    """the graph as it is in the model: the runtime rewrites it on the device, at every load"""
    CONTEXT = "context"
    """compiled for one chip: a binary of the provider's own in a graph of one node"""


class Format(StrEnum):
    ORT = "ort"
    ONNX = "onnx"
    """a graph whose weights lie in files beside it, so that loading maps them instead of reading them"""


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A file of a variant as it ships, and what it asks of a runtime."""

    variant: Variant
    path: Path
    """the `.ort` or `.onnx` file, in the store"""
    sha256: str
    """of `path`"""
    size_bytes: int
    """with `data_files`"""
    operators: Mapping[str, str]
    """`domain;since_version;Op` -> JSON of the types it is used with, `""` where all types are meant; what the runtime
    adds when it loads the file included"""
    disabled_optimizers: tuple[str, ...] = ()
    """graph optimizers that were left out because they made the file grow"""
    style: Style = Style.FIXED
    format: Format = Format.ORT
    data_files: tuple[Path, ...] = ()
    """weights of an ONNX file: they lie beside it under these names, each smaller than 2^31 bytes"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """session configuration that it has to be opened with"""
    processor: str = ""
    """what only this file's phones have: `FP16` for arithmetic in 16 bits; empty for every phone"""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which file a provider opens, and why."""

    provider: str
    """`qnn`, `xnnpack` ... or `cpu`"""
    compiled: Compiled
    reason: str
    soc_models: tuple[str, ...] = ()
    """chips that the file was compiled for, as Android names them (Build.SOC_MODEL); empty for any"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What ships of a model for one target."""

    model: Model
    target: str
    choices: tuple[Choice, ...]
    """in the order in which they are tried: files for certain chips before the provider's general one, `cpu` last"""
    notes: tuple[str, ...] = ()
    """what the plan could not do as asked, one sentence each; --strict makes each an error"""
    precision: Precision = Precision.FLOAT32
    """what the variant computes with"""

    @property
    def files(self) -> tuple[Compiled, ...]:
        """The distinct files, each once."""
        return tuple({choice.compiled.sha256: choice.compiled for choice in self.choices}.values())

    @property
    def cpu(self) -> Compiled:
        return self.choices[-1].compiled


def distinct_files(plans: Sequence[Plan]) -> list[Compiled]:
    """Every file of `plans` once."""
    files = {(each.model.name, compiled.sha256): compiled for each in plans for compiled in each.files}
    return list(files.values())


@dataclass(frozen=True, kw_only=True)
class Package:
    """What all targets of a build share."""

    name: str
    version: str
    license: str
    """SPDX identifier, or empty"""
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Texts and files of one package by relative path; nothing is on disk yet."""

    texts: Mapping[PurePosixPath, str]
    files: Mapping[PurePosixPath, Path]
    links: Mapping[PurePosixPath, str] = field(default_factory=dict)
    """where symbolic links point, from the folder they lie in"""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One finished file of a package, in the store."""

    target: str
    kind: str
    """`aar`, `sources-jar` ..."""
    path: Path
    sha256: str
    size_bytes: int
