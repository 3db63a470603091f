"""The graph without its weights: nothing lost, nothing read needlessly, and no file crashes the reader."""

import random
from pathlib import Path

import onnx
import onnx.external_data_helper

from tests.cases.onnx_text import onnx_model, weight
from tests.cases.skeleton import refuse_or_load


def damaged(whole: bytes, generator: random.Random) -> bytes:
    content = bytearray(whole)
    for _ in range(generator.choice([1, 1, 2, 4])):
        place = generator.randrange(len(content))
        match generator.choice(["set", "set", "insert", "delete", "copy"]):
            case "set":
                content[place] = generator.choice([generator.randrange(256), 0, 255, 128, 127])
            case "insert":
                content.insert(place, generator.randrange(256))
            case "delete":
                del content[place]
            case _:
                start = generator.randrange(len(content))
                content[place : place + 9] = content[start : start + 9]
    return bytes(content)


def test_damaged_models_load_or_are_refused_in_words(tmp_path: Path) -> None:
    model = onnx_model(
        """(bool c, float[N] x, int64[2] i) => (float[M] y, float[2] z) {
        k = Constant <value = float[3] {1.0, 2.0, 3.0}> ()
        y = If (c) <then_branch = t () => (float[?] a) { a = Mul (x, k) },
                    else_branch = e () => (float[?] b) { b = Neg (x) }>
        z = Gather (ext, i)
    }""",
        weights={"w": weight(300)},
    )
    external = model.graph.initializer.add(name="ext", data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "data.bin"), ("offset", "0"), ("length", "8")):
        external.external_data.add(key=key, value=value)
    (tmp_path / "data.bin").write_bytes(bytes(8))
    whole = model.SerializeToString(deterministic=True)
    weights_at = whole.index(weight(300).tobytes())
    generator = random.Random(2)
    path = tmp_path / "damaged.onnx"
    for _ in range(400):
        front, back = whole[:weights_at], whole[weights_at + 1200 :]
        side = generator.random() < len(front) / (len(front) + len(back))
        content = (
            damaged(front, generator) + whole[weights_at:]
            if side
            else whole[: weights_at + 1200] + damaged(back, generator)
        )
        path.write_bytes(content)
        refuse_or_load(path)
