"""The wrapper Flutter: a pub package over the files of the packages for Android and iOS."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import components
from packager.core.class_names import class_name
from packager.core.components import Component, Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.tuned import settings_of
from packager.core.values import Artifact, Package, Sources
from packager.description import Language
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.files.zips import Content, ZipLink, unpack, write_zip
from packager.providers import all_providers
from packager.targets import included_runtime, signed_list
from packager.targets.delivery import delivery_view
from packager.targets.flutter import apple, naming, pages, pipelines, texts, typed
from packager.targets.flutter.assets import declared, too_large
from packager.targets.flutter.assets import platforms as platforms_of
from packager.targets.flutter.license import license_text
from packager.targets.flutter.model import model_view, refuse, setup_view
from packager.targets.flutter.view import (
    AndroidView,
    DeclaredAssetView,
    FlutterView,
    ModelView,
    NamesView,
    SettingView,
    SetupView,
)
from packager.targets.included_runtime import LIBRARY
from packager.targets.layouts import copied
from packager.targets.partials import MANIFEST, with_partial
from packager.targets.target import TOP, Built, OwnRuntime, Shipped, artifact, licenses_of
from packager.targets.typescript import naming as npm
from packager.targets.typescript.files import Layout, Platform, lay_out
from packager.targets.typescript.golden import golden_views
from packager.targets.typescript.model import reshaped_outputs
from packager.targets.typescript.view import FileView
from packager.targets.xcframework.packaged import PackagedFramework
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="flutter", caller=__name__, computed_by=("packager.files.zips",))
MODELS = PurePosixPath("models")
LICENSE = PurePosixPath("ios/onnxruntime/LICENSE")
"""below templates/: ONNX Runtime's licence, equal on all platforms"""
ANDROID, IOS = "android", "ios"
WEB = "web"
DART_SDK = "3.10.0"
"""oldest supported Dart"""
FLUTTER_SDK = "3.41.0"
"""the first Flutter with assets of single platforms, and with its own framework as a Swift package"""
SYSTEMS = {
    "android": "Android",
    "ios": "iOS",
    "linux": "Linux",
    "macos": "macOS",
    "windows": "Windows",
    "web": "the web",
}


