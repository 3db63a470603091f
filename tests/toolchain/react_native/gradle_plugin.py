"""React Native's own Gradle tasks for autolinking, compiled and run without Gradle on the output of an app's tools."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packager.files.processes import commands
from packager.targets.kotlin import kotlin
from tests.toolchain import jsc, jvm, node

STAND_INS = Path(__file__).with_name("gradle_api")
"""the few classes of Gradle and Gson that the tasks use, and a program that runs the tasks"""
PLUGIN = "node_modules/@react-native/gradle-plugin"
KOTLIN = "src/main/kotlin/com/facebook/react"
NEWER = "generatedPureCxxSourceDirectory"
"""a property of the tasks of newer versions"""
TASKS = ("GeneratePackageListTask", "GenerateAutolinkingNewArchitecturesFileTask")


@dataclass(frozen=True)
class Generated:
    """Generated sources that the app's build compiles."""

    package_list: str
    """PackageList.java"""
    cpp: str
    """autolinking.cpp"""
    native: Path
    """the folder with that and Android-autolinking.cmake"""


def generate(config: Mapping[str, Any], build: Path, *, project: str = jsc.NEWEST) -> Generated:
    """Runs the tasks on `config`, for an app's folder `build`. Raises ToolError when they do not take it."""
    build.mkdir(parents=True, exist_ok=True)
    said = build / "autolinking.json"
    said.write_text(json.dumps(config), encoding="utf-8")
    java, native = build / "generated/autolinking/src/main/java", build / "generated/autolinking/src/main/jni"
    compiler = kotlin.find_compiler()
    classpath = [_tasks(project), *_libraries(), compiler.stdlib]
    commands.run(
        [
            compiler.java,
            *kotlin.JAVA_FLAGS,
            "-cp",
            os.pathsep.join(map(str, classpath)),
            "AutolinkKt",
            said,
            java,
            native,
        ],
        what="React Native's autolinking for Android",
    )
    return Generated(
        package_list=(java / "com/facebook/react/PackageList.java").read_text(encoding="utf-8"),
        cpp=(native / "autolinking.cpp").read_text(encoding="utf-8"),
        native=native,
    )


def _tasks(project: str) -> Path:
    """A jar with React Native's tasks as they are, compiled against the stand-ins."""
    plugin = node.project(project) / PLUGIN
    own = [plugin / "react-native-gradle-plugin" / KOTLIN / "tasks" / f"{name}.kt" for name in TASKS]
    shared = plugin / "shared" / KOTLIN
    models = sorted((shared / "model").glob("Model*.kt"))
    is_newer = any(NEWER in path.read_text(encoding="utf-8") for path in own)
    native_files = STAND_INS / ("newer" if is_newer else "older") / "NativeFiles.kt"
    sources = [*own, shared / "utils" / "JsonUtils.kt", *models, *sorted(STAND_INS.glob("*.kt")), native_files]
    return jvm.compile_kotlin(sources, classpath=_libraries())


def _libraries() -> list[Path]:
    """Libraries of the stand-in for Gson; the Kotlin compiler includes them."""
    beside = kotlin.find_compiler().stdlib.parent
    return sorted([*beside.glob("kotlinx-serialization-*.jar"), *beside.glob("kotlin-reflect-*.jar")])
