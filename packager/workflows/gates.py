"""Gates of a release: decide from the evidence whether it may be written, and keep the evidence of failures."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager import reporting
from packager.core.console import Console
from packager.core.errors import GateError, MobpackError, ModelError, ParityError, ToolError
from packager.core.findings import Report
from packager.core.values import Plan
from packager.engines.environments.environment import INSTALL
from packager.reporting import Extras
from packager.verification.kept import kept
from packager.verification.partition.report import Gates, enforce_partition_gates, judged

NO_GATES = Gates()
EVIDENCE = Path("mobpack-evidence")


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules that a release must meet, in addition to its configuration."""

    gates: Gates = NO_GATES
    strict: bool = False
    """whether warnings are errors"""
    evidence: Path = EVIDENCE
    """folder for the evidence of failed comparisons; written only when one fails, and replaced as a whole"""

    @property
    def must_examine(self) -> bool:
        """Whether a provider of which nothing is known fails."""
        return self.strict or self.gates != NO_GATES


def judge(report: Report, rules: Rules, console: Console) -> None:
    """Raises ParityError for a failed comparison, GateError for a provider that was not examined and for a model beyond
    the gates of `rules`, ModelError for warnings with --strict."""
    refuse_failed(report)
    refuse_unexamined(report, rules)
    if rules.gates != NO_GATES and not report.partitions:
        console.say("  no provider is judged by the gates: every model ships for the CPU alone, as its plan says")
    enforce_partition_gates(judged(report), rules.gates)
    refuse_warnings(rules, console)


def refuse_failed(report: Report) -> None:
    """Raises ParityError for the first failed comparison, with the number of others."""
    if not report.failures:
        for proof in report.pipelines:
            if proof.failure:
                raise ParityError(
                    f"pipeline '{proof.pipeline}' for {' and '.join(proof.places)} on {proof.runner}: {proof.failure}",
                    hint="its stages pass one by one: see `mobpack check`, or change [model.NAME.tolerance.OUTPUT]",
                )
        return
    first, *others = report.failures
    node = f"; {first.node}" if first.node else ""
    more = f"; {len(others)} more failed" if others else ""
    shown = f"{first.evidence} shows it; " if first.evidence else ""
    raise ParityError(f"{first.message}{node}{more}", hint=f"{shown}{first.hint}")


def refuse_unexamined(report: Report, rules: Rules) -> None:
    """With --strict, and with gates on partitions: raises GateError that names every provider of which nothing is
    known, and one command that installs what examines them."""
    unknown = [each for each in judged(report) if each.skipped] if rules.must_examine else []
    if not unknown:
        return
    asks = "--strict" if rules.gates == NO_GATES else "the gates on partitions"
    lines = dict.fromkeys(f"model '{each.model}' on {each.target}, {each.provider}: {each.skipped}" for each in unknown)
    names = dict.fromkeys(name for each in unknown for name in INSTALL.findall(each.skipped))
    command = f"mobpack doctor {' '.join(f'--install {name}' for name in names)}; or " if names else ""
    raise GateError(
        f"{asks}: not examined: {'; '.join(lines)}",
        hint=f"{command}leave out the providers that nothing can examine on this machine",
    )


def refuse_warnings(rules: Rules, console: Console) -> None:
    if rules.strict and console.warnings:
        raise ModelError(
            f"--strict: {len(console.warnings)} warning(s); first warning: {console.warnings[0]}",
            hint="fix the warnings, or run without --strict",
        )


def keep_evidence(plans: Sequence[Plan], report: Report, rules: Rules, console: Console) -> Report:
    """Moves the evidence of failures to the user's folder and returns the report with the new paths. If the folder
    cannot be written, the failures still count, without evidence."""
    try:
        with kept(rules.evidence) as folder:
            for failure in report.failures:
                if failure.evidence:
                    shutil.copytree(failure.evidence, folder / failure.evidence.name, copy_function=shutil.copyfile)
            reporting.write(plans, report, folder, Extras(warnings=tuple(console.warnings)))
    except (ToolError, shutil.Error) as error:
        why = error.message if isinstance(error, ToolError) else "no space left, or a file that cannot be written"
        console.warn(f"the evidence could not be kept: {why}")
        return replace(report, failures=tuple(replace(each, evidence=None) for each in report.failures))
    failures = [
        replace(each, evidence=rules.evidence / each.evidence.name if each.evidence else None)
        for each in report.failures
    ]
    return replace(report, failures=tuple(failures))


def write_report(
    plans: Sequence[Plan], report: Report, extras: Extras, path: Path, rules: Rules, console: Console
) -> None:
    """Writes the report as a page at `path`, and as JSON beside it. Raises ToolError if they cannot be written."""
    whole = replace(extras, warnings=tuple(console.warnings), stopped_by=tuple(_stopping(report, rules, console)))
    reporting.write(plans, report, path.parent, whole, name=path.stem)


def _stopping(report: Report, rules: Rules, console: Console) -> Iterator[str]:
    """Reasons other than failed comparisons that block a release."""
    try:
        refuse_unexamined(report, rules)
        enforce_partition_gates(judged(report), rules.gates)
    except MobpackError as error:
        yield error.message
    try:
        refuse_warnings(rules, console)
    except MobpackError as error:
        yield error.message
