"""The wrapper Flutter: a pub package over the files of the Android package."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import components
from packager.core.components import Component, Parts
from packager.core.errors import ConfigError
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.values import Artifact, Package, Sources
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.store import Step, Store
from packager.files.zips import write_zip
from packager.processes import downloads
from packager.targets import signed_list
from packager.targets.delivery import delivery_view
from packager.targets.flutter import naming, pages, texts
from packager.targets.flutter.model import model_view, refuse
from packager.targets.flutter.view import FlutterView, NamesView, SettingView
from packager.targets.partials import MANIFEST, with_partial
from packager.targets.target import TOP, Built, OwnRuntime, artifact
from packager.targets.typescript import naming as npm
from packager.targets.typescript.files import Layout, Platform, lay_out
from packager.targets.typescript.golden import golden_views
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="flutter", caller=__name__, computed_by=("packager.files.zips",))
MODELS = PurePosixPath("models")
LICENSE = PurePosixPath("ios/onnxruntime/LICENSE")
"""below templates/: ONNX Runtime's licence, equal on all platforms"""
ANDROID = "android"
WEB = "web"
DART_SDK = "3.10.0"
"""oldest supported Dart"""
FLUTTER_SDK = "3.38.0"
"""the Flutter that has it"""


@dataclass(frozen=True, kw_only=True)
class Flutter:
    NAME: ClassVar[str] = "flutter"
    NEEDS: ClassVar[tuple[str, ...]] = (ANDROID,)
    ALSO: ClassVar[tuple[str, ...]] = (WEB,)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"pub-package": f"{TOP}{MODELS}/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = True
    UPDATES: ClassVar[bool] = True
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    package: str = ""
    """name of the pub package; default: derived from the package's name, `page-orientation` -> `page_orientation`"""

    def __post_init__(self) -> None:
        """Raises SettingError for an invalid name."""
        if self.package:
            naming.pub_name("", self.package)

    def refuse(self, package: Package, runtimes: Mapping[str, OwnRuntime]) -> None:
        npm.refuse_version(package.version)
        if ANDROID in runtimes:
            raise ConfigError(
                "target.flutter: packages depend on the published ONNX Runtime, not yet on one of [runtime]",
                hint="build Flutter without [runtime] android",
            )

    def view(
        self, package: Package, built: Mapping[str, Built], report: Report, golden: Golden = NO_VECTORS
    ) -> FlutterView:
        android = built[ANDROID]
        for plan in android.plans:
            refuse(plan, android.providers)
        pub_name = naming.pub_name(package.name, self.package)
        layout = Layout()
        laid_out = lay_out([Platform(name=ANDROID, variant=android.variant, plans=android.plans)], layout)[ANDROID]
        oldest = android.runtime_range.releases[0] if android.runtime_range else android.runtime_version
        class_names = naming.class_names(plan.model.name for plan in android.plans)
        file_names = naming.file_names(plan.model.name for plan in android.plans)
        page = built[WEB].page if WEB in built else None
        models = tuple(
            model_view(
                plan.model,
                package,
                pub_name=pub_name,
                class_name=class_names[plan.model.name],
                file=file_names[plan.model.name],
                oldest_runtime=oldest,
                providers=android.providers,
                files=laid_out[plan.model.name],
                golden=golden_views(plan.model.name, {ANDROID: laid_out[plan.model.name]}, golden, layout),
                reshaped=report.reshaped_outputs(plan.model.name, android.variant),
                page=pages.page_view(page, plan.model.name),
            )
            for plan in android.plans
        )
        models = tuple(sorted(models, key=lambda each: each.file))
        files = {each.content.path: each.content.file for each in layout.placed()}
        web = pages.files(page)
        return FlutterView(
            package=package,
            names=NamesView(
                pub_name=pub_name,
                version=package.version,
                description=package.description or f"On-device models: {', '.join(each.name for each in models)}",
                license=package.license,
                home_page=package.url,
                namespace=f"{android.namespace}.flutter",
                runtime_version=android.runtime_version,
                onnxruntime=android.dependency.rpartition(":")[0],
                oldest_runtime=oldest,
                min_sdk=int(android.oldest_system),
                compile_sdk=downloads.pins()["android"]["compile-sdk"],
                dart_sdk=DART_SDK,
                flutter_sdk=pages.FLUTTER_SDK if page else FLUTTER_SDK,
                has_telemetry=True,
                providers_in_manifest=with_partial(android.providers, MANIFEST),
                assets=tuple(f"{MODELS}/{name}" for name in (*files, *([signed_list.NAME] if package.trust else ()))),
                page_assets=tuple(map(str, (*web.texts, *web.files))),
                page_runtime=built[WEB].runtime_version if page else "",
                has_self_test=any(model.golden for model in models),
                trust=signed_list.trust_view(package),
                delivery=delivery_view(package),
                runtimes=(SettingView(key=ANDROID, value=android.dependency),),
                is_encrypted=bool(package.encryption),
                models=models,
            ),
            files=files,
            web=web,
            licenses={
                f"LICENSE-{plan.model.name}.txt": plan.model.license_file
                for plan in android.plans
                if plan.model.license_file
            },
        )

    def render(self, view: FlutterView) -> Sources:
        """All files of the pub package."""
        return Sources(
            texts=dict(sorted({**texts.texts(view.names), **view.web.texts, **_signed_list(view)}.items())),
            files={
                PurePosixPath("LICENSE-onnxruntime.txt"): templates_folder() / LICENSE,
                **texts.copies(view.names),
                **{MODELS / name: file for name, file in view.files.items()},
                **view.web.files,
                **{PurePosixPath(name): file for name, file in view.licenses.items()},
            },
        )

    def parts(self, view: FlutterView) -> Parts:
        names = view.names
        terms = downloads.pins()["licenses"]["onnxruntime"]
        own = Component(
            name=names.pub_name,
            version=names.version,
            purl=components.purl("pub", names.pub_name, names.version),
            license=view.package.license,
            about=view.package.description,
        )
        runtime = components.maven(
            f"{names.onnxruntime}:{names.runtime_version}", terms, kind="aar", allowed=f"[{names.oldest_runtime},2)"
        )
        return Parts(package=own, libraries=(runtime, *pages.parts(names.page_runtime)))

    def project(self, view: FlutterView, sources: Sources, store: Store) -> Sources:
        """The package itself: apps build its sources."""
        return sources

    def assemble(self, view: FlutterView, sources: Sources, store: Store) -> tuple[Artifact, ...]:
        """The package as a .zip with a single top-level folder."""
        stem = f"{view.names.pub_name}-{view.names.version}"
        inputs = [
            stem,
            {str(path): text for path, text in sources.texts.items()},
            {str(path): sha256_of(file) for path, file in sources.files.items()},
        ]

        def make(folder: Path) -> None:
            content: dict[PurePosixPath, bytes | Path] = {path: text.encode() for path, text in sources.texts.items()}
            content |= sources.files
            write_zip(folder / f"{stem}.zip", {stem / path: each for path, each in content.items()})

        made = store.results(ASSEMBLY, inputs, make)
        return (artifact(made / f"{stem}.zip", target=self.NAME, kind="pub-package"),)


def _signed_list(view: FlutterView) -> dict[PurePosixPath, str]:
    """The list of the package's files by path, unsigned; empty for a package without trusted keys."""
    if view.package.trust is None:
        return {}
    digests = {name: sha256_of(file) for name, file in view.files.items()}
    return {MODELS / signed_list.NAME: signed_list.unsigned(digests, view.package)}
