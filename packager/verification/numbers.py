"""Compares every runner's results with the originals: stored by content, because emulated processors are slow."""

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from packager.config import Config, ModelTable
from packager.core.console import Console
from packager.core.errors import ConfigError, MobpackError, ToolError, nearest
from packager.core.findings import Agreement, Failure, Parity
from packager.core.values import Compiled, Plan, Precision, Style, Variant, baseline, distinct_files
from packager.engines.runners import ANY, ORIGINAL, RECORDED, RUNNERS, Runner
from packager.engines.runners.runner import ONNX_RUNTIME
from packager.files.hashes import sha256_of
from packager.files.store import Step, Store, content_key
from packager.quantizers import REWRITES
from packager.samples import SampleSource, Settings, source_of
from packager.verification import parity
from packager.verification.failures import Case, condemned_locally, explained, explained_variant
from packager.verification.majority import agreements
from packager.verification.parity import FAR, ParitySettings, Subject, Tolerance

TYPICAL_SAMPLES = 8
"""Number of calibration samples on which a variant is compared with the user's model."""
PARITY = Step(
    name="parity",
    caller=__name__,
    computed_by=(
        "packager.verification.failures",
        "packager.core.findings",
        "packager.verification.parity",
        "packager.engines.runners",
    ),
)


def compare_all(
    plans: Sequence[Plan],
    config: Config,
    references: parity.OriginalOutputs,
    store: Store,
    console: Console,
    scratch: Path,
    evidence: Path,
    runners: Sequence[Runner] | None = None,
) -> tuple[tuple[Parity, ...], tuple[Failure, ...], tuple[Agreement, ...]]:
    """Runs every runner of `config`, or those given, on everything it can open of `plans`, and compares engines of
    different makes with each other; files that reproduce failures go below `evidence`.

    Raises ToolError if a required runner cannot run at all.
    """
    refuse_absent(config)
    cases: list[Case] = []
    failures: list[Failure] = []
    broken: set[tuple[str, str]] = set()
    for number, (runner, subject) in enumerate(pairs(plans, config, runners)):
        settings = settings_for(config, subject, runner)
        title = f"compare {subject.words} with {subject.against} on {runner.label()}"
        with console.step(title, kind=f"compare files on {runner.label()}") as announce:
            folder = scratch / f"pair-{number}"
            folder.mkdir()
            checked = _checked(subject, runner, settings, store, references, folder, announce)
            refuse_missing(checked.parity, subject, config)
            case = Case(subject=subject, runner=runner, checked=checked, settings=settings)
            cases.append(case)
            if fails(checked.parity, config):
                failures.append(explained(case, references, folder, evidence))
            if checked.parity.too_far and case.variant not in broken:
                broken.add(case.variant)
                failures.append(explained_variant(case, references, folder, evidence))
            elif is_other_model(checked.parity, subject) and case.variant not in broken:
                broken.add(case.variant)
                failures.append(refused(checked.parity))
    parities = tuple(each.checked.parity for each in cases)
    found = agreements(cases, references, scratch)
    carried = {plan.model.name: _carried(plan) for plan in plans}
    for warning in dict.fromkeys(text for one in parities for text in _warnings(one, config, carried[one.model])):
        console.warn(warning, is_measured=True)
    for each in found:
        if each.is_reference_alone:
            console.warn(f"model '{each.model}' ({each.variant}): {each.words}", is_measured=True)
    _say_what_is_wider(plans, config, console)
    engines = {each.runner.NAME: each.runner.ENGINE for each in cases}
    return parities, tuple(with_majority(each, found, engines) for each in failures), found


def _say_what_is_wider(plans: Sequence[Plan], config: Config, console: Console) -> None:
    if "arm64" in config.parity.runners:
        return
    wider: dict[str, list[str]] = {}
    for each in distinct_files(plans):
        if computes_wider_here(each):
            wider.setdefault(each.variant.name, []).append(each.variant.model.name)
    for variant, models in wider.items():
        console.say(
            f"  variant '{variant}' of {', '.join(dict.fromkeys(models))} computes in 16 bits on phones that support "
            "it, and in 32 here: --runners cpu,arm64 checks that its values fit"
        )


def with_majority(failure: Failure, found: Sequence[Agreement], engines: Mapping[str, str]) -> Failure:
    """`failure` with the engines that stand alone, in words; `engines` are those of the runners, by name."""
    parity = failure.parity
    for each in found:
        if (each.model, each.variant, each.sha256) == (parity.model, parity.variant, parity.sha256) and parity.over:
            message = f"{failure.message}; {each.words}"
            return replace(failure, message=message, hint=_hint_of(each, parity.runner, engines) or failure.hint)
    return failure


def _hint_of(found: Agreement, runner: str, engines: Mapping[str, str]) -> str:
    """The hint where an engine that does not ship may be at fault, and not the model; else empty."""
    if engines.get(runner, "") in ("", ONNX_RUNTIME):
        return ""
    if engines[runner] in found.alone:
        return (
            f"nothing was released; {engines[runner]} is at fault, and does not ship: leave {runner} out of the runners"
        )
    if not found.agree:
        others = (name for name, made in RUNNERS.items() if made("")[0].ENGINE not in ("", *found.engines))
        return (
            f"nothing was released; {engines[runner]} may be at fault: name more of {', '.join(others)} in the runners"
        )
    return ""


