"""`[package] encryption`: which builds may encrypt, and what a build with it writes."""

from pathlib import Path

import pytest

from packager import config
from packager.core.errors import ConfigError
from packager.signing.encryption import ModelKey
from packager.workflows.encrypting import refuse_unencrypted
from packager.workflows.requested import BuildRequest, package_of
from tests.cases.encrypting import ENCRYPTED, key, project
from tests.cases.encryption_cases import KEY, KEY_ID, PACKAGE

__all__ = ["key"]


def refuse(folder: Path, keys: str, *targets: str, key: bytes | None = KEY) -> None:
    opened = config.load(project(folder, keys), targets=targets, settings=())
    model_key = None if key is None else ModelKey(value=key)
    refuse_unencrypted(opened, BuildRequest(targets=targets, out=folder, model_key=model_key))


def test_a_project_without_encryption_needs_no_key_and_takes_none(tmp_path: Path) -> None:
    refuse(tmp_path, "", "ios", key=None)
    with pytest.raises(ConfigError, match="--model-key has no effect without"):
        refuse(tmp_path, "", "ios")


def test_encryption_needs_its_key(tmp_path: Path) -> None:
    refuse(tmp_path, ENCRYPTED, "ios", "android")
    with pytest.raises(ConfigError, match=f"package.encryption needs the key {KEY_ID}") as refused:
        refuse(tmp_path, ENCRYPTED, "ios", key=None)
    assert "--model-key" in refused.value.hint


@pytest.mark.parametrize("target", ["web", "react_native"])
def test_a_target_that_cannot_decrypt_is_refused_by_name(target: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"the code for {target} cannot decrypt models yet") as refused:
        refuse(tmp_path, ENCRYPTED, target)
    assert "these can: android, ios" in refused.value.hint


def test_encryption_and_a_channel_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"package\.encryption and package\.channel"):
        refuse(tmp_path, f'{ENCRYPTED}\nchannel = "stable"', "ios")


@pytest.mark.parametrize("name", ["a b", "../a", "-", "x" * 65, "ä"])
def test_a_key_has_a_plain_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"package\.encryption"):
        refuse(tmp_path, f'encryption = "{name}"', "ios")


def test_the_package_knows_the_name_of_the_key_alone(tmp_path: Path) -> None:
    opened = config.load(project(tmp_path, ENCRYPTED), targets=(), settings=())
    assert package_of(opened).encryption == KEY_ID == PACKAGE.encryption
