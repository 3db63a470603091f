"""Graphs in chunks: every value equals the whole graph's, each node runs once, and no value is held too long."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from benchmarks.unet import u2netp
from packager.graph.rewriting.stretched import Stretched, values_of
from packager.graph.rewriting.stretches import Stretch, grouped, sizes_of, stretches
from tests.cases.onnx_text import onnx_model, weight

NET = onnx_model(
    """(float[n, 4] x) => (float[n, 4] y, float[n, 4] z) {
        half = Constant <value = float {0.5}> ()
        third = Mul (half, two_thirds)
        a = MatMul (x, w)
        b = Relu (a)
        q = QuantizeLinear (b, scale, zero)
        d = DequantizeLinear (q, scale, zero)
        c = MatMul (d, w)
        e = Mul (c, third)
        f = Add (e, b)
        low = Less (sum, zero_sum)
        g = If (low) <
            then_branch = one () => (float[n, 4] t) { t = Mul (f, third) },
            else_branch = other () => (float[n, 4] o) { o = Add (f, d) }
        >
        h, i = Split <axis = 1> (g, parts)
        j = Concat <axis = 1> (i, h)
        y = Add (j, d)
        z = Mul (a, half)
        sum = ReduceSum <keepdims = 0> (f)
    }""",
    weights={
        "w": weight(4, 4),
        "two_thirds": numpy.array(2 / 3, numpy.float32),
        "scale": numpy.array(0.02, numpy.float32),
        "zero": numpy.array(3, numpy.uint8),
        "zero_sum": numpy.array(0, numpy.float32),
        "parts": numpy.array([1, 3]),
    },
)
VALUES = ["a", "b", "d", "e", "f", "g", "i", "j", "y", "z"]
GROUPINGS = [
    [VALUES],
    [[name] for name in VALUES],
    [["a", "b"], ["d", "e", "f"], ["g", "i", "j", "y", "z"]],
    [["z"], ["y"], ["a", "b", "d", "e"], ["f", "g", "i", "j"]],
    [["b", "f"], ["b", "a"], ["d", "b", "y"]],
]


def sorted_net() -> onnx.ModelProto:
    """ONNX requires an order in which nodes can run; the text's is for readers."""
    from packager.graph.rewriting.order import sort_nodes

    proto = onnx.ModelProto()
    proto.CopyFrom(NET)
    sort_nodes(proto)
    return proto


def opened(graph: bytes, entries: Mapping[str, str]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    return onnxruntime.InferenceSession(graph, options, disabled_optimizers=["NchwcTransformer"])


def fed(**arrays: Any) -> dict[str, Any]:
    return {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in arrays.items()}


def seen(proto: onnx.ModelProto, groups: Sequence[Sequence[str]], **arrays: Any) -> list[dict[str, Any]]:
    """The values of each group, as arrays of their own."""
    found = Stretched(proto, groups, opened).run(fed(**arrays))
    return [{name: values_of(value).copy() for name, value in each.items()} for each in found]


def whole(proto: onnx.ModelProto, names: Sequence[str], **arrays: Any) -> dict[str, Any]:
    """The same from one session of the whole graph."""
    own = onnx.ModelProto()
    own.CopyFrom(proto)
    del own.graph.output[:]
    own.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return dict(zip(names, opened(own.SerializeToString(), {}).run(list(names), arrays), strict=True))


def test_stretches_give_every_value_and_run_nodes_once() -> None:
    for groups in GROUPINGS:
        x = weight(5, 4, seed=3)
        expected = whole(sorted_net(), VALUES, x=x)
        found = seen(sorted_net(), groups, x=x)
        assert [list(each) for each in found] == groups
        for each in found:
            for name, array in each.items():
                numpy.testing.assert_array_equal(array, expected[name])
    for groups in GROUPINGS:
        graph = sorted_net().graph
        parts = stretches(graph, groups)
        ran = [graph.node[number].output[0] for part in parts for number in part.nodes]
        twice = {name for name in ran if ran.count(name) > 1}
        assert twice <= {"d", "half", "third"}
        assert len(parts) == len(groups)
        _assert_held_no_longer_than_needed(parts)
    # Integer kernels are fused from a product and its operands' DequantizeLinear nodes: no border may part them.
    graph = sorted_net().graph
    stretch = stretches(graph, [["d"], ["e"]])[1]
    assert "q" in stretch.takes
    assert "d" not in stretch.takes
    assert "DequantizeLinear" in {graph.node[number].op_type for number in stretch.nodes}
    proto = onnx_model("(float[2] x) => (float[2] y) { a = Add (x, c) y = Mul (a, c) }", opsets={"": 9}, ir_version=3)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(numpy.array([2, 3], numpy.float32), "c"))
    proto.graph.input.append(onnx.helper.make_tensor_value_info("c", onnx.TensorProto.FLOAT, [2]))
    found = seen(proto, [["a"], ["y"]], x=numpy.array([1, 1], numpy.float32))
    numpy.testing.assert_array_equal(found[1]["y"], [6, 12])
    sizes = {"a": 3, "b": 4, "c": 4, "d": 9, "e": 1, "f": 0}
    assert grouped(list(sizes), sizes, 8) == [["a", "b"], ["c"], ["d"], ["e", "f"]]
    assert grouped(list(sizes), sizes, 100) == [list(sizes)]
    assert grouped([], sizes, 8) == []


