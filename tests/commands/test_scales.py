"""Scales of the version before: kept where the new weights fit, refused where they mean something else."""

import json
import zipfile
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

from packager.distribution import deltas
from tests.cases import onnx_text
from tests.cases.caches import empty_cache
from tests.cases.cli import Mobpack, mobpack
from tests.cases.scales import STATIC, net, project

__all__ = ["mobpack"]


def test_a_release_has_the_scales_with_which_the_next_one_is_quantized(tmp_path: Path, mobpack: Mobpack) -> None:
    first = project(tmp_path, net(), STATIC)
    answer = mobpack("build", "--config", str(first), "--out", str(tmp_path / "released"))
    assert answer.code == 0, answer.err
    manifest = json.loads((tmp_path / "released" / "manifest.json").read_text(encoding="utf-8"))
    (entry,) = manifest["scales"]
    assert entry["path"] == "scales/m.int8.safetensors"
    assert mobpack("verify", str(tmp_path / "released")).code == 0
    scales_of = tmp_path / "released" / entry["path"]
    content = scales_of.read_bytes()
    scales_of.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    answer = mobpack("verify", str(tmp_path / "released"))
    assert (answer.code, entry["path"] in answer.err) == (6, True), answer.err
    scales_of.write_bytes(content)

    project(tmp_path, net(1e-3), STATIC + 'scales-from = "released"')
    answer = mobpack("build", "--config", str(first), "--out", str(tmp_path / "dist"))
    assert answer.code == 0, answer.err
    text = (tmp_path / "dist" / "manifest.json").read_text(encoding="utf-8")
    (entry,), (file,) = json.loads(text)["scales"], json.loads(text)["compiled"]
    assert entry["from-sha256"] == manifest["scales"][0]["sha256"]
    assert 0.9 * entry["count"] < entry["kept"] <= entry["count"]
    assert f"{entry['kept']} of {entry['count']} scales kept" in answer.err
    assert str(tmp_path) not in text
    assert json.loads(text)["options"]["variant"]["int8"]["scales-from"] == "released"
    report = json.loads((tmp_path / "dist" / "report.json").read_text(encoding="utf-8"))
    assert report["files"][0]["scales"]["kept"] == entry["kept"]
    assert "scales kept" in (tmp_path / "dist" / "report.html").read_text(encoding="utf-8")
    assert len(deltas.make(shipped(tmp_path / "released"), shipped(tmp_path / "dist"))) < 0.2 * file["size-bytes"]


def shipped(dist: Path) -> Path:
    """The model file in the Swift package."""
    with zipfile.ZipFile(next((dist / "swift").glob("vision-*.zip"))) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".ort")]
        path = dist.with_suffix(".ort")
        path.write_bytes(archive.read(name))
    return path


def test_the_command_writes_and_keeps_scales(tmp_path: Path, mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "bare", without=("arm64",))))
    options = ("-q", "dynamic", "--no-report", "--force")
    onnx_text.saved(tmp_path / "one.onnx", net())
    onnx_text.saved(tmp_path / "two.onnx", net(1e-3))
    answer = mobpack("quantize", "one.onnx", *options, "--scales", "one.scales")
    assert answer.code == 0, answer.err
    assert answer.out.split() == ["one-dynamic.onnx", "one.scales"] or "one.scales" in answer.out
    answer = mobpack("quantize", "two.onnx", *options, "--set", 'scales-from="one.scales"', "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)["scales"]
    assert 0 < found["kept"] <= found["count"]
    old, new = (
        {each.name: each for each in onnx.load(f"{name}-dynamic.onnx").graph.initializer} for name in ("one", "two")
    )
    assert old["g_scale"] == new["g_scale"]
    assert old["g_quantized"].data_type == TensorProto.INT8


def test_auto_searches_with_the_scales_that_it_will_keep(tmp_path: Path, mobpack: Mobpack) -> None:
    auto = 'quantizer = "auto"\nmetric = "cosine"\nmax-drop = 0.1\nmethods = ["minmax"]\ncalibration = "samples.npz"\n'
    file = project(tmp_path, net(), auto)
    assert mobpack("build", "--config", str(file), "--out", str(tmp_path / "released")).code == 0
    project(tmp_path, net(1e-3), auto + 'scales-from = "released/scales"')
    answer = mobpack("build", "--config", str(file), "--out", str(tmp_path / "dist"))
    assert answer.code == 0, answer.err
    (entry,) = json.loads((tmp_path / "dist" / "manifest.json").read_text(encoding="utf-8"))["scales"]
    assert entry["kept"] > 0.9 * entry["count"]
