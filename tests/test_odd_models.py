"""Unusual models: few bits, rare types, old and new versions, control flow, strings, sequences, operators of others.

Each ships and loads in the runtime that packages depend on, with the original's numbers, or is refused with the reason
before anything is written. `CASES` says which, for each `format` of a target.
"""

import json
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from packager import models, plan, tools
from packager.cli import main
from packager.environments import ensure
from packager.environments.runtime import Runtime
from packager.errors import ModelError
from packager.models.opsets import max_ir_version, max_opset
from packager.models.weights import size_of
from packager.ortformat.refusals import explain, hint_for
from packager.partition import kernels
from packager.store import Store
from packager.targets.android import Android
from packager.values import Compiled, Plan, Style
from tests.caches import empty_cache
from tests.onnx_text import loaded, onnx_model, saved, weight

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
    """False for inputs that numpy has no type for"""
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
    case("function of itself", twice, opsets=OWN, functions=recursive, early="must not be recursive")
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
        add=lambda model: model.graph.initializer.append(model.graph.initializer[0]),
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


for rows in (low_bits, rare_types, versions, control_flow, not_numbers, operators_of_others, names):
    rows()

Row = tuple[str, Wanted]


def is_shipped(row: Row) -> bool:
    return CASES[row[0]].expected[row[1]] in ("ort", "onnx")


ROWS: list[Row] = [(name, wanted) for name, each in CASES.items() for wanted in each.expected]
SHIPPED = [row for row in ROWS if is_shipped(row)]
REFUSED = [row for row in ROWS if not is_shipped(row)]


def planned(folder: Path, name: str, wanted: Wanted) -> Plan:
    """As a build plans it for Android; the store lies in `folder`."""
    described = loaded(folder, CASES[name].model)
    models.refuse_blocked(described)
    target = Android(providers=CASES[name].providers, format=wanted)
    store = Store(folder / "store")
    return plan.make(plan.variant_of(described, "source", "none"), target, store, lambda text: None)


PROGRAM = """\
import json, sys
import numpy, onnxruntime

answers = {}
for index, (model, entries, samples) in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["files"]):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"], enable_fallback=0)
        answers[model] = ""
        if samples:
            arrays = numpy.load(samples)
            arrays = [arrays[str(i)] for i in range(len(arrays.files))]
            arrays = [each.astype(object) if each.dtype.kind == "U" else each for each in arrays]
            made = session.run(None, {value.name: each for value, each in zip(session.get_inputs(), arrays)})
            made = [each.astype(str) if each.dtype.kind == "O" else each for each in map(numpy.asarray, made)]
            numpy.savez(model + ".npz", **{str(i): each for i, each in enumerate(made)})
    except Exception as error:
        answers[model] = str(error)
print(json.dumps(answers))
"""


def samples(model: onnx.ModelProto) -> list[Any]:
    """An input for every input of the graph that is no initializer."""
    random = numpy.random.default_rng(1)
    constants = {tensor.name for tensor in model.graph.initializer}
    made = []
    for value in model.graph.input:
        shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        element = value.type.tensor_type.elem_type
        if value.name in constants:
            continue
        if element == TensorProto.STRING:
            made.append(numpy.array(["a", "ü"][: shape[0]], object))
        elif element in (TensorProto.FLOAT, TensorProto.DOUBLE):
            made.append(numpy.asarray(random.standard_normal(shape), helper.tensor_dtype_to_np_dtype(element)))
        else:
            made.append(numpy.ones(shape, helper.tensor_dtype_to_np_dtype(element)))
    return made


def run_original(model: onnx.ModelProto) -> list[Any]:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.ir_version = min(copy.ir_version, max_ir_version())
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {value.name: each for value, each in zip(session.get_inputs(), samples(model), strict=True)}
    return [numpy.asarray(each) for each in session.run(None, feed)]


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    plans: Mapping[Row, Plan | ModelError]
    """case and format -> the plan, or the refusal"""
    loads: Mapping[str, str]
    """path of a file -> why it does not load or run in the runtime that ships; empty when it does"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every case in every format: planned in two threads, then all files loaded and run by one process."""
    root = tmp_path_factory.mktemp("odd")
    ensure(Runtime())

    def plans_of(index: int, name: str) -> dict[Row, Plan | ModelError]:
        folder = root / str(index)
        return {(name, wanted): planned_or_refused(folder, name, wanted) for wanted in CASES[name].expected}

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(plans_of, range(len(CASES)), CASES))
    plans = {key: each for part in parts for key, each in part.items()}
    return Outcomes(plans=plans, loads=run_all(root, plans))


