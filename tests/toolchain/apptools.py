"""Puts .aar files through what an app's build does with it: manifest merger, aapt2, R8, bundletool, older Kotlin."""

import io
import lzma
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO

from packager.engines.environments import bionic
from packager.files.atomic import atomic_file
from packager.files.processes import commands, downloads
from packager.files.user_cache import cache_folder
from packager.measuring.devices.android_tools import JAVA_FLAGS, android_tools, java
from packager.targets.kotlin import kotlin
from tests.cases.archives import read_zip
from tests.toolchain import jvm
from tests.toolchain.kept import kept

PINS = (
    "android-app-tools",
    "android-classes",
    "android-gradle-plugin",
    "android-tools-common",
    "kotlin-two-versions-older",
)
ANDROID_JAR = "./usr/share/java/com.android.android-23.jar"
MERGER_JARS = (
    "./usr/share/java/com.android.tools.build.manifest-merger-25.2.2.jar",
    "./usr/share/java/com.android.tools.sdk-common-25.2.2.jar",
)
MERGER_COMMON_JAR = "./usr/share/java/com.android.tools.common-25.2.2.jar"
OLDER_KOTLIN_JARS = (
    "package/lib/kotlin-compiler.jar",
    "package/lib/kotlin-stdlib.jar",
    "package/lib/kotlin-reflect.jar",
    "package/lib/kotlinx-coroutines-core-jvm.jar",
    "package/lib/annotations-13.0.jar",
)
MIN_SDK = 24
TARGET_SDK = 35

# What an app adds to the rules of its libraries. The class stubs are those of API 23; ONNX Runtime's classes name
# newer ones. In a real build android.jar has the first group, and kotlin-stdlib's POM brings the second.
APP_RULES = """\
-keep class {main_class} {{ public static void main(java.lang.String[]); }}
-dontwarn android.app.ApplicationExitInfo,android.os.SharedMemory,android.system.StructTimespec
-dontwarn java.lang.FunctionalInterface,java.lang.invoke.**,java.nio.file.**
-dontwarn java.util.Optional,java.util.function.**,java.util.stream.**
-dontwarn org.jetbrains.annotations.**
"""


@dataclass(frozen=True, kw_only=True)
class AppTools:
    """Programs and libraries of an app's build, unpacked in the cache."""

    bundletool: Path
    """a jar that holds R8 as well"""
    aapt2: Path
    framework: Path
    """resources of Android 16 (API 36), to link against"""
    android_jar: Path
    """classes of Android 6 (API 23), to compile and shrink against"""


@cache
def app_tools() -> AppTools:
    """The tools, fetched on first use. Raises ToolError if a registry or apt is out of reach."""
    made = android_tools()
    [android_jar] = _unpacked("android-classes", [ANDROID_JAR], _deb_files)
    return AppTools(bundletool=made.bundletool, aapt2=made.aapt2, framework=made.framework, android_jar=android_jar)


def merge_manifests(app: Path, libraries: Sequence[Path], *, build_type: Path | None = None) -> str:
    """The manifest of an app merged with its build type's and those of its libraries, the nearest first, as an app's
    build does it.

    The merger is that of Android's Gradle plugin 2.2.2 of 2016, the newest that a package registry has.
    """
    classpath = [
        *_unpacked("android-gradle-plugin", MERGER_JARS, _deb_files),
        *_unpacked("android-tools-common", [MERGER_COMMON_JAR], _deb_files),
        app_tools().bundletool,  # has Guava, which the merger needs
    ]
    main = jvm.compile_kotlin([Path(__file__).with_name("ManifestMerge.kt")], classpath=classpath)
    return java(
        [main, *classpath, kotlin.find_compiler().stdlib],
        "ManifestMergeKt",
        [app, build_type or "", *libraries],
        what="merging manifests",
    )


def link(manifest: Path, *, assets: Path | None, apk: Path) -> Path:
    """Links a manifest and assets into an .apk without classes, in the protobuf form that bundles are made of."""
    command: list[str | Path] = [
        app_tools().aapt2,
        "link",
        "--proto-format",
        "-I",
        app_tools().framework,
        "--manifest",
        manifest,
        "--min-sdk-version",
        str(MIN_SDK),
        "--target-sdk-version",
        str(TARGET_SDK),
        "--version-code",
        "1",
        "--version-name",
        "1.0",
        "-o",
        apk,
    ]
    commands.run([*command, "-A", assets] if assets else command, what=f"linking {manifest.name}")
    return apk


