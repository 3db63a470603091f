"""Output of `mobpack check --bisect`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.cli.options import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packager.config import Config
    from packager.core.console import Console
    from packager.verification.bisection import Bisection
    from packager.workflows.bisect import Bisected
    from packager.workflows.requested import BuildRequest

SHOWN = 40
"""compared values shown; `--json` prints all of them"""


def part(
    config: "Config", request: "BuildRequest", sides: tuple[str, str], console: "Console", *, as_json: bool
) -> None:
    """`--bisect`: prints where two sides diverge. Raises ParityError when they do."""
    from packager.workflows import bisect

    show(bisect.run(config, request, *sides, console), request.rules.evidence, console, as_json=as_json)


def show(found: "Sequence[Bisected]", evidence: Path, console: "Console", *, as_json: bool) -> None:
    """Prints where two sides diverge. Raises ParityError when they do."""
    from packager.core.errors import ParityError
    from packager.verification.bisection import BisectionKind

    if as_json:
        print_json({"bisections": [document(each) for each in found]})
    for each in () if as_json else found:
        console.result(f"{each.model} ({each.samples}; {each.atol:g} + {each.tolerance:g} x scale allowed)")
        console.table("", ["value", "operator", "differs by", "SQNR", "differs alone by"], layer_rows(each.bisection))
        for note in each.bisection.notes:
            console.say(f"  not compared: {note}")
        console.result(each.bisection.words)
    diverging = [each for each in found if each.bisection.kind is not BisectionKind.AGREEMENT]
    if diverging:
        first = diverging[0]
        where = f"{evidence / first.model} holds the node, its inputs and its outputs"
        raise ParityError(f"{first.model}: {first.bisection.words}", hint=where if first.bisection.repro else "")


def document(found: "Bisected") -> dict[str, object]:
    from packager.core.to_json import plain

    shown = replace(found.bisection, repro=None)  # --evidence decides where the repro is written
    return {
        "model": found.model,
        "samples": found.samples,
        "tolerance": found.tolerance,
        "atol": found.atol,
        **plain(shown),
    }


def layer_rows(found: "Bisection") -> list[list[str]]:
    """The last compared values, up to the node at fault."""
    return [
        [
            each.value,
            each.operator,
            f"{each.max_rel_error:.2g}",
            f"{each.sqnr_db:.1f} dB",
            "" if each.local_rel_error is None else f"{each.local_rel_error:.2g}",
        ]
        for each in found.layers[-SHOWN:]
    ]
