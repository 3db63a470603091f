"""The target Android: a library (.aar) whose Kotlin classes load and run the models of a package."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from packager.core import components
from packager.core.components import Component, Parts
from packager.core.errors import SettingError, nearest
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.values import Artifact, Package, Plan, Sources
from packager.environments.runtime import Runtime
from packager.files import host
from packager.files.hashes import sha256_of
from packager.files.store import Step, Store
from packager.processes import downloads
from packager.providers import CPU, PROVIDERS, provider_of, providers_of
from packager.render import render, write_sources
from packager.targets import delivery, signed_list
from packager.targets.android import aar, files, gradle, kotlin, native, tensors, typed, units
from packager.targets.android.golden import golden_views
from packager.targets.android.readme import readme
from packager.targets.android.view import (
    AndroidView,
    License,
    ModelView,
    OptionView,
    ProviderView,
    RuntimeView,
    UpdatedModelsView,
)
from packager.targets.apk import without_end
from packager.targets.target import (
    SBOM,
    Built,
    DefaultProviders,
    PackagedRuntime,
    RuntimeRange,
    artifact,
    runtime_range,
)
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(
    name="android",
    caller=__name__,
    computed_by=(
        "packager.render",
        "packager.targets.android.aar",
        "packager.targets.android.gradle",
        "packager.targets.android.kotlin",
        "packager.targets.android.units",
    ),
    templates=("android/AndroidManifest.xml.j2", "android/consumer-rules.pro.j2", "android/gradle", "android/stubs"),
)
KOTLIN_ROOT = PurePosixPath("src/main/kotlin")
ASSETS_ROOT = PurePosixPath("src/main/assets")
LIBRARIES_ROOT = PurePosixPath("src/main/jniLibs")
MANIFEST = PurePosixPath("src/main/AndroidManifest.xml")
README = PurePosixPath("README.md")
CONSUMER_RULES = PurePosixPath("consumer-rules.pro")
RELEASED = "../../maven"
"""path from an emitted Gradle project to the Maven repository of its release"""

RUNTIME_FILES = (
    "Assignment",
    "Bundle",
    "Calls",
    "Checked",
    "Download",
    "Downloads",
    "Environment",
    "Folder",
    "Info",
    "Loading",
    "ModelException",
    "ModelFile",
    "ModelMetrics",
    "ModelObserver",
    "ModelOpener",
    "ModelSession",
    "Options",
    "OwnFile",
    "Pack",
    "Policies",
    "Provider",
    "Reopening",
    "Source",
    "Tensors",
    "Weights",
)
SELF_TEST = "SelfTest"
"""file that only packages with golden vectors have"""
DECRYPTION = "Decryption"
"""file that only packages with `encryption` have"""
TRUST = ("Envelope", "Json", "Trust")
"""files that only packages with `trust` have"""
DELIVERY = (
    "ChannelDocument",
    "ChannelRequest",
    "Delta",
    "ReleaseDownload",
    "Safetensors",
    "Trial",
    "Update",
    "UpdateOptions",
    "UpdateRecord",
    "UpdateState",
    "UpdateStore",
    "UpdatedRelease",
    "UpdatedSource",
)
"""files that only packages with `channel` have"""
UPDATED_MODELS = ("ModelUpdater", "PackagedModels")
"""those of them that name the models"""

# Keywords and literals of Java (JLS 3.9, 3.10) and hard keywords of Kotlin: both languages use the package name.
KEYWORDS = frozenset(
    """
    abstract as assert boolean break byte case catch char class const continue default do double else enum extends
    false final finally float for fun goto if implements import in instanceof int interface is long native new null
    object package private protected public return short static strictfp super switch synchronized this throw throws
    transient true try typealias typeof val var void volatile when while
    """.split()
)


@dataclass(frozen=True, kw_only=True)
class Android:
    NAME: ClassVar[str] = "android"
    MODELS_IN: ClassVar[Mapping[str, str]] = {"aar": "/assets/mobpack/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = True
    UPDATES: ClassVar[bool] = True
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    group: str = "com.example"
    """Maven group; with the package's name it forms the package of the Kotlin classes"""
    variant: str = "source"
    """variant of the models to ship"""
    providers: tuple[str, ...] = DefaultProviders(("xnnpack",))
    """providers that run the models, tried in this order; the CPU is always last. Without the key, `xnnpack` gets files
    of the models for which it is worth them (docs/check.md)"""
    format: Literal["auto", "ort", "onnx"] = "auto"
    """`auto`: ORT format for the CPU, an ONNX graph over the same weights for the other providers; `ort`: ORT format
    only, as reduced runtimes need, except for `soc-models`; `onnx`: the unmodified graph, which the runtime optimizes
    at every load"""
    prepacking: Literal["auto", "on", "off"] = "auto"
    """whether the CPU prepacks weights at load: a second copy in memory and ten times the loading time, for runs that
    are about 15 % faster; `auto` prepacks unless the model ships as ONNX only"""
    float16: Literal["native", "onnx", "float32"] = "native"
    """form of float16 models: `native` for phones that compute in 16 bits; with `onnx`, each phone decides; `float32`
    ships 32 bits"""
    float16_fallback: Literal["onnx", "float32"] = "onnx"
    """form to ship instead of `native` if mobpack cannot convert for ARM on this machine"""
    soc_models: tuple[str, ...] = ()
    """Qualcomm chips to compile models for ahead of time if providers has `qnn`, by their Android names: `SM8650`"""
    runtime_range: str = ""
    """oldest minor version of ONNX Runtime that an app may bring, for example `1.27`: the build loads every file in
    each release from there on, and the package's metadata allow them; default: the release that the package names, or a
    newer one"""
    min_sdk: int = 24
    """oldest supported Android API level"""
    assembler: Literal["embedded", "gradle"] = "embedded"
    """`embedded` needs only pip packages, `gradle` an Android SDK and Gradle"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        for part in self.group.split("."):
            if not re.fullmatch(r"[a-z][a-z0-9_]*", part) or part in KEYWORDS:
                raise SettingError(
                    f"group '{self.group}' is not a package name", hint="use a reversed domain: com.example"
                )
        for index, provider in enumerate(self.providers):
            if provider not in providers_of(self.NAME):
                raise SettingError(f"unknown provider '{provider}'", hint=_provider_hint(provider))
            if provider in self.providers[:index]:
                raise SettingError(
                    f"provider '{provider}' is listed twice", hint="keep only its first place in the order"
                )
        for_chips = [name for name in providers_of(self.NAME) if provider_of(name).IS_COMPILED_FOR_CHIPS]
        if self.soc_models and not set(for_chips) & set(self.providers):
            raise SettingError(
                f"soc-models needs the provider {' or '.join(for_chips)}, the only one that opens its files",
                hint=f'add "{for_chips[0]}" to providers',
            )
        self.allowed_runtimes()
        oldest = downloads.pins()["android"]["min-sdk"]
        if self.min_sdk < oldest:
            raise SettingError(f"min-sdk {self.min_sdk} is too old", hint=f"ONNX Runtime needs {oldest} or later")

    @property
    def environment(self) -> str:
        return Runtime.NAME

    @property
    def no_float64(self) -> str:
        """Always empty: ONNX Runtime for phones has them."""
        return ""

    def published_runtime(self) -> str:
        """Maven coordinates of the ONNX Runtime that the package depends on."""
        pinned = downloads.pins()["android"]
        names = (provider_of(provider).ANDROID_RUNTIME for provider in self.providers)
        return str(pinned[next((name for name in names if name != CPU.ANDROID_RUNTIME), CPU.ANDROID_RUNTIME)])

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Raises SettingError for a range that cannot be proved."""
        return runtime_range(self.runtime_range, self.published_runtime().rpartition(":")[2])

    def outside(self) -> str:
        """Gradle downloads what it needs by itself."""
        return "Gradle" if self.assembler == "gradle" else ""

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: PackagedRuntime | None = None,
        golden: Golden = NO_VECTORS,
    ) -> AndroidView:
        namespace = f"{self.group}.{_package_part(package.name)}"
        models = [plan.model for plan in plans]
        contracts = {model.name: model.contract for model in models}
        class_names = tensors.class_names(
            contracts,
            taken=(typed.RESERVED_CLASSES if any(contracts.values()) else frozenset())
            | (tensors.RESERVED_BY_TRUST if package.trust else frozenset())
            | (tensors.RESERVED_BY_ENCRYPTION if package.encryption else frozenset())
            | (tensors.RESERVED_BY_DELIVERY if package.delivery else frozenset()),
        )
        files.refuse_apart(plans, package)
        laid_out = files.lay_out(plans, package)
        tested = {name: golden_views(name, each, package, golden) for name, each in laid_out.items()}
        java_package = runtime.java_package if runtime else aar.ONNXRUNTIME
        return AndroidView(
            package=package,
            group=self.group,
            namespace=namespace,
            runtime=_runtime_view(
                namespace,
                java_package,
                self.providers,
                has_assignment=_has_assignment(laid_out.values()),
                trust=signed_list.trust_view(package, str(files.models_folder(package))),
                is_encrypted=bool(package.encryption),
                delivered=delivery.delivery_view(package),
                runtime=self._delivered_runtime(runtime),
            ),
            models=tuple(
                typed.with_contract(
                    tensors.model_view(
                        model,
                        package,
                        files=laid_out[model.name].views,
                        golden=tested[model.name],
                        kotlin_package=namespace,
                        class_name=class_names[model.name],
                        runtime_version=self._runtime_version(runtime),
                        onnxruntime=java_package,
                        reshaped=report.reshaped_outputs(model.name, self.variant),
                    ),
                    model.contract,
                )
                for model in models
            ),
            typed_files=typed.files(contracts.values()),
            assets=tuple(
                asset
                for model in models
                for asset in (*laid_out[model.name].assets, *(each.asset for each in tested[model.name]))
            ),
            licenses=tuple(
                License(name=f"LICENSE-{model.name}.txt", file=model.license_file)
                for model in models
                if model.license_file
            ),
            own=runtime,
            onnxruntime=runtime.coordinates if runtime else self.published_runtime(),
            libraries=kotlin.libraries(),
            allowed_runtimes=None if runtime else self.allowed_runtimes(),
        )

    def built(self, view: AndroidView, plans: tuple[Plan, ...]) -> Built:
        return Built(
            target=self.NAME,
            plans=plans,
            providers=self.providers,
            variant=self.variant,
            namespace=view.namespace,
            oldest_system=str(self.min_sdk),
            runtime_version=self._runtime_version(view.own),
            dependency=self.published_runtime(),
            own=view.own,
            runtime_range=view.allowed_runtimes,
        )

    def _runtime_version(self, own: PackagedRuntime | None) -> str:
        return own.version if own else self.published_runtime().rpartition(":")[2]

    def _delivered_runtime(self, own: PackagedRuntime | None) -> str:
        if own is None:
            return self.published_runtime()
        return own.coordinates or f"ONNX Runtime {own.version}"

    def render(self, view: AndroidView) -> Sources:
        """Texts and assets, laid out as a module of a Gradle project."""
        folder = KOTLIN_ROOT / _folder(view)
        texts = {folder / f"{model.class_name}.kt": _model_text(model) for model in view.models}
        updated = DELIVERY if view.runtime.delivery else ()
        tested = [SELF_TEST] if updated or any(model.golden for model in view.models) else []
        verified = TRUST if view.package.trust else ()
        decrypted = (DECRYPTION,) if view.package.encryption else ()
        for name in (*RUNTIME_FILES, *view.typed_files, *tested, *verified, *decrypted, *updated):
            texts[folder / f"{name}.kt"] = render(f"android/kotlin/{name}.kt.j2", view.runtime)
        named = UpdatedModelsView(kotlin_package=view.namespace, models=view.models)
        for name in UPDATED_MODELS if updated else ():
            texts[folder / f"{name}.kt"] = render(f"android/kotlin/{name}.kt.j2", named)
        texts |= {ASSETS_ROOT / path: text for path, text in _signed_list(view).items()}
        inside = _inside(view)
        texts[MANIFEST] = aar.manifest(
            package=view.namespace,
            min_sdk=self.min_sdk,
            has_telemetry=_has_telemetry(view),
            providers=self.providers,
        )
        texts[CONSUMER_RULES] = aar.consumer_rules(
            view.runtime.onnxruntime,
            rules=inside.rules if inside else "",
            native_class=f"{view.namespace}.{native.CLASS}" if view.runtime.library else "",
        )
        texts[README] = readme(
            view,
            min_sdk=self.min_sdk,
            runtime_version=self._runtime_version(view.own),
            dependencies=self._dependencies(view),
            providers=self.providers,
            has_telemetry=_has_telemetry(view),
        )
        return Sources(
            texts=dict(sorted(texts.items())),
            files={ASSETS_ROOT / asset.path: asset.file for asset in view.assets} | _runtime_files(inside),
        )

    def parts(self, view: AndroidView) -> Parts:
        licenses = downloads.pins()["licenses"]
        own = components.maven(f"{view.group}:{view.package.name}:{view.package.version}", "", kind="aar")
        runtime = _runtime_part(view, licenses["onnxruntime"])
        used = (components.maven(library, licenses["kotlin"]) for library in view.libraries)
        return Parts(
            package=replace(own, license=view.package.license, about=view.package.description),
            libraries=(runtime, *used),
        )

    def _dependencies(self, view: AndroidView) -> tuple[str, ...]:
        """Libraries that an app needs beside the package, as Maven names them."""
        return (view.onnxruntime, *view.libraries) if view.onnxruntime else view.libraries

    def project(self, view: AndroidView, sources: Sources, store: Store) -> Sources:
        """The sources as a Gradle project."""
        return self._project(view, sources, self._libraries(view, store))

    def _project(self, view: AndroidView, sources: Sources, libraries: Mapping[PurePosixPath, Path]) -> Sources:
        compiled = {LIBRARIES_ROOT / path.relative_to("jni"): file for path, file in libraries.items()}
        sources = Sources(texts=sources.texts, files={**sources.files, **compiled})
        if view.onnxruntime:
            runtime = gradle.GradleDependency(
                configuration="implementation", notation=view.onnxruntime, allowed=_allowed(view)
            )
        else:
            jar = str(aar.RUNTIME_JAR)
            runtime = gradle.GradleDependency(configuration="implementation", notation=jar, is_file=True)
        used = (gradle.GradleDependency(configuration="api", notation=library) for library in view.libraries)
        return gradle.gradle_project(
            sources,
            group=self.group,
            artifact=view.package.name,
            version=view.package.version,
            namespace=view.namespace,
            min_sdk=self.min_sdk,
            dependencies=(runtime, *used),
            repository=RELEASED if view.own and view.own.ship == "maven" else "",
            has_telemetry=_has_telemetry(view),
            providers=self.providers,
        )

    def assemble(self, view: AndroidView, sources: Sources, store: Store) -> tuple[Artifact, ...]:
        """The .aar and a jar of the Kotlin sources; also the .aar of the runtime, if that is a separate artifact."""
        stem = f"{view.package.name}-{view.package.version}"
        own = view.own
        libraries = self._libraries(view, store)
        inputs = [
            self.assembler,
            self.min_sdk,
            view.onnxruntime,
            _allowed(view),
            [own.sha256, own.name, own.ship] if own else [],
            downloads.pins()["android"],
            {str(path): text for path, text in sources.texts.items()},
            {str(path): sha256_of(file) for path, file in (*sources.files.items(), *libraries.items())},
            {each.name: sha256_of(each.file) for each in view.licenses},
            kotlin.compiler_version(),
            kotlin.stubs(view.runtime.onnxruntime),
        ]

        def make(folder: Path) -> None:
            with store.scratch() as work:
                self._write_aar(folder / f"{stem}.aar", view, sources, libraries, store, work)
            aar.write_sources_jar(folder / f"{stem}-sources.jar", _kotlin(sources))
            (folder / README.name).write_text(sources.texts[README], encoding="utf-8", newline="\n")
            if own and own.ship == "maven":
                aar.write_runtime_aar(folder / _runtime_name(own), own, min_sdk=self.min_sdk)

        made = store.results(ASSEMBLY, inputs, make)
        names = {"aar": f"{stem}.aar", "sources-jar": f"{stem}-sources.jar", "readme": README.name}
        if own and own.ship == "maven":
            names["runtime-aar"] = _runtime_name(own)
        return tuple(artifact(made / name, target=self.NAME, kind=kind) for kind, name in names.items())

    def _libraries(self, view: AndroidView, store: Store) -> Mapping[PurePosixPath, Path]:
        """The part of the package that is in C, by path in the .aar; empty for a package that needs none."""
        if not view.runtime.library:
            return {}
        return native.libraries(view.namespace, view.runtime.onnxruntime, self._abis(view.own), store)

    def _abis(self, own: PackagedRuntime | None) -> Sequence[str]:
        """Android's names of the processors that the runtime has code for: an app must not have more."""
        if own and own.abis:
            return own.abis
        pinned = downloads.pins()["android"]
        return next(abis for name, abis in pinned["abis"].items() if pinned[name] == self.published_runtime())

    def _write_aar(
        self,
        path: Path,
        view: AndroidView,
        sources: Sources,
        libraries: Mapping[PurePosixPath, Path],
        store: Store,
        work: Path,
    ) -> None:
        if self.assembler == "gradle":
            project = work / view.package.name
            write_sources(self._project(view, sources, libraries), project)
            host.replace(gradle.build_with_gradle(project), path)
            return
        aar.write_aar(
            path,
            manifest=sources.texts[MANIFEST],
            classes_jar=units.write_classes(work / "classes.jar", _module(view, sources), store),
            consumer_rules=sources.texts[CONSUMER_RULES],
            readme=sources.texts[README],
            sbom=sources.texts.get(SBOM, ""),
            assets={
                **{PurePosixPath(asset.path): asset.file for asset in view.assets},
                **_printed_assets(sources),
            },
            libraries=libraries,
            licenses={PurePosixPath(each.name): each.file for each in view.licenses},
            namespace=view.namespace,
            min_compile_sdk=self.min_sdk,
            runtime=_inside(view),
        )


