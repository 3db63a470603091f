"""A device with one app: an .apk made of an .aar's assets, a private folder, and a way to run test apps."""

import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tests.toolchain import jvm, warm_apps

ALIGNMENT = 4  # zipalign's
STORED = (".tflite", ".jpg", ".mp3", ".ogg", ".png", ".wav", ".webp")
"""ends of names that the Android Gradle plugin never compresses, as far as a library may have them"""


@dataclass(frozen=True, kw_only=True)
class Library:
    """A built .aar and the test apps compiled against it."""

    aar: Path
    classes: Path
    apps: Path

    @property
    def native(self) -> Path:
        """Folder with the part of the library that is in C, if it has one."""
        return self.classes.parent / "jni" / jvm.ABI


@dataclass(frozen=True, kw_only=True)
class Device:
    library: Library
    apk: Path
    folder: Path
    """the app's own files, and the numbers that a test and an app exchange"""

    @property
    def kept(self) -> Path:
        """The folder in which the app keeps the package's models."""
        return self.folder / "data" / "no_backup" / "mobpack" / "models"

    def run(
        self,
        app: str,
        files: Mapping[str, NDArray[Any]] | None = None,
        *,
        properties: Mapping[str, object] | None = None,
        variables: Mapping[str, str] | None = None,
        exit_code: int = 0,
        timeout_s: float = jvm.RUN_TIMEOUT_S,
        **values: object,
    ) -> jvm.Run:
        """Run a file of `apps/` in a process of its own, after writing its inputs as raw little-endian numbers."""
        return jvm.run(
            f"apps.{app}Kt",
            self._arguments(files or {}, values),
            classpath=[self.library.apps, self.library.classes],
            properties={"java.library.path": self.library.native, **(properties or {})},
            variables=variables,
            exit_code=exit_code,
            timeout_s=timeout_s,
        )

    def run_warm(
        self,
        app: str,
        files: Mapping[str, NDArray[Any]] | None = None,
        *,
        properties: Mapping[str, object] | None = None,
        **values: object,
    ) -> jvm.Run:
        """As `run`, in a process that has run other apps: tests/toolchain/warm_apps says for which tests."""
        return warm_apps.run(
            f"apps.{app}Kt",
            self._arguments(files or {}, values),
            classpath=[self.library.apps, self.library.classes],
            properties={"java.library.path": self.library.native, **(properties or {})},
        )

    def _arguments(self, files: Mapping[str, NDArray[Any]], values: Mapping[str, object]) -> Mapping[str, object]:
        """Arguments of an app, whose inputs are written."""
        exchange = self.folder / "files"
        exchange.mkdir(parents=True, exist_ok=True)
        for name, array in files.items():
            whole = exchange / f"{name}.{get_ident()}"  # the same app may start in another thread, and read it
            whole.write_bytes(np.ascontiguousarray(array).tobytes())
            whole.replace(exchange / name)
        return {"apk": self.apk, "data": self.folder / "data", "files": exchange, **values}

    def output(self, name: str, element: DTypeLike, *shape: int) -> NDArray[Any]:
        """An array that the app wrote."""
        return np.fromfile(self.folder / "files" / name, element).reshape(shape)


def library(aar: Path, folder: Path, *, apps: str = "*", has_task: bool = True) -> Library:
    """Takes classes.jar out of `aar` and compiles the test apps whose names match `apps` against it.

    Most share `Task.kt`, which is for a package called `models`.
    """
    with zipfile.ZipFile(aar) as archive:
        classes = Path(archive.extract("classes.jar", folder))
        archive.extractall(folder, [name for name in archive.namelist() if name.startswith(f"jni/{jvm.ABI}/")])
    sources = sorted({*([jvm.APPS / "Task.kt"] if has_task else []), *jvm.APPS.glob(f"{apps}.kt")})
    compiled = jvm.compile_kotlin(sources, classpath=[classes, jvm.fakes(), jvm.android_runtime().classes])
    return Library(aar=aar, classes=classes, apps=compiled)


def device(library: Library, folder: Path, *, is_stored: bool = True) -> Device:
    """A device on which the app was installed and never started."""
    package = library.classes.with_name(f"{library.aar.stem}-{'stored' if is_stored else 'deflated'}.apk")
    if not package.exists():  # a copy costs a tenth of what making it costs
        write_apk(library.aar, package, is_stored=is_stored)
    return Device(library=library, folder=folder, apk=Path(shutil.copyfile(package, folder / "base.apk")))


def write_apk(aar: Path, apk: Path, *, is_stored: bool) -> Path:
    """An APK-like zip with the `assets/` of `aar`, as the Android Gradle plugin packages them without settings.

    With `is_stored=False` all are deflated, as by a tool that does not know the plugin's list. Stored entries start at
    a multiple of 4 bytes, as zipalign makes them; deflated ones cannot be mapped. A filler entry stands first, so no
    asset starts where the file does.
    """
    with zipfile.ZipFile(aar) as library, zipfile.ZipFile(apk, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as package:
        package.writestr("AndroidManifest.xml", b"\0" * 61, zipfile.ZIP_STORED)
        for name in sorted(name for name in library.namelist() if name.startswith("assets/")):
            if name.endswith("/"):
                continue
            entry: str | zipfile.ZipInfo = name  # as the package compresses
            if is_stored and name.lower().endswith(STORED):
                entry = zipfile.ZipInfo(name)
                entry.compress_type = zipfile.ZIP_STORED
                entry.extra = _padding(package, entry)
                entry.file_size = library.getinfo(name).file_size
            with package.open(entry, "w") as target, library.open(name) as source:
                shutil.copyfileobj(source, target, 1 << 20)
    return apk


def _padding(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """An extra field that moves the entry's data, which follows 30 bytes, the name and this, to the alignment."""
    assert package.fp is not None
    start = package.fp.tell() + 30 + len(entry.filename.encode())
    if start % ALIGNMENT == 0:
        return b""
    # An extra field is an id (zipalign's 0xd935), a length and that many bytes: 4 at least.
    length = -start % ALIGNMENT
    return (0xD935).to_bytes(2, "little") + length.to_bytes(2, "little") + bytes(length)
