"""The hook of npm packages under jest, on React Native's own preset and a real ONNX Runtime."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests.toolchain import models, node
from tests.toolchain.react_native import packages
from tests.toolchain.react_native.packages import Built

FILES = Path(__file__).parents[1] / "toolchain" / "react_native" / "jest"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return packages.page_orientation(tmp_path_factory)


@pytest.fixture(scope="module")
def app(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An app that depends on the package, with all tests. What Babel makes of React Native is kept for the next run."""
    app = built.app(tmp_path_factory.mktemp("jest") / "app")
    for file in FILES.glob("*.js"):
        shutil.copy(file, app)
    given = json.dumps(values(app / "node_modules" / built.name, app))
    (app / "given.json").write_text(given, encoding="utf-8")
    return app


def values(package: Path, scratch: Path) -> dict[str, object]:
    """The models' files and inputs, and Python's outputs for them."""
    image = np.random.default_rng(7).random((1, 3, 224, 224), dtype=np.float32)
    [result] = onnxruntime.InferenceSession(models.orientation()).run(None, {"x": image})
    [graph] = package.glob("models/android/mobpack/*/orientation-unfused.onnx.tflite")
    [weights] = package.glob("models/both/mobpack/*/orientation-unfused.ort.tflite")
    return {
        "folders": [str(path) for path in package.glob("models/*/mobpack/*")],
        "pixels": image.ravel().tolist(),
        "expected": np.asarray(result).ravel().tolist(),
        "everyType": str(models.every_type(scratch)),
        "outside": [str(graph), "model.ort", str(weights)],
    }


@pytest.mark.parametrize(("test", "count"), [("hook", 18), ("backend", 22)])
def test_what_components_use_passes_its_tests(app: Path, built: Built, test: str, count: int) -> None:
    program = node.tool(node.project("react_native"), "jest")
    done = node.run([program, "--ci", f"{test}.test.js"], cwd=app, environment={"PACKAGE": built.name}, timeout_s=900)

    assert done.returncode == 0, done.output
    assert f"Tests:       {count} passed, {count} total" in done.output
