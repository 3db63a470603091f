"""The hook of npm packages under jest, on React Native's own preset and a real ONNX Runtime."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from tests.toolchain import models, node
from tests.toolchain.node import Finished
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


def jest(app: Path, test: str, *arguments: str, patience_ms: int = 60_000, arrays: str = "node's") -> Finished:
    """Runs one file of tests; `arrays` are those of Node, or a test's "own"."""
    program = node.tool(node.project("react_native"), "jest")
    [package] = json.loads((app / "package.json").read_text(encoding="utf-8"))["dependencies"]
    variables = {"PACKAGE": package, "PATIENCE_MS": str(patience_ms), "ARRAYS": arrays}
    given = ("--ci", *arguments, f"{test}.test.js")
    return node.run([program, *given], cwd=app, environment=variables, timeout_s=900)


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
def test_what_components_use_passes_its_tests(app: Path, test: str, count: int) -> None:
    done = jest(app, test)

    assert done.returncode == 0, done.output
    assert f"Tests:       {count} passed, {count} total" in done.output


def test_jest_sees_a_hook_that_forgets_its_model(app: Path, built: Built) -> None:
    hook = app / "node_modules" / built.name / "lib" / "runtime" / "sharing.js"
    code = hook.read_text(encoding="utf-8")
    assert code.count("this.state.model?.dispose();") == 1
    hook.unlink()  # it is the package's own file: a hard link
    hook.write_text(code.replace("this.state.model?.dispose();", ""), encoding="utf-8")
    try:
        done = jest(app, "hook", "--testNamePattern=an unmounted component has disposed", patience_ms=4000)
    finally:
        hook.write_text(code, encoding="utf-8")

    assert done.returncode == 1
    assert "an unmounted component has disposed of its model" in done.output
    assert "Expected: 0" in done.output  # sessions that are open


def test_the_arrays_of_a_test_have_to_be_those_of_node(app: Path) -> None:
    """The reason for the environment: when onnxruntime-node no longer needs it, it can go."""
    done = jest(app, "backend", "--testNamePattern=f32 goes in", arrays="own")

    assert "must be type of function Float32Array" in done.output
