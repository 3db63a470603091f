"""The Kotlin of packages on older releases of ONNX Runtime: `python -m benchmarks.results java_releases`.

An app may bring another ONNX Runtime than the one that a package names. A build with `runtime-range` proves that each
release opens the files; this page says with which releases the package's Kotlin links, and whether its golden vectors
pass there. The releases are those for desktops, as Maven Central has them: their Java classes are compiled from the
sources that Android's are compiled from. It needs x86_64 Linux.
"""

import re
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packager.files.processes import downloads
from packager.targets.kotlin import kotlin
from tests.toolchain import jvm, projects
from tests.toolchain.device import write_apk

PINS = "onnxruntime-java-"
LIBRARIES = "ai/onnxruntime/native/linux-x64/"
APPS = Path(jvm.__file__).with_name("selftest")
MODELS = {
    "orientation": "page orientation",
    "silero-vad": "Silero VAD",
    "minilm": "MiniLM int8",
    "every-type": "every element type",
}
"""as the app names them -> as the page does"""
CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)*(\w+): (.*)$", re.MULTILINE)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        app = App(Path(scratch))
        print(f"| ONNX Runtime | {' | '.join(MODELS.values())} |")
        print("|---" * (len(MODELS) + 1) + "|")
        for name in sorted(name for name in downloads.pins()["files"] if name.startswith(PINS)):
            version = downloads.pin(name).package.split(":")[2]
            folder = Path(scratch, version)
            unpack(downloads.fetch(name), folder)
            print(f"| {version} | {' | '.join(app.verdicts(folder))} |", flush=True)


class App:
    """The self-tests of a package of four models, compiled against its classes."""

    def __init__(self, folder: Path) -> None:
        aar = projects.ANDROID.archive()
        with zipfile.ZipFile(aar) as archive:
            self.classes = Path(archive.extract("classes.jar", folder))
        known = [self.classes, jvm.fakes(), jvm.android_runtime().classes]
        self.apps = jvm.compile_kotlin([jvm.APPS / "Task.kt", APPS / "SelfTest.kt"], classpath=known)
        self.apk = write_apk(aar, folder / "app.apk", is_stored=True)

    def verdicts(self, release: Path) -> Iterator[str]:
        """For each model whether its golden vectors pass with `release`, or why it does not load."""
        classpath = [self.apps, self.classes, jvm.fakes(), release / "classes.jar", jvm.coroutines()]
        flags = jvm.settings({"onnxruntime.native.path": release})
        for model in MODELS:
            files = release / model
            files.mkdir()
            values = {"apk": self.apk, "data": files / "data", "files": files, "model": model}
            command = jvm.java("apps.SelfTestKt", [*classpath, kotlin.find_compiler().stdlib], flags)
            done = subprocess.run([*command, *jvm.words(values)], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                yield "passes" if "passed\ttrue\n" in done.stdout else "**fails**"
            else:
                causes = CAUSE.findall(done.stderr)
                yield f"**does not load**: {': '.join(causes[-1])}" if causes else "**does not load**"


def unpack(jar: Path, folder: Path) -> None:
    """The classes of a release, and its libraries for this machine."""
    folder.mkdir()
    with zipfile.ZipFile(jar) as archive, zipfile.ZipFile(folder / "classes.jar", "w") as classes:
        for name in archive.namelist():
            if name.endswith(".class"):
                classes.writestr(name, archive.read(name))
            elif name.startswith(LIBRARIES) and name.endswith(".so"):
                (folder / PurePosixPath(name).name).write_bytes(archive.read(name))


if __name__ == "__main__":
    main()
