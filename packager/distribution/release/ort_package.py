"""Writes an ORT Model Package: a folder from which ONNX Runtime selects the variant for a device.

Layout, schema 1.0: model_package/README.md and onnxruntime/core/session/model_package/README.md of ONNX Runtime.
Measured behaviour beyond them is described in docs/ort-package.md.
"""

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from packager.compile.ep_context import compatibility_of
from packager.core.characters import to_json
from packager.core.errors import ConfigError, ToolError
from packager.core.parsing import Json
from packager.core.values import Choice, Plan, Style
from packager.files.atomic import atomic_file, copy_rest
from packager.files.hashes import sha256_of
from packager.files.processes import commands
from packager.providers import provider_of

SCHEMA_VERSION = "1.0"
ASSETS = "shared_assets"
DATA_FOLDER_OPTION = "session.model_external_initializers_file_folder_path"
"""Session option for the folder of external data that is not beside the model file."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
CHECK = Path(__file__).with_name("ort_package_check.py")
CHECK_ENVIRONMENT = {"ORT_DISABLE_TELEMETRY": "1"}
"""Prevents ONNX Runtime from keeping a database of events in the user's cache folder."""


@dataclass(frozen=True, kw_only=True)
class PackageVariant:
    """A form of a component, for one execution provider."""

    name: str
    provider: str
    """ONNX Runtime's name for the provider: `XnnpackExecutionProvider`"""
    device: str = ""
    """`gpu` or `npu`, for a provider that reports its devices; the providers built into ONNX Runtime's mobile libraries
    do not, so that a variant with a device is never selected for them. `cpu` is omitted for the same reason"""
    files: tuple[Path, ...]
    """the model file, then its external data files under the names that the model uses"""
    session_options: Mapping[str, str]
    provider_options: Mapping[str, str]
    compatibility: str = ""
    """compatibility string of a compiled model, read by its provider only"""


@dataclass(frozen=True, kw_only=True)
class PackagedModel:
    """One model, with its variants in order of preference: among equally suitable ones the first is selected."""

    name: str
    variants: tuple[PackageVariant, ...]


def component(plan: Plan) -> PackagedModel:
    """Files of a model for one target, in the order in which its providers are tried. It has none of the variants that
    certain chips open: a package cannot express which these are.

    Raises ConfigError for a model that only some processors can run.
    """
    variants = []
    for choice in plan.choices:
        if choice.variant:
            continue
        if choice.compiled.processor:  # a package cannot express this: the file would be selected on every phone
            if any(_is_for_all(other) for other in plan.choices if other.provider == choice.provider):
                continue
            raise ConfigError(
                f"model '{plan.model.name}': an ORT package cannot restrict a file to processors with FP16",
                hint='set float16 = "onnx" for a file that runs everywhere, or omit --emit ort-package',
            )
        provider = provider_of(choice.provider)
        compiled = choice.compiled
        variants.append(
            PackageVariant(
                name="-".join([choice.provider, *(chip.lower() for chip in choice.soc_models)]),
                provider=provider.EXECUTION_PROVIDER,
                files=(compiled.path, *compiled.data_files),
                session_options=compiled.settings,
                provider_options=provider.options(),
                compatibility=compatibility_of(compiled.path) if compiled.style is Style.CONTEXT else "",
            )
        )
    return PackagedModel(name=plan.model.name, variants=tuple(variants))


def _is_for_all(choice: Choice) -> bool:
    return not choice.compiled.processor and not choice.soc_models


@dataclass(frozen=True, kw_only=True)
class ValidatedComponent:
    name: str
    providers: Mapping[str, str]
    """variant -> ONNX Runtime's name for its provider"""
    selected: str
    """the variant that opens by default; empty if none is for the CPU"""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Validation:
    """ONNX Runtime's view of a package."""

    runtime: str
    """version of ONNX Runtime"""
    schema: int
    """major version of the schema"""
    components: tuple[ValidatedComponent, ...]


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """Files that are stored together, by their names in the package."""

    files: Mapping[str, Path]
    digest: str
    """digest of the folder that holds them, which ONNX Runtime uses as the name of a shared asset"""

    @property
    def reference(self) -> str:
        return f"sha256:{self.digest}"


@dataclass(frozen=True, kw_only=True)
class Bundles:
    """Files of one variant."""

    model: Bundle
    data: Bundle | None

    def all(self) -> tuple[Bundle, ...]:
        return (self.model, self.data) if self.data else (self.model,)


def write_ort_package(folder: Path, components: Sequence[PackagedModel]) -> list[Path]:
    """Writes the package into `folder`, opens it with ONNX Runtime and returns every file written, sorted.

    A model file, or external data, that several variants use is stored once. Raises ConfigError for a name that cannot
    be a folder's, ToolError when ONNX Runtime rejects the package or `folder` is in use.
    """
    _check(folder, components)
    digests: dict[Path, str] = {}
    bundles = {
        (component.name, variant.name): _bundles(variant, digests)
        for component in components
        for variant in component.variants
    }
    uses = Counter(bundle.digest for each in bundles.values() for bundle in each.all())
    shared = frozenset(digest for digest, count in uses.items() if count > 1)
    files: dict[PurePosixPath, Path] = {}
    texts = {PurePosixPath("manifest.json"): _json(_manifest(components))}
    for component in components:
        described = {}
        for variant in component.variants:
            found = bundles[component.name, variant.name]
            described[variant.name] = _variant(variant, found, shared)
            files |= _placed(PurePosixPath(component.name, variant.name), found, shared)
        texts[PurePosixPath(component.name, "component.json")] = _json(
            {"component_name": component.name, "variants": described}
        )
    written = _written(folder, texts, files)
    validate(folder)
    return written


