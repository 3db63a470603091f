"""A release with files for several providers and a chip, as `mobpack pack` reads it."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from packager.files.zips import write_zip

CPU, GRAPH, WEIGHTS, CHIP, GOLDEN = b"cpu" * 1000, b"graph" * 10, b"weights" * 500, b"chip" * 300, b"golden" * 20
CONTENTS: Mapping[str, bytes] = {
    "a.ort.tflite": CPU,
    "a-unfused.onnx.tflite": GRAPH,
    "a/model-1.weights": WEIGHTS,
    "a-sm8650.onnx.tflite": CHIP,
    "a.golden.safetensors.tflite": GOLDEN,
}
CHIP_MODEL = "SM8650"
CHOICES = (("qnn", CHIP, (CHIP_MODEL,)), ("webgpu", GRAPH, ()), ("cpu", CPU, ()))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def released(folder: Path, choices: tuple[tuple[str, bytes, tuple[str, ...]], ...] = CHOICES) -> Path:
    """A release of one package, `demo`, for Android and iOS."""
    folder.mkdir(parents=True)
    packages = {
        "aar": ("android", PurePosixPath("assets/mobpack/demo")),
        "swift-package": ("ios", PurePosixPath("demo-1.0.0/Sources/Demo/Resources/Models")),
    }
    artifacts = []
    for kind, (target, place) in packages.items():
        path = write_zip(folder / kind, {place / name: content for name, content in CONTENTS.items()})
        artifacts.append({"target": target, "kind": kind, "path": kind, "sha256": sha256(path.read_bytes())})
    document = {
        "mobpack": "0",
        "package": {"name": "demo", "version": "1.0.0"},
        "artifacts": artifacts,
        "compiled": [{"sha256": sha256(GRAPH), "data-sha256": [sha256(WEIGHTS)]}, {"sha256": sha256(CPU)}],
        "plans": [
            {
                "model": "a",
                "target": "android",
                "inside": "",
                "choices": [
                    {"provider": provider, "sha256": sha256(content), "chips": list(chips)}
                    for provider, content, chips in choices
                ],
            }
        ],
    }
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder
