"""Every quantizer on random nets: valid, the same for any number of threads, and close to the float model."""

import re
from pathlib import Path

import numpy
import onnx
import onnx.numpy_helper
import pytest
from hypothesis import HealthCheck, assume, given, settings

from packager.core.errors import ModelError
from packager.quantizers import Quantizer
from packager.quantizers.dynamic import Dynamic
from packager.quantizers.float16 import Float16
from packager.quantizers.weight_only import WeightOnly
from tests.nights import examples
from tests.random_nets import nets
from tests.rewriting_cases import (
    Array,
    Inputs,
    Outcome,
    decibels,
    outcome,
    outcome_in_files,
    run,
    run_inside,
    samples_for,
    static,
)

pytestmark = pytest.mark.by_content

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
large = settings(quick, max_examples=40)
thorough = settings(quick, max_examples=250)


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


@pytest.mark.parametrize("name", QUANTIZERS)
def test_a_random_net_computes_nearly_the_same_with_other_numbers(name: str) -> None:
    quick(given(nets())(lambda model: check(model, name)))()


@pytest.mark.tool
@pytest.mark.parametrize("name", QUANTIZERS)
def test_large_random_nets_compute_nearly_the_same_with_other_numbers(name: str) -> None:
    large(given(nets(12))(lambda model: check(model, name)))()


@pytest.mark.tool
@pytest.mark.nightly("40 large nets")
@pytest.mark.parametrize("name", QUANTIZERS)
def test_many_large_random_nets_compute_nearly_the_same_with_other_numbers(name: str) -> None:
    thorough(given(nets(12))(lambda model: check(model, name)))()


@pytest.mark.parametrize("name", QUANTIZERS)
def test_any_number_of_threads_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    folders = iter(range(1000))

    def compare(model: onnx.ModelProto) -> None:
        made = set()
        for threads in (1, 4, 1):
            folder = tmp_path / str(next(folders))
            try:
                made.add(outcome_in_files(model, QUANTIZERS[name][0], samples_for(model, 1), folder, threads=threads))
            except ModelError:
                assume(False)
        assert len(made) == 1

    settings(quick, max_examples=3)(given(nets())(compare))()


@pytest.mark.parametrize("name", ["static", "symmetric", "unsigned", "all"])
def test_onnx_runtime_fuses_a_random_net_without_changing_what_it_computes(name: str) -> None:
    """Except for the rounding of its integer kernels."""

    def compare(model: onnx.ModelProto) -> None:
        samples = samples_for(model, 1)
        try:
            made = outcome(model, QUANTIZERS[name][0], samples).model
        except ModelError:
            assume(False)
        node_by_node, fused = run(made, samples[0], is_optimized=False), run(made, samples[0])
        assert decibels([(node_by_node[output], fused[output]) for output in fused]) >= 25

    settings(quick, max_examples=4)(given(nets())(compare))()
