"""Views of the files that ship: files, plans, partitions, layers, latency."""

import math
from collections.abc import Iterator

from packager.core.console import size
from packager.render.pages.layers import Layer, LayersView, layers_view
from packager.render.pages.numbers import percent, plural, times
from packager.reporting.document import (
    FallbackEntry,
    FileEntry,
    KernelsEntry,
    LatencyEntry,
    LayerEntry,
    PartitionEntry,
    ReportDocument,
)
from packager.reporting.views import ChoiceView, LatencyView, PartitionView, ReportFileView
from packager.reporting.words import file_name, full_name, number_in, provider_name

SHA_SHOWN = 16
"""digits shown; report.json has all of them"""


def file_views(found: ReportDocument) -> Iterator[ReportFileView]:
    sizes = {model.name: model.size_bytes for model in found.models}
    for file in found.files:
        proofs = [each for each in found.kernels if (each.model, each.sha256) == (file.model, file.sha256)]
        yield ReportFileView(
            name=f"{full_name(file, found.files)}{_kept(file)}",
            model=file.model,
            size=size(file.size_bytes),
            share=percent(file.size_bytes / sizes[file.model]) if sizes.get(file.model) else "",
            users=", ".join(_users(file, found)),
            kernels="; ".join(map(_kernels, proofs)) or "not proven",
            sha256=file.sha256[:SHA_SHOWN],
        )


def _kept(file: FileEntry) -> str:
    """How many scales are those of the version before."""
    return f", {file.scales.kept:,} of {file.scales.count:,} scales kept" if file.scales else ""


def _users(file: FileEntry, found: ReportDocument) -> Iterator[str]:
    """Providers that open the file, with the target if there are several."""
    has_targets = len({each.target for each in found.plans}) > 1
    seen = dict.fromkeys(
        f"{provider_name(choice)}{f' on {plan.target}' if has_targets else ''}"
        for plan in found.plans
        if plan.model == file.model
        for choice in plan.choices
        if choice.sha256 == file.sha256
    )
    yield from seen


def _kernels(proof: KernelsEntry) -> str:
    if proof.skipped:
        return f"not proven: {proof.skipped}"
    return f"all {plural(proof.nodes, 'node')}: {proof.by}"


def choice_views(found: ReportDocument) -> Iterator[ChoiceView]:
    for plan in found.plans:
        for choice in plan.choices:
            yield ChoiceView(
                model=plan.model,
                target=plan.target,
                provider=provider_name(choice),
                file=file_name(choice),
                reason=choice.reason,
            )
        for entry in plan.added:
            yield ChoiceView(
                model=plan.model,
                target=plan.target,
                provider=f"all on {', '.join(entry.chips)}",
                file=f"+ {size(entry.size_bytes)}",
                reason=f"the files of the variant '{entry.variant}', which other devices do not open",
            )
        for each in plan.left_out:
            yield ChoiceView(
                model=plan.model, target=plan.target, provider=each.provider, file="no file", reason=each.reason
            )


def partition_view(entry: PartitionEntry) -> PartitionView:
    if entry.skipped or entry.refusal:
        return PartitionView(
            model=entry.model,
            target=entry.target,
            provider=provider_name(entry),
            taken="not examined" if entry.skipped else "does not start",
            share="",
            pieces="",
            left=(),
            contract="",
            by=entry.skipped or f"{entry.by}: {entry.refusal}",
        )
    return PartitionView(
        model=entry.model,
        target=entry.target,
        provider=provider_name(entry),
        taken=f"{entry.taken:,} of {entry.nodes:,}",
        share="none in it" if entry.share is None else percent(entry.share),
        pieces=f"{entry.partitions:,}",
        left=tuple(map(_fallback, entry.left)),
        contract=entry.contract,
        by=f"{'measured' if entry.is_measured else 'predicted'}: {entry.by}",
    )


def _fallback(left: FallbackEntry) -> str:
    """Text of a CPU fallback; some reasons already begin with the operator's name."""
    reason = left.reason.removeprefix(f"{left.operator}: ")
    return f"{left.count:,} {left.operator}{f': {reason}' if reason else ''}"


def layers_views(found: ReportDocument) -> Iterator[LayersView]:
    for entry in found.layers:
        if entry.layers:
            layers = [_layer(each) for each in entry.layers]
            yield layers_view(layers, samples=entry.samples, title=f"{entry.model}, {entry.variant}")


def no_layers(found: ReportDocument) -> str:
    """Why no layers are shown; empty if some are."""
    if found.layers:
        return ""
    if all(file.quantizer == "none" for file in found.files):
        return "Nothing was quantized: the files have the models' own numbers."
    return "Not measured: mobpack check --report measures what quantization does to every layer."


def _layer(entry: LayerEntry) -> Layer:
    return Layer(
        name=entry.name,
        operator=entry.operator,
        form=entry.gives,
        output_db=number_in(entry.output_sqnr_db, odd=math.nan),
        weight_db=None if entry.weight_sqnr_db is None else number_in(entry.weight_sqnr_db, odd=math.nan),
    )


def latency_view(entry: LatencyEntry) -> LatencyView:
    what = f"{entry.model}, {entry.variant}"
    if entry.skipped:
        note = f"skipped: {entry.skipped}"
        return LatencyView(what=what, machine=entry.machine, original="", variant="", ratio="", note=note)
    note = "; relative, emulated: the times themselves say nothing" if entry.is_emulated else ""
    return LatencyView(
        what=what,
        machine=entry.machine,
        original=times(entry.original_ms, entry.original_spread_ms),
        variant=times(entry.variant_ms, entry.variant_spread_ms),
        ratio=f"{entry.ratio:.2f}",
        note=f"{plural(entry.runs, 'run')} each{note}",
    )
