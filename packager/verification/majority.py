"""Compares engines of different makes with each other: when one disagrees, it says which one stands alone.

All builds of ONNX Runtime have one vote. Expected values are those of one engine, never a mean, which no engine has
computed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from packager.core.errors import MobpackError
from packager.core.findings import Agreement
from packager.engines.runners import Outcome
from packager.engines.runners.runner import ONNX_RUNTIME
from packager.verification.failures import Case, new_folder
from packager.verification.parity import OriginalOutputs
from packager.verification.parity.drawing import Drawn
from packager.verification.parity.judging import Judge

SAMPLES = 3
"""Maximum number of samples on which engines that disagree run again."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two engines' outputs for the same samples."""

    error: float
    """the largest, as a share of the output's scale"""
    output: str
    """the output with it"""
    agrees: bool


Pairs = Mapping[frozenset[str], Pair]


def agreements(cases: Sequence[Case], references: OriginalOutputs, scratch: Path) -> tuple[Agreement, ...]:
    """An agreement for every graph that an engine other than ONNX Runtime has run; `cases` are all comparisons, files
    go below `scratch`. The original's outputs are ONNX Runtime's."""
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for case in cases:
        found = case.checked.parity
        if case.runner.ENGINE not in ("", ONNX_RUNTIME) and found.has_run and found.outputs:
            groups.setdefault((found.model, found.variant, found.sha256), []).append(case)
    return tuple(_agreement(_distinct(each), references, scratch) for each in groups.values())


def _distinct(cases: Sequence[Case]) -> list[Case]:
    """The first case of every engine, those that disagree first: two runners with one engine are one opinion."""
    ordered = sorted(cases, key=lambda each: not each.checked.parity.over)
    return list({each.runner.ENGINE: each for each in reversed(ordered)}.values())


def _agreement(cases: Sequence[Case], references: OriginalOutputs, scratch: Path) -> Agreement:
    found = cases[0].checked.parity
    engines = (ONNX_RUNTIME, *sorted(each.runner.ENGINE for each in cases))
    samples = list(_samples(cases))
    if not samples:
        within = max(each.checked.parity.max_rel_error for each in cases)
        return Agreement(
            model=found.model, variant=found.variant, sha256=found.sha256, engines=engines, agree=engines, within=within
        )
    outcomes = {ONNX_RUNTIME: [each.expected for each in samples]}
    for case in cases:
        if ran := _outcomes(case, samples, new_folder(scratch, f"engine-{case.runner.label()}")):
            outcomes[case.runner.ENGINE] = ran
    return judged(found.model, found.variant, found.sha256, _pairs(cases[0], outcomes, references))


def _samples(cases: Sequence[Case]) -> Iterator[Drawn]:
    """The worst samples of the cases that failed, each once."""
    worst = [each.checked.worst for each in cases if each.checked.parity.over and each.checked.worst]
    yield from {each.path: each for each in worst[:SAMPLES]}.values()


def _outcomes(case: Case, samples: Sequence[Drawn], folder: Path) -> list[Outcome]:
    """The engine's outputs for the samples; none if it does not run them again."""
    found = []
    try:
        with case.runner.open(case.subject.runnable(folder), folder) as session:
            for number, drawn in enumerate(samples):
                outputs = folder / f"sample-{number}"
                outputs.mkdir()
                found.append(session.run(drawn.path, outputs))
    except MobpackError:
        return []
    return [] if any(each.error for each in found) else found


def _pairs(case: Case, outcomes: Mapping[str, Sequence[Outcome]], references: OriginalOutputs) -> Pairs:
    reference = references.of(case.subject.original, case.settings)
    judges = [
        Judge(name, index, case.settings, reference.scales[index])
        for index, name in enumerate(case.output_names)
        if index not in reference.unstable
    ]
    return {frozenset(two): _pair(judges, *(outcomes[name] for name in two)) for two in combinations(outcomes, 2)}


def _pair(judges: Sequence[Judge], first: Sequence[Outcome], second: Sequence[Outcome]) -> Pair:
    parts = [(judge, judge.part(a, b)) for a, b in zip(first, second, strict=True) for judge in judges]
    worst, part = max(parts, key=lambda each: (bool(each[0].failure(each[1])), each[1].result().max_rel_error))
    return Pair(error=part.result().max_rel_error, output=worst.output, agrees=not worst.failure(part))


def judged(model: str, variant: str, sha256: str, pairs: Pairs) -> Agreement:
    """The largest set of engines of which every two agree, if it has more than half of them."""
    engines = sorted({name for pair in pairs for name in pair}, key=lambda name: (name != ONNX_RUNTIME, name))
    agree = _largest(engines, pairs)
    inside = [pairs[frozenset(two)].error for two in combinations(agree, 2)]
    across = [pairs[frozenset((one, other))] for one in engines if one not in agree for other in agree]
    nearest = min(across, key=lambda each: each.error, default=None)
    return Agreement(
        model=model,
        variant=variant,
        sha256=sha256,
        engines=tuple(engines),
        agree=tuple(agree),
        within=max(inside, default=0.0),
        apart=nearest.error if nearest else 0.0,
        output=nearest.output if nearest else "",
    )


def _largest(engines: Sequence[str], pairs: Pairs) -> Sequence[str]:
    for size in range(len(engines), len(engines) // 2, -1):
        for some in combinations(engines, size):
            if all(pairs[frozenset(two)].agrees for two in combinations(some, 2)):
                return some
    return ()
