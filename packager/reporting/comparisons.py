"""Views of the comparisons: the table of runners by files, and the details of each comparison."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from packager.render.pages.numbers import percent, plural
from packager.render.pages.parts import FactView
from packager.reporting.describing import rounded
from packager.reporting.distribution import distribution
from packager.reporting.document import AgreementEntry, FileEntry, Number, OutputEntry, ParityEntry, ReportDocument
from packager.reporting.views import AgreementView, CellView, ComparisonView, ReportModelView, ReportOutputView, RowView
from packager.reporting.words import STATES, amount, decibels, full_name, number_in

NOT_ASKED = "not asked"


def model_views(found: ReportDocument) -> Iterator[ReportModelView]:
    """Views of the models, in the order of the report."""
    for name in dict.fromkeys(each.model for each in found.parity):
        mine = [each for each in found.parity if each.model == name]
        keys = list(dict.fromkeys((each.variant, each.style, each.sha256) for each in mine))
        labels = {key: label(each, found.files) for each in mine for key in [_key(each)]}
        yield ReportModelView(
            name=name,
            columns=tuple(labels[key] for key in keys),
            rows=tuple(
                _row(runner, [each for each in mine if each.label == runner], keys, labels, found)
                for runner in dict.fromkeys(each.label for each in mine)
            ),
            agreements=tuple(_agreement(each) for each in found.agreements if each.model == name),
            comparisons=tuple(_comparison(each, labels[_key(each)], found) for each in mine if not each.skipped),
        )


def _agreement(found: AgreementEntry) -> AgreementView:
    if found.agree and not found.alone:
        return AgreementView(tone="pass", mark="✓", text=found.summary)
    return AgreementView(tone="poor" if found.is_reference_alone else "fair", mark="!", text=found.summary)


Key = tuple[str, str, str]


def _key(parity: ParityEntry) -> Key:
    return parity.variant, parity.style, parity.sha256


def label(parity: ParityEntry, files: Sequence[FileEntry]) -> str:
    """Name of the compared file or graph: `int8, fixed .ort`."""
    file = next((each for each in files if each.model == parity.model and each.sha256 == parity.sha256), None)
    return full_name(file, files) if file else f"{parity.variant}, ONNX graph"


def anchor(parity: ParityEntry, found: ReportDocument) -> str:
    return f"comparison-{found.parity.index(parity) + 1}"


def _row(
    runner: str, mine: Sequence[ParityEntry], keys: Sequence[Key], labels: dict[Key, str], found: ReportDocument
) -> RowView:
    by_key = {_key(each): each for each in mine}
    cells = [_cell(by_key.get(key), labels[key], found) for key in keys]
    about = dict.fromkeys(each.runs_on for each in mine if each.runs_on)
    return RowView(runner=runner, about="; ".join(about), cells=tuple(_joined(cells)))


def _cell(parity: ParityEntry | None, file: str, found: ReportDocument) -> CellView:
    if parity is None:
        return CellView(label=file, span=1, tone="plain", mark="", word=NOT_ASKED, numbers="", reason="", anchor="")
    state = STATES[parity.state]
    return CellView(
        label=file,
        span=1,
        tone=state.tone,
        mark=state.mark,
        word=state.word,
        numbers=numbers(parity) if parity.state == "passed" else "",
        reason=parity.skipped or parity.refusal or _failure(parity),
        anchor="" if parity.skipped else anchor(parity, found),
    )


def _failure(parity: ParityEntry) -> str:
    """Why the worst output failed; empty if all are within their tolerance."""
    found = worst(parity)
    return f"'{found.name}': {found.failure}" if found and found.failure else ""


def _joined(cells: Sequence[CellView]) -> Iterator[CellView]:
    """Merges neighbouring cells with equal contents, such as those of a missing runner."""
    for _, group in groupby(cells, key=lambda each: (each.word, each.reason, each.anchor)):
        same = list(group)
        first = same[0]
        if len(same) == 1:
            yield first
            continue
        yield CellView(
            label="every file" if len(same) == len(cells) else "; ".join(each.label for each in same),
            span=len(same),
            tone=first.tone,
            mark=first.mark,
            word=first.word,
            numbers=first.numbers,
            reason=first.reason,
            anchor=first.anchor,
        )


def worst(parity: ParityEntry) -> OutputEntry | None:
    """The output furthest from its reference; one over its tolerance comes before all others."""
    return max(
        parity.outputs,
        key=lambda each: (bool(each.failure), number_in(each.max_rel_error, odd=math.inf), each.mismatches),
        default=None,
    )


def numbers(parity: ParityEntry) -> str:
    """The worst error and its limit, as text; empty if nothing was compared."""
    found = worst(parity)
    if found is None:
        return ""
    if found.is_exact:
        return plural(found.mismatches, "value") + " unequal" if found.mismatches else "all values equal"
    if found.mismatches:
        return f"{plural(found.mismatches, 'value')} NaN or infinite"
    limit = allowed_share(found)
    return f"{amount(found.max_rel_error)} of the scale" + (f", {amount(limit)} allowed" if limit else "")


def allowed_share(output: OutputEntry) -> float | None:
    """The largest allowed error as a share of the scale; None if the output has another kind of limit."""
    scale = number_in(output.scale, odd=math.inf)
    if output.rtol is None or output.atol is None or not scale:
        return None
    return rounded(output.rtol + output.atol / scale)


def _comparison(parity: ParityEntry, file: str, found: ReportDocument) -> ComparisonView:
    state = STATES[parity.state]
    return ComparisonView(
        anchor=anchor(parity, found),
        title=f"{parity.label}: {file}",
        tone=state.tone,
        mark=state.mark,
        word=state.word,
        numbers=numbers(parity),
        is_open=parity.state == "failed",
        facts=tuple(_facts(parity)),
        outputs=tuple(_output(each) for each in parity.outputs),
    )


def _facts(parity: ParityEntry) -> Iterator[FactView]:
    if parity.refusal:
        yield FactView(label="It says", value=parity.refusal)
    if parity.runs_on:
        yield FactView(label="Runs on", value=parity.runs_on)
    if parity.placed is not None:
        of = "" if parity.nodes is None else f" of {parity.nodes:,}"
        yield FactView(label="Nodes on it", value=f"{parity.placed:,}{of}; the CPU runs the rest")
    yield FactView(label="Compared with", value=_against(parity))
    yield FactView(label="Samples", value=parity.samples)
    allowed = f"{amount(parity.atol)} + {amount(parity.tolerance)} x the scale of an output, unless set for it"
    yield FactView(label="Allowed", value=allowed)
    if parity.conditioning:
        yield FactView(label="Conditioning", value=parity.conditioning)
    if parity.not_compared:
        names = ", ".join(parity.not_compared)
        yield FactView(label="Not compared", value=f"{names}: random, or without a number on any sample")
    if parity.reshaped:
        names = ", ".join(parity.reshaped)
        yield FactView(label="Other shapes", value=f"{names}: packages treat their shapes as dynamic")
    yield FactView(label="sha256", value=parity.sha256)


def _against(parity: ParityEntry) -> str:
    if parity.from_original is None:
        return parity.against
    far = f"{amount(parity.from_original)} of the scale from the original"
    return f"{parity.against}, which is {far}, on {parity.from_original_samples}"


def _output(output: OutputEntry) -> ReportOutputView:
    state = STATES["failed" if output.failure else "passed"]
    return ReportOutputView(
        name=output.name,
        tone=state.tone,
        mark=state.mark,
        word=state.word,
        measures=tuple(_measures(output)),
        failure=output.failure,
        distribution=distribution(output.histogram, allowed_share(output), has_failed=bool(output.failure)),
    )


def _measures(output: OutputEntry) -> Iterator[FactView]:
    if not output.is_exact:
        yield FactView(label="max abs error", value=amount(output.max_abs_error))
        yield FactView(label="scale", value=f"{amount(output.scale)}, {output.scale_from}")
        yield FactView(label="max rel error", value=f"{amount(output.max_rel_error)} of the scale")
        if output.rtol is not None and output.atol is not None:
            yield FactView(label="allowed", value=_allowed(output.rtol, output.atol, output.scale))
        yield FactView(label="mean abs error", value=amount(output.mean_abs_error))
        yield FactView(label="SQNR", value=decibels(output.sqnr_db))
        yield FactView(label="cosine", value=_cosine(output))
    for name, share in (("top-1 agreement", output.top1_agreement), ("top-5 agreement", output.top5_agreement)):
        if share is not None:
            yield FactView(label=name, value=percent(share))
    kind = "unequal" if output.is_exact else "NaN or infinite"
    yield FactView(label=f"{kind} in one alone" if not output.is_exact else kind, value=f"{output.mismatches:,}")
    yield FactView(label="values compared", value=f"{output.numbers:,}")
    yield FactView(label="worst sample", value=f"{output.worst_sample}")


def _allowed(rtol: float, atol: float, scale: Number) -> str:
    """Both parts of the tolerance and their sum."""
    total = atol + rtol * number_in(scale, odd=math.inf)
    return f"{amount(atol)} + {amount(rtol)} x {amount(scale)} = {total:.3g}"


def _cosine(output: OutputEntry) -> str:
    return amount(output.cosine) if isinstance(output.cosine, str) else f"{output.cosine:.6f}"
