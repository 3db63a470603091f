"""The target React Native: an npm package over the files of the Android and iOS packages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import components
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.values import Artifact, Package, Sources
from packager.description import Language
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.providers import all_providers
from packager.targets import included_runtime, signed_list
from packager.targets.delivery import delivery_view
from packager.targets.layouts import copied
from packager.targets.partials import MANIFEST, with_partial
from packager.targets.react_native import naming, runtime, swift_package, texts
from packager.targets.react_native.headers import without_comments
from packager.targets.react_native.view import NamesView, ReactNativeView
from packager.targets.target import Built, OwnRuntime, Shipped, artifact
from packager.targets.typescript import files, pipelines, tarball, typed
from packager.targets.typescript import naming as npm
from packager.targets.typescript.files import Platform, licenses
from packager.targets.typescript.model import model_views
from packager.targets.typescript.view import ModelView, PlacedFile
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="react-native", caller=__name__, computed_by=("packager.targets.typescript.tarball",))
ONNXRUNTIME = PurePosixPath("ios/onnxruntime")
"""below templates/: C headers of ONNX Runtime with their licence, equal on all platforms"""
HEADERS = PurePosixPath("cpp/onnxruntime")
MODELS = PurePosixPath("models")
OF_APPS = "the app's own"
UNLICENSED = "UNLICENSED"
"""npm's licence field for a package without a licence"""