def binary(linked: Path) -> Path:
    """A linked .apk in the form that phones install."""
    made = linked.with_name(f"binary-{linked.name}")
    converted: list[str | Path] = ["convert", "--output-format", "binary", "-o", made, linked]
    commands.run([app_tools().aapt2, *converted], what=f"converting {linked.name}")
    return made


@dataclass(frozen=True, kw_only=True)
class Linked:
    """An app without classes, and what aapt2 says of its resources."""

    apk: Path
    """in the protobuf form that bundles are made of"""
    r_java: Path
    rules: Path
    """R8's: what the manifest and layouts name has to stay"""


def link_resources(manifest: Path, *, resources: Path, assets: Path, target_sdk: int, folder: Path) -> Linked:
    """Compiles `resources`, a folder `res`, and links them with a manifest and assets against Android 16's."""
    compiled, rules, java = folder / "resources.zip", folder / "resources.pro", folder / "java"
    commands.run([app_tools().aapt2, "compile", "--dir", resources, "-o", compiled], what="compiling resources")
    command: list[str | Path] = [
        app_tools().aapt2,
        "link",
        "--proto-format",
        "-I",
        app_tools().framework,
        "--manifest",
        manifest,
        "--min-sdk-version",
        str(MIN_SDK),
        "--target-sdk-version",
        str(target_sdk),
        "--version-code",
        "1",
        "--version-name",
        "1.0",
        "--java",
        java,
        "--proguard",
        rules,
        "-A",
        assets,
        "-o",
        folder / "linked.apk",
        compiled,
    ]
    commands.run(command, what=f"linking {manifest.name}")
    return Linked(apk=folder / "linked.apk", r_java=next(java.rglob("R.java")), rules=rules)


def shrink(
    aars: Sequence[Path],
    app_classes: Path,
    *,
    main_class: str,
    jar: Path,
    compile_only: Sequence[Path] = (),
    library_rules: str | None = None,
) -> Path:
    """An app with its libraries and ONNX Runtime, shrunk and renamed by R8 into a jar that a JVM runs.

    `app_classes` is the app's own jar and `main_class` its entry, `compile_only` what the JVM will have besides:
    stand-ins for Android. Android's classes come from its own stubs. `library_rules` stand in for the libraries'.
    """
    return _r8(
        aars,
        app_classes,
        ["--classfile"],
        main_class=main_class,
        output=jar,
        compile_only=compile_only,
        library_rules=library_rules,
    )


def dex(
    aars: Sequence[Path],
    app_classes: Path,
    *,
    archive: Path,
    main_class: str = "",
    app_rules: str = APP_RULES,
    library_rules: str | None = None,
    arguments: Sequence[str | Path] = (),
) -> Path:
    """The same app as a zip with classes.dex, for Android 7 (API 24) and later."""
    return _r8(
        aars,
        app_classes,
        ["--min-api", str(MIN_SDK), *arguments],
        main_class=main_class,
        output=archive,
        compile_only=(),
        app_rules=app_rules,
        library_rules=library_rules,
    )


def translate(jar: Path, *, archive: Path) -> Path:
    """The classes of a shrunk app as a zip with classes.dex, for Android 7 (API 24) and later."""
    options = ["--release", "--min-api", str(MIN_SDK), "--lib", str(app_tools().android_jar), "--output", str(archive)]
    java([app_tools().bundletool], "com.android.tools.r8.D8", [*options, str(jar)], what="translating with D8")
    return archive


def bundle(linked: Path, dexed: Path, *, folder: Path) -> Path:
    """An app bundle (.aab) of a linked .apk and its classes, built by bundletool."""
    module, made = folder / "base.zip", folder / "app.aab"
    content = read_zip(linked)
    content[PurePosixPath("manifest/AndroidManifest.xml")] = content.pop(PurePosixPath("AndroidManifest.xml"))
    content[PurePosixPath("dex/classes.dex")] = read_zip(dexed)[PurePosixPath("classes.dex")]
    with zipfile.ZipFile(module, "w") as archive:
        for name, data in sorted(content.items()):
            archive.writestr(str(name), data)
    _bundletool(["build-bundle", f"--modules={module}", f"--output={made}"])
    return made


def bundle_modules(modules: Sequence[Path], aab: Path, *, config: Path | None = None) -> Path:
    """An app bundle of finished modules; `config` is a BundleConfig in JSON."""
    settings = [f"--config={config}"] if config else []
    _bundletool(["build-bundle", f"--modules={','.join(map(str, modules))}", f"--output={aab}", *settings])
    return aab