def _runtime_part(view: AndroidView, terms: str) -> Component:
    """ONNX Runtime: from Maven, or the user's own inside the library."""
    if view.onnxruntime:
        digest = view.own.sha256 if view.own else ""
        return components.maven(view.onnxruntime, terms, kind="aar", allowed=_allowed(view), sha256=digest)
    assert view.own is not None
    return components.own_runtime(view.own.version, terms, sha256=view.own.sha256)


def _allowed(view: AndroidView) -> str:
    """The releases of ONNX Runtime that apps may bring, in Maven's notation; empty without a range."""
    return view.allowed_runtimes.maven if view.allowed_runtimes else ""


def _inside(view: AndroidView) -> PackagedRuntime | None:
    """The bundled runtime, if any."""
    return view.own if view.own and view.own.ship == "inside" else None


def _has_telemetry(view: AndroidView) -> bool:
    """Whether telemetry starts: a runtime of the user's own is packaged without the manifest that starts it."""
    return view.own is None or view.own.ship == "dependency"


def _runtime_files(inside: PackagedRuntime | None) -> dict[PurePosixPath, Path]:
    """Paths of a runtime's libraries and classes in a Gradle project."""
    if inside is None or inside.classes is None:
        return {}
    libraries = {LIBRARIES_ROOT / path.relative_to("jni"): file for path, file in inside.libraries.items()}
    return {**libraries, aar.RUNTIME_JAR: inside.classes}


