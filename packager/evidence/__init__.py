"""The evidence for what ships: kernels, numbers, partitions.

Kernels and numbers are kept by content. Providers are asked every time: which can be asked depends on the machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from packager import parity, tools
from packager.config import Config, ParityTable
from packager.console import Console
from packager.partition import kernels
from packager.partition.report import partitions
from packager.runtimes.shipping import ChosenRuntime
from packager.store import Store
from packager.values import Compiled, KernelProof, Parity, Partition, Plan, Report, distinct_files

SKIPPED = 'kernels = "skip" in [check]'


def gather(
    plans: Sequence[Plan], config: Config, store: Store, console: Console, runtime: ChosenRuntime | None = None
) -> Report:
    """Everything that speaks for the files of `plans`; one target ships the `runtime` of the user's own.

    Raises ModelError or ParityError where something is against.
    """
    files = distinct_files(plans)
    own = [each for each in plans if runtime and each.target == runtime.target and not runtime.is_published_in_full]
    others = [each for each in plans if each not in own]
    unopened = judge_unopened(distinct_files(own), config, runtime) if runtime else ()
    return Report(
        kernels=(*unopened, *prove_kernels(distinct_files(others), config, store, console)),
        parities=check_all(files, config, store, console),
        partitions=split_all(plans, store, console),
    )


def judge_unopened(files: Sequence[Compiled], config: Config, runtime: ChosenRuntime) -> Iterator[KernelProof]:
    """What can be said of a runtime that is not opened here: whether its operator configuration has all of `files`."""
    for compiled in files:
        if config.check.kernels == "skip":
            yield kernels.skipped(compiled, SKIPPED, runtime=runtime.said)
        elif runtime.is_reduced:
            yield kernels.declared(compiled, runtime.said)
        else:
            known = "has all operators by its configuration" if runtime.config else "names no operator configuration"
            yield kernels.skipped(compiled, f"the runtime {known} and is not opened here", runtime=runtime.said)


def prove_kernels(files: Sequence[Compiled], config: Config, store: Store, console: Console) -> tuple[KernelProof, ...]:
    """That the runtime that ships loads every file; raises ModelError for the first that it does not."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(KernelProof)
    proofs = []
    for compiled in files:
        if config.check.kernels == "skip":
            proofs.append(kernels.skipped(compiled, SKIPPED))
            continue

        def make(folder: Path, compiled: Compiled = compiled) -> None:
            with store.scratch() as scratch:
                (folder / "proof.json").write_bytes(adapter.dump_json(kernels.prove(compiled, scratch)))

        name = compiled.variant.model.name
        with console.step(f"load {name} ({compiled.variant.name}, {compiled.style}) in the runtime that ships"):
            inputs = [name, compiled.variant.name, compiled.variant.model.sha256, compiled.sha256]
            folder = store.results("kernels", inputs, make)
            proofs.append(adapter.validate_json((folder / "proof.json").read_bytes()))
    return tuple(proofs)


def split_all(plans: Sequence[Plan], store: Store, console: Console) -> tuple[Partition, ...]:
    """What every provider takes of the file that it opens."""
    found: list[Partition] = []
    for each in plans:
        with console.step(f"ask the providers of {each.target} about {each.model.name}"), store.scratch() as scratch:
            found += partitions(each, scratch)
    for one in found:
        if one.skipped:
            console.say(f"  skipped: what {one.provider} takes of {one.model} on {one.target}: {one.skipped}")
        elif one.refusal:
            console.warn(
                f"{one.provider} on {one.target} cannot open model '{one.model}', so apps go on to the next provider: "
                f"{one.refusal}"
            )
        elif one.taken_count == 0:
            console.warn(f"{one.provider} on {one.target} takes nothing of model '{one.model}': the CPU runs it all")
    return tuple(found)


def check_all(compiled: Sequence[Compiled], config: Config, store: Store, console: Console) -> tuple[Parity, ...]:
    """Compares every file with its original; raises ParityError when one is over tolerance."""
    parities: list[Parity] = []
    with store.scratch() as scratch:
        references = parity.References(scratch)
        for each in compiled:
            settings = parity_settings(config.parity, each)
            what = f"{each.variant.model.name} ({each.variant.name}, {each.style})"
            with console.step(f"compare {what} with the original"):
                parities += _checked(each, settings, store, references)
    for warning in dict.fromkeys(text for one in parities for text in _warnings(one)):
        console.warn(warning)
    return tuple(parities)


FAR = 0.25
"""Of the largest value: more than rounding to 8 bits should move an output."""


def _warnings(parity: Parity) -> Iterator[str]:
    if parity.from_original is not None and parity.from_original > FAR:
        yield (
            f"model '{parity.model}': with other numbers ({parity.variant}) outputs differ by "
            f"{parity.from_original:.0%} of the largest value from the model's own: one of the two is wrong for "
            f"these samples ({parity.samples})"
        )
    if parity.skipped:
        yield f"runner '{parity.runner}' skipped for model '{parity.model}' ({parity.style}): {parity.skipped}"
    for output in parity.reshaped_outputs:
        yield (
            f"model '{parity.model}': output '{output}' has another shape than it declares; "
            "the package treats it as dynamic"
        )
    for output in parity.unstable_outputs:
        yield f"model '{parity.model}': output '{output}' is random and was not compared"


def parity_settings(table: ParityTable, compiled: Compiled) -> parity.ParitySettings:
    return parity.ParitySettings(
        runners=table.runners,
        require=table.require,
        samples=table.samples,
        random_samples=table.random_samples,
        seed=table.seed,
        tolerance=table.tolerance or parity.default_tolerance(compiled),
    )


def _checked(
    compiled: Compiled, settings: parity.ParitySettings, store: Store, references: parity.References
) -> tuple[Parity, ...]:
    """The parity of `compiled`, from the store when the same files were compared before."""
    from pydantic import TypeAdapter

    parities = TypeAdapter(tuple[Parity, ...])
    samples = [[path.name, tools.sha256_of(path)] for path in parity.sample_files(settings.samples)]
    inputs = [
        compiled.variant.model.sha256,
        compiled.variant.model.name,
        compiled.variant.name,
        compiled.sha256,
        version("onnxruntime"),
        version("numpy"),
        {**asdict(settings), "samples": samples},
    ]

    def make(folder: Path) -> None:
        with store.scratch() as scratch:
            results = parity.check(compiled, settings, scratch, references)
        (folder / "parity.json").write_bytes(parities.dump_json(results))

    return parities.validate_json((store.results("parity", inputs, make) / "parity.json").read_bytes())
