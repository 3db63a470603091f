"""The sample app for Flutter: its code is clean, and its screen works in Flutter's engine with the real model."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from PIL import Image

from tests.toolchain import command, vision
from tests.toolchain.dart import PROBLEM, dart
from tests.toolchain.flutter_tester import FlutterTester, flutter_tester

ROOT = Path(__file__).parents[2]
APP = Path("sample_apps", "flutter")
PLUGINS = Path(__file__).parents[1] / "toolchain" / "flutter_packages"
"""declarations of plugins that the app uses: they are not available here"""
LIBRARY = "/libonnxruntime.so"
COUNT = 7
"""tests of the app"""


@pytest.fixture(scope="module")
def tester() -> FlutterTester:
    return flutter_tester()


@pytest.fixture(scope="module")
def made(tester: FlutterTester, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app after the commands of its README, with declarations of its plugins."""
    root = tmp_path_factory.mktemp("sample")
    models, app = root / vision.FOLDER, root / APP
    shutil.copytree(vision.root() / vision.FOLDER / "build" / "models", models / "build" / "models")
    for name in ("mobpack.toml", "coffee.jpg"):
        shutil.copy(ROOT / vision.FOLDER / name, models)
    built = command.run("build", "--target", "flutter", folder=models)
    assert built.returncode == 0, built.stderr
    assert "dist/flutter/vision_models-1.0.0.zip" in built.stdout
    shutil.copytree(ROOT / APP, app, ignore=shutil.ignore_patterns("packages", "assets", ".dart_tool"))
    run(["sh", str(APP / "make")], root)
    plugins = {each.name: shutil.copytree(each, app / "packages" / each.name) for each in PLUGINS.iterdir()}
    tester.configure(app, "picture", {"vision_models": app / "packages" / "vision_models", **plugins})
    shutil.copytree(app / "assets", app / "flutter_assets" / "assets")
    return app


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_app_is_clean_for_a_strict_analyzer_and_formatted(tester: FlutterTester, made: Path) -> None:
    done = tester.run(["dart", "analyze", "--fatal-infos", "--format=machine", "lib", "test"], cwd=made)
    assert (done.returncode, PROBLEM.findall(done.output)) == (0, []), done.output
    done = tester.run(["dart", "format", "--output=none", "--set-exit-if-changed", "lib", "test"], cwd=made)
    assert done.returncode == 0, done.output


def test_its_screen_shows_what_the_model_sees_and_what_goes_wrong(tester: FlutterTester, made: Path) -> None:
    tester.compile("test/screen_test.dart", app=made)
    done = tester.test(made, mounts={LIBRARY: dart().onnxruntime()}, environment={"LIBRARY": LIBRARY})
    assert done.passed == COUNT, done.output
    [line] = re.findall(r"^classes (.*)$", done.output, re.MULTILINE)
    shown = {label: float(score) for label, _, score in (each.partition("=") for each in line.split(";"))}
    expected = seen_by_python(made)
    assert shown.keys() == expected.keys()
    assert all(abs(shown[label] - score) <= 0.01 for label, score in expected.items()), "decoders of JPEG round"


def seen_by_python(app: Path) -> dict[str, float]:
    """The five best classes of the app's picture, by the model that the app has."""
    pixels = np.asarray(Image.open(app / "assets" / "coffee.jpg").convert("RGBA"))
    [model] = (app / "packages" / "vision_models" / "models").glob("classifier*.ort*")
    given = {
        "image.pixels": pixels,
        "image.channels": np.array([0, 1, 2]),
        "image.orientation": np.array(1),
        "image.chroma": np.zeros((1, 1, 1), np.uint8),
        "image.conversion": np.array([0, 0, 0]),
    }
    [scores] = onnxruntime.InferenceSession(model.read_bytes()).run(None, given)
    labels = (
        (app.parents[1] / vision.FOLDER / "build" / "models" / "labels.txt").read_text(encoding="utf-8").splitlines()
    )
    return {labels[index]: float(scores.ravel()[index]) for index in np.argsort(-scores.ravel())[:5]}