def pairs(
    plans: Sequence[Plan], config: Config, runners: Sequence[Runner] | None = None
) -> Iterator[tuple[Runner, Subject]]:
    """Every runner, of the configuration if none are given, with everything it can run."""
    table = config.parity
    recorded = [RECORDED] if table.recorded else []
    names = dict.fromkeys((*table.runners, *table.require, *recorded))
    for runner in chosen(config, names) if runners is None else runners:
        for subject in subjects(plans, runner.OPENS):
            yield runner, subject


def chosen(config: Config, names: Iterable[str]) -> Iterator[Runner]:
    """The runners of these names, one for each processor, with the configuration's settings."""
    table = config.parity
    for name in names:
        setting = table.recorded or "" if name == RECORDED else table.interpreters.get(name, "")
        yield from RUNNERS[name](str(setting))


def subjects(plans: Sequence[Plan], opens: str) -> list[Subject]:
    """The files that a runner opens: every file; the graphs; or a provider's files, and the graph if no file is for
    it."""
    if opens == ORIGINAL:
        models = {each.model.name: each.model for each in plans}
        return [Subject(variant=baseline(model)) for model in models.values()]
    if opens == ANY:
        return [Subject(variant=each.variant, compiled=each) for each in distinct_files(plans)]
    found: dict[tuple[str, str], Subject] = {}
    for plan in plans:
        for variant in plan.variants:
            own = [choice for choice in plan.choices if (choice.provider, choice.variant) == (opens, variant)]
            chosen = [Subject(variant=each.compiled.variant, compiled=each.compiled) for each in own]
            for subject in chosen or [Subject(variant=plan.cpu_of(variant).variant)]:
                found[plan.model.name, subject.sha256] = subject
    return list(found.values())


def settings_for(config: Config, subject: Subject, runner: Runner) -> ParitySettings:
    """Raises ConfigError for a tolerance of an output that does not exist."""
    table = config.parity
    model: ModelTable = config.model[subject.variant.model.name]
    outputs = [spec.name for spec in subject.variant.model.signature.outputs]
    for name in model.tolerance:
        if name not in outputs:
            where = f"model.{subject.variant.model.name}.tolerance.{name}"
            raise ConfigError(f"{where}: the model has no such output", hint=nearest(name, outputs))
    default = parity.default_tolerance(subject.variant, has_sums_in_16_bits=subject.is_for_16_bits)
    return ParitySettings(
        is_recorded=runner.NAME == RECORDED,
        samples=table.samples,
        random_samples=table.random_samples,
        seed=table.seed,
        tolerance=table.tolerance or default + runner.ROUNDING,
        atol=table.atol,
        distance=distance(table.from_original, subject),
        typical=typical(config, subject.variant),
        outputs={name: Tolerance(**each.model_dump()) for name, each in model.tolerance.items()},
    )


def typical(config: Config, variant: Variant) -> SampleSource | None:
    """Samples that are known to be typical of the app: the first of the variant's calibration samples."""
    calibration = getattr(config.variant.get(variant.name), "calibration", None)
    if calibration is None:
        return None
    limit = min(calibration.limit or TYPICAL_SAMPLES, TYPICAL_SAMPLES)
    how = Settings(image=calibration.image, audio=calibration.audio, limit=limit)
    return source_of(calibration.samples, variant.model, how)


def distance(most: float | None, subject: Subject) -> Tolerance:
    """The allowed distance between the variant of `subject` and the user's model."""
    return parity.default_distance(subject.variant) if most is None else Tolerance(max_rel_error=most)


def fails(found: Parity, config: Config) -> bool:
    """Whether it stops a release. A refusal to open a file only counts if the runner is required: another build of the
    provider may support less, or more, than the phone's. A runner that opens a file must run it."""
    return bool(found.over) or bool(found.refusal and (found.is_opened or found.runner in config.parity.require))


def is_other_model(found: Parity, subject: Subject) -> bool:
    """Whether a graph that mobpack wrote in another precision, for a provider, computes something else than the model:
    the provider would answer otherwise than the CPU."""
    is_far = found.from_original is not None and found.from_original > FAR
    return is_far and subject.variant.quantizer in REWRITES


def refused(found: Parity) -> Failure:
    share = 0.0 if found.from_original is None else found.from_original
    return Failure(
        parity=found,
        message=f"model '{found.model}': the graph that a provider needs ({found.variant}, in another precision) "
        f"differs by {share:.0%} of the outputs' scale from the model on {found.distance_samples}",
        hint="leave the provider out of the target's providers, or set [parity] samples to inputs like the app's",
    )


def refuse_absent(config: Config) -> None:
    """Checks before anything is compared: raises the first of `absent`."""
    for each in absent(config):
        raise each


