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


def build(folder: Path, environment: dict[str, str], variant: str, targets: tuple[str, ...]) -> dict[str, bytes]:
    """Everything that `mobpack build --emit-project` leaves, made from nothing in `folder`."""
    folder.mkdir(parents=True)
    shutil.copy(models.orientation(), folder / "page.onnx")
    pictures = numpy.random.default_rng(0).standard_normal((8, 3, 224, 224)).astype(numpy.float32)
    numpy.savez(folder / "samples.npz", x=pictures)
    (folder / "mobpack.toml").write_text(
        '[package]\nname = "page"\nlicense = "Apache-2.0"\n[model.orientation]\npath = "page.onnx"\n'
        f"{tables(targets, variant)}"
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


def tables(targets: tuple[str, ...], variant: str) -> str:
    """The tables of `targets`, and those of the targets that they take in."""
    planned = dict.fromkeys(name for target in targets for name in TAKES_IN.get(target, (target,)))
    texts = [f'[target.{each}]\nproviders = {json.dumps(PROVIDERS[each])}\nvariant = "{variant}"\n' for each in planned]
    return "".join([*texts, *(f"[target.{target}]\n" for target in targets if target in TAKES_IN)])


@pytest.mark.kotlin
@pytest.mark.parametrize(
    ("variant", "targets", "suffixes"),
    [("source", ("android", "ios"), (".aar", ".zip")), ("int8", ("react_native",), (".aar", ".zip", ".tgz"))],
    ids=["source", "int8"],
)
def test_two_builds_in_different_folders_give_identical_releases(
    tmp_path: Path, variant: str, targets: tuple[str, ...], suffixes: tuple[str, ...]
) -> None:
    """From nothing: the same files, among them a package for each target, and no path of this machine."""
    first = build(tmp_path / "one", {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"}, variant, targets)
    second = build(
        tmp_path / "another folder ünïcode" / "two",
        {"PYTHONHASHSEED": "4242", "TZ": "America/New_York"},
        variant,
        targets,
    )
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    for suffix in suffixes:
        assert any(name.endswith(suffix) for name in first), suffix
    for name, content in first.items():
        assert str(tmp_path).encode() not in content, name
