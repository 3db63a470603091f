"""mobpack.toml, typed and strict: the file, `--set` and defaults become one frozen Config."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Union, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)

from packager.contract import INPUT_KINDS, OUTPUT_KINDS, InputKind, OutputKind
from packager.core import names, toml
from packager.core.errors import ConfigError, SettingError, nearest
from packager.quantizers import QUANTIZERS, NoQuantizer, Recipe
from packager.runners import INTERPRETED, RUNNERS
from packager.targets import TARGETS, WRAPPERS, Target, Wrapper
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

FILE_NAME = "mobpack.toml"
SOURCE = "source"
QUANTIZER = "quantizer"
"""Name of the variant that the command line describes."""
SHAPE_FORMS = ("int", "constrained-int", "tuple[constrained-int, ...]")
"""pydantic's names for the forms of a shape; they are no keys of the file"""
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]*")
COORDINATES = re.compile(r"[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.+-]+")
"""`group:artifact:version`, in a Maven repository"""
ARCHIVE_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~%+@=&,-]+)+\.zip")
"""https address of a .zip, in the form that SwiftPM accepts"""
SHA256 = re.compile(r"[0-9a-f]{64}")
NO_TEXT = 'tokenize in the app and pass the numbers: kind = "tensor"; docs/contract.md says why'
KNOWN_TARGETS: Mapping[str, type[Any]] = {**TARGETS, **WRAPPERS}


def _one_of(known: Sequence[str], what: str) -> AfterValidator:
    def check(name: str) -> str:
        if name not in known:
            raise SettingError(f"unknown {what} '{name}'", hint=f"{nearest(name, known)}")
        return name

    return AfterValidator(check)


def _matches(pattern: re.Pattern[str], rule: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise SettingError(f"'{text}' is not allowed", hint=f"{rule}")
        return text

    return AfterValidator(check)


Size = Annotated[int, Field(ge=0)]
RunnerName = Annotated[str, _one_of(sorted(RUNNERS), "runner")]
InterpretedName = Annotated[str, _one_of(sorted(INTERPRETED), "runner that takes an interpreter")]


class Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=names.kebab_case,
        use_attribute_docstrings=True,
    )


class PackageTable(Strict):
    name: Annotated[
        str,
        _matches(
            names.PACKAGE_NAME,
            "use lower-case letters, digits and single hyphens, starting with a letter; "
            "Windows reserves aux, con and nul",
        ),
    ]
    """artifact id; the Kotlin package and module names derive from it"""
    version: Annotated[str, _matches(VERSION, "use letters, digits, dots, plus and hyphens, for example 1.0.0")] = (
        "1.0.0"
    )
    """version of the package, used in its file names and Maven coordinates"""
    license: str = ""
    """SPDX identifier of the licence, for the package's metadata"""
    description: str = ""
    """one-sentence description, for the package's metadata"""


class ToleranceTable(Strict):
    """Tolerances for one output on every runner; integers, booleans and strings must be equal."""

    max_rel_error: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """largest allowed error as a share of the output's scale, see `tolerance` of [parity]"""
    atol: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """allowed absolute error, added to max-rel-error times the scale; default: a hundredth of max-rel-error"""
    max_abs_error: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """largest allowed error, whatever the scale"""
    min_cosine: Annotated[float, Field(ge=-1, le=1)] | None = None
    """smallest allowed cosine between the output and the original's, over all samples"""
    min_sqnr_db: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """smallest allowed ratio of signal to noise in dB, over all samples"""
    min_top1_agreement: Annotated[float, Field(ge=0, le=1)] | None = None
    """smallest allowed share of rows (last axis) whose largest value is at the same index as in the original"""
    max_mismatches: Size = 0
    """number of values that may differ where values must be equal: integers, strings, NaN, infinity"""


def _named_by(key: str, default: str) -> Discriminator:
    """Discriminates plug-ins by the value of `key` in a table."""

    def name_of(table: object) -> str:
        return str(table.get(key, default) if isinstance(table, dict) else getattr(table, key, ""))

    return Discriminator(name_of)


if TYPE_CHECKING:
    InputTable = InputKind
    OutputTable = OutputKind
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