def absent(config: Config) -> Iterator[MobpackError]:
    """A ToolError for each required runner that is missing here, a ConfigError for recorded outputs that do not
    exist."""
    table = config.parity
    if table.recorded and not table.recorded.is_dir():
        yield ConfigError(
            f"[parity] recorded: no such folder: {table.recorded}", hint="name the folder that contains the outputs"
        )
    for runner in chosen(config, table.require):
        if reason := runner.missing():
            yield ToolError(
                f"runner '{runner.label()}' is required and cannot run: {reason}",
                hint="fix that, or remove it from [parity] require (--require)",
            )


def refuse_missing(found: Parity, subject: Subject, config: Config) -> None:
    if found.skipped and found.runner in config.parity.require and subject.style is not Style.CONTEXT:
        raise ToolError(
            f"runner '{found.label}' is required and cannot run {subject.words}: {found.skipped}",
            hint="fix that, or remove it from [parity] require (--require)",
        )


def computes_wider_here(compiled: Compiled) -> bool:
    """Whether phones compute the file in 16 bits and this machine does not: values that are too large only fail
    there."""
    is_half = compiled.variant.traits.precision is Precision.FLOAT16
    return is_half and not compiled.processor and platform.machine() not in ("aarch64", "arm64")


def _checked(
    subject: Subject,
    runner: Runner,
    settings: ParitySettings,
    store: Store,
    references: parity.OriginalOutputs,
    folder: Path,
    announce: Callable[[str], None],
) -> parity.CheckedParity:
    """The comparison of `runner` on `subject`, from the store if the same one agreed before."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(Parity)
    inputs = _inputs(subject, runner, settings, references)
    if runner.identity() and (kept := store.find(PARITY, inputs)):
        return parity.CheckedParity(parity=adapter.validate_json((kept / "parity.json").read_bytes()))
    checked = parity.check(
        subject,
        runner,
        settings,
        folder,
        references,
        progress=lambda done, total: announce(f"sample {done} of {total}"),
    )
    checked = condemned_locally(
        Case(subject=subject, runner=runner, checked=checked, settings=settings), references, folder
    )
    found = checked.parity
    if runner.identity() and not found.has_failed and not found.skipped:
        store.results(PARITY, inputs, lambda made: _write(made / "parity.json", adapter.dump_json(found)))
    return checked


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _inputs(
    subject: Subject, runner: Runner, settings: ParitySettings, references: parity.OriginalOutputs
) -> list[object]:
    """Everything the result depends on."""
    variant = subject.variant
    samples = [[path.name, sha256_of(path)] for path in parity.sample_files(settings.samples)]
    source = settings.distance_source
    distant = references.typical_samples(source).paths if source else ()
    return [
        variant.model.sha256,
        variant.model.name,
        variant.name,
        content_key(variant.weights),
        subject.style,
        subject.sha256,
        runner.label(),
        runner.identity(),
        {**asdict(settings), "samples": samples, "typical": [sha256_of(path) for path in distant]},
    ]


def _carried(plan: Plan) -> set[str]:
    """Outputs that lead to the next run and no further: a text's, for one, hold bytes that are no character yet, which
    most runs have none of."""
    return {each.output.name for each in plan.model.contract.states} if plan.model.contract else set()


def _warnings(found: Parity, config: Config, carried: set[str]) -> Iterator[str]:
    if found.from_original is not None and found.from_original > FAR and not found.too_far:
        yield (
            f"model '{found.model}': in another precision ({found.variant}) outputs differ by "
            f"{found.from_original:.0%} of their scale from the model's own: one of the two is wrong for "
            f"these samples ({found.distance_samples})"
        )
    for stray in found.strays:
        yield (
            f"model '{found.model}': outside of the calibrated ranges '{found.variant}' is a different model: its "
            f"output '{stray.output}' differs from the original on {found.samples}: {stray.failure}; set [parity] "
            "samples to inputs like the app's"
        )
    if found.skipped:
        yield f"runner '{found.label}' skipped for model '{found.model}' ({found.style}): {found.skipped}"
    if found.refusal and not fails(found, config):
        yield f"runner '{found.label}' does not run model '{found.model}' ({found.style}): {found.refusal}"
    if found.conditioning:
        yield f"model '{found.model}' ({found.style}) is {found.conditioning}"
    for output in found.reshaped_outputs:
        yield (
            f"model '{found.model}': output '{output}' has another shape than it declares; "
            "the package treats it as dynamic"
        )
    is_nothing_left = len(found.empty_outputs) == len(found.outputs)
    empty = found.empty_outputs if is_nothing_left else [each for each in found.empty_outputs if each not in carried]
    if empty and (is_nothing_left or config.model[found.model].outputs):
        names = ", ".join(f"'{name}'" for name in empty)
        yield (
            f"model '{found.model}': outputs {names} are empty on every sample ({found.samples}): nothing was "
            "compared; set [parity] samples to files in which it finds something"
        )
    for output in found.without_numbers:
        yield (
            f"model '{found.model}': every number of output '{output}' is NaN or infinite ({found.samples}): it was "
            "not compared; set [parity] samples to inputs like the app's"
        )
    for output in found.unstable_outputs:
        yield f"model '{found.model}': output '{output}' is random and was not compared"
