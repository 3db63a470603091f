"""The target Android: a library (.aar) whose Kotlin classes load and run the models of a package."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Literal

from packager.core import components
from packager.core.class_names import class_name
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.errors import SettingError, nearest
from packager.core.findings import Report
from packager.core.names import EXAMPLE_GROUP
from packager.core.strict_tables import STRICT
from packager.core.tuned import Tuned, refuse_chips
from packager.core.values import Artifact, Model, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments.runtime import Runtime
from packager.files.processes import downloads
from packager.files.store import Store
from packager.providers import CPU, PROVIDERS, provider_of, providers_of
from packager.targets import delivery, signed_list, tuning
from packager.targets.android import aar, assembly, gradle, native
from packager.targets.android.layout import lay_out
from packager.targets.android.readme import readme
from packager.targets.android.runtime import (
    has_assignment,
    has_telemetry,
    inside,
    runtime_files,
    runtime_part,
    runtime_view,
)
from packager.targets.android.view import AndroidView
from packager.targets.kotlin import files, kotlin, tensors, typed
from packager.targets.kotlin.golden import golden_views
from packager.targets.kotlin.names import ONNXRUNTIME
from packager.targets.kotlin.packages import all_assets, licenses, namespace_of, refuse_group
from packager.targets.kotlin.sources import (
    ASSETS_ROOT,
    CONSUMER_RULES,
    MANIFEST,
    README,
    module_texts,
)
from packager.targets.kotlin.view import ModelView
from packager.targets.target import (
    Built,
    DefaultProviders,
    PackagedRuntime,
    RuntimeRange,
    Shipped,
    artifact,
    runtime_range,
)
from packager.vectors import NO_VECTORS, Golden


@dataclass(frozen=True, kw_only=True)
class Android:
    NAME: ClassVar[str] = "android"
    LANGUAGE: ClassVar[Language] = Language(
        name="Kotlin",
        has_pipelines=True,
        has_sizes=True,
        may_omit_labels=True,
        names_own_providers=True,
        has_own_self_tests=True,
        observes=("channel",),
    )
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"aar": "/assets/mobpack/"}
    VERIFIES: ClassVar[bool] = True
    DECRYPTS: ClassVar[bool] = True
    UPDATES: ClassVar[bool] = True
    VARIES: ClassVar[bool] = True
    ABOUT: ClassVar[str] = "an .aar: docs/android.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        f'group = "{EXAMPLE_GROUP}"': "Maven group and start of the Kotlin package",
        '# variant = "small"': "which numbers ship; the model's own when absent",
        "# min-sdk = 24": "oldest supported Android API level",
    }
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    group: str = EXAMPLE_GROUP
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
    are about 15 % faster; `auto` prepacks unless the model ships as ONNX only, and
    always weight-only models"""
    float16: Literal["native", "onnx", "float32"] = "native"
    """form of float16 models: `native` for phones that compute in 16 bits; with `onnx`, each phone decides; `float32`
    ships 32 bits"""
    soc_models: tuple[str, ...] = ()
    """Qualcomm chips to compile models for ahead of time if providers has `qnn`, by their Android names: `SM8650`"""
    runtime_range: str = ""
    """oldest minor version of ONNX Runtime that an app may bring, for example `1.27`: the build loads every file in
    each release from there on, and the package's metadata allow them; default: the release that the package names, or a
    newer one"""
    tuned: Mapping[str, Mapping[str, Tuned]] = field(default_factory=dict)
    """settings by the chip's Android name and the model: `[target.android.tuned.SM8650.classifier]`"""
    min_sdk: int = 24
    """oldest supported Android API level"""
    assembler: Literal["embedded", "gradle"] = "embedded"
    """`embedded` needs only pip packages, `gradle` an Android SDK and Gradle"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        refuse_group(self.group)
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
        refuse_chips(self.tuned, self.providers, last=CPU.NAME, variant=self.variant)
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
        pinned: Mapping[str, object] = downloads.pins()["android"]
        names = (provider_of(provider).ANDROID_RUNTIME for provider in self.providers)
        return str(pinned[next((name for name in names if name != CPU.ANDROID_RUNTIME), CPU.ANDROID_RUNTIME)])

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Raises SettingError for a range that cannot be proved."""
        return runtime_range(self.runtime_range, self.published_runtime().rpartition(":")[2])

    def outside(self) -> str:
        """Gradle downloads what it needs by itself."""
        return "Gradle" if self.assembler == "gradle" else ""

    def refuse_without_tools(self) -> None:
        """Looks for the program that compiles Kotlin."""
        if self.assembler == "gradle":
            gradle.program()
        else:
            kotlin.find_compiler()

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: PackagedRuntime | None = None,
        golden: Golden = NO_VECTORS,
    ) -> AndroidView:
        namespace = namespace_of(self.group, package)
        models = [plan.model for plan in plans]
        variants = {plan.model.name: plan.variants for plan in plans}
        files.refuse_apart(plans, package)
        laid_out = files.lay_out(plans, package)
        tested = {name: golden_views(name, each, package, golden) for name, each in laid_out.items()}
        java_package = runtime.java_package if runtime else ONNXRUNTIME

        def model_view(model: Model) -> ModelView:
            view = tensors.model_view(
                model,
                package,
                files=laid_out[model.name].views,
                golden=tested[model.name],
                kotlin_package=namespace,
                class_name=class_name(model.name),
                runtime_version=self._runtime_version(runtime),
                onnxruntime=java_package,
                reshaped=report.reshaped_outputs(model.name, self.variant, *variants[model.name]),
            )
            return typed.with_contract(view, model.contract)

        return AndroidView(
            package=package,
            group=self.group,
            namespace=namespace,
            runtime=runtime_view(
                namespace,
                java_package,
                self.providers,
                has_assignment=has_assignment(laid_out.values()),
                trust=signed_list.trust_view(package, str(files.models_folder(package))),
                is_encrypted=bool(package.encryption),
                delivered=delivery.delivery_view(package),
                runtime=self._delivered_runtime(runtime),
                tuned=tuning.chips(self.tuned, str.upper),
                has_variants=any(len(each) > 1 for each in variants.values()),
                has_self_test=any(tested.values()) or bool(package.delivery),
            ),
            models=tuple(model_view(model) for model in models),
            typed_files=typed.files(model.contract for model in models),
            assets=all_assets(laid_out, tested),
            licenses=licenses(plans),
            own=runtime,
            onnxruntime=runtime.coordinates if runtime else self.published_runtime(),
            libraries=kotlin.libraries(),
            min_sdk=self.min_sdk,
            providers=self.providers,
            abis=self._abis(runtime),
            is_built_by_gradle=self.assembler == "gradle",
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
            tuned=self.tuned,
        )

    def _runtime_version(self, own: PackagedRuntime | None) -> str:
        return own.version if own else self.published_runtime().rpartition(":")[2]

    def _abis(self, own: PackagedRuntime | None) -> tuple[str, ...]:
        """Android's names of the processors that the runtime has code for: an app must not have more."""
        if own and own.abis:
            return own.abis
        pinned = downloads.pins()["android"]
        runtimes: Mapping[str, object] = pinned
        return next(tuple(abis) for name, abis in pinned["abis"].items() if runtimes[name] == self.published_runtime())

    def _delivered_runtime(self, own: PackagedRuntime | None) -> str:
        if own is None:
            return self.published_runtime()
        return own.coordinates or f"ONNX Runtime {own.version}"

    def render(self, view: AndroidView) -> Sources:
        """Texts and assets, laid out as a module of a Gradle project."""
        texts = module_texts(view)
        bundled = inside(view)
        texts[MANIFEST] = aar.manifest(
            package=view.namespace,
            min_sdk=self.min_sdk,
            has_telemetry=has_telemetry(view),
            providers=self.providers,
        )
        texts[CONSUMER_RULES] = aar.consumer_rules(
            view.runtime.onnxruntime,
            rules=bundled.rules if bundled else "",
            native_class=f"{view.namespace}.{native.CLASS}" if view.runtime.library else "",
        )
        texts[README] = readme(
            view,
            min_sdk=self.min_sdk,
            runtime_version=self._runtime_version(view.own),
            dependencies=self._dependencies(view),
            providers=self.providers,
            has_telemetry=has_telemetry(view),
        )
        return Sources(
            texts=dict(sorted(texts.items())),
            files={ASSETS_ROOT / asset.path: asset.file for asset in view.assets} | runtime_files(bundled),
        )

    def parts(self, view: AndroidView) -> Parts:
        licenses = downloads.pins()["licenses"]
        own = components.maven(f"{view.group}:{view.package.name}:{view.package.version}", "", kind="aar")
        runtime = runtime_part(view, licenses["onnxruntime"])
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
        return assembly.project(view, sources, assembly.libraries(view, store))

    def assemble(
        self, view: AndroidView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The .aar and a jar of the Kotlin sources; also the .aar of the runtime, if that is a separate artifact."""
        made = assembly.assemble(view, sources, store, announce)
        return tuple(artifact(path, target=self.NAME, kind=kind) for kind, path in made.items())

    def layout(self, view: AndroidView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The library, and a Maven repository with it."""
        return lay_out(view, artifacts, dist, sbom)


def _provider_hint(provider: str) -> str:
    if provider == "cpu":
        return "leave it out: the CPU is always tried last"
    if provider in PROVIDERS:
        return f"Android has {', '.join(providers_of(Android.NAME))}"
    return nearest(provider, providers_of(Android.NAME))
