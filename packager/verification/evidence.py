"""Gathers the evidence for what ships: kernels, parity, partitions.

Results for kernels and parity are stored by content. Providers that run on this machine are asked every time: what they
say is evidence of the machine, and decides nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packager.config import Config
from packager.core.console import Console
from packager.core.findings import KernelProof, Partition, Report
from packager.core.values import Compiled, Plan, distinct_files
from packager.engines.environments import SHIPPED, Shipped
from packager.files.store import Step, Store
from packager.runtimes.shipping import PUBLISHED, Chosen
from packager.verification.numbers import compare_all
from packager.verification.parity import OriginalOutputs
from packager.verification.partition import kernels
from packager.verification.partition.report import contradictions, judged, measured, partitions
from packager.verification.raised import refuse_changed
from packager.verification.ranges import prove_ranges

__all__ = ["gather", "refuse_changed"]

KERNELS = Step(
    name="kernels",
    caller=__name__,
    computed_by=(
        "packager.verification.partition.kernels",
        "packager.core.findings",
        "packager.core.values",
    ),
)
SKIPPED = 'kernels = "skip" in [check]'


def gather(
    plans: Sequence[Plan],
    config: Config,
    references: OriginalOutputs,
    store: Store,
    console: Console,
    evidence: Path,
    runtimes: Mapping[str, Chosen] = PUBLISHED,
    asked: Sequence[Partition] = (),
) -> Report:
    """Evidence for or against the files of `plans`; some targets ship one of the user's own `runtimes`. `asked` are
    partitions that the plans rest on.

    `references` keep what the originals and the files compute. Files that reproduce a failed comparison go below
    `evidence`. Raises ModelError for a file that the runtime does not load, ToolError if a required runner cannot run.
    """
    unlike = [each for each in runtimes.values() if not each.is_published_in_full]
    others = [plan for plan in plans if plan.target not in {each.target for each in unlike}]
    unopened = [
        proof
        for each in unlike
        for proof in judge_unopened(
            distinct_files([plan for plan in plans if plan.target == each.target]), config, each
        )
    ]
    proofs = (*unopened, *prove_in_all(others, config, store, console))
    published = {name: table for name, table in config.targets().items() if name not in runtimes}
    proofs += tuple(prove_ranges(plans, published, store, console))
    with store.scratch() as scratch:
        parities, failures, agreements = compare_all(plans, config, references, store, console, scratch, evidence)
    report = Report(
        kernels=proofs,
        parities=parities,
        partitions=(predicted := split_all(plans, console, asked)),
        measured=ask_all(plans, store, console, predicted),
        failures=failures,
        agreements=agreements,
    )
    say_unexamined(report, console)
    return report


def judge_unopened(files: Sequence[Compiled], config: Config, runtime: Chosen) -> Iterator[KernelProof]:
    """Evidence about a runtime that is not opened here: whether its operator configuration covers all of `files`."""
    for compiled in files:
        if config.check.kernels == "skip":
            yield kernels.skipped(compiled, SKIPPED, runtime=runtime.display_name)
        elif runtime.is_reduced:
            yield kernels.declared(compiled, runtime.display_name)
        else:
            known = "has all operators by its configuration" if runtime.config else "names no operator configuration"
            yield kernels.skipped(compiled, f"the runtime {known} and is not opened here", runtime=runtime.display_name)


def prove_in_all(plans: Sequence[Plan], config: Config, store: Store, console: Console) -> Iterator[KernelProof]:
    """Proves the files of `plans` in the runtimes that the packages of their targets contain or depend on."""
    for name, shipped in SHIPPED.items():
        own = [each for each in plans if each.environment == name]
        yield from prove_kernels(distinct_files(own), shipped(), config, store, console)


def prove_kernels(
    files: Sequence[Compiled], shipped: Shipped, config: Config, store: Store, console: Console
) -> tuple[KernelProof, ...]:
    """Proves that the runtime that ships loads every file; raises ModelError for the first that it does not load."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(KernelProof)
    proofs = []
    for compiled in files:
        if config.check.kernels == "skip":
            proofs.append(kernels.skipped(compiled, SKIPPED, runtime=shipped.package))
            continue

        def make(folder: Path, compiled: Compiled = compiled) -> None:
            with store.scratch() as scratch:
                (folder / "proof.json").write_bytes(adapter.dump_json(kernels.prove(compiled, shipped, scratch)))

        name = compiled.variant.model.name
        kind = f"{compiled.style} .{compiled.format}"
        title = f"load {name} ({compiled.variant.name}, {kind}) in the runtime that ships"
        with console.step(title, kind="load files in the runtime that ships"):
            inputs = [name, compiled.variant.name, compiled.variant.model.sha256, compiled.sha256, shipped.display_name]
            folder = store.results(KERNELS, inputs, make)
            proofs.append(adapter.validate_json((folder / "proof.json").read_bytes()))
    return tuple(proofs)


def split_all(plans: Sequence[Plan], console: Console, asked: Sequence[Partition] = ()) -> tuple[Partition, ...]:
    """Partitions of every provider's file by its rules; those in `asked` are known."""
    found = [one for each in plans for one in partitions(each, asked)]
    for one in found:
        if one.taken_count == 0 and not one.refusal and not one.skipped:
            console.warn(f"{one.provider} on {_where(one)} takes no node of model '{one.model}': the CPU runs it all")
    return tuple(found)


def say_unexamined(report: Report, console: Console) -> None:
    """Prints the providers of which nothing is known: no rules predict them, and none was asked here."""
    for each in judged(report):
        if each.skipped:
            console.say(f"  skipped: partitions of {each.model} for {each.provider} on {_where(each)}: {each.skipped}")


def _where(each: Partition) -> str:
    return f"{each.target} ({', '.join(each.soc_models)})" if each.soc_models else each.target


def ask_all(
    plans: Sequence[Plan], store: Store, console: Console, predicted: Sequence[Partition]
) -> tuple[Partition, ...]:
    """Answers of the providers that run on this machine about their files; cautions where these are not what was
    `predicted`."""
    found: list[Partition] = []
    for each in plans:
        title = f"ask the providers of {each.place} about {each.model.name}"
        with console.step(title, kind="ask the providers about models"), store.scratch() as scratch:
            found += measured(each, scratch)
    for text in contradictions(predicted, found):
        console.caution(text)
    return tuple(found)
