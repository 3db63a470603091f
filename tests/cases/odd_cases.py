"""Unusual models: few bits, rare types, old and new versions, control flow, strings, sequences, operators of others.

`CASES` says of each what becomes of it, for each `format` of a target.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from packager.graph.weights.places import size_of
from packager.models.opsets import max_ir_version, max_opset
from tests.cases.onnx_text import onnx_model, weight

Wanted = Literal["auto", "ort", "onnx"]
OWN = {"": 17, "own": 1}
MICROSOFT = {"": 17, "com.microsoft": 1}
ADDED = Callable[[onnx.ModelProto], object]
SCALE = {"s": numpy.array(0.01, numpy.float32)}
SCALES = {"s": numpy.linspace(0.01, 0.02, 64, dtype=numpy.float32)}
BLOCK_SCALES = {"s": numpy.linspace(0.01, 0.02, 128, dtype=numpy.float32).reshape(2, 64)}
PER_TENSOR = "(float[1, 64] x) => (float[1, 64] y) { f = DequantizeLinear (w, s) y = MatMul (x, f) }"
PER_CHANNEL = PER_TENSOR.replace("Linear (", "Linear <axis = 1> (")
IN_BLOCKS = PER_TENSOR.replace("Linear (", "Linear <axis = 0, block_size = 32> (")
GATHERED = "(int64[3] i) => (float[3, 64] y) { f = DequantizeLinear <axis = 1> (w, s) y = Gather (f, i) }"
RELU = "(float[4] x) => (float[4] y) { y = Relu (x) }"
TWICE = '<domain: "own", opset_import: ["" : 17, "own" : 1]> Twice (a) => (b) { b = Add (a, a) }'
BRANCHES = """(float[4] x, bool c) => (float[4] y) { k = Relu (x) y = If (c) <
    then_branch = t () => (float[4] p) { p = THEN },
    else_branch = e () => (float[4] q) { q = Tanh (k) }> }"""

NEWER_OPSET = f"opset {max_opset() + 1}"
NOT_HERE = "is not a tensor of a type that mobile APIs carry"
NOT_REGISTERED = "is not a registered function/op"
NO_IMPLEMENTATION = "Could not find an implementation for {0}"
NO_KERNEL: dict[Wanted, str] = {"auto": NO_IMPLEMENTATION, "onnx": "no kernel for node '.*', .*{0}"}
NBITS = 0.02
"""ONNX Runtime makes MatMulNBits of a MatMul by quantized weights, and that rounds the activations to 8 bits unless
`session.qdq_matmulnbits_accuracy_level` says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Case:
    model: onnx.ModelProto
    expected: Mapping[Wanted, str]
    """format of the target -> format of the file that the CPU opens, or a pattern of the refusal"""
    early: str = ""
    """a pattern of the refusal, where the graph itself tells, whatever the format"""
    reason: str = ""
    """a pattern in the plan's reason for it, with format auto"""
    is_run: bool = True
    """False for inputs with types that numpy lacks"""
    tolerance: float = 1e-4
    """of the largest number"""
    providers: tuple[str, ...] = ("xnnpack", "nnapi")


SHIPS: dict[Wanted, str] = {"auto": "ort", "ort": "ort", "onnx": "onnx"}
CASES: dict[str, Case] = {}


def case(
    name: str,
    graph: str,
    *,
    expected: Mapping[Wanted, str] | str = SHIPS,
    early: str = "",
    opset: int = 17,
    opsets: Mapping[str, int] | None = None,
    ir: int = 0,
    weights: Mapping[str, Any] | None = None,
    functions: str = "",
    add: ADDED | None = None,
    reason: str = "",
    is_run: bool = True,
    tolerance: float = 1e-4,
    providers: tuple[str, ...] = ("xnnpack", "nnapi"),
) -> None:
    """A row of CASES; `expected` is an answer per format, or the pattern of a refusal whatever the format."""
    imported = opsets or {"": opset}
    ir = ir or (3 if opset < 9 else 8 if opset < 19 else 10)
    model = onnx_model(graph, opsets=imported, ir_version=ir, weights=weights, functions=functions)
    if add:
        add(model)
    if isinstance(expected, str):
        expected = {"auto": expected, "onnx": expected}
    CASES[name] = Case(
        model=model,
        expected={} if early else expected,
        early=early,
        reason=reason,
        is_run=is_run,
        tolerance=tolerance,
        providers=providers,
    )


