"""Describes bisections."""

import math
from collections.abc import Mapping, Sequence

from packager.core.findings import IllConditioned, OutputError
from packager.verification.bisection.figures import ErrorLimits
from packager.verification.bisection.result import ValueDifference
from packager.verification.bisection.subject import BisectionSubject

SHOWN = 3


def share(error: float) -> str:
    """An error relative to a value's largest number, in words."""
    return "NaN, infinity or other integers" if math.isinf(error) else f"{error:.3g} of its largest value"


def on_node(a: str, b: str, row: ValueDifference, error: OutputError, limits: ErrorLimits, where: str) -> str:
    if error.failure:
        how = f"has another form: {error.failure}"
    elif error.is_exact:
        how = f"has {error.mismatch_count} of {error.number_count} values that differ"
    elif error.mismatch_count:
        places = "place" if error.mismatch_count == 1 else "places"
        how = f"has NaN or infinity at {error.mismatch_count} {places} where it should not, or none where it should"
    else:
        how = (
            f"is off by {error.max_rel_error:.3g} of its largest value "
            f"({error.max_abs_error:.3g} of {error.scale:.3g}, allowed {limits.allowed(error):.3g}; "
            f"{error.sqnr_db:.1f} dB)"
        )
    return (
        f"{b} parts from {a} at node '{row.node}' ({row.operator}): "
        f"given the same inputs its output '{row.value}' {how}, {where}"
    )


def on_refusal(a: str, b: str, node: str, operator: str, refusal: str, where: str) -> str:
    return f"{b} does not run {where}, where {a} does: it stops at node '{node}' ({operator}): {refusal}"


def on_order(a: BisectionSubject, b: BisectionSubject, swaps: Mapping[int, int]) -> str:
    pairs = [
        f"output {mine} ('{b.outputs[mine]}') is output {other} ('{a.outputs[other]}')"
        for mine, other in sorted(swaps.items())
    ]
    return f"{b.side.label} gives the outputs of {a.side.label} in another order: its {', its '.join(pairs)}"


def on_growth(a: str, b: str, rows: Sequence[ValueDifference], worst: OutputError | None, refusal: str) -> str:
    """`rows` are those of all values, `worst` is the error of the final outputs."""
    if not worst:
        return f"{b} does not run on what {a} runs on, and no single node shows why: {refusal}"
    start = next((row for row in rows if row.max_rel_error), None)
    begins = f"from {share(start.max_rel_error)} at node '{start.node}' " if start else ""
    asked = [row for row in rows if row.local_rel_error is not None]
    largest = sorted(asked, key=lambda row: -(row.local_rel_error or 0.0))[:SHOWN]
    most = ", ".join(f"{row.local_rel_error:.3g} of '{row.node}' ({row.operator})" for row in largest)
    alone = f"; the largest errors of nodes alone: {most}" if most else ""
    return (
        f"no single node makes {b} part from {a}: over {len(rows)} compared values the error grows "
        f"{begins}to {share(worst.max_rel_error)} at output '{worst.output}'{alone}"
    )


def on_conditioning(a: str, b: str, found: IllConditioned, where: str) -> str:
    return (
        f"no single node makes {b} part from {a}, which is ill-conditioned {where}: it moves by {found.moves_by:.3g} "
        f"of {found.scale:.3g} itself (output '{found.output}') when its inputs change in the last bits"
    )


def on_fusion_somewhere(wrong: str) -> str:
    return (
        f"the nodes of {wrong} are right without optimizations: the rewrites of its runtime as it opens the "
        f"file are at fault"
    )


def on_fusion(wrong: str, first: str, last: str) -> str:
    where = f"the output of node '{first}'" if first == last else f"the outputs of the nodes from '{first}' to '{last}'"
    return f"{wrong} is right without graph optimizations: a fusion is at fault, of nodes that compute and take {where}"
