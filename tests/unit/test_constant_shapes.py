"""Shapes that a graph computes become constants where they are certain, and every run gives what it gave before."""

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import numpy_helper
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, RuntimeException

from packager.models import with_constant_shapes
from packager.models.graphs import read_graph
from packager.verification.partition.coreml import predict
from tests.cases.onnx_text import loaded, onnx_model, weight
from tests.cases.rewriting_cases import session
from tests.nights import examples

SIZES = (0, 1, 3)
INTEGERS = "".join(f"c{number} = Constant <value_ints = [{number}]> () " for number in range(7))
CONSTANTS = f"{INTEGERS} rest = Constant <value_ints = [-1]> () first = Constant <value_int = 0> ()"
GATHERED = f"{CONSTANTS} s = Shape (x) g = Gather (s, first) b = Unsqueeze (g, c0)"
SLICED = f"{CONSTANTS} s = Shape (x) b = Slice (s, c0, c1, c0)"
BOTH = f"{CONSTANTS} b = Shape <end = 1> (x) c = Shape <start = 1, end = 2> (x)"
WITH_REST = "t = Concat <axis = 0> (b, rest) y = Reshape"

CHAINS = {
    "x.view(x.size(0), -1)": ("[n,3,4]", f"{GATHERED} {WITH_REST} (x, t)", "Reshape", (0, 12)),
    "a slice of the shape": ("[n,3,4]", f"{SLICED} {WITH_REST} (x, t)", "Reshape", (0, 12)),
    "with allowzero": (
        "[n,3,4]",
        f"{SLICED} t = Concat <axis = 0> (b, c6, c2) y = Reshape <allowzero = 1> (x, t)",
        "Reshape",
        (0, 6, 2),
    ),
    "behind a pooling": ("[n,6,1,1]", f"{SLICED} {WITH_REST} (x, t)", "Squeeze", (2, 3)),
    "all but the batch multiplied": (
        "[n,3,4]",
        f"{SLICED} r = Shape <start = 1> (x) p = ReduceProd (r) t = Concat <axis = 0> (b, p) y = Reshape (x, t)",
        "Reshape",
        (0, 12),
    ),
    "the heads of an attention": (
        "[n,k,6]",
        f"{BOTH} t = Concat <axis = 0> (b, c, c2, c3) y = Reshape (x, t)",
        "Reshape",
        (0, 0, 2, 3),
    ),
    "heads behind a product": (
        "[n,k,6]",
        f"{BOTH} d = Concat <axis = 0> (c6, c6) w = ConstantOfShape <value = float[1] {{0.5}}> (d) q = MatMul (x, w) "
        "t = Concat <axis = 0> (b, c, c2, c3) y = Reshape (q, t)",
        "Reshape",
        (0, 0, 2, 3),
    ),
    "heads put together": (
        "[n,k,2,3]",
        f"{BOTH} t = Concat <axis = 0> (b, c, c6) y = Reshape (x, t)",
        "Reshape",
        (0, 0, 6),
    ),
    "batch and steps as one": (
        "[n,k,6]",
        f"{BOTH} m = Mul (b, c) t = Concat <axis = 0> (m, c6) y = Reshape (x, t)",
        "Reshape",
        (-1, 6),
    ),
    "channels in groups": (
        "[n,6,k]",
        f"{BOTH} h = Div (c, c2) t = Concat <axis = 0> (b, c2, h, rest) y = Reshape (x, t)",
        "Reshape",
        (0, 2, 3, -1),
    ),
    "a new dimension": ("[n,k]", f"{BOTH} t = Concat <axis = 0> (b, c, c1) y = Reshape (x, t)", "Unsqueeze", (2,)),
    "expanded by a number": ("[n,1]", f"{SLICED} t = Concat <axis = 0> (b, c5) y = Expand (x, t)", "Expand", (1, 5)),
    "repeated by the channels": (
        "[n,2]",
        f"{CONSTANTS} c = Shape <start = 1> (x) t = Concat <axis = 0> (c1, c) y = Tile (x, t)",
        "Tile",
        (1, 2),
    ),
}
UNCERTAIN = {
    "-1 fails beside an empty batch": (
        "float[n,k,6] x",
        f"{BOTH} z = Abs (c) t = Concat <axis = 0> (b, z, c6) y = Reshape (x, t)",
    ),
    "a 0 elsewhere copies another dimension": (
        "float[4,n] x",
        f"{BOTH} t = Concat <axis = 0> (c, rest) y = Reshape (x, t)",
    ),
    "ONNX Runtime has a meaning for -1 beside an empty dimension": (
        "float[n,3,4] x",
        f"{SLICED} {WITH_REST.replace('Reshape', 'Reshape <allowzero = 1>')} (x, t)",
    ),
    "a new first dimension moves two that may be empty": (
        "float[n,k] x",
        f"{BOTH} t = Concat <axis = 0> (c1, b, c) y = Reshape (x, t)",
    ),
    "another dimension has the same name": (
        "float[n,k] x, float[n,k] z",
        f"{CONSTANTS} b = Shape (z) t = Concat <axis = 0> (b, c1) y = Reshape (x, t)",
    ),
}


