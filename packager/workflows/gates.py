"""Whether what was found lets a release go out, and what is left of it where it does not."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager import reporting
from packager.core.console import Console
from packager.core.errors import MobpackError, ModelError, ParityError, ToolError
from packager.core.findings import Report
from packager.core.values import Plan
from packager.reporting import Extras
from packager.verification.kept import kept
from packager.verification.partition.report import Gates, enforce_partition_gates

NO_GATES = Gates()
EVIDENCE = Path("mobpack-evidence")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a release has to keep to, beside its own configuration."""

    gates: Gates = NO_GATES
    strict: bool = False
    """whether warnings stop it"""
    evidence: Path = EVIDENCE
    """folder for what shows a failed comparison; it is made when there is one, and replaced as a whole"""


def judge(report: Report, rules: Rules, console: Console) -> None:
    """Raises ParityError for what does not compute the same, GateError for what is beyond the gates of `rules`,
    ModelError for warnings with --strict."""
    refuse_failed(report)
    enforce_partition_gates(report.partitions, rules.gates)
    refuse_warnings(rules, console)


def refuse_failed(report: Report) -> None:
    """Raises ParityError for the first comparison that failed, and says how many more did."""
    if not report.failures:
        return
    first, *others = report.failures
    node = f"; {first.node}" if first.node else ""
    more = f"; {len(others)} more failed" if others else ""
    shown = f"{first.evidence} shows it; " if first.evidence else ""
    raise ParityError(f"{first.message}{node}{more}", hint=f"{shown}{first.hint}")


def refuse_warnings(rules: Rules, console: Console) -> None:
    if rules.strict and console.warnings:
        raise ModelError(
            f"--strict: {len(console.warnings)} warning(s), the first: {console.warnings[0]}",
            hint="mend what the warnings say, or build without --strict",
        )


def keep_evidence(plans: Sequence[Plan], report: Report, rules: Rules, console: Console) -> Report:
    """Puts the evidence of failures where the user finds it; the report then says where. Where that cannot be written,
    the failures still count, and are without evidence."""
    try:
        with kept(rules.evidence) as folder:
            for failure in report.failures:
                if failure.evidence:
                    shutil.copytree(failure.evidence, folder / failure.evidence.name, copy_function=shutil.copyfile)
            reporting.write(plans, report, folder, Extras(warnings=tuple(console.warnings)))
    except (ToolError, shutil.Error) as error:
        why = error.message if isinstance(error, ToolError) else "no space left, or a file that cannot be written"
        console.warn(f"the evidence is lost: {why}")
        return replace(report, failures=tuple(replace(each, evidence=None) for each in report.failures))
    failures = [
        replace(each, evidence=rules.evidence / each.evidence.name if each.evidence else None)
        for each in report.failures
    ]
    return replace(report, failures=tuple(failures))


def write_report(
    plans: Sequence[Plan], report: Report, extras: Extras, path: Path, rules: Rules, console: Console
) -> None:
    """What was found as a page at `path`, and as JSON beside it. Raises ToolError where that cannot be written."""
    whole = replace(extras, warnings=tuple(console.warnings), stopped_by=tuple(_stopping(report, rules, console)))
    reporting.write(plans, report, path.parent, whole, name=path.stem)


def _stopping(report: Report, rules: Rules, console: Console) -> Iterator[str]:
    """What stops a release beside comparisons that failed, in words."""
    try:
        enforce_partition_gates(report.partitions, rules.gates)
    except MobpackError as error:
        yield error.message
    try:
        refuse_warnings(rules, console)
    except MobpackError as error:
        yield error.message
