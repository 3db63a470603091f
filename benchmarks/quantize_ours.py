"""Our side of `benchmarks.quantize`, and what judges both: steps that run in a process of their own.

Our results are OUT/model.onnx, with the weights beside it.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.models import VOCABULARY
from benchmarks.quantize_theirs import RESULT, read

if TYPE_CHECKING:
    import numpy

    from packager.core.values import Model
    from packager.files.store import Store
    from packager.quantizers import Quantizer
    from packager.quantizers.dynamic import Operator
    from packager.quantizers.static_qdq import StaticQdq

SEEN = {"mobilenetv2": 64, "resnet50": 64, "bert-base": 16, "u2netp": 32, "tiny": 16}
"""Samples that a model is calibrated on."""
FRESH = 8
"""Samples that results are judged on."""
TOKENS = 128
CELL = 16
"""Side in dots of the squares that pictures are made of; noise lies on them."""


def make(quantizer: "Callable[[Path], Quantizer]", model: Path, out: Path, samples: Path) -> None:
    """Make a variant from the model's file as a build does."""
    from packager import models
    from packager.core.console import Console
    from packager.quantization.variants import build_variant

    loaded = models.hashed(models.load(model, "model"))
    made = build_variant(loaded, "measured", quantizer(samples), store(), Console(quiet=True)).variant
    (out / RESULT).write_bytes(made.graph)
    if made.weights:
        os.link(made.weights, out / made.weights.name)


def command(model: Path, out: Path, samples: Path, *, has_report: bool = True) -> None:
    """Run `mobpack quantize -q static-qdq`, which measures its result and writes a report page."""
    from packager import models
    from packager.core.console import Console
    from packager.workflows.quantize import QuantizeRequest, run

    request = QuantizeRequest(
        model=models.hashed(models.load(model, "model")),
        recipe=static("minmax", samples),
        output=out / RESULT,
        metric="sqnr",
        wants_report=has_report,
        is_forced=True,
    )
    run(request, store(), Console(quiet=True))


def rewrite(quantizer: "Callable[[], Quantizer]", model: Path, out: Path, samples: Path) -> None:
    """Run the rewriting stage alone."""
    from packager import models
    from packager.quantization.making import quantize

    loaded = models.load(model, "model")
    quantize(loaded.graph, loaded.data_folder, quantizer(), {}, out)


def prepare(model: Path, out: Path, samples: Path) -> None:
    """Prepare the store for a calibration."""
    from packager.quantization.prepare import prepared

    prepared(unhashed(model), store())


def calibrate(method: str, model: Path, out: Path, samples: Path) -> None:
    """From the prepared graph and the samples to the ranges of all values that a static quantizer asks for."""
    from packager.core.console import Console
    from packager.graph.rewriting.draft import draft_of
    from packager.quantization import calibration
    from packager.quantization.prepare import prepared
    from packager.quantization.ranges import read_samples

    loaded, quantizer = unhashed(model), static(method, samples)
    graph = prepared(loaded, store())
    request = calibration.CalibrationRequest(
        graph=graph,
        weights_sha256=loaded.sha256,
        data_folder=loaded.data_folder,
        tensors=quantizer.measures(draft_of(graph, loaded.data_folder)),
        samples=read_samples(loaded, quantizer.calibration, store(), Console(quiet=True)),
        method=calibration.RangeMethod(name=method),
    )
    calibration.calibrate(request, store(), lambda done, total: None)


def store() -> "Store":
    from packager.files.store import Store
    from packager.files.user_cache import cache_folder

    return Store(cache_folder() / "store")


def unhashed(path: Path) -> "Model":
    """Identifies files by name instead of content, which suffices for the store of one run."""
    from packager import models

    return replace(models.load(path, "model"), sha256=path.name)


def dynamic(*operators: "Operator") -> "Quantizer":
    from packager.quantizers.dynamic import Dynamic

    return Dynamic(operators=operators) if operators else Dynamic()