@dataclass(frozen=True, kw_only=True)
class Flutter:
    NAME: ClassVar[str] = "flutter"
    NEEDS: ClassVar[tuple[str, ...]] = (ANDROID, IOS)
    NEEDS_ALL: ClassVar[bool] = False
    ALSO: ClassVar[tuple[str, ...]] = (WEB,)
    LANGUAGE: ClassVar[Language] = Language(name="Dart", has_pipelines=True, adds_nothing_for=("encryption",))
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"pub-package": f"{TOP}{MODELS}/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = True
    UPDATES: ClassVar[bool] = True
    VARIES: ClassVar[bool] = True
    ABOUT: ClassVar[str] = "a pub package over android, ios or both: docs/flutter.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        '# package = "reader"': "in pubspec.yaml; from the package's name when absent",
    }
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    package: str = ""
    """name of the pub package; default: derived from the package's name, `page-orientation` -> `page_orientation`"""

    def __post_init__(self) -> None:
        """Raises SettingError for an invalid name."""
        if self.package:
            naming.pub_name("", self.package)

    def refuse(self, package: Package, runtimes: Mapping[str, OwnRuntime]) -> None:
        npm.refuse_version(package.version)

    def view(
        self, package: Package, built: Mapping[str, Built], report: Report, golden: Golden = NO_VECTORS
    ) -> FlutterView:
        included = [built[name] for name in self.NEEDS if name in built]
        for each in included:
            for plan in each.plans:
                refuse(plan)
        pub_name = naming.pub_name(package.name, self.package)
        layout = Layout()
        platforms = [Platform(name=each.target, variant=each.variant, plans=each.plans) for each in included]
        laid_out = lay_out(platforms, layout)
        plans = included[0].plans
        opened = {plan.model.name: {name: files[plan.model.name] for name, files in laid_out.items()} for plan in plans}
        tested = {name: golden_views(name, files, golden, layout) for name, files in opened.items()}
        file_names = naming.file_names(plan.model.name for plan in plans)
        page = built[WEB].page if WEB in built else None
        models = tuple(
            model_view(
                plan.model,
                package,
                pub_name=pub_name,
                class_name=class_name(plan.model.name),
                file=file_names[plan.model.name],
                library=included_runtime.linked(built[ANDROID]).library if ANDROID in built else LIBRARY,
                setups=tuple(_setup(each, plan.model.name, opened[plan.model.name][each.target]) for each in included),
                golden=tested[plan.model.name],
                reshaped={name for each in platforms for name in reshaped_outputs(report, each, plan.model.name)},
                page=pages.page_view(page, plan.model.name),
            )
            for plan in plans
        )
        models = tuple(sorted(models, key=lambda each: each.file))
        web = pages.files(page)
        ios = built.get(IOS)
        return FlutterView(
            package=package,
            names=_names(
                package,
                pub_name,
                built,
                models,
                assets=declared(MODELS, layout, laid_out, [each for found in tested.values() for each in found]),
                excluded=too_large(layout),
                page_assets=tuple(map(str, (*web.texts, *web.files))),
            ),
            web=web,
            files={each.content.path: each.content.file for each in layout.placed()},
            licenses=licenses_of(plans),
            libraries={
                **(included_runtime.linked(built[ANDROID]).files if ANDROID in built else {}),
                **(apple.files(pub_name, ios) if ios else {}),
            },
            links=apple.links(pub_name, ios) if ios else {},
            own_texts=apple.texts(pub_name, ios) if ios else {},
            own_ios=ios.own if ios and isinstance(ios.own, PackagedFramework) else None,
        )

    def render(self, view: FlutterView) -> Sources:
        """Every file of the pub package."""
        return Sources(
            texts=dict(
                sorted(
                    {
                        **texts.texts(view.names),
                        PurePosixPath("LICENSE"): license_text(view.package, view.licenses),
                        **view.own_texts,
                        **view.web.texts,
                        **_signed_list(view),
                    }.items()
                )
            ),
            files={
                PurePosixPath("LICENSE-onnxruntime.txt"): templates_folder() / LICENSE,
                **texts.copies(view.names),
                **view.libraries,
                **{MODELS / name: file for name, file in view.files.items()},
                **view.web.files,
                **{PurePosixPath(name): file for name, file in view.licenses.items()},
            },
            links=view.links,
        )

    def parts(self, view: FlutterView) -> Parts:
        names = view.names
        own = Component(
            name=names.pub_name,
            version=names.version,
            purl=components.purl("pub", names.pub_name, names.version),
            license=view.package.license,
            about=view.package.description,
        )
        return Parts(package=own, libraries=tuple(_libraries(view)))

    def project(self, view: FlutterView, sources: Sources, store: Store) -> Sources:
        """The package itself: apps build its sources."""
        return sources

    def assemble(
        self, view: FlutterView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The package as a .zip with a single top-level folder."""
        announce("compress it")
        stem = f"{view.names.pub_name}-{view.names.version}"
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

        made = store.results(ASSEMBLY, inputs, make)
        return (artifact(made / f"{stem}.zip", target=self.NAME, kind="pub-package"),)

    def layout(self, view: FlutterView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The archive of the package, and its files in a folder that apps add by path."""
        unpack(artifacts[0].path, dist / self.NAME / view.names.pub_name)
        return copied(artifacts, dist, self.NAME)


def _setup(built: Built, model: str, files: Sequence[FileView]) -> SetupView:
    return setup_view(built.target, _oldest(built), built.providers, files, settings_of(model, built.tuned))


def _list_asset(package: Package, systems: tuple[str, ...]) -> tuple[DeclaredAssetView, ...]:
    """The entry of the signed list of files, which apps need wherever the files come from."""
    if package.trust is None:
        return ()
    return (DeclaredAssetView(path=f"{MODELS}/{signed_list.NAME}", platforms=systems),)


def _signed_list(view: FlutterView) -> dict[PurePosixPath, str]:
    """The list of the package's files by path, unsigned; empty for a package without trusted keys."""
    if view.package.trust is None:
        return {}
    digests = {name: sha256_of(file) for name, file in view.files.items()}
    return {MODELS / signed_list.NAME: signed_list.unsigned(digests, view.package)}


def _names(
    package: Package,
    pub_name: str,
    built: Mapping[str, Built],
    models: tuple[ModelView, ...],
    *,
    assets: tuple[DeclaredAssetView, ...],
    excluded: tuple[str, ...],
    page_assets: tuple[str, ...],
) -> NamesView:
    included = [name for name in (ANDROID, IOS) if name in built]
    platforms = (*platforms_of(included), *([WEB] if page_assets else []))
    return NamesView(
        pub_name=pub_name,
        version=package.version,
        description=package.description or f"On-device models: {', '.join(each.name for each in models)}",
        home_page=package.url,
        repository=package.scm,
        android=_android(built[ANDROID]) if ANDROID in built else None,
        apple=apple.apple_view(pub_name, built[IOS]) if IOS in built else None,
        has_telemetry=ANDROID in built and included_runtime.has_telemetry(built[ANDROID]),
        all_providers=all_providers(),
        providers_in_manifest=with_partial(built[ANDROID].providers, MANIFEST) if ANDROID in built else (),
        oldest_runtime=_oldest(built[included[0]]),
        platforms=platforms,
        systems=_in_words([SYSTEMS[name] for name in platforms]),
        dart_sdk=DART_SDK,
        flutter_sdk=FLUTTER_SDK,
        assets=(*assets, *_list_asset(package, platforms_of(included))),
        too_large=excluded,
        page_assets=page_assets,
        page_runtime=built[WEB].runtime_version if page_assets else "",
        has_self_test=any(model.golden for model in models),
        results=typed.RESULTS,
        trust=signed_list.trust_view(package),
        delivery=delivery_view(package),
        runtimes=tuple(SettingView(key=name, value=built[name].dependency) for name in included),
        is_encrypted=bool(package.encryption),
        models=models,
        pipelines=tuple(pipelines.files(package.pipelines, pub_name, models)),
    )


def _in_words(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _oldest(built: Built) -> str:
    """The oldest ONNX Runtime that opens the files: one of the user's own may be older than those that are tested."""
    return included_runtime.oldest(built) or built.runtime_version


def _android(android: Built) -> AndroidView:
    linked = included_runtime.linked(android)
    return AndroidView(
        namespace=f"{android.namespace}.flutter",
        runtime=linked.coordinates,
        module=linked.coordinates.rpartition(":")[0],
        runtime_version=android.runtime_version,
        oldest_runtime=included_runtime.oldest(android),
        min_sdk=int(android.oldest_system),
        compile_sdk=downloads.pins()["android"]["compile-sdk"],
        providers_in_readme=with_partial(android.providers, texts.README),
    )


def _libraries(view: FlutterView) -> Iterator[Component]:
    """ONNX Runtime of each platform."""
    terms = downloads.pins()["licenses"]["onnxruntime"]
    android = view.names.android
    if android and android.runtime:
        allowed = f"[{android.oldest_runtime},2)" if android.oldest_runtime else ""
        yield components.maven(android.runtime, terms, kind="aar", allowed=allowed)
    elif android:
        yield components.own_runtime(android.runtime_version, terms, platform="android")
    if view.names.apple:
        yield from apple.parts(view.names.apple, view.own_ios)
    yield from pages.parts(view.names.page_runtime)
