"""The steps of `mobpack bench`, top to bottom: make what is timed, time it in rounds, describe it, judge it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from packager import __version__
from packager import config as configuration
from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError, GateError, ModelError, ToolError
from packager.core.values import Model, Plan, Style, Variant, baseline
from packager.engines.runners import RECORDED, RUNNERS, Runner
from packager.files.store import Store
from packager.files.store.pruning import prune_at_times
from packager.measuring.bench import comparing, machine, writing
from packager.measuring.bench import gates as bench_gates
from packager.measuring.bench.comparing import Baseline
from packager.measuring.bench.describing import BenchInputs, file_of, rows
from packager.measuring.bench.document import BenchDocument, InputEntry, MachineEntry, MethodEntry, SkippedEntry
from packager.measuring.bench.gates import Gate
from packager.measuring.bench.machine import Machine
from packager.measuring.bench.rounds import Contender, Entrant, Method, entered, runnable, take
from packager.measuring.bench.statistics import CONFIDENCE
from packager.quantization.variants import build_variant
from packager.quantizers import Recipe
from packager.render.pages.numbers import plural
from packager.samples import SampleSet, given
from packager.samples.sample import arrays_of
from packager.verification import parity
from packager.verification.numbers import chosen, subjects
from packager.verification.parity import Subject
from packager.workflows.planning import load_model, plan_all
from packager.workflows.runtimes import choose_runtimes
from packager.workflows.shared_store import store_of

if TYPE_CHECKING:
    import numpy

CPU = "cpu"
BATCH = "batch"
"""Part of the names of dimensions that count items."""


@dataclass(frozen=True, kw_only=True)
class BenchRequest:
    """Options of the command line, in addition to the Config."""

    targets: tuple[str, ...]
    """targets whose files are timed; empty for the model alone"""
    variants: tuple[str, ...] = ()
    """variants of the Config, or quantizers, whose graphs are timed as well"""
    calibration: str | None = None
    """samples for quantizers of `variants`"""
    against: tuple[str, ...] = ()
    """runners to time besides the CPU; empty for all that the machine has"""
    method: Method = field(default_factory=Method)
    gates: tuple[Gate, ...] = ()
    baseline: Baseline | None = None


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Models that can be timed."""

    models: tuple[Model, ...]
    variants: tuple[Variant, ...]
    plans: tuple[Plan, ...]


def bench(config: Config, request: BenchRequest, console: Console) -> BenchDocument:
    """Times the models of `config`, their variants and the files that would ship, on every runner of `request`.

    Ctrl-C ends the rounds and gives what they have, as a partial document. Raises ConfigError for names that do not
    exist, ModelError for a model that does not run, ToolError if nothing could be timed.
    """
    refuse_unknown(config, request)
    with (
        store_of(config, console) as store,
        store.in_use(),
        store.scratch() as scratch,
    ):
        runners, skipped = usable(config, request)
        prepared = prepare(config, request, store, console)
        if store.remote:
            store.remote.flush()  # nothing is sent while models are timed
        inputs = {each.name: inputs_of(each, config, console, scratch) for each in prepared.models}
        facts = machine.machine()
        if request.baseline:
            comparing.refuse_other(
                request.baseline,
                processor=facts.processor,
                threads=request.method.threads,
                inputs=input_entries(inputs),
            )
        contenders, more = able(entrants(prepared, runners, inputs), request.method, scratch)
        timed = time_all(contenders, request.method, facts, console)
        skipped += [*more, *dropped(contenders)]
        document = described(contenders, inputs, prepared, timed, skipped, request)
    prune_at_times(store)
    if not document.rows and not document.is_partial:
        first = document.skipped[0]
        raise ToolError(
            f"nothing could be timed: {first.runner}: {first.reason}", hint="fix that, or name other runners"
        )
    return document


def refuse_unknown(config: Config, request: BenchRequest) -> None:
    """Raises ConfigError for runners and variants that do not exist, and for more threads than cores."""
    for name in request.against:
        if name not in RUNNERS:
            raise ConfigError(f"--against: unknown runner '{name}'", hint=f"known: {', '.join(sorted(RUNNERS))}")
    for name in request.variants:
        recipe_of(name, config, request)
    cores = len(machine.usable_cores())
    if request.method.threads > cores:
        raise ConfigError(
            f"--threads {request.method.threads}: this machine has {plural(cores, 'core')} for them",
            hint="threads that share a core measure the system's scheduler: give fewer",
        )


