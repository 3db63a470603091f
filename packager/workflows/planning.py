"""Plans a project: loads its models, makes their variants, and plans the files of every target."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packager import models
from packager.compile import plan
from packager.compile.converter import has_grown
from packager.compile.plan import Chips
from packager.config import Config, ModelTable
from packager.contract import attachment
from packager.contract.attachment import Tables
from packager.core.console import Console, size
from packager.core.decision import Weighed
from packager.core.errors import ConfigError, ModelError
from packager.core.findings import Partition
from packager.core.pipeline import Pipeline
from packager.core.tuned import Tunable, settings_by_variant
from packager.core.values import Compiled, Model, Plan, Variant, distinct_files
from packager.files.hashes import known_sha256
from packager.files.store import Store
from packager.providers import CPU
from packager.quantization.overflow import warn_of_overflows
from packager.quantization.variants import BuiltVariant, build_variant
from packager.quantization.worth import require_budget, require_gain
from packager.runtimes import shipping
from packager.runtimes.shipping import PUBLISHED, Chosen
from packager.targets.target import DefaultProviders, Target, variants_of
from packager.verification import evidence
from packager.verification.observed import with_observed_shapes
from packager.verification.partition.report import partitions
from packager.verification.partition.weighing import unfit, weigh
from packager.workflows.importing.project import onnx_of
from packager.workflows.pipelines import pipelines_of
from packager.workflows.requested import targets_of, wrappers_of


@dataclass(frozen=True, kw_only=True)
class PlannedProject:
    """Every file that a project ships, made but not yet checked."""

    plans: tuple[Plan, ...]
    made: tuple[BuiltVariant, ...]
    """the variants in the plans"""
    asked: tuple[Partition, ...] = ()
    """partitions that decided about providers"""
    pipelines: tuple[Pipeline, ...] = ()


def plan_all(
    config: Config,
    targets: Sequence[str],
    store: Store,
    console: Console,
    runtimes: Mapping[str, Chosen] = PUBLISHED,
) -> PlannedProject:
    """A plan for every model on every target, its files made. Raises an error for a file that the target's runtime
    cannot run."""
    plans: list[Plan] = []
    asked: list[Partition] = []
    made: list[BuiltVariant] = []
    wrapped: list[Plan] = []
    loaded = [load_model(name, table, store, console) for name, table in config.model.items()]
    pipelines = pipelines_of(config, loaded)
    for model in loaded:
        variants: dict[str, BuiltVariant] = {}
        own: dict[str, TargetPlan] = {}
        for name, table in targets_of(config, targets).items():
            target = adapted(table, runtimes.get(name))
            for variant in variants_of(target, model.name):
                if variant not in variants:
                    variants[variant] = make_variant(model, variant, config, store, console)
            with console.step(f"plan {model.name} for {name}", kind="plan files") as announce:
                own[name] = plan_target(model, target, variants, store, announce)
        plans += (each.whole for each in own.values())
        asked += (partition for each in own.values() for partition in each.asked)
        for wrapper in wrappers_of(config, targets).values():
            inside = {name: each for name, each in own.items() if name in wrapper.NEEDS}
            with console.step(f"plan {model.name} for {wrapper.NAME}", kind="plan files") as announce:
                wrapped += plans_inside(wrapper.NAME, inside, store, announce)
        made += variants.values()
    plans += wrapped
    for runtime in runtimes.values():
        shipping.refuse_unrunnable(plans, runtime)
    for note in dict.fromkeys(note for each in plans for note in each.notes):
        console.warn(note)
    for compiled in distinct_files(plans):
        _note_size(compiled, console)
    for each in plans:
        _warn_of_named(each, console)
    return PlannedProject(plans=tuple(plans), made=tuple(made), asked=tuple(asked), pipelines=pipelines)


@dataclass(frozen=True, kw_only=True)
class TargetPlan:
    """The plan of a model for one target, and what it was made of."""

    variant: Variant
    target: Target
    chips: Chips
    """that open it"""
    weighed: tuple[Weighed, ...]
    found: Plan
    special: tuple[Plan, ...] = ()
    """of the variants that other chips open"""
    asked: tuple[Partition, ...] = ()
    """partitions that decided about providers"""

    @property
    def whole(self) -> Plan:
        """With the files of all chips."""
        return plan.joined(self.found, self.special)


def chips_of_variants(model: Model, target: Target) -> dict[str, Chips]:
    """The chips of each variant that some open in the place of the target's."""
    tuned = target.tuned if isinstance(target, Tunable) else {}
    return {
        variant: Chips(
            orders={
                chip: tuple(name for name in each.providers or target.providers if name != CPU.NAME)
                for chip, each in chips.items()
            },
            measured=frozenset(name for each in chips.values() for name in each.providers),
        )
        for variant, chips in settings_by_variant(model.name, tuned).items()
    }


