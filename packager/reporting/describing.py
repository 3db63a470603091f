"""Builds the report document from plans and findings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from packager import __version__
from packager.core.findings import (
    Agreement,
    Failure,
    KernelProof,
    OutputError,
    Parity,
    Partition,
    PipelineProof,
    Report,
)
from packager.core.quantized import KeptScales
from packager.core.values import Choice, Compiled, Model, Plan, distinct_files
from packager.quantization.measurement.latency import Latency
from packager.quantization.measurement.layers import LayerError
from packager.reporting.added import added
from packager.reporting.contracts import gives, takes
from packager.reporting.document import (
    AddedEntry,
    AgreementEntry,
    ChoiceEntry,
    FailureEntry,
    FallbackEntry,
    FileEntry,
    KernelsEntry,
    LatencyEntry,
    LayerEntry,
    LayersEntry,
    LeftOutEntry,
    ModelEntry,
    Number,
    OutputEntry,
    ParityEntry,
    PartitionEntry,
    PipelineEntry,
    PlanEntry,
    ReportDocument,
    ScalesEntry,
    State,
    Verdict,
)
from packager.reporting.places import placeless
from packager.verification.partition.report import contradictions

DIGITS = 6
"""significant digits of a measured number: more would be noise, and make documents hard to compare"""


@dataclass(frozen=True, kw_only=True)
class MeasuredLatency:
    """Latency of a variant compared with its model."""

    model: str
    variant: str
    latency: Latency


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Optional content of the report beyond the evidence."""

    layers: Mapping[tuple[str, str], tuple[LayerError, ...]] = field(default_factory=dict)
    """model and variant -> error of every layer"""
    latencies: tuple[MeasuredLatency, ...] = ()
    warnings: tuple[str, ...] = ()
    stopped_by: tuple[str, ...] = ()
    """reasons other than failed comparisons that block the release, as text: gates, --strict"""


NOTHING_MORE = Extras()


def document(plans: Sequence[Plan], report: Report, extras: Extras = NOTHING_MORE) -> ReportDocument:
    """The report document; contains no timestamps and no paths of this machine."""
    models = {plan.model.name: plan.model for plan in plans}
    return ReportDocument(
        schema_version=1,
        mobpack=__version__,
        converter={name: version(name) for name in ("onnx", "onnxruntime")},
        verdict=_verdict(report, extras),
        failures=tuple(_failure(each) for each in report.failures),
        stopped_by=tuple(placeless(each) for each in extras.stopped_by),
        warnings=tuple(placeless(each) for each in extras.warnings),
        models=tuple(_model(models[name]) for name in sorted(models)),
        files=tuple(_file(each) for each in distinct_files(plans)),
        plans=tuple(_plan(each) for each in plans),
        parity=tuple(_parity(each) for each in report.parities),
        agreements=tuple(_agreement(each) for each in report.agreements),
        pipelines=tuple(_pipeline(each) for each in report.pipelines),
        partitions=tuple(_partition(each) for each in report.partitions),
        measured=tuple(_partition(each) for each in report.measured),
        contradictions=tuple(map(placeless, contradictions(report.partitions, report.measured))),
        kernels=tuple(_kernels(each) for each in report.kernels),
        layers=tuple(_layers(*key, extras.layers[key]) for key in sorted(extras.layers)),
        latencies=tuple(_latency(each) for each in extras.latencies),
    )


def _verdict(report: Report, extras: Extras) -> Verdict:
    if report.failures or extras.stopped_by or any(each.over for each in report.parities):
        return "failed"
    return "passed" if any(state(each) == "passed" for each in report.parities) else "not checked"


def state(parity: Parity) -> State:
    if parity.skipped or parity.nothing_compared:
        return "skipped"
    if parity.refusal:
        return "refused"
    return "failed" if parity.over else "passed"


def _model(model: Model) -> ModelEntry:
    return ModelEntry(
        name=model.name,
        file=model.path.name,
        sha256=model.sha256,
        size_bytes=model.size_bytes,
        parameters=model.parameter_count,
        opsets={domain or "ai.onnx": number for domain, number in sorted(model.opsets.items())},
        takes=tuple(takes(model.contract)) if model.contract else (),
        gives=tuple(gives(model.contract)) if model.contract else (),
    )


def _file(compiled: Compiled) -> FileEntry:
    return FileEntry(
        model=compiled.variant.model.name,
        variant=compiled.variant.name,
        quantizer=compiled.variant.quantizer,
        style=compiled.style,
        format=compiled.format,
        processor=compiled.processor,
        sha256=compiled.sha256,
        size_bytes=compiled.size_bytes,
        data_files=tuple(file.name for file in compiled.data_files),
        scales=_scales(compiled.variant.kept_scales),
    )


def _scales(kept: KeptScales | None) -> ScalesEntry | None:
    if kept is None:
        return None
    own = tuple(f"{each.kind} {each.name}: {each.reason}" for each in kept.own)
    return ScalesEntry(count=kept.count, kept=kept.kept, own=own)


def _plan(plan: Plan) -> PlanEntry:
    return PlanEntry(
        model=plan.model.name,
        target=plan.place,
        choices=tuple(_choice(each) for each in plan.choices),
        left_out=tuple(LeftOutEntry(provider=each.provider, reason=placeless(each.reason)) for each in plan.left_out),
        added=tuple(
            AddedEntry(variant=each.variant, chips=each.chips, size_bytes=each.size_bytes) for each in added(plan)
        ),
    )


def _choice(choice: Choice) -> ChoiceEntry:
    return ChoiceEntry(
        provider=choice.provider,
        chips=choice.soc_models,
        style=choice.compiled.style,
        format=choice.compiled.format,
        sha256=choice.compiled.sha256,
        reason=choice.reason,
        variant=choice.variant,
    )


