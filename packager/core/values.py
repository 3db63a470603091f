"""Values that a build passes from step to step, in the order they flow. All are immutable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packager.core import user_files
from packager.core.quantized import FloatLayer, KeptScales
from packager.core.signature import LENGTH_WORDS, Dimension, ElementType, Signature, TensorSpec

if TYPE_CHECKING:
    from packager.core.contract import Contract
    from packager.core.pipeline import Pipeline

__all__ = [
    "LENGTH_WORDS",
    "Artifact",
    "Choice",
    "Compiled",
    "Dimension",
    "ElementType",
    "Format",
    "GraphRequirements",
    "LeftOut",
    "Model",
    "Package",
    "Plan",
    "Precision",
    "Signature",
    "Sources",
    "Style",
    "TensorSpec",
    "Traits",
    "Trust",
    "Variant",
    "baseline",
    "data_folder",
    "distinct_files",
]


class Precision(StrEnum):
    """Numeric representation of a graph: decides which providers can use it."""

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
    """Properties of a graph that decide which form of it a provider gets."""

    precision: Precision
    activations: str = ""
    """element type of quantized activations: `int8`, `uint8`, `uint16`; several are joined with `+`"""
    weights: str = ""
    """element type of quantized weights, as above"""
    has_dynamic_shapes: bool = False


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
    """of the file and its external data"""
    parameter_count: int
    traits: Traits
    """of `graph`"""
    sha256: str
    """of the file and its external data; empty until they are read"""
    data_files: tuple[Path, ...] = ()
    """external data files of the original model"""
    imported: str = ""
    """origin of the file in another framework, in one sentence; empty if it was ONNX"""
    notes: tuple[str, ...] = ()
    """changes and findings of loading, one sentence each; --strict turns each into an error"""
    license_file: Path | None = None
    contract: "Contract | None" = None
    """inputs and outputs in an app's terms, if they are more than tensors; `graph` already contains its computations"""
    contract_bytes: int = 0
    """that the contract adds to the graph, tokenizers included"""

    @property
    def shipped_bytes(self) -> int:
        """Size of the float model with its contract, which variants and compiled files are compared with."""
        return self.size_bytes + self.contract_bytes

    @property
    def license_name(self) -> str:
        """Name that the text of its licence has in packages; empty without one."""
        return f"LICENSE-{self.name}.txt" if self.license_file else ""

    @property
    def data_folder(self) -> Path:
        """Base folder of the external references in `graph`."""
        return data_folder(self.path)

    @property
    def random_operators(self) -> tuple[str, ...]:
        """Operators that draw random numbers: outputs may differ from run to run."""
        return tuple(op for op in self.operators if op.startswith(("Random", "Bernoulli", "Multinomial")))


def data_folder(path: Path) -> Path:
    """The folder that external references of the model at `path` are relative to, links resolved.

    Model hubs store files as links into a folder of blobs; ONNX Runtime refuses links that leave the model's folder.
    """
    return user_files.resolved(path).parent


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One ONNX graph for one purpose, and how it was made."""

    model: Model
    name: str
    """`source` for the model in its own precision, else as in `[variant.NAME]`"""
    graph: bytes
    """serialized ModelProto, with external references as in Model.graph, or all of them into `weights`"""
    quantizer: str
    traits: Traits
    """of `graph`"""
    weights: Path | None = None
    """the file with the weights that a quantizer wrote, in the store; None if the variant uses those of the model"""
    left: tuple[FloatLayer, ...] = ()
    """layers that a quantizer left in float"""
    scales: Path | None = None
    """the file with the scales that a quantizer chose, in the store; None if it chose none"""
    kept_scales: KeptScales | None = None
    """which of them are those of the version before; None if it was not asked to keep any"""

    @property
    def data_folder(self) -> Path:
        """Base folder of the external references in `graph`."""
        return self.weights.parent if self.weights else self.model.data_folder

    @property
    def size_bytes(self) -> int:
        """Size of the graph and its weights."""
        return len(self.graph) + self.weights.stat().st_size if self.weights else self.model.size_bytes


def baseline(model: Model, name: str = "source") -> Variant:
    """The variant in the model's own precision."""
    return Variant(model=model, name=name, graph=model.graph, quantizer="none", traits=model.traits)


