"""The zoo: models as models.toml describes them, builds measured from outside, and the page."""

from pathlib import Path

from benchmarks.zoo import building
from tests.cases.onnx_text import onnx_model, saved, weight


def test_a_model_is_built_for_all_targets_and_described(tmp_path: Path) -> None:
    net = onnx_model("(float[1, 4] x) => (float[1, 4] y) { y = MatMul (x, w) }", weights={"w": weight(4, 4)})
    model = saved(tmp_path / "net.onnx", net)
    (tmp_path / "scratch").mkdir()
    made = building.result("net", "0", "1", model, tmp_path / "scratch", limit_s=300)
    assert (made.state, made.message) == ("shipped", "")
    assert set(made.sizes) == {"aar", "swift-package", "npm-package"}
    assert made.worst_error is not None
    assert made.worst_error < 1e-5
    assert made.watched.kotlin_wall_s > 0
    assert not made.taken, "the defaults are not worth a file for a single product"
    assert building.from_json(building.to_json(made)) == made
