"""Converts one graph in a child process: `python -m packager.compile.converter JOB.json`.

A child process, because ONNX Runtime crashes on some models, and because all its memory is released. Prints one JSON
line: the result, or ONNX Runtime's error.
"""

import errno
import json
import os
import re
import shutil
import sys
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from packager.engines.session.refusals import is_onnxruntime_error

SESSION_ENTRIES = {
    "session.save_model_format": "ORT",
    "session.qdqisint8allowed": "1",  # ARM kernels take signed int8; the default leaves S8S8 models half unfused
    "session.disable_prepacking": "1",  # packed weights are not saved, so packing would be wasted work
    "session.intra_op.allow_spinning": "0",
}

EXTERNAL_ENTRIES = {
    **SESSION_ENTRIES,
    "session.save_model_format": "ONNX",
    "session.optimized_model_external_initializers_file_name": "external.weights",
    "session.optimized_model_external_initializers_min_size_in_bytes": "1024",
}

MAPPED_ENTRIES = {
    "session.disable_prepacking": "1",
    "session.use_memory_mapped_ort_model": "1",
    "session.use_ort_model_bytes_for_initializers": "1",
}
"""Keeps weights in the mapped file: loading then costs the graph, not twice the weights."""

REPLAY_ENTRY = "session.enable_saved_runtime_optimizations"
"""Without it, ONNX Runtime 1.31 ignores the fusions that an unfused file records; 1.29 always replays them."""

FOLDING = ["ConstantFolding", "FuseFp16InitializerToFp32NodeTransformer"]
"""The graph optimizers that turn int8 and float16 weights into float32 ones."""

WORTH = 0.8
"""Share of the size that a file without folded constants has at most, to be worth having."""

RECORD_ATTEMPTS: tuple[list[str], ...] = ([], ["QDQSelectorActionTransformer"])
"""Optimizers to disable, in turn, until the records of an unfused file can be replayed. ONNX Runtime, up to 1.31.1 at
least, writes records for some quantized graphs that it refuses to replay: `Not enough produced nodes in the runtime
optimization record`."""


@dataclass(frozen=True, kw_only=True)
class ConversionJob:
    graph: str
    """file with the serialized ModelProto"""
    data_folder: str
    """folder of its external data"""
    output: str
    """path of the canonical file"""
    scratch: str
    """folder for the raw file"""
    source_bytes: int
    is_unfused: bool = False
    """basic rewrites instead of all: as ONNX, or as ORT format with the fusions as records, by the name of `output`"""
    shared: str = ""
    """the CPU's ORT-format file, beside `output`: an unfused ONNX file takes its weights from it if possible"""
    inside: Literal["nothing", "parameters", "weights"] = "nothing"
    """tensors that such a file has in its graph (shared.Inside)"""
    disabled_optimizers: list[str] = field(default_factory=list)
    """those that were disabled for `shared`"""
    generating: dict[str, Any] | None = None
    """the attention.Generating of a model whose attention is fused"""
    raw: str = ""
    """a file that was saved on another processor, whose kernels this one may lack: it is not saved again"""


@dataclass(frozen=True, kw_only=True)
class ConversionResult:
    operators: dict[str, str]
    disabled_optimizers: list[str]
    files: list[str] = field(default_factory=list)
    """names of the data files of an ONNX file"""
    attention: str = ""
    """whether attention is fused, in words; empty for a model without"""


def convert(job: ConversionJob) -> ConversionResult:
    """Converts, and writes the MACs of the nodes into the file, then a key for CoreML's cache if the graph has room for
    one. Raises ONNX Runtime's exceptions."""
    from packager.compile import cache_key, recorded_macs

    output = Path(job.output)
    result = _with_attention(job) if job.generating else _converted(job)
    recorded_macs.write_macs(output)
    if cache_key.has_room(Path(job.graph).read_bytes()):
        cache_key.write_key(output, [output.with_name(name) for name in result.files])
    return result


def _with_attention(job: ConversionJob) -> ConversionResult:
    """Converts with fused attention, if the model's can be."""
    from packager.compile.attention import Generating, drop_later_attributes, fused

    graph, refusal = fused(Path(job.graph).read_bytes(), Path(job.data_folder), Generating(**(job.generating or {})))
    rewritten = Path(job.scratch) / "attention.onnx"
    rewritten.write_bytes(graph)
    words = f"attention is not fused: {refusal}" if refusal else "attention is fused"
    result = _converted(replace(job, graph=str(rewritten)))
    output = Path(job.output)
    if not refusal and output.suffix == ".ort":
        drop_later_attributes(output)
        load_again(output)
    return replace(result, attention=words)


