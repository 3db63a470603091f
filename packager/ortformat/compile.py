"""Compiles a variant to the file that ships: canonical ORT format, by our own driver around ONNX Runtime sessions."""

import json
import os
import shutil
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from packager import models, tools
from packager.atomic import link_or_copy
from packager.environments.arm64 import Arm64
from packager.errors import ConfigError, ModelError, nearest
from packager.ortformat.converter import REPLAY_ENTRY, SESSION_ENTRIES, Job
from packager.ortformat.ep_context import SOC_MODELS, compile_context
from packager.ortformat.external import write_external
from packager.store import Store, key_of
from packager.values import Compiled, Format, Style, Variant

SHARED = "model.ort"
"""Name under which an unfused file knows the CPU's file, whose weights it uses."""
FP16 = "FP16"
"""Compiled.processor of files that compute in 16 bits: ARMv8.2-A with the half-precision extension."""
NHWC = "NhwcTransformer"
"""It gives 16-bit pooling a layout of ONNX Runtime's own, in ORT format too, where the runtime then does not know the
domain of the result: `No opset import for domain 'com.ms.internal.nhwc'`, on ARM."""
FP16_SETTINGS = {"optimization.disable_specified_optimizers": NHWC}
REPLAY = {REPLAY_ENTRY: "1"}
FP16_CPU = "cortex-a76"
"""What qemu stands in for such a phone: the first of ARM's phone cores that has the extension (2018)."""


def compile_variant(variant: Variant, store: Store, *, style: Style = Style.FIXED, processor: str = "") -> Compiled:
    """The canonical ORT-format file of `variant` in `style`, which is FIXED or UNFUSED.

    The same graph and weights give the same bytes in any folder, process and hash seed. For `processor` FP16 an ARM
    core chooses the kernels: x86 has none for 16-bit floats and would turn them into 32-bit ones. Raises ModelError
    when ONNX Runtime refuses the graph or cannot load what it wrote, ToolError when the ARM core cannot be had.
    """
    inputs = [key_of(variant.graph.hex()), variant.model.sha256, version("onnxruntime"), style, processor]

    def make(folder: Path) -> None:
        _convert(variant, folder, store, style=style, processor=processor, name="model.ort")

    folder = store.results("compile", inputs, make)
    if not _is_whole(folder):
        shutil.rmtree(folder)
        folder = store.results("compile", inputs, make)
    described = _described(folder)
    path = folder / "model.ort"
    return Compiled(
        variant=variant,
        path=path,
        sha256=described["sha256"],
        size_bytes=path.stat().st_size,
        operators=described["operators"],
        disabled_optimizers=tuple(described["disabled_optimizers"]),
        style=style,
        format=Format.ORT,
        settings=FP16_SETTINGS if processor else REPLAY if style is Style.UNFUSED else {},
        processor=processor,
    )


def _described(folder: Path) -> dict[str, Any]:
    described: dict[str, Any] = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    return described


def _is_whole(folder: Path) -> bool:
    """Whether a stored file is still the one that was written: what ships is never taken on trust."""
    return bool(tools.sha256_of(folder / "model.ort") == _described(folder)["sha256"])


def compile_unfused(variant: Variant, store: Store, fixed: Compiled | None) -> Compiled:
    """`variant` after basic rewrites alone, as ONNX over the weights of `fixed`: it adds little more than the graph.

    Without `fixed` (no ORT-format file of this variant ships) it has weights of its own.
    Raises ModelError when ONNX Runtime refuses the graph or cannot load what it wrote.
    """
    inputs = [key_of(variant.graph.hex()), variant.model.sha256, version("onnxruntime"), fixed and fixed.sha256]

    def make(folder: Path) -> None:
        if fixed:
            link_or_copy(fixed.path, folder / SHARED)
        _convert(variant, folder, store, style=Style.UNFUSED, fixed=fixed, name="model.onnx")

    folder = store.results("unfused", inputs, make)
    described = _described(folder)
    files = [folder / "model.onnx", *(folder / name for name in described["files"])]
    return Compiled(
        variant=variant,
        path=files[0],
        sha256=described["sha256"],
        size_bytes=files[0].stat().st_size + sum(file.stat().st_size for file in files[1:] if file.name != SHARED),
        operators={},
        disabled_optimizers=tuple(described["disabled_optimizers"]),
        style=Style.UNFUSED,
        format=Format.ONNX,
        data_files=tuple(files[1:]),
    )


