"""Trained models with all providers give the same bytes in any folder, with any hash seed and in any time zone."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest

from tests.cases.caches import empty_cache
from tests.cases.reproducible import beside_each_other, run
from tests.toolchain import models

PROJECT = """\
[package]
name = "page"
license = "Apache-2.0"

[model.orientation]
path = "page.onnx"

[variant.int8]
quantizer = "static-qdq"
calibration = { samples = "samples.npz", method = "entropy" }

[target.android]
providers = ["qnn", "nnapi", "xnnpack"]
variant = "int8"

[target.ios]
providers = ["coreml", "xnnpack"]

[target.react_native]
"""
"""The model in both formats, with every provider, for every target."""


@dataclass(frozen=True, kw_only=True)
class Net:
    """A trained model."""

    path: Callable[[], Path]
    name: str
    """of its input"""
    shape: tuple[int, ...]
    settings: str = ""


NETS: Mapping[str, Net] = {
    "digits": Net(path=models.digits, name="Input3", shape=(1, 28, 28), settings='[check]\ngain = "skip"\n'),
    "orientation": Net(path=models.orientation, name="x", shape=(3, 224, 224)),
}


def build(net: Net, folder: Path, environment: dict[str, str]) -> dict[str, bytes]:
    """All files of `mobpack build --emit-project`, made from nothing in `folder`."""
    folder.mkdir(parents=True)
    shutil.copy(net.path(), folder / "page.onnx")
    pictures = numpy.random.default_rng(0).standard_normal((8, *net.shape)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", allow_pickle=False, **{net.name: pictures})
    (folder / "mobpack.toml").write_text(PROJECT + net.settings, encoding="utf-8", newline="\n")
    cache = {"XDG_CACHE_HOME": str(empty_cache(folder.parent / f"{folder.name}-cache"))}
    run("build", "--emit-project", folder=folder, environment={**os.environ, **cache, **environment})
    dist = folder / "dist"
    return {path.relative_to(dist).as_posix(): path.read_bytes() for path in sorted(dist.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("net", NETS)
def test_two_builds_in_different_folders_give_identical_releases(net: str, tmp_path: Path) -> None:
    """From nothing: the same files, among them a package for each target, and no path of this machine."""
    places = [
        (tmp_path / "one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}),
        (tmp_path / "another folder ünïcode" / "two", {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"}),
    ]
    first, second = beside_each_other(lambda place: build(NETS[net], *place), places)
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    for suffix in (".aar", ".zip", ".tgz"):
        assert any(name.endswith(suffix) for name in first), suffix
    for name, content in first.items():
        assert str(tmp_path).encode() not in content, name
