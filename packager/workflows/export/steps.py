"""The steps of `mobpack export`, top to bottom."""

import os
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.files.atomic import atomic_files, copy_rest
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.graph.traversal import taken_by
from packager.models.opsets import max_opset
from packager.processes.channel import CrashError, Program, raise_failure
from packager.workflows.export import gate, graph
from packager.workflows.export.child import GRAPH
from packager.workflows.export.gate import OutputResult, Recorded
from packager.workflows.export.graph import Port
from packager.workflows.export.request import Axis, Job, Request

if TYPE_CHECKING:
    from onnx import ModelProto

INSTALL = 'pip install "mobpack[torch]"'


@dataclass(frozen=True, kw_only=True)
class Result:
    """Files that were written, and their differences from PyTorch."""

    files: tuple[Path, ...]
    """the model: one file, or two from 2 GiB on"""
    size_bytes: int
    sha256: str
    """sha256 of the first file"""
    opset: int
    torch: str
    """version of PyTorch"""
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    sizes: tuple[dict[str, int], ...]
    """sizes of the dynamic dimensions, for each compared sample"""
    errors: tuple[OutputResult, ...]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """Result of the PyTorch process."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axes: tuple[Axis, ...]
    sizes: tuple[dict[str, int], ...]
    torch: str
    weight_bytes: int
    shared: tuple[str, ...]
    """parameters shared by several layers"""
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """shapes of every output, for each sample"""


def run(request: Request, store: Store, console: Console) -> Result:
    """Exports, compares and writes the model. On failure, writes nothing and raises a MobpackError."""
    refuse(request)
    refuse_missing()
    with store.scratch() as scratch:
        with console.step(f"export {request.factory}"):
            exported = export(request, scratch, console)
            proto = read(scratch, exported, request, console)
        with atomic_files(request.output.absolute().parent) as unfinished:
            written = graph.write(proto, scratch, unfinished / request.output.name)
            with console.step(f"compare with PyTorch {exported.torch}"):
                errors = compare(written[0], exported, scratch, request, console)
            size_bytes, sha256 = sum(file.stat().st_size for file in written), sha256_of(written[0])
            if request.keep:
                keep(scratch, request.keep)
    return Result(
        files=tuple(request.output.with_name(file.name) for file in written),
        size_bytes=size_bytes,
        sha256=sha256,
        opset=request.opset,
        torch=exported.torch,
        inputs=graph.ports(proto.graph.input),
        outputs=graph.ports(proto.graph.output),
        sizes=exported.sizes,
        errors=errors,
    )


def refuse(request: Request) -> None:
    """Raises an error for a request that cannot succeed, before PyTorch is started."""
    output = request.output
    if output.suffix != ".onnx":
        raise ConfigError(f"{output}: the output must be an .onnx file", hint=f"name it {output.stem}.onnx")
    if output.is_dir():
        raise ConfigError(f"{output} is a folder", hint="give a file name")
    folder = next(parent for parent in output.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise ToolError(f"cannot write to {folder}", hint="check its permissions, or choose another --output")
    if ":" not in request.factory:
        raise ConfigError(f"{request.factory}: expected module:factory", hint="for example: mobpack export nets:make")
    if request.opset > max_opset():
        raise ConfigError(
            f"--opset {request.opset} is newer than ONNX Runtime supports ({max_opset()})",
            hint=f"use {max_opset()} or less, or omit --opset for one that all providers support",
        )
    if request.sample_count < 1:
        raise ConfigError(
            f"--samples {request.sample_count}: at least one sample is needed, the example", hint="use 1 or more"
        )


def refuse_missing() -> None:
    """Raises ToolError if PyTorch, or a package that it needs to write ONNX, is not installed."""
    for module, name in (("torch", "PyTorch"), ("onnxscript", "onnxscript, which PyTorch writes ONNX with,")):
        if find_spec(module) is None:
            raise ToolError(f"{name} is not installed in this Python", hint=f"run: {INSTALL}")


def export(request: Request, scratch: Path, console: Console) -> Exported:
    """Exports and records in a process of its own. Raises the error that it reports, or ModelError if it crashes."""
    answer: dict[str, Any] = {}
    with Program(["-m", "packager.workflows.export.child"], asdict(Job.of(request, scratch)), scratch) as program:
        program.close_stdin()
        try:
            for answer in program.lines():
                if "warn" in answer:
                    console.warn(answer["warn"])
        except CrashError as error:
            raise ModelError(
                f"PyTorch crashed while exporting {request.factory} ({error.signal})",
                hint="run the module in Python without mobpack; SIGKILL usually means that memory ran out",
            ) from error
    raise_failure(answer)
    return Exported(
        inputs=tuple(answer["inputs"]),
        outputs=tuple(answer["outputs"]),
        axes=tuple(Axis(**each) for each in answer["axes"]),
        sizes=tuple(answer["sizes"]),
        torch=answer["torch"],
        weight_bytes=answer["weight_bytes"],
        shared=tuple(answer["shared"]),
        shapes=tuple(tuple(map(tuple, shapes)) for shapes in answer["shapes"]),
    )


def read(scratch: Path, exported: Exported, request: Request, console: Console) -> "ModelProto":
    """The graph to write. Raises ModelError if it does not match the request."""
    proto = graph.read(scratch / GRAPH)
    graph.refuse_other_opset(proto, request.opset)
    refuse_fixed(proto, exported, console)
    graph.mend_shapes(proto, exported.sizes, exported.shapes)
    warn_of_copies(proto, exported, console)
    warn_of_unused(proto, console)
    return proto


def refuse_fixed(proto: "ModelProto", exported: Exported, console: Console) -> None:
    """Raises ModelError for a dynamic dimension that became a constant; warns about two that became one."""
    ports = {port.name: port for port in graph.ports(proto.graph.input)}
    for axis in exported.axes:
        made = ports[axis.input].dimensions[axis.axis]
        if isinstance(made, int):
            raise ModelError(
                f"'{axis.name}' (axis {axis.axis} of input '{axis.input}') is fixed to {made} in the graph: "
                "code in forward works with that size only",
                hint="avoid Python loops over it, int(x.shape[0]) and view(4, -1); or omit --dynamic",
            )
        if made != axis.name:
            console.warn(f"'{axis.name}' (axis {axis.axis} of input '{axis.input}') must always equal '{made}'")


def warn_of_copies(proto: "ModelProto", exported: Exported, console: Console) -> None:
    """Warns if PyTorch wrote a copy of shared weights for each layer, for example transposed."""
    weight_bytes = graph.weight_bytes(proto)
    if exported.shared and weight_bytes > 1.05 * exported.weight_bytes:
        console.warn(
            f"layers share {', '.join(exported.shared)}, but PyTorch wrote copies: the weights are "
            f"{weight_bytes / exported.weight_bytes:.2f} times as large as the module's"
        )


def warn_of_unused(proto: "ModelProto", console: Console) -> None:
    used = {name for node in proto.graph.node for name in taken_by(node)}
    for each in proto.graph.input:
        if each.name not in used:
            console.warn(f"input '{each.name}' is unused in the graph: remove it from the factory's inputs")


def compare(
    path: Path, exported: Exported, scratch: Path, request: Request, console: Console
) -> tuple[OutputResult, ...]:
    """Compares every output. Raises ParityError for one over tolerance, unless forced."""
    recorded = Recorded(folder=scratch, sizes=exported.sizes)
    errors = gate.compare(path, exported.outputs, recorded, scratch / "gate", rtol=request.rtol, atol=request.atol)
    refusal = gate.refusal(errors, request.output)
    if refusal and not request.is_forced:
        raise refusal
    for each in errors:
        if each.failure:
            console.warn(f"output '{each.name}' on {each.failure}; the model was written because of --force")
    return errors


def keep(scratch: Path, folder: Path) -> None:
    """Copies samples and PyTorch's outputs to the folders for `[parity] samples` and `recorded`."""
    for kind in ("samples", "recorded"):
        with atomic_files(folder / kind) as unfinished:
            for file in sorted((scratch / kind).iterdir()):
                with file.open("rb") as content, (unfinished / file.name).open("wb") as copy:
                    copy_rest(content, copy)


def as_json(result: Result) -> dict[str, Any]:
    """The result for `--json`."""
    return {
        "files": [str(file) for file in result.files],
        "size-bytes": result.size_bytes,
        "sha256": result.sha256,
        "opset": result.opset,
        "torch": result.torch,
        "inputs": [_port(each) for each in result.inputs],
        "outputs": [_port(each) for each in result.outputs],
        "samples": list(result.sizes),
        "errors": [
            {"output": each.name, "max-abs-error": each.max_abs_error, "share-of-tolerance": _finite(each.max_share)}
            for each in result.errors
        ],
    }


def _port(port: Port) -> dict[str, Any]:
    return {"name": port.name, "type": port.element, "shape": list(port.dimensions)}


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return None if number == float("inf") else number
