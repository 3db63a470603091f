"""Makes a variant of a model: prepares the graph, gathers what its quantizer needs, and lets it rewrite the graph.

Calibration and search are imported only when needed: dynamic and weight-only take less time than the import.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from packager.core.console import Console
from packager.core.errors import ModelError
from packager.core.names import kebab_case
from packager.core.quantized import FloatLayer, Range
from packager.core.values import Model, Precision, Variant, baseline
from packager.files.hashes import known_sha256
from packager.files.store import Step, Store, key_of
from packager.graph.rewriting.draft import draft_of
from packager.graph.rewriting.layers import has_foldable_weights
from packager.quantization.making import NO_MOMENTS, quantize, read_variant
from packager.quantization.prepare import prepared
from packager.quantization.raising import raised
from packager.quantization.scales import Earlier, earlier_scales
from packager.quantizers import Auto, Calibration, NoQuantizer, Quantizer, Recipe, StaticQdq, WeightOnly

OWN_SHOWN = 5
"""Number of tensors with scales of their own that are printed."""
QUANTIZE = Step(name="quantize", caller=__name__, computed_by=("packager.quantization.making", "packager.quantizers"))

if TYPE_CHECKING:
    from packager.quantization import calibration
    from packager.quantization.ranges import Basis
    from packager.quantization.search import SearchResult


@dataclass(frozen=True, kw_only=True)
class BuiltVariant:
    """A variant, and the inputs that it was made from."""

    variant: Variant
    graph: bytes
    """the quantizer's input"""
    samples: "calibration.Samples | None" = None
    """samples of the calibration; None for quantizers that need none"""
    found: "SearchResult | None" = None
    """result of the search, if there was one"""


def build_variant(
    model: Model, name: str, recipe: Recipe, store: Store, console: Console, *, outputs: Path | None = None
) -> BuiltVariant:
    """The variant `name` of `model`, made by `recipe` or found in the store; `model` must be hashed.

    If samples have to run to calibrate it, the folder `outputs` records the float graph's outputs for them. Raises
    ConfigError for samples that do not fit the model, ModelError for a model that cannot be quantized.
    """
    if isinstance(recipe, NoQuantizer):
        return BuiltVariant(variant=baseline(model, name), graph=model.graph)
    earlier = earlier_scales(recipe, model.name, name)
    made = _built(model, name, recipe, earlier, store, console, outputs)
    _say_kept(made.variant, console)
    return made


def _built(
    model: Model, name: str, recipe: Recipe, earlier: Earlier, store: Store, console: Console, outputs: Path | None
) -> BuiltVariant:
    if isinstance(recipe, Auto):
        from packager.quantization.auto import search

        basis = replace(_basis(model, recipe, outputs, store, console), earlier=earlier)
        quantizer, found = search(basis, recipe, store, console)
        made = _calibrated(basis, name, quantizer, store, console)
        explained = replace(made, quantizer=recipe.NAME, left=_explained(made.left, found.reasons))
        return BuiltVariant(variant=explained, graph=basis.graph, samples=basis.samples, found=found)
    if isinstance(recipe, StaticQdq):
        basis = replace(_basis(model, recipe, outputs, store, console), earlier=earlier)
        made = _calibrated(basis, name, recipe, store, console)
        return BuiltVariant(variant=made, graph=basis.graph, samples=basis.samples)
    graph = raised(model, store).graph if recipe.NAME == "dynamic" else model.graph
    if has_foldable_weights(draft_of(graph, model.data_folder)):
        with console.step(f"fold constants of {model.name}"):
            graph = prepared(raised(model, store), store)
    if isinstance(recipe, WeightOnly) and recipe.is_calibrated:
        return _compensated(model, graph, name, recipe, earlier, store, console)
    return BuiltVariant(variant=_made(model, graph, name, recipe, {}, earlier, store, console), graph=graph)


def _compensated(
    model: Model, graph: bytes, name: str, recipe: WeightOnly, earlier: Earlier, store: Store, console: Console
) -> BuiltVariant:
    """A variant whose integers follow from the inputs that samples give its matrices."""
    from packager.quantization.calibration.moments import MomentsRequest, moments_of
    from packager.quantization.ranges import read_samples

    assert recipe.calibration
    samples = read_samples(model, recipe.calibration, store, console)
    request = MomentsRequest(
        graph=graph,
        weights_sha256=model.sha256,
        data_folder=model.data_folder,
        widths=recipe.widths(draft_of(graph, model.data_folder)),
        samples=samples,
    )
    with console.progress(f"calibrate {model.name} (gptq)") as advance:
        moments = moments_of(request, store, advance)
    made = _made(model, graph, name, recipe, {}, earlier, store, console, moments)
    return BuiltVariant(variant=made, graph=graph, samples=samples)


def calibrate(model: Model, name: str, recipe: StaticQdq | Auto, store: Store, console: Console) -> None:
    """Stores the ranges that `build_variant` needs for the variant `name`."""
    from packager.quantization import auto
    from packager.quantization.ranges import ranges_for

    basis = _searched(model, name, recipe, store, console)
    if isinstance(recipe, Auto):
        auto.calibrate(basis, recipe, store, console)
    else:
        ranges_for(basis, recipe.measures(basis.draft()), recipe.calibration, store, console)