def _runtime_name(own: PackagedRuntime) -> str:
    """`com.example:onnxruntime-acme-0123456789ab:1.2.3` -> `onnxruntime-acme-0123456789ab-1.2.3.aar`"""
    _, artifact, version = own.coordinates.split(":")
    return f"{artifact}-{version}.aar"


def _provider_hint(provider: str) -> str:
    if provider == "cpu":
        return "leave it out: the CPU is always tried last"
    if provider in PROVIDERS:
        return f"Android has {', '.join(providers_of(Android.NAME))}"
    return nearest(provider, providers_of(Android.NAME))


def _package_part(name: str) -> str:
    """`page-orientation` -> `pageorientation`; `model` is appended to a keyword."""
    part = re.sub(r"[^a-z0-9]", "", name.lower())
    part = part if part[:1].isalpha() else f"model{part}"
    return f"{part}model" if part in KEYWORDS else part


def _has_assignment(laid_out: Iterable[files.Files]) -> bool:
    """Whether ONNX Runtime can say which nodes a provider runs: it does not of files in ORT format (ADR 34)."""
    views = [view for each in laid_out for view in each.views]
    return any(without_end(view.asset.path).endswith(".onnx") and set(view.providers) != {"CPU"} for view in views)


def _runtime_view(
    namespace: str,
    onnxruntime: str,
    providers: tuple[str, ...],
    *,
    has_assignment: bool,
    trust: signed_list.TrustView | None,
    is_encrypted: bool,
    delivered: delivery.DeliveryView | None,
    runtime: str,
) -> RuntimeView:
    views = tuple(
        ProviderView(
            name=name,
            constant=name.upper(),
            execution_provider=PROVIDERS[name].EXECUTION_PROVIDER,
            hides_nodes=PROVIDERS[name].HIDES_NODES,
            options=tuple(OptionView(key=key, value=value) for key, value in PROVIDERS[name]().options().items()),
        )
        for name in providers
    )
    return RuntimeView(
        kotlin_package=namespace,
        onnxruntime=onnxruntime,
        providers=views,
        uses_nnapi="nnapi" in providers,
        library=native.library_name(namespace) if has_assignment else "",
        trust=trust,
        is_encrypted=is_encrypted,
        delivery=delivered,
        delivered_runtime=runtime if delivered else "",
    )


