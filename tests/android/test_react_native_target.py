"""React Native: an npm package has the very files of the Android and iOS packages, and always the same bytes."""

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import numpy
import numpy.typing
import onnxruntime
import pytest

from packager.config import from_document
from packager.core.console import Console
from packager.targets.apk import without_end
from packager.workflows import build
from packager.workflows.requested import BuildRequest, requested_targets
from tests.cases.archives import read_zip
from tests.cases.onnx_text import linear, saved, weight
from tests.cases.react_native_target import unpacked
from tests.nights import at_night


def test_a_build_makes_all_three_packages_of_the_same_files_and_checks_each_once(tmp_path: Path) -> None:
    saved(tmp_path / "net.onnx", linear())
    document = {
        "package": {"name": "nets"},
        "model": {"net": {"path": str(tmp_path / "net.onnx")}},
        "check": {"kernels": "skip"},
    }
    config = from_document(document, tmp_path, targets=("react_native",), settings=())
    request = BuildRequest(targets=requested_targets(config, ("react_native",)), out=tmp_path / "dist")
    console = Console(quiet=True)
    made = build.build(config, request, console)
    kinds = {each.artifact.kind: each.path for each in made.shipped}
    inside = unpacked(tmp_path / "dist" / kinds["npm-package"])
    models = {
        platform: {
            content for path, content in inside.items() if path.parts[:2] in {("models", "both"), ("models", platform)}
        }
        for platform in ("android", "ios")
    }
    aar = read_zip(tmp_path / "dist" / kinds["aar"])
    swift = read_zip(tmp_path / "dist" / kinds["swift-package"])
    assert models["android"] == {content for path, content in aar.items() if path.parts[0] == "assets"}
    assert models["ios"] == {content for path, content in swift.items() if "Models" in path.parts}
    assert len(models["android"]) > 1
    checked = [(each.variant, each.sha256, each.runner) for each in made.report.parities]
    assert len(set(checked)) == len(checked), "nothing is run twice"
    manifest = json.loads((tmp_path / "dist/manifest.json").read_text())
    assert manifest["takes-in"] == {"react_native": ["android", "ios"]}
    assert list(manifest["runtimes"]) == ["android", "ios"]
    assert {each["target"] for each in manifest["plans"]} == {"android", "ios"}
    assert [each["path"] for each in manifest["artifacts"] if each["target"] == "react_native"] == [
        "npm/react-native-nets-1.0.0.cdx.json",
        "npm/react-native-nets-1.0.0.tgz",
    ]
    assert not (tmp_path / "dist/react_native").exists()


@pytest.mark.parametrize(
    ("ios_providers", "holder_name"), [(["coreml"], "net-unfused.ort.tflite"), *at_night(([], "net.ort.tflite"))]
)
def test_a_package_holds_the_weights_once_and_both_platforms_compute_with_them(
    tmp_path: Path, ios_providers: list[str], holder_name: str
) -> None:
    saved(tmp_path / "net.onnx", linear(columns=4096))
    document = {
        "package": {"name": "nets"},
        "model": {"net": {"path": str(tmp_path / "net.onnx")}},
        "target": {"android": {"providers": ["xnnpack"]}, "ios": {"providers": ios_providers}},
        "check": {"kernels": "skip"},
    }
    config = from_document(document, tmp_path, targets=("react_native",), settings=())
    request = BuildRequest(targets=requested_targets(config, ("react_native",)), out=tmp_path / "dist")
    made = build.build(config, request, Console(quiet=True))
    kinds = {each.artifact.kind: each.path for each in made.shipped}
    inside = unpacked(tmp_path / "dist" / kinds["npm-package"])
    models = {path: content for path, content in inside.items() if path.parts[0] == "models"}
    weights = weight(64, 4096).tobytes()
    (holder,) = [path for path, content in models.items() if weights in content]
    assert holder.parts[1] == "both"
    assert holder.name == holder_name
    assert sum(map(len, models.values())) < 1.1 * len(weights)
    expected = linear_outputs(tmp_path / "net.onnx")
    aar = read_zip(tmp_path / "dist" / kinds["aar"])
    assert [path.name for path, content in aar.items() if weights in content] == ["net.ort.tflite"], "as without npm"
    manifest = json.loads((tmp_path / "dist/manifest.json").read_text())
    insides = [(each["target"], each["inside"]) for each in manifest["plans"] if each["inside"]]
    assert insides == ([("android", "react_native")] if ios_providers else [])
    opened_files = [path for path in models if without_end(path.name).endswith((".ort", ".onnx"))]
    assert len(opened_files) > 1
    for path in opened_files:
        assert (linear_outputs(lone(tmp_path / "opened", path, models, holder)) == expected).all(), path


def lone(folder: Path, path: PurePosixPath, models: Mapping[PurePosixPath, bytes], holder: PurePosixPath) -> Path:
    """A file of a package, beside the weights under the name that an ONNX graph has for them.

    Its own name ends in its format: ONNX Runtime reads ORT format from a path only where that ends in `.ort`.
    """
    folder.mkdir(exist_ok=True)
    (folder / "model.ort").write_bytes(models[holder])
    own = folder / without_end(path.name)
    own.write_bytes(models[path])
    return own


def linear_outputs(path: Path) -> numpy.typing.NDArray[numpy.float32]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": weight(1, 64, seed=5)})
    return numpy.asarray(found)
