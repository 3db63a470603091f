"""The steps of `mobpack import`, top to bottom."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError
from packager.core.user_functions import is_function
from packager.files.atomic import atomic_files
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.graph.traversal import all_nodes
from packager.importers import Importer, ImportSource
from packager.models.load import IMPORTED
from packager.models.renaming import rename
from packager.workflows.conversion import comparison, graph, writing
from packager.workflows.conversion.comparison import OutputResult, RecordedOutputs
from packager.workflows.conversion.writing import WrittenModel
from packager.workflows.gates import Rules, refuse_warnings
from packager.workflows.importing import layout, starting
from packager.workflows.importing.child import GRAPH
from packager.workflows.importing.hub.naming import PREFIXES
from packager.workflows.importing.layout import Taken
from packager.workflows.importing.request import ImportRequest
from packager.workflows.importing.starting import Answer

if TYPE_CHECKING:
    from onnx import ModelProto


@dataclass(frozen=True, kw_only=True)
class ImportResult(WrittenModel):
    importer: str
    origin: str
    """in one sentence"""
    framework: str
    """name and version"""
    converter: str
    """name and version"""


def run(request: ImportRequest, store: Store, console: Console) -> ImportResult:
    """Imports, compares and writes the model. On failure, writes nothing and raises a MobpackError."""
    writing.refuse_output(request.output)
    source = source_of(request)
    importer = starting.importer_of(source, request.importer)
    refuse(importer, source, request)
    with store.scratch() as scratch:
        with console.step(f"convert {source.text}"):
            answer = starting.run(importer, source, request, scratch, console)
            proto = read(scratch, answer)
            freed = freed_layout(proto, scratch, request, console)
        with console.step(f"compare with {answer.framework}"):
            errors = compare(proto, answer, scratch, request, console)
        refuse_warnings(Rules(strict=request.is_strict), console)
        origin = said(source, answer, errors, freed)
        proto.metadata_props.add(key=IMPORTED, value=origin)
        with atomic_files(request.output.absolute().parent) as unfinished:
            written = graph.write(proto, scratch, unfinished / request.output.name)
            size_bytes, sha256 = sum(file.stat().st_size for file in written), sha256_of(written[0])
            if request.keep:
                writing.keep(scratch, request.keep)
    return ImportResult(
        files=tuple(request.output.with_name(file.name) for file in written),
        size_bytes=size_bytes,
        sha256=sha256,
        opset=graph.opset_of(proto),
        importer=importer.NAME,
        origin=origin,
        framework=answer.framework,
        converter=answer.converter,
        inputs=graph.ports(proto.graph.input),
        outputs=graph.ports(proto.graph.output),
        sizes=answer.sizes,
        errors=errors,
    )


def source_of(request: ImportRequest) -> ImportSource:
    """Raises ConfigError for a name that the system cannot have."""
    if request.fetched:
        return ImportSource(text=request.source, path=request.fetched)
    path = (request.folder / request.source).absolute()
    try:
        is_there = path.exists()
    except OSError as error:
        raise ConfigError(f"{request.source[:80]}: {error.strerror}", hint="check the path") from error
    if is_function(request.source) and not is_there:
        path = request.folder.absolute()
    return ImportSource(text=request.source, path=path)


def refuse(importer: Importer, source: ImportSource, request: ImportRequest) -> None:
    """Raises ConfigError for a request that cannot succeed, or that would run code that nobody has allowed."""
    if not source.path.exists():
        raise ConfigError(f"{source.text}: no such file or folder", hint="check the path")
    if not source.path.is_file() and not source.path.is_dir():
        raise ConfigError(f"{source.text}: a pipe, a socket or a device, not a file or folder", hint="check the path")
    if request.sample_count < 1:
        raise ConfigError(f"--count {request.sample_count}: at least one is needed", hint="use 1 or more")
    if request.samples and not (request.folder / request.samples).exists():
        raise ConfigError(f"--samples {request.samples}: no such file or folder", hint="check the path")
    if importer.RUNS_CODE and not request.is_code_allowed:
        raise ConfigError(
            f"{source.text}: loading it with {importer.FRAMEWORK} can run any code that is in it",
            hint="if you trust where it comes from, add --allow-code",
        )


def read(scratch: Path, answer: Answer) -> "ModelProto":
    """The graph with the names and shapes of the framework. Raises ModelError if the converter left an input out."""
    proto = graph.read(scratch / GRAPH)
    refuse_unknown_operators(proto, answer)
    names = {name: wanted for name, wanted in answer.names.items() if name != wanted}
    rename(proto, {name: wanted for name, wanted in names.items() if wanted}, "the converted model")
    refuse_other_ports(proto, answer)
    graph.name_inputs(proto, {each.name: each.shape for each in answer.inputs})
    graph.name_outputs(proto, answer.sizes, answer.shapes)
    return proto


def refuse_unknown_operators(proto: "ModelProto", answer: Answer) -> None:
    """Raises ModelError for operators of the framework that the converter has written as they are."""
    from onnx import defs

    own = {(function.domain, function.name) for function in proto.functions}
    used = {(node.domain, node.op_type) for node in all_nodes(proto)} - own
    if unknown := sorted(name for domain, name in used if domain in ("", "ai.onnx") and not defs.has(name)):
        raise ModelError(
            f"{answer.converter} has no ONNX operator for {', '.join(unknown)}",
            hint="replace the layer that computes it with one that is made of common operators",
        )


def refuse_other_ports(proto: "ModelProto", answer: Answer) -> None:
    """Raises ModelError if the graph does not have the model's inputs and outputs."""
    found = {each.name for each in proto.graph.input}
    for each in answer.inputs:
        if each.name not in found:
            raise ModelError(
                f"the converter left out the input '{each.name}': no output depends on it",
                hint="remove it from the model before you save it",
            )
    outputs = [each.name for each in proto.graph.output]
    if outputs != list(answer.outputs):
        raise ModelError(
            f"the converter wrote the outputs {', '.join(outputs)}; the model has {', '.join(answer.outputs)}",
            hint="save it with one tensor for each output, under a name of its own",
        )


