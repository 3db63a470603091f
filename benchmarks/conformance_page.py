"""Writes benchmarks/results/conformance.md: counts of all cases, and every exception by name."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

from benchmarks.conformance_cases import EXACT, ROUNDINGS
from benchmarks.conformance_make import CONTRACT, FORMS
from benchmarks.conformance_verdicts import Asked, Judged, Verdict
from packager.engines.environments.runtime import shipped_version
from packager.engines.session.refusals import explain

HEAD = """# Conformance

Shows how the files that mobpack makes do on the test suite that ONNX generates for its operators.

    python -m benchmarks.conformance

The result is this page: the verdicts on all cases, and every exception by name.

ONNX Runtime {shipped}, which packages depend on, runs each file of every case in
`onnx.backend.test.case.node` of onnx {onnx}. The suite's expected outputs and tolerances judge the outputs.
onnxruntime {converter} makes the files, as in `mobpack build`. The contract's writer is tried with a table for every
input and output.

- *right*: the outputs are within the suite's tolerances.
- *correctly refused*: mobpack refuses the model, and the model has the property that the message names.
- *wrongly refused*: mobpack refuses the model without such a reason.
- *wrong*: the outputs differ.
- *crashed*: the process died.
"""
PATH = re.compile(r"^ONNX Runtime refuses: \w+: |Load model from \S+ (failed:)?")
"""The parts of a message that are the same for every case, or name this run's folder."""
REASONS: Mapping[tuple[str, str], str] = {
    ("openvino", "CastLike"): "infinities become the largest float32: openvino issue 37968",
    ("openvino", "GRU"): "it ignores the attribute layout: openvino issue 37820",
    ("openvino", "LSTM"): "it ignores the attribute layout: openvino issue 37820; and peepholes",
    ("openvino", "RNN"): "it ignores the attribute layout: openvino issue 37820",
    ("openvino", "ReduceMax"): "infinities become the largest float32: openvino issue 37968",
    ("openvino", "TopK"): "the order of equal values",
}
"""(Engine, operator) -> why it differs, where that is known."""
SHOWN = 160
"""Characters of a message."""


LISTED = 12
"""Names of a long list that are shown."""
OWN = (*FORMS, CONTRACT)
ENGINES = """## Engines

The same cases, without those that draw random numbers, on every engine that apps or `--runners` have. ONNX Runtime
opens all five files of a case, which counts by its worst file; other engines read the graph of mobpack's file.
*refused*: the engine, or mobpack, says that it does not take the case. An engine whose run was stopped was *asked* a
random part of the cases.
"""
DECIDED = """## Disagreements

Outputs outside of the suite's tolerances, and crashes, by operator. In brackets: how many of them onnx's own
implementation confirms in float64; where it computes none, the suite's expected outputs decide. Errors of at most
{roundings} units in the last place of an output's largest value are roundings, and right.
"""


def text(judged: Sequence[Judged], asked: Sequence[Asked]) -> str:
    head = HEAD.format(onnx=version("onnx"), shipped=shipped_version(), converter=version("onnxruntime"))
    parts = [*_counts(judged), "", *_engines(asked), "", *_disagreements(asked), *_exceptions(judged)]
    return "\n".join([head, *parts, *_failing(judged)]) + "\n"


def _engines(asked: Sequence[Asked]) -> Iterator[str]:
    yield ENGINES
    yield "| engine | asked | right | refused | wrong | crashed |"
    yield "|---|--:|--:|--:|--:|--:|"
    for each in asked:
        found = Counter(one.verdict for one in each.found.values())
        counts = [found[verdict] for verdict in (Verdict.RIGHT, Verdict.REFUSED, Verdict.WRONG, Verdict.CRASHED)]
        yield f"| {each.words} | {len(each.found)} | {' | '.join(map(str, counts))} |"


