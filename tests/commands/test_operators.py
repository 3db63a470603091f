"""Operators and types of a reduced runtime: equal to ONNX Runtime's own tool, without paths, in one order."""

from pathlib import Path
from typing import Any

import pytest
from onnxruntime.tools.ort_format_model import create_config_from_models
from onnxruntime.tools.reduced_build_config_parser import parse_config

from packager.compile.operators import operator_config, required_operators
from packager.core.values import Compiled
from tests.cases.onnx_text import compiled, onnx_model, weight

# Both have a Cast and a OneHot, each with other types.
VISION = """(float[1, 3, 4, 4] x) => (float[1, 8] y, int64[1] best, int32[1] small, int64[1, 5] hot) {
    a = Conv (x, w)
    b = Relu (a)
    c = GlobalAveragePool (b)
    y = Flatten (c)
    best = ArgMax <axis = 1, keepdims = 0> (y)
    small = Cast <to = 6> (best)
    depth = Constant <value = int64[1] {5}> ()
    values = Constant <value = int64[2] {0, 1}> ()
    hot = OneHot (best, depth, values)
}"""
TEXT = """(int64[4] ids, float[10, 4] table, string[2] words) => (double[4, 4] y, float[?, 5] hot, string[2] same) {
    rows = Gather (table, ids)
    y = Cast <to = 11> (rows)
    depth = Constant <value = int64[1] {5}> ()
    values = Constant <value = float[2] {0.0, 1.0}> ()
    hot = OneHot (ids, depth, values)
    same = Identity (words)
}"""


def config_of(paths: list[Path]) -> str:
    return operator_config([required_operators(path) for path in paths])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Compiled]:
    folder = tmp_path_factory.mktemp("pair")
    return [
        compiled(folder, onnx_model(VISION, weights={"w": weight(8, 3, 2, 2)}), "vision"),
        compiled(folder, onnx_model(TEXT), "text"),
    ]


def as_the_build_reads_it(path: Path) -> tuple[Any, list[str], dict[tuple[str, str], bool]]:
    """The required operators, the C++ type lists, and which kernels would be registered for a type."""
    required, types = parse_config(str(path), enable_type_reduction=True)
    operators = {(domain, op) for domain in required for ops in required[domain].values() for op in ops}
    registered = {
        (op, element): types.is_typed_registration_needed(domain, op, element)
        for domain, op in operators
        for element in ("float", "double", "int32_t", "int64_t", "int8_t")
    }
    return required, types.get_cpp_entries(), registered


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # their tool leaves files open
def test_the_union_of_two_models_is_what_onnx_runtimes_own_tool_says(pair: list[Compiled], tmp_path: Path) -> None:
    paths = [each.path for each in pair]
    create_config_from_models(paths, tmp_path / "theirs.config", enable_type_reduction=True)
    (tmp_path / "ours.config").write_text(config_of(paths), encoding="utf-8")
    ours, theirs = as_the_build_reads_it(tmp_path / "ours.config"), as_the_build_reads_it(tmp_path / "theirs.config")
    assert ours == theirs
    assert {"OneHot", "ArgMax", "Cast"} <= {op for ops in ours[0]["ai.onnx"].values() for op in ops}


def test_the_text_does_not_depend_on_the_order_or_folder_of_the_models(pair: list[Compiled], tmp_path: Path) -> None:
    copies = []
    for number, each in enumerate(reversed(pair)):
        copies.append(tmp_path / f"{number}.ort")
        copies[-1].write_bytes(each.path.read_bytes())
    text = config_of([each.path for each in pair])
    assert config_of(copies) == text
    assert "/" not in text
    assert text.endswith("\n")


def test_a_model_named_twice_changes_nothing(pair: list[Compiled]) -> None:
    assert config_of([pair[0].path, pair[0].path]) == config_of([pair[0].path])


def test_types_reach_the_configuration(pair: list[Compiled]) -> None:
    text = config_of([pair[1].path])
    assert 'Cast{"inputs": {"0": ["float"]}, "outputs": {"0": ["double"]}}' in text
    assert "float16" not in text


def test_operators_of_a_compiled_model_are_those_of_its_configuration(pair: list[Compiled]) -> None:
    for each in pair:
        lines = [line for line in config_of([each.path]).splitlines() if not line.startswith("#")]
        from_text = {f"{domain};{opset}" for domain, opset, _ in (line.split(";", 2) for line in lines)}
        assert from_text == {key.rpartition(";")[0] for key in each.operators}
        assert all(key.rpartition(";")[2] + types in config_of([each.path]) for key, types in each.operators.items())
