"""The steps of `mobpack quantize`, top to bottom: quantize one ONNX file, measure the result, write both."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from packager import models
from packager.core import user_files
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ToolError
from packager.core.values import Model, Variant
from packager.engines.runners import RUNNERS, Runnable
from packager.files.atomic import atomic_file, atomic_files
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.graph.rewriting.draft import draft_of
from packager.graph.rewriting.ports import make_integer
from packager.graph.weights.places import LARGEST_BYTES
from packager.graph.weights.whole import whole_bytes, write_beside, write_whole
from packager.quantization.measurement.evaluator import Evaluator
from packager.quantization.measurement.gate import FileSizes, gate
from packager.quantization.measurement.latency import Latency, latency
from packager.quantization.measurement.layers import LayerError, layer_errors
from packager.quantization.measurement.loss import doubt, refuse_over_budget
from packager.quantization.measurement.metrics import Score, has_own_data
from packager.quantization.measurement.page import write_report
from packager.quantization.measurement.report import (
    LayerChoice,
    QuantizationReport,
    ReportedEvaluation,
    ReportedSearch,
    ReportedSide,
    SamplesUsed,
)
from packager.quantization.measurement.subject import MeasuredGraph
from packager.quantization.overflow import warn_of_overflows
from packager.quantization.raising import own
from packager.quantization.ranges import read_samples
from packager.quantization.search import SearchResult
from packager.quantization.variants import BuiltVariant, build_variant, settings_of
from packager.quantization.worth import require_budget, samples_for, subjects
from packager.quantizers import Auto, Calibration, Recipe, StaticQdq, WeightOnly
from packager.samples import Samples, Settings, source_of
from packager.samples.assumed import assumed
from packager.verification.observed import with_observed_shapes
from packager.workflows.gates import Rules, refuse_warnings
from packager.workflows.project_samples import by_contract


@dataclass(frozen=True, kw_only=True)
class QuantizeRequest:
    """Options of the command line."""

    model: Model
    """with its sha256"""
    recipe: Recipe
    output: Path
    metric: str
    samples: Calibration | None = None
    """samples to measure on, for a quantizer without calibration; random inputs when absent"""
    max_drop: float | None = None
    """largest drop of the metric that is written"""
    wants_report: bool = True
    wants_integers: bool = False
    """whether quantized inputs and outputs become integers"""
    is_forced: bool = False
    is_strict: bool = False
    """whether warnings are errors"""
    scales: Path | None = None
    """file for the scales, for the version after this one"""


@dataclass(frozen=True, kw_only=True)
class QuantizeResult:
    """Files that were written, and the measurements."""

    files: tuple[Path, ...]
    """the model: one, or two for 2 GiB and more"""
    page: Path | None
    report: QuantizationReport


def run(request: QuantizeRequest, store: Store, console: Console) -> QuantizeResult:
    """Quantizes, measures and writes the model. On failure, writes nothing and raises a MobpackError."""
    refuse_output(request)
    request = replace(request, model=with_observed_shapes(request.model, store, console))
    with store.scratch() as scratch:
        converted = _by_contract(request, scratch, store, console)
        made, measured = made_and_measured(converted, store, console)
        unverified = _unverified(converted)
    shipped = _with_integers(made.variant, console) if request.wants_integers else made.variant
    sizes = FileSizes(float_bytes=request.model.size_bytes, quantized_bytes=_written_bytes(shipped))
    for warning in gate(sizes, measured.latency, is_forced=request.is_forced):
        console.warn(warning)
    judge_loss(request, made, measured, console)
    refuse_warnings(Rules(strict=request.is_strict), console)
    with console.step(f"write {request.output.name}"):
        files = write(shipped, request.output, store)
        scales = [_scales_written(made.variant, request.scales)] if request.scales else []
    report = replace(describe(request, made, measured, files, console), unverified=unverified)
    page = request.output.with_suffix(".html") if request.wants_report else None
    if page:
        write_report(page, report)
    return QuantizeResult(files=(*files, *scales), page=page, report=report)


def judge_loss(request: QuantizeRequest, made: BuiltVariant, measured: "MeasuredVariant", console: Console) -> None:
    """Warns of a variant whose outputs are no longer the float model's. Raises GateError for one beyond its budget,
    unless it is forced."""
    require_budget(made, console, is_forced=request.is_forced)
    score = measured.score
    if score is None:
        return
    samples = f"the samples ({measured.samples})" if score.samples else "data of its own"
    if sentence := doubt(score, samples):
        console.warn(sentence)
    if request.max_drop is not None and not request.is_forced:
        refuse_over_budget(score, request.max_drop, samples)


def _by_contract(request: QuantizeRequest, scratch: Path, store: Store, console: Console) -> QuantizeRequest:
    """`request` with samples that its project's contract has converted to inputs of the model."""
    given: Calibration | None = getattr(request.recipe, "calibration", None) or request.samples
    if given is None:
        return request
    converted = by_contract(request.model, given, scratch, store, console)
    recipe = request.recipe
    if isinstance(recipe, Auto | StaticQdq) or (isinstance(recipe, WeightOnly) and recipe.calibration):
        recipe = replace(recipe, calibration=converted)
    return replace(request, recipe=recipe, samples=converted)


