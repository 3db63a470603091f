"""One build, top to bottom, as a list of steps."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from packager import models, plan, release, reporting
from packager.compile.converter import has_grown
from packager.compile.operators import operator_config
from packager.config import Config, ModelTable
from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.core import names
from packager.core.console import Console, size
from packager.core.errors import ConfigError
from packager.core.findings import Report
from packager.core.values import Compiled, Model, Package, Plan, distinct_files
from packager.files.store import Store
from packager.files.store.pruning import prune
from packager.files.user_cache import cache_folder
from packager.quantization.variants import BuiltVariant, build_variant, settings_of
from packager.quantization.worth import require_gain
from packager.render import write_sources
from packager.runners import RUNNERS
from packager.runtimes import ios, shipping
from packager.runtimes.shipping import PUBLISHED, Chosen
from packager.targets import WRAPPERS, Built, PackagedRuntime, Printed, Target, Wrapper
from packager.vectors import Golden
from packager.verification import evidence
from packager.verification.golden import golden_vectors
from packager.verification.kept import refuse_nested, refuse_other
from packager.verification.numbers import settings_for
from packager.workflows.gates import Rules, judge, keep_evidence, refuse_warnings, write_report

NO_RULES = Rules()


@dataclass(frozen=True, kw_only=True)
class Release:
    """Files that a build wrote to its output folder."""

    out: Path
    shipped: tuple[release.Shipped, ...]
    report: Report
    warnings: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Request:
    """Options of the command line for a build, in addition to the Config."""

    targets: tuple[str, ...]
    """targets to build packages for, including those that wrappers need"""
    out: Path
    emit_project: bool = False
    emit_ort_package: bool = False
    rules: Rules = NO_RULES


def build(config: Config, request: Request, console: Console) -> Release:
    """Builds every target of `request` into `request.out`. On failure, raises a MobpackError and leaves that folder
    unchanged."""
    package = package_of(config)
    store = Store(cache_folder() / "store")
    targets, wrappers = targets_of(config, request.targets), wrappers_of(config, request.targets)
    runtimes = choose_runtimes(config, request.targets, store, console)
    refuse_unwrappable(config, request.targets, runtimes, console)
    with store.in_use(), release.staged(request.out) as staging:
        planned = plan_all(config, request.targets, store, console, runtimes)
        plans = planned.plans
        report = examine(plans, config, request, store, console, runtimes)
        judge(report, request.rules, console)
        golden = vectors_for(plans, config, request, store, console)
        shipped: list[release.Shipped] = []
        built: dict[str, Built] = {}
        for name, target in targets.items():
            with console.step(f"package for {name}"):
                mine = tuple(each for each in plans if each.target == name)
                runtime = runtimes[name].packaged if name in runtimes else None
                view = target.view(package, mine, report, runtime, golden)
                shipped += package_target(target, view, staging, store, emit_project=request.emit_project)
                shipped += operators_of(target, package, mine, staging)
                if request.emit_ort_package:
                    shipped += ort_package(target, mine, staging)
                built[name] = target.built(view, mine)
        for name, wrapper in wrappers.items():
            with console.step(f"package for {name}"):
                view = wrapper.view(package, built, report, golden)
                shipped += package_target(wrapper, view, staging, store, emit_project=request.emit_project)
        text = release.manifest(
            package,
            plans,
            report,
            shipped,
            options=options_of(config, request.targets),
            runtimes=runtimes_of(config, request.targets, runtimes),
            own_runtimes={name: runtime.packaged for name, runtime in runtimes.items()},
            takes_in={name: wrapper.NEEDS for name, wrapper in wrappers.items()},
            warnings=console.warnings,
            golden=golden,
        )
        (staging / release.MANIFEST).write_text(text, encoding="utf-8")
        extras = reporting.measured(planned.made, store, console, has_latency=False)
        write_report(plans, report, extras, staging / "report.html", request.rules, console)
    prune(store)
    return Release(out=request.out, shipped=tuple(shipped), report=report, warnings=tuple(console.warnings))


def package_of(config: Config) -> Package:
    return Package(
        name=config.package.name,
        version=config.package.version,
        license=config.package.license,
        description=config.package.description,
    )


@dataclass(frozen=True, kw_only=True)
class Examination:
    """Result of `mobpack check`."""

    plans: tuple[Plan, ...]
    report: Report
    warnings: tuple[str, ...]


def check(config: Config, request: Request, console: Console, page: Path | None = None) -> Examination:
    """Plans every target of `request` and proves the files that a build would ship, without packaging; writes the
    report to `page`, and as JSON beside it.

    Nothing is judged yet: `judge` does that, once the user has seen what was found.
    """
    store = Store(cache_folder() / "store")
    with store.in_use():
        runtimes = choose_runtimes(config, request.targets, store, console)
        refuse_unwrappable(config, request.targets, runtimes, console)
        planned = plan_all(config, request.targets, store, console, runtimes)
        report = examine(planned.plans, config, request, store, console, runtimes)
        if page:
            extras = reporting.measured(planned.made, store, console)
            write_report(planned.plans, report, extras, page, request.rules, console)
    return Examination(plans=planned.plans, report=report, warnings=tuple(console.warnings))


def choose_runtimes(config: Config, targets: Sequence[str], store: Store, console: Console) -> Mapping[str, Chosen]:
    """The runtimes of `[runtime]` by target, each read once; targets without one use the published runtime.

    Raises ConfigError for what does not go together with them.
    """
    named = {"android": config.runtime.android, "ios": config.runtime.ios}
    chosen: dict[str, Chosen] = {}
    for name in targets:
        if not named.get(name):
            continue
        with console.step(f"read the runtime {Path(named[name]).name}"):
            chosen[name] = choose_runtime(config, name, store)
        if chosen[name].is_reduced:
            console.say('  reduced: it reads ORT format only, so all files are planned as with format = "ort"')
        for note in chosen[name].notes:
            console.warn(note)
    return chosen


def refuse_unwrappable(
    config: Config, targets: Sequence[str], runtimes: Mapping[str, Chosen], console: Console
) -> None:
    """Prints the targets that each wrapper needs. Raises ConfigError for a package or a runtime that a wrapper cannot
    include."""
    own = {target: chosen.packaged for target, chosen in runtimes.items()}
    for name, wrapper in wrappers_of(config, targets).items():
        console.say(f"  {name} includes the packages for {' and '.join(wrapper.NEEDS)}")
        wrapper.refuse(package_of(config), own)


def choose_runtime(config: Config, target: str, store: Store) -> Chosen:
    """The runtime that `[runtime]` names for `target`, checked against the target's table."""
    android = config.target.android
    if android and target == android.NAME:
        runtime = shipping.choose(config.runtime, target, group=android.group, store=store)
        shipping.refuse_settings(android, android.assembler, runtime)
        return runtime
    framework = ios.choose_ios(config.runtime, store)
    ios.refuse_settings(config.targets()[target], framework)
    return framework