def plan_target(
    model: Model,
    target: Target,
    variants: Mapping[str, BuiltVariant],
    store: Store,
    announce: Callable[[str], None],
) -> TargetPlan:
    """The plan of a model for `target`.

    Raises ModelError for a variant of certain chips that cannot be in a package with the target's.
    """
    tuned = chips_of_variants(model, target)
    elsewhere = Chips(others=frozenset(chip for each in tuned.values() for chip in each.orders))
    found = plan_variant(variants[target.variant].variant, target, elsewhere, store, announce)
    special = [plan_variant(variants[name].variant, target, chips, store, announce) for name, chips in tuned.items()]
    asked = tuple(partition for each in (found, *special) for partition in each.asked)
    whole = replace(found, special=tuple(each.found for each in special), asked=asked)
    refuse_alike(whole.whole)
    return whole


def plan_variant(
    variant: Variant,
    target: Target,
    chips: Chips,
    store: Store,
    announce: Callable[[str], None],
) -> TargetPlan:
    """The plan of a variant for the chips that open it."""
    if chips.orders:
        refuse_other_tensors(variant, chips)
    found = plan.make(variant, target, store, announce, chips=chips)
    asked = partitions(found)
    weighed = weigh(found, asked) if isinstance(target.providers, DefaultProviders) else unfit(found, asked)
    weighed = tuple(
        replace(each, is_worth=each.is_worth or (each.provider in chips.measured and not each.is_refused))
        for each in weighed
    )
    if weighed:
        found = plan.make(variant, target, store, announce, weighed, chips=chips)
    return TargetPlan(variant=variant, target=target, chips=chips, weighed=weighed, found=found, asked=asked)


def refuse_alike(found: Plan) -> None:
    """Raises ModelError for variants that some chips open with the same graph over other weights as another one: files
    are known by the SHA-256 of the graph."""
    seen: dict[str, tuple[str, tuple[str, ...]]] = {}
    for each in found.choices:
        weights = tuple(map(known_sha256, each.compiled.data_files))
        variant, known = seen.setdefault(each.compiled.sha256, (each.variant, weights))
        if known != weights:
            before = f"the variant '{variant}'" if variant else "that of the target"
            raise ModelError(
                f"model '{found.model.name}': the variant '{each.variant}' has the same graph for {each.provider} "
                f"as {before}, over other weights",
                hint='set format = "ort" in the target: then each file has its weights inside',
            )


def refuse_other_tensors(variant: Variant, chips: Chips) -> None:
    """Raises ModelError for a variant whose inputs and outputs are not those of its model: the code of a package has
    one interface for all variants."""
    before, now = variant.model.signature, models.signature_of(variant.graph)
    for kind, expected, found in (("input", before.inputs, now.inputs), ("output", before.outputs, now.outputs)):
        known = {spec.name: spec.element for spec in expected}
        for name in dict.fromkeys((*known, *(spec.name for spec in found))):
            element = {spec.name: spec.element for spec in found}.get(name)
            if element != known.get(name):
                raise ModelError(
                    f"model '{variant.model.name}': the variant '{variant.name}' for {', '.join(chips.orders)} "
                    f"has another {kind} '{name}' ({element or 'none'} in the place of {known.get(name, 'none')})",
                    hint="a package has one interface for all chips: ship that variant as a package of its own",
                )