def _check(folder: Path, components: Iterable[PackagedModel]) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise ToolError(f"{folder} is not empty", hint="choose an empty or new folder for the ORT package")
    _check_names([component.name for component in components])
    for component in components:
        _check_names([variant.name for variant in component.variants])


def _check_names(names: Sequence[str]) -> None:
    taken = {ASSETS, "manifest.json", "component.json"}
    for name in names:
        if not NAME.fullmatch(name) or name.lower() in taken:
            raise ConfigError(
                f"'{name}' cannot be the name of a folder in an ORT package",
                hint="use letters, digits, '-' and '_', and names that differ in more than case",
            )
        taken.add(name.lower())


def _bundles(variant: PackageVariant, digests: dict[Path, str]) -> Bundles:
    model, *data = variant.files
    stored = f"model{model.suffix}"
    names = [stored, *(path.name for path in data)]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"variant '{variant.name}' has two files with the same name", hint=f"rename one of them: {names}"
        )
    return Bundles(
        model=_bundle({stored: model}, digests),
        data=_bundle({path.name: path for path in data}, digests) if data else None,
    )


def _bundle(files: Mapping[str, Path], digests: dict[Path, str]) -> Bundle:
    """Computes the digest as defined in model_package/README.md of ONNX Runtime, "Canonical asset URI"."""
    for path in files.values():
        digests[path] = digests.get(path) or sha256_of(path)
    text = "".join(f"{digests[files[name]]}  {name}\n" for name in sorted(files))
    return Bundle(files=files, digest=hashlib.sha256(text.encode()).hexdigest())


def _manifest(components: Iterable[PackagedModel]) -> dict[str, Any]:
    names = sorted(component.name for component in components)
    return {"components": {name: name for name in names}, "layout": "portable", "schema_version": SCHEMA_VERSION}


def _variant(variant: PackageVariant, bundles: Bundles, shared: frozenset[str]) -> dict[str, Any]:
    """The variant's entry in component.json."""
    model = next(iter(bundles.model.files))
    is_model_shared = bundles.model.digest in shared
    entry: dict[str, Any] = {"ep": variant.provider}
    if variant.device not in ("", "cpu"):
        entry["device"] = variant.device
    if variant.compatibility:
        entry["compatibility_string"] = variant.compatibility
    if any(bundle.digest not in shared for bundle in bundles.all()):
        entry["variant_directory"] = variant.name
    ort = {
        "model_file": f"{bundles.model.reference}/{model}" if is_model_shared else model,
        "session_options": _sorted({**variant.session_options, **_data_folder(bundles, shared)}),
        "provider_options": _sorted(variant.provider_options),
    }
    entry["executor_info"] = {"ort": _sorted({key: value for key, value in ort.items() if value})}
    return _sorted(entry)


def _data_folder(bundles: Bundles, shared: frozenset[str]) -> dict[str, str]:
    """The session option for the folder of the external data, unless that is the model file's folder."""
    if bundles.data is None or not {bundle.digest for bundle in bundles.all()} & shared:
        return {}
    return {DATA_FOLDER_OPTION: bundles.data.reference if bundles.data.digest in shared else "."}


def _sorted(entries: Json) -> dict[str, Any]:
    return dict(sorted(entries.items()))


def _placed(home: PurePosixPath, bundles: Bundles, shared: frozenset[str]) -> dict[PurePosixPath, Path]:
    """Paths of a variant's files in the package."""
    return {
        (PurePosixPath(ASSETS, f"sha256-{bundle.digest}") if bundle.digest in shared else home) / name: path
        for bundle in bundles.all()
        for name, path in bundle.files.items()
    }


def _json(document: Json) -> str:
    # keys are sorted, except for variants: ONNX Runtime breaks ties by their order in the file
    return to_json(document, indent=2) + "\n"


def _written(folder: Path, texts: Mapping[PurePosixPath, str], files: Mapping[PurePosixPath, Path]) -> list[Path]:
    for name, text in texts.items():
        with atomic_file(folder / name) as file:
            file.write(text.encode())
    for name, path in files.items():
        with path.open("rb") as content, atomic_file(folder / name) as file:
            copy_rest(content, file)
    return sorted(folder / name for name in [*texts, *files])


def validate(folder: Path) -> Validation:
    """Opens the package with ONNX Runtime's C API: lists it, selects a variant and creates a CPU session.

    Raises ToolError with ONNX Runtime's message when it rejects the package, ModelError when it crashes.
    """
    with tempfile.TemporaryDirectory() as scratch:
        answer = commands.run_job(
            [CHECK],
            {"package": str(folder.absolute())},
            Path(scratch),
            crash=f"{folder}: ONNX Runtime crashed while opening the package",
            hint="report it to ONNX Runtime with the package",
            environment=CHECK_ENVIRONMENT,
        )
    if "error" in answer:
        raise ToolError(
            f"{folder}: ONNX Runtime rejects the package: {answer['error']}",
            hint="if mobpack wrote the package, report this message as a bug",
        )
    found = answer["ok"]
    return Validation(
        runtime=found["runtime"],
        schema=found["schema"],
        components=tuple(_validated(component) for component in found["components"]),
    )


def _validated(component: Json) -> ValidatedComponent:
    return ValidatedComponent(
        name=component["name"],
        providers={variant["name"]: variant["provider"] for variant in component["variants"]},
        selected=component.get("selected", ""),
        inputs=tuple(component.get("inputs", ())),
        outputs=tuple(component.get("outputs", ())),
    )
