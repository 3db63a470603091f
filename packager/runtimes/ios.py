"""The runtime of `[runtime] ios`: checks it against the target and the files that ship."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packager.config.runtime import RuntimeTable
from packager.core.errors import ConfigError
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.runtimes import framework
from packager.runtimes.operators import OperatorConfig, read_config
from packager.runtimes.shipping import is_reduced
from packager.targets.target import Planned
from packager.targets.xcframework.layout import version_key
from packager.targets.xcframework.packaged import PackagedFramework
from packager.targets.xcframework.repackage import library_format

LINKABLE = Step(
    name="linkable", caller=__name__, computed_by=("packager.targets.xcframework.repackage",), is_shared=False
)
TARGET = "ios"
NAME = "onnxruntime"


@dataclass(frozen=True, kw_only=True)
class ChosenFramework:
    """The user's own runtime for iOS; the counterpart of `ChosenRuntime` for Android."""

    display_name: str
    """name in messages"""
    config: OperatorConfig | None
    """operators that it was reduced to; None if unknown"""
    notes: tuple[str, ...]
    """warnings about it, one sentence each"""
    packaged: PackagedFramework
    target: str = TARGET

    @property
    def is_reduced(self) -> bool:
        """Whether it reads ORT format only."""
        return self.packaged.is_reduced

    @property
    def is_published_in_full(self) -> bool:
        """Whether it matches the published runtime: the same version, and all operators according to its
        configuration."""
        return self.config is not None and not self.is_reduced and self.packaged.version == published_version()


def choose_ios(table: RuntimeTable, store: Store) -> ChosenFramework:
    """The runtime of `table` for iOS. Raises ConfigError or ToolError for one that no package can use."""
    if table.is_address:
        return _address(table)
    found = framework.load(Path(table.ios), store, config=table.config)
    is_static = found.linkage == "static"
    return ChosenFramework(
        display_name=f"ONNX Runtime {found.version} ({found.folder.name})",
        config=found.config,
        notes=(*found.notes, *_notes(found)),
        packaged=PackagedFramework(
            version=found.version,
            ship="inside",
            folder=_linkable(found, store) if is_static else found.folder,
            name=NAME if is_static else found.folder.stem,
            sha256=found.sha256,
            architectures=found.architectures,
            minimum_os=found.minimum_os,
            linkage=found.linkage,
            has_c_module=found.has_c_module and not is_static,
            providers=found.providers,
            accesses=found.accesses,
            operators_sha256=found.config_sha256,
            is_reduced=found.is_minimal or is_reduced(found.config),
        ),
    )


def _linkable(found: framework.OwnFramework, store: Store) -> Path:
    """The same libraries without bundles, which Xcode would embed into apps and the App Store would reject."""
    name = f"{NAME}.xcframework"

    def make(made: Path) -> None:
        library_format(found.folder, made / name)

    return store.results(LINKABLE, [found.sha256], make) / name


def refuse_settings(target: Planned, runtime: ChosenFramework) -> None:
    """Raises ConfigError for settings of `target` that `runtime` does not support."""
    where, packaged = f"target.{runtime.target}", runtime.packaged
    if runtime.is_reduced and target.format == "onnx":
        raise ConfigError(
            f'{where}: format = "onnx" with a reduced runtime, which reads ORT format only',
            hint="remove the key, or use a runtime with all operators in [runtime]",
        )
    missing = [name for name in target.providers if packaged.folder and name not in packaged.providers]
    if missing:
        raise ConfigError(
            f"{where}: provider '{missing[0]}' is not in {runtime.display_name}",
            hint=f"set providers = {list(packaged.providers)}, or build the runtime with it (--provider {missing[0]})",
        )
    minimum = str(getattr(target, "min_ios", ""))
    if minimum and packaged.minimum_os and version_key(minimum) < version_key(packaged.minimum_os):
        raise ConfigError(
            f'{where}: min-ios = "{minimum}", but {runtime.display_name} needs iOS {packaged.minimum_os} or later',
            hint=f'set min-ios = "{packaged.minimum_os}", or build the runtime for {minimum}',
        )


def published_version() -> str:
    """The ONNX Runtime that packages depend on if `[runtime]` names none."""
    return str(downloads.pins()["ios"]["version"])


def _notes(found: framework.OwnFramework) -> Iterator[str]:
    if found.version != published_version():
        yield (
            f"{found.folder.name} is ONNX Runtime {found.version}: this mobpack was tried with {published_version()}, "
            "and versions differ in the kernels they have"
        )
    for access in found.accesses:
        if not access.reasons:
            yield f"{found.folder.name} calls for {access.category}, and no reason of Apple's fits a library like it"


def _address(table: RuntimeTable) -> ChosenFramework:
    config = read_config(table.config) if table.config else None
    return ChosenFramework(
        display_name=table.ios,
        config=config,
        notes=(f"{table.ios} was not opened: nobody checked what is in it",),
        packaged=PackagedFramework(
            version="",
            ship="url",
            name=table.ios.rpartition("/")[2].removesuffix(".zip").removesuffix(".xcframework"),
            url=table.ios,
            checksum=table.ios_checksum,
            sha256=table.ios_checksum,
            operators_sha256=sha256_of(table.config) if table.config else "",
            is_reduced=config is not None and is_reduced(config),
        ),
    )
