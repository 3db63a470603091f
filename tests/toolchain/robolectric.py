"""Runs test apps in Android's own framework on a desktop JVM: Robolectric, with its native graphics (Skia).

Everything but the device is real: Android's classes are compiled from its sources, pictures are decoded and drawn by
its own C++. ONNX Runtime's libraries and classes are those of `tests/toolchain/jvm.py`.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from packager.targets.kotlin import kotlin
from tests.nights import at_night
from tests.toolchain import jvm, maven

LOCK = Path(__file__).with_suffix(".txt")
LAUNCH = Path(__file__).with_name("framework") / "Launch.kt"
LEVELS = (*at_night(26, 30, 34), 37)
"""API levels of Android in the lock, from the oldest that Robolectric has native graphics for to the newest. By day the
newest: Kotlin compiles against the stubs of the oldest Android."""
ANDROID = "android-all-"
FLAGS = (
    "-Xmx3g",
    "-Xshare:auto",
    "-Drobolectric.offline=true",
    *(f"--add-{kind}=java.base/jdk.internal.access=ALL-UNNAMED" for kind in ("exports", "opens")),
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.lang", "java.util", "java.lang.reflect")),
)


@cache
def libraries() -> list[Path]:
    """Robolectric and what it needs, without Android."""
    jars = [path for name, path in maven.fetched(LOCK).items() if not name.startswith(ANDROID)]
    return [maven.classes_of(path) if path.suffix == ".aar" else path for path in jars]


@cache
def android() -> Path:
    """The classes of Android 14 as they are, to compile against; those that run have been changed by Robolectric."""
    return _android("14-robolectric-10818077")


@cache
def _last() -> Path:
    """Android's classes for what is loaded outside of any level, the newest."""
    return _android("instrumented-17-robolectric-15733970-i7")


def _android(name: str) -> Path:
    return maven.fetched(LOCK)[f"{ANDROID}{name}.jar"]


@cache
def launcher() -> Path:
    """The program that starts an app; apps report facts with its `report`."""
    return jvm.compile_kotlin([LAUNCH], classpath=[*libraries(), android()])


def compile_app(sources: Sequence[Path], *, classpath: Sequence[Path]) -> Path:
    """A jar with the classes of `sources`, compiled against Android's own."""
    return jvm.compile_kotlin(sources, classpath=[*classpath, launcher(), *libraries(), android()])


def run(
    main_class: str,
    arguments: Mapping[str, object],
    *,
    classpath: Sequence[Path],
    levels: Sequence[int] = LEVELS,
    installed: Mapping[str, object] | None = None,
    flags: Sequence[str] = (),
) -> Mapping[int, Mapping[str, str]]:
    """The facts that `main_class` reports, by API level: it runs once for each, in one process.

    `installed` has the app's settings as Android's Gradle plugin writes them for unit tests, `flags` options of Java's.
    Robolectric removes the app's own files at the end. Raises AssertionError with
    the last of what it printed when it fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if installed:
            settings = folder / "classes" / "com" / "android" / "tools" / "test_config.properties"
            settings.parent.mkdir(parents=True)
            settings.write_text("".join(f"{key}={value}\n" for key, value in installed.items()), encoding="utf-8")
        known = {
            "robolectric.dependency.dir": android().parent,
            "robolectric.enabledSdks": ",".join(map(str, levels)),
            "framework.app": main_class,
            "framework.arguments": "\n".join(jvm.words(arguments)),
            "java.io.tmpdir": name,
        }
        path = [folder / "classes", *classpath, launcher(), jvm.android_runtime().classes, jvm.coroutines()]
        path += [kotlin.find_compiler().stdlib, *libraries(), _last()]
        done = subprocess.run(
            jvm.java("framework.LaunchKt", path, [*FLAGS, *flags, *jvm.settings(known)]),
            capture_output=True,
            text=True,
            check=False,
            timeout=jvm.RUN_TIMEOUT_S,
            cwd=folder,
            env=jvm.environment(),
        )
    facts = jvm.ended(main_class, done.returncode, done.stdout, done.stderr).facts
    return {
        level: {name.partition(".")[2]: value for name, value in facts.items() if name.startswith(f"{level}.")}
        for level in levels
    }
