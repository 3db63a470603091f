"""Makes the app that a farm installs: a job and what runs it, as .apk and .aab, and the .apk of its instrumentation."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from packager.files.atomic import atomic_files
from packager.files.installed import templates_folder
from packager.files.processes import commands
from packager.files.zips import read_entry, write_zip
from packager.measuring.devices.android_tools import AndroidTools, android_tools
from packager.measuring.devices.farms.debug_key import DebugKey, debug_key
from packager.render.templates import render
from packager.targets.kotlin import kotlin

TEMPLATES = "device_farm"
APP_ID = "dev.mobpack.farm"
APP = "mobpack-farm.apk"
BUNDLE = "mobpack-farm.aab"
TEST = "mobpack-farm-test.apk"
INDEX = "index.txt"
MIN_SDK = 24
TARGET_SDK = 36
MANIFEST = "AndroidManifest.xml"
VENDORS = ("libcdsprpc.so", "libOpenCL.so", "libneuron_runtime.so", "libedgetpu_util.so")
"""Libraries of vendors that providers open: an app of API 31 or later has to name them."""


@dataclass(frozen=True, kw_only=True)
class FarmProgram:
    """The job of the app, and the code that it needs."""

    job: Path
    """folder with the job's files"""
    jars: tuple[Path, ...]
    """classes: the package under test, ONNX Runtime's, and what these need"""
    driver: Path
    """classes that ask models, as devices over adb have them"""
    onnxruntime: str
    """Java package of ONNX Runtime's classes"""
    native: Mapping[str, tuple[Path, ...]]
    """libraries by ABI"""


@dataclass(frozen=True, kw_only=True)
class FarmApp:
    app: Path
    bundle: Path
    test: Path

    def files(self) -> tuple[Path, ...]:
        return self.app, self.bundle, self.test


@dataclass(frozen=True, kw_only=True)
class AppView:
    """Manifest of the app."""

    app_id: str
    label: str
    native_libraries: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TestView:
    """Manifest of its instrumentation."""

    app_id: str
    label: str


def make_app(program: FarmProgram, label: str, output: Path) -> FarmApp:
    """Writes the three files to the folder `output`, all or none. Raises ToolError if a tool is missing or fails."""
    tools, key, output = android_tools(), debug_key(), output.absolute()
    with tempfile.TemporaryDirectory() as name, atomic_files(output) as unfinished:
        scratch = Path(name)
        app_classes, test_classes = compiled(program, scratch / "kotlin")
        app_dex = _dexed(tools, [*program.jars, program.driver, app_classes], (), scratch / "app-dex")
        test_dex = _dexed(tools, [test_classes], (app_classes, program.driver), scratch / "test-dex")
        entries = {**_job(program.job), **_native(program.native)}
        view = AppView(app_id=APP_ID, label=label, native_libraries=VENDORS)
        manifest = render(f"{TEMPLATES}/app/{MANIFEST}.j2", view)
        linked = _linked(tools, manifest, scratch / "app", is_proto=False)
        _signed(tools, key, {**linked, **app_dex, **entries}, scratch / "app.apk", unfinished / APP)
        linked = _linked(tools, manifest, scratch / "module", is_proto=True)
        module = _module(linked, app_dex, entries, scratch / "base.zip")
        tools.bundle([module], scratch / BUNDLE)
        _sign(tools, key, scratch / BUNDLE, unfinished / BUNDLE, "--min-sdk-version", str(MIN_SDK))
        manifest = render(f"{TEMPLATES}/test/{MANIFEST}.j2", TestView(app_id=APP_ID, label=label))
        linked = _linked(tools, manifest, scratch / "test", is_proto=False)
        _signed(tools, key, {**linked, **test_dex}, scratch / "test.apk", unfinished / TEST)
    return FarmApp(app=output / APP, bundle=output / BUNDLE, test=output / TEST)


