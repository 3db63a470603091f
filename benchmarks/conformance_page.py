"""docs/conformance.md: counts of all cases, and every exception by its name."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from benchmarks.conformance_make import FORMS
from benchmarks.conformance_verdicts import Judged, Verdict
from packager.environments.runtime import shipped_version
from packager.session.refusals import explain

HEAD = """# Conformance

Written by `python -m benchmarks.conformance`: every case that ONNX's own test-suite generates for its operators
(`onnx.backend.test.case.node` of onnx {onnx}), run by ONNX Runtime {shipped}, which packages depend on, and judged by
the suite's own expected outputs and tolerances. The files are made by onnxruntime {converter}, as `mobpack build` makes
them. A refusal counts as true where the model itself has what mobpack says against it.
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
    yield f"{len(judged)} cases; ONNX Runtime itself passes {len(passing)}. Of those:\n"
    yield f"| file | {' | '.join(Verdict)} |"
    yield "|---|" + "--:|" * len(Verdict)
    for form in FORMS:
        found = Counter(each.forms[form].verdict for each in passing if form in each.forms)
        yield f"| {form} | {' | '.join(str(found[verdict]) for verdict in Verdict)} |"
    crashed = [each for each in judged if not each.passes and each.with_verdict(Verdict.CRASHED)]
    yield f"\nOf the {len(judged) - len(passing)} that ONNX Runtime does not pass, mobpack crashes on {len(crashed)}."


def _exceptions(judged: Sequence[Judged]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in judged:
        for form, found in each.forms.items():
            if found.verdict is Verdict.CRASHED or (each.passes and found.verdict is not Verdict.RIGHT):
                groups[found.verdict, found.reason or _short(found.words)].append(f"{each.name} ({form})")
    yield "## Exceptions among those that ONNX Runtime passes\n"
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
    "differs: ": "gives other outputs than the suite expects",
    "is under development and support for this is limited": "an operator set that it does not know yet",
    "not a registered function/op": "an operator that it does not have",
    "Failed to find kernel": "no kernel for the operator with these types",
    "Could not find an implementation": "no kernel for the operator with these types",
    "Unrecognized attribute": "an attribute that it does not know",
    "less than 8 bits": "inputs of less than 8 bits, which its Python interface does not take",
    "Failed to construct locale": "a locale that this machine does not have",
    "Unsupported model IR version": "a version of the file format that it does not read",
    "Batchwise recurrent operations": "batches first in recurrent operators",
    "bound to different types": "types that its operator does not take together",
}


def _short(words: str) -> str:
    said = PATH.sub("", explain(words))
    return said if len(said) <= SHOWN else f"{said[:SHOWN]} ..."