class ModelTable(Strict):
    path: Path
    """the .onnx file, relative to mobpack.toml"""
    shapes: dict[str, Size | tuple[Size, ...]] = {}
    """sizes of dynamic dimensions: `batch = 1`, or of a whole input: `x = [1, 3, 224, 224]`"""
    license: Path | None = None
    """the model's licence file, shipped in the package"""
    inputs: dict[str, InputTable] = {}
    """inputs that apps pass in another form than a tensor: `[model.NAME.inputs.INPUT]` with, for example, `kind =
    "image"`"""
    outputs: dict[str, OutputTable] = {}
    """outputs that apps get in another form than a tensor: `[model.NAME.outputs.OUTPUT]` with, for example, `kind =
    "classes"`"""
    tolerance: dict[str, ToleranceTable] = {}
    """tolerances of single outputs, which replace those of [parity] for that output"""


class ParityTable(Strict):
    runners: tuple[RunnerName, ...] = ("cpu",)
    """runners on which the compiled model is compared with the original; those that cannot run are reported as
    skipped"""
    require: tuple[RunnerName, ...] = ("cpu",)
    """runners that must run for the build to succeed"""
    samples: Path | None = None
    """.npz file keyed by input name, or a folder of them (`samples/MODEL/` for several models); default: random
    samples"""
    random_samples: Annotated[int, Field(ge=1, le=10_000)] = 3
    """number of random samples"""
    seed: Annotated[int, Field(ge=0)] = 0
    """seed of the random samples"""
    tolerance: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """rtol: the largest allowed error is atol + tolerance * scale. The scale is the largest absolute value of the
    output over all samples, and at least 1 if the output comes from Sigmoid, Softmax or another operator of known
    range. Default: 1e-3; 1e-2 in 16 bits; 4e-2 in files for processors that compute in 16 bits; 5e-2 with quantized
    activations"""
    atol: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """allowed absolute error, added to tolerance * scale; default: a hundredth of the tolerance: 1e-5; 1e-4 in 16 bits;
    5e-4 with quantized activations"""
    from_original: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """largest allowed difference between a variant and the original model, as a share of the output's scale; default:
    5e-2 in 16 bits, and an SQNR of at least 3 dB with quantized values. Measured on `samples`, else on the first eight
    calibration samples, else on random samples. This detects broken variants; max-drop of a quantizer limits the loss
    of accuracy"""
    interpreters: dict[InterpretedName, str] = {}
    """Python interpreters for runners: `cuda = "/opt/venv/bin/python"`; default: mobpack's isolated environments.
    onnxruntime and onnxruntime-gpu cannot be installed into one environment"""
    recorded: Path | None = None
    """reference outputs recorded before the model was exported, .npz keyed by output name, one file per sample with the
    sample's name; the runner `recorded` compares the model with them"""
    golden: Literal["random", "samples", "none"] = "random"
    """source of the golden vectors in a package: random inputs, [parity] samples (which puts your data into every app),
    or none"""
    golden_max_kib: Annotated[int, Field(ge=1, le=65_536)] = 1024
    """largest size of one model's golden vectors, in KiB"""


class CheckTable(Strict):
    """Gates of `mobpack check` and `build`; `--fail-on` adds to them."""

    max_partitions: Annotated[int, Field(ge=1)] | None = None
    """largest allowed number of partitions on a provider: every border between partitions costs a copy"""
    min_share: Annotated[float, Field(ge=0, le=1)] | None = None
    """smallest allowed share of the MACs that a provider runs, 0 to 1"""
    gain: Literal["require", "skip"] = "require"
    """`require` rejects a quantized variant that is neither smaller nor faster than its model on this machine"""
    kernels: Literal["require", "skip"] = "require"
    """`require` proves that every file loads in the runtime that ships; `skip` omits this proof"""