def _parity(parity: Parity) -> ParityEntry:
    return ParityEntry(
        model=parity.model,
        variant=parity.variant,
        runner=parity.runner,
        label=parity.label or parity.runner,
        style=parity.style,
        sha256=parity.sha256,
        state=state(parity),
        runs_on=placeless(parity.runs_on),
        placed=parity.placed,
        nodes=parity.node_count,
        against=parity.against,
        from_original=None if parity.from_original is None else number(parity.from_original),
        from_original_samples=parity.distance_samples,
        samples=parity.samples,
        sample_count=parity.sample_count,
        tolerance=parity.tolerance,
        atol=rounded(parity.atol),
        outputs=tuple(_output(each) for each in parity.compared_outputs),
        conditioning=parity.conditioning,
        not_compared=parity.not_compared,
        reshaped=parity.reshaped_outputs,
        skipped=placeless(parity.skipped or parity.nothing_compared),
        refusal=placeless(parity.refusal),
    )


def _output(error: OutputError) -> OutputEntry:
    return OutputEntry(
        name=error.output,
        max_abs_error=number(error.max_abs_error),
        max_rel_error=number(error.max_rel_error),
        scale=number(error.scale),
        scale_from=error.scale_from,
        rtol=error.rtol,
        atol=None if error.atol is None else rounded(error.atol),
        mean_abs_error=number(error.mean_abs_error),
        cosine=number(error.cosine),
        sqnr_db=number(error.sqnr_db),
        mismatches=error.mismatch_count,
        numbers=error.number_count,
        is_exact=error.is_exact,
        top1_agreement=error.top1_agreement,
        top5_agreement=error.top5_agreement,
        worst_sample=error.worst_sample,
        histogram=error.histogram,
        failure=error.failure,
    )


def _failure(failure: Failure) -> FailureEntry:
    return FailureEntry(
        model=failure.parity.model,
        variant=failure.parity.variant,
        runner=failure.parity.label or failure.parity.runner,
        style=failure.parity.style,
        sha256=failure.parity.sha256,
        message=placeless(failure.message),
        hint=placeless(failure.hint),
        node=placeless(failure.node),
        evidence=failure.evidence.name if failure.evidence else "",
    )


def _agreement(found: Agreement) -> AgreementEntry:
    return AgreementEntry(
        model=found.model,
        variant=found.variant,
        sha256=found.sha256,
        engines=found.engines,
        agree=found.agree,
        alone=found.alone,
        within=number(found.within),
        apart=number(found.apart),
        output=found.output,
        is_reference_alone=found.is_reference_alone,
        summary=found.words,
    )


def _partition(partition: Partition) -> PartitionEntry:
    return PartitionEntry(
        model=partition.model,
        target=partition.target,
        provider=partition.provider,
        chips=partition.soc_models,
        sha256=partition.sha256,
        by=partition.by,
        is_measured=partition.is_measured,
        nodes=partition.node_count,
        taken=partition.taken_count,
        partitions=partition.partition_count,
        share=None if partition.share is None else round(partition.share, DIGITS),
        left=tuple(
            FallbackEntry(operator=each.operator, count=each.count, reason=each.reason, example=each.example)
            for each in partition.left
        ),
        contract=partition.contract,
        refusal=placeless(partition.refusal),
        skipped=placeless(partition.skipped),
    )


def _pipeline(proof: PipelineProof) -> PipelineEntry:
    compared: State = "passed" if proof.count else "skipped"
    return PipelineEntry(
        pipeline=proof.pipeline,
        targets=proof.places,
        runner=proof.runner,
        state="failed" if proof.failure else "skipped" if proof.skipped else compared,
        boxes=proof.count,
        alike_boxes=proof.alike_count,
        max_rel_error=number(proof.max_rel_error),
        result=placeless(proof.words),
    )


def _kernels(proof: KernelProof) -> KernelsEntry:
    return KernelsEntry(
        model=proof.model,
        variant=proof.variant,
        sha256=proof.sha256,
        runtime=proof.runtime,
        nodes=proof.node_count,
        by=proof.by,
        skipped=placeless(proof.skipped),
    )


def _layers(model: str, variant: str, errors: Sequence[LayerError]) -> LayersEntry:
    samples = max((each.samples for each in errors), default=0)
    return LayersEntry(model=model, variant=variant, samples=samples, layers=tuple(_layer(each) for each in errors))


def _layer(error: LayerError) -> LayerEntry:
    return LayerEntry(
        name=error.name,
        operator=error.operator,
        gives="integers" if error.becomes == "DequantizeLinear" else "float",
        output_sqnr_db=number(error.output_sqnr_db),
        weight_sqnr_db=None if error.weight_sqnr_db is None else number(error.weight_sqnr_db),
    )


def _latency(measured: MeasuredLatency) -> LatencyEntry:
    found = measured.latency
    return LatencyEntry(
        model=measured.model,
        variant=measured.variant,
        machine=found.machine,
        is_emulated=False,
        original_ms=rounded(found.float_ms),
        original_spread_ms=(rounded(found.float_spread_ms[0]), rounded(found.float_spread_ms[1])),
        variant_ms=rounded(found.quantized_ms),
        variant_spread_ms=(rounded(found.quantized_spread_ms[0]), rounded(found.quantized_spread_ms[1])),
        ratio=rounded(found.ratio),
        runs=found.run_count,
        skipped=placeless(found.skipped),
    )


def rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def number(value: float) -> Number:
    """`value`, or its name if JSON cannot represent it."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return rounded(value)