def plans_inside(
    wrapper: str, own: Mapping[str, TargetPlan], store: Store, announce: Callable[[str], None]
) -> Iterator[Plan]:
    """Plans for the targets `own` where they share one package: if a provider of one target needs the weights in its
    own file, the files of the others are graphs over it. Targets whose own files are that already have none."""
    for each in own.values():
        kept = plan.kept_weights(each.variant, each.target, each.found, each.weighed)
        if not kept:
            continue
        beside = replace(kept, provider=f"{kept.provider} on {each.found.target}")
        for other in own.values():
            if other is not each and other.variant is each.variant:
                found = plan.make(other.variant, other.target, store, announce, other.weighed, beside, other.chips)
                if found.choices != other.found.choices:
                    yield replace(plan.joined(found, other.special), wrapper=wrapper)
        return


def load_model(name: str, table: ModelTable, store: Store, console: Console) -> Model:
    """The model as it is checked, planned and shipped, including its contract."""
    path = onnx_of(name, table, store, console)
    with console.step(f"load {path.name}", kind="load models"):
        model = models.load(
            path,
            name,
            encoder=table.encoder,
            with_past=table.with_past,
            renamed=table.rename,
            fixed=table.shapes,
            license_file=table.license,
            announce=console.expect_long,
        )
        models.refuse_blocked(model)
        model = with_observed_shapes(models.hashed(model), store, console)
        if table.with_past and not table.encoder:
            raise ConfigError(
                f"model.{name}: with-past has no effect without an encoder",
                hint='remove it; for a decoder alone, path = "decoder_with_past_model.onnx" takes the first step, too',
            )
        if table.encoder and not any(kind.KIND == "generated" for kind in table.outputs.values()):
            raise ConfigError(
                f"model.{name}: an encoder needs an output that becomes a text",
                hint=f'describe it: [model.{name}.outputs.logits] with kind = "generated"; see docs/generation.md',
            )
        attached = attachment.attach(model, Tables(inputs=table.inputs, outputs=table.outputs))
        evidence.refuse_changed(attached, store)
        model = attached.model
    for note in model.notes:
        console.warn(f"model '{name}': {note}")
    return model


def make_variant(model: Model, name: str, config: Config, store: Store, console: Console) -> BuiltVariant:
    """Makes the variant `name`. Raises GateError for one that is not smaller than the model, ModelError
    for a model that cannot be quantized."""
    try:
        made = build_variant(model, name, config.quantizer_of(name), store, console)
    except ModelError as error:  # a quantizer sees a graph, which has no name
        is_named = f"'{model.name}'" in error.message
        which = "" if is_named else f"model '{model.name}', variant '{name}': "
        raise ModelError(f"{which}{error.message}", hint=error.hint) from error
    require_budget(made, console)
    if config.check.gain != "skip":
        require_gain(made)
    warn_of_overflows(made, None, store, console)
    return made


def adapted(target: Target, runtime: Chosen | None) -> Target:
    """`target` as its files are planned: a reduced runtime reads ORT format only."""
    return replace(target, format="ort") if runtime and runtime.is_reduced else target


def _warn_of_named(found: Plan, console: Console) -> None:
    """Warns of providers that the project names and that get no file."""
    for each in found.left_out if not found.wrapper else ():
        if each.is_named:
            console.warn(
                f"model '{found.model.name}' on {found.target}: {each.provider} gets no file, so the next provider "
                f"runs the model: {each.reason}"
            )


def _note_size(compiled: Compiled, console: Console) -> None:
    """Warns if the ORT file is larger than its source although constant folding was left out."""
    source = compiled.variant.model.shipped_bytes
    if has_grown(source, compiled.size_bytes):
        console.warn(
            f"model '{compiled.variant.model.name}': the ORT file is {size(compiled.size_bytes)}, "
            f"the source is {size(source)}"
        )
