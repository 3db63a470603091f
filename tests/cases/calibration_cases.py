"""Samples for calibration tests: one .npz file each, keyed by input name, and the reader that a child process calls."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import onnx

from packager.core.errors import ConfigError
from packager.quantization.calibration import CalibrationRequest, RangeMethod, Samples
from packager.quantization.calibration.child import CalibrationJob
from packager.quantization.calibration.taps import tap

READER = "tests.cases.calibration_cases:open_described"
BLOCK = """(float[1, 4, 8, 8] x) => (float[1, 256] y) {
    c = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    s = Sigmoid (c)
    m = Mul (r, s)
    y = Flatten (m)
}"""
"""A convolution that others fuse with the next node, a value that is never negative, and one that moves elements."""


def open_described(description: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The samples in `folder`, sorted. Fails at sample `at` in the way that it is told."""
    for number, path in enumerate(sorted(Path(description["folder"]).glob("*.npz"))):
        if number == description.get("at"):
            misbehave(description["does"])
        print("this is not JSON")
        with numpy.load(path) as arrays:
            yield dict(arrays)


def misbehave(how: str) -> None:
    if how == "refuse":
        raise ConfigError("sample 3 is torn", hint="mend it")
    os.kill(os.getpid(), getattr(signal, how))


def written(folder: Path, samples: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir()
    for number, sample in enumerate(samples):
        numpy.savez(folder / f"{number:04}.npz", **sample)
    return folder


def normal(count: int, *shape: int, name: str = "x") -> list[dict[str, Any]]:
    """Each sample a little wider than the one before, so that ranges grow."""
    generator = numpy.random.default_rng(7)
    return [
        {name: ((1 + number / 3) * generator.standard_normal(shape)).astype(numpy.float32)} for number in range(count)
    ]


def request(
    model: onnx.ModelProto,
    tensors: Sequence[str],
    folder: Path,
    *,
    method: RangeMethod | None = None,
    description: Mapping[str, object] | None = None,
) -> CalibrationRequest:
    return CalibrationRequest(
        graph=model.SerializeToString(deterministic=True),
        weights_sha256="0" * 64,
        data_folder=folder,
        tensors=tuple(tensors),
        samples=Samples(
            reader=READER,
            description={"folder": str(folder), **(description or {})},
            fingerprint="1" * 64,
            count=len(list(folder.glob("*.npz"))),
        ),
        method=method or RangeMethod(),
    )


def job(
    model: onnx.ModelProto,
    tensors: Sequence[str],
    folder: Path,
    *,
    threads: int = 2,
    description: Mapping[str, object] | None = None,
    count: int | None = None,
) -> CalibrationJob:
    """The child's job; its files lie beside `folder`, and it saves after every sample."""
    taps = tap(model.SerializeToString(), tensors)
    graph = folder.with_name(f"{folder.name}.onnx")
    graph.write_bytes(taps.graph)
    return CalibrationJob(
        graph=str(graph),
        data_folder=str(folder),
        inputs=list(taps.inputs),
        fetched=list(taps.fetched),
        has_histograms=True,
        reader=READER,
        description={"folder": str(folder), **(description or {})},
        count=len(list(folder.glob("*.npz"))) if count is None else count,
        threads=threads,
        unfinished=str(folder.with_name(f"{folder.name}.unfinished.npz")),
        output=str(folder.with_name(f"{folder.name}.statistics.npz")),
        save_every_s=0,
    )