class RuntimeTable(Strict):
    """An ONNX Runtime of your own, instead of the published one."""

    android: str = ""
    """an .aar, or a folder or .zip with one, as made by the recipe of `mobpack runtime recipe`; or Maven coordinates,
    `group:artifact:version`. Default: packages depend on the published ONNX Runtime"""
    ios: str = ""
    """an .xcframework, or a folder or .zip with one; or the https address of such a .zip, which is not downloaded"""
    ios_checksum: str = ""
    """sha256 of the .zip at the address, as printed by `swift package compute-checksum`"""
    config: Path | None = None
    """the runtime's operator configuration, if it is neither beside the file nor inside it"""
    name: str = ""
    """short name, one to four letters or digits, to rename its library and classes with, so that an app can contain
    another ONNX Runtime as well"""
    ship: Literal["inside", "maven"] | None = None
    """`inside`, the default for a file, puts the runtime into the .aar; `maven` makes a separate artifact beside the
    package's, which several packages can share"""

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Raises SettingError for keys that do not go together."""
        given = [key for key in ("name", "ship") if getattr(self, key)]
        if given and not self.android:
            raise SettingError(
                f"'{given[0]}' has no effect without 'android'", hint='name the runtime: android = "FILE.aar"'
            )
        if self.config and not self.android and not self.ios:
            raise SettingError(
                "'config' has no effect without 'android' or 'ios'", hint="name the runtime that it belongs to"
            )
        self._check_address()
        if self.is_published and self.name:
            raise SettingError(
                "a runtime given by Maven coordinates cannot be renamed", hint="name its .aar, or remove 'name'"
            )
        if self.is_published and self.ship:
            raise SettingError(
                "a runtime given by Maven coordinates is always a dependency", hint="name its .aar, or remove 'ship'"
            )
        return self

    def _check_address(self) -> None:
        """Raises ValueError for an address that SwiftPM would reject, or one without a checksum."""
        if "://" in self.ios and not self.is_address:
            raise SettingError(
                f"'{self.ios}' is not the address of a .zip", hint="use https://HOST/PATH/onnxruntime.xcframework.zip"
            )
        if self.is_address and not SHA256.fullmatch(self.ios_checksum):
            raise SettingError(
                "an address needs 'ios-checksum', a sha256 of 64 lower-case hex digits",
                hint="run: swift package compute-checksum FILE.zip, or sha256sum FILE.zip",
            )
        if self.ios_checksum and not self.is_address:
            raise SettingError(
                "'ios-checksum' applies to https addresses only", hint="remove it: the checksum of a file is computed"
            )

    @property
    def is_published(self) -> bool:
        return bool(COORDINATES.fullmatch(self.android))

    @property
    def is_address(self) -> bool:
        """Whether `ios` is an address rather than a file."""
        return bool(ARCHIVE_ADDRESS.fullmatch(self.ios))


class TargetTable(Strict):
    android: Android | None = None
    ios: Ios | None = None
    react_native: Annotated[ReactNative | None, Field(alias=ReactNative.NAME)] = None


class Config(Strict):
    package: PackageTable
    model: Annotated[dict[str, ModelTable], Field(min_length=1)]
    variant: dict[str, VariantTable] = {}
    parity: ParityTable = ParityTable()
    check: CheckTable = CheckTable()
    runtime: RuntimeTable = RuntimeTable()
    target: TargetTable = TargetTable()

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


def load(path: Path, *, targets: Sequence[str] = (), settings: Sequence[str] = ()) -> Config:
    """The Config in the file `path`, with `key=value` settings applied and missing `targets` added with defaults.

    Paths in it are made absolute. Raises ConfigError that names the key and, if misspelt, the nearest known one.
    """
    return from_document(toml.read(path), path.parent, targets=targets, settings=settings)


def for_model(model: Path, *, targets: Sequence[str], settings: Sequence[str] = ()) -> Config:
    """The Config for a model file without mobpack.toml; names derive from the file's name."""
    document = {
        "package": {"name": names.package_name(model)},
        "model": {names.model_name(model): {"path": str(model.absolute())}},
    }
    return from_document(document, Path.cwd(), targets=targets, settings=settings)


def keys_of(quantizer: str) -> tuple[str, ...]:
    """Keys of a quantizer's table; none for an unknown name."""
    kind: Any = QUANTIZERS.get(quantizer)
    return tuple(names.kebab_case(key.name) for key in fields(kind)) if kind else ()


def recipe(table: Mapping[str, Any], settings: Sequence[str]) -> Recipe:
    """The quantizer of a `[variant.NAME]` table, with `key=value` settings applied; paths are not resolved.

    Raises the same ConfigError as a file with such a table.
    """
    document: dict[str, Any] = {
        "package": {"name": "any"},
        "model": {"any": {"path": "any.onnx"}},
        "variant": {QUANTIZER: {**table}},
    }
    calibration = table.get("calibration")
    if isinstance(calibration, str):
        document["variant"][QUANTIZER]["calibration"] = {"samples": calibration}
    for setting in settings:
        apply_setting(document, f"variant.{QUANTIZER}.{setting.strip()}" if "=" in setting else setting)
    try:
        return from_document(document, Path.cwd(), targets=(), settings=()).variant[QUANTIZER]
    except ConfigError as error:
        name = table.get("quantizer", NoQuantizer.NAME)
        message = error.message.replace(f"variant.{QUANTIZER}", f"quantizer '{name}'")
        hint = error.hint.replace(f"add it to {FILE_NAME}", "give it as an option, or as --set KEY=VALUE")
        raise ConfigError(message, hint=hint.replace(f"correct it in {FILE_NAME}", "correct it")) from error