def _disagreements(asked: Sequence[Asked]) -> Iterator[str]:
    yield DECIDED.format(roundings=ROUNDINGS)
    alike: dict[tuple[str, Verdict], list[str]] = defaultdict(list)
    for each in asked:
        for verdict in (Verdict.WRONG, Verdict.CRASHED):
            groups: dict[str, list[str]] = defaultdict(list)
            for case, found in each.found.items():
                if found.verdict is verdict:
                    groups[each.operators[case]].append(case)
            if groups:
                alike["; ".join(_of_operators(each, groups)), verdict].append(each.words)
    for (operators, verdict), engines in alike.items():
        yield f"- {' and '.join(engines)}, {verdict}: {operators}\n"


def _of_operators(asked: Asked, groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for operator, cases in sorted(groups.items()):
        sure = sum(EXACT in asked.found[case].words for case in cases)
        names = ", ".join(f"`{case.removeprefix('test_')}`" for case in cases[:LISTED])
        more = f" and {len(cases) - LISTED} more" if len(cases) > LISTED else ""
        reason = f" ({why})" if (why := REASONS.get((asked.name, operator))) else ""
        known = f" ({sure})" if sure else ""
        yield f"**{operator}** {len(cases)}{known}{reason}: {names}{more}"


def _counts(judged: Sequence[Judged]) -> Iterator[str]:
    passing = [each for each in judged if each.passes]
    yield f"ONNX Runtime itself passes {len(passing)} of {len(judged)} cases. Verdicts on those:\n"
    yield f"| file | {' | '.join(Verdict)} |"
    yield "|---|" + "--:|" * len(Verdict)
    for form in OWN:
        found = Counter(each.forms[form].verdict for each in passing if form in each.forms)
        yield f"| {form} | {' | '.join(str(found[verdict]) for verdict in Verdict)} |"
    crashed = [each for each in judged if not each.passes and each.with_verdict(Verdict.CRASHED)]
    failing = len(judged) - len(passing)
    yield f"\nmobpack crashes on {len(crashed)} of the {failing} cases that ONNX Runtime does not pass."


def _exceptions(judged: Sequence[Judged]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in judged:
        for form, found in each.forms.items():
            if found.verdict is Verdict.CRASHED or (each.passes and found.verdict is not Verdict.RIGHT):
                groups[found.verdict, found.reason or _short(found.words)].append(f"{each.name} ({form})")
    yield "## Exceptions among the cases that ONNX Runtime passes\n"
    if not groups:
        yield "None.\n"
    for (verdict, reason), names in sorted(groups.items()):
        yield f"- {verdict}, {reason}: {', '.join(_by_case(names))}\n"


def _by_case(names: Sequence[str]) -> Iterator[str]:
    """Each case once; its forms follow unless it has all of them."""
    forms: dict[str, list[str]] = defaultdict(list)
    for name in names:
        case, _, form = name.rstrip(")").partition(" (")
        forms[case].append(form)
    for case, found in forms.items():
        yield f"`{case}`" if len(found) == len(OWN) else f"`{case}` ({', '.join(found)})"


def _failing(judged: Sequence[Judged]) -> Iterator[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for each in judged:
        if not each.passes:
            groups[_kind(each.original)].append(f"`{each.name}`")
    yield "## Cases that ONNX Runtime does not pass\n"
    for kind, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        yield f"- {kind} ({len(names)}): {', '.join(names[:LISTED])}{more}\n"


def _kind(words: str) -> str:
    """The kind of failure that `words` describe."""
    for known, said in KINDS.items():
        if known in words:
            return said
    return _short(words)


KINDS = {
    "differs: ": "outputs differ from the suite's",
    "is under development and support for this is limited": "operator set not supported yet",
    "not a registered function/op": "operator not supported",
    "Failed to find kernel": "no kernel for these types",
    "Could not find an implementation": "no kernel for these types",
    "Unrecognized attribute": "attribute not supported",
    "less than 8 bits": "inputs of less than 8 bits, which the Python API does not take",
    "Failed to construct locale": "locale not installed on this machine",
    "Unsupported model IR version": "IR version not supported",
    "Batchwise recurrent operations": "recurrent operators with layout 1 (batch first)",
    "bound to different types": "types that the operator does not combine",
}


def _short(words: str) -> str:
    said = PATH.sub("", explain(words))
    return said if len(said) <= SHOWN else f"{said[:SHOWN]} ..."
