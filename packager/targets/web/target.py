"""The target web: an npm package whose models run on ONNX Runtime's WebAssembly, in browsers and in Node."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from packager.core import components
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.errors import SettingError
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.values import Artifact, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments import web as environment
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.providers import CPU, PROVIDERS, all_providers, providers_of
from packager.targets import signed_list
from packager.targets.delivery import delivery_view
from packager.targets.layouts import copied
from packager.targets.target import Built, DefaultProviders, Page, RuntimeRange, Shipped, artifact
from packager.targets.typescript import naming, pipelines, tarball, typed
from packager.targets.typescript.files import Layout, Platform, licenses
from packager.targets.typescript.model import model_views
from packager.targets.typescript.providers import providers_view
from packager.targets.typescript.view import ModelView, PlatformProvidersView
from packager.targets.web import texts
from packager.targets.web.view import NamesView, WebView
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="web", caller=__name__, computed_by=("packager.targets.typescript.tarball",))
SUFFIX = "-web"
"""of the npm name, after the package's: `page-orientation-web`"""
MODELS = PurePosixPath("models")
RUNTIME = PurePosixPath("onnxruntime")
LICENSE = PurePosixPath("ios/onnxruntime/LICENSE")
"""below templates/: ONNX Runtime's licence, equal on all platforms"""
ENVIRONMENTS = {each.RUNTIME: each for each in (environment.Web, environment.WebWithGpu)}
ASKED_FOR = {"wasm": (), "webgpu": ("webgpu",)}
"""runtime -> the providers that those who choose it want"""
UNLICENSED = "UNLICENSED"
"""npm's licence field for a package without a licence"""


