"""A project whose variants keep the scales of the version before."""

from pathlib import Path

import numpy
import onnx

from tests.cases import onnx_text

NET = """(float[1, 3, 16, 16] x) => (float[1, 64] y) {
    c = Conv <pads = [1, 1, 1, 1]> (x, w, b)
    r = Relu (c)
    p = GlobalAveragePool (r)
    f = Flatten (p)
    y = MatMul (f, g)
}"""


def net(eps: float = 0.0, *, grown: float = 1.0) -> onnx.ModelProto:
    """A net whose weights are moved by noise of `eps` times their standard deviation, those of `g` then `grown`."""
    weights = {
        "w": onnx_text.weight(64, 3, 3, 3),
        "b": onnx_text.weight(64, seed=1),
        "g": onnx_text.weight(64, 64, seed=2),
    }
    random = numpy.random.default_rng(7)
    moved = {
        name: (each + eps * each.std() * random.standard_normal(each.shape)).astype("float32")
        for name, each in weights.items()
    }
    return onnx_text.onnx_model(NET, weights={**moved, "g": moved["g"] * numpy.float32(grown)})


def samples() -> list[dict[str, numpy.ndarray]]:
    random = numpy.random.default_rng(3)
    return [{"x": random.standard_normal((1, 3, 16, 16)).astype("float32")} for _ in range(4)]


def project(folder: Path, model: onnx.ModelProto, variant: str, name: str = "m.onnx") -> Path:
    folder.mkdir(exist_ok=True)
    onnx_text.saved(folder / name, model)
    numpy.savez(folder / "samples.npz", x=numpy.stack([each["x"][0] for each in samples()]))
    file = folder / "mobpack.toml"
    lines = [
        '[package]\nname = "vision"\n[model.m]',
        f'path = "{name}"',
        '[target.ios]\nproviders = []\nvariant = "int8"\n[check]\nkernels = "skip"\ngain = "skip"',
        '[parity]\nrunners = ["cpu"]\ntolerance = 0.5\n[variant.int8]',
        variant,
    ]
    file.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    return file


STATIC = 'quantizer = "static-qdq"\ncalibration = "samples.npz"\n'