def score(model: Model, name: str, recipe: Auto, part: str | tuple[int, int], store: Store, console: Console) -> None:
    """Stores scores that `build_variant` asks for in a search: of the whole model with the calibration method `part`,
    or of that share of its layers."""
    from packager.quantization import auto

    basis = _searched(model, name, recipe, store, console)
    if isinstance(part, str):
        auto.score_whole(basis, recipe, part, store, console)
    else:
        auto.score_layers(basis, recipe, part, store, console)


def evaluate_ahead(
    model: Model,
    name: str,
    recipe: Auto,
    share: tuple[int, int],
    is_wanted: Callable[[], bool],
    store: Store,
    console: Console,
) -> None:
    """Stores scores that the search of `build_variant`, which runs elsewhere, may ask for next."""
    from packager.quantization import auto

    auto.evaluate_ahead(_searched(model, name, recipe, store, console), recipe, share, is_wanted, store, console)


def _searched(model: Model, name: str, recipe: StaticQdq | Auto, store: Store, console: Console) -> "Basis":
    return replace(_basis(model, recipe, None, store, console), earlier=earlier_scales(recipe, model.name, name))


def _say_kept(variant: Variant, console: Console) -> None:
    """Prints how many scales are those of the version before, and which are not."""
    found = variant.kept_scales
    if found is None:
        return
    which = f"model '{variant.model.name}', variant '{variant.name}'"
    console.say(f"  {which}: {found.kept:,} of {found.count:,} scales kept")
    for each in found.own[:OWN_SHOWN]:
        console.say(f"    own scale: {each.kind} {each.name}: {each.reason}")
    if len(found.own) > OWN_SHOWN:
        console.say(f"    and {len(found.own) - OWN_SHOWN:,} more tensors: the manifest or report lists them")


def _basis(model: Model, recipe: StaticQdq | Auto, outputs: Path | None, store: Store, console: Console) -> "Basis":
    """The graph and the samples of the calibration."""
    from packager.quantization.measurement.metrics import has_own_data
    from packager.quantization.ranges import Basis, read_samples
    from packager.samples.parts import divided

    refuse_quantized(model)
    metric = recipe.metric if isinstance(recipe, Auto) else ""
    samples = read_samples(model, recipe.calibration, store, console, metric=metric)
    with console.step(f"prepare {model.name}"):
        newer = raised(model, store)
        graph = prepared(newer, store)
    # a variant is compared with the user's own graph
    basis = Basis(model=model, graph=graph, samples=samples, outputs=outputs if newer is model else None)
    parts = divided(samples) if metric and not has_own_data(metric) else None
    return replace(basis, samples=parts[0], held_out=parts[1]) if parts else basis


def _calibrated(basis: "Basis", name: str, quantizer: StaticQdq, store: Store, console: Console) -> Variant:
    from packager.quantization.ranges import ranges_for

    values = quantizer.measures(basis.draft())
    ranges = ranges_for(basis, values, quantizer.calibration, store, console)
    return _made(basis.model, basis.graph, name, quantizer, ranges, basis.earlier, store, console)


def _made(
    model: Model,
    graph: bytes,
    name: str,
    quantizer: Quantizer,
    ranges: Mapping[str, Range],
    earlier: Earlier,
    store: Store,
    console: Console,
    moments: Mapping[str, Path] = NO_MOMENTS,
) -> Variant:
    earlier.refuse_other(quantizer)
    measured = {key: asdict(each) for key, each in ranges.items()}
    inputs = [key_of(graph.hex()), model.sha256, quantizer.NAME, _settings(quantizer), measured, earlier.sha256]
    if moments:
        inputs.append({name: known_sha256(path) for name, path in moments.items()})

    def make(folder: Path) -> None:
        with console.step(f"quantize {model.name} ({quantizer.NAME})"):
            quantize(graph, model.data_folder, quantizer, ranges, folder, earlier, moments)

    return read_variant(store.results(QUANTIZE, inputs, make), model, name, quantizer.NAME, earlier)


def _settings(quantizer: Quantizer) -> dict[str, object]:
    """Settings that its result depends on, without those of the calibration and the path of the earlier scales: ranges
    and their sha256 cover these."""
    settings: dict[str, object] = asdict(quantizer)  # type: ignore[call-overload]
    settings.pop("calibration", None)
    settings.pop("scales_from", None)
    return settings


def settings_of(recipe: Recipe) -> dict[str, object]:
    """The keys that are set in a quantizer's table, as JSON and without paths of this machine."""
    settings = _plain(asdict(recipe))  # type: ignore[arg-type]
    assert isinstance(settings, dict)
    calibration: Calibration | None = getattr(recipe, "calibration", None)
    if calibration and not calibration.is_function:
        settings["calibration"]["samples"] = Path(calibration.samples).name
    return settings


def _plain(value: object) -> object:
    """The value as JSON: keys in kebab-case, lists; unset values are left out."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, dict):
        return {kebab_case(key): _plain(each) for key, each in value.items() if each not in (None, ())}
    return list(value) if isinstance(value, tuple) else value


def _explained(left: tuple[FloatLayer, ...], reasons: Mapping[str, str]) -> tuple[FloatLayer, ...]:
    """`left` with the reasons of a search, which are more precise than "excluded by the configuration"."""
    return tuple(replace(each, reason=reasons.get(each.name, each.reason)) for each in left)


def refuse_quantized(model: Model) -> None:
    """Raises ModelError for a model that is not in float32, which cannot be quantized."""
    precision = model.traits.precision
    if precision is not Precision.FLOAT32:
        raise ModelError(
            f"{model.path}: the model is in {precision} already",
            hint='use the float32 model that it was made from, or ship it unchanged: quantizer = "none"',
        )