def base_module(app: str, folder: Path) -> Path:
    """The base module of an app without code and resources."""
    manifest = empty_manifest(app, folder)
    linked = read_zip(link(manifest, assets=None, apk=folder / "base.apk"))
    with zipfile.ZipFile(folder / "base.zip", "w") as archive:
        archive.writestr("manifest/AndroidManifest.xml", linked[PurePosixPath("AndroidManifest.xml")])
    return folder / "base.zip"


def empty_manifest(app: str, folder: Path) -> Path:
    """That of an app without code and resources."""
    manifest = folder / "base.xml"
    manifest.write_text(
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="{app}">'
        '<application android:hasCode="false"/></manifest>',
        encoding="utf-8",
    )
    return manifest


def build_apks(aab: Path, apks: Path) -> Path:
    """All APKs that Play makes of an app bundle, as one archive."""
    _bundletool(["build-apks", f"--bundle={aab}", f"--output={apks}", f"--aapt2={app_tools().aapt2}"])
    return apks


def extract_apks(apks: Path, device: Path, folder: Path, *, modules: str) -> list[Path]:
    """The APKs that a device gets; `device` is its DeviceSpec in JSON."""
    options = [f"--apks={apks}", f"--device-spec={device}", f"--output-dir={folder}", f"--modules={modules}"]
    _bundletool(["extract-apks", *options])
    return sorted(folder.iterdir())


def download_bytes(apks: Path, device: Path, *, modules: str) -> int:
    """Size of what a device downloads, the largest that bundletool expects."""
    printed = _bundletool(["get-size", "total", f"--apks={apks}", f"--device-spec={device}", f"--modules={modules}"])
    return int(printed.split()[-1].split(",")[1])


def device_groups(config: Path, properties: Path) -> str:
    """The tier and groups of a device, as bundletool prints them; both files are JSON."""
    return _bundletool(["evaluate-device-targeting-config", f"--config={config}", f"--device-properties={properties}"])


def dump_manifest(aab: Path, module: str) -> str:
    """The manifest of a module of an app bundle, as XML."""
    return _bundletool(["dump", "manifest", f"--bundle={aab}", f"--module={module}"])


def validate(aab: Path) -> None:
    """Has bundletool check an app bundle; raises ToolError with what it finds."""
    _bundletool(["validate", f"--bundle={aab}"])


def compile_with_older_kotlin(source: Path, *, classpath: Sequence[Path], jar: Path) -> Path:
    """Compiles an app with the Kotlin compiler two minor versions before the one that builds packages.

    The library is on its class path as classes.jar, ONNX Runtime is not: an app need not compile against it.
    """
    compiler = _unpacked("kotlin-two-versions-older", OLDER_KOTLIN_JARS, _tar_files)
    libraries = [compiler[1], jvm.coroutines(), *classpath]
    options = ["-no-stdlib", "-no-reflect", "-Werror", "-jvm-target", "11"]

    def make(folder: Path) -> None:
        places: list[str | Path] = ["-jdk-home", kotlin.find_compiler().java_home, "-cp", jvm.path_of(libraries)]
        java(
            compiler,
            "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
            [*options, *places, "-d", folder / "app.jar", source],
            what=f"compiling {source.name} with an older Kotlin",
        )

    shutil.copyfile(kept("older-kotlin", make, *options, *compiler, *libraries, source) / "app.jar", jar)
    return jar