def planned_or_refused(folder: Path, name: str, wanted: Wanted) -> Plan | ModelError:
    """A file that is not meant to load is opened in the runtime as a build opens it, for its refusal."""
    try:
        made = planned(folder, name, wanted)
        if not is_shipped((name, wanted)):
            kernels.prove(made.cpu, folder)
    except ModelError as error:
        return error
    return made


def run_all(folder: Path, plans: Mapping[Row, Plan | ModelError]) -> dict[str, str]:
    files: dict[str, tuple[str, dict[str, str], str]] = {}
    for index, ((name, _), made) in enumerate(plans.items()):
        if isinstance(made, ModelError):
            continue
        inputs = folder / f"{index}.npz"
        if CASES[name].is_run:
            arrays = [each.astype(str) if each.dtype.kind == "O" else each for each in samples(CASES[name].model)]
            numpy.savez(inputs, **{str(i): each for i, each in enumerate(arrays)})
        for compiled in made.files:
            entries = {**kernels.ARM_ENTRIES, **compiled.settings}
            files[str(compiled.path)] = (str(compiled.path), entries, str(inputs) if CASES[name].is_run else "")
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    runtime = Runtime()
    return tools.run_job(
        [program],
        {"files": list(files.values())},
        folder,
        crash="ONNX Runtime crashed on one of the files",
        hint="",
        command=runtime.command(),
        environment=runtime.variables(),
    )


@pytest.mark.environments
@pytest.mark.parametrize(("name", "wanted"), SHIPPED, ids=map(", ".join, SHIPPED))
def test_it_ships_and_computes_in_the_runtime_what_the_original_does(
    outcomes: Outcomes, name: str, wanted: Wanted
) -> None:
    each, made = CASES[name], outcomes.plans[name, wanted]
    assert isinstance(made, Plan), f"{made}"
    assert {compiled.format for compiled in made.files if wanted != "auto"} <= {wanted}
    assert made.cpu.format == each.expected[wanted]
    expected = run_original(each.model) if each.is_run else []
    for compiled in made.files:
        assert outcomes.loads[str(compiled.path)] == ""
        assert set(kernels.graph_of(compiled).outputs) == {value.name for value in each.model.graph.output}
        if each.is_run:
            assert_same(compiled, expected, each.tolerance)


def assert_same(compiled: Compiled, expected: list[Any], tolerance: float) -> None:
    with numpy.load(f"{compiled.path}.npz") as arrays:
        actual = [arrays[str(index)] for index in range(len(arrays.files))]
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        if other.dtype.kind == "O":
            assert one.tolist() == other.tolist()
        else:
            largest = max(1.0, float(numpy.abs(other).max(initial=0.0)))
            numpy.testing.assert_allclose(one, other, rtol=0.0, atol=tolerance * largest)


@pytest.mark.environments
@pytest.mark.parametrize("name", [name for name, each in CASES.items() if each.reason])
def test_the_plan_says_why_it_ships_as_onnx(outcomes: Outcomes, name: str) -> None:
    made = outcomes.plans[name, "auto"]
    assert isinstance(made, Plan)
    assert {choice.reason for choice in made.choices} == {CASES[name].reason}
    assert [compiled.style for compiled in made.files] == [Style.PLAIN]


@pytest.mark.environments
@pytest.mark.parametrize(("name", "wanted"), REFUSED, ids=map(", ".join, REFUSED))
def test_it_is_refused_with_the_reason_and_what_to_do(outcomes: Outcomes, name: str, wanted: Wanted) -> None:
    refusal = outcomes.plans[name, wanted]
    assert isinstance(refusal, ModelError)
    with pytest.raises(ModelError, match=CASES[name].expected[wanted]):
        raise refusal
    assert refusal.hint


@pytest.mark.parametrize("name", [name for name, each in CASES.items() if each.early])
def test_what_the_graph_itself_tells_is_refused_before_anything_is_converted(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match=CASES[name].early) as error:
        models.refuse_blocked(loaded(tmp_path, CASES[name].model))
    assert error.value.hint


@pytest.fixture(scope="module")
def four_bits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("four_bits")


def test_four_bit_weights_outside_blocks_ship_as_one_onnx_file_for_all(four_bits: Path) -> None:
    made = planned(four_bits, "int4 per tensor", "auto")
    assert [(choice.provider, choice.compiled.style) for choice in made.choices] == [
        ("xnnpack", Style.PLAIN),
        ("nnapi", Style.PLAIN),
        ("cpu", Style.PLAIN),
    ]
    assert {choice.reason for choice in made.choices} == {CASES["int4 per tensor"].reason}
    assert made.cpu.size_bytes < 1.5 * made.model.size_bytes
    assert made.cpu.settings == plan.NO_PACKING