def stored(element: int, shape: list[int], name: str = "w") -> ADDED:
    """Adds an initializer with bytes of which none makes a NaN or an infinity."""

    def add(model: onnx.ModelProto) -> None:
        tensor = model.graph.initializer.add(name=name, data_type=element, dims=shape)
        content = numpy.random.default_rng(0).integers(0, 0x70, size_of(tensor), dtype=numpy.uint8)
        tensor.raw_data = content.tobytes()

    return add


def no_kernel(op: str) -> dict[Wanted, str]:
    return {name: pattern.format(op) for name, pattern in NO_KERNEL.items()}


def only_onnx(what: str) -> dict[Wanted, str]:
    return {"auto": "onnx", "ort": f"the model has {what} that ORT format cannot hold", "onnx": "onnx"}


def low_bits() -> None:
    for element, opset, ir, what in (
        ("INT4", 21, 10, "4-bit weights"),
        ("UINT4", 21, 10, "4-bit weights"),
        ("INT2", 25, 13, "2-bit weights"),
        ("UINT2", 25, 13, "2-bit weights"),
    ):
        number, name = TensorProto.DataType.Value(element), element.lower()
        add = stored(number, [64, 64])
        case(f"{name} in blocks", IN_BLOCKS, opset=opset, ir=ir, weights=BLOCK_SCALES, add=add, tolerance=NBITS)
        for how, graph, scales in (("per tensor", PER_TENSOR, SCALE), ("for Gather", GATHERED, SCALES)):
            case(
                f"{name} {how}",
                graph,
                opset=opset,
                ir=ir,
                weights=scales,
                add=add,
                expected=only_onnx(what),
                reason=f"ships as ONNX: it has {what} that ORT format cannot hold",
            )
    four_bits = stored(TensorProto.INT4, [64, 64])
    case("int4 per channel", PER_CHANNEL, opset=21, weights=SCALES, add=four_bits, tolerance=NBITS)
    case(
        "int4 that is computed",
        f"(float[4] x) => (float[4] y) {{ a = Cast <to = {TensorProto.INT4}> (x) y = Cast <to = 1> (a) }}",
        opset=21,
        expected=only_onnx("4-bit values"),
    )
    case("int4 as an input", "(int4[4] x) => (float[4] y) { y = Cast <to = 1> (x) }", opset=21, early=NOT_HERE)
    case(
        "GatherBlockQuantized",
        "(int64[3] i) => (float[3, 32] y) { y = com.microsoft.GatherBlockQuantized <block_size = 32> (w, i, s) }",
        opsets=MICROSOFT,
        weights={"s": numpy.full((64, 1), 0.1, numpy.float32)},
        add=stored(TensorProto.UINT4, [64, 32]),
        expected=only_onnx("4-bit weights"),
    )
    case(
        "MatMulNBits",
        "(float[1, 64] x) => (float[1, 64] y) {"
        " y = com.microsoft.MatMulNBits <K = 64, N = 64, bits = 4, block_size = 32> (x, w, s) }",
        opsets=MICROSOFT,
        weights={"w": numpy.full((64, 2, 16), 0x79, numpy.uint8), "s": numpy.full(128, 0.1, numpy.float32)},
    )
    ones = numpy.ones((64, 64), numpy.int8)
    case("int8 weights", PER_CHANNEL, weights={"w": ones, **SCALES}, tolerance=NBITS)
    case(
        "int8 activations",
        """(float[1, 3, 8, 8] x) => (float[1, 4, 8, 8] y) {
            q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) k = DequantizeLinear (w, s, z)
            c = Conv <pads = [1, 1, 1, 1]> (d, k) r = QuantizeLinear (c, s, z) y = DequantizeLinear (r, s, z) }""",
        weights={"w": numpy.ones((4, 3, 3, 3), numpy.int8), **SCALE, "z": numpy.zeros((), numpy.int8)},
    )


