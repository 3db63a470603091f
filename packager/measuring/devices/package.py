"""A package that was built for Android, taken apart: its classes, models, samples and native libraries."""

import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packager import vectors
from packager.core import parsing, user_files
from packager.core.errors import ConfigError, ToolError
from packager.engines.environments import onnxruntime_android
from packager.engines.environments.environment import folder_for, make_once
from packager.files.hashes import known_sha256, sha256_of
from packager.files.processes import downloads
from packager.files.zips import DAMAGE, PACKAGE, opened_zip
from packager.vectors import GoldenFile

ASSETS = "assets/mobpack/"
GOLDEN = ".golden.safetensors"
RUNTIME_JAR = "libs/onnxruntime.jar"
LIBRARY = "libonnxruntime.so"
SESSION = "/OrtSession.class"
MODEL_CLASS = re.compile(r"^[\w/]+/[A-Z]\w*\.class$")
HINT = "build one with `mobpack build -t android`, or name it: --package dist/android/NAME.aar"


@dataclass(frozen=True, kw_only=True)
class AndroidRuntime:
    """ONNX Runtime for Android."""

    classes: Path
    libraries: Mapping[str, Mapping[str, Path]]
    """processor -> file name -> native library"""
    words: str
    """where it comes from"""


@dataclass(frozen=True, kw_only=True)
class DevicePackage:
    """A library archive, its files extracted to a folder."""

    path: Path
    sha256: str
    classes: Path
    namespace: str
    """Java package of its classes"""
    class_names: tuple[str, ...]
    """classes that may be models, with their Java package"""
    assets: Mapping[str, Path]
    """sha256 -> model file, weights or samples"""
    names: Mapping[str, str]
    """sha256 -> path below the app's assets"""
    libraries: Mapping[str, Mapping[str, Path]]
    """processor -> file name -> native library of its own"""
    golden: Mapping[str, GoldenFile]
    """model -> samples that ship with it"""
    runtime: AndroidRuntime

    @property
    def abis(self) -> tuple[str, ...]:
        """Processors that it runs on. Where it has no library of its own, it cannot tell the nodes of a provider."""
        return tuple(self.runtime.libraries)

    @property
    def assignment_class(self) -> str:
        """Class that asks ONNX Runtime for the nodes of each provider; empty if the package has none."""
        name = f"{self.namespace}.NativeAssignment"
        return name if name in self.class_names else ""


def find(path: Path) -> Path:
    """The library archive: `path` itself, or the one in the folder of a release. Raises ConfigError if there is none,
    or several."""
    if path.is_file():
        return path
    if not path.is_dir():
        raise ConfigError(f"no package at {path}", hint=HINT)
    found = [each for each in sorted(path.glob("android/*.aar")) if _has_models(each)]
    if len(found) != 1:
        raise ConfigError(
            f"{path} has {len(found) or 'no'} libraries for Android with models",
            hint=HINT if not found else f"name one: --package {found[0]}",
        )
    return found[0]


