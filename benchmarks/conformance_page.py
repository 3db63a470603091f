"""Writes benchmarks/results/conformance.md: counts of all cases, and every exception by name."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from benchmarks.conformance_make import FORMS
from benchmarks.conformance_verdicts import Judged, Verdict
from packager.engines.environments.runtime import shipped_version
from packager.engines.session.refusals import explain

HEAD = """# Conformance

Shows how the files that mobpack makes do on the test suite that ONNX generates for its operators.

    python -m benchmarks.conformance

The result is this page: the verdicts on all cases, and every exception by name.

ONNX Runtime {shipped}, which packages depend on, runs each file of every case in
`onnx.backend.test.case.node` of onnx {onnx}. The suite's expected outputs and tolerances judge the outputs.
onnxruntime {converter} makes the files, as in `mobpack build`.

- *right*: the outputs are within the suite's tolerances.
- *correctly refused*: mobpack refuses the model, and the model has the property that the message names.
- *wrongly refused*: mobpack refuses the model without such a reason.
- *wrong*: the outputs differ.
- *crashed*: the process died.
"""
PATH = re.compile(r"^ONNX Runtime refuses: \w+: |Load model from \S+ (failed:)?")
"""The parts of a message that are the same for every case, or name this run's folder."""
SHOWN = 160
"""Characters of a message."""


def text(judged: Sequence[Judged]) -> str:
    head = HEAD.format(onnx=version("onnx"), shipped=shipped_version(), converter=version("onnxruntime"))
    return "\n".join([head, *_counts(judged), "", *_exceptions(judged), *_failing(judged)]) + "\n"


def _counts(judged: Sequence[Judged]) -> Iterator[str]:
    passing = [each for each in judged if each.passes]
    yield f"ONNX Runtime itself passes {len(passing)} of {len(judged)} cases. Verdicts on those:\n"
    yield f"| file | {' | '.join(Verdict)} |"
    yield "|---|" + "--:|" * len(Verdict)
    for form in FORMS:
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
        yield f"`{case}`" if len(found) == len(FORMS) else f"`{case}` ({', '.join(found)})"


def _failing(judged: Sequence[Judged]) -> Iterator[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for each in judged:
        if not each.passes:
            groups[_kind(each.original)].append(f"`{each.name}`")
    yield "## Cases that ONNX Runtime does not pass\n"
    for kind, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"- {kind} ({len(names)}): {', '.join(names)}\n"


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
