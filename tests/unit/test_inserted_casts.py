"""Casts that ONNX Runtime inserts for the CPU do not reach providers that compute in 16 bits."""

import re
from collections import Counter
from pathlib import Path

import onnx
import onnx.printer
import onnxruntime

from packager.compile import inserted_casts
from packager.compile.converter import ConversionJob, convert
from packager.compile.shared import share
from tests.cases.onnx_text import onnx_model, saved

AROUND_A_NODE = """(float16[2] x) => (float16[2] y) {
    [InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast <to = 1> (x)
    InsertedPrecisionFreeCast_y = HardSigmoid (InsertedPrecisionFreeCast_x)
    [InsertedPrecisionFreeCast_y] y = Cast <to = 10> (InsertedPrecisionFreeCast_y)
}"""
IN_A_BRANCH = """(bool c, float16[2] x) => (float16[2] y) {
    [InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast <to = 1> (x)
    y = If (c) <
        then_branch = t () => (float16[2] p) {
            InsertedPrecisionFreeCast_p = HardSigmoid (InsertedPrecisionFreeCast_x)
            [InsertedPrecisionFreeCast_p] p = Cast <to = 10> (InsertedPrecisionFreeCast_p)
        },
        else_branch = e () => (float16[2] q) { q = Identity (x) }
    >
}"""
OF_THE_MODEL = """(float16[2] x) => (float[2] y) {
    [own] InsertedPrecisionFreeCast_x = Cast <to = 1> (x)
    y = HardSigmoid (InsertedPrecisionFreeCast_x)
}"""
MERGED = """(float16[2] x) => (float[2] y) {
    [InsertedPrecisionFreeCast_x] InsertedPrecisionFreeCast_x = Cast <to = 1> (x)
    y = HardSigmoid (InsertedPrecisionFreeCast_x)
}"""
"""The model itself casts the result to 32 bits; ONNX Runtime removed that together with its own cast back to 16."""


def removed(graph: str, folder: Path) -> onnx.ModelProto | None:
    model = onnx.shape_inference.infer_shapes(onnx_model(graph))
    source, output = saved(folder / "basic.onnx", model), folder / "clean.onnx"
    assert inserted_casts.remove(source, output) == output.exists()
    return onnx.load(output) if output.exists() else None


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


def test_values_are_in_16_bits_again_in_branches_too(tmp_path: Path) -> None:
    model = removed(AROUND_A_NODE, tmp_path)
    assert model is not None
    assert operators(model) == ["HardSigmoid"]
    onnx.checker.check_model(model, full_check=True)
    (node,) = model.graph.node
    assert (list(node.input), list(node.output)) == (["x"], ["y"])
    onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    model = removed(IN_A_BRANCH, tmp_path)
    assert model is not None
    assert operators(model) == ["If"]
    onnx.checker.check_model(model, full_check=True)
    branch = next(attribute.g for attribute in model.graph.node[0].attribute if attribute.name == "then_branch")
    assert Counter(node.op_type for node in branch.node) == Counter(["HardSigmoid"])


def test_casts_of_the_model_and_those_that_cannot_go_alone_stay(tmp_path: Path) -> None:
    assert removed(OF_THE_MODEL, tmp_path) is None
    raw = saved(tmp_path / "scratch" / "raw.onnx", onnx_model(MERGED))
    job = ConversionJob(
        graph=str(raw),
        data_folder=str(tmp_path),
        output=str(tmp_path / "m.onnx"),
        scratch=str(tmp_path / "scratch"),
        source_bytes=raw.stat().st_size,
        is_unfused=True,
        raw=str(raw),
    )
    convert(job)
    assert operators(onnx.load(tmp_path / "m.onnx")) == ["Cast", "HardSigmoid"]


def test_casts_that_onnx_runtime_inserted_get_names_that_no_runtime_gives_again(tmp_path: Path) -> None:
    graph = """(float16[2] x) => (float16[2] y) {
        InsertedPrecisionFreeCast_x = Cast <to = 1> (x)
        InsertedPrecisionFreeCast_r = Relu (InsertedPrecisionFreeCast_x)
        y = Cast <to = 10> (InsertedPrecisionFreeCast_r)
    }"""
    model = onnx.shape_inference.infer_shapes(onnx_model(graph))
    output = tmp_path / "cast.onnx"
    share(saved(tmp_path / "basic.onnx", model), None, output)
    text = onnx.printer.to_text(onnx.load(output))
    assert "InsertedPrecisionFreeCast" not in text
    assert re.search(r"Cast_r\s*=\s*Relu\s*\(Cast_x\)", text)
    assert len(onnx.load(output).graph.value_info) == 2
    onnx.checker.check_model(onnx.load(output), full_check=True)
