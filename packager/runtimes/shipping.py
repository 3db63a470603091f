"""The runtime of `[runtime]`: finds it, extracts it, and checks it against the files that ship."""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from packager.config.runtime import RuntimeTable
from packager.core.errors import ConfigError, ToolError
from packager.core.user_files import opened
from packager.core.values import Format, Plan
from packager.engines.environments.runtime import shipped_version
from packager.files.hashes import sha256_of
from packager.files.store import Step, Store
from packager.files.zips import RUNTIME, opened_zip, read_entry, write_zip
from packager.providers import provider_of
from packager.runtimes import library, rename
from packager.runtimes.operators import OperatorConfig, refuse_uncovered
from packager.targets.target import OwnRuntime, PackagedRuntime, Planned

TAKEN_APART = Step(
    name="runtime",
    caller=__name__,
    computed_by=("packager.files.zips", "packager.runtimes.library", "packager.runtimes.rename"),
    is_shared=False,
)
UNPACKED = Step(name="runtime-archive", caller=__name__, computed_by=("packager.runtimes.library",), is_shared=False)
KEY_LETTERS = 12
PHONES = "arm64-v8a"
CLASSES, RULES = "classes.jar", "proguard.txt"


@dataclass(frozen=True, kw_only=True)
class ChosenRuntime:
    """The user's own runtime for one target."""

    target: str
    display_name: str
    """name in messages"""
    config: OperatorConfig | None
    """operators that it was reduced to; None if unknown"""
    notes: tuple[str, ...]
    """warnings about it, one sentence each"""
    packaged: PackagedRuntime

    @property
    def is_reduced(self) -> bool:
        """Whether it is a reduced runtime: a minimal build, which reads ORT format only."""
        return self.packaged.is_reduced

    @property
    def is_published_in_full(self) -> bool:
        """Whether it matches the published runtime: the same version, and all operators according to its
        configuration."""
        return self.config is not None and not self.is_reduced and self.packaged.version == shipped_version()


def choose(table: RuntimeTable, target: str, *, group: str, store: Store) -> ChosenRuntime:
    """The runtime of `table`; as a separate artifact it belongs to `group`.

    Raises ConfigError or ToolError for one that no package can use.
    """
    location = _located(Path(table.android), store) if not table.is_published else table.android
    found = library.load(str(location), Path(), config=table.config)
    if isinstance(found, library.PublishedRuntime):
        return _dependency(found, target)
    ship = table.ship or "inside"
    key = "-".join(filter(None, ["onnxruntime", table.name, found.sha256[:KEY_LETTERS]]))
    folder = store.results(TAKEN_APART, [found.sha256, table.name], lambda made: _take_apart(found, table.name, made))
    return ChosenRuntime(
        target=target,
        display_name=f"ONNX Runtime {found.version} ({found.path.name})",
        config=found.config,
        notes=(*found.notes, *_notes(found)),
        packaged=PackagedRuntime(
            version=found.version,
            ship=ship,
            coordinates=f"{group}:{key}:{found.version}" if ship == "maven" else "",
            sha256=found.sha256,
            name=table.name,
            java_package=rename.java_package(table.name) if table.name else f"ai.{rename.ORIGINAL}",
            abis=found.abis,
            operators_sha256=found.config_sha256,
            is_reduced=is_reduced(found.config),
            libraries=_libraries(folder),
            classes=folder / CLASSES,
            rules=(folder / RULES).read_text(encoding="utf-8"),
        ),
    )


def refuse_settings(target: Planned, assembler: str, runtime: ChosenRuntime) -> None:
    """Raises ConfigError for settings of `target` that `runtime` does not support."""
    where = f"target.{runtime.target}"
    if runtime.is_reduced and target.format == "onnx":
        raise ConfigError(
            f'{where}: format = "onnx" with a reduced runtime, which reads ORT format only',
            hint="remove the key, or use a runtime with all operators in [runtime]",
        )
    is_for_chips = target.soc_models and any(provider_of(name).IS_COMPILED_FOR_CHIPS for name in target.providers)
    if runtime.is_reduced and is_for_chips:
        raise ConfigError(
            f"{where}: soc-models with a reduced runtime, which cannot open models compiled for a chip",
            hint="remove soc-models, or use a runtime with all operators in [runtime]",
        )
    if runtime.packaged.ship == "maven" and assembler == "gradle":
        raise ConfigError(
            f'{where}: assembler = "gradle" needs the runtime in a repository that does not exist yet',
            hint='set ship = "inside" in [runtime], or assembler = "embedded"',
        )


