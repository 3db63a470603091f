"""The report as a self-contained HTML page; the same report gives the same bytes."""

import math
from collections.abc import Iterator
from pathlib import Path

from packager.core.console import size
from packager.render.pages import parts
from packager.render.pages.numbers import plural
from packager.render.pages.parts import FactView, TileView
from packager.render.templates import render
from packager.reporting.comparisons import allowed_share, anchor, label, model_views, numbers, worst
from packager.reporting.document import FailureEntry, ParityEntry, PipelineEntry, ReportDocument
from packager.reporting.shipping import choice_views, file_views, latency_view, layers_views, no_layers, partition_view
from packager.reporting.views import FailureView, PartitionsView, PipelineRowView, ReportPageView, VerdictView
from packager.reporting.words import STATES, amount, number_in

TEMPLATE = "report/report.html.j2"


def write_page(path: Path, found: ReportDocument) -> None:
    """Writes the page. Raises ToolError if the folder cannot be written."""
    parts.write(path, page(found))


def page(found: ReportDocument) -> str:
    return render(TEMPLATE, view(found))


def view(found: ReportDocument) -> ReportPageView:
    return ReportPageView(
        title=", ".join(model.name for model in found.models) or "no model",
        verdict=_verdict(found),
        failures=tuple(_failure(each, found) for each in found.failures),
        stopped_by=found.stopped_by,
        tiles=tuple(_tiles(found)),
        warnings=found.warnings,
        models=tuple(model_views(found)),
        files=tuple(file_views(found)),
        choices=tuple(choice_views(found)),
        pipelines=tuple(map(_pipeline, found.pipelines)),
        partitions=tuple(_partitions(found)),
        layers=tuple(layers_views(found)),
        no_layers=no_layers(found),
        latencies=tuple(latency_view(each) for each in found.latencies),
        facts=tuple(_facts(found)),
    )


def _partitions(found: ReportDocument) -> Iterator[PartitionsView]:
    if found.partitions:
        note = (
            "The nodes are the model's own. The CPU runs those that a provider does not take. Data is copied at each "
            "boundary between partitions."
        )
        rows = tuple(map(partition_view, found.partitions))
        yield PartitionsView(title="Nodes by provider", notes=(note,), rows=rows)
    if found.measured:
        note = "What the providers that run on this machine say themselves. It decides nothing."
        rows = tuple(map(partition_view, found.measured))
        yield PartitionsView(title="Measured on this machine", notes=(note, *found.contradictions), rows=rows)


def _pipeline(found: PipelineEntry) -> PipelineRowView:
    state = STATES[found.state]
    return PipelineRowView(
        pipeline=found.pipeline,
        targets=", ".join(found.targets),
        runner=found.runner,
        tone=state.tone,
        mark=state.mark,
        word=state.word,
        result=found.result,
    )


def _verdict(found: ReportDocument) -> VerdictView:
    counts = _counts(found)
    summary = f"{counts['passed']:,} of {plural(counts['passed'] + counts['failed'], 'comparison')} within tolerance"
    aside = [f"{plural(counts[state], 'comparison')} {state}" for state in ("refused", "skipped") if counts[state]]
    broken = (
        len({(each.model, each.variant) for each in found.failures}) if found.failures and not counts["failed"] else 0
    )
    aside += [f"{plural(broken, 'variant')} too far from the model"] if broken else []
    sentence = ", ".join([summary, *aside]) + "."
    if found.verdict == "failed":
        return VerdictView(tone="poor", mark="✕", word="Failed", sentence=sentence)
    if found.verdict == "passed":
        return VerdictView(tone="pass", mark="✓", word="Passed", sentence=sentence)
    return VerdictView(tone="fair", mark="!", word="Not checked", sentence=f"No runner ran: {sentence}")


def _counts(found: ReportDocument) -> dict[str, int]:
    states = [each.state for each in found.parity]
    return {state: states.count(state) for state in ("passed", "failed", "refused", "skipped")}


