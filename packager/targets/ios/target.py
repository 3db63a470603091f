"""The target iOS and macOS: a Swift package whose classes load and run the models."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from packager.core.class_names import class_name
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.errors import ConfigError, SettingError, nearest
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.tuned import Tuned, refuse_chips
from packager.core.values import Artifact, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.files.zips import Content, ZipLink, write_zip
from packager.providers import CPU, PROVIDERS, providers_of
from packager.targets import privacy, signed_list, swift_runtime, tuning
from packager.targets.delivery import delivery_view
from packager.targets.ios import files, package, pipelines, swift, tensors, texts
from packager.targets.ios.golden import golden_views
from packager.targets.ios.layout import lay_out
from packager.targets.ios.runtime import runtime_view
from packager.targets.ios.view import GoldenView, IosView, License, ModelView, RuntimeView
from packager.targets.target import Built, DefaultProviders, RuntimeRange, Shipped, artifact, licenses_of, runtime_range
from packager.targets.xcframework.layout import version_key
from packager.targets.xcframework.packaged import PackagedFramework
from packager.targets.xcframework.privacy import FILE_NAME as PRIVACY
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="ios", caller=__name__, computed_by=("packager.files.zips",))
VERSION = re.compile(r"[1-9][0-9]*\.(0|[1-9][0-9]*)")
HEADERS = PurePosixPath("ios/onnxruntime")
"""below templates/: unmodified C headers of ONNX Runtime, with their licence"""
SCRIPT = PurePosixPath("scripts/make-xcframework.sh")


@dataclass(frozen=True, kw_only=True)
class Ios:
    NAME: ClassVar[str] = "ios"
    LANGUAGE: ClassVar[Language] = Language(
        name="Swift",
        has_sizes=True,
        has_pipelines=True,
        names_own_providers=True,
        has_own_self_tests=True,
        observes=("channel",),
    )
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"swift-package": "/Resources/Models/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = True
    UPDATES: ClassVar[bool] = True
    VARIES: ClassVar[bool] = True
    ABOUT: ClassVar[str] = "a Swift package: docs/ios.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        '# module = "ReaderKit"': "what Swift code imports; from the package's name when absent",
    }
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    module: str = ""
    """name of the Swift module; default: derived from the package's name, `page-orientation` -> `PageOrientationKit`"""
    variant: str = "source"
    """variant of the models to ship"""
    providers: tuple[str, ...] = DefaultProviders(("coreml",))
    """providers that run the models, tried in this order; the CPU is always last. Without the key, `coreml` gets files
    of the models for which it is worth them (docs/check.md)"""
    format: Literal["auto", "ort", "onnx"] = "auto"
    """`auto`: ORT format for CoreML, which needs its weights in its own file, ONNX graphs over the same weights for the
    CPU; `ort`: ORT format only, as reduced runtimes need; `onnx`: the unmodified graph, which the runtime optimizes at
    every load"""
    prepacking: Literal["auto", "on", "off"] = "auto"
    """whether the CPU prepacks weights at load: a second copy in memory and ten times the loading time, for runs that
    are about 15 % faster; `auto` prepacks unless the model ships as ONNX only, and
    always weight-only models"""
    float16: Literal["native", "onnx", "float32"] = "native"
    """form of float16 models: `native` for phones that compute in 16 bits; with `onnx`, each phone decides; `float32`
    ships 32 bits"""
    min_ios: str = ""
    """oldest supported iOS; default: the oldest that ONNX Runtime supports"""
    min_macos: str = ""
    """oldest supported macOS; default as for `min-ios`"""
    runtime_package: str = ""
    """Swift package that brings ONNX Runtime, if it is not the one that mobpack writes beside: the https address of its
    repository, its identity in a registry (`scope.name`), or a path from the package's folder (`../name`)"""
    runtime_product: str = ""
    """product of `runtime-package` to depend on: `onnxruntime` for Microsoft's; default: that of mobpack's package"""
    runtime_from: str = ""
    """oldest version of `runtime-package` that SwiftPM may choose, below the next major one; default: the first of
    `runtime-range`, else the version that the models were checked with"""
    runtime_range: str = ""
    """oldest minor version of ONNX Runtime that an app may bring, for example `1.27`: the build loads every file in
    each release from there on; `runtime-from` and the pod of a React Native package begin with it; default: the release
    that mobpack pins, or a newer one"""

    tuned: Mapping[str, Mapping[str, Tuned]] = field(default_factory=dict)
    """settings by the device's identifier and the model: `[target.ios.tuned."iPhone17,1".classifier]`"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        for index, provider in enumerate(self.providers):
            if provider in self.providers[:index]:
                raise SettingError(
                    f"provider '{provider}' is listed twice", hint="keep only its first place in the order"
                )
            if provider not in providers_of(self.NAME):
                raise _unknown(provider)
        refuse_chips(self.tuned, self.providers, last=CPU.NAME, variant=self.variant)
        if self.module:
            swift.module_name("", self.module)
        pinned = downloads.pins()["ios"]
        _refuse_too_old("min-ios", self.min_ios, pinned["min-ios"])
        _refuse_too_old("min-macos", self.min_macos, pinned["min-macos"])
        swift_runtime.refuse_settings(self.runtime_package, self.runtime_product, self.runtime_from)
        if self.allowed_runtimes() and self.runtime_from:
            raise SettingError(
                "'runtime-from' and 'runtime-range' both name the oldest ONNX Runtime",
                hint="keep runtime-range: the build proves it",
            )

    @property
    def soc_models(self) -> tuple[str, ...]:
        """Always empty: CoreML compiles on the device."""
        return ()

    @property
    def environment(self) -> str:
        return Runtime.NAME

    @property
    def no_float64(self) -> str:
        """Always empty: ONNX Runtime for phones has them."""
        return ""

    def published_runtime(self) -> str:
        """CocoaPods name of the ONNX Runtime that the package depends on."""
        return str(downloads.pins()["ios"]["onnxruntime"])

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Raises SettingError for a range that cannot be proved."""
        return runtime_range(self.runtime_range, downloads.pins()["ios"]["version"])

    def outside(self) -> str:
        """Packages are laid out here."""
        return ""

    def refuse_without_tools(self) -> None:
        """mobpack assembles them by itself."""

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: PackagedFramework | None = None,
        golden: Golden = NO_VECTORS,
    ) -> IosView:
        module = swift.module_name(package.name, self.module)
        contracts = tuple(plan.model.contract for plan in plans if plan.model.contract)
        linked = swift_runtime.framework_view(runtime)
        swift.refuse_classes(module, (plan.model.name for plan in plans), (each.name for each in package.pipelines))
        laid_out = files.lay_out(plans)
        tested = {name: golden_views(name, each, golden) for name, each in laid_out.items()}
        shared = runtime_view(
            module,
            package.name,
            self.providers,
            contracts,
            tuple(class_name(plan.model.name) for plan in plans),
            signed_list.trust_view(package),
            delivery_view(package),
            self._delivered_runtime(runtime) if package.delivery else "",
            has_self_test=any(tested.values()),
            is_encrypted=bool(package.encryption),
            tuned=tuning.chips(self.tuned, files.case_of),
            has_variants=any(choice.variant for plan in plans for choice in plan.choices),
        )
        _refuse_double(shared)
        models = self._models(package, plans, report, laid_out, tested, linked.version)
        return IosView(
            package=package,
            runtime=shared,
            framework=linked,
            dependency=swift_runtime.dependency(
                runtime, named=self.runtime_package, product=self.runtime_product, oldest=self._oldest_runtime()
            ),
            has_runtime=not self.runtime_package,
            own=runtime,
            min_ios=self.min_ios or swift_runtime.oldest_ios(runtime),
            min_macos=self.min_macos or downloads.pins()["ios"]["min-macos"],
            models=models,
            pipelines=pipelines.files(package.pipelines, models),
            resources=tuple(
                resource
                for name, each in laid_out.items()
                for resource in (*each.resources, *(made.resource for made in tested[name]))
            ),
            licenses=_licenses(plans),
            contracts=contracts,
        )

    def _models(
        self,
        package: Package,
        plans: Sequence[Plan],
        report: Report,
        laid_out: Mapping[str, files.Files],
        tested: Mapping[str, tuple[GoldenView, ...]],
        runtime_version: str,
    ) -> tuple[ModelView, ...]:
        return tuple(
            tensors.model_view(
                plan.model,
                package,
                files=laid_out[plan.model.name].views,
                golden=tested[plan.model.name],
                class_name=class_name(plan.model.name),
                runtime_version=runtime_version,
                reshaped=report.reshaped_outputs(plan.model.name, self.variant, *plan.variants),
            )
            for plan in plans
        )

    def built(self, view: IosView, plans: tuple[Plan, ...]) -> Built:
        return Built(
            target=self.NAME,
            plans=plans,
            providers=self.providers,
            variant=self.variant,
            namespace=view.runtime.module,
            oldest_system=view.min_ios,
            runtime_version=view.own.version if view.own else view.framework.version,
            dependency=self.published_runtime(),
            own=view.own,
            runtime_range=None if view.own else self.allowed_runtimes(),
            tuned=self.tuned,
        )

    def parts(self, view: IosView) -> Parts:
        runtime = swift_runtime.part(view.dependency, view.framework, view.own, has_runtime=view.has_runtime)
        return Parts(package=swift_runtime.package_part(view.package), libraries=(runtime,))

    def _delivered_runtime(self, own: PackagedFramework | None) -> str:
        """ONNX Runtime of the package as a manifest names it, up to where its file lies."""
        if own is None:
            return self.published_runtime()
        return own.url or f"ONNX Runtime {own.version}"

    def _oldest_runtime(self) -> str:
        allowed = self.allowed_runtimes()
        return allowed.releases[0] if allowed else self.runtime_from

    def render(self, view: IosView) -> Sources:
        """Every file of the Swift package."""
        home = package.sources(view.runtime.module)
        printed = {
            package.MANIFEST: package.manifest(view),
            home / package.RESOURCES / PRIVACY: privacy.manifest(
                view.own.accesses if view.own else None, has_updates=view.runtime.delivery is not None
            ),
            **texts.texts(view),
        }
        if view.package.trust:
            digests = {each.path: each.sha256 for each in view.resources}
            printed[home / package.MODELS / signed_list.NAME] = signed_list.unsigned(digests, view.package)
        resources = {home / package.MODELS / each.path: each.file for each in view.resources}
        licenses = {PurePosixPath(each.name): each.file for each in view.licenses}
        return Sources(
            texts=dict(sorted(printed.items())),
            files={**resources, **licenses, **_headers(view)},
        )

    def project(self, view: IosView, sources: Sources, store: Store) -> Sources:
        """The package with the runtime's inside, and a script that makes an .xcframework of both on a Mac."""
        texts = {**sources.texts, SCRIPT: package.script(view)}
        if not view.has_runtime:
            return replace(sources, texts=texts)
        home = PurePosixPath(view.dependency.identity)
        inside = replace(view, dependency=replace(view.dependency, place=home.as_posix()))
        runtime = swift_runtime.sources(view.own)
        return Sources(
            texts={
                **texts,
                package.MANIFEST: package.manifest(inside),
                **{home / path: text for path, text in runtime.texts.items()},
            },
            files={**sources.files, **{home / path: file for path, file in runtime.files.items()}},
            links={home / path: target for path, target in runtime.links.items()},
        )

    def assemble(
        self, view: IosView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The package and that of its runtime, as archives for Swift package registries."""
        announce("compress it")
        made = _archive(f"{view.package.name}-{view.package.version}", sources, store)
        own = artifact(made, target=self.NAME, kind="swift-package")
        if not view.has_runtime:
            return (own,)
        runtime = _archive(view.dependency.identity, swift_runtime.sources(view.own), store)
        return (own, artifact(runtime, target=self.NAME, kind="swift-runtime"))

    def layout(self, view: IosView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The archives, their metadata for registries, and their files in folders that apps add by path."""
        return lay_out(view.package, artifacts, dist)


def _licenses(plans: Sequence[Plan]) -> tuple[License, ...]:
    return tuple(License(name=name, file=file) for name, file in licenses_of(plans).items())


def _archive(stem: str, sources: Sources, store: Store) -> Path:
    """The package as a .zip with a single top-level folder, `stem`."""
    inputs = [
        stem,
        {str(path): text for path, text in sources.texts.items()},
        {str(path): sha256_of(file) for path, file in sources.files.items()},
        {str(path): target for path, target in sources.links.items()},
    ]

    def make(folder: Path) -> None:
        content: dict[PurePosixPath, Content] = {path: text.encode() for path, text in sources.texts.items()}
        content |= sources.files
        content |= {path: ZipLink(target) for path, target in sources.links.items()}
        write_zip(folder / f"{stem}.zip", {stem / path: each for path, each in content.items()})

    return store.results(ASSEMBLY, inputs, make) / f"{stem}.zip"


def _unknown(provider: str) -> SettingError:
    hint = nearest(provider, sorted(providers_of(Ios.NAME)))
    if provider == CPU.NAME:
        hint = "leave it out: the CPU is always tried last"
    what = f"provider '{provider}' does not run on iOS" if provider in PROVIDERS else f"unknown provider '{provider}'"
    return SettingError(what, hint=hint)


def _refuse_too_old(key: str, asked: str, oldest: str) -> None:
    if not asked:
        return
    if not VERSION.fullmatch(asked):
        raise SettingError(f'{key} "{asked}" is not a version', hint=f'for example: {key} = "{oldest}"')
    if version_key(asked) < version_key(oldest):
        raise SettingError(f'{key} "{asked}" is too old', hint=f"ONNX Runtime needs {oldest} or later")


def _refuse_double(shared: RuntimeView) -> None:
    """Raises ConfigError if a target of the package has the name of one in the runtime's package."""
    runtime = {name.lower() for name in (swift_runtime.PRODUCT, swift_runtime.BINARY)}
    for name in (shared.module, shared.c_module):
        if name.lower() in runtime:
            raise ConfigError(
                f"the module {name} has the same name as a target of ONNX Runtime's package, which SwiftPM rejects",
                hint="set another module name in [target.ios] module",
            )


def _headers(view: IosView) -> dict[PurePosixPath, Path]:
    """ONNX Runtime's C headers and licence, if the package has a C target."""
    root = templates_folder() / HEADERS
    home = package.sources(view.runtime.c_module)
    inside = {home / path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file()}
    return {**inside, PurePosixPath("LICENSE-onnxruntime.txt"): root / "LICENSE"}