@dataclass(frozen=True, kw_only=True)
class Planned:
    """All files that a project ships, made but not yet checked."""

    plans: tuple[Plan, ...]
    made: tuple[BuiltVariant, ...]
    """the variants in the plans"""


def plan_all(
    config: Config,
    targets: Sequence[str],
    store: Store,
    console: Console,
    runtimes: Mapping[str, Chosen] = PUBLISHED,
) -> Planned:
    """A plan for every model on every target, its files made. Raises an error for a file that the target's runtime
    cannot run."""
    plans: list[Plan] = []
    made: list[BuiltVariant] = []
    for model in [load_model(name, table, store, console) for name, table in config.model.items()]:
        variants: dict[str, BuiltVariant] = {}
        for name, table in targets_of(config, targets).items():
            target = adapted(table, runtimes.get(name))
            if target.variant not in variants:
                variants[target.variant] = make_variant(model, target.variant, config, store, console)
            with console.step(f"plan {model.name} for {name}") as announce:
                plans.append(plan.make(variants[target.variant].variant, target, store, announce))
        made += variants.values()
    for runtime in runtimes.values():
        shipping.refuse_unrunnable(plans, runtime)
    for note in dict.fromkeys(note for each in plans for note in each.notes):
        console.warn(note)
    for compiled in distinct_files(plans):
        _note_size(compiled, console)
    return Planned(plans=tuple(plans), made=tuple(made))