def freed_layout(proto: "ModelProto", scratch: Path, request: ImportRequest, console: Console) -> Taken:
    """Takes channels last off the border of the graph, and off the samples, unless the request keeps it."""
    if request.is_layout_kept:
        layout.remove_pairs(proto.graph)
        return Taken()
    freed = layout.take_off(proto)
    layout.rearrange(scratch, freed)
    if freed.names:
        console.say(f"  channels come first now, in the graph and for apps: {', '.join(freed.names)} (--keep-layout)")
    return freed


def said(source: ImportSource, answer: Answer, errors: Sequence[OutputResult], freed: Taken) -> str:
    """Origin of the model in one sentence, for the file and the manifest."""
    worst = max((each.max_abs_error for each in errors), default=0.0)
    layouts = f"; channels first: {', '.join(freed.names)}" if freed.names else ""
    name = source.text if source.text.startswith(PREFIXES) else source.path.name
    return (
        f"{name}, imported from {answer.framework} with {answer.converter}; compared on "
        f"{len(answer.sizes)} samples, largest error {worst:.2g}{layouts}"
    )


def compare(
    proto: "ModelProto", answer: Answer, scratch: Path, request: ImportRequest, console: Console
) -> tuple[OutputResult, ...]:
    """Compares every output. Raises ParityError for one over tolerance, unless forced."""
    folder = scratch / "compared"
    folder.mkdir()
    [path, *_] = graph.write(proto, scratch, folder / request.output.name)
    recorded = recorded_in(scratch, answer)
    errors = comparison.compare(path, answer.outputs, recorded, scratch / "gate", rtol=request.rtol, atol=request.atol)
    refusal = comparison.refusal(errors, request.output, recorded)
    if refusal and not request.is_forced:
        raise refusal
    for each in errors:
        if each.failure:
            console.warn(f"output '{each.name}' on {each.failure}; the model was written because of --force")
    for warning in comparison.uncompared(errors):
        console.warn(f"{warning}; give inputs like the app's with --samples")
    return errors


def recorded_in(folder: Path, answer: Answer) -> RecordedOutputs:
    return RecordedOutputs(
        folder=folder,
        framework=answer.framework,
        words=comparison.in_words(answer.sizes, "sample 0"),
        hint_rejected=f"{answer.converter} has fixed a size: save the model with that size, or change the layer that "
        "fixes it",
        hint_different="raise --rtol and --atol if the difference does not matter, or use --force",
    )


def as_json(result: ImportResult) -> dict[str, object]:
    """The result for `--json`."""
    origin = {"importer": result.importer, "framework": result.framework, "converter": result.converter}
    return result.as_json(origin)