def usable(config: Config, request: BenchRequest) -> tuple[list[Runner], list[SkippedEntry]]:
    """The runners that can be timed here, the CPU first, and why the others cannot."""
    names = dict.fromkeys((CPU, *(request.against or (name for name in RUNNERS if name != RECORDED))))
    runners: list[Runner] = []
    skipped: list[SkippedEntry] = []
    for runner in chosen(config, names):
        if reason := runner.cannot_time() or runner.missing():
            skipped.append(SkippedEntry(runner=runner.label(), model="", file="", reason=reason))
        else:
            runners.append(runner)
    return runners, skipped


def prepare(config: Config, request: BenchRequest, store: Store, console: Console) -> Prepared:
    """Loads or makes everything that is timed; what the store has is not made again."""
    measured = config.check.model_copy(update={"gain": "skip"})  # this command measures the gain
    config = config.model_copy(update={"check": measured})
    plans: tuple[Plan, ...] = ()
    if request.targets:
        plans = plan_all(
            config, request.targets, store, console, choose_runtimes(config, request.targets, store, console)
        ).plans
    known = {plan.model.name: plan.model for plan in plans}
    models = tuple(known.get(name) or load_model(name, table, store, console) for name, table in config.model.items())
    variants = tuple(
        build_variant(model, name, recipe_of(name, config, request), store, console).variant
        for name in request.variants
        for model in models
    )
    return Prepared(models=models, variants=variants, plans=plans)


def recipe_of(name: str, config: Config, request: BenchRequest) -> Recipe:
    """The quantizer of a variant of the Config, or the one of that name with its defaults. Raises ConfigError for a
    name that is neither."""
    if name in config.variant:
        return config.quantizer_of(name)
    keys = configuration.keys_of(name)
    if name not in configuration.quantizer_names():
        known = [*config.variant, *configuration.quantizer_names()]
        raise ConfigError(f"--variant {name}: no such variant or quantizer", hint=f"known: {', '.join(known)}")
    table = {"quantizer": name}
    if request.calibration and "calibration" in keys:
        table["calibration"] = request.calibration
    return configuration.recipe(table, ())


def inputs_of(model: Model, config: Config, console: Console, scratch: Path) -> BenchInputs:
    """The first sample of the user, or a random one that the model accepts, and the original's outputs for it.

    Raises ModelError if the model does not run on it, ConfigError if given samples do not fit it.
    """
    folder = scratch / f"inputs-{model.name}"
    folder.mkdir()
    original = baseline(model)
    with console.step(f"run {model.name} as it is written"):
        if config.parity.samples:
            samples = given(model, config.parity.samples, folder)
            first = SampleSet(paths=samples.paths[:1], description=samples.description)
            (outcome,) = parity.run_original(original, first, folder / "original")
            sample, words = first.paths[0], f"the first of {samples.description}"
        else:
            accepted = parity.random_inputs(original, folder, count=1, seed=config.parity.seed)
            sample, outcome = accepted.found.samples.paths[0], accepted.outcomes[0]
            words = f"random, seed {config.parity.seed}"
    if outcome.error:
        raise ModelError(
            f"model '{model.name}' does not run on its sample: {outcome.error}",
            hint="give others with [parity] samples",
        )
    arrays = arrays_of(sample)
    return BenchInputs(
        sample=sample,
        description=words,
        shapes=tuple(f"{name}: {_shape(array)}" for name, array in arrays.items()),
        batch=batch_of(model, arrays, config.model[model.name].shapes),
        expected=None if model.random_operators else outcome,
    )


def _shape(array: "numpy.ndarray") -> str:
    return " x ".join(map(str, array.shape)) or "one value"


def batch_of(model: Model, arrays: Mapping[str, "numpy.ndarray"], shapes: Mapping[str, int | tuple[int, ...]]) -> int:
    """Number of items in a run: the size of a dimension that is called a batch, fixed or not; else 1."""
    fixed = [size for name, size in shapes.items() if BATCH in name.lower() and isinstance(size, int)]
    dynamic = [
        size
        for spec in model.signature.inputs
        if spec.name in arrays
        for name, size in zip(spec.shape, arrays[spec.name].shape, strict=False)
        if isinstance(name, str) and BATCH in name.lower()
    ]
    return next(iter([*fixed, *dynamic]), 1)


def entrants(prepared: Prepared, runners: Sequence[Runner], inputs: Mapping[str, BenchInputs]) -> Iterator[Entrant]:
    """For each model and runner: the original, the graphs of variants, and the files that ship; each once."""
    for model in prepared.models:
        for runner in runners:
            graphs = [Subject(variant=each) for each in (baseline(model), *prepared.variants)]
            files = subjects(prepared.plans, runner.OPENS) if prepared.plans else []
            mine = [each for each in (*graphs, *files) if each.variant.model.name == model.name]
            distinct: dict[str, Subject] = {}
            for subject in mine:
                distinct.setdefault(subject.sha256, subject)
            for subject in distinct.values():
                yield Entrant(subject=subject, runner=runner, sample=inputs[model.name].sample)


