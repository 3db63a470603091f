"""Same input, same bytes: in any folder, with any hash seed, in any time zone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from tests.caches import empty_cache
from tests.toolchain import models


def build(folder: Path, environment: dict[str, str], variant: str) -> dict[str, bytes]:
    """Everything that `mobpack build --emit-project` leaves, made from nothing in `folder`."""
    folder.mkdir(parents=True)
    shutil.copy(models.orientation(), folder / "page.onnx")
    pictures = numpy.random.default_rng(0).standard_normal((8, 3, 224, 224)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", x=pictures)
    (folder / "mobpack.toml").write_text(
        '[package]\nname = "page"\nlicense = "Apache-2.0"\n[model.orientation]\npath = "page.onnx"\n'
        f'[target.android]\ngroup = "com.example"\nproviders = ["qnn", "nnapi", "xnnpack"]\nvariant = "{variant}"\n'
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


@pytest.mark.kotlin
@pytest.mark.parametrize("variant", ["source", "int8"])
def test_two_builds_in_different_folders_give_identical_releases(tmp_path: Path, variant: str) -> None:
    first = build(tmp_path / "one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}, variant)
    second = build(
        tmp_path / "another folder ünïcode" / "two", {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"}, variant
    )
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert any(name.endswith(".aar") for name in first)
    for name, content in first.items():
        assert str(tmp_path).encode() not in content, name