def compile_plain(variant: Variant, store: Store) -> Compiled:
    """`variant` as ONNX with its weights in files beside it; the runtime rewrites the graph when it loads it."""
    inputs = [key_of(variant.graph.hex()), variant.model.sha256]
    folder = store.results("plain", inputs, lambda made: _write_plain(variant, made, store))
    described = _described(folder)
    files = [folder / name for name in described["files"]]
    return Compiled(
        variant=variant,
        path=files[0],
        sha256=tools.sha256_of(files[0]),
        size_bytes=sum(file.stat().st_size for file in files),
        operators=described["operators"],
        style=Style.PLAIN,
        format=Format.ONNX,
        data_files=tuple(files[1:]),
    )


def compile_for_chip(variant: Variant, chip: str, store: Store) -> Compiled:
    """`variant` compiled ahead of time for a Qualcomm chip, by the name that Android gives it: `SM8650`.

    Raises ConfigError for a chip that nobody knows, ToolError where Qualcomm's compiler is missing, ModelError where it
    refuses the graph.
    """
    numbers = {name: number for number, names in SOC_MODELS.items() for name in names}
    if chip not in numbers:
        raise ConfigError(f"unknown chip '{chip}' in soc-models", hint=nearest(chip, sorted(numbers)))
    inputs = [key_of(variant.graph.hex()), variant.model.sha256, version("onnxruntime"), numbers[chip]]

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            graph = scratch / "variant.onnx"
            graph.write_bytes(variant.graph)
            data_folder = models.data_folder(variant.model.path)
            info = compile_context(graph, data_folder, numbers[chip], folder / "model.onnx", scratch)
        result = {"sha256": info.sha256, "compatibility": info.compatibility}
        (folder / "result.json").write_text(json.dumps(result, sort_keys=True), encoding="utf-8")

    folder = store.results("context", inputs, make)
    path = folder / "model.onnx"
    return Compiled(
        variant=variant,
        path=path,
        sha256=_described(folder)["sha256"],
        size_bytes=path.stat().st_size,
        operators={},
        style=Style.CONTEXT,
        format=Format.ONNX,
    )


def _write_plain(variant: Variant, folder: Path, store: Store) -> None:
    path, data_files = write_external(variant.graph, models.data_folder(variant.model.path), folder, "model")
    result = {"files": [path.name, *(file.name for file in data_files)], "operators": {}}
    (folder / "result.json").write_text(json.dumps(result, sort_keys=True), encoding="utf-8")


def _convert(
    variant: Variant,
    folder: Path,
    store: Store,
    *,
    name: str,
    style: Style,
    processor: str = "",
    fixed: Compiled | None = None,
) -> None:
    """Writes the file `name` and `result.json`, which says what is in it, to `folder`."""
    output = folder / name
    with store.scratch() as scratch:
        graph = scratch / "graph.onnx"
        graph.write_bytes(variant.graph)
        job = Job(
            graph=str(graph),
            data_folder=str(models.data_folder(variant.model.path)),
            output=str(output),
            scratch=str(scratch),
            source_bytes=variant.model.size_bytes,
            is_unfused=style is Style.UNFUSED,
            shared=str(folder / SHARED) if fixed else "",
            disabled_optimizers=list(fixed.disabled_optimizers) if fixed else [],
            raw=str(_saved_on_arm(variant, graph, scratch, style)) if processor == FP16 else "",
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
        raise _refused(variant, str(answer["error"]))
    result = {**answer["ok"], "sha256": tools.sha256_of(output)}
    (folder / "result.json").write_text(json.dumps(result, sort_keys=True), encoding="utf-8")


def _saved_on_arm(variant: Variant, graph: Path, scratch: Path, style: Style) -> Path:
    """What ONNX Runtime makes of the graph on an ARM core with 16-bit arithmetic, not canonical yet.

    An unfused file for such a core is one of basic rewrites, without records: replaying them needs the same kernels.
    """
    core = Arm64(cpu=FP16_CPU)
    if core.missing():
        core.install()
    raw = scratch / "arm64.ort"
    answer = tools.run_job(
        [Path(__file__).with_name("session.py")],
        {
            "graph": str(graph),
            "data_folder": str(models.data_folder(variant.model.path)),
            "output": str(raw),
            "entries": SESSION_ENTRIES,
            "level": "all" if style is Style.FIXED else "basic",
            "disabled_optimizers": ["NchwcTransformer", NHWC],
            "provider": "CPUExecutionProvider",
        },
        scratch,
        crash=f"{variant.model.path}: ONNX Runtime for ARM crashed while converting it",
        hint='ship it in 32 bits: float16 = "float32" in the target\'s table',
        environment=core.variables(),
        command=core.command(),
    )
    if "error" in answer:
        raise _refused(variant, str(answer["error"]))
    return raw


def _refused(variant: Variant, error: str) -> ModelError:
    return ModelError(
        f"{variant.model.path}: ONNX Runtime cannot convert it: {explain(error)}",
        hint="mobpack inspect shows what the model uses",
    )


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