def rare_types() -> None:
    for name in ("FLOAT8E4M3FN", "FLOAT8E5M2"):
        add = stored(TensorProto.DataType.Value(name), [64, 64])
        case(name.lower(), PER_TENSOR, opset=19, weights=SCALE, add=add)
    case(
        "float8 without a kernel",
        "(float[4] x) => (float[4] y) { a = Cast <to = 17> (x) b = Add (a, a) y = Cast <to = 1> (b) }",
        opset=19,
        expected=r"Type 'tensor\(float8e4m3fn\)' of input parameter \(a\) of operator \(Add\)",
    )
    case(
        "float4",
        PER_TENSOR,
        opset=23,
        ir=11,
        weights=SCALE,
        add=stored(TensorProto.FLOAT4E2M1, [64, 64]),
        expected=no_kernel("DequantizeLinear"),
    )
    case("bfloat16 inputs", "(bfloat16[4] x) => (bfloat16[4] y) { y = Identity (x) }", is_run=False)
    case(
        "bfloat16 weights",
        "(float[1, 64] x) => (float[1, 64] y) { f = Cast <to = 1> (w) y = MatMul (x, f) }",
        add=stored(TensorProto.BFLOAT16, [64, 64]),
    )
    case(
        "bfloat16 without a kernel",
        "(float[4] x) => (float[4] y) { a = Cast <to = 16> (x) b = Relu (a) y = Cast <to = 1> (b) }",
        expected=no_kernel("Relu"),
    )
    case(
        "double without a kernel",
        "(double[1, 1, 4, 4] x) => (double[1, 1, 4, 4] y) { y = Conv (x, w) }",
        weights={"w": numpy.ones((1, 1, 1, 1))},
        expected=no_kernel("Conv"),
    )
    case(
        "complex inside",
        "(float[2] x) => (float[2] y) { a = Cast <to = 14> (x) y = Cast <to = 1> (a) }",
        expected=r"Type 'tensor\(complex64\)'",
    )
    case("DFT", "(float[1, 8, 1] x) => (float[1, 8, 2] y) { y = DFT <axis = 1> (x) }")
    case("int16", "(int16[2] x) => (int16[2] y) { y = Add (x, x) }")


def versions() -> None:
    small = "(float[1, 4] x) => (float[1, 4] y) { a = Relu (x) b = Add (a, x) y = Softmax <axis = 1> (b) }"
    for opset in range(7, max_opset() + 1):
        case(f"opset {opset}", small, opset=opset, expected={"auto": "ort"}, providers=())
    case(NEWER_OPSET, small, opset=max_opset() + 1, early=r"newer than the runtime knows \(")
    case("opset 1", RELU.replace("Relu", "Relu <consumed_inputs = [0]>"), opset=1, expected=no_kernel("Relu"))
    case("opset 999", RELU, opset=999, early="opset 999 is newer than the runtime knows")
    for domain, latest in (("ai.onnx.ml", 9), ("com.microsoft", 7)):
        unknown = f"[oO]pset {latest} is under development|till opset|{NOT_REGISTERED}"
        graph = f"(float[1, 4] x) => (float[1, 4] y) {{ y = {domain}.Gelu (x) }}"
        if domain == "ai.onnx.ml":
            graph = graph.replace("Gelu", "Scaler <scale = [2.0], offset = [0.0]>")
        case(f"opset {latest} of {domain}", graph, opsets={"": 17, domain: latest}, expected=unknown)
    for ir in range(3, max_ir_version() + 2):
        case(f"IR version {ir}", RELU, opset=7 if ir < 8 else 17, ir=ir, expected={"auto": "ort"}, providers=())
    case("IR version 2", RELU, opset=7, ir=2, early="the ONNX checker refuses the model: model with IR version < 3")
    case("IR version 99", RELU, ir=99, early="Your model ir_version 99 is higher than the checker's")
    newer = f"IR version {max_ir_version() + 1} is newer than the runtime reads"
    cast = f"(float[4] x) => (float[4] y) {{ a = Cast <to = {TensorProto.DataType.Value('FLOAT6E2M3')}> (x) "
    case("a type of a newer IR", cast + "y = Cast <to = 1> (a) }", opset=26, ir=14, early=newer)
    case("a type of a newer IR in a branch", BRANCHES.replace("THEN", "Neg (k)"), ir=14, add=in_branch, early=newer)
    case(
        "an initializer that is an input",
        "(float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }",
        opset=8,
        ir=3,
        weights={"w": weight(64, 64)},
        add=lambda model: model.graph.input.append(helper.make_tensor_value_info("w", 1, [64, 64])),
    )


