"""Absurd inputs: a clear error with the matching exit code, or an ordinary build."""

from pathlib import Path

import onnx
import pytest

from packager import models
from packager.core.errors import ConfigError, ModelError
from packager.runtimes.operators import parse_config
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, onnx_model, saved, weight

__all__ = ["mobpack"]

DYNAMIC = "(float[n, 64] x) => (float[n, 8] y) { y = MatMul (x, w) }"


def dynamic() -> onnx.ModelProto:
    return onnx_model(DYNAMIC, weights={"w": weight(64, 8)})


def huge(proto: onnx.ModelProto, size: int) -> onnx.ModelProto:
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = size
    return proto


@pytest.mark.parametrize("size", [2**31, 2**62, 10**19, 10**400, "9" * 5000])
def test_a_size_that_no_array_has_is_refused_where_it_is_given(mobpack: Mobpack, tmp_path: Path, size: object) -> None:
    saved(tmp_path / "m.onnx", dynamic())
    answer = mobpack("check", "m.onnx", "--shape", f"n={size}")
    assert answer.code == ConfigError.EXIT_CODE
    assert "mobpack's own" not in answer.err
    (tmp_path / "mobpack.toml").write_text(
        f'[package]\nname = "m"\n[model.m]\npath = "m.onnx"\nshapes = {{ n = {size} }}\n[target.ios]\n',
        encoding="utf-8",
    )
    answer = mobpack("check")
    assert answer.code == ConfigError.EXIT_CODE
    assert "mobpack's own" not in answer.err


@pytest.mark.parametrize("size", [2**25, 2**62, 2**63 - 1])
def test_a_model_with_more_numbers_than_an_array_holds_is_refused(mobpack: Mobpack, tmp_path: Path, size: int) -> None:
    """2^25 rows of 64 numbers are 2^31."""
    saved(tmp_path / "m.onnx", huge(dynamic(), size))
    for command in ("check", "build -t ios", "quantize -q dynamic", "convert"):
        answer = mobpack(*command.split(), "m.onnx")
        assert answer.code == ModelError.EXIT_CODE, answer.err
        assert f"'x' has the shape [{size}, 64], and no array of an app holds more than 2,147,483,647" in answer.err
    assert "and no array of an app holds more" in mobpack("inspect", "m.onnx").out


def test_the_largest_array_is_not_refused(tmp_path: Path) -> None:
    model = models.load(saved(tmp_path / "m.onnx", huge(dynamic(), 2**25 - 1)), "m")
    assert models.blockers(model) == ()


def test_a_release_whose_manifest_is_absurd_is_no_release(mobpack: Mobpack, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text("[" * 5000 + "]" * 5000, encoding="utf-8")
    saved(tmp_path / "m.onnx", linear())
    answer = mobpack("build", "m.onnx", "-t", "ios")
    assert answer.code == ConfigError.EXIT_CODE
    assert "exists and is not a mobpack release" in answer.err


def test_a_folder_with_the_manifest_of_another_program_stays_as_it_is(mobpack: Mobpack, tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text('{"name": "a web app", "icons": []}', encoding="utf-8")
    saved(tmp_path / "m.onnx", linear())
    answer = mobpack("build", "m.onnx", "-t", "ios")
    assert answer.code == ConfigError.EXIT_CODE
    assert "exists and is not a mobpack release" in answer.err
    assert [path.name for path in (tmp_path / "dist").iterdir()] == ["manifest.json"]


def test_an_operator_configuration_with_thousands_of_nested_types_is_refused() -> None:
    with pytest.raises(ConfigError, match="types are nested too deeply"):
        parse_config('ai.onnx;13;Add{"inputs": ' + "[" * 5000 + "]" * 5000 + "}\n", "ops.config")