def weight_only(*operators: Any) -> "Quantizer":
    from packager.quantizers.weight_only import WeightOnly

    return WeightOnly(operators=operators) if operators else WeightOnly()


def static(method: Any, samples: Path) -> "StaticQdq":
    from packager.quantizers import Calibration
    from packager.quantizers.static_qdq import StaticQdq

    return StaticQdq(calibration=Calibration(samples=str(samples), method=method))


def write_samples(model: Path, folder: Path, _: Path) -> None:
    """Writes samples to calibrate on and fresh ones, an .npz for each; pictures also as Olive reads them."""
    import numpy
    import onnx

    inputs = onnx.load(model, load_external_data=False).graph.input
    for name, count, seed in (("seen", SEEN.get(model.stem, 0), 1), ("fresh", FRESH, 2)):
        random = numpy.random.default_rng(seed)
        (folder / name).mkdir(parents=True)
        for number in range(count):
            arrays = {
                each.name: sample(each.name, [part.dim_value for part in each.type.tensor_type.shape.dim], random)
                for each in inputs
            }
            numpy.savez(folder / name / f"{number:03}.npz", allow_pickle=False, **arrays)
            if "input" in arrays:
                raw = folder / f"{name}-raw" / "input" / f"{number:03}.raw"
                raw.parent.mkdir(parents=True, exist_ok=True)
                arrays["input"].tofile(raw)


def sample(name: str, shape: list[int], random: "numpy.random.Generator") -> "numpy.ndarray":
    """A value for the input `name`: tokens of one sentence, or a picture with large areas and fine grain."""
    import numpy

    if len(shape) == 2:
        tokens = {"input_ids": random.integers(VOCABULARY, size=(1, TOKENS)), "attention_mask": numpy.ones((1, TOKENS))}
        return numpy.asarray(tokens.get(name, numpy.zeros((1, TOKENS))), numpy.int64)
    coarse = random.standard_normal((*shape[:2], shape[2] // CELL, shape[3] // CELL))
    grain = random.standard_normal(shape)
    return (coarse.repeat(CELL, 2).repeat(CELL, 3) + 0.3 * grain).astype(numpy.float32)


def run_float(model: Path, samples: Path, known: Path) -> None:
    """Keeps the float model's outputs for `samples` in the file `known`."""
    import numpy

    with known.open("wb") as file:
        numpy.savez(file, *outputs(model, samples))


def judge(model: Path, samples: Path, known: Path, answer: Path) -> None:
    """Writes the signal to noise ratio of `model` to the file `answer`, in dB, over all outputs together."""
    import numpy

    signal = noise = 0.0
    with numpy.load(known) as arrays:
        for name, found in zip(arrays.files, outputs(model, samples), strict=True):
            exact = arrays[name].astype(numpy.float64)
            signal += float(numpy.square(exact).sum())
            noise += float(numpy.square(exact - found).sum())
    answer.write_text(str(10 * numpy.log10(signal / noise) if noise else numpy.inf))


def outputs(model: Path, samples: Path) -> "Iterator[numpy.ndarray]":
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for each in read(samples):
        yield from session.run(None, each)


STEPS: Mapping[str, Callable[..., None]] = {
    "samples": write_samples,
    "float": run_float,
    "judge": judge,
    "prepare": prepare,
    "dynamic": partial(make, lambda samples: dynamic("MatMul", "Gemm")),
    "dynamic-conv": partial(make, lambda samples: dynamic("MatMul", "Gemm", "Conv")),
    "weight-only": partial(make, lambda samples: weight_only("MatMul")),
    **{f"static-{method}": partial(make, partial(static, method)) for method in ("minmax", "percentile", "entropy")},
    **{f"calibrate-{method}": partial(calibrate, method) for method in ("minmax", "percentile", "entropy")},
    "command": command,
    "command-without-report": partial(command, has_report=False),
    "report": command,
    "stage-dynamic": partial(rewrite, dynamic),
    "stage-weight-only": partial(rewrite, weight_only),
}
