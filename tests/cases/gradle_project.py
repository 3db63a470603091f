"""The emitted Gradle project and its build; a fake `gradle` on PATH stands in for the real one."""

import os
from pathlib import Path, PurePosixPath

import pytest

from packager.core.values import Sources
from packager.files.processes.downloads import pins
from packager.targets.android.gradle import GradleDependency, gradle_project

KOTLIN = PurePosixPath("src/main/kotlin/com/example/vision/Classifier.kt")

ASSET = PurePosixPath("src/main/assets/mobpack/vision/classifier.ort")


def project(*providers: str) -> Sources:
    android = pins()["android"]
    return gradle_project(
        Sources(
            texts={
                KOTLIN: "package com.example.vision\n",
                PurePosixPath("src/main/AndroidManifest.xml"): '<manifest package="com.example.vision"/>',
                PurePosixPath("consumer-rules.pro"): "# rules\n",
            },
            files={ASSET: Path("classifier.ort")},
        ),
        group="com.example",
        artifact="vision",
        version="1.0.0",
        namespace="com.example.vision",
        min_sdk=24,
        dependencies=(
            GradleDependency(configuration="api", notation=android["kotlin-stdlib"]),
            GradleDependency(configuration="implementation", notation=android["onnxruntime"]),
        ),
        providers=providers,
    )


def text(name: str) -> str:
    return project().texts[PurePosixPath(name)]


@pytest.fixture
def fake_gradle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `gradle` that logs its arguments and makes the .aar, alone on PATH; and an SDK folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    write_gradle(
        folder, 'echo "$@" > arguments\nmkdir -p build/outputs/aar\necho aar > build/outputs/aar/vision-release.aar'
    )
    (tmp_path / "sdk").mkdir()
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("ANDROID_HOME", str(tmp_path / "sdk"))
    monkeypatch.delenv("ANDROID_SDK_ROOT", raising=False)
    return folder


def write_gradle(folder: Path, script: str) -> None:
    (folder / "gradle").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "gradle").chmod(0o755)