def able(found: Iterator[Entrant], method: Method, scratch: Path) -> tuple[list[Contender], list[SkippedEntry]]:
    """The entrants without those that are known not to run, and why those do not."""
    contenders: list[Contender] = []
    skipped: list[SkippedEntry] = []
    for contender in entered(found, scratch):
        entrant = contender.entrant
        is_program = entrant.subject.style is Style.CONTEXT
        reason = (
            "a program for one chip" if is_program else entrant.runner.cannot_open(runnable(contender, method.threads))
        )
        if reason:
            skipped.append(skipped_entry(entrant, reason))
        else:
            contenders.append(contender)
    return contenders, skipped


def dropped(contenders: Sequence[Contender]) -> Iterator[SkippedEntry]:
    """Contenders that were refused before their first round."""
    return (skipped_entry(each.entrant, each.refusal) for each in contenders if each.refusal and not each.rounds)


def skipped_entry(entrant: Entrant, reason: str) -> SkippedEntry:
    subject = entrant.subject
    file = f"{subject.variant.name}, {file_of(subject)}"
    return SkippedEntry(runner=entrant.runner.label(), model=subject.variant.model.name, file=file, reason=reason)


def time_all(contenders: Sequence[Contender], method: Method, facts: Machine, console: Console) -> "Timed":
    """Takes the rounds, until they are done or interrupted."""
    load, before = machine.load_average(), machine.ticks()
    is_partial = False
    title = f"time {plural(len(contenders), 'file')} in {plural(method.rounds, 'round')}"
    try:
        with console.progress(title) as advance:
            take(contenders, method, advance)
    except KeyboardInterrupt:
        is_partial = True
    steal = machine.steal_share(before, machine.ticks())
    found = machine.disturbances(facts, threads=method.threads, load=load, steal=steal)
    return Timed(
        is_partial=is_partial,
        machine=MachineEntry(
            processor=facts.processor,
            architecture=facts.architecture,
            system=facts.system,
            cores=facts.cores,
            governor=facts.governor,
            load_before=load,
            steal=steal,
            disturbances=tuple(found),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Timed:
    is_partial: bool
    machine: MachineEntry


def described(
    contenders: Sequence[Contender],
    inputs: Mapping[str, BenchInputs],
    prepared: Prepared,
    timed: Timed,
    skipped: Sequence[SkippedEntry],
    request: BenchRequest,
) -> BenchDocument:
    """The document, compared with the baseline and judged by the gates."""
    method = request.method
    found = rows(contenders, inputs, prepared.plans, method.threads)
    compared = tuple(comparing.compared(found, request.baseline)) if request.baseline else ()
    failed = () if timed.is_partial else tuple(bench_gates.failures(request.gates, found, compared))
    return BenchDocument(
        schema_version=1,
        mobpack=__version__,
        is_partial=timed.is_partial,
        machine=timed.machine,
        method=MethodEntry(
            threads=method.threads,
            pinned_cores=machine.chosen_cores(method.threads) if machine.can_pin() else (),
            rounds=method.rounds,
            rounds_done=min((len(each.rounds) for each in contenders if not each.refusal), default=0),
            seconds=method.pace.seconds,
            runs=method.pace.runs,
            warm_up_seconds=method.pace.warm_up_seconds,
            confidence=CONFIDENCE,
        ),
        inputs=input_entries(inputs),
        rows=found,
        skipped=tuple(skipped),
        baseline=request.baseline.name if request.baseline else "",
        comparisons=compared,
        failed_gates=failed,
    )


def input_entries(inputs: Mapping[str, BenchInputs]) -> tuple[InputEntry, ...]:
    return tuple(
        InputEntry(model=name, samples=each.description, shapes=each.shapes, batch=each.batch)
        for name, each in inputs.items()
    )


def write_report(path: Path, found: BenchDocument) -> None:
    """Writes the results as a page at `path`, and as JSON beside it. Raises ToolError if they cannot be written."""
    writing.write(path, found)


def judge(found: BenchDocument) -> None:
    """Raises GateError for gates that were not met."""
    if not found.failed_gates:
        return
    first, *others = found.failed_gates
    more = f"; {plural(len(others), 'gate')} more failed" if others else ""
    raise GateError(f"--fail-on {first}{more}", hint="see the measurements and their noise in the table")