def make_variant(model: Model, name: str, config: Config, store: Store, console: Console) -> BuiltVariant:
    """Makes the variant `name`. Raises GateError for one that is neither smaller nor faster than the model."""
    made = build_variant(model, name, config.quantizer_of(name), store, console)
    if config.check.gain != "skip":
        require_gain(made, store, console)
    return made


def adapted(target: Target, runtime: Chosen | None) -> Target:
    """`target` as its files are planned: a reduced runtime reads ORT format only."""
    return replace(target, format="ort") if runtime and runtime.is_reduced else target


def examine(
    plans: Sequence[Plan],
    config: Config,
    request: Request,
    store: Store,
    console: Console,
    runtimes: Mapping[str, Chosen] = PUBLISHED,
) -> Report:
    """Gathers the evidence for `plans`. Evidence of failed comparisons is kept in the folder that `request` names."""
    refuse_other(request.rules.evidence)
    refuse_nested(request.rules.evidence, request.out)
    with store.scratch() as scratch:
        report = evidence.gather(plans, config, store, console, scratch, runtimes)
        if report.failures:
            report = keep_evidence(plans, report, request.rules, console)
        elif request.rules.evidence.is_dir():
            console.say(f"  {request.rules.evidence} is from an earlier run; all comparisons now pass")
    return report


def load_model(name: str, table: ModelTable, store: Store, console: Console) -> Model:
    """The model as it is checked, planned and shipped, including its contract."""
    with console.step(f"load {table.path.name}"):
        model = models.load(table.path, name, fixed=table.shapes, license_file=table.license, announce=console.say)
        models.refuse_blocked(model)
        attached = attachment.attach(model, Tables(inputs=table.inputs, outputs=table.outputs))
        evidence.refuse_changed(attached, store)
        model = attached.model
        model = models.hashed(model)
    for note in model.notes:
        console.warn(f"model '{name}': {note}")
    return model


def _note_size(compiled: Compiled, console: Console) -> None:
    """Warns if the ORT file is larger than its source although constant folding was left out."""
    source = compiled.variant.model.size_bytes
    if has_grown(source, compiled.size_bytes):
        console.warn(
            f"model '{compiled.variant.model.name}': the ORT file is {size(compiled.size_bytes)},  "
            f"the source is {size(source)}"
        )


def vectors_for(plans: Sequence[Plan], config: Config, request: Request, store: Store, console: Console) -> Golden:
    """The golden vectors that packages test themselves with. With --strict, raises ModelError for a model without
    any."""
    (cpu,) = RUNNERS["cpu"]("")
    found = golden_vectors(plans, config.parity, lambda subject: settings_for(config, subject, cpu), store, console)
    refuse_warnings(request.rules, console)
    return found


def package_target(
    target: Printed, view: Any, staging: Path, store: Store, *, emit_project: bool
) -> list[release.Shipped]:
    """Renders, assembles and lays out one target below `staging`."""
    sources = target.render(view)
    artifacts = target.assemble(view, sources, store)
    shipped = release.layout(target, view, artifacts, staging)
    if emit_project:
        write_sources(target.project(view, sources), staging / target.NAME / "project")
    return shipped


def operators_of(target: Target, package: Package, plans: tuple[Plan, ...], staging: Path) -> list[release.Shipped]:
    """Operator configuration of one target's files, for a reduced build of ONNX Runtime."""
    config = staging / target.NAME / f"{package.name}-{package.version}.required_operators_and_types.config"
    config.write_text(operator_config([each.operators for each in distinct_files(plans)]), encoding="utf-8")
    return [release.described(config, staging, target=target.NAME, kind="operator-config")]