@dataclass(frozen=True, kw_only=True)
class Web:
    NAME: ClassVar[str] = "web"
    LANGUAGE: ClassVar[Language] = naming.TYPESCRIPT
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"web-package": f"/package/{MODELS}/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = False
    UPDATES: ClassVar[bool] = True
    VARIES: ClassVar[bool] = False
    ABOUT: ClassVar[str] = "an npm package for browsers and Node: docs/web.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        '# package = "@example/reader-web"': "on npm; from the package's name when absent",
    }
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    package: str = ""
    """npm name, such as `@example/vision`; default: derived from the package's name, `page-orientation` ->
    `page-orientation-web`"""
    variant: str = "source"
    """variant of the models to ship"""
    runtime: Literal["wasm", "webgpu"] = "wasm"
    """build of ONNX Runtime inside the package: `wasm` runs models on the processor; `webgpu`, 2 MB more over the wire,
    on the graphics processor of browsers that have WebGPU"""
    providers: tuple[str, ...] = DefaultProviders(())
    """providers that run the models, tried in this order: with `runtime = "webgpu"`, `webgpu` (the default) and
    `webnn`; the CPU, in WebAssembly, is always last"""
    format: Literal["auto", "ort", "onnx"] = "auto"
    """`auto` and `ort`: ORT format; `onnx`: the unmodified graph, which the runtime optimizes at every load"""
    prepacking: Literal["auto", "on", "off"] = "auto"
    """whether the CPU prepacks weights at load: a second copy in memory, for runs that are faster; `auto` prepacks
    unless the model ships as ONNX only, and always weight-only models"""
    float16: Literal["onnx", "float32"] = "onnx"
    """form of float16 models: with `onnx` the runtime, which has few kernels for 16 bits, converts them at load;
    `float32` ships 32 bits"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        if self.package:
            naming.refuse_npm_name(self.package)
        for index, provider in enumerate(self.providers):
            _refuse_provider(provider, self.providers[:index], self.runtime)
        if isinstance(self.providers, DefaultProviders):
            object.__setattr__(self, "providers", ASKED_FOR[self.runtime])

    @property
    def soc_models(self) -> tuple[str, ...]:
        """Always empty: no file is for one chip."""
        return ()

    @property
    def environment(self) -> str:
        return ENVIRONMENTS[self.runtime].NAME

    @property
    def no_float64(self) -> str:
        return "" if self.runtime == "wasm" else "ONNX Runtime's WebGPU build has no kernels for 64 bits"

    def published_runtime(self) -> str:
        return ENVIRONMENTS[self.runtime]().package

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Packages contain their runtime."""
        return None

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
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> WebView:
        npm_name = self.package or f"{package.name}{SUFFIX}"
        naming.refuse_length(npm_name, self.NAME)
        naming.refuse_version(package.version)
        layout = Layout()
        models = model_views(
            package,
            [Platform(name=self.NAME, variant=self.variant, plans=plans)],
            report,
            golden,
            layout,
            npm_name=npm_name,
            is_for_pages=True,
        )
        script, binary = (environment.runtime_file(part, self.runtime) for part in ("script", "binary"))
        return WebView(
            package=package,
            names=_names(
                package,
                npm_name,
                models,
                plans,
                self.providers,
                runtime=self.published_runtime(),
                script=script,
                binary=binary,
            ),
            files=layout.placed(),
            licenses=licenses(plans),
            script=script,
            binary=binary,
        )

    def built(self, view: WebView, plans: tuple[Plan, ...]) -> Built:
        return Built(
            target=self.NAME,
            plans=plans,
            providers=self.providers,
            variant=self.variant,
            namespace=view.names.npm_name,
            oldest_system="",
            runtime_version=environment.version(),
            dependency="",
            own=None,
            page=Page(
                sources=self.render(view),
                modules={
                    each.name: (PurePosixPath("lib/models") / f"{each.file}.js", each.class_name)
                    for each in view.names.models
                },
            ),
        )

    def render(self, view: WebView) -> Sources:
        """Every file of the npm package."""
        return Sources(
            texts=dict(sorted({**texts.texts(view), **_signed_list(view)}.items())),
            files={
                PurePosixPath("LICENSE-onnxruntime.txt"): templates_folder() / LICENSE,
                **texts.copies(view),
                **{RUNTIME / file.name: file for file in (view.script, view.binary)},
                **{MODELS / each.content.path: each.content.file for each in view.files},
                **{PurePosixPath(each.name): each.file for each in view.licenses},
            },
        )

    def parts(self, view: WebView) -> Parts:
        names, pins = view.names, downloads.pins()
        files = f"{RUNTIME / names.script} and {RUNTIME / names.binary}, unchanged"
        return Parts(
            package=components.npm(names.npm_name, names.version, view.package.license, about=view.package.description),
            libraries=(
                components.npm(
                    environment.PACKAGE,
                    names.runtime_version,
                    pins["licenses"]["onnxruntime"],
                    about=f"in the package: {files}",
                    sha256=pins["files"][environment.PACKAGE]["sha256"],
                ),
                components.npm("react", "", pins["licenses"]["react"], about="the app's own", is_optional=True),
            ),
        )

    def project(self, view: WebView, sources: Sources, store: Store) -> Sources:
        """The package itself: nothing is left to build."""
        return sources

    def assemble(
        self, view: WebView, sources: Sources, store: Store, announce: Announce = silent
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
        return (artifact(made / name, target=self.NAME, kind="web-package"),)

    def layout(self, view: WebView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The package as a tarball for `npm install`."""
        return copied(artifacts, dist, "npm")


def _signed_list(view: WebView) -> dict[PurePosixPath, str]:
    """The list of the package's files by path, unsigned; empty for a package without trusted keys."""
    if view.package.trust is None:
        return {}
    digests = {each.content.path: each.content.sha256 for each in view.files}
    return {MODELS / signed_list.NAME: signed_list.unsigned(digests, view.package)}


def _refuse_provider(provider: str, before: tuple[str, ...], runtime: str) -> None:
    """Raises SettingError for a provider that the package cannot have."""
    known = providers_of(Web.NAME)
    if provider in before:
        raise SettingError(f"provider '{provider}' is listed twice", hint="keep only its first place in the order")
    if provider in known and runtime == "wasm":
        raise SettingError(f"provider '{provider}' is not in that ONNX Runtime", hint='set runtime = "webgpu"')
    if provider == CPU.NAME:
        raise SettingError(f"provider '{provider}' is always the last one", hint="leave it out")
    if provider not in known:
        what = (
            f"provider '{provider}' does not run on the web"
            if provider in PROVIDERS
            else f"unknown provider '{provider}'"
        )
        raise SettingError(what, hint=f"the web has {', '.join(known)}")


def _names(
    package: Package,
    npm_name: str,
    models: tuple[ModelView, ...],
    plans: tuple[Plan, ...],
    providers: tuple[str, ...],
    *,
    runtime: str,
    script: Path,
    binary: Path,
) -> NamesView:
    staged = tuple(pipelines.files(package.pipelines, npm_name, models))
    exports = typed.exports(plans, has_pipelines=bool(staged))
    return NamesView(
        npm_name=npm_name,
        all_providers=all_providers(),
        version=package.version,
        description=package.description or f"Models for the web: {', '.join(each.name for each in models)}",
        license=package.license or UNLICENSED,
        trust=signed_list.trust_view(package),
        delivery=delivery_view(package),
        runtime=runtime,
        npm_registry=package.npm_registry,
        tarball=naming.tarball_name(npm_name, package.version),
        runtime_version=environment.version(),
        script=script.name,
        binary=binary.name,
        binary_sha256=sha256_of(binary),
        binary_bytes=binary.stat().st_size,
        has_self_test=any(model.golden for model in models),
        has_pictures=any(each.module == "picture" for each in exports),
        has_sounds=any(each.module == "sound" for each in exports),
        has_hooks=False,
        platforms=(
            PlatformProvidersView(
                name=Web.NAME,
                title="the web",
                runtime_version=environment.version(),
                oldest_runtime="",
                providers=providers_view(providers),
            ),
        ),
        models=models,
        pipelines=staged,
        exports=exports,
    )