class Chosen(Protocol):
    """Interface of the user's own runtimes, on all platforms."""

    @property
    def target(self) -> str: ...

    @property
    def display_name(self) -> str: ...

    @property
    def config(self) -> OperatorConfig | None: ...

    @property
    def notes(self) -> tuple[str, ...]: ...

    @property
    def packaged(self) -> OwnRuntime: ...

    @property
    def is_reduced(self) -> bool: ...

    @property
    def is_published_in_full(self) -> bool: ...


PUBLISHED: Mapping[str, Chosen] = {}
"""target -> its runtime; empty if every target uses the published one"""


def refuse_unrunnable(plans: Sequence[Plan], runtime: Chosen) -> None:
    """Raises ConfigError for a file in a format, ModelError for an operator or type, that the runtime does not
    support."""
    for plan in plans:
        if plan.target != runtime.target or runtime.config is None:
            continue
        for choice in plan.choices:
            if runtime.is_reduced and choice.compiled.format is Format.ONNX:
                raise ConfigError(
                    f"model '{plan.model.name}' on {plan.target} ships as ONNX for {choice.provider} "
                    f"({choice.reason}), but a reduced runtime reads ORT format only",
                    hint='set float16 = "float32" and remove soc-models, or use a runtime with all operators, '
                    "which reads both formats",
                )
            refuse_uncovered(plan.model.name, choice.compiled.operators, runtime.config)


def _located(path: Path, store: Store) -> Path:
    """`path`, or the .aar extracted from a .zip."""
    if path.suffix != ".zip" or not path.is_file():
        return path
    unpacked = store.results(UNPACKED, [sha256_of(path)], lambda folder: _unpack(path, folder))
    return library.only_aar(unpacked)


def _unpack(path: Path, folder: Path) -> None:
    """Extracts the .aar and the operator configurations of the .zip, without their folders."""
    try:
        with opened(path) as file, opened_zip(file, RUNTIME) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith((".aar", ".config")))
            for name in names:
                (folder / PurePosixPath(name).name).write_bytes(read_entry(archive, name))
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
    ) as error:  # the last: encrypted, or with an unsupported compression
        raise ToolError(f"runtime {path}: not a .zip, or truncated ({error})", hint=library.REBUILD) from error
    found = [name for name in names if name.endswith(".aar")]
    if len(found) != 1:
        raise ConfigError(
            f"runtime {path}: expected one .aar, found {', '.join(found) or 'none'}", hint="name the .aar itself"
        )


def _take_apart(found: library.OwnRuntime, name: str, folder: Path) -> None:
    shipped = library.files(found, name)
    for path, content in shipped.libraries.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    write_zip(folder / CLASSES, dict(shipped.classes))
    (folder / RULES).write_text(shipped.rules, encoding="utf-8", newline="\n")


def is_reduced(config: OperatorConfig | None) -> bool:
    """Whether a runtime built with `config` lacks operators or types."""
    return config is not None and (not config.has_all_operators or config.globally_allowed_types is not None)


def _libraries(folder: Path) -> dict[PurePosixPath, Path]:
    return {PurePosixPath(path.relative_to(folder).as_posix()): path for path in sorted(folder.rglob("*.so"))}


def _notes(found: library.OwnRuntime) -> Iterator[str]:
    if PHONES not in found.abis:
        yield f"{found.path.name} has no library for {PHONES}: nearly every phone needs it"
    if found.version != shipped_version():
        yield (
            f"{found.path.name} is ONNX Runtime {found.version}: this mobpack was tried with {shipped_version()}, and "
            "versions differ in the kernels they have"
        )


def _dependency(found: library.PublishedRuntime, target: str) -> ChosenRuntime:
    return ChosenRuntime(
        target=target,
        display_name=found.coordinates,
        config=found.config,
        notes=(),
        packaged=PackagedRuntime(
            version=found.coordinates.rpartition(":")[2],
            ship="dependency",
            coordinates=found.coordinates,
            operators_sha256=found.config_sha256,
            is_reduced=is_reduced(found.config),
            libraries={},
        ),
    )