def in_branch(model: onnx.ModelProto) -> None:
    branch = next(each.g for each in model.graph.node[1].attribute if each.name == "then_branch")
    branch.initializer.add(name="w", data_type=TensorProto.DataType.Value("FLOAT6E2M3"), dims=[0])


def control_flow() -> None:
    twice = "(float[4] x) => (float[4] y) { y = own.Twice (x) }"
    case("function", twice, opsets=OWN, functions=TWICE)
    four = TWICE.replace("Twice", "Four").replace("Add (a, a)", "own.Twice (a)")
    case("function of functions", twice.replace("Twice", "Four"), opsets=OWN, functions=f"{TWICE} {four}")
    scale = '<domain: "own", opset_import: ["" : 17]> Scale ATTRIBUTES (a) => (b) {'
    scale += " f = Constant <value_float: float = @factor> () b = Mul (a, f) }"
    scaled = twice.replace("Twice", "Scale")
    case(
        "function with an attribute",
        scaled.replace("Scale", "Scale <factor = 3.0>"),
        opsets=OWN,
        functions=scale.replace("ATTRIBUTES", "<factor>"),
    )
    defaults = scale.replace("ATTRIBUTES", "<factor: float = 2.0>")
    case("function with a default", scaled, opsets=OWN, ir=9, functions=defaults)
    recursive = TWICE.replace("Add (a, a)", "own.Twice (a)")
    case("function of itself", twice, opsets=OWN, functions=recursive, early="calls itself")
    case("function in a branch", BRANCHES.replace("THEN", "own.Twice (x)"), opsets=OWN, functions=TWICE)
    case("function of another opset", twice, opsets={**OWN, "": 18}, functions=TWICE)
    inner = "If (c) <then_branch = i () => (float[4] r) { r = Neg (k) }, "
    inner += "else_branch = j () => (float[4] s) { s = Sigmoid (k) }>"
    case("If over outer values", BRANCHES.replace("THEN", inner))
    case("If over outer weights", BRANCHES.replace("THEN", "Add (k, w)"), weights={"w": weight(4)})
    case(
        "Loop",
        """(float[4] x, int64 n, bool c) => (float[4] y, float[?, 4] ys) { y, ys = Loop (n, c, x) <
            body = b (int64 i, bool d, float[4] s) => (bool e, float[4] t, float[4] o) {
                e = Identity (d) t = Add (s, x) o = Neg (t) }> }""",
    )
    case(
        "Scan with a state",
        """(float[4] x, float[3, 4] xs) => (float[4] y, float[3, 4] ys) { y, ys = Scan <num_scan_inputs = 1,
            body = b (float[4] s, float[4] e) => (float[4] t, float[4] o) { t = Add (s, e) o = Neg (t) }> (x, xs) }""",
    )


