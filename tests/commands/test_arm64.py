"""An emulated arm64 processor converts and runs models that this machine's own cannot."""

from collections import Counter
from pathlib import Path

import numpy
import onnx

from tests.cases.arm64 import FLOAT32, content, convert, saved
from tests.cases.onnx_text import onnx_model


def test_what_other_interpreters_save_with_is_refused_in_onnx_runtimes_words(tmp_path: Path) -> None:
    graph = "(bfloat16[2] x) => (bfloat16[2] y) { y = Relu (x) }"

    answer = convert(saved(tmp_path, graph, numpy.float32), tmp_path / "model.ort", None)

    assert "Could not find an implementation for Relu" in answer["error"]


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT32, numpy.float32)
    model.write_bytes(model.read_bytes()[:-100])

    assert "rotobuf" in convert(model, tmp_path / "model.ort", None)["error"]


def test_the_basic_level_fuses_nothing(tmp_path: Path) -> None:
    graph = "(float[1,3,8,8] x) => (float[1,2,8,8] y) { a = Conv <pads = [1,1,1,1]> (x, k) y = Relu (a) }"
    weights = {"k": numpy.ones((2, 3, 3, 3), numpy.float32)}
    onnx.save(onnx_model(graph, weights=weights), tmp_path / "model.onnx")

    convert(tmp_path / "model.onnx", tmp_path / "all.ort", None)
    convert(tmp_path / "model.onnx", tmp_path / "basic.ort", None, level="basic")

    assert content(tmp_path / "all.ort")[0] == Counter(FusedConv=1)
    assert content(tmp_path / "basic.ort")[0] == Counter(Conv=1, Relu=1)