def _assert_held_no_longer_than_needed(found: Sequence[Stretch]) -> None:
    live = {"x"}
    for index, stretch in enumerate(found):
        assert set(stretch.takes) <= live
        live |= set(stretch.gives)
        assert set(stretch.seen) <= live
        live -= set(stretch.ends)
        later = {name for each in found[index + 1 :] for name in (*each.takes, *each.seen)}
        assert live - {"x"} <= later
        assert later & set(stretch.ends) == set()


def test_random_numbers_are_drawn_once() -> None:
    proto = onnx_model(
        """(float[4] x) => (float[4] y) {
            r = RandomNormal <shape = [4]> ()
            s = RandomNormalLike (one)
            a = Add (x, r)
            b = Add (a, s)
            c = Sub (b, r)
            y = Sub (c, s)
        }""",
        weights={"one": weight(4)},
    )
    groups = [["a"], ["b"], ["c"], ["y"]]
    numbers = [number for stretch in stretches(proto.graph, groups) for number in stretch.nodes]
    assert sorted(numbers) == list(range(len(proto.graph.node)))
    found = seen(proto, groups, x=numpy.zeros(4, numpy.float32))
    numpy.testing.assert_allclose(found[3]["y"], numpy.zeros(4), atol=1e-5)
    assert numpy.abs(found[0]["a"]).max() > 1e-3


def test_what_is_no_tensor_keeps_the_graph_in_one_piece() -> None:
    proto = onnx_model(
        """(float[2] x) => (float[2] y) {
            a = Relu (x)
            s = SequenceConstruct (a, x)
            b = SequenceAt (s, one)
            y = Add (a, b)
        }""",
        weights={"one": numpy.array(1)},
    )
    graph = Stretched(proto, [["a"], ["b"], ["y"]], opened)
    assert [bool(each.nodes) for each in graph.stretches] == [True, True, True]
    between = onnx_model(
        """(float[2] x) => (float[2] y) {
            s = SequenceConstruct (x, x)
            a = SequenceAt (s, one)
            l = SequenceLength (s)
            f = Cast <to = 1> (l)
            y = Add (a, f)
        }""",
        weights={"one": numpy.array(1)},
    )
    graph = Stretched(between, [["a"], ["f"], ["y"]], opened)
    assert [bool(each.nodes) for each in graph.stretches] == [True, False, False]
    found = seen(between, [["a"], ["f"], ["y"]], x=numpy.array([1, 2], numpy.float32))
    assert [list(each) for each in found] == [["a"], ["f"], ["y"]]
    numpy.testing.assert_array_equal(found[2]["y"], [3, 4])


@pytest.mark.parametrize("groups", [[["a", "y"]], [["a"], ["y"]]], ids=["whole", "cut"])
def test_inputs_that_are_missing_are_refused_by_onnxruntime(groups: list[list[str]]) -> None:
    proto = onnx_model("(float[2] x, float[2] unused, float[2] v) => (float[2] y) { a = Relu (x) y = Add (a, v) }")
    two = numpy.ones(2, numpy.float32)
    assert [list(each) for each in seen(proto, groups, x=two, unused=two, v=two)] == groups
    with pytest.raises((ValueError, RuntimeError), match="v"):
        seen(proto, groups, x=two, unused=two)


def test_sizes_are_those_of_the_sample() -> None:
    proto = onnx_model(
        """(float[b, 3, h, 8] x) => (float[b, 3, s] y) {
            shape = Shape (x)
            count = Gather (shape, zero)
            last = Concat <axis = 0> (count, rest)
            n = Relu (x)
            y = Reshape (n, last)
            found = NonZero (n)
        }""",
        weights={"zero": numpy.array([0]), "rest": numpy.array([3, -1])},
    )
    sizes = sizes_of(proto, ["n", "y", "found"], {"x": (2, 3, 5, 8)})
    assert sizes["n"] == 4 * 2 * 3 * 5 * 8
    assert sizes["y"] == sizes["n"]
    assert sizes["found"] == 0
    assert sizes_of(onnx_model("(float[2] x) => (float[2] y) { y = Unknown (x) }"), ["y"], {}) == {"y": 0}


def test_a_segmentation_net_is_held_in_small_parts() -> None:
    """320x320: the values between two chunks, and those that are observed, are each a part of the 600 MB."""
    proto = u2netp()
    names = [name for node in proto.graph.node for name in node.output]
    sizes = sizes_of(proto, names, {"input": (1, 3, 320, 320)})
    assert sum(sizes.values()) > 600e6
    limit = 48 * 2**20
    live: set[str] = set()
    held = []
    for stretch in stretches(proto.graph, grouped(names, sizes, limit)):
        live |= set(stretch.gives)
        held.append(sum(sizes[name] for name in live | set(stretch.seen)))
        live -= set(stretch.ends)
    assert max(held) < 160e6
