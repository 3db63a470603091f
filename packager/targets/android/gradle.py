"""The sources as a Gradle project, and a build of it if Gradle and an Android SDK are available."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager.core.errors import ToolError
from packager.core.values import Sources
from packager.files.processes.commands import run
from packager.files.processes.downloads import pins
from packager.files.processes.inherited import NETWORK
from packager.render.templates import render
from packager.targets.android.aar import manifest
from packager.targets.android.readme import PROVIDER
from packager.targets.partials import with_partial

MANIFEST = PurePosixPath("src/main/AndroidManifest.xml")
SDK_VARIABLES = ("ANDROID_HOME", "ANDROID_SDK_ROOT")
GRADLE = (
    *SDK_VARIABLES,
    *NETWORK,
    *("JAVA_HOME", "JAVA_OPTS", "JAVA_TOOL_OPTIONS", "GRADLE_HOME", "GRADLE_USER_HOME", "GRADLE_OPTS"),
    *("ANDROID_USER_HOME", "ANDROID_NDK_HOME"),
)
"""Variables of Gradle: where its tools are, and how it reaches repositories."""


@dataclass(frozen=True, kw_only=True)
class GradleDependency:
    configuration: str
    """`api` if public signatures use it, `compileOnly` if the compiler alone does, else `implementation`"""
    notation: str
    """group:artifact:version, or the path of a jar in the project"""
    is_file: bool = False
    allowed: str = ""
    """versions that an app may bring instead of the one in `notation`, as a range of Maven's; empty for newer ones"""

    @property
    def module(self) -> str:
        return self.notation.rpartition(":")[0]

    @property
    def version(self) -> str:
        return self.notation.rpartition(":")[2]


@dataclass(frozen=True, kw_only=True)
class SettingsView:
    """settings.gradle.kts"""

    artifact: str
    repository: str
    """path of a Maven repository, relative to the project's folder; empty if none is needed"""


@dataclass(frozen=True, kw_only=True)
class BuildView:
    """build.gradle.kts"""

    group: str
    artifact: str
    version: str
    namespace: str
    min_sdk: int
    compile_sdk: int
    java: int
    kotlin_language: str
    gradle_plugin: str
    dependencies: tuple[GradleDependency, ...]


@dataclass(frozen=True, kw_only=True)
class PropertiesView:
    """gradle.properties, equal in every project"""


@dataclass(frozen=True, kw_only=True)
class ReadmeView:
    """README.md"""

    group: str
    artifact: str
    version: str
    notation: str
    gradle: str
    compile_sdk: int
    providers: tuple[str, ...]
    """providers that need something of the app"""
    has_telemetry: bool


def gradle_project(
    sources: Sources,
    *,
    group: str,
    artifact: str,
    version: str,
    namespace: str,
    min_sdk: int,
    dependencies: tuple[GradleDependency, ...],
    repository: str = "",
    has_telemetry: bool = True,
    providers: Sequence[str] = (),
) -> Sources:
    """Adds build files to `sources`, which are already laid out as a module.

    `repository` is the path of a Maven repository, relative to the project's folder; `has_telemetry` and `providers`
    are as in `manifest`.
    The manifest is replaced: in a Gradle project, build.gradle.kts declares the namespace and the SDK versions.
    """
    pinned = pins()["android"]
    build = BuildView(
        group=group,
        artifact=artifact,
        version=version,
        namespace=namespace,
        min_sdk=min_sdk,
        compile_sdk=pinned["compile-sdk"],
        java=pinned["java"],
        kotlin_language=pinned["kotlin-language"],
        gradle_plugin=pinned["gradle-plugin"],
        dependencies=dependencies,
    )
    settings = SettingsView(artifact=artifact, repository=repository)
    readme = ReadmeView(
        group=group,
        artifact=artifact,
        version=version,
        notation=f"{group}:{artifact}:{version}",
        gradle=pinned["gradle"],
        compile_sdk=pinned["compile-sdk"],
        providers=with_partial(providers, PROVIDER),
        has_telemetry=has_telemetry,
    )
    texts: Mapping[PurePosixPath, str] = {
        **sources.texts,
        MANIFEST: manifest(has_telemetry=has_telemetry, providers=providers),
        PurePosixPath("settings.gradle.kts"): _render("settings.gradle.kts", settings),
        PurePosixPath("build.gradle.kts"): _render("build.gradle.kts", build),
        PurePosixPath("gradle.properties"): _render("gradle.properties", PropertiesView()),
        PurePosixPath("README.md"): _render("README.md", readme),
    }
    return Sources(texts=texts, files=sources.files)


def build_with_gradle(project: Path) -> Path:
    """Runs `gradle :assembleRelease` in `project` and returns the .aar.

    Raises ToolError if Gradle or the Android SDK is missing, or if the build fails or does not make exactly one .aar.
    """
    gradle = program()
    if not has_android_sdk(project):
        raise ToolError(
            f"no Android SDK for {project}",
            hint=f"set ANDROID_HOME, or write sdk.dir=... into {project / 'local.properties'}",
        )
    run(
        [gradle, "--console=plain", ":assembleRelease"],
        cwd=project,
        inherits=GRADLE,
        what=f"the Gradle build of {project.name}",
        hint=f"run `gradle :assembleRelease --stacktrace` in {project}",
    )
    return _built_aar(project)


def program() -> str:
    """Gradle's program. Raises ToolError if it is missing."""
    found = shutil.which("gradle")
    if not found:
        oldest = pins()["android"]["gradle"]
        raise ToolError(
            "gradle not found on PATH",
            hint=f"install Gradle {oldest} or later, or use the assembler embedded, which needs no Gradle",
        )
    return found


def has_android_sdk(project: Path) -> bool:
    """Whether `project` has an SDK in local.properties, or the environment names one, and its folder exists."""
    named = [os.environ.get(variable, "") for variable in SDK_VARIABLES]
    properties = project / "local.properties"
    if properties.is_file():
        # in a Java properties file, a backslash escapes the next character
        found = re.search(r"^\s*sdk\.dir\s*[=:]\s*(.+?)\s*$", properties.read_text(encoding="utf-8"), re.MULTILINE)
        named.append(re.sub(r"\\(.)", r"\1", found.group(1)) if found else "")
    return any(folder and Path(folder).is_dir() for folder in named)


def _built_aar(project: Path) -> Path:
    folder = project / "build" / "outputs" / "aar"
    found = sorted(folder.glob("*-release.aar"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise ToolError(
            f"gradle made no single -release.aar in {folder}: found {names}",
            hint="delete the project's build folder and run again",
        )
    return found[0]


def _render(name: str, view: SettingsView | BuildView | PropertiesView | ReadmeView) -> str:
    return render(f"android/gradle/{name}.j2", view)
