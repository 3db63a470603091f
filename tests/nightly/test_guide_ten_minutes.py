"""docs/guides/ten-minutes.md: its commands, run one after the other as they stand, in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from packager.files.processes import downloads
from tests.cases.guide_ten_minutes import GUIDE, ROOT, blocks
from tests.toolchain import torch

CLONED = ("LICENSE", "README.md", "packager", "pyproject.toml", "sample_apps/vision", "templates")
"""Paths that the installation of mobpack and the guide read."""

BUILT = Path("build", "vision")


def clone(folder: Path) -> Path:
    for name in CLONED:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "build", "dist"))
        else:
            shutil.copy(source, target)
    return folder


def variables() -> Mapping[str, str]:
    """Environment of a user whose pip finds mobpack's dependencies installed: this saves hundreds of MB."""
    with_torch = torch.variables()["PYTHONPATH"].removesuffix(f"{os.pathsep}{ROOT}")
    program = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": f"{program}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join((with_torch, sysconfig.get_path("purelib"))),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's word for: without
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "120",
    }


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The clone's folder after all commands, and their standard output."""
    folder = clone(tmp_path_factory.mktemp("clone"))
    script = "\n".join(["set -eu", *blocks("sh")])
    command = ["bash", "--noprofile", "--norc", "-c", script]
    done = subprocess.run(command, cwd=folder, env=variables(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return folder, done.stdout


def test_the_commands_end_in_three_packages(walked: tuple[Path, str]) -> None:
    dist = walked[0] / BUILT / "dist"
    built = [
        path
        for folder, suffix in (("android", "aar"), ("swift", "zip"), ("npm", "tgz"))
        for path in (dist / folder).glob(f"*.{suffix}")
    ]
    runtime = f"onnxruntime-binary-{downloads.pins()['ios']['version']}.zip"
    archives = ["vision-1.0.0.aar", runtime, "vision-1.0.0.zip", "react-native-vision-1.0.0.tgz"]
    assert sorted(path.name for path in built) == sorted(archives)
    assert walked[1].splitlines()[-4:] == sorted(path.relative_to(dist.parent).as_posix() for path in built)
    assert (dist / "report.html").is_file()


def test_mobpack_of_the_clone_is_what_ran(walked: tuple[Path, str]) -> None:
    assert "Successfully installed mobpack-" in walked[1]
    assert (walked[0] / ".venv" / "bin" / "mobpack").is_file()


def test_predict_prints_what_the_guide_shows(walked: tuple[Path, str]) -> None:
    [shown] = re.findall(r"^    (\S+coffee\.jpg\n(?:    .*\n)+)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown.replace("\n    ", "\n") in walked[1]


def test_the_network_that_the_sample_apps_write_without_pytorch_computes_the_same(
    walked: tuple[Path, str], tmp_path: Path
) -> None:
    [packages] = (walked[0] / ".venv").glob("lib/python*/site-packages")
    program = ROOT / "sample_apps" / "vision" / "classifier.py"
    subprocess.run([sys.executable, program, packages, tmp_path], check=True)
    pictures = np.random.default_rng(1).uniform(-1, 1, (3, 1, 3, 224, 224)).astype(np.float32)
    exported, written = (
        np.array([session.run(None, {"image": picture})[0] for picture in pictures])
        for session in map(
            onnxruntime.InferenceSession, (walked[0] / BUILT / "classifier.onnx", tmp_path / "classifier.onnx")
        )
    )
    assert np.abs(exported - written).max() <= 1e-5 * np.abs(exported).max()
    labels = [(folder / "labels.txt").read_text(encoding="utf-8") for folder in (walked[0] / BUILT, tmp_path)]
    assert labels[0] == labels[1]
