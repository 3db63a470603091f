"""Shapes that ONNX infers are those of a run, but for operators that round: mobpack's list of these is complete."""

import random
from typing import Any

import numpy
import onnx

from benchmarks.conformance_cases import collected
from packager.engines.session.refusals import is_refusal
from packager.verification import observed
from tests.cases.onnx_text import onnx_model, weight
from tests.cases.rewriting_cases import session


def test_all_other_operators_infer_what_a_run_gives() -> None:
    """ONNX's own cases, with integers as constants so that sizes are known, and drawn pools and convolutions."""
    cases = [
        (case.name, case.model, dict(zip([each.name for each in case.model.graph.input], case.inputs, strict=False)))
        for case in collected()
    ]
    compared, refuted = 0, {}
    made = drawn(400)
    for name, model, feeds in [*cases, *made]:
        found = run_of(model, feeds)
        for value, (inferred, seen) in found.items():
            compared += 1
            if len(inferred) != len(seen) or any(
                one not in (None, other) for one, other in zip(inferred, seen, strict=True)
            ):
                refuted[name, value] = (inferred, seen)
    known = {name: model for name, model, _ in cases}
    rounding = {name for name, model, _ in [*cases, *made] if any(map(observed._rounds, model.graph.node))}
    assert {name for name, _ in refuted} <= rounding
    assert {name for name, _ in refuted if name in known} == {"test_stft", "test_stft_with_window"}
    assert len(refuted) > 10
    assert compared > 1900


def run_of(model: onnx.ModelProto, feeds: dict[str, Any]) -> dict[str, tuple[tuple[int | None, ...], tuple[int, ...]]]:
    """Each output: the inferred shape and that of a run; nothing for what ONNX Runtime refuses."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    fixed.ir_version = min(model.ir_version, 12)
    for value in fixed.graph.output:
        value.type.tensor_type.ClearField("shape")
    small = {
        name: each
        for name, each in feeds.items()
        if isinstance(each, numpy.ndarray) and each.dtype in ("int64", "int32") and each.size < 100
    }
    fixed.graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in small.items())
    rest = [value for value in fixed.graph.input if value.name not in small]
    del fixed.graph.input[:]
    fixed.graph.input.extend(rest)
    names = [value.name for value in fixed.graph.output if value.type.HasField("tensor_type")]
    try:
        graph = onnx.shape_inference.infer_shapes(fixed, data_prop=True).graph
        opened = session(fixed, is_optimized=False)
        results = dict(zip(names, opened.run(names, {each.name: feeds[each.name] for each in rest}), strict=True))
    except onnx.shape_inference.InferenceError:
        return {}
    except Exception as error:
        if not is_refusal(error):
            raise
        return {}
    inferred = {value.name: observed._dims(value) for value in graph.output if value.type.tensor_type.HasField("shape")}
    return {
        name: (inferred[name], results[name].shape) for name in names if name in inferred and results[name] is not None
    }


def drawn(count: int) -> list[tuple[str, onnx.ModelProto, dict[str, Any]]]:
    """Models of one node whose sizes depend on strides, paddings and factors; the same ones each time."""
    chance = random.Random(0)
    return [drawn_model(f"drawn {number}", chance) for number in range(count)]


def drawn_model(name: str, chance: random.Random) -> tuple[str, onnx.ModelProto, dict[str, Any]]:
    size, kernel, stride = chance.randint(4, 12), chance.randint(1, 3), chance.randint(1, 3)
    pads = f"pads = [{chance.randint(0, kernel - 1)}, {chance.randint(0, kernel - 1)}]"
    padding = chance.choice([pads, *(f'auto_pad = "{each}"' for each in ("SAME_UPPER", "SAME_LOWER", "VALID"))])
    moved = f"strides = [{stride}], {padding}"
    small = [chance.randint(-9, 9) for _ in range(4)]
    constants = {"s": small[:1], "e": small[1:2], "a": [2], "t": [chance.choice([-2, -1, 1, 3])]}
    node = chance.choice(
        [
            *(
                f"y = {pool} <kernel_shape = [{kernel}], {moved}{ceil}> (x)"
                for pool in ("MaxPool", "AveragePool", "LpPool")
                for ceil in ("", ", ceil_mode = 1")
            ),
            f"y = Conv <{moved}, dilations = [{chance.randint(1, 2)}]> (x, w)",
            f"y = ConvTranspose <{moved}, output_padding = [{chance.randint(0, stride - 1)}]> (x, v)",
            'y = Resize <mode = "nearest"> (x, , f)',
            'y = Resize <mode = "nearest"> (x, , , z)',
            "y = Slice (x, s, e, a, t)",
            "y = Pad (x, p)",
            "y = Split <axis = 2, num_outputs = 1> (x)",
        ]
    )
    weights = {
        "w": weight(3, 2, kernel),
        "v": weight(2, 3, kernel),
        "f": numpy.array([1, 1, chance.choice([0.3, 0.7, 1 / 3, 1.1, 2, 2.2])], numpy.float32),
        "z": numpy.array([1, 2, chance.randint(1, 20)]),
        "p": numpy.array([0, 0, small[2] // 3, 0, 0, small[3] // 3]),
        **{key: numpy.array(numbers) for key, numbers in constants.items()},
    }
    used = {key: array for key, array in weights.items() if f", {key}" in node.split("(")[1]}
    text = f"(float[1,2,{size}] x) => (float[1,c,n] y) {{ {node} }}"
    model = onnx_model(text, weights=used, opsets={"": chance.choice([18, 19, 22])}, ir_version=10)
    return name, model, {"x": weight(1, 2, size)}
