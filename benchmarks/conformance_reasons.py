"""Verifies refusals of ONNX's test cases: the reason in the message is looked up in the model itself."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import ModelProto, TypeProto

NOT_CARRIED = re.compile(r"^'(?P<name>.+)' is not a tensor of a type that mobile APIs carry")
NO_EQUIVALENT = re.compile(r"operator (?P<operator>\w+) of opset (?P<opset>\d+) has no equivalent")
INTEGERS = tuple(f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
CARRIED = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL", "STRING", *INTEGERS)
"""Element types of ONNX Runtime's APIs for Java, Objective-C and JavaScript."""
KINDS = {
    "sequence_type": "a sequence as input or output",
    "optional_type": "an optional value as input or output",
    "map_type": "a map as input or output",
    "sparse_tensor_type": "a sparse tensor as input or output",
}


def reason_of(words: str, model: "ModelProto") -> str:
    """Class of the refusal `words` of a model that ONNX Runtime runs; empty if the model does not have that fault."""
    if found := NO_EQUIVALENT.search(words):
        has_it = any(node.op_type == found["operator"] for node in model.graph.node)
        is_old = any(not each.domain and each.version == int(found["opset"]) for each in model.opset_import)
        return f"a contract beside {found['operator']} of opset {found['opset']}" if has_it and is_old else ""
    found = NOT_CARRIED.match(words)
    values = {value.name: value.type for value in (*model.graph.input, *model.graph.output)}
    return _why_not_carried(values[found["name"]]) if found and found["name"] in values else ""


def _why_not_carried(kind: "TypeProto") -> str:
    from onnx import TensorProto

    field = kind.WhichOneof("value")
    if field != "tensor_type":
        return KINDS.get(field or "", "")
    element = TensorProto.DataType.Name(kind.tensor_type.elem_type)
    return "" if element in CARRIED else f"{element.lower()} as input or output"
