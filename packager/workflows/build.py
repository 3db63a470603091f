"""One build, top to bottom, as a list of steps."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from packager import reporting
from packager.config import Config
from packager.core import class_names
from packager.core.console import Console
from packager.core.findings import Report
from packager.core.values import Plan
from packager.distribution import release
from packager.engines.runners import RUNNERS
from packager.files.store import Store
from packager.files.store.pruning import prune_at_times
from packager.runtimes.shipping import Chosen
from packager.targets import Shipped, included
from packager.vectors import Golden
from packager.verification import evidence, pipelines
from packager.verification.golden import golden_vectors
from packager.verification.kept import refuse_nested, refuse_other
from packager.verification.numbers import settings_for
from packager.verification.parity import OriginalOutputs
from packager.verification.partition.report import contradictions, counted
from packager.workflows.delivering import delivered
from packager.workflows.encrypting import encrypted
from packager.workflows.gates import judge, keep_evidence, refuse_warnings, write_report
from packager.workflows.options import options_of
from packager.workflows.origins import Origins, write_provenance
from packager.workflows.packages import Contents, package_all
from packager.workflows.planning import PlannedProject, plan_all
from packager.workflows.preflight import Checked, checked
from packager.workflows.requested import BuildRequest, wrappers_of
from packager.workflows.runtimes import choose_runtimes, refuse_unwrappable, runtimes_of
from packager.workflows.scales import write_scales
from packager.workflows.shared_store import store_of
from packager.workflows.varying import say_added


@dataclass(frozen=True, kw_only=True)
class BuiltRelease:
    """Files that a build wrote to its output folder."""

    out: Path
    shipped: tuple[Shipped, ...]
    plans: tuple[Plan, ...]
    report: Report
    warnings: tuple[str, ...]


def build(
    config: Config,
    request: BuildRequest,
    console: Console,
    origins: Callable[[], Origins | None] = lambda: None,
    store: Store | None = None,
) -> BuiltRelease:
    """Builds every target of `request` into `request.out`. On failure, raises a MobpackError and leaves that folder
    unchanged.

    The release contains its provenance if there are `origins`, which are read once nothing stands in the way of the
    build. Results are kept in `store`, by default the user's, with the remote one of `[cache]` behind it.
    """
    ready = checked(config, request, console)
    known = origins()
    for line in class_names.renamings(config.model):
        console.say(f"  {line}")
    with nullcontext(store) if store else store_of(config, console) as own:
        return build_in(own, ready, console, known)


def build_in(store: Store, ready: Checked, console: Console, origins: Origins | None) -> BuiltRelease:
    """Builds what `build` does, with results in `store`."""
    config, request = ready.config, ready.request
    runtimes = choose_runtimes(config, request.targets, store, console)
    refuse_unwrappable(ready.package, config, request.targets, runtimes, console)
    with store.in_use(), release.staged(request.out) as staging:
        planned = plan_all(config, request.targets, store, console, runtimes)
        say_added(planned.plans, console)
        contents = proven(planned, ready, store, console, runtimes)
        with store.scratch() as scratch:
            shipping = encrypted(contents, request, scratch)
            shipped = package_all(shipping, config, request, staging, store, console)
            scales = write_scales(planned.made, staging)
            write_manifest(shipping, shipped, scales, config, request, staging, console)
            extras = reporting.measured(planned.made, store, console, has_latency=False)
            write_report(planned.plans, contents.report, extras, staging / "report.html", request.rules, console)
            write_provenance(origins, shipping.plans, shipped, request, staging)
    prune_at_times(store)
    return BuiltRelease(
        out=request.out,
        shipped=tuple(shipped),
        plans=contents.plans,
        report=contents.report,
        warnings=tuple(console.warnings),
    )


def proven(
    planned: PlannedProject, ready: Checked, store: Store, console: Console, runtimes: Mapping[str, Chosen]
) -> Contents:
    """The contents of the packages: the plans with their evidence, which passed the gates, and with golden vectors."""
    config, request = ready.config, ready.request
    with store.scratch() as scratch:
        references = OriginalOutputs(scratch)
        report = examine(planned, ready, references, store, console, runtimes)
        judge(report, request.rules, console)
        golden = vectors_for(planned.plans, config, request, references, store, console)
    package = replace(delivered(ready.package, config, planned.plans), pipelines=planned.pipelines)
    plans = tuple(counted(each, report.partitions) for each in planned.plans)
    return Contents(package=package, plans=plans, report=report, golden=golden, runtimes=runtimes)


def examine(
    planned: PlannedProject,
    ready: Checked,
    references: OriginalOutputs,
    store: Store,
    console: Console,
    runtimes: Mapping[str, Chosen],
) -> Report:
    """Gathers the evidence for the plans. Evidence of failed comparisons is kept in the folder that `request` names."""
    config, request = ready.config, ready.request
    refuse_other(request.rules.evidence)
    refuse_nested(request.rules.evidence, request.out)
    with store.scratch() as scratch:
        report = evidence.gather(planned.plans, config, references, store, console, scratch, runtimes, planned.asked)
        proofs = pipelines.prove_all(planned.pipelines, planned.plans, config, references, store, console)
        report = replace(report, pipelines=proofs)
        if report.failures:
            report = keep_evidence(planned.plans, report, request.rules, console)
        elif request.rules.evidence.is_dir():
            console.say(f"  {request.rules.evidence} is from an earlier run; all comparisons now pass")
    return report


def vectors_for(
    plans: Sequence[Plan],
    config: Config,
    request: BuildRequest,
    references: OriginalOutputs,
    store: Store,
    console: Console,
) -> Golden:
    """The golden vectors that packages test themselves with. With --strict, raises ModelError for a model without
    any."""
    (cpu,) = RUNNERS["cpu"]("")
    found = golden_vectors(
        plans, config.parity, lambda subject: settings_for(config, subject, cpu), store, console, references
    )
    refuse_warnings(request.rules, console)
    return found


def write_manifest(
    contents: Contents,
    shipped: Sequence[Shipped],
    scales: Sequence[release.ShippedScales],
    config: Config,
    request: BuildRequest,
    staging: Path,
    console: Console,
) -> None:
    """Writes the manifest of all that was built to `staging`, and the evidence of this machine beside it."""
    text = release.manifest(
        contents.package,
        contents.plans,
        contents.report,
        shipped,
        options=options_of(config, request.targets),
        runtimes=runtimes_of(config, request.targets, contents.runtimes),
        own_runtimes={name: runtime.packaged for name, runtime in contents.runtimes.items()},
        takes_in={
            name: included(wrapper, request.targets) for name, wrapper in wrappers_of(config, request.targets).items()
        },
        warnings=[text for text in console.warnings if text not in console.measured],
        golden=contents.golden,
        scales=scales,
    )
    (staging / release.MANIFEST).write_text(text, encoding="utf-8", newline="\n")
    found = release.evidence(
        contents.report,
        warnings=console.measured,
        contradictions=tuple(contradictions(contents.report.partitions, contents.report.measured)),
    )
    (staging / release.EVIDENCE).write_text(found, encoding="utf-8", newline="\n")


@dataclass(frozen=True, kw_only=True)
class Examination:
    """Result of `mobpack check`."""

    plans: tuple[Plan, ...]
    report: Report
    warnings: tuple[str, ...]


def check(config: Config, request: BuildRequest, console: Console, page: Path | None = None) -> Examination:
    """Plans every target of `request` and proves the files that a build would ship, without packaging; writes the
    report to `page`, and as JSON beside it.

    Nothing is judged yet: `judge` does that, once the user has seen what was found.
    """
    ready = checked(config, request, console, is_packaged=False)
    with store_of(config, console) as store, store.in_use():
        runtimes = choose_runtimes(config, request.targets, store, console)
        refuse_unwrappable(ready.package, config, request.targets, runtimes, console)
        planned = plan_all(config, request.targets, store, console, runtimes)
        with store.scratch() as scratch:
            report = examine(planned, ready, OriginalOutputs(scratch), store, console, runtimes)
        if page:
            extras = reporting.measured(planned.made, store, console)
            write_report(planned.plans, report, extras, page, request.rules, console)
    return Examination(plans=planned.plans, report=report, warnings=tuple(console.warnings))