def from_document(document: dict[str, Any], folder: Path, *, targets: Sequence[str], settings: Sequence[str]) -> Config:
    for setting in settings:
        apply_setting(document, setting)
    for target in targets:
        if target not in KNOWN_TARGETS:
            raise ConfigError(f"unknown target '{target}'", hint=nearest(target, KNOWN_TARGETS, cutoff=0.7))
        tables = document.setdefault("target", {})
        if isinstance(tables, dict):  # other types are rejected by the validation below
            tables.setdefault(target, {})
    toml.refuse(document)
    _add_needed(document)
    _spell_out(document)
    try:
        # As JSON, because strict JSON mode accepts a list for a tuple and text for a path, but never text for a number.
        config = Config.model_validate_json(json.dumps(document, default=str))
    except ValidationError as error:
        raise _config_error(error.errors()[0], has_settings=bool(settings)) from error
    _check_model_names(config)
    return _absolute(config, folder)


def _add_needed(document: dict[str, Any]) -> None:
    """Adds a table with defaults for every target that a wrapper needs."""
    tables = document.get("target")
    for wrapper in WRAPPERS.values():
        if isinstance(tables, dict) and wrapper.NAME in tables:
            for name in wrapper.NEEDS:
                tables.setdefault(name, {})


def _spell_out(document: dict[str, Any]) -> None:
    """Expands `calibration = "samples/"` of a variant to a table."""
    tables = document.get("variant")
    for table in tables.values() if isinstance(tables, dict) else ():
        if isinstance(table, dict) and isinstance(table.get("calibration"), str):
            table["calibration"] = {"samples": table["calibration"]}


def apply_setting(document: dict[str, Any], setting: str) -> None:
    """Writes `target.android.min-sdk=26` into the document; the value is parsed as TOML, else taken as text."""
    key, separator, text = setting.partition("=")
    parts = key.strip().split(".")
    if not separator or not all(parts):
        raise ConfigError(f"--set {setting}: expected key=value", hint="for example: --set target.android.min-sdk=26")
    value = toml.value_of(text)
    table = document
    for part in parts[:-1]:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {setting}: '{part}' is not a table", hint="see the keys of mobpack.toml")
    table[parts[-1]] = value


def _check_model_names(config: Config) -> None:
    classes: dict[str, str] = {}
    for name in config.model:
        if not names.MODEL_NAME.fullmatch(name):
            raise ConfigError(
                f"model.{name}: invalid model name",
                hint="use letters, digits, hyphens and underscores, starting with a letter; Windows reserves aux, con "
                "and nul",
            )
        other = classes.setdefault(names.pascal_case(name).lower(), name)
        if other != name:
            raise ConfigError(f"model.{name} and model.{other} have the same class name", hint="rename one of them")


def _absolute(config: Config, folder: Path) -> Config:
    models = {
        name: table.model_copy(
            update={
                "path": folder / table.path,
                "license": folder / table.license if table.license else None,
                "inputs": {key: kind.within(folder) for key, kind in table.inputs.items()},
                "outputs": {key: kind.within(folder) for key, kind in table.outputs.items()},
            }
        )
        for name, table in config.model.items()
    }
    paths = {key: getattr(config.parity, key) for key in ("samples", "recorded")}
    found = {name: _program(folder, text) for name, text in config.parity.interpreters.items()}
    within = {key: folder / path if path else None for key, path in paths.items()}
    parity = config.parity.model_copy(update={**within, "interpreters": found})
    variants = {name: _with_absolute_samples(table, folder) for name, table in config.variant.items()}
    changed = {"model": models, "variant": variants, "parity": parity, "runtime": _in(folder, config.runtime)}
    return config.model_copy(update=changed)


def _program(folder: Path, text: str) -> str:
    """A program with a path relative to `folder` made absolute; a bare name is kept, to be found on PATH."""
    return str(folder / text) if "/" in text else text


def _with_absolute_samples(quantizer: Recipe, folder: Path) -> Recipe:
    calibration = getattr(quantizer, "calibration", None)
    return quantizer if calibration is None else replace(quantizer, calibration=calibration.within(folder))  # type: ignore[type-var]