def net(inputs: str, nodes: str, rank: int) -> onnx.ModelProto:
    """A model with the output y of `rank` dimensions."""
    dimensions = ", ".join("abcdefgh"[:rank])
    return onnx_model(f"({inputs}) => (float[{dimensions}] y) {{ {nodes} }}", opsets={"": 18})


def rewritten(folder: Path, model: onnx.ModelProto) -> onnx.ModelProto:
    made: onnx.ModelProto = onnx.ModelProto.FromString(with_constant_shapes(loaded(folder, model)).graph)
    return made


def refuse_other_results(model: onnx.ModelProto, made: onnx.ModelProto) -> int:
    """Fails where `made` gives anything else than `model`, for all sizes of open dimensions; returns how many runs
    succeed."""
    try:
        one = session(model, is_optimized=False)
    except Fail:  # an Expand to another size
        return 0
    other = session(made, is_optimized=False)
    shapes = [[each.dim_param or each.dim_value for each in v.type.tensor_type.shape.dim] for v in model.graph.input]
    symbols = sorted({each for shape in shapes for each in shape if isinstance(each, str)})
    count = 0
    for sizes in itertools.product(SIZES, repeat=len(symbols)):
        known = dict(zip(symbols, sizes, strict=True))
        feeds = {}
        for value, shape in zip(model.graph.input, shapes, strict=True):
            numbers = [known[each] if isinstance(each, str) else each for each in shape]
            feeds[value.name] = numpy.arange(numpy.prod(numbers), dtype=numpy.float32).reshape(numbers)
        try:
            (expected,) = one.run(None, feeds)
        except (Fail, InvalidArgument, RuntimeException):  # the shape does not fit these sizes
            continue
        (found,) = other.run(None, feeds)
        assert found.shape == expected.shape, (known, onnx.printer.to_text(model), onnx.printer.to_text(made))
        assert (found == expected).all()
        count += 1
    return count


@pytest.mark.parametrize(("shape", "nodes", "operator", "constant"), CHAINS.values(), ids=CHAINS)
def test_certain_shapes_are_constants(
    tmp_path: Path, shape: str, nodes: str, operator: str, constant: tuple[int, ...]
) -> None:
    rank = shape.count(",") + 1 + (1 if operator == "Unsqueeze" else -2 if operator == "Squeeze" else 0)
    rank = len(constant) if operator == "Reshape" else rank
    model = net(f"float{shape} x", nodes, rank)
    made = rewritten(tmp_path, model)
    (node,) = (each for each in made.graph.node if "y" in each.output)
    numbers = {tensor.name: numpy_helper.to_array(tensor).tolist() for tensor in made.graph.initializer}
    assert (node.op_type, tuple(numbers[node.input[1]])) == (operator, constant)
    assert not {each.op_type for each in made.graph.node} & {"Shape", "Concat", "Gather", "Slice"} or "q" in node.input
    assert refuse_other_results(model, made) >= 2


