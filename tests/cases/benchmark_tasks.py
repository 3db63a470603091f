"""Tasks that measure quantized models: their scores, their data, and small models that PyTorch exported."""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.tasks.task import Array, Inputs, Predict

EXPORTED = sorted((Path(__file__).parents[1] / "models").glob("*.onnx"))


def recorded(predict: Predict) -> tuple[Predict, set[bytes]]:
    """`predict`, and the inputs that it will be given."""
    seen: set[bytes] = set()

    def recording(inputs: Inputs) -> Mapping[str, Array]:
        seen.add(key(inputs))
        return predict(inputs)

    return recording, seen


def key(inputs: Inputs) -> bytes:
    return b"".join(name.encode() + inputs[name].tobytes() for name in sorted(inputs))
