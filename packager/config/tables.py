"""The tables of mobpack.toml: package, models, variants and targets; Config contains all of them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Union

from pydantic import Discriminator, Field, Tag, create_model

from packager import contract
from packager.config.cache import CacheTable
from packager.config.checks import CheckTable, ParityTable, ToleranceTable
from packager.config.pipelines import PipelineTable
from packager.config.runtime import RuntimeTable
from packager.config.strict import Size, Strict, matches
from packager.contract import INPUT_KINDS, OUTPUT_KINDS, InputKind
from packager.core import names
from packager.core.card import NO_CARD, Card
from packager.core.errors import ConfigError
from packager.quantizers import QUANTIZERS, NoQuantizer, Recipe
from packager.targets import KNOWN_TARGETS, TARGETS, WRAPPERS, Target, Wrapper

FILE_NAME = "mobpack.toml"
SOURCE = "source"
"""variant with the model's own numbers; it needs no table"""
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]*")
ADDRESS = re.compile(r"(https://[^\s\"<>]+)?")
KEY_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63})?")


class PackageTable(Strict):
    name: Annotated[
        str,
        matches(
            names.PACKAGE_NAME,
            "use lower-case letters, digits and single hyphens, starting with a letter; "
            "Windows reserves aux, con and nul",
        ),
    ]
    """artifact id; the Kotlin package and module names derive from it"""
    version: Annotated[str, matches(VERSION, "use letters, digits, dots, plus and hyphens, for example 1.0.0")] = (
        "1.0.0"
    )
    """version of the package, used in its file names and Maven coordinates"""
    license: str = ""
    """SPDX identifier of the licence, for the package's metadata"""
    description: str = ""
    """one-sentence description, for the package's metadata"""
    url: Annotated[str, matches(ADDRESS, "use an address that begins with https://")] = ""
    """the package's home page, for the POM"""
    scm: Annotated[str, matches(ADDRESS, "use an address that begins with https://")] = ""
    """address of the repository with its sources, for the POM"""
    developers: tuple[str, ...] = ()
    """who makes it, for the POM: `["Ada Lovelace"]`; Maven Central requires `license`, `description`, `url`, `scm` and
    this"""
    npm_registry: Annotated[str, matches(ADDRESS, "use an address that begins with https://")] = ""
    """registry that `npm publish` sends the npm package to; default: npm's own"""
    trust: Path | tuple[Path, ...] = ()
    """public key (PEM, ECDSA P-256) of releases: generated code then opens only files that `mobpack sign` has signed
    with its private key. Two of them for a change of keys: `["release.pub", "next.pub"]`. See docs/signing.md"""
    channel: Path | None = None
    """root file of the channel from which apps update their models, as `mobpack channel init` has made it:
    `"stable.root.json"`; needs `trust`. See docs/delivery.md"""
    encryption: Annotated[str, matches(KEY_ID, "use letters, digits, dots, _ and -, for example models-1")] = ""
    """name of the key that the models are encrypted with, by which apps know it; `mobpack build --model-key` says where
    it is. Whoever controls a device can get it there. See docs/signing.md"""

    @property
    def trusted(self) -> tuple[Path, ...]:
        """The files of `trust`."""
        return (self.trust,) if isinstance(self.trust, Path) else self.trust

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that the table names."""
        return (*self.trusted, *([self.channel] if self.channel else []))


def _named_by(key: str, default: str) -> Discriminator:
    """Discriminates plug-ins by the value of `key` in a table."""

    def name_of(table: object) -> str:
        return str(table.get(key, default) if isinstance(table, dict) else getattr(table, key, ""))

    return Discriminator(name_of)


if TYPE_CHECKING:
    InputTable = InputKind
    OutputTable = contract.OutputTable
    VariantTable = Recipe
else:
    InputTable = Annotated[
        Union[tuple(Annotated[kind, Tag(name)] for name, kind in INPUT_KINDS.items())],  # noqa: UP007
        _named_by("kind", ""),
    ]
    OutputTable = Annotated[
        Union[tuple(Annotated[kind, Tag(name)] for name, kind in OUTPUT_KINDS.items())],  # noqa: UP007
        _named_by("kind", ""),
    ]
    VariantTable = Annotated[
        Union[tuple(Annotated[kind, Tag(name)] for name, kind in QUANTIZERS.items())],  # noqa: UP007
        _named_by("quantizer", NoQuantizer.NAME),
    ]
"""A table whose keys depend on the kind, or the quantizer, that it names."""


class ImporterTable(Strict):
    name: str = ""
    """importer, as `mobpack import --from` names it; default: the one that reads the source"""
    samples: Path | None = None
    """inputs to compare on: an .npz by input name, or a folder of them; default: random inputs"""
    sizes: dict[str, int] = {}
    """sizes of dynamic dimensions in random inputs: `height = 224`"""
    keep_layout: bool = False
    """keeps inputs and outputs channels last, even where that costs a Transpose"""
    allow_code: bool = False
    """loads sources whose files can run code, such as pickles: only for files that you trust"""


class ModelTable(Strict):
    path: Path
    """the .onnx file, relative to mobpack.toml; or a model of another framework, which is imported: see
    docs/import.md"""
    importer: ImporterTable = ImporterTable()
    """how a model of another framework is imported"""
    encoder: Path | None = None
    """the encoder's .onnx file, where `path` is the decoder of a recognizer or translator: `encoder_model.onnx` beside
    `decoder_model_merged.onnx`; see docs/generation.md"""
    with_past: Path | None = None
    """the decoder of further steps, where an older export has two: `decoder_with_past_model.onnx` beside
    `decoder_model.onnx`, which `path` names"""
    rename: dict[str, str] = {}
    """other names for inputs, outputs and dimensions, which generated code and all other keys use: `fetch_name_0 =
    "scores"`; `"x.0" = "batch"` for the first dimension of `x`, where it has no name"""
    shapes: dict[str, Size | tuple[Size, ...]] = {}
    """sizes of dynamic dimensions: `batch = 1`, or of a whole input: `x = [1, 3, 224, 224]`"""
    license: Path | None = None
    """the model's licence file, shipped in the package"""
    card: Card = NO_CARD
    """facts for the bill of materials: the licence of the model, its data, accuracy and limits; see docs/sbom.md"""
    inputs: dict[str, InputTable] = {}
    """inputs that apps pass in another form than a tensor: `[model.NAME.inputs.INPUT]` with, for example, `kind =
    "image"`"""
    outputs: dict[str, OutputTable] = {}
    """outputs that apps get in another form than a tensor: `[model.NAME.outputs.OUTPUT]` with, for example, `kind =
    "classes"`"""
    tolerance: dict[str, ToleranceTable] = {}
    """tolerances of single outputs, which replace those of [parity] for that output"""