@pytest.mark.parametrize(("inputs", "nodes"), UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_shape_that_is_not_certain_stays_computed(tmp_path: Path, inputs: str, nodes: str) -> None:
    model = loaded(tmp_path, net(inputs, nodes, nodes.partition("Concat")[2].partition(")")[0].count(",") + 1))
    assert with_constant_shapes(model) is model


def test_a_shape_that_the_model_returns_is_still_computed(tmp_path: Path) -> None:
    nodes = f"{SLICED} {WITH_REST} (x, t)"
    model = net("float[n,3,4] x", nodes, 2)
    model.graph.output.append(onnx.helper.make_tensor_value_info("b", onnx.TensorProto.INT64, [1]))
    made = rewritten(tmp_path, model)
    assert {"Shape", "Slice"} <= {each.op_type for each in made.graph.node}
    assert "Concat" not in {each.op_type for each in made.graph.node}
    x = numpy.ones((3, 3, 4), numpy.float32)
    assert [each.tolist() for each in session(made).run(["b"], {"x": x})] == [[3]]


def test_core_ml_takes_a_net_with_an_open_batch_in_one_partition(tmp_path: Path) -> None:
    shape = SLICED.replace("Shape (x)", "Shape (p)")
    nodes = (
        f"k = Conv (x, w) p = GlobalAveragePool (k) {shape} {WITH_REST.replace('y =', 'f =')} (p, t) y = MatMul (f, v)"
    )
    weights = {"w": weight(4, 3, 3, 3), "v": weight(4, 2)}
    model = loaded(tmp_path, onnx_model(f"(float[n,3,8,8] x) => (float[n,k] y) {{ {nodes} }}", weights=weights))
    before, after = (
        predict(read_graph(each.graph), model_format="MLProgram") for each in (model, with_constant_shapes(model))
    )
    assert (len(before.partitions), len(after.partitions)) == (2, 1)


def drawn(count: int) -> Iterator[onnx.ModelProto]:
    """Models that reshape or expand an input by sizes of the input, in ways that mostly fit."""
    draw = random.Random(23)
    for _ in range(count):
        shape = [draw.choice(["n", "k", "1", "2", "3", "6"]) for _ in range(draw.randint(1, 4))]
        nodes, parts = [f"{CONSTANTS} s = Shape (x)"], []
        for index, size in enumerate(shape):
            nodes.append(f"i{index} = Constant <value_ints = [{index}]> () d{index} = Gather (s, i{index})")
            parts.append(f"d{index}" if draw.random() < 0.6 or size in "nk" else f"c{size}")
        while len(parts) > 1 and draw.random() < 0.5:  # two dimensions as one
            place = draw.randrange(len(parts) - 1)
            name = f"m{len(nodes)}"
            nodes.append(f"{name} = Mul ({parts[place]}, {parts[place + 1]})")
            parts[place : place + 2] = [name]
        if draw.random() < 0.4:
            parts.insert(draw.randint(0, len(parts)), "c1")
        for index, other in ((draw.randrange(len(parts)), draw.choice(["rest", "c0", "c1", "c6", "hidden"])),):
            if draw.random() < 0.6:
                nodes += [f"hidden = Abs ({parts[index]})"] if other == "hidden" else []
                parts[index] = other
        if draw.random() < 0.3:
            draw.shuffle(parts)
        zero = draw.choice(["", " <allowzero = 1>"]) if not {"c0", "rest"} <= {*parts} else ""
        operator = f"Reshape{zero}" if draw.random() < 0.9 else "Expand"
        nodes.append(f"t = Concat <axis = 0> ({', '.join(parts)}) y = {operator} (x, t)")
        yield net(
            f"float[{', '.join(shape)}] x", " ".join(nodes), max(len(parts), len(shape) if "E" in operator else 0)
        )


def test_drawn_models_give_what_they_gave(tmp_path: Path) -> None:
    changed = runs = 0
    count = examples(150)
    for model in drawn(count):
        described = loaded(tmp_path, model)
        made = with_constant_shapes(described)
        if made is not described:
            changed += 1
            runs += refuse_other_results(model, onnx.ModelProto.FromString(made.graph))
    assert changed > count // 3
    assert runs > count