def _has_models(path: Path) -> bool:
    with _archive(path) as archive:
        return any(name.startswith(ASSETS) for name in archive.namelist())


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive at `path`. Raises ConfigError where it, or what is read of it in the block, is damaged."""
    try:
        with user_files.opened(path) as file, opened_zip(file, PACKAGE) as archive:
            yield archive
    except (*DAMAGE, *parsing.DAMAGE) as error:
        raise ConfigError(f"{path} is not a library for Android: {parsing.reason_of(error)}", hint=HINT) from error


def read(path: Path, runtime: Path | None, folder: Path) -> DevicePackage:
    """Extracts the archive at `path` to `folder`, which exists. `runtime` is an archive with the ONNX Runtime to use;
    by default the package's own, or else the published one that packages depend on.

    Raises ConfigError for an archive that mobpack has not made, ToolError for one that cannot run outside of an app.
    """
    with _archive(path) as archive:
        names = archive.namelist()
        if "classes.jar" not in names or not any(name.startswith(ASSETS) for name in names):
            raise ConfigError(f"{path} is not a library for Android that mobpack has made", hint=HINT)
        archive.extract("classes.jar", folder)
        classes = folder / "classes.jar"
        class_names = tuple(_class_names(classes))
        _refuse(path, class_names)
        assets, places = _assets(archive, folder)
        libraries = _libraries(archive, names, folder / "own", lambda name: not name.startswith("libonnxruntime"))
        own = RUNTIME_JAR in names and any(PurePosixPath(name).name == LIBRARY for name in names)
        golden = {
            file.about["model"]: file
            for sha256, name in places.items()
            if name.endswith(GOLDEN)
            for file in [vectors.read(assets[sha256])]
        }
    chosen = runtime_of(runtime or (path if own else None), folder / "runtime")
    return DevicePackage(
        path=path,
        sha256=sha256_of(path),
        classes=classes,
        namespace=class_names[0].rpartition(".")[0] if class_names else "",
        class_names=class_names,
        assets=assets,
        names=places,
        libraries=libraries,
        golden=golden,
        runtime=chosen,
    )


def runtime_of(archive: Path | None, folder: Path) -> AndroidRuntime:
    """The ONNX Runtime in `archive`, or the published one that packages depend on; its files go to `folder`. Raises
    ConfigError for an archive without one."""
    if archive:
        return _runtime(archive, folder)
    made = folder_for("device-runtime-files", downloads.pin(onnxruntime_android.PUBLISHED).sha256)
    make_once(made, _unpack_pinned)
    libraries: dict[str, dict[str, Path]] = {}
    for path in sorted(made.glob("jni/*/*.so")):
        libraries.setdefault(path.parent.name, {})[path.name] = path
    return AndroidRuntime(classes=made / "classes.jar", libraries=libraries, words=onnxruntime_android.file_name())


def _class_names(classes: Path) -> Iterator[str]:
    """Classes that lie in no other class."""
    with _archive(classes) as archive:
        for name in sorted(archive.namelist()):
            if MODEL_CLASS.match(name):
                yield name.removesuffix(".class").replace("/", ".")


def _refuse(path: Path, class_names: Sequence[str]) -> None:
    own = {name.rpartition(".")[2] for name in class_names}
    if "Decryption" in own:
        raise ToolError(
            f"{path.name} holds encrypted models: an app has their key",
            hint="run a build without [package] encryption on devices: its models are the same",
        )
    if "Trusted" in own or "Trust" in own:
        raise ToolError(
            f"{path.name} opens signed models only, with the list of files that is in an app",
            hint="run a build without [package] trust on devices: its models are the same",
        )


def _assets(archive: zipfile.ZipFile, folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    files: dict[str, Path] = {}
    places: dict[str, str] = {}
    (folder / "assets").mkdir()
    for number, name in enumerate(sorted(archive.namelist())):
        if name.startswith(ASSETS) and not name.endswith("/"):
            place = folder / "assets" / str(number)
            with archive.open(name) as source, place.open("wb") as target:
                while chunk := source.read(1 << 20):
                    target.write(chunk)
            sha256 = known_sha256(place)
            files[sha256], places[sha256] = place, name.removeprefix("assets/").removesuffix(".tflite")
    return files, places


def _libraries(
    archive: zipfile.ZipFile, names: Sequence[str], folder: Path, is_wanted: Callable[[str], bool]
) -> dict[str, dict[str, Path]]:
    found: dict[str, dict[str, Path]] = {}
    for name in sorted(names):
        parts = PurePosixPath(name).parts
        if len(parts) == 3 and parts[0] == "jni" and name.endswith(".so") and is_wanted(parts[2]):
            archive.extract(name, folder)
            found.setdefault(parts[1], {})[parts[2]] = folder / name
    return found


def _runtime(path: Path, folder: Path) -> AndroidRuntime:
    """Raises ConfigError for an archive without ONNX Runtime."""
    with _archive(path) as archive:
        names = archive.namelist()
        jar = RUNTIME_JAR if RUNTIME_JAR in names else "classes.jar"
        libraries = _libraries(archive, names, folder, lambda name: True)
        if jar not in names or not any(LIBRARY in each for each in libraries.values()):
            raise ConfigError(
                f"{path} has no ONNX Runtime for Android", hint="give onnxruntime-android-VERSION.aar with --runtime"
            )
        archive.extract(jar, folder)
    with _archive(folder / jar) as classes:
        is_runtime = any(name.endswith(SESSION) for name in classes.namelist())
    if not is_runtime:
        raise ConfigError(f"{path} has no classes of ONNX Runtime", hint="give an onnxruntime-android-VERSION.aar")
    return AndroidRuntime(
        classes=folder / jar,
        libraries=libraries,
        words=path.name,
    )


def _unpack_pinned(folder: Path) -> None:
    with zipfile.ZipFile(onnxruntime_android.archive()) as archive:
        for name in archive.namelist():
            if name == "classes.jar" or name.endswith(".so"):
                archive.extract(name, folder)
