"""The other side of `benchmarks.quantize`, one piece of work a process: `python -m benchmarks.quantize_theirs WORK
MODEL OUT [SAMPLES]`. ONNX Runtime's own quantizer as its documentation calls it, or plain inference of the samples.

The result is OUT/model.onnx.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import isqrt
from pathlib import Path
from typing import Any

LARGEST_IN_ONE_FILE = 1e9
"""Protocol buffers end at 2 GB; larger models keep their weights in a file of their own."""
RESULT = "model.onnx"
REFUSED = ("bert-base",)
"""Models that quant_pre_process refuses (incomplete symbolic shape inference) unless symbolic inference is skipped."""
ONNXRUNTIME, OLIVE = (Path(__file__).with_name(name) for name in ("onnxruntime_quantizer.txt", "olive.txt"))
"""Locks, with the versions of ONNX Runtime, onnx and NumPy that mobpack itself runs on. ONNX Runtime's quantizer
imports sympy and onnx-ir, and Olive requests, without asking pip for them."""


def dynamic(operators: list[str], model: Path, out: Path, samples: Path | None) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        model,
        out / RESULT,
        op_types_to_quantize=operators,
        per_channel=True,
        weight_type=QuantType.QInt8,
        use_external_data_format=is_large(model),
    )


def weight_only(model: Path, out: Path, samples: Path | None) -> None:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(
        str(model), bits=4, block_size=32, is_symmetric=True, op_types_to_quantize=("MatMul",)
    )
    quantizer.process()
    quantizer.model.save_model_to_file(str(out / RESULT), is_large(model))


def static(method: str, model: Path, out: Path, samples: Path | None) -> None:
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    assert samples
    prepared = out / "prepared.onnx"
    quant_pre_process(model, prepared, skip_symbolic_shape=model.stem in REFUSED)
    quantize_static(
        prepared,
        out / RESULT,
        _Reader(samples),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod[method],
    )


class _Reader:
    """A CalibrationDataReader; onnxruntime requires only its method."""

    def __init__(self, folder: Path) -> None:
        self.samples = read(folder)

    def get_next(self) -> dict[str, Any] | None:
        return next(self.samples, None)


def read(folder: Path) -> Iterator[dict[str, Any]]:
    """The samples of `folder`, one .npz for each."""
    import numpy

    for path in sorted(folder.glob("*.npz")):
        with numpy.load(path) as arrays:
            yield dict(arrays)


def inference(model: Path, out: Path, samples: Path | None) -> None:
    """The least that calibration has to do: run all samples once, on one thread."""
    import onnxruntime

    assert samples
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for sample in read(samples):
        session.run(None, sample)


def is_large(model: Path) -> bool:
    return sum(file.stat().st_size for file in model.parent.glob(f"{model.name}*")) > LARGEST_IN_ONE_FILE


WORKS: Mapping[str, Callable[[Path, Path, Path | None], None]] = {
    "dynamic": partial(dynamic, ["MatMul", "Gemm"]),
    "dynamic-conv": partial(dynamic, ["MatMul", "Gemm", "Conv"]),
    "weight-only": weight_only,
    "static-minmax": partial(static, "MinMax"),
    "static-percentile": partial(static, "Percentile"),
    "static-entropy": partial(static, "Entropy"),
    "inference": inference,
}


def python(folder: Path) -> Path:
    """The Python that has ONNX Runtime's quantizer."""
    return installed(folder / f"quantizer-{digest(ONNXRUNTIME)}", ONNXRUNTIME) / "python"


def olive(folder: Path) -> Path:
    """The command of Olive."""
    return installed(folder / f"olive-{digest(OLIVE)}", OLIVE) / "olive"


def installed(environment: Path, lock: Path) -> Path:
    """The folder of programs of `environment` with the packages of `lock` in it, made now if it is not there yet. pip
    takes wheels of these hashes alone: it runs no code of a package that a mirror has replaced.

    Raises RuntimeError where pip cannot make it.
    """
    whole = environment / "whole.txt"
    if not whole.exists():
        venv.create(environment, clear=True, with_pip=True)
        python = environment / "bin" / "python"
        pip = [python, "-m", "pip", "install", "--quiet", "--no-deps"]
        pip += ["--require-hashes", "--only-binary", ":all:", "-r", lock]
        done = subprocess.run([str(part) for part in pip], capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(environment)
            said = [line for line in done.stderr.splitlines() if "ERROR" in line]
            raise RuntimeError(f"skipped: pip cannot install {lock.stem}: {' '.join(said[:1])}")
        whole.write_text(lock.name, encoding="utf-8")
    return environment / "bin"


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()[:12]


def olive_command(work: str, olive: Path, model: Path, samples: Path, out: Path) -> list[str | Path]:
    """Static quantization needs a file of settings: `olive quantize` takes samples from Hugging Face only."""
    if work == "olive-dynamic":
        return [
            *(olive, "quantize", "--model_name_or_path", model, "--output_path", out),
            *("--algorithm", "rtn", "--precision", "int8", "--implementation", "ort", "--disable_telemetry"),
        ]
    settings = out / "settings.json"
    settings.write_text(json.dumps(olive_settings(model, samples, out)), encoding="utf-8")
    return [olive, "run", "--config", settings, "--disable_telemetry"]


def olive_settings(model: Path, samples: Path, out: Path) -> dict[str, Any]:
    """`samples` of pictures lie beside themselves as raw numbers, too."""
    raw = samples.with_name(f"{samples.name}-raw")
    side = isqrt(next((raw / "input").iterdir()).stat().st_size // 12)
    numbers = {"data_dir": str(raw), "input_names": ["input"], "input_shapes": [[1, 3, side, side]]}
    static = {
        "type": "OnnxStaticQuantization",
        "precision": "int8",
        "activation_type": "int8",
        "per_channel": True,
        "data_config": "samples",
    }
    return {
        "input_model": {"type": "ONNXModel", "model_path": str(model)},
        "data_configs": [{"name": "samples", "type": "RawDataContainer", "load_dataset_config": numbers}],
        "passes": {"static": static},
        "output_dir": str(out),
        "cache_dir": str(out / "cache"),
        "no_artifacts": True,
    }


def main() -> None:
    work, model, out, *samples = sys.argv[1:]
    WORKS[work](Path(model), Path(out), Path(samples[0]) if samples else None)


if __name__ == "__main__":
    main()
