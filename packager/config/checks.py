"""Tables of the checks: parity, tolerances and gates."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from packager.config.strict import Size, Strict, one_of
from packager.engines.runners import INTERPRETED, RUNNERS

RunnerName = Annotated[str, one_of(sorted(RUNNERS), "runner")]
InterpretedName = Annotated[str, one_of(sorted(INTERPRETED), "runner that takes an interpreter")]


class ParityTable(Strict):
    runners: tuple[RunnerName, ...] = ("cpu",)
    """runners on which the compiled model is compared with the original; those that cannot run are reported as
    skipped"""
    require: tuple[RunnerName, ...] = ("cpu",)
    """runners that must run for the build to succeed"""
    samples: Path | None = None
    """.npz file keyed by input name, or a folder of them (`samples/MODEL/` for several models); default: random
    samples"""
    random_samples: Annotated[int, Field(ge=1, le=10_000)] = 3
    """number of random samples"""
    seed: Annotated[int, Field(ge=0)] = 0
    """seed of the random samples"""
    tolerance: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """rtol: the largest allowed error is atol + tolerance * scale. The scale is the largest absolute value of the
    output over all samples, and at least 1 if the output comes from Sigmoid, Softmax or another operator of known
    range. Default: 1e-3; 1e-2 in 16 bits; 4e-2 in files for processors that compute in 16 bits; 5e-2 with quantized
    activations"""
    atol: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """allowed absolute error, added to tolerance * scale; default: a hundredth of the tolerance: 1e-5; 1e-4 in 16 bits;
    5e-4 with quantized activations"""
    from_original: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """largest allowed difference between a variant and the original model, as a share of the output's scale; default:
    5e-2 in 16 bits, and an SQNR of at least 3 dB with quantized values. Measured on `samples`, else on the first eight
    calibration samples, else on random samples. This detects broken variants; max-drop of a quantizer limits the loss
    of accuracy"""
    interpreters: dict[InterpretedName, str] = {}
    """Python interpreters for runners: `cuda = "/opt/venv/bin/python"`; default: mobpack's isolated environments.
    onnxruntime and onnxruntime-gpu cannot be installed into one environment"""
    recorded: Path | None = None
    """reference outputs recorded before the model was exported, .npz keyed by output name, one file per sample with the
    sample's name; the runner `recorded` compares the model with them"""
    golden: Literal["random", "samples", "none"] = "random"
    """source of the golden vectors in a package: random inputs, [parity] samples (which puts your data into every app),
    or none"""
    golden_max_kib: Annotated[int, Field(ge=1, le=65_536)] = 1024
    """largest size of one model's golden vectors, in KiB"""


class ToleranceTable(Strict):
    """Tolerances for one output on every runner; integers, booleans and strings must be equal."""

    max_rel_error: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """largest allowed error as a share of the output's scale, see `tolerance` of [parity]"""
    atol: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """allowed absolute error, added to max-rel-error times the scale; default: a hundredth of max-rel-error"""
    max_abs_error: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """largest allowed error, whatever the scale"""
    min_cosine: Annotated[float, Field(ge=-1, le=1)] | None = None
    """smallest allowed cosine between the output and the original's, over all samples"""
    min_sqnr_db: Annotated[float, Field(allow_inf_nan=False)] | None = None
    """smallest allowed ratio of signal to noise in dB, over all samples"""
    min_top1_agreement: Annotated[float, Field(ge=0, le=1)] | None = None
    """smallest allowed share of rows (last axis) whose largest value is at the same index as in the original"""
    max_mismatches: Size = 0
    """number of values that may differ where values must be equal: integers, strings, NaN, infinity"""


class CheckTable(Strict):
    """Gates of `mobpack check` and `build`; `--fail-on` adds to them."""

    max_partitions: Annotated[int, Field(ge=1)] | None = None
    """largest allowed number of partitions on a provider: every border between partitions costs a copy"""
    min_share: Annotated[float, Field(ge=0, le=1)] | None = None
    """smallest allowed share of the MACs that a provider runs, 0 to 1"""
    gain: Literal["require", "skip"] = "require"
    """`require` rejects a quantized variant that is not smaller than its model"""
    kernels: Literal["require", "skip"] = "require"
    """`require` proves that every file loads in the runtime that ships; `skip` omits this proof"""