def _converted(job: ConversionJob) -> ConversionResult:
    """Converts, reduces growth, writes canonical bytes and loads them again."""
    from packager.compile.canonical import canonicalize
    from packager.compile.operators import required_operators

    output = Path(job.output)
    if job.raw and output.suffix == ".ort":
        canonicalize(Path(job.raw), output)
        refuse_unheld(output)
        return ConversionResult(operators=dict(required_operators(output)), disabled_optimizers=[])
    if output.suffix == ".onnx":
        return _write_onnx(job)
    if job.is_unfused:
        return _convert_unfused(job)
    raw, disabled = _smallest(job, {}, [])
    canonicalize(raw, output)
    raw.unlink()
    refuse_unheld(output)
    load_again(output)
    return ConversionResult(operators=dict(required_operators(output)), disabled_optimizers=disabled)


def _write_onnx(job: ConversionJob) -> ConversionResult:
    """The graph after basic or all rewrites, as ONNX over the weights of an ORT-format file, or over its own."""
    import onnxruntime

    from packager.compile import inserted_casts
    from packager.compile.shared import share

    output, shared = Path(job.output), Path(job.shared) if job.shared else None
    raw = Path(job.raw) if job.raw else _save_onnx(job)
    clean = raw.with_name("clean.onnx")
    sources = [clean, raw] if inserted_casts.remove(raw, clean) else [raw]
    for source in sources:
        rest = share(source, shared, output, inside=job.inside)
        try:
            onnxruntime.InferenceSession(str(output), session_options({}), providers=["CPUExecutionProvider"])
            break
        except Exception as error:  # a cast that was merged with one of the model's cannot be removed alone
            if source is raw or not is_onnxruntime_error(error):
                raise
    files = [file.name for file in (shared, rest) if file]
    return ConversionResult(operators={}, disabled_optimizers=job.disabled_optimizers, files=files)


def _save_onnx(job: ConversionJob) -> Path:
    import onnxruntime

    levels, disabled = onnxruntime.GraphOptimizationLevel, job.disabled_optimizers
    if not job.is_unfused:
        disabled = ["NchwcTransformer", *(name for name in disabled if name in FOLDING)]
    raw = Path(job.scratch) / "rewritten.onnx"
    folder = {"session.model_external_initializers_file_folder_path": job.data_folder}
    options = session_options({**EXTERNAL_ENTRIES, **folder})
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC if job.is_unfused else levels.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(raw)
    onnxruntime.InferenceSession(
        _content(job), options, providers=["CPUExecutionProvider"], disabled_optimizers=disabled
    )
    return raw


def _convert_unfused(job: ConversionJob) -> ConversionResult:
    """The first attempt whose records can be replayed; its operators are those before and after the replay."""
    from packager.compile.canonical import canonicalize
    from packager.compile.operators import required_operators, union

    output, replayed = Path(job.output), Path(job.scratch) / "replayed.ort"
    for dropped in RECORD_ATTEMPTS:
        raw, disabled = _smallest(job, {"optimization.minimal_build_optimizations": "save"}, dropped)
        canonicalize(raw, output)
        raw.unlink()
        refuse_unheld(output)
        try:
            _replay(output, replayed)
        except Exception as error:
            if not is_onnxruntime_error(error) or "runtime optimization record" not in str(error):
                raise
            refusal = error
            continue
        operators = union([required_operators(output), required_operators(replayed)])
        return ConversionResult(operators=dict(operators), disabled_optimizers=disabled)
    raise refusal