def not_numbers() -> None:
    case("string inputs and outputs", "(string[2] x) => (string[2] y) { y = Identity (x) }")
    upper = '(string[2] x) => (string[?] y) { y = StringNormalizer <case_change_action = "UPPER", locale = "C"> (x) }'
    case("StringNormalizer", upper)
    nowhere = upper.replace('"C"', '"xx_XX"')
    case("StringNormalizer of nowhere", nowhere, expected="Failed to construct locale with name:xx_XX")
    case("strings as weights", "(int64[1] i) => (string[1] y) { y = Gather (w, i) }", add=words)
    case("StringConcat", "(string[2] x) => (string[2] y) { y = StringConcat (x, x) }", opset=20)
    case(
        "SequenceInsert",
        """(float[4] x) => (float[12] y, int64 n) { a = SequenceEmpty () b = SequenceInsert (a, x)
            c = SequenceInsert (b, x) d = SequenceInsert (c, x) n = SequenceLength (d)
            y = ConcatFromSequence <axis = 0> (d) }""",
    )
    case("sequence outputs", "(float[2] x) => (seq(float[2]) y) { y = SequenceConstruct (x) }", early=NOT_HERE)
    case("sequence inputs", "(seq(float[2]) x) => (int64 y) { y = SequenceLength (x) }", early=NOT_HERE)
    case(
        "optional values",
        "(float[4] x) => (float[4] y) { o = Optional (x) y = OptionalGetElement (o) }",
        expected=only_onnx("optional values"),
        reason="ships as ONNX: it has optional values that ORT format cannot hold",
    )
    case("sparse weights", "(float[1, 4] x) => (float[1, 4] y) { y = MatMul (x, w) }", add=sparse)
    case("no values", "(float[4] x) => (float[4] y) { y = Concat <axis = 0> (x, w) }", weights={"w": weight(0)})
    case("no rows", "(float[0, 4] x) => (float[0, 4] y) { y = Relu (x) }")
    case("a number without dimensions", "(float x) => (float y) { y = Relu (x) }")


def large_attributes() -> None:
    """ONNX Runtime cannot open these in ORT format with the settings of apps."""
    what = "tensors in the attributes of nodes"
    case(
        "TreeEnsemble",
        """(float[1, 4] x) => (float[1, 1] y) {
            y = ai.onnx.ml.TreeEnsemble <n_targets = 1, aggregate_function = 1> (x) }""",
        opsets={"": 21, "ai.onnx.ml": 5},
        add=stumps,
        expected=only_onnx(what),
        reason=f"ships as ONNX: it has {what} that ORT format cannot hold",
    )


def stumps(model: onnx.ModelProto, count: int = 200) -> None:
    """So many trees of one node and two leaves: their tensors have more bytes than ONNX Runtime copies (127)."""
    true_leaves, false_leaves = list(range(0, 2 * count, 2)), list(range(1, 2 * count, 2))
    numbers = {
        "tree_roots": list(range(count)),
        "nodes_featureids": [index % 4 for index in range(count)],
        "nodes_trueleafs": [1] * count,
        "nodes_truenodeids": true_leaves,
        "nodes_falseleafs": [1] * count,
        "nodes_falsenodeids": false_leaves,
        "leaf_targetids": [0] * (2 * count),
    }
    tensors: dict[str, numpy.ndarray[Any, Any]] = {
        "nodes_modes": numpy.zeros(count, numpy.uint8),
        "nodes_splits": numpy.linspace(-1, 1, count, dtype=numpy.float32),
        "leaf_weights": numpy.linspace(0, 1, 2 * count, dtype=numpy.float32),
    }
    node = model.graph.node[0]
    node.attribute.extend(helper.make_attribute(name, each) for name, each in numbers.items())
    node.attribute.extend(
        helper.make_attribute(name, numpy_helper.from_array(each, name)) for name, each in tensors.items()
    )


