"""Operators of a reduced runtime are read from its configuration, as ONNX Runtime's own build reads it."""

import json
from pathlib import Path

import pytest
from onnxruntime.tools.reduced_build_config_parser import parse_config as parse_as_onnxruntime

from packager.compile.operators import operator_config
from packager.core.errors import ConfigError, ModelError
from packager.runtimes.operators import parse_config, read_config, refuse_uncovered, uncovered

FLOAT = '{"inputs": {"0": ["float"]}}'

CONFIG = """\
# written by hand
ai.onnx;13;Softmax{"inputs": {"0": ["float"]}},Concat
ai.onnx;13;Relu, Cast{"inputs": {"0": ["float", "int32_t"]}, "outputs": {"0": ["float"]}}
ai.onnx;11,13;Conv,OneHot{"custom": [["float", "int64_t", "int64_t"]]}

com.microsoft;1;FusedConv
"""


def test_operators_versions_and_types_are_those_that_onnxruntimes_build_reads(tmp_path: Path) -> None:
    path = tmp_path / "ops.config"
    path.write_text(CONFIG, encoding="utf-8")
    required, types = parse_as_onnxruntime(str(path), enable_type_reduction=True)

    config = read_config(path)

    theirs = {
        f"{domain};{opset};{op}" for domain, sets in required.items() for opset, ops in sets.items() for op in ops
    }
    assert config.operators == theirs
    for key, entry in config.types.items():
        assert json.loads(entry) == json.loads(types._manager.get_config_entry(*key.split(";")))
    assert set(config.types) == {"ai.onnx;Softmax", "ai.onnx;Cast", "ai.onnx;OneHot"}


def test_configurations_cover_their_models_in_their_versions() -> None:
    one = {"ai.onnx;13;Softmax": FLOAT, "ai.onnx;14;Reshape": ""}
    other = {"ai.onnx;13;Softmax": '{"inputs": {"0": ["double"]}}', "com.microsoft;1;FusedConv": ""}
    config = parse_config(operator_config([one, other]), "both")
    assert uncovered(one, config) == uncovered(other, config) == ()
    assert operator_config([config.required()]) == operator_config([one, other])
    (missing,) = uncovered({"ai.onnx;14;Softmax": FLOAT}, parse_config("ai.onnx;13;Softmax", "x"))
    assert missing.operator == "ai.onnx;14;Softmax"
    assert missing.types == ()
    assert missing.line == f"ai.onnx;14;Softmax{FLOAT}"


def test_operators_without_types_have_all_and_others_these_alone() -> None:
    assert uncovered({"ai.onnx;13;Softmax": FLOAT}, parse_config("ai.onnx;13;Softmax", "x")) == ()
    config = parse_config(f"ai.onnx;13;Softmax{FLOAT}", "x")
    (missing,) = uncovered({"ai.onnx;13;Softmax": '{"inputs": {"0": ["double", "float"]}}'}, config)
    assert missing.types == ("input 0: double",)
    config = parse_config('ai.onnx;11;OneHot{"custom": [["float", "int64_t", "int64_t"]]}', "x")
    (missing,) = uncovered({"ai.onnx;11;OneHot": '{"custom": [["float", "float", "int64_t"]]}'}, config)
    assert missing.types == ("custom: float/float/int64_t",)
    config = parse_config("!globally_allowed_types;float, int64_t\nai.onnx;13;Softmax,Relu", "x")
    assert uncovered({"ai.onnx;13;Softmax": FLOAT}, config) == ()
    (missing,) = uncovered({"ai.onnx;13;Relu": '{"inputs": {"0": ["double"]}}'}, config)
    assert missing.types == ("input 0: double",)


def test_files_that_are_not_understood_are_named(tmp_path: Path) -> None:
    for line in [
        "ai.onnx;13",
        "ai.onnx;thirteen;Softmax",
        "ai.onnx;13;Softmax{",
        'ai.onnx;13;Softmax{"inputs": ["float"]}',
        'ai.onnx;13;Softmax{"weights": {}}',
        "ai.onnx;13;Softmax Relu",
        "!some_new_directive",
    ]:
        with pytest.raises(ConfigError, match=r"ops\.config:2: not a line of an operator configuration"):
            parse_config(f"ai.onnx;13;Relu\n{line}\n", "ops.config")
    with pytest.raises(ConfigError, match="types both for single operators"):
        parse_config(f"!globally_allowed_types;float\nai.onnx;13;Softmax{FLOAT}", "x")
    with pytest.raises(ConfigError, match="No such file"):
        read_config(tmp_path / "none.config")
    (tmp_path / "binary.config").write_bytes(b"\xff\xfe\0")
    with pytest.raises(ConfigError, match="not a text file"):
        read_config(tmp_path / "binary.config")
    required = {"ai.onnx;13;Softmax": FLOAT}
    assert uncovered(required, parse_config("!no_ops_specified_means_all_ops_are_required\n", "x")) == ()
    assert len(uncovered(required, parse_config("# nothing\n", "x"))) == 1


def test_a_model_that_does_not_fit_is_refused_with_operator_version_types_and_remedy() -> None:
    config = parse_config(f"ai.onnx;13;Softmax{FLOAT}", "x")
    required = {"ai.onnx;11;Einsum": "", "ai.onnx;13;Softmax": '{"inputs": {"0": ["double"]}}'}

    with pytest.raises(ModelError) as caught:
        refuse_uncovered("scores", required, config)

    assert "model 'scores'" in caught.value.message
    assert "Einsum (ai.onnx 11), Softmax (ai.onnx 13) for input 0: double" in caught.value.message
    assert "mobpack runtime recipe" in caught.value.hint
    assert "ai.onnx;11;Einsum" in caught.value.hint
    refuse_uncovered("fits", {"ai.onnx;13;Softmax": FLOAT}, config)