def ort_package(target: Target, plans: tuple[Plan, ...], staging: Path) -> list[release.Shipped]:
    """The target's files as an ORT Model Package, verified with ONNX Runtime's own reader."""
    folder = staging / target.NAME / "ort-package"
    files = release.write_ort_package(folder, [release.component(plan) for plan in plans])
    return [release.described(file, staging, target=target.NAME, kind="ort-package") for file in files]


def options_of(config: Config, targets: Sequence[str]) -> dict[str, object]:
    """The configuration of the build, without paths of the build machine."""
    return {
        "shapes": {
            name: {key: value if isinstance(value, int) else list(value) for key, value in table.shapes.items()}
            for name, table in config.model.items()
        },
        **contracts_of(config),
        "parity": {
            "runners": list(config.parity.runners),
            "require": list(config.parity.require),
            "random-samples": config.parity.random_samples,
            "seed": config.parity.seed,
            "tolerance": config.parity.tolerance,
            "atol": config.parity.atol,
            "golden": config.parity.golden,
            "golden-max-kib": config.parity.golden_max_kib,
        },
        "variant": {
            name: settings_of(config.quantizer_of(name))
            for name in dict.fromkeys(target.variant for target in targets_of(config, targets).values())
        },
        "target": {
            name: {names.kebab_case(key): value for key, value in target_settings(table).items()}
            for name, table in {**targets_of(config, targets), **wrappers_of(config, targets)}.items()
        },
    }


def contracts_of(config: Config) -> dict[str, object]:
    """Tables of inputs and outputs by model, files by name; empty without contracts."""
    found = {
        name: {
            "inputs": {key: _settings_of_kind(kind) for key, kind in table.inputs.items()},
            "outputs": {key: _settings_of_kind(kind) for key, kind in table.outputs.items()},
        }
        for name, table in config.model.items()
        if table.inputs or table.outputs
    }
    return {"contract": found} if found else {}


def _settings_of_kind(kind: Any) -> dict[str, object]:
    settings = {names.kebab_case(key): value for key, value in asdict(kind).items() if value is not None}
    return {key: value.name if isinstance(value, Path) else value for key, value in settings.items()}


def target_settings(target: Printed) -> dict[str, object]:
    """Settings of a target by Python name."""
    return asdict(target)


def runtimes_of(config: Config, targets: Sequence[str], runtimes: Mapping[str, Chosen]) -> dict[str, str]:
    """The runtime that each target's packages depend on or contain."""
    found = {name: target.runtime() for name, target in targets_of(config, targets).items()}
    for name, runtime in runtimes.items():
        own = runtime.packaged
        where = own.coordinates if isinstance(own, PackagedRuntime) else own.url
        found[name] = where or f"{runtime.display_name}, inside the package"
    return found


def targets_of(config: Config, names: Sequence[str]) -> dict[str, Target]:
    """The targets among `names` that models are planned for."""
    found = config.targets()
    return {name: found[name] for name in names if name in found}


def wrappers_of(config: Config, names: Sequence[str]) -> dict[str, Wrapper]:
    """The wrappers among `names`."""
    found = config.wrappers()
    return {name: found[name] for name in names if name in found}


def requested_targets(config: Config, asked: Sequence[str]) -> tuple[str, ...]:
    """The targets of the command line, else those of mobpack.toml, preceded by the targets that wrappers need.

    Raises ConfigError when there are none.
    """
    chosen = tuple(dict.fromkeys(asked)) or (*config.targets(), *config.wrappers())
    if not chosen:
        raise ConfigError(
            "no target to build", hint="add --target android, or a [target.android] table to mobpack.toml"
        )
    needed = [name for wrapper in chosen if wrapper in WRAPPERS for name in WRAPPERS[wrapper].NEEDS]
    return tuple(dict.fromkeys((*needed, *chosen)))
