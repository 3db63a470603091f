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
    """What was written, and how near it is to PyTorch."""

    files: tuple[Path, ...]
    """the model: one, or two for 2 GiB and more"""
    size_bytes: int
    sha256: str
    """of the first file"""
    opset: int
    torch: str
    """its version"""
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    sizes: tuple[dict[str, int], ...]
    """of the dynamic dimensions, for each sample that was compared"""
    errors: tuple[OutputResult, ...]


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What the program that has PyTorch says it has made."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    axes: tuple[Axis, ...]
    sizes: tuple[dict[str, int], ...]
    torch: str
    weight_bytes: int
    shared: tuple[str, ...]
    """parameters that several layers have in common"""
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """of every output, for each sample"""


def run(request: Request, store: Store, console: Console) -> Result:
    """Exports, compares, and writes: all of it, or nothing and a MobpackError."""
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
    """Raises for what cannot become a model, before PyTorch is started."""
    output = request.output
    if output.suffix != ".onnx":
        raise ConfigError(f"{output}: the result is ONNX", hint=f"name it {output.stem}.onnx")
    if output.is_dir():
        raise ConfigError(f"{output} is a folder", hint="give the name of a file")
    folder = next(parent for parent in output.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise ToolError(f"cannot write to {folder}", hint="check its permissions, or give another --output")
    if ":" not in request.factory:
        raise ConfigError(f"{request.factory}: expected module:factory", hint="for example: mobpack export nets:make")
    if request.opset > max_opset():
        raise ConfigError(
            f"--opset {request.opset} is newer than ONNX Runtime knows ({max_opset()})",
            hint=f"give {max_opset()} or less; without --opset it is one that all providers know",
        )
    if request.sample_count < 1:
        raise ConfigError(f"--samples {request.sample_count}: at least the example is compared", hint="give 1 or more")


def refuse_missing() -> None:
    """Raises ToolError where PyTorch, or what it needs to write ONNX, is not installed."""
    for module, name in (("torch", "PyTorch"), ("onnxscript", "onnxscript, which PyTorch writes ONNX with,")):
        if find_spec(module) is None:
            raise ToolError(f"{name} is not installed in this Python", hint=f"run: {INSTALL}")


def export(request: Request, scratch: Path, console: Console) -> Exported:
    """Has a program of its own export and record. Raises what that says has failed, ModelError when it crashes."""
    answer: dict[str, Any] = {}
    with Program(["-m", "packager.workflows.export.child"], asdict(Job.of(request, scratch)), scratch) as program:
        program.close_stdin()
        try:
            for answer in program.lines():
                if "warn" in answer:
                    console.warn(answer["warn"])
        except CrashError as error:
            raise ModelError(
                f"PyTorch crashed while it exported {request.factory} ({error.signal})",
                hint="run the module in Python alone; SIGKILL mostly means that there was not enough memory",
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
    """The graph as it will be written. Raises ModelError when it is not what was asked for."""
    proto = graph.read(scratch / GRAPH)
    graph.refuse_other_opset(proto, request.opset)
    refuse_fixed(proto, exported, console)
    graph.mend_shapes(proto, exported.sizes, exported.shapes)
    warn_of_copies(proto, exported, console)
    warn_of_unused(proto, console)
    return proto


def refuse_fixed(proto: "ModelProto", exported: Exported, console: Console) -> None:
    """Raises ModelError for a dynamic dimension that came out as a constant; warns of two that became one."""
    ports = {port.name: port for port in graph.ports(proto.graph.input)}
    for axis in exported.axes:
        made = ports[axis.input].dimensions[axis.axis]
        if isinstance(made, int):
            raise ModelError(
                f"'{axis.name}' (axis {axis.axis} of input '{axis.input}') is always {made} in the graph: "
                "something in forward fits that size alone",
                hint="Python loops over it, int(x.shape[0]) and view(4, -1) do that; or leave --dynamic out",
            )
        if made != axis.name:
            console.warn(f"'{axis.name}' (axis {axis.axis} of input '{axis.input}') must always equal '{made}'")


def warn_of_copies(proto: "ModelProto", exported: Exported, console: Console) -> None:
    """Weights that layers share may be there once for each of them: transposed, for one."""
    weight_bytes = graph.weight_bytes(proto)
    if exported.shared and weight_bytes > 1.05 * exported.weight_bytes:
        console.warn(
            f"layers share {', '.join(exported.shared)}, and PyTorch has written copies: the weights are "
            f"{weight_bytes / exported.weight_bytes:.2f} times the module's"
        )


def warn_of_unused(proto: "ModelProto", console: Console) -> None:
    used = {name for node in proto.graph.node for name in taken_by(node)}
    for each in proto.graph.input:
        if each.name not in used:
            console.warn(f"input '{each.name}' is used nowhere in the graph: leave it out of the factory's inputs")


def compare(
    path: Path, exported: Exported, scratch: Path, request: Request, console: Console
) -> tuple[OutputResult, ...]:
    """Raises ParityError when an output is over tolerance, unless forced."""
    recorded = Recorded(folder=scratch, sizes=exported.sizes)
    errors = gate.compare(path, exported.outputs, recorded, scratch / "gate", rtol=request.rtol, atol=request.atol)
    refusal = gate.refusal(errors, request.output)
    if refusal and not request.is_forced:
        raise refusal
    for each in errors:
        if each.failure:
            console.warn(f"output '{each.name}' on {each.failure}; written all the same, as --force asks")
    return errors


def keep(scratch: Path, folder: Path) -> None:
    """Copies samples and PyTorch's outputs to the folders that `[parity] samples` and `recorded` name."""
    for kind in ("samples", "recorded"):
        with atomic_files(folder / kind) as unfinished:
            for file in sorted((scratch / kind).iterdir()):
                with file.open("rb") as content, (unfinished / file.name).open("wb") as copy:
                    copy_rest(content, copy)


def as_json(result: Result) -> dict[str, Any]:
    """For programs."""
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