def _in(folder: Path, table: RuntimeTable) -> RuntimeTable:
    """`table` with the paths in it made absolute."""
    android = table.android if table.is_published or not table.android else str(folder / table.android)
    ios = table.ios if table.is_address or not table.ios else str(folder / table.ios)
    config = folder / table.config if table.config else None
    return table.model_copy(update={"android": android, "ios": ios, "config": config})


def _config_error(detail: "ErrorDetails", *, has_settings: bool) -> ConfigError:
    """The first pydantic error, in terms of mobpack.toml."""
    location = [str(part) for part in detail["loc"] if part not in SHAPE_FORMS]
    plugin = _plugin_at(location)
    if plugin:
        del location[plugin.depth]
    where, key = ".".join(location[:-1]) or "top level", location[-1]
    if detail["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        keys = plugin.keys(location[plugin.depth : -1]) if plugin else _keys_at(location[:-1])
        hint = nearest(key, keys, cutoff=0.5)
        return ConfigError(f"{where}: unknown key '{key}'", hint=hint)
    if detail["type"] == "union_tag_invalid":
        return _unknown_plugin(location, str(detail["ctx"]["tag"]))
    if detail["type"] == "missing":
        return ConfigError(f"{where}: '{key}' is missing", hint=f"add it to {FILE_NAME}")
    if detail["type"] == "value_error":
        error = detail["ctx"]["error"]
        return ConfigError(f"{'.'.join(location)}: {error}", hint=getattr(error, "hint", ""))
    hint = f"correct it in {FILE_NAME}"
    if has_settings:
        hint += """ or in --set, whose values are TOML: --set 'target.android.providers=["xnnpack"]'"""
    return ConfigError(f"{'.'.join(location)}: {detail['msg'].lower()}, not {detail['input']!r}", hint=hint)


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """The plug-in that defines a table's keys."""

    kind: Any
    depth: int
    """position of its name in pydantic's error location"""

    def keys(self, tables: Sequence[str]) -> list[str]:
        """Keys of its table, or of the nested table `tables`."""
        kind = self.kind
        for table in tables:
            kind = get_type_hints(kind)[table.replace("-", "_")]
        return [names.kebab_case(key.name) for key in fields(kind)]


def _family_at(location: Sequence[str]) -> tuple[str, Mapping[str, Any], int]:
    """Kind of the plug-ins at `location`, the known ones, and the position of their name in it."""
    if location[0] == "variant":
        return "quantizer", QUANTIZERS, 2
    if location[0] == "model" and len(location) > 2 and location[2] in ("inputs", "outputs"):
        return "kind", INPUT_KINDS if location[2] == "inputs" else OUTPUT_KINDS, 4
    return "", {}, 0


def _plugin_at(location: Sequence[str]) -> Plugin | None:
    _, family, depth = _family_at(location)
    is_named = family and len(location) > depth and location[depth] in family
    return Plugin(kind=family[location[depth]], depth=depth) if is_named else None


def _unknown_plugin(location: Sequence[str], name: str) -> ConfigError:
    what, family, _ = _family_at(location)
    where = ".".join(location)
    if what == "kind" and not name:
        return ConfigError(f"{where}: 'kind' is missing", hint=f"add one of: {', '.join(family)}")
    if location[2:3] == ["inputs"] and name == "text":
        return ConfigError(f"{where}: text inputs are not supported: packages contain no tokenizer", hint=NO_TEXT)
    return ConfigError(f"{where}: unknown {what} '{name}'", hint=nearest(name, list(family)))


def _keys_at(location: Sequence[str]) -> list[str]:
    """Known keys of the table at `location`."""
    tables: dict[str, type[Strict]] = {
        "": Config,
        "package": PackageTable,
        "model": ModelTable,
        "parity": ParityTable,
        "check": CheckTable,
        "runtime": RuntimeTable,
        "target": TargetTable,
    }
    if len(location) == 4 and location[2] == "tolerance":
        return [names.kebab_case(key) for key in ToleranceTable.model_fields]
    if len(location) == 2 and location[0] == "target":
        keys = fields(KNOWN_TARGETS[location[1]]) if location[1] in KNOWN_TARGETS else ()
        return [names.kebab_case(key.name) for key in keys]
    table = tables.get(location[0] if location else "", Config)
    return [field.alias or name for name, field in table.model_fields.items()]
