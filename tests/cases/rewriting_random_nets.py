"""Checks of what each quantizer makes of a random net."""

import re

import numpy
import onnx
import onnx.numpy_helper
from hypothesis import HealthCheck, assume, settings

from packager.core.errors import ModelError
from packager.quantizers import Quantizer
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.weight_only import WeightOnly
from tests.cases.rewriting_cases import Array, Inputs, Outcome, outcome, run_inside, samples_for, static
from tests.nights import examples

QUANTIZERS: dict[str, tuple[Quantizer, float]] = {
    "static": (static(), 20),
    "unsigned, one scale": (static(activations="uint8", weights="uint8", per_channel=False), 18),
    "unsigned": (static(activations="uint8", weights="uint8"), 20),
    "symmetric": (static(symmetric=True), 18),
    "16 bits": (static(activations="uint16"), 25),
    "16 bits, symmetric": (static(activations="int16", symmetric=True), 25),
    "all": (static(scope="all"), 15),
    "dynamic": (Dynamic(), 20),
    "dynamic with Conv": (Dynamic(operators=("Conv", "MatMul", "Gemm"), per_channel=False), 20),
    "4 bits": (WeightOnly(block_size=16), 5),
    "8 bits": (WeightOnly(bits=8, block_size=32), 30),
    "float16": (Float16(), 50),
}
"""Quantizer, and the least signal-to-noise ratio that it must reach, in decibels."""

quick = settings(
    max_examples=examples(9),
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def check(model: onnx.ModelProto, name: str) -> None:
    quantizer, least = QUANTIZERS[name]
    samples = samples_for(model)
    try:
        made = outcome(model, quantizer, samples)
    except ModelError as error:
        assume("nothing to quantize" not in error.message)
        raise
    for inputs in samples[:1]:
        assert made.decibels(inputs) >= least
        assert made.decibels(inputs, is_optimized=False) >= least
        assert_half_steps(made, inputs)


def assert_half_steps(made: Outcome, inputs: Inputs) -> None:
    """Rounded values differ from the originals by half a step, or lie beyond the limits and are clipped."""
    values, constants = run_inside(made.model, inputs), made.constants
    originals = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in made.original.graph.initializer}
    originals |= {
        node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t)
        for node in made.original.graph.node
        if node.op_type == "Constant"
    }
    producers = {name: node for node in made.model.graph.node for name in node.output}
    for node in made.model.graph.node:
        if node.op_type != "DequantizeLinear":
            continue
        source = producers.get(node.input[0])
        if source is not None:
            before = values.get(source.input[0], constants.get(source.input[0]))
        else:
            before = originals[re.sub(r"_dequantized(_\d+)?$", "", node.output[0])]
        assert before is not None
        scale, zero = (constants[name] for name in node.input[1:])
        assert_rounded(before, values[node.output[0]], scale, zero, axis_of(node))


def axis_of(node: onnx.NodeProto) -> int:
    return next((each.i for each in node.attribute if each.name == "axis"), 0)


def assert_rounded(before: Array, after: Array, scale: Array, zero: Array, axis: int) -> None:
    shape = [-1 if each == axis else 1 for each in range(before.ndim)] if scale.ndim else []
    step, middle = scale.reshape(shape).astype(float), zero.reshape(shape).astype(float)
    limits = numpy.iinfo(zero.dtype)
    exact = numpy.clip(before.astype(float), (limits.min - middle) * step, (limits.max - middle) * step)
    assert (numpy.abs(after - exact) <= step * 0.5001 + numpy.abs(exact) * 1e-6).all()