def run_shrunk(
    jar: Path, main_class: str, arguments: Sequence[str | Path], *, folder: Path, libraries: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a shrunk app beside stand-ins for Android alone: no class that R8 took out can come from elsewhere.

    `libraries` is a folder with the app's own native ones.
    """
    runtime, compiler = jvm.android_runtime(), kotlin.find_compiler()
    stand_ins = bionic.shims(sorted(runtime.libraries.glob("*.so")))
    command: list[str | Path] = [
        compiler.java,
        *JAVA_FLAGS,
        "-XX:-CreateCoredumpOnCrash",
        jvm.FILE_NUMBERS,
        f"-Donnxruntime.native.path={runtime.libraries}",
        *([] if libraries is None else [f"-Djava.library.path={libraries}"]),
        "-cp",
        os.pathsep.join(map(str, [jar, jvm.fakes(), compiler.stdlib])),
        main_class,
        *arguments,
    ]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=jvm.RUN_TIMEOUT_S,
        env={**os.environ, "LD_LIBRARY_PATH": str(stand_ins)},
    )


def extract(archive: Path, member: str, target: Path) -> Path:
    """One file of a zip, at `target`."""
    with zipfile.ZipFile(archive) as opened:
        target.write_bytes(opened.read(member))
    return target


def _r8(
    aars: Sequence[Path],
    app_classes: Path,
    arguments: Sequence[str | Path],
    *,
    main_class: str,
    output: Path,
    compile_only: Sequence[Path],
    library_rules: str | None,
    app_rules: str = APP_RULES,
) -> Path:
    runtime = jvm.android_runtime()
    rules = {
        "app.pro": app_rules.format(main_class=main_class),
        "onnxruntime.pro": _rules_in(runtime.aar),
        "coroutines.pro": _rules_in(jvm.coroutines(), jvm.COROUTINES_RULES),
        **{f"{aar.stem}.pro": _rules_in(aar) if library_rules is None else library_rules for aar in aars},
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file_name, text in rules.items():
            (folder / file_name).write_text(text, encoding="utf-8")
        classes = [extract(aar, "classes.jar", folder / f"{aar.stem}.jar") for aar in aars]
        programs = [app_classes, *classes, runtime.classes, jvm.coroutines(), kotlin.find_compiler().stdlib]
        tools = app_tools()

        def shrunk(made: Path) -> None:
            options: list[str | Path] = ["--release", *arguments, "--lib", tools.android_jar, "--output", made]
            options += [*_repeated("--classpath", compile_only)]
            options += [*_repeated("--pg-conf", [folder / file_name for file_name in rules]), *programs]
            java([tools.bundletool], "com.android.tools.r8.R8", options, what="shrinking with R8")

        if any(isinstance(argument, Path) for argument in arguments):  # it reads or writes more than is known here
            shrunk(output)
            return output
        texts = [output.name, *map(str, arguments), *rules.values()]
        files = [*compile_only, *programs, tools.bundletool, tools.android_jar]
        made = kept("r8", lambda folder: shrunk(folder / output.name), *texts, *files)
        shutil.copyfile(made / output.name, output)
    return output


def _rules_in(library: Path, name: str = "proguard.txt") -> str:
    """The rules of a library for R8."""
    return read_zip(library)[PurePosixPath(name)].decode()


def _repeated(option: str, values: Sequence[Path]) -> Iterator[str | Path]:
    for value in values:
        yield option
        yield value


def _bundletool(arguments: Sequence[str]) -> str:
    return java(
        [app_tools().bundletool],
        "com.android.tools.build.bundletool.BundleToolMain",
        arguments,
        what=f"bundletool {arguments[0]}",
    )


def _unpacked(pin: str, names: Sequence[str], read: Callable[[Path, Sequence[str]], dict[str, bytes]]) -> list[Path]:
    """The files `names` of a pinned package, unpacked by `read` into the cache when they are not there."""
    package = downloads.fetch(pin)
    folder = cache_folder() / pin / package.name[:16]
    files = [folder / PurePosixPath(name).name for name in names]
    if not all(file.is_file() for file in files):
        _keep(read(package, names), folder)
    return files


def _keep(contents: Mapping[str, bytes], folder: Path) -> None:
    """Writes files by name into `folder`; each appears whole, whichever process writes it."""
    for name, content in contents.items():
        with atomic_file(folder / PurePosixPath(name).name) as file:
            file.write(content)


def _tar_files(package: Path | IO[bytes], names: Sequence[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(package) if isinstance(package, Path) else tarfile.open(fileobj=package) as archive:
        for member in archive:
            if member.name in names and (file := archive.extractfile(member)):
                found[member.name] = file.read()
    return found


def _deb_files(package: Path, names: Sequence[str]) -> dict[str, bytes]:
    """As `_tar_files`, for a .deb: an `ar` archive with a header of 60 bytes for each part, one a compressed tar."""
    content = package.read_bytes()
    start = len(b"!<arch>\n")
    while start < len(content):
        header = content[start : start + 60]
        size = int(header[48:58])
        if header.startswith(b"data.tar.xz"):
            return _tar_files(io.BytesIO(lzma.decompress(content[start + 60 : start + 60 + size])), names)
        start += 60 + size + size % 2
    raise ValueError(f"no data.tar.xz in {package}")