@dataclass(frozen=True, kw_only=True)
class ReactNative:
    NAME: ClassVar[str] = "react_native"
    NEEDS: ClassVar[tuple[str, ...]] = ("android", "ios")
    NEEDS_ALL: ClassVar[bool] = True
    ALSO: ClassVar[tuple[str, ...]] = ()
    LANGUAGE: ClassVar[Language] = npm.TYPESCRIPT
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"npm-package": "/package/models/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = False
    UPDATES: ClassVar[bool] = True
    VARIES: ClassVar[bool] = True
    ABOUT: ClassVar[str] = "an npm package over android and ios: docs/react-native.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        '# package = "@example/reader"': "on npm; from the package's name when absent",
    }
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    package: str = ""
    """npm name, such as `@example/vision`; default: derived from the package's name, `page-orientation` ->
    `react-native-page-orientation`"""
    module: str = ""
    """name of the native code and the pod; default: derived from the package's name, `page-orientation` ->
    `PageOrientation`"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid names."""
        if self.package:
            npm.refuse_npm_name(self.package)
        if self.module:
            naming.module_name("", self.module)

    def refuse(self, package: Package, runtimes: Mapping[str, OwnRuntime]) -> None:
        npm.refuse_length(naming.npm_name(package.name, self.package), self.NAME)
        npm.refuse_version(package.version)
        runtime.refuse_address(runtimes)

    def view(
        self, package: Package, built: Mapping[str, Built], report: Report, golden: Golden = NO_VECTORS
    ) -> ReactNativeView:
        layout = files.Layout()
        android, ios = (built[name] for name in self.NEEDS)
        models = model_views(
            package,
            [Platform(name=each.target, variant=each.variant, plans=each.plans) for each in (android, ios)],
            report,
            golden,
            layout,
            npm_name=naming.npm_name(package.name, self.package),
            is_for_pages=False,
            tuned={each.target: each.tuned for each in (android, ios)},
        )
        libraries = {**included_runtime.linked(android).files, **runtime.framework_files(ios)}
        return ReactNativeView(
            package=package,
            names=self._names(package, android, ios, models, layout),
            files=layout.placed(),
            licenses=licenses(android.plans),
            libraries=libraries,
            own_texts={
                **runtime.framework_plist(ios),
                **runtime.pod(ios),
                **swift_package.runtime_texts(ios),
            },
        )

    def _names(
        self, package: Package, android: Built, ios: Built, models: tuple[ModelView, ...], layout: files.Layout
    ) -> NamesView:
        module = naming.module_name(package.name, self.module)
        npm_name = naming.npm_name(package.name, self.package)
        asset_folder = f"mobpack/{module}"
        onnxruntime = included_runtime.linked(android)
        staged = tuple(pipelines.files(package.pipelines, npm_name, models))
        exports = typed.exports(android.plans, has_pipelines=bool(staged))
        has_pictures = any(each.module == "picture" for each in exports)
        return NamesView(
            npm_name=npm_name,
            all_providers=all_providers(),
            version=package.version,
            description=package.description or f"On-device models: {', '.join(each.name for each in models)}",
            license=package.license or UNLICENSED,
            trust=signed_list.trust_view(package),
            delivery=delivery_view(package),
            runtimes={each.target: included_runtime.documented(each) for each in (android, ios)},
            npm_registry=package.npm_registry,
            module=module,
            cpp_namespace=naming.cpp_namespace(module),
            cmake_target=naming.cmake_target(module),
            kotlin_package=f"{android.namespace}.reactnative",
            asset_folder=asset_folder,
            bundle=f"{module}Models",
            spec=f"{module}Spec",
            library=onnxruntime.library,
            android_runtime=onnxruntime.coordinates,
            android_module=onnxruntime.coordinates.rpartition(":")[0],
            android_version=android.runtime_version,
            android_oldest=included_runtime.oldest(android),
            ios_version=ios.runtime_version,
            ios_oldest=included_runtime.oldest(ios),
            ios_framework=runtime.framework_path(ios),
            min_ios=ios.oldest_system,
            swift=swift_package.swift_package(
                module, npm_name, ios, _resources(layout, asset_folder, [ios.target] if package.trust else [])
            ),
            min_sdk=int(android.oldest_system),
            compile_sdk=downloads.pins()["android"]["compile-sdk"],
            react_native=downloads.pins()["react-native"]["oldest"],
            has_telemetry=included_runtime.has_telemetry(android),
            providers_in_manifest=with_partial(android.providers, MANIFEST),
            providers_of_device=with_partial(android.providers, texts.DEVICE),
            providers_in_readme=with_partial(android.providers, texts.README),
            has_self_test=any(model.golden for model in models),
            platforms=(runtime.platform_view(android), runtime.platform_view(ios)),
            models=models,
            pipelines=staged,
            has_hooks=True,
            exports=exports,
            has_pictures=has_pictures,
            is_tuned=any(model.tuned for model in models),
            frameworks=runtime.frameworks(ios, package, has_pictures=has_pictures),
        )

    def render(self, view: ReactNativeView) -> Sources:
        """Every file of the npm package."""
        models = {_path(each, view.names.asset_folder): each.content.file for each in view.files}
        licenses = {PurePosixPath(each.name): each.file for each in view.licenses}
        return Sources(
            texts=dict(sorted({**texts.texts(view), **_headers(), **view.own_texts, **_signed_lists(view)}.items())),
            files={
                PurePosixPath("LICENSE-onnxruntime.txt"): templates_folder() / ONNXRUNTIME / "LICENSE",
                **texts.copies(view),
                **view.libraries,
                **models,
                **licenses,
            },
        )

    def parts(self, view: ReactNativeView) -> Parts:
        names, licenses = view.names, downloads.pins()["licenses"]
        own = components.npm(names.npm_name, names.version, view.package.license, about=view.package.description)
        peers = (
            components.npm("react", "", licenses["react"], about=OF_APPS),
            components.npm("react-native", "", licenses["react"], about=OF_APPS, allowed=f">={names.react_native}"),
            components.npm("onnxruntime-web", "", licenses["onnxruntime"], about=OF_APPS, is_optional=True),
        )
        return Parts(package=own, libraries=(*runtime.parts(view.names, licenses["onnxruntime"]), *peers))

    def project(self, view: ReactNativeView, sources: Sources, store: Store) -> Sources:
        """The package itself: apps build its sources."""
        return sources

    def assemble(
        self, view: ReactNativeView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The package as made by `npm pack`."""
        announce("compress it")
        name = npm.tarball_name(view.names.npm_name, view.names.version)
        inputs = [
            name,
            {str(path): text for path, text in sources.texts.items()},
            {str(path): sha256_of(file) for path, file in sources.files.items()},
        ]

        def make(folder: Path) -> None:
            printed = {path: text.encode() for path, text in sources.texts.items()}
            tarball.write_tarball(folder / name, {**printed, **sources.files})

        made = store.results(ASSEMBLY, inputs, make)
        return (artifact(made / name, target=self.NAME, kind="npm-package"),)

    def layout(self, view: ReactNativeView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The package as a tarball for `npm install`."""
        return copied(artifacts, dist, "npm")


def _signed_lists(view: ReactNativeView) -> dict[PurePosixPath, str]:
    """The lists of the files of each platform, by path, unsigned; empty for a package without trusted keys."""
    if view.package.trust is None:
        return {}
    return {
        _list_path(platform, view.names.asset_folder): signed_list.unsigned(
            {each.content.path: each.content.sha256 for each in view.files if each.folder in (files.BOTH, platform)},
            view.package,
        )
        for platform in ReactNative.NEEDS
    }


def _resources(layout: files.Layout, asset_folder: str, signed: Sequence[str]) -> tuple[PurePosixPath, ...]:
    """Files of the Swift package's bundle. `signed` are the platforms with a list of their files."""
    placed = (_path(each, asset_folder) for each in layout.placed() if each.folder != files.ANDROID)
    return (*placed, *(_list_path(each, asset_folder) for each in signed))


def _list_path(platform: str, asset_folder: str) -> PurePosixPath:
    return MODELS / platform / asset_folder / signed_list.NAME


def _path(file: PlacedFile, asset_folder: str) -> PurePosixPath:
    return MODELS / file.folder / asset_folder / file.content.path


def _headers() -> dict[PurePosixPath, str]:
    """ONNX Runtime's C headers, which the app compiles and nobody reads there."""
    folder = templates_folder() / ONNXRUNTIME / "include"
    return {HEADERS / path.name: without_comments(path.read_text("utf-8")) for path in sorted(folder.glob("*.h"))}
