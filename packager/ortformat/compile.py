"""Compiles a variant to ORT format: our own driver around one ONNX Runtime session."""

import json
import os
import shutil
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from packager import models, tools
from packager.errors import ModelError
from packager.ortformat.converter import Job
from packager.store import Store, key_of
from packager.values import Compiled, Variant


def compile_variant(variant: Variant, store: Store) -> Compiled:
    """The canonical ORT-format file of `variant`.

    The same graph and weights give the same bytes in any folder, process and hash seed. Raises ModelError when ONNX
    Runtime refuses the graph or cannot load what it wrote.
    """
    inputs = [key_of(variant.graph.hex()), variant.model.sha256, version("onnxruntime")]
    folder = store.results("compile", inputs, lambda made: _convert(variant, made, store))
    if not _is_whole(folder):
        shutil.rmtree(folder)
        folder = store.results("compile", inputs, lambda made: _convert(variant, made, store))
    described = _described(folder)
    path = folder / "model.ort"
    return Compiled(
        variant=variant,
        path=path,
        sha256=described["sha256"],
        size_bytes=path.stat().st_size,
        operators=described["operators"],
        disabled_optimizers=tuple(described["disabled_optimizers"]),
    )


def _described(folder: Path) -> dict[str, Any]:
    described: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return described


def _is_whole(folder: Path) -> bool:
    """Whether a stored file is still the one that was written: what ships is never taken on trust."""
    return bool(tools.sha256_of(folder / "model.ort") == _described(folder)["sha256"])


def _convert(variant: Variant, folder: Path, store: Store) -> None:
    with store.scratch() as scratch:
        graph = scratch / "graph.onnx"
        graph.write_bytes(variant.graph)
        job = Job(
            graph=str(graph),
            data_folder=str(models.data_folder(variant.model.path)),
            output=str(folder / "model.ort"),
            scratch=str(scratch),
            source_bytes=variant.model.size_bytes,
        )
        answer = tools.run_job(
            ["-m", "packager.ortformat.converter"],
            asdict(job),
            scratch,
            crash=f"{variant.model.path}: ONNX Runtime crashed while converting it",
            hint="report it to ONNX Runtime with the model; a simpler export may avoid it",
            environment=converter_environment(),
        )
    if "error" in answer:
        raise ModelError(
            f"{variant.model.path}: ONNX Runtime cannot convert it: {explain(str(answer['error']))}",
            hint="mobpack inspect shows what the model uses",
        )
    result = {**answer["ok"], "sha256": tools.sha256_of(folder / "model.ort")}
    (folder / "result.json").write_text(json.dumps(result, sort_keys=True), encoding="utf-8")


def converter_environment() -> dict[str, str]:
    """Has glibc ask for huge pages ("Memory Allocation Tunables"): page faults are most of a large model's cost."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    return {"GLIBC_TUNABLES": f"{tunables}:glibc.malloc.hugetlb=1".lstrip(":")}


def explain(error: str) -> str:
    """ONNX Runtime's message without its source locations."""
    text = (
        error.split("onnxruntime::", 1)[0]
        if error.startswith("[ONNXRuntimeError]") and "onnxruntime::" not in error[:60]
        else error
    )
    return " ".join(text.replace("[ONNXRuntimeError] :", "").split())