@dataclass(frozen=True, kw_only=True)
class GraphRequirements:
    """The form in which a provider needs a variant's graph."""

    style: "Style"
    reason: str
    """why, as the end of a line of the plan"""
    needs_float: bool = False
    """whether quantization must first be removed from a variant with quantized activations"""
    needs_unsigned: bool = False
    """whether int8 activations must first be re-encoded as uint8"""
    needs_parameters_inside: bool = False
    """whether scales, zero points and biases must be inside the graph: the provider does not find them in another
    file"""
    cpu_nodes_key: str = ""
    """session configuration with the names of nodes, a line each, that the provider leaves to the CPU; empty if there
    is none, as it computes as exactly, and takes no node of a tokenizer"""
    needs_one_file: bool = False
    """whether weights must be inside the file: the provider may not find them in another one"""
    needs_cache_key: bool = False
    """whether the file needs a key under which the provider caches what it compiled"""
    refuses_ort: str = ""
    """why the provider cannot use an unfused graph in ORT format, in words; empty if it can"""
    note: str = ""
    """limitation of the provider with this variant, one sentence; empty if there is none"""


class Style(StrEnum):
    """Extent to which a graph is rewritten before it ships."""

    FIXED = "fixed"
    """every rewrite that helps ARM's CPU kernels is in the file; providers cannot take the fused nodes apart"""
    UNFUSED = "unfused"
    """only basic rewrites: providers find the nodes they know, and the runtime fuses what they leave to the CPU"""
    PLAIN = "plain"
    """the graph as it is in the model: the runtime rewrites it on the device, at every load"""
    CONTEXT = "context"
    """compiled for one chip: a binary of the provider's own in a graph of one node"""


class Format(StrEnum):
    ORT = "ort"
    ONNX = "onnx"
    """a graph with its weights in files beside it, so that loading maps them instead of reading them"""


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A file of a variant as it ships, and its requirements on a runtime."""

    variant: Variant
    path: Path
    """the `.ort` or `.onnx` file, in the store"""
    sha256: str
    """of `path`"""
    size_bytes: int
    """with `data_files`"""
    operators: Mapping[str, str]
    """`domain;since_version;Op` -> JSON of the types it is used with, `""` for all types; includes operators that the
    runtime adds when it loads the file"""
    disabled_optimizers: tuple[str, ...] = ()
    """graph optimizers that were disabled because they made the file grow"""
    attention: str = ""
    """whether attention of a model that generates texts is fused, in words; empty for other models"""
    style: Style = Style.FIXED
    format: Format = Format.ORT
    data_files: tuple[Path, ...] = ()
    """weights of an ONNX file: they ship beside it under these names, each smaller than 2^31 bytes"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """session configuration that is required to open it"""
    plain_sha256: str = ""
    """of the file before it was encrypted; empty for one that anybody can read"""
    processor: str = ""
    """processor feature that the file requires: `FP16` for 16-bit arithmetic; empty for every phone"""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The file that a provider opens, and why."""

    provider: str
    """`qnn`, `xnnpack` ... or `cpu`"""
    compiled: Compiled
    reason: str
    soc_models: tuple[str, ...] = ()
    """chips whose devices alone open the file, by Android's name (Build.SOC_MODEL): it was compiled for them, or is of
    the variant that was the fastest there; empty for any"""
    variant: str = ""
    """variant that these chips open in the place of the target's; empty for the target's own"""
    nodes: int = 0
    """nodes with MACs that the provider takes of the file by its rules: an app sees whether it takes them there, too; 0
    if not known"""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A provider of a target that has no file of a model, and why."""

    provider: str
    reason: str
    is_named: bool = False
    """whether the project names it"""
    is_refused: bool = False
    """whether it would compute the file wrong or fail with it"""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Files of a model that ship for one target."""

    model: Model
    target: str
    environment: str
    """with the ONNX Runtime that opens them: every file is proved to load there"""
    choices: tuple[Choice, ...]
    """in the order in which they are tried: files for certain chips before the provider's general one, `cpu` last; then
    the same of each variant that some chips open instead"""
    notes: tuple[str, ...] = ()
    """requests that the plan could not meet, one sentence each; --strict turns each into an error"""
    precision: Precision = Precision.FLOAT32
    """precision of the target's variant"""
    left_out: tuple[LeftOut, ...] = ()
    """providers of the target's defaults that are not worth their files"""
    wrapper: str = ""
    """the wrapper whose packages contain these files; empty for the target's own package"""

    @property
    def place(self) -> str:
        """The target, in words: `android`, or `android in react_native`."""
        return f"{self.target} in {self.wrapper}" if self.wrapper else self.target

    @property
    def files(self) -> tuple[Compiled, ...]:
        """The distinct files."""
        return tuple({choice.compiled.sha256: choice.compiled for choice in self.choices}.values())

    @property
    def cpu(self) -> Compiled:
        """The CPU's file of the target's variant."""
        return self.cpu_of("")

    def cpu_of(self, variant: str) -> Compiled:
        """The CPU's file of one of `variants`."""
        return next(each.compiled for each in reversed(self.choices) if each.variant == variant)

    @property
    def variants(self) -> tuple[str, ...]:
        """The names that choices have for their variants: empty for the target's, then those of certain chips."""
        return tuple(dict.fromkeys(("", *(each.variant for each in self.choices))))


