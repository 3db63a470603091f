"""Imports without another framework: refusals, ONNX of old versions, samples, layouts and names."""

from pathlib import Path

import numpy
import onnx
import onnx.helper
import pytest

from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError
from packager.files.store import Store
from packager.workflows.importing import run
from tests.cases.imported import old_model, request
from tests.cases.onnx_text import onnx_model


def test_an_old_model_is_raised_and_says_where_it_is_from(tmp_path: Path) -> None:
    old_model(tmp_path)
    result = run(request(tmp_path, "old.onnx"), Store(tmp_path / "store"), Console(quiet=True))
    made = onnx.load(result.files[0])
    assert (made.ir_version, made.opset_import[0].version) == (8, 18)
    assert [each.name for each in made.graph.input] == ["x"]
    assert result.errors[0].max_share < 0.1
    assert result.origin.startswith("old.onnx, imported from ONNX Runtime")
    assert made.metadata_props[0].value == result.origin
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["model.onnx"]


def test_outputs_of_nan_alone_are_not_called_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "(float[2, 3] x) => (float[2, 3] y, float[2, 3] z) { a = Abs (x) n = Neg (a) y = Sqrt (n) z = Neg (x) }"
    (tmp_path / "old.onnx").write_bytes(onnx_model(text, opsets={"": 9}).SerializeToString())
    result = run(request(tmp_path, "old.onnx"), Store(tmp_path / "store"), Console())
    assert [each.percent for each in result.errors] == ["not compared", "0 %"]
    said = "output 'y' is empty, NaN or infinite on every sample: it was not compared"
    assert said in "".join(capsys.readouterr())
    result.files[0].unlink()
    with pytest.raises(ModelError, match="--strict: 1 warning"):
        run(request(tmp_path, "old.onnx", is_strict=True), Store(tmp_path / "store"), Console(quiet=True))
    assert not result.files[0].exists()


@pytest.mark.parametrize(
    ("text", "opset"),
    [
        ("(float[1, 3, 8, 8] x, float[4] s) => (float[1, 3, h, w] y) { y = Resize (x, s) }", 10),
        ("(float[1, 3, 8, 8] x, float[4] s) => (float[1, 3, h, w] y) { y = Resize (x, , s) }", 13),
        ("(float[1, 3, 8, 8] x, float[4] s) => (float[1, 3, h, w] y) { y = Upsample (x, s) }", 9),
        ("(float[1, 64] x) => (float[1, 64] y) { y = Log (x) }", 9),
    ],
)
def test_random_inputs_are_what_the_operators_take(tmp_path: Path, text: str, opset: int) -> None:
    (tmp_path / "old.onnx").write_bytes(onnx_model(text, opsets={"": opset}).SerializeToString())
    asked = request(tmp_path, "old.onnx", is_strict=True, keep=tmp_path / "kept")
    result = run(asked, Store(tmp_path / "store"), Console(quiet=True))
    assert [each.percent for each in result.errors] == ["0 %"]
    recorded = list((tmp_path / "kept" / "recorded").glob("*.npz"))
    assert recorded
    for sample in recorded:
        assert numpy.isfinite(numpy.load(sample)["y"]).all()


def test_samples_of_the_user_are_compared_instead_of_random_ones(tmp_path: Path) -> None:
    old_model(tmp_path)
    (tmp_path / "samples").mkdir()
    numpy.savez(tmp_path / "samples" / "one.npz", x=numpy.ones((1, 3, 8, 8), numpy.float32))
    made = run(request(tmp_path, "old.onnx", samples=Path("samples")), Store(tmp_path / "store"), Console(quiet=True))
    assert len(made.sizes) == 1
    numpy.savez(tmp_path / "samples" / "two.npz", x=numpy.ones((1, 3, 8, 9), numpy.float32))
    with pytest.raises(ConfigError, match=r"two\.npz: 'x' is float32 \[1, 3, 8, 9\]; the model takes float32"):
        run(request(tmp_path, "old.onnx", samples=Path("samples")), Store(tmp_path / "store"), Console(quiet=True))


def test_a_failed_import_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "old.onnx").write_bytes(b"\x08\x03 not a model")
    with pytest.raises(ModelError, match=r"old\.onnx: not an ONNX model"):
        run(request(tmp_path, "old.onnx"), Store(tmp_path / "store"), Console(quiet=True))
    assert not (tmp_path / "made").exists()
