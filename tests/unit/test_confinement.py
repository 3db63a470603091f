"""Licences and labels ship only from places that a user can have meant."""

from pathlib import Path

import pytest

from packager import config as configuration
from packager.core.errors import ConfigError
from packager.workflows.confinement import absent, refuse_outside

PROJECT = """
[package]
name = "p"
[model.m]
path = "PATH"
license = "LICENSE"
[model.m.outputs.y]
kind = "classes"
activation = "none"
labels = "LABELS"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name in ("project/.git", "project/models/.cache", "models/sub", "secrets", "hub/blobs", "hub/snapshots/1"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "project/LICENSE",
        "project/labels.txt",
        "project/.env",
        "project/.git/config",
        "project/models/.cache/x",
        "models/sub/labels.txt",
        "models/LICENSE",
        "secrets/key",
        "hub/blobs/f00d",
        "hub/blobs/cafe",
    ):
        (tmp_path / name).write_text("text\n")
    (folder / "link").symlink_to("../secrets/key")
    (folder / "good").symlink_to("LICENSE")
    (folder / "hidden").symlink_to(".env")
    (folder / "secrets").symlink_to("../secrets")
    (tmp_path / "hub" / "snapshots" / "1" / "m.onnx").symlink_to("../../blobs/f00d")
    (tmp_path / "hub" / "snapshots" / "1" / "LICENSE").symlink_to("../../blobs/cafe")
    return folder


def check(project: Path, license_file: str, labels: str, model: str = "m.onnx", *, allowed: bool = False) -> None:
    text = PROJECT.replace("LICENSE", license_file).replace("LABELS", labels).replace("PATH", model)
    (project / "mobpack.toml").write_text(text)
    refuse_outside(configuration.load(project / "mobpack.toml"), project, is_outside_allowed=allowed)


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../../../../../../../../../etc/passwd",
        "../secrets/key",
        "link",
        "secrets/key",
        ".env",
        "hidden",
        ".git/config",
        "models/.cache/x",
    ],
)
def test_what_lies_outside_or_is_hidden_is_not_shipped_unless_it_is_allowed(project: Path, path: str) -> None:
    with pytest.raises(ConfigError, match=r"^model.m.license: .* is hidden or outside") as error:
        check(project, path, "labels.txt")
    assert "--allow-outside" in error.value.hint
    with pytest.raises(ConfigError, match=r"^model.m.outputs.y.labels: .* is hidden or outside"):
        check(project, "LICENSE", path)
    check(project, path, path, allowed=True)


@pytest.mark.parametrize(
    ("model", "license_file", "labels"),
    [
        ("m.onnx", "LICENSE", "labels.txt"),
        ("m.onnx", "good", "./models/../labels.txt"),
        ("../models/m.onnx", "../models/LICENSE", "../models/sub/labels.txt"),
        ("../hub/snapshots/1/m.onnx", "../hub/snapshots/1/LICENSE", "labels.txt"),
    ],
)
def test_what_lies_below_project_or_model_is_shipped(project: Path, model: str, license_file: str, labels: str) -> None:
    check(project, license_file, labels, model)


def test_what_is_not_there_or_too_large_is_told_before_anything_is_built(project: Path) -> None:
    check(project, "absent", "labels.txt", allowed=True)
    [error] = absent(configuration.load(project / "mobpack.toml"))
    assert error.message == f"model.m.license: {project / 'absent'}: No such file or directory"
    (project / "LICENSE").write_bytes(bytes((4 << 20) + 1))
    with pytest.raises(ConfigError, match="larger than 4 MiB"):
        check(project, "LICENSE", "labels.txt")