def _failure(failure: FailureEntry, found: ReportDocument) -> FailureView:
    parity = _comparison_of(failure, found)
    file = label(parity, found.files) if parity else f"{failure.variant}, {failure.style}"
    return FailureView(
        title=f"{failure.model} ({file}) on {failure.runner}",
        message=failure.message,
        node=failure.node,
        hint=failure.hint,
        evidence=failure.evidence,
        anchor=anchor(parity, found) if parity else "",
    )


def _comparison_of(failure: FailureEntry, found: ReportDocument) -> ParityEntry | None:
    key = failure.model, failure.sha256, failure.runner
    return next((each for each in found.parity if (each.model, each.sha256, each.label) == key), None)


def _tiles(found: ReportDocument) -> Iterator[TileView]:
    total = sum(file.size_bytes for file in found.files)
    models = sum(model.size_bytes for model in found.models)
    yield TileView(
        label="Files that ship", value=size(total), note=f"{plural(len(found.files), 'file')}; models: {size(models)}"
    )
    compared = [each for each in found.parity if worst(each)]
    if compared:
        yield _worst_tile(compared, found)
    labels = list(dict.fromkeys(each.label for each in found.parity))
    ran = [name for name in labels if any(each.label == name and worst(each) for each in found.parity)]
    missed = [name for name in labels if name not in ran]
    yield TileView(
        label="Runners",
        value=f"{len(ran)} of {len(labels)}",
        note=f"ran: {', '.join(ran) or 'none'}" + (f"; skipped: {', '.join(missed)}" if missed else ""),
    )
    if found.partitions:
        yield _provider_tile(found)


def _worst_tile(compared: list[ParityEntry], found: ReportDocument) -> TileView:
    """The comparison nearest to its tolerance, or furthest beyond it."""

    def share(parity: ParityEntry) -> tuple[bool, float]:
        output = worst(parity)
        error = output.max_rel_error if output else 0.0
        limit = (allowed_share(output) if output else None) or parity.tolerance
        return parity.state == "failed", number_in(error, odd=math.inf) / limit

    most = max(compared, key=share)
    output = worst(most)
    where = f"{most.model} ({label(most, found.files)}) on {most.label}"
    name = "Worst error" if most.state == "failed" else "Nearest to its tolerance"
    if not output or output.is_exact or output.mismatches:
        return TileView(label=name, value=numbers(most), note=where)
    limit = allowed_share(output)
    allowed = f", {amount(limit)} allowed" if limit else ""
    return TileView(label=name, value=amount(output.max_rel_error), note=f"of the scale{allowed}: {where}")


def _provider_tile(found: ReportDocument) -> TileView:
    known = [each for each in found.partitions if not each.skipped]
    taken = [each for each in known if each.taken and not each.refusal]
    names = ", ".join(dict.fromkeys(each.provider for each in taken)) or "none"
    return TileView(label="Providers that take nodes", value=f"{len(taken)} of {len(found.partitions)}", note=names)


def _facts(found: ReportDocument) -> Iterator[FactView]:
    yield FactView(label="mobpack", value=found.mobpack)
    for name, version in found.converter.items():
        yield FactView(label=name, value=version)
    for runtime in dict.fromkeys(each.runtime for each in found.kernels if each.runtime):
        yield FactView(label="Runtime that ships", value=runtime)
    for model in found.models:
        opsets = ", ".join(f"{domain} {number}" for domain, number in model.opsets.items())
        yield FactView(
            label=model.name,
            value=f"{model.file}, {model.size_bytes:,} bytes, {model.parameters:,} parameters, opset {opsets}",
        )
        yield FactView(label="sha256", value=model.sha256)
        for what, texts in (("takes", model.takes), ("gives", model.gives)):
            if texts:
                yield FactView(label=what, value="; ".join(texts))
