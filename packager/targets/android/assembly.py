"""Assembles an .aar: mobpack lays it out itself, or Gradle builds it."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from packager.core.console import Announce
from packager.core.described import API
from packager.core.values import Sources
from packager.files import host
from packager.files.hashes import sha256_of
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.render.templates import write_sources
from packager.targets.android import aar, gradle, native
from packager.targets.android.runtime import allowed, has_telemetry, inside, runtime_name
from packager.targets.android.view import AndroidView
from packager.targets.kotlin import kotlin, units
from packager.targets.kotlin.sources import (
    ASSETS_ROOT,
    CONSUMER_RULES,
    LIBRARIES_ROOT,
    MANIFEST,
    README,
    kotlin_files,
    module,
    printed,
)
from packager.targets.target import SBOM

ASSEMBLY = Step(
    name="android",
    caller=__name__,
    computed_by=(
        "packager.render.templates",
        "packager.targets.android.aar",
        "packager.targets.android.gradle",
        "packager.targets.kotlin.kotlin",
        "packager.targets.android.runtime",
        "packager.targets.kotlin.sources",
        "packager.targets.kotlin.units",
    ),
    templates=("android/AndroidManifest.xml.j2", "android/consumer-rules.pro.j2", "android/gradle", "android/stubs"),
)
RELEASED = "../../maven"
"""path from an emitted Gradle project to the Maven repository of its release"""


def assemble(view: AndroidView, sources: Sources, store: Store, announce: Announce) -> Mapping[str, Path]:
    """Kind of artifact -> file: the .aar and a jar of the Kotlin sources; also the .aar of the runtime, if that is a
    separate artifact."""
    stem = f"{view.package.name}-{view.package.version}"
    own = view.own
    announce("compile the C of its library")
    compiled = libraries(view, store)
    inputs = [
        view.is_built_by_gradle,
        view.min_sdk,
        view.onnxruntime,
        allowed(view),
        [own.sha256, own.name, own.ship] if own else [],
        downloads.pins()["android"],
        {str(path): text for path, text in sources.texts.items()},
        {str(path): sha256_of(file) for path, file in (*sources.files.items(), *compiled.items())},
        {each.name: sha256_of(each.file) for each in view.licenses},
        kotlin.compiler_version(),
        kotlin.stubs(view.runtime.onnxruntime),
    ]

    def make(folder: Path) -> None:
        announce("compile its Kotlin")
        with store.scratch() as work:
            _write_aar(folder / f"{stem}.aar", view, sources, compiled, store, work)
        aar.write_sources_jar(folder / f"{stem}-sources.jar", kotlin_files(sources))
        (folder / README.name).write_text(sources.texts[README], encoding="utf-8", newline="\n")
        if own and own.ship == "maven":
            aar.write_runtime_aar(folder / runtime_name(own), own, min_sdk=view.min_sdk)

    made = store.results(ASSEMBLY, inputs, make)
    names = {"aar": f"{stem}.aar", "sources-jar": f"{stem}-sources.jar", "readme": README.name}
    if own and own.ship == "maven":
        names["runtime-aar"] = runtime_name(own)
    return {kind: made / name for kind, name in names.items()}


def libraries(view: AndroidView, store: Store) -> Mapping[PurePosixPath, Path]:
    """The part of the package that is in C, by path in the .aar; empty for a package that needs none."""
    if not view.runtime.library:
        return {}
    return native.libraries(view.namespace, view.runtime.onnxruntime, view.abis, store)


def project(view: AndroidView, sources: Sources, compiled: Mapping[PurePosixPath, Path]) -> Sources:
    """The sources and the compiled libraries as a Gradle project."""
    placed = {LIBRARIES_ROOT / path.relative_to("jni"): file for path, file in compiled.items()}
    sources = Sources(texts=sources.texts, files={**sources.files, **placed})
    if view.onnxruntime:
        runtime = gradle.GradleDependency(
            configuration="implementation", notation=view.onnxruntime, allowed=allowed(view)
        )
    else:
        jar = str(aar.RUNTIME_JAR)
        runtime = gradle.GradleDependency(configuration="implementation", notation=jar, is_file=True)
    used = (gradle.GradleDependency(configuration="api", notation=library) for library in view.libraries)
    seen = gradle.GradleDependency(configuration="compileOnly", notation=downloads.pins()["android"]["annotations"])
    return gradle.gradle_project(
        sources,
        group=view.group,
        artifact=view.package.name,
        version=view.package.version,
        namespace=view.namespace,
        min_sdk=view.min_sdk,
        dependencies=(runtime, *used, seen),
        repository=RELEASED if view.own and view.own.ship == "maven" else "",
        has_telemetry=has_telemetry(view),
        providers=view.providers,
    )


def _write_aar(
    path: Path,
    view: AndroidView,
    sources: Sources,
    compiled: Mapping[PurePosixPath, Path],
    store: Store,
    work: Path,
) -> None:
    about = {place.name: sources.texts[place] for place in (API, SBOM) if place in sources.texts}
    if view.is_built_by_gradle:
        folder = work / view.package.name
        write_sources(project(view, sources, compiled), folder)
        host.replace(gradle.build_with_gradle(folder), path)
        aar.add(path, about, view.namespace)
        return
    aar.write_aar(
        path,
        manifest=sources.texts[MANIFEST],
        classes_jar=units.write_classes(work / "classes.jar", module(view, sources), store),
        consumer_rules=sources.texts[CONSUMER_RULES],
        readme=sources.texts[README],
        about=about,
        assets={
            **{PurePosixPath(asset.path): asset.file for asset in view.assets},
            **printed(sources, ASSETS_ROOT),
        },
        libraries=compiled,
        licenses={PurePosixPath(each.name): each.file for each in view.licenses},
        namespace=view.namespace,
        min_compile_sdk=view.min_sdk,
        runtime=inside(view),
    )
