"""ONNX Runtime as packages use it: where it comes from, and what its Kotlin code is printed from."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from packager.core import components
from packager.core.components import Component
from packager.providers import PROVIDERS
from packager.providers.provider import Start
from packager.render.templates import kotlin_string
from packager.targets import delivery, signed_list, tuning
from packager.targets.android import aar, native
from packager.targets.android.view import AndroidView
from packager.targets.apk import without_end
from packager.targets.kotlin import files
from packager.targets.kotlin.sources import LIBRARIES_ROOT
from packager.targets.kotlin.view import OptionView, ProviderView, RuntimeView
from packager.targets.target import PackagedRuntime


def runtime_part(view: AndroidView, terms: str) -> Component:
    """ONNX Runtime: from Maven, or the user's own inside the library."""
    if view.onnxruntime:
        digest = view.own.sha256 if view.own else ""
        return components.maven(view.onnxruntime, terms, kind="aar", allowed=allowed(view), sha256=digest)
    assert view.own is not None
    return components.own_runtime(view.own.version, terms, sha256=view.own.sha256)


def allowed(view: AndroidView) -> str:
    """The releases of ONNX Runtime that apps may bring, in Maven's notation; empty without a range."""
    return view.allowed_runtimes.maven if view.allowed_runtimes else ""


def inside(view: AndroidView) -> PackagedRuntime | None:
    """The bundled runtime, if any."""
    return view.own if view.own and view.own.ship == "inside" else None


def has_telemetry(view: AndroidView) -> bool:
    """Whether telemetry starts: a runtime of the user's own is packaged without the manifest that starts it."""
    return view.own is None or view.own.ship == "dependency"


def runtime_files(inside: PackagedRuntime | None) -> dict[PurePosixPath, Path]:
    """Paths of a runtime's libraries and classes in a Gradle project."""
    if inside is None or inside.classes is None:
        return {}
    libraries = {LIBRARIES_ROOT / path.relative_to("jni"): file for path, file in inside.libraries.items()}
    return {**libraries, aar.RUNTIME_JAR: inside.classes}


def runtime_name(own: PackagedRuntime) -> str:
    """`com.example:onnxruntime-acme-0123456789ab:1.2.3` -> `onnxruntime-acme-0123456789ab-1.2.3.aar`"""
    _, artifact, version = own.coordinates.split(":")
    return f"{artifact}-{version}.aar"


def has_assignment(laid_out: Iterable[files.Files]) -> bool:
    """Whether ONNX Runtime can say which nodes a provider runs: it records nothing of files in ORT format."""
    views = [view for each in laid_out for view in each.views]
    return any(without_end(view.asset.path).endswith(".onnx") and set(view.providers) != {"CPU"} for view in views)


def runtime_view(
    namespace: str,
    onnxruntime: str,
    providers: tuple[str, ...],
    *,
    has_assignment: bool,
    trust: signed_list.TrustView | None,
    is_encrypted: bool,
    delivered: delivery.DeliveryView | None,
    runtime: str,
    tuned: tuple[tuning.ChipView, ...] = (),
    has_variants: bool = False,
    has_self_test: bool = False,
) -> RuntimeView:
    views = tuple(
        ProviderView(
            name=name,
            constant=name.upper(),
            summary=PROVIDERS[name].SUMMARY,
            is_on_cores=PROVIDERS[name].IS_ON_CORES,
            execution_provider=PROVIDERS[name].EXECUTION_PROVIDER,
            hides_nodes=PROVIDERS[name].HIDES_NODES,
            java_method=PROVIDERS[name].START.java_method,
            threads_option=PROVIDERS[name].START.threads_option,
            oldest_android=PROVIDERS[name].START.oldest_android,
            tolerance=_tolerance(PROVIDERS[name].START),
            options=tuple(OptionView(key=key, value=value) for key, value in PROVIDERS[name]().options().items()),
        )
        for name in providers
    )
    return RuntimeView(
        kotlin_package=namespace,
        onnxruntime=onnxruntime,
        providers=views,
        library=native.library_name(namespace) if has_assignment else "",
        trust=trust,
        is_encrypted=is_encrypted,
        delivery=delivered,
        delivered_runtime=runtime if delivered else "",
        tuned=tuned,
        has_variants=has_variants,
        has_self_test=has_self_test,
    )


def _tolerance(start: Start) -> str:
    option = kotlin_string(start.exact_option)
    if not start.is_rounding or not start.exact_option:
        return "1e-2" if start.is_rounding else ""
    if start.has_flags:
        return f'if (settings[{option}] == "1") 1e-2 else 0.0'
    return f"if (settings[{option}].orEmpty() == {kotlin_string(start.exact_value)}) 0.0 else 1e-2"