def made_and_measured(
    request: QuantizeRequest, store: Store, console: Console
) -> "tuple[BuiltVariant, MeasuredVariant]":
    """The variant and, if a report is wanted, its measurements; outputs recorded by calibration are not computed
    again."""
    recipe = request.recipe
    if not request.wants_report:
        return build_variant(request.model, recipe.NAME, recipe, store, console), MeasuredVariant()
    with store.scratch() as scratch:
        outputs = scratch / "outputs"
        outputs.mkdir()
        made = build_variant(request.model, recipe.NAME, recipe, store, console, outputs=outputs)
        return made, measure(request, made, outputs, store, console)


def refuse_output(request: QuantizeRequest) -> None:
    """Raises an error for an output that cannot be written, before hours of computation."""
    output, model = request.output, request.model
    if request.scales and not hasattr(request.recipe, "scales_from"):
        raise ConfigError(
            f"--scales: quantizer '{request.recipe.NAME}' has no scales", hint="omit it, or use static-qdq, for example"
        )
    if output.suffix != ".onnx":
        raise ConfigError(f"{output}: the output must be an .onnx file", hint=f"name it {output.stem}.onnx")
    if user_files.resolved(output) in (user_files.resolved(model.path), *model.data_files):
        raise ConfigError(f"{output} is the input model", hint="choose another --output")
    if request.max_drop is not None and not request.wants_report:
        raise ConfigError("--max-drop needs the measurement", hint="omit --no-report")
    if output.is_dir():
        raise ConfigError(f"{output} is a folder", hint="give a file name")
    folder = next(parent for parent in output.absolute().parents if parent.exists())
    if not os.access(folder, os.W_OK):
        raise ToolError(f"cannot write to {folder}", hint="check its permissions, or choose another --output")


@dataclass(frozen=True, kw_only=True)
class MeasuredVariant:
    """Measurements of a variant compared with the float model."""

    latency: Latency | None = None
    score: Score | None = None
    layers: tuple[LayerError, ...] = ()
    samples: str = ""
    """description of the samples"""


def measure(
    request: QuantizeRequest, made: BuiltVariant, outputs: Path, store: Store, console: Console
) -> MeasuredVariant:
    """Measures latency, the metric and the error of every layer; `outputs` are those that calibration recorded, if
    any."""
    original, quantized = subjects(made)
    given = made.samples
    if given is None and request.samples:
        given = read_samples(request.model, request.samples, store, console, metric=request.metric)
    warn_of_overflows(made, given, store, console)
    with store.scratch() as scratch:
        used, words = samples_for(request.model, given, scratch)
        with console.step("measure latency"):
            timed = latency(original, quantized, used, scratch)
        with console.step(f"measure {request.metric}"):
            users = replace(original, graph=own(request.model, made.graph))
            score = _score(users, quantized, used, request.metric, outputs, scratch, console)
        with console.progress("compare layers") as advance:
            layers = layer_errors(original, quantized, used, scratch, advance)
    return MeasuredVariant(latency=timed, score=score, layers=layers, samples=words)


def _score(
    original: MeasuredGraph,
    quantized: MeasuredGraph,
    used: Samples,
    metric: str,
    outputs: Path,
    scratch: Path,
    console: Console,
) -> Score:
    from packager.quantization.measurement.hosts import as_measured

    folder = scratch / "metric"
    folder.mkdir()
    graph = MeasuredGraph(graph=as_measured(quantized.graph, quantized.data_folder), data_folder=quantized.data_folder)
    with Evaluator(original, metric, folder, samples=used, outputs=outputs) as evaluator:
        for name in evaluator.uncompared:
            console.warn(f"output '{name}' is empty, NaN or infinite on every sample: it was not compared")
        return evaluator.score(graph.written(folder / "quantized.onnx"), quantized.data_folder)


def _with_integers(variant: Variant, console: Console) -> Variant:
    """The variant with integer inputs and outputs. Raises ConfigError if none of them is quantized."""
    draft = draft_of(variant.graph, variant.data_folder)
    names = make_integer(draft)
    if not names:
        raise ConfigError(
            f"quantizer '{variant.quantizer}' quantizes no input or output, so none can be an integer",
            hint="use static-qdq or auto, or omit --integer-io",
        )
    console.say(f"  integer inputs and outputs: {', '.join(names)}; the scales are in the model's metadata")
    graph = draft.finish()
    return replace(variant, graph=graph, traits=models.traits_of(variant.model, graph))