def words(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(numpy_helper.from_array(numpy.array(["a", "ä"], object), "w"))


def sparse(model: onnx.ModelProto) -> None:
    values = helper.make_tensor("w", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    places = helper.make_tensor("", TensorProto.INT64, [3], [0, 5, 10])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4, 4]))


def operators_of_others() -> None:
    call = "(float[4] x) => (float[4] y) { y = acme.Magic (x) }"
    missing = "operators of acme are not in ONNX Runtime's mobile packages: acme::Magic"
    acme = {"": 17, "acme": 1}
    case("unknown domain", call, opsets=acme, early=missing)
    case("unknown domain in a branch", BRANCHES.replace("THEN", "acme.Magic (x)"), opsets=acme, early=missing)
    own = '<domain: "own", opset_import: ["" : 17, "acme" : 1]> Twice (a) => (b) { b = acme.Magic (a) }'
    twice = call.replace("acme.Magic", "own.Twice")
    case("unknown domain in a function", twice, opsets={**OWN, **acme}, functions=own, early=missing)
    case("domain that is not imported", call, early="No opset import for domain 'acme'")
    case("unused domain", RELU, opsets={**acme, "com.ms.internal.nhwc": 17})
    case("contrib operator", call.replace("acme.Magic", "com.microsoft.Gelu"), opsets=MICROSOFT)
    case(
        "contrib operator for GPUs",
        "(float[1, 4, 4, 4] x, float[4] g, float[4] b) => (float[1, 4, 4, 4] y) {"
        " y = com.microsoft.GroupNorm <groups = 2, activation = 0> (x, g, b) }",
        opsets=MICROSOFT,
        expected=no_kernel("GroupNorm"),
    )
    case(
        "contrib operator that nobody knows",
        call.replace("acme", "com.microsoft"),
        opsets=MICROSOFT,
        expected=f"com.microsoft:Magic.* {NOT_REGISTERED}",
    )
    case(
        "training",
        "(float r, int64 t, float[2] x, float[2] g, float[2] h) => (float[2] y, float[2] z) {"
        " y, z = ai.onnx.preview.training.Adagrad (r, t, x, g, h) }",
        opsets={"": 17, "ai.onnx.preview.training": 1},
        expected=f"Adagrad.* {NOT_REGISTERED}",
    )


def names() -> None:
    long = "n" * 5000
    case("long names", f"(float[4] {long}) => (float[4] {long}y) {{ {long}y = Neg ({long}) }}")
    case("names of other alphabets", RELU, add=other_alphabets)
    case("blank name", RELU, add=lambda model: rename(model, " ", "y"))
    case("no name", RELU, add=lambda model: rename(model, "", "y"), early="required to be non-empty")
    two = "(float[4] x) => (float[4] y) { a = Neg (x) y = Relu (a) }"
    case("nodes of one name", two, add=one_name, expected=r"two nodes with same node name \(same\)")
    case(
        "initializers of one name",
        "(float[4] x) => (float[4] y) { y = Add (x, w) }",
        weights={"w": weight(4)},
        add=lambda model: model.graph.initializer.append(numpy_helper.from_array(weight(4, seed=1), "w")),
        early="w initializer name is not unique",
    )
    case("values of one name", two.replace("a = ", "y = ").replace("(a)", "(x)"), early="SSA")
    case("no nodes", RELU, add=lambda model: model.graph.ClearField("node"), early="no graph in it")
    case("no inputs", "() => (float[2] y) { y = Constant <value = float[2] {1, 2}> () }")


def rename(model: onnx.ModelProto, taken: str, made: str) -> None:
    node = model.graph.node[0]
    node.input[0] = model.graph.input[0].name = taken
    node.output[0] = model.graph.output[0].name = made


def other_alphabets(model: onnx.ModelProto) -> None:
    rename(model, "eingabe ä/模型:0", 'ö"\\')
    model.graph.node[0].name = "узел 😀"


def one_name(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.name = "same"


for rows in (low_bits, rare_types, versions, control_flow, large_attributes, not_numbers, operators_of_others, names):
    rows()
