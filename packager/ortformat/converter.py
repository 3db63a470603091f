"""Converts one graph in a process of its own: `python -m packager.ortformat.converter JOB.json`.

A process of its own, because ONNX Runtime takes its process down with it on some models, and because its memory is
given back whole. Prints one JSON line: what was made, or ONNX Runtime's error.
"""

import errno
import json
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SESSION_ENTRIES = {
    "session.save_model_format": "ORT",
    "session.qdqisint8allowed": "1",  # ARM kernels take signed int8; the default leaves S8S8 models half unfused
    "session.disable_prepacking": "1",  # packed weights are not saved, so packing is work thrown away
    "session.intra_op.allow_spinning": "0",
}

MAPPED_ENTRIES = {
    "session.disable_prepacking": "1",
    "session.use_memory_mapped_ort_model": "1",
    "session.use_ort_model_bytes_for_initializers": "1",
}
"""Weights stay in the mapped file: loading costs what the graph costs, not twice the weights."""

FOLDING = ["ConstantFolding", "FuseFp16InitializerToFp32NodeTransformer"]
"""The graph optimizers that turn int8 and float16 weights into float32 ones."""


@dataclass(frozen=True, kw_only=True)
class Job:
    graph: str
    """file with the serialized ModelProto"""
    data_folder: str
    """folder of its external data"""
    output: str
    """where the canonical file goes"""
    scratch: str
    """folder for the raw file"""
    source_bytes: int


@dataclass(frozen=True, kw_only=True)
class Result:
    operators: dict[str, str]
    disabled_optimizers: list[str]


def convert(job: Job) -> Result:
    """Converts, mends growth, writes canonical bytes and loads them again. Raises what ONNX Runtime raises."""
    from packager.ortformat.canonical import canonicalize
    from packager.ortformat.operators import required_operators

    raw, disabled = _smallest(job)
    canonicalize(raw, Path(job.output))
    raw.unlink()
    _load_again(Path(job.output))
    return Result(operators=dict(required_operators(Path(job.output))), disabled_optimizers=disabled)


def _smallest(job: Job) -> tuple[Path, list[str]]:
    """The raw ORT file, and the optimizers left out for it.

    Constant folding computes what DequantizeLinear and Cast make of int8 and float16 weights and stores the result
    as float32. A file that grew is converted again without it and the smaller one is kept.
    """
    raw = _save(job, "raw.ort", [])
    size = raw.stat().st_size
    if not has_grown(job.source_bytes, size):
        return raw, []
    unfolded = _save(job, "unfolded.ort", FOLDING)
    if unfolded.stat().st_size < 0.8 * size:
        return unfolded, FOLDING
    return raw, []


def has_grown(source_bytes: int, converted_bytes: int) -> bool:
    """More than a quarter and 64 KiB: less is the graph's own description, which ORT format keeps in more words."""
    return converted_bytes > 1.25 * source_bytes and converted_bytes > source_bytes + 65536


def _save(job: Job, name: str, disabled: list[str]) -> Path:
    import onnxruntime

    path = Path(job.scratch) / name
    options = session_options(
        {**SESSION_ENTRIES, "session.model_external_initializers_file_folder_path": job.data_folder}
    )
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(path)
    # The NCHWc layout is for x86 alone; phones have no kernels for it.
    session = onnxruntime.InferenceSession(
        Path(job.graph).read_bytes(),
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["NchwcTransformer", *disabled],
    )
    del session
    return path


def _load_again(path: Path) -> None:
    """A file that was written can still be one that does not load (int4 tensors in it, for example)."""
    import onnxruntime

    onnxruntime.InferenceSession(str(path), session_options(MAPPED_ENTRIES), providers=["CPUExecutionProvider"])


def session_options(entries: dict[str, str]) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    return options


def main() -> int:
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    answer: dict[str, object]
    try:
        answer = {"ok": asdict(convert(job))}
    except Exception as error:  # onnxruntime's exceptions share no base but this; the parent raises them
        if not type(error).__module__.startswith("onnxruntime"):
            raise
        if "Failed to save" in str(error) and shutil.disk_usage(job.scratch).free < 2 * job.source_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error  # all it says is that it could not
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