if TYPE_CHECKING:
    TargetTable = Strict
else:
    TargetTable = create_model(
        "TargetTable",
        __base__=Strict,
        **{name: (kind | None, Field(default=None, alias=name)) for name, kind in KNOWN_TARGETS.items()},
    )
"""A field for each target and wrapper."""


class Config(Strict):
    package: PackageTable
    model: Annotated[dict[str, ModelTable], Field(min_length=1)]
    pipeline: dict[str, PipelineTable] = {}
    variant: dict[str, VariantTable] = {}
    parity: ParityTable = ParityTable()
    check: CheckTable = CheckTable()
    runtime: RuntimeTable = RuntimeTable()
    cache: CacheTable = CacheTable()
    target: TargetTable = TargetTable()

    @property
    def is_private(self) -> bool:
        """Whether nothing of the models may leave this machine but in encrypted files."""
        return bool(self.package.encryption)

    def targets(self) -> Mapping[str, Target]:
        """Target name -> table, for those in the file."""
        return {name: table for name in TARGETS if (table := getattr(self.target, name)) is not None}

    def wrappers(self) -> Mapping[str, Wrapper]:
        """Wrapper name -> table, for those in the file; their targets are in `targets`, on defaults if the file has no
        table."""
        return {name: table for name in WRAPPERS if (table := getattr(self.target, name)) is not None}

    def quantizer_of(self, variant: str) -> Recipe:
        """The quantizer of a variant; `source`, the model's own numbers, always exists. Raises ConfigError for an
        undefined variant."""
        if variant in self.variant:
            return self.variant[variant]
        if variant == SOURCE:
            return NoQuantizer()
        raise ConfigError(f"variant '{variant}' is not defined", hint=f"add a [variant.{variant}] table to {FILE_NAME}")
