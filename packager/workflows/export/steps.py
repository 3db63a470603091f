"""The steps of `mobpack export`, top to bottom."""

from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.core.parsing import Json
from packager.files.atomic import atomic_files
from packager.files.hashes import sha256_of
from packager.files.processes import limits
from packager.files.processes.channel import ChildProgram, CrashError, raise_failure
from packager.files.processes.inherited import users_code
from packager.files.store import Store
from packager.graph.traversal import taken_by
from packager.models.opsets import max_opset
from packager.workflows.conversion import comparison, graph, writing
from packager.workflows.conversion.comparison import OutputResult, RecordedOutputs
from packager.workflows.conversion.writing import WrittenModel
from packager.workflows.export.child import GRAPH
from packager.workflows.export.request import Axis, ExportJob, ExportRequest
from packager.workflows.gates import Rules, refuse_warnings

if TYPE_CHECKING:
    from onnx import ModelProto

INSTALL = 'pip install "mobpack[torch]"'


@dataclass(frozen=True, kw_only=True)
class ExportResult(WrittenModel):
    torch: str
    """version of PyTorch"""


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


def run(request: ExportRequest, store: Store, console: Console) -> ExportResult:
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
            refuse_warnings(Rules(strict=request.is_strict), console)
            size_bytes, sha256 = sum(file.stat().st_size for file in written), sha256_of(written[0])
            if request.keep:
                writing.keep(scratch, request.keep)
    return ExportResult(
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


def refuse(request: ExportRequest) -> None:
    """Raises an error for a request that cannot succeed, before PyTorch is started."""
    writing.refuse_output(request.output)
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


def export(request: ExportRequest, scratch: Path, console: Console) -> Exported:
    """Exports and records in a process of its own. Raises the error that it reports, or ModelError if it crashes."""
    answer: Json = {}
    job = asdict(ExportJob.of(request, scratch))
    module = ["-m", "packager.workflows.export.child"]
    with ChildProgram(module, job, scratch, inherits=users_code(), is_limited=True) as program:
        program.close_stdin()
        try:
            for answer in program.lines(limits.seconds(limits.SLOW)):
                if "warn" in answer:
                    console.warn(answer["warn"])
        except CrashError as error:
            raise ModelError(
                f"PyTorch crashed while exporting {request.factory} ({error.signal})",
                hint=error.hint("run the module in Python without mobpack"),
            ) from error
        except limits.OverTimeError as error:
            raise error.as_error(f"exporting {request.factory}") from error
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


def read(scratch: Path, exported: Exported, request: ExportRequest, console: Console) -> "ModelProto":
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
    path: Path, exported: Exported, scratch: Path, request: ExportRequest, console: Console
) -> tuple[OutputResult, ...]:
    """Compares every output. Raises ParityError for one over tolerance, unless forced."""
    recorded = recorded_in(scratch, exported)
    errors = comparison.compare(
        path, exported.outputs, recorded, scratch / "gate", rtol=request.rtol, atol=request.atol
    )
    refusal = comparison.refusal(errors, request.output, recorded)
    if refusal and not request.is_forced:
        raise refusal
    for each in errors:
        if each.failure:
            console.warn(f"output '{each.name}' on {each.failure}; the model was written because of --force")
    for warning in comparison.uncompared(errors):
        console.warn(f"{warning}; give the factory other example inputs")
    return errors


def recorded_in(folder: Path, exported: Exported) -> RecordedOutputs:
    return RecordedOutputs(
        folder=folder,
        framework="PyTorch",
        words=comparison.in_words(exported.sizes, "the example inputs"),
        hint_rejected="look for code that fixes a size in the graph: int(x.shape[0]), view(4, -1), Python loops",
        hint_different="the example fixes branches and loops over sizes; otherwise raise --rtol and --atol, or use "
        "--force",
    )


def as_json(result: ExportResult) -> dict[str, object]:
    """The result for `--json`."""
    return result.as_json({"torch": result.torch})
