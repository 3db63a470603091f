"""`mobpack quantize`: quantizes one ONNX file and measures the result."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from packager.cli.options import (
    MODEL,
    cache_option,
    cache_table,
    json_option,
    no_code_option,
    parse_shapes,
    print_json,
    shape_option,
)
from packager.cli.project_options import into

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from packager.core.console import Console
    from packager.core.values import Model
    from packager.quantization.measurement.metrics import Score
    from packager.quantization.measurement.report import QuantizationReport
    from packager.quantizers import Calibration
    from packager.workflows.quantize import QuantizeRequest, QuantizeResult


@dataclass(frozen=True, kw_only=True)
class QuantizeOptions:
    """Options of `mobpack quantize`."""

    model: Path
    quantizer: str
    calibration: str | None
    max_drop: float | None
    metric: str | None
    settings: tuple[str, ...]
    output: Path | None
    report: bool
    scales: Path | None
    integer_io: bool
    force: bool
    strict: bool
    shapes: tuple[str, ...]
    cache_url: str | None
    no_code: bool
    as_json: bool


@click.command(short_help="Quantize a model and measure the loss.")
@click.argument("model", type=MODEL)
@click.option(
    "--quantizer",
    "-q",
    required=True,
    metavar="NAME",
    help="auto, static-qdq, dynamic, weight-only or float16.",
)
@click.option(
    "--calibration",
    metavar="SAMPLES",
    help="Calibration samples: an .npz, a folder of .npz, .npy, images, .wav or .txt, or "
    "module:function. auto and static-qdq need them; all quantizers are measured on them, or on random inputs. "
    "Images, recordings and texts are converted by the contract in a mobpack.toml beside the model; without one set "
    "calibration.image.mean, .std, .scale, .colour and .resize, or calibration.audio.sample-rate and .scale.",
)
@click.option(
    "--max-drop",
    type=float,
    help="Budget: largest drop of the metric from float. auto searches within it; others are refused beyond it.",
)
@click.option("--metric", metavar="NAME", help="Quality metric: sqnr (default), cosine, top1, or module:function.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a key of the quantizer, as in calibration.image.mean=[0.485,0.456,0.406]. Repeatable.",
)
@click.option(
    "--output", "-o", type=MODEL, help="The .onnx file to write; default: MODEL-QUANTIZER.onnx in the current folder."
)
@click.option(
    "--report/--no-report", default=True, help="Measure error and speed, and write an HTML report. Default: yes."
)
@click.option("--scales", type=MODEL, help="Also write the scales to this file, for scales-from of the next version.")
@click.option("--integer-io", is_flag=True, help="Make quantized inputs and outputs integers instead of floats.")
@click.option(
    "--force", is_flag=True, help="Write the model even if it is neither smaller nor faster, or beyond its budget."
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@shape_option
@cache_option
@no_code_option
@json_option
@into(QuantizeOptions)
def quantize(options: QuantizeOptions) -> None:
    """Quantize MODEL.onnx and write a report beside it with the change in size, speed and accuracy.

    For example: mobpack quantize model.onnx -q auto --calibration samples/ --max-drop 0.01 --metric top1
    """
    from packager.core.console import Console
    from packager.files.store.pruning import prune_at_times
    from packager.workflows.private_models import is_known
    from packager.workflows.quantize import run
    from packager.workflows.shared_store import opened_store

    model = options.model
    console = Console(quiet=options.as_json)
    request = _request(options, console)
    with opened_store(cache_table(options.cache_url), console, is_private=is_known(model)) as store, store.in_use():
        result = run(request, store, console)
    prune_at_times(store)
    if options.as_json:
        from packager.quantization.measurement.report import as_json as json_of

        print_json({**json_of(result.report), "files": [str(file) for file in result.files]})
    else:
        _show(result, console)


def _request(options: QuantizeOptions, console: "Console") -> "QuantizeRequest":
    """The request, with its model loaded."""
    from packager import config
    from packager.workflows import trust
    from packager.workflows.quantize import QuantizeRequest

    quantizer, calibration, metric = options.quantizer, options.calibration, options.metric
    known = config.keys_of(quantizer)
    table = {"calibration": calibration, "max-drop": options.max_drop, "metric": metric}
    given = {key: value for key, value in table.items() if value is not None and key in known}
    settings = options.settings
    of_samples = [] if "calibration" in known else [each for each in settings if each.startswith("calibration.")]
    recipe = config.recipe({"quantizer": quantizer, **given}, [each for each in settings if each not in of_samples])
    if options.no_code:
        trust.refuse_functions(recipe, f"quantizer '{quantizer}'")
        trust.refuse_texts({"--calibration": calibration, "--metric": metric})
    return QuantizeRequest(
        model=_loaded(options, console),
        recipe=recipe,
        output=options.output or Path(f"{options.model.stem}-{quantizer}.onnx"),
        metric=metric or str(getattr(recipe, "metric", "sqnr")),
        samples=_samples(calibration, of_samples) if calibration else None,
        max_drop=None if "max-drop" in known else options.max_drop,
        wants_report=options.report,
        wants_integers=options.integer_io,
        is_forced=options.force,
        is_strict=options.strict,
        scales=options.scales,
    )


def _loaded(options: QuantizeOptions, console: "Console") -> "Model":
    from packager import models
    from packager.core import names

    model = options.model
    with console.step(f"load {model.name}"):
        loaded = models.load(model, names.model_name(model), fixed=parse_shapes(options.shapes))
        models.refuse_blocked(loaded)
        loaded = models.hashed(loaded)
    for note in loaded.notes:
        console.warn(note)
    return loaded


def _samples(samples: str, settings: "Sequence[str]") -> "Calibration":
    """Samples to measure on, for a quantizer that has no key for them; `settings` are those of their conversion."""
    from packager import config
    from packager.quantizers import StaticQdq

    recipe = config.recipe({"quantizer": StaticQdq.NAME, "calibration": samples}, settings)
    assert isinstance(recipe, StaticQdq)
    return recipe.calibration


def _show(result: "QuantizeResult", console: "Console") -> None:
    report = result.report
    console.table("", ["", "float", report.quantizer, ""], list(_rows(report)))
    if report.left:
        console.table("kept in float", ["layer", "reason"], list(_kept_in_float(report)))
    if report.search:
        console.say(f"  {report.search.count} evaluations of at most {report.search.bound}")
    if report.unverified:
        measured = f"{report.score.metric} compares the model with itself: " if report.score else ""
        console.say(f"  not verified: {measured}{report.unverified}")
    for file in (*result.files, *([result.page] if result.page else [])):
        console.result(str(file))


def _rows(report: "QuantizationReport") -> "Iterator[list[str]]":
    from packager.core.console import size

    before, after = report.original, report.quantized
    yield ["size", size(before.size_bytes), size(after.size_bytes), f"{report.size_ratio:.2f} x"]
    if report.score:
        held_out = report.search.held_out if report.search else None
        searched = f", {report.score.samples} samples searched" if held_out and held_out.count else ""
        unverified = ", conversion assumed" if report.unverified else ""
        yield [f"{report.score.metric}{searched}{unverified}", *_score(report.score)]
        if held_out and held_out.count:
            others = _score(replace(report.score, value=held_out.value))
            yield [f"{report.score.metric}, {held_out.count} samples held out", *others]
    for each in report.latencies:
        if each.skipped:
            yield [f"latency, {each.machine}", f"skipped: {each.skipped}", "", ""]
        else:
            times = [f"{each.float_ms:.3g} ms", f"{each.quantized_ms:.3g} ms"]
            yield [f"latency, {each.machine}", *times, f"{each.ratio:.2f} x"]


def _score(score: "Score") -> list[str]:
    """Cells for the score: float model, quantized model, and the difference."""
    from packager.quantization.measurement.metrics import SQNR

    if score.metric == SQNR:
        return ["", f"{score.value:.1f} dB", f"noise {score.drop:.2g}"]
    change = f"{-score.drop:+.2g}" if score.drop else "0"
    return [f"{score.original:.4g}", f"{score.value:.4g}", change]


def _kept_in_float(report: "QuantizationReport") -> "Iterator[list[str]]":
    """Layers kept in float, one line per reason."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for each in report.left:
        kinds.setdefault((each.operator, each.reason), []).append(each.name)
    for (operator, reason), found in kinds.items():
        yield [f"{len(found)} {operator}" if len(found) > 1 else f"{found[0]} ({operator})", reason]