def _written_bytes(variant: Variant) -> int:
    """Size of what `write` writes."""
    import onnx

    if variant.size_bytes >= LARGEST_BYTES:
        return variant.size_bytes
    return whole_bytes(onnx.ModelProto.FromString(variant.graph), variant.data_folder)


def write(variant: Variant, output: Path, store: Store) -> tuple[Path, ...]:
    """Writes the model as one file with its weights inside; from 2 GiB on, the weights go into `<output>.data`.

    Raises ModelError, and writes nothing, if ONNX Runtime does not open the file.
    """
    import onnx

    proto = onnx.ModelProto.FromString(variant.graph)
    if variant.size_bytes < LARGEST_BYTES:
        with atomic_file(output) as file:
            write_whole(proto, variant.data_folder, file)
            file.flush()
            _refuse_unopened(Path(file.name), variant, output, store)
        return (output,)
    with atomic_files(output.parent) as folder:  # the weights are moved into place before the graph
        files = write_beside(proto, variant.data_folder, folder / output.name)
        _refuse_unopened(files[0], variant, output, store)
    return tuple(output.with_name(file.name) for file in files)


def _refuse_unopened(written: Path, variant: Variant, output: Path, store: Store) -> None:
    runnable = Runnable(path=written, data_folder=written.parent, is_optimized=False)
    try:
        with store.scratch() as scratch, RUNNERS["cpu"]("")[0].open(runnable, scratch):
            pass
    except ModelError as error:
        raise ModelError(
            f"{output.name} was not written: {error.message}",
            hint=f"leave the node that it names as it is, with exclude, or do without quantizer '{variant.quantizer}'",
        ) from error


def _scales_written(variant: Variant, path: Path) -> Path:
    with atomic_file(path) as file:
        assert variant.scales
        file.write(variant.scales.read_bytes())
    return path


def describe(
    request: QuantizeRequest, made: BuiltVariant, measured: MeasuredVariant, files: tuple[Path, ...], console: Console
) -> QuantizationReport:
    """The measurements as a report, for the page and for programs."""
    model, recipe = request.model, request.recipe
    calibration: Calibration | None = getattr(recipe, "calibration", None)
    return QuantizationReport(
        model=model.path.name,
        variant=recipe.NAME,
        original=ReportedSide(file=model.path.name, size_bytes=model.size_bytes, sha256=model.sha256),
        quantized=ReportedSide(
            file=files[0].name,
            size_bytes=sum(file.stat().st_size for file in files),
            sha256=sha256_of(files[0]),
        ),
        quantizer=recipe.NAME,
        settings={key: _in_words(value) for key, value in settings_of(recipe).items() if key != "calibration"},
        calibration=_used(recipe, calibration, made) if calibration and made.samples else None,
        score=measured.score,
        max_drop=recipe.max_drop if isinstance(recipe, Auto) else request.max_drop,
        latencies=(measured.latency,) if measured.latency else (),
        layers=measured.layers,
        left=made.variant.left,
        scales=made.variant.kept_scales,
        search=_search(made.found) if made.found else None,
        warnings=tuple(console.warnings),
    )


def _unverified(request: QuantizeRequest) -> str:
    """How samples were converted, if nothing states it and the metric compares the model with itself."""
    given: Calibration | None = getattr(request.recipe, "calibration", None) or request.samples
    if given is None or has_own_data(request.metric):
        return ""
    how = Settings(image=given.image, audio=given.audio)
    assumption = assumed(source_of(given.samples, request.model, how))
    return assumption.unverified if assumption else ""


def _used(recipe: Recipe, calibration: Calibration, made: BuiltVariant) -> SamplesUsed:
    assert made.samples
    source = calibration.samples if calibration.is_function else Path(calibration.samples).name
    method = made.found.assignment.method if made.found else calibration.method
    if isinstance(recipe, WeightOnly):
        method = "gptq"
    return SamplesUsed(source=source, count=made.samples.count, method=method)


def _in_words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _search(found: SearchResult) -> ReportedSearch:
    sensitivities = sorted(found.sensitivity.items(), key=lambda item: item[1])
    return ReportedSearch(
        evaluations=tuple(
            ReportedEvaluation(what=each.what, drop=each.drop, is_within=each.drop <= found.budget)
            for each in found.evaluations
        ),
        count=found.evaluation_count,
        bound=found.bound,
        held_out=found.held_out,
        choices=tuple(
            LayerChoice(layer=name, scheme=_scheme(name, found), reason=found.reasons.get(name, ""))
            for name, _ in sensitivities
        ),
    )


def _scheme(name: str, found: SearchResult) -> str:
    if name in found.assignment.integer:
        return "integers"
    return "integer weights" if name in found.assignment.weights else "float"
