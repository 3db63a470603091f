"""The target node: an npm package for Node and Electron, whose models run on onnxruntime-node."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import components
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.values import Artifact, Format, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments.runtime import shipped_version
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.targets.desktop import Desktop
from packager.targets.layouts import copied
from packager.targets.node import providers, texts
from packager.targets.node.view import NamesView, NodeView
from packager.targets.target import Built, Shipped, artifact
from packager.targets.typescript import naming, pipelines, tarball, typed
from packager.targets.typescript.files import Layout, Platform, licenses
from packager.targets.typescript.model import model_views
from packager.targets.typescript.view import ModelView, PlacedFile, PlatformProvidersView
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="node", caller=__name__, computed_by=("packager.targets.typescript.tarball",))
SUFFIX = "-node"
"""of the npm name, after the package's: `page-orientation-node`"""
MODELS = PurePosixPath("models")
RUNTIME = "onnxruntime-node"
UNLICENSED = "UNLICENSED"
"""npm's licence field for a package without a licence"""


@dataclass(frozen=True, kw_only=True)
class Node(Desktop):
    NAME: ClassVar[str] = "node"
    LANGUAGE: ClassVar[Language] = replace(naming.TYPESCRIPT, adds_nothing_for=("channel", "encryption", "trust"))
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"node-package": f"/package/{MODELS}/"}
    ABOUT: ClassVar[str] = "an npm package for Node and Electron: docs/node.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        '# package = "@example/reader-node"': "on npm; from the package's name when absent",
    }

    package: str = ""
    """npm name, such as `@example/vision`; default: derived from the package's name, `page-orientation` ->
    `page-orientation-node`"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        if self.package:
            naming.refuse_npm_name(self.package)

    def published_runtime(self) -> str:
        return f"{RUNTIME} {shipped_version()}"

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> NodeView:
        npm_name = self.package or f"{package.name}{SUFFIX}"
        naming.refuse_length(npm_name, self.NAME)
        naming.refuse_version(package.version)
        files: list[PlacedFile] = []
        models: list[ModelView] = []
        for plan in plans:
            layout = Layout(folder=plan.model.name)
            own = Platform(name=self.NAME, variant=self.variant, plans=(plan,))
            made = model_views(package, [own], report, golden, layout, npm_name=npm_name, is_for_pages=True)
            models += map(_opened_by_all, made) if plan.cpu.format is Format.ONNX else made
            files += layout.placed()
        return NodeView(
            package=package,
            names=_names(package, npm_name, tuple(models), plans),
            files=tuple(files),
            licenses=licenses(plans),
        )

    def built(self, view: NodeView, plans: tuple[Plan, ...]) -> Built:
        return self.built_with(plans, namespace=view.names.npm_name)

    def render(self, view: NodeView) -> Sources:
        """Every file of the npm package."""
        return Sources(
            texts=dict(sorted(texts.texts(view.names).items())),
            files={
                **texts.copies(view.names),
                **{MODELS / each.content.path: each.content.file for each in view.files},
                **{PurePosixPath(each.name): each.file for each in view.licenses},
            },
        )

    def parts(self, view: NodeView) -> Parts:
        names, terms = view.names, downloads.pins()["licenses"]
        return Parts(
            package=components.npm(names.npm_name, names.version, view.package.license, about=view.package.description),
            libraries=(components.npm(RUNTIME, names.runtime_version, terms["onnxruntime"]),),
        )

    def project(self, view: NodeView, sources: Sources, store: Store) -> Sources:
        """The package itself: nothing is left to build."""
        return sources

    def assemble(
        self, view: NodeView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The package as made by `npm pack`."""
        announce("compress it")
        name = view.names.tarball
        inputs = [
            name,
            {str(path): text for path, text in sources.texts.items()},
            {str(path): sha256_of(file) for path, file in sources.files.items()},
        ]

        def make(folder: Path) -> None:
            printed = {path: text.encode() for path, text in sources.texts.items()}
            tarball.write_tarball(folder / name, {**printed, **sources.files})

        made = store.results(ASSEMBLY, inputs, make)
        return (artifact(made / name, target=self.NAME, kind="node-package"),)

    def layout(self, view: NodeView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The package as a tarball for `npm install`."""
        return copied(artifacts, dist, "npm")


def _opened_by_all(model: ModelView) -> ModelView:
    """The graph as it is, which every provider of onnxruntime-node reads."""
    names = tuple(each.NAME for each in providers.ALL)
    opened = (
        replace(each, files=tuple(replace(file, providers=names) for file in each.files)) for each in model.platforms
    )
    return replace(model, platforms=tuple(opened))


def _names(package: Package, npm_name: str, models: tuple[ModelView, ...], plans: Sequence[Plan]) -> NamesView:
    staged = tuple(pipelines.files(package.pipelines, npm_name, models))
    exports = typed.exports(plans, has_pipelines=bool(staged))
    return NamesView(
        npm_name=npm_name,
        version=package.version,
        description=package.description or f"Models for Node: {', '.join(each.name for each in models)}",
        license=package.license or UNLICENSED,
        trust=None,
        npm_registry=package.npm_registry,
        tarball=naming.tarball_name(npm_name, package.version),
        runtime=RUNTIME,
        runtime_version=shipped_version(),
        has_self_test=any(model.golden for model in models),
        has_pictures=any(each.module == "picture" for each in exports),
        has_sounds=any(each.module == "sound" for each in exports),
        has_hooks=False,
        all_providers=providers.ALL,
        platforms=(
            PlatformProvidersView(
                name=Node.NAME,
                title="Node",
                runtime_version=shipped_version(),
                oldest_runtime=shipped_version(),
                providers=(),
                offered=providers.offered(),
            ),
        ),
        models=models,
        pipelines=staged,
        exports=exports,
    )