def test_four_bit_weights_outside_blocks_are_refused_where_nothing_but_ort_may_ship(four_bits: Path) -> None:
    with pytest.raises(ModelError, match="the model has 4-bit weights that ORT format cannot hold") as error:
        planned(four_bits, "int4 per tensor", "ort")
    assert error.value.hint == (
        'ship it as ONNX: format = "auto" or "onnx"; weights of MatMul that are quantized in blocks fit'
    )


def test_a_provider_gets_the_cpus_file_where_its_unfused_graph_does_not_fit_ort_format(tmp_path: Path) -> None:
    made = planned(tmp_path, "int4 in blocks", "ort")
    assert [compiled.style for compiled in made.files] == [Style.FIXED]
    reasons = {choice.provider: choice.reason for choice in made.choices}
    assert reasons["nnapi"] == "the CPU's file: unfused, the graph has 4-bit weights that ORT format cannot hold"


@pytest.mark.parametrize(("element", "size_bytes"), [("FLOAT8E5M2", 4096), ("FLOAT4E2M1", 2048), ("UINT2", 1024)])
def test_a_data_file_that_ends_within_weights_of_few_bits_is_refused(
    tmp_path: Path, element: str, size_bytes: int
) -> None:
    model = onnx_model(PER_TENSOR, opsets={"": 25}, ir_version=13, weights=SCALE)
    number = TensorProto.DataType.Value(element)
    tensor = model.graph.initializer.add(name="w", data_type=number, dims=[64, 64], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.data")
    (tmp_path / "w.data").write_bytes(bytes(size_bytes - 1))
    with pytest.raises(ModelError, match=f"{size_bytes - 1:,} bytes, but tensor 'w' reaches to byte {size_bytes:,}"):
        loaded(tmp_path, model)


def test_what_cannot_be_held_is_tried_once_for_all_providers(tmp_path: Path) -> None:
    described = loaded(tmp_path, CASES["int4 for Gather"].model)
    said: list[str] = []
    target = Android(providers=("xnnpack", "nnapi"))
    plan.make(plan.variant_of(described, "source", "none"), target, Store(tmp_path / "store"), said.append)
    assert said.count("convert m (source, fixed)") == 1


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("unknown domain", "operators of acme are not in ONNX Runtime's mobile packages: acme::Magic", "functions of"),
        (NEWER_OPSET, f"{NEWER_OPSET} is newer than the runtime knows", f"opset_version={max_opset()}"),
        ("sequence outputs", "'y' is not a tensor of a type that mobile APIs carry", "cast it inside the graph"),
        ("int4 per tensor", "the model has 4-bit weights that ORT format cannot hold", 'format = "auto" or "onnx"'),
        ("training", "Adagrad(-1) is not a registered function/op", "export for inference"),
    ],
)
def test_a_refused_build_leaves_the_output_folder_as_it_was(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    name: str,
    message: str,
    hint: str,
) -> None:
    saved(tmp_path / "m.onnx", CASES[name].model)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text(json.dumps({"mobpack": "0.0.1"}), encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / ".cache")))
    monkeypatch.chdir(tmp_path)
    arguments = ["m.onnx", "--target", "android", "--set", "target.android.format=ort"]
    monkeypatch.setattr(sys, "argv", ["mobpack", "build", *arguments])
    with pytest.raises(SystemExit) as exited:
        main()
    printed = " ".join(capfd.readouterr().err.split())
    assert exited.value.code == ModelError.EXIT_CODE
    assert message in printed
    assert hint in printed.partition("hint: ")[2]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", "dist", "m.onnx"]
    assert [path.read_text(encoding="utf-8") for path in (tmp_path / "dist").iterdir()] == ['{"mobpack": "0.0.1"}']


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Relu(14) node",
            "Could not find an implementation for Relu(14) node",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Exception during initialization: /a/b.cc:235 onnxruntime::A::B::"
            "B(const std::string&)::<lambda()> Failed to construct locale with name:xx_XX: please",
            "Exception during initialization: Failed to construct locale with name:xx_XX: please",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : /a/b.h:46 void onnxruntime::check(const std::map<int, int>&, "
            "std::function<void(int)>) const [with T = int] opset 9 (of x) is under development",
            "opset 9 (of x) is under development",
        ),
        ("1 : FAIL : proto.cc:1609 Validate Initializer 'w': count (4)", "Initializer 'w': count (4)"),
        ("a text of its own", "a text of its own"),
        ("/a/b.cc:1 onnxruntime::cut(int", "(int"),
    ],
)
def test_refusals_of_onnx_runtime_are_told_without_its_source_lines(error: str, said: str) -> None:
    assert explain(error) == said


def test_a_refusal_without_advice_of_its_own_points_to_inspect() -> None:
    assert hint_for("something else") == "mobpack inspect shows what the model uses"
