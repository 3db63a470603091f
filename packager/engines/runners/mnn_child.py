"""Opens models with MNN, for session/engine_child.py. The job also has `converted`, the path of the file that
MNN's converter writes."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONVERSION = ("--useGeluApproximation", "0")  # by default a Gelu's erf becomes a tanh
REASON = re.compile(r"support|error|fail|invalid", re.IGNORECASE)
"""Lines of the converter's log that may be reasons."""
TAKES = {"float": "float32", "int": "int32", "int64": "int32", "uint8": "uint8", "int8": "int8"}
"""MNN's name of a type -> numpy's name of the type in which it takes the numbers."""


def opened(job: dict[str, Any]) -> tuple[Any, str]:
    import MNN
    from MNN import expr, nn

    convert(job)
    settings = {"backend": "CPU", "precision": "high", "numThread": job["threads"] or 1}
    manager = nn.create_runtime_manager((settings,))
    names, results = ([spec["name"] for spec in job[key]] for key in ("inputs", "outputs"))
    module = nn.load_module_from_file(job["converted"], names, results, runtime_manager=manager)
    if module is None:
        raise ValueError("MNN does not load the file that its converter wrote")
    infos = module.get_info()["inputs"]

    def run(feed: dict[str, Any]) -> list[Any]:
        variables = [variable(expr, feed[name], info) for name, info in zip(names, infos, strict=True)]
        found = module.onForward(variables)
        if len(found) != len(results):
            raise ValueError(f"MNN computes {len(found)} of {len(results)} outputs, and says no reason")
        return [array_of(expr, each, name) for each, name in zip(found, results, strict=True)]

    return run, f"MNN {MNN.version()} on the CPU, high precision"


def convert(job: dict[str, Any]) -> None:
    """Raises ValueError if the converter writes nothing."""
    import _tools

    log = Path(job["converted"]).with_suffix(".log")
    command = ["mnnconvert", "-f", "ONNX", "--modelFile", job["model"], "--MNNModel", job["converted"]]
    with log.open("wb") as file, to(file.fileno()):
        _tools.mnnconvert([*command, "--bizCode", "mobpack", *CONVERSION])
    written = Path(job["converted"])
    if not written.is_file() or not written.stat().st_size:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        reasons = [" ".join(line.split()) for line in lines if REASON.search(line)]
        raise ValueError(f"MNN's converter does not take the model: {'; '.join(reasons[:3]) or 'it gives no reason'}")


@contextmanager
def to(file: int) -> Iterator[None]:
    """Sends what the converter prints to `file`."""
    before = os.dup(2)
    os.dup2(file, 1)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.dup2(before, 2)
        os.close(before)


def variable(expr: Any, array: Any, info: Any) -> Any:
    name = str(info.dtype).rpartition(".")[2]
    wanted = TAKES.get(name)
    if wanted is None:
        raise ValueError(f"MNN takes an input as {name}, which its Python interface cannot fill")
    values = narrowed(array, wanted)
    made = expr.placeholder(list(values.shape), expr.data_format.NCHW, getattr(expr.dtype, name))
    made.write(values)
    return made


def narrowed(array: Any, wanted: str) -> Any:
    """The numbers in the type in which MNN takes them. Raises ValueError for integers that do not fit."""
    import numpy

    if array.dtype.kind in "iu" and wanted == "int32" and array.size:
        most = numpy.iinfo(numpy.int32)
        if not most.min <= int(array.min()) <= int(array.max()) <= most.max:
            raise ValueError("MNN computes in 32-bit integers, and an input has larger ones")
    return numpy.ascontiguousarray(array.astype(wanted))


def array_of(expr: Any, value: Any, name: str) -> Any:
    try:
        if value.data_format == expr.data_format.NC4HW4:
            value = expr.convert(value, expr.data_format.NCHW)
        return value.read().copy()
    except (AttributeError, SystemError) as error:  # None, or a value without memory
        raise ValueError(f"MNN computes nothing for output '{name}'") from error
