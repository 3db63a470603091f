"""Runs node.onnx on inputs.npz and prints the difference from expected.npz. Needs only onnxruntime and numpy."""

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
AS_ON_ARM = {"session.qdqisint8allowed": "1"}
EXACT = {"session.x64quantprecision": "1"}
"""Settings without which x86 computes 8-bit numbers differently; the second changes graphs that are optimized."""


def main() -> int:
    settings = json.loads((FOLDER / "session.json").read_text(encoding="utf-8"))
    expected = arrays("expected")
    say("recorded", settings["runner"], expected, arrays("actual"))
    try:
        found = run(settings)
    except Exception as error:  # ONNX Runtime's exceptions have no class in common
        sys.stdout.write(f"here: ONNX Runtime refuses it: {error}\n")
        return 1
    say("here", "ONNX Runtime's CPU provider", expected, found)
    return 0


def run(settings: dict[str, Any]) -> dict[str, Any]:
    """The model's outputs on this machine."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if not settings["optimize"]:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    own = AS_ON_ARM if settings["optimize"] else {**AS_ON_ARM, **EXACT}
    for key, value in {**own, **settings["entries"]}.items():
        options.add_session_config_entry(key, value)
    session = onnxruntime.InferenceSession(str(FOLDER / "node.onnx"), options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    feed = {name: each.astype(object) if each.dtype.kind == "U" else each for name, each in arrays("inputs").items()}
    return dict(zip(names, session.run(names, feed), strict=True))


def arrays(name: str) -> dict[str, Any]:
    import numpy

    with numpy.load(FOLDER / f"{name}.npz") as found:
        return {key: found[key] for key in found.files}


def say(when: str, by: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    for name, array in expected.items():
        text = difference(array, found[name]) if name in found else "nothing, it was refused"
        sys.stdout.write(f"{when}, {by}: '{name}' is off by {text}\n")


def difference(expected: Any, actual: Any) -> str:
    """The difference in words."""
    import numpy

    if expected.shape != actual.shape:
        return f"its shape: {list(actual.shape)} instead of {list(expected.shape)}"
    if expected.dtype.kind not in "fiu":
        return f"{int((expected != actual).sum())} of {expected.size} values"
    a, b = expected.astype(numpy.float64), actual.astype(numpy.float64)
    with numpy.errstate(invalid="ignore"):
        error = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, numpy.abs(a - b))
    odd = int((~numpy.isfinite(error)).sum())
    finite, known = error[numpy.isfinite(error)], numpy.abs(a[numpy.isfinite(a)])
    worst, scale = (float(each.max()) if each.size else 0.0 for each in (finite, known))
    share = f", {worst / scale:.3g} of its largest value" if scale else ""
    return f"{worst:.6g}{share}" + (f"; NaN or infinity at {odd} other places" if odd else "")


if __name__ == "__main__":
    sys.exit(main())