def distinct_files(plans: Sequence[Plan]) -> list[Compiled]:
    """The distinct files of `plans`."""
    files = {(each.model.name, compiled.sha256): compiled for each in plans for compiled in each.files}
    return list(files.values())


@dataclass(frozen=True, kw_only=True)
class Trust:
    """Keys and number of a release, for generated code to verify its models with."""

    keys: tuple[bytes, ...]
    """public keys on the curve P-256, as SubjectPublicKeyInfo in DER, 91 bytes each"""
    number: int
    """of the release, in the order of versions: signed lists of files with a smaller one are refused"""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Channel from which generated code updates its models, and the APIs that it can take."""

    channel: str
    root: str
    """first root of the channel that the code trusts: metadata of The Update Framework, in JSON"""
    contracts: Mapping[str, str]
    """name of a model -> hex sha256 of its API; models with another one are for other code"""


@dataclass(frozen=True, kw_only=True)
class Package:
    """Properties that all targets of a build share."""

    name: str
    version: str
    license: str
    """SPDX identifier, or empty"""
    description: str = ""
    url: str = ""
    """home page"""
    scm: str = ""
    """address of the repository with its sources"""
    developers: tuple[str, ...] = ()
    npm_registry: str = ""
    """where `npm publish` sends it; empty for npm's own registry"""
    trust: Trust | None = None
    """None for a package that opens its files unsigned"""
    encryption: str = ""
    """name of the key that model files are encrypted with; empty for a package with readable ones"""
    delivery: Delivery | None = None
    """None for a package whose models come with the app alone"""
    pipelines: "tuple[Pipeline, ...]" = ()
    """by name"""


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Texts and files of one package by relative path; nothing is on disk yet."""

    texts: Mapping[PurePosixPath, str]
    files: Mapping[PurePosixPath, Path]
    links: Mapping[PurePosixPath, str] = field(default_factory=dict)
    """targets of symbolic links, relative to the folder of the link"""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One finished file of a package, in the store."""

    target: str
    kind: str
    """`aar`, `sources-jar` ..."""
    path: Path
    sha256: str
    size_bytes: int