def compiled(program: FarmProgram, work: Path) -> tuple[Path, Path]:
    """Jars with the classes of the app and of its instrumentation."""
    folder = templates_folder() / TEMPLATES
    sources = {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "kotlin").glob("*.kt"))}
    stubs = {
        path.relative_to(folder / "stubs").as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((folder / "stubs").rglob("*.java"))
    }
    work.mkdir()
    made = kotlin.compile_kotlin(
        {**sources, **stubs},
        module_name="farm",
        work=work,
        onnxruntime=program.onnxruntime,
        libraries=program.jars,
        friends=program.driver,
    )
    parts: dict[str, dict[PurePosixPath, Path]] = {"app": {}, "test": {}}
    for file in kotlin.files(made):
        part = "test" if file.name.startswith("FarmInstrumentation") else "app"
        parts[part][PurePosixPath(file.relative_to(made).as_posix())] = file
    return write_zip(work / "app.jar", parts["app"]), write_zip(work / "test.jar", parts["test"])


def _dexed(
    tools: AndroidTools, jars: Sequence[Path], classpath: Sequence[Path], folder: Path
) -> dict[PurePosixPath, Path]:
    folder.mkdir()
    tools.dex(jars, folder, min_api=MIN_SDK, classpath=classpath)
    return {PurePosixPath(file.name): file for file in sorted(folder.glob("*.dex"))}


def _job(job: Path) -> dict[PurePosixPath, Any]:
    """The job as assets, with a list of its files: an app cannot list folders of assets fast, or at all."""
    names = sorted(path.relative_to(job).as_posix() for path in job.rglob("*") if path.is_file())
    assets = PurePosixPath("assets/job")
    return {**{assets / name: job / name for name in names}, assets / INDEX: "".join(f"{n}\n" for n in names).encode()}


def _native(libraries: Mapping[str, Sequence[Path]]) -> dict[PurePosixPath, Path]:
    return {PurePosixPath("lib", abi, file.name): file for abi, files in libraries.items() for file in files}


def _linked(tools: AndroidTools, manifest: str, folder: Path, *, is_proto: bool) -> dict[PurePosixPath, bytes]:
    """The manifest and resources as Android, or bundletool, reads them."""
    import zipfile

    folder.mkdir()
    (folder / MANIFEST).write_text(manifest, encoding="utf-8", newline="\n")
    command: list[str | Path] = [tools.aapt2, "link", "-I", tools.framework, "--manifest", folder / MANIFEST]
    command += ["--min-sdk-version", str(MIN_SDK), "--target-sdk-version", str(TARGET_SDK)]
    command += ["--version-code", "1", "--version-name", "1.0", "-o", folder / "linked.apk"]
    commands.run([*command, "--proto-format"] if is_proto else command, what="aapt2")
    with zipfile.ZipFile(folder / "linked.apk") as archive:
        return {PurePosixPath(entry.filename): read_entry(archive, entry) for entry in archive.infolist()}


def _module(
    linked: Mapping[PurePosixPath, bytes],
    dex: Mapping[PurePosixPath, Path],
    entries: Mapping[PurePosixPath, Any],
    path: Path,
) -> Path:
    content: dict[PurePosixPath, Any] = {**linked, **entries}
    content[PurePosixPath("manifest", MANIFEST)] = content.pop(PurePosixPath(MANIFEST))
    content |= {PurePosixPath("dex", name): file for name, file in dex.items()}
    return write_zip(path, content)


def _signed(
    tools: AndroidTools, key: DebugKey, entries: Mapping[PurePosixPath, Any], unsigned: Path, output: Path
) -> None:
    _sign(tools, key, write_zip(unsigned, entries), output)


def _sign(tools: AndroidTools, key: DebugKey, unsigned: Path, output: Path, *more: str) -> None:
    arguments: list[str | Path] = ["sign", "--key", key.key, "--cert", key.certificate, *more, "--v4-signing-enabled"]
    tools.apks([*arguments, "false", "--out", output, unsigned], what=f"signing {output.name}")
