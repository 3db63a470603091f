"""Same input, same bytes: in any folder, with any hash seed, in any time zone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from tests.caches import empty_cache
from tests.toolchain import models

PROVIDERS = {"android": ["qnn", "nnapi", "xnnpack"], "ios": ["coreml", "xnnpack"]}
TAKES_IN = {"react_native": ("android", "ios")}


def build(folder: Path, environment: dict[str, str], variant: str, target: str) -> dict[str, bytes]:
    """Everything that `mobpack build --emit-project` leaves, made from nothing in `folder`."""
    folder.mkdir(parents=True)
    shutil.copy(models.orientation(), folder / "page.onnx")
    pictures = numpy.random.default_rng(0).standard_normal((8, 3, 224, 224)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", x=pictures)
    (folder / "mobpack.toml").write_text(
        '[package]\nname = "page"\nlicense = "Apache-2.0"\n[model.orientation]\npath = "page.onnx"\n'
        f"{tables(target, variant)}"
        '[variant.int8]\nquantizer = "static-qdq"\ncalibration = { samples = "samples.npz", method = "entropy" }\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", "build", "--emit-project"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(empty_cache(folder.parent / f"{folder.name}-cache")), **environment},
    )
    assert done.returncode == 0, done.stderr
    dist = folder / "dist"
    return {path.relative_to(dist).as_posix(): path.read_bytes() for path in sorted(dist.rglob("*")) if path.is_file()}


def tables(target: str, variant: str) -> str:
    """The table of `target`, and those of the targets that it takes in."""
    planned = "".join(
        f'[target.{each}]\nproviders = {json.dumps(PROVIDERS[each])}\nvariant = "{variant}"\n'
        for each in TAKES_IN.get(target, (target,))
    )
    return f"{planned}[target.{target}]\n" if target in TAKES_IN else planned


@pytest.mark.kotlin
@pytest.mark.parametrize("variant", ["source", "int8"])
def test_two_builds_in_different_folders_give_identical_releases(tmp_path: Path, variant: str) -> None:
    assert_same_releases(tmp_path, variant, "android", ".aar")


@pytest.mark.processes
@pytest.mark.parametrize("variant", ["source", "int8"])
def test_swift_packages_are_identical_too(tmp_path: Path, variant: str) -> None:
    assert_same_releases(tmp_path, variant, "ios", ".zip")


@pytest.mark.kotlin
def test_npm_packages_are_identical_too(tmp_path: Path) -> None:
    assert_same_releases(tmp_path, "int8", "react_native", ".tgz")


def assert_same_releases(folder: Path, variant: str, target: str, suffix: str) -> None:
    """Two builds from nothing leave the same files, of which one ends in `suffix`, and no path of this machine."""
    first = build(folder / "one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}, variant, target)
    second = build(
        folder / "another folder ünïcode" / "two",
        {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"},
        variant,
        target,
    )
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert any(name.endswith(suffix) for name in first)
    for name, content in first.items():
        assert str(folder).encode() not in content, name
