"""Float16: ONNX's own cases for all operators open in 16 bits where they open in 32."""

from contextlib import suppress
from pathlib import Path

import onnx
from onnx import TensorProto

from benchmarks.conformance_cases import collected
from packager.core.errors import ModelError
from packager.engines.session.refusals import is_refusal
from packager.graph.rewriting.draft import Draft
from packager.quantizers.float16 import Float16
from tests.cases.onnx_text import onnx_model
from tests.cases.rewriting_cases import session

WITHOUT_CASE = (
    "(float[4,6] x) => (float[4,6] y) { a = Constant <value = int64 {1}> () y = CumSum (x, a) }",
    "(float[4,6] x) => (float[4,6] y) { a = Constant <value = int64 {1}> () y = CumProd (x, a) }",
    '(float[4,6] x) => (float[4,4] y) { y = Einsum <equation = "ab,cb->ac"> (x, x) }',
    "(float[1,2,6,6] x) => (float[1,2,1,1] y) { y = GlobalLpPool (x) }",
    "(float[1,2,6,6] x, float[1,5] r) => (float[1,2,2,2] y) { y = MaxRoiPool <pooled_shape = [2, 2]> (x, r) }",
    "(float[2,4] x) => (int32[2,3] y) { y = Multinomial <sample_size = 3> (x) }",
    "(float[4,6] x) => (int64[2,n] y) { y = NonZero (x) }",
    "(float[4,6] x) => (float[4,6] y) { r = RandomNormal <shape = [4, 6]> () y = Add (x, r) }",
    "(float[4,6] x) => (float[4,6] y) { r = RandomNormalLike (x) y = Add (x, r) }",
    "(float[4,6] x) => (float[4,6] y) { r = RandomUniform <dtype = 1, shape = [4, 6]> () y = Add (x, r) }",
    "(float[4,6] x) => (float[4,6] y) { y = Trilu (x) }",
    """(float[4,6] x) => (float[8,6] y) {
        r = Relu (x) s = SequenceConstruct (x, r) i = SequenceInsert (s, r) y = ConcatFromSequence <axis = 0> (i)
    }""",
    """(float[4,6] x) => (float[4,6] y) {
        s = SequenceConstruct (x, x) i = Constant <value = int64 {1}> () a = SequenceAt (s, i) y = Relu (a)
    }""",
    "(float[4,6] x) => (bool[] y) { o = Optional (x) y = OptionalHasElement (o) }",
)
"""Models with the operators whose cases in ONNX's suite have no float32 value."""


def test_every_operator_of_the_standard_opens_in_16_bits() -> None:
    """ONNX's own cases for all operators: those that ONNX Runtime opens in 32 bits. Most compute in 16 afterwards."""
    models = {text: onnx_model(text, opsets={"": 26}, ir_version=12) for text in WITHOUT_CASE}
    models |= {case.name: case.model for case in collected()}
    refused, narrowed, tried = {}, set(), set()
    for name, original in models.items():
        model = openable(original) if TensorProto.FLOAT in elements(original) else None
        if model is None:
            continue
        draft = Draft(proto=onnx.shape_inference.infer_shapes(model, data_prop=True), data_folder=Path())
        with suppress(ModelError):  # without constants there is nothing that becomes smaller
            Float16().quantize(draft)
        made = onnx.load_from_string(draft.finish())
        tried |= {node.op_type for node in model.graph.node}
        narrowed |= {node.op_type for node in model.graph.node} if "_cast_to_fp16" in str(made) else set()
        if not is_opened(made):
            refused[name] = onnx.printer.to_text(made)
    assert refused == {}
    standard = {schema.name for schema in onnx.defs.get_all_schemas() if is_of_floats(schema)}
    assert sorted(standard - tried) == sorted(NOT_OPENED)
    assert len(narrowed) > 140


def is_of_floats(schema: onnx.defs.OpSchema) -> bool:
    """Whether it is an operator of ai.onnx that takes or gives float32."""
    return schema.domain == "" and any("tensor(float)" in each.types for each in (*schema.inputs, *schema.outputs))


NOT_OPENED = ("CausalConvWithState", "LinearAttention", "SwiGLU")
"""Operators of opset 27, which ONNX Runtime does not know yet."""


def openable(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """The model in the newest opset, from its own down, in which ONNX Runtime opens it."""
    newest = onnx.defs.onnx_opset_version()
    own = next((each.version for each in model.opset_import if not each.domain), newest)
    for opset in sorted({own, *(each for each in (26, 21, 13) if each < own)}, reverse=True):
        found = onnx.ModelProto()
        found.CopyFrom(model)
        found.ir_version = min(found.ir_version, 12)
        for entry in found.opset_import:
            entry.version = entry.version if entry.domain else opset
        if is_opened(found):
            return found
    return None


def is_opened(model: onnx.ModelProto) -> bool:
    try:
        session(model, is_optimized=False)
    except Exception as error:
        if not is_refusal(error):
            raise
        return False
    return True


def elements(model: onnx.ModelProto) -> set[int]:
    return {value.type.tensor_type.elem_type for value in (*model.graph.input, *model.graph.output)}