def _replay(source: Path, destination: Path) -> None:
    """Loads an unfused file as a device does when no provider takes a node, and saves the result."""
    import onnxruntime

    options = session_options({"session.save_model_format": "ORT", REPLAY_ENTRY: "1", **MAPPED_ENTRIES})
    options.optimized_model_filepath = str(destination)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def _smallest(job: ConversionJob, entries: dict[str, str], dropped: list[str]) -> tuple[Path, list[str]]:
    """The raw ORT file, and the optimizers disabled for it.

    Constant folding evaluates DequantizeLinear and Cast on int8 and float16 weights and stores the result as float32. A
    file that grew is converted again without it, and the smaller one is kept; not where the constants are too small for
    that, and the file grew by the description of its nodes.
    """
    raw = _save(job, "raw.ort", entries, dropped)
    size = raw.stat().st_size
    if not has_grown(job.source_bytes, size) or not has_large_constants(raw, size):
        return raw, dropped
    unfolded = _save(job, "unfolded.ort", entries, [*dropped, *FOLDING])
    if unfolded.stat().st_size < WORTH * size:
        return unfolded, [*dropped, *FOLDING]
    return raw, dropped


def has_grown(source_bytes: int, converted_bytes: int) -> bool:
    """Whether the file grew by more than a quarter and 64 KiB: less is the graph's own description, which is larger in
    ORT format."""
    return converted_bytes > 1.25 * source_bytes and converted_bytes > source_bytes + 65536


def has_large_constants(path: Path, size_bytes: int) -> bool:
    """Whether a file without the constants of the one at `path` could be as much smaller as it must."""
    from packager.compile.reader import constant_bytes

    found = constant_bytes(path)
    return found is None or size_bytes - found < WORTH * size_bytes


def _save(job: ConversionJob, name: str, entries: dict[str, str], disabled: list[str]) -> Path:
    import onnxruntime

    path = Path(job.scratch) / name
    folder = {"session.model_external_initializers_file_folder_path": job.data_folder}
    options = session_options({**SESSION_ENTRIES, **entries, **folder})
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(path)
    # The NCHWc layout is for x86 only; phones have no kernels for it.
    session = onnxruntime.InferenceSession(
        _content(job),
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["NchwcTransformer", *disabled],
    )
    del session
    return path


def _content(job: ConversionJob) -> bytes:
    """The graph, with room for the MACs of its nodes."""
    from packager.compile.recorded_macs import with_room

    return with_room(Path(job.graph).read_bytes())


class UnheldError(Exception):
    """The graph has something, named in words, that ORT format cannot hold."""


NO_TYPE = re.compile(r"We do not support type \[(\d+)\]")
"""ONNX Runtime's refusal of values that are neither tensors, sequences nor maps (SaveTypeInfoOrtFormat)."""
KINDS = {"8": "sparse tensors", "9": "optional values"}
"""Fields of TypeProto in onnx.proto, as ONNX Runtime names them in that refusal."""
UNVERIFIED = "ORT model verification failed"
"""ONNX Runtime's refusal of a file that it has written itself: FlatBuffers' verifier takes up to 1,000,000 tables (some
ten for each node), and 64 inside each other (three for each graph in a graph)."""
IN_MEMORY = "*/_ORT_MEM_ADDR_/*"
"""Where ONNX Runtime, up to 1.31.1 at least, says that the tensors of attributes are when it opens ORT format as apps
do (MAPPED_ENTRIES): kernels that read such attributes, as TreeEnsemble does, then look for a file of that name."""


def refuse_unheld(path: Path) -> None:
    """Raises UnheldError: ONNX Runtime writes element types that ORT format lacks, and cannot read them back."""
    from packager.compile.reader import unheld

    if what := unheld(path):
        raise UnheldError(what)


def load_again(path: Path) -> None:
    """Loads a written file: it may still fail."""
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


def answer(job: ConversionJob) -> dict[str, object]:
    """Result of `job` as JSON: `ok`, `unheld` with what ORT format cannot hold, or ONNX Runtime's `error`."""
    try:
        return {"ok": asdict(convert(job))}
    except UnheldError as error:
        return {"unheld": str(error)}
    except Exception as error:  # the parent raises ONNX Runtime's
        if not is_onnxruntime_error(error):
            raise
        if "Failed to save" in str(error) and shutil.disk_usage(job.scratch).free < 2 * job.source_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error  # the message says no more than that
        if IN_MEMORY in str(error):
            return {"unheld": "tensors in the attributes of nodes"}
        if UNVERIFIED in str(error):
            return {"unheld": "a number of nodes, or of graphs inside each other,"}
        no_type = NO_TYPE.search(str(error))
        return {"unheld": KINDS.get(no_type[1], "values")} if no_type else {"error": str(error)}


def main() -> None:
    job = ConversionJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    sys.stdout.write(json.dumps(answer(job)) + "\n")


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # takes 20 ms less than to free what the system frees anyway