def _printed_assets(sources: Sources) -> dict[PurePosixPath, bytes]:
    """Texts among the assets by path below assets/."""
    return {
        path.relative_to(ASSETS_ROOT): text.encode()
        for path, text in sources.texts.items()
        if path.is_relative_to(ASSETS_ROOT)
    }


def _signed_list(view: AndroidView) -> dict[PurePosixPath, str]:
    """The list of the package's files by path below assets/, unsigned; empty for a package without trusted keys."""
    if view.package.trust is None:
        return {}
    folder = files.models_folder(view.package)
    digests = {str(PurePosixPath(asset.path).relative_to(folder)): asset.sha256 for asset in view.assets}
    return {folder / signed_list.NAME: signed_list.unsigned(digests, view.package)}


def _model_text(model: ModelView) -> str:
    return render("android/kotlin/Model.kt.j2", model)


def _kotlin(sources: Sources) -> dict[PurePosixPath, str]:
    """The Kotlin files by path below their source root."""
    return {
        path.relative_to(KOTLIN_ROOT): text for path, text in sources.texts.items() if path.is_relative_to(KOTLIN_ROOT)
    }


def _module(view: AndroidView, sources: Sources) -> units.Module:
    return units.Module(
        name=view.namespace,
        onnxruntime=view.runtime.onnxruntime,
        texts=_kotlin(sources),
        models=[_folder(view) / f"{model.class_name}.kt" for model in view.models],
    )


def _folder(view: AndroidView) -> PurePosixPath:
    """Folder of the Kotlin files, below their source root."""
    return PurePosixPath(*view.namespace.split("."))
