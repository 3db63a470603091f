"""Runs files on the inputs of ONNX's test cases: `python conformance_run.py FOLDER...`. Needs onnxruntime and numpy.

It is started by path, so that the ONNX Runtime that ships can run it. A FOLDER holds `inputs.pkl` and `files.json`:
form -> path and settings. For each form the outputs go to `FORM.pkl`. For each folder one line of JSON is printed:
`{"case", "errors": {form: what ONNX Runtime says}}`. Values that numpy has no type for are (bits, ONNX's type) pairs.
"""

import ctypes
import json
import math
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

import numpy
import onnxruntime

LIMIT_S = 60
BITS = {
    "tensor(bfloat16)": (numpy.uint16, 16),
    "tensor(float8e4m3fn)": (numpy.uint8, 17),
    "tensor(float8e4m3fnuz)": (numpy.uint8, 18),
    "tensor(float8e5m2)": (numpy.uint8, 19),
    "tensor(float8e5m2fnuz)": (numpy.uint8, 20),
}
"""Types that numpy does not have -> an integer as wide, and ONNX's number of the type."""


def outputs_of(file: dict[str, Any], inputs: dict[str, Any]) -> list[Any]:
    session = opened(file)
    types = {each.type for each in session.get_outputs()}
    if not types & set(BITS) and not any(isinstance(value, tuple) for value in inputs.values()):
        return list(session.run(None, inputs))
    feeds = {name: bound(value) for name, value in inputs.items()}
    return [unbound(value) for value in session.run_with_ort_values(None, feeds)]


def opened(file: dict[str, Any]) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    for key, value in file["settings"].items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(file["path"], options, providers=["CPUExecutionProvider"], enable_fallback=0)


def bound(value: Any) -> Any:
    if isinstance(value, tuple):
        if value[1] not in {number for _, number in BITS.values()}:
            raise ValueError("Python cannot hand over values of less than 8 bits")
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(*value)
    return onnxruntime.OrtValue.ortvalue_from_numpy(value)


def unbound(value: Any) -> Any:
    if value.data_type() not in BITS:
        return value.numpy()
    dtype, number = BITS[value.data_type()]
    size = math.prod(value.shape()) * numpy.dtype(dtype).itemsize
    return numpy.frombuffer(ctypes.string_at(value.data_ptr(), size), dtype).reshape(value.shape()), number


def ran(folder: Path) -> dict[str, str]:
    """Form -> ONNX Runtime's error, for those that it does not run."""
    inputs = pickle.loads((folder / "inputs.pkl").read_bytes())
    errors = {}
    for form, file in json.loads((folder / "files.json").read_text(encoding="utf-8")).items():
        try:
            outputs = outputs_of(file, inputs)
        except Exception as error:  # its own exceptions share no base class; its Python part raises Python's
            errors[form] = " ".join(f"{type(error).__name__}: {error}".split())
        else:
            (folder / f"{form}.pkl").write_bytes(pickle.dumps(outputs))
    return errors


def main() -> None:
    for name in sys.argv[1:]:
        signal.alarm(LIMIT_S)
        print(json.dumps({"case": Path(name).name, "errors": ran(Path(name))}), flush=True)


if __name__ == "__main__":
    main()
