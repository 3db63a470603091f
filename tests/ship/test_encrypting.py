"""`[package] encryption`: which builds may encrypt, and what a build with it writes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from packager import config
from packager.cli import commands
from packager.core.errors import ConfigError, MobpackError
from packager.distribution.release.extract import INDEX
from packager.files.hashes import sha256_of
from packager.signing.encryption import ModelKey, open_sealed, read_header
from packager.workflows.encrypting import refuse_unencrypted
from packager.workflows.requested import BuildRequest, package_of
from tests.cases.archives import read_zip
from tests.cases.encryption_cases import KEY, KEY_ID, PACKAGE, contents
from tests.cases.onnx_text import linear, saved

PROJECT = """[package]
name = "vision"
version = "1.2.3"
{keys}
[model.scorer]
path = "scorer.onnx"
[target.ios]
providers = []
"""


ENCRYPTED = f'encryption = "{KEY_ID}"'


def project(folder: Path, keys: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    saved(folder / "scorer.onnx", linear())
    path = folder / "mobpack.toml"
    path.write_text(PROJECT.format(keys=keys), encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY.hex())


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
        refuse(tmp_path, f'{ENCRYPTED}\nchannel = "stable.root.json"', "ios")


@pytest.mark.parametrize("name", ["a b", "../a", "-", "x" * 65, "ä"])
def test_a_key_has_a_plain_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"package\.encryption"):
        refuse(tmp_path, f'encryption = "{name}"', "ios")


def test_the_package_knows_the_name_of_the_key_alone(tmp_path: Path) -> None:
    opened = config.load(project(tmp_path, ENCRYPTED), targets=(), settings=())
    assert package_of(opened).encryption == KEY_ID == PACKAGE.encryption


def test_files_and_findings_have_the_digests_of_the_encrypted_files(tmp_path: Path) -> None:
    from packager.files.store import Store

    made, plain = contents(tmp_path, Store(tmp_path / "store"), "ios", is_apart=True)
    for before, after in zip(plain.choices, made.plans[0].choices, strict=True):
        assert after.compiled.plain_sha256 == before.compiled.sha256
        assert after.compiled.sha256 == sha256_of(after.compiled.path) != before.compiled.sha256
        assert [each.name for each in after.compiled.data_files] == [each.name for each in before.compiled.data_files]
        files = (after.compiled.path, *after.compiled.data_files)
        assert after.compiled.size_bytes == sum(each.stat().st_size for each in files)
        for was, now in zip((before.compiled.path, *before.compiled.data_files), files, strict=True):
            open_sealed(now, tmp_path / "opened", key=KEY)
            assert (tmp_path / "opened").read_bytes() == was.read_bytes()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(commands, [str(each) for each in arguments])


def build(folder: Path, *more: str) -> dict[str, Any]:
    toml = project(folder, ENCRYPTED)
    result = run("build", "-c", toml, "--out", folder / "dist", "--model-key", "env:MODEL_KEY", *more)
    assert result.exit_code == 0, (result.output, result.exception)
    return dict(json.loads((folder / "dist/manifest.json").read_text(encoding="utf-8")))


def test_the_statement_of_a_locked_build_names_the_encrypted_files(key: None, tmp_path: Path) -> None:
    toml = project(tmp_path, ENCRYPTED)
    locked = run("lock", "-c", toml)
    assert locked.exit_code == 0, locked.output
    [compiled] = build(tmp_path)["compiled"]
    statement = json.loads((tmp_path / "dist/provenance.intoto.json").read_text(encoding="utf-8"))
    steps = [each["annotations"] | each for each in statement["predicate"]["runDetails"]["byproducts"]]
    [file] = [each for each in steps if each["name"].startswith("file ")]
    assert (file["digest"]["sha256"], file["plain-sha256"]) == (compiled["sha256"], compiled["plain-sha256"])
    assert file["in"], "no package has the file of the statement"


def test_a_build_encrypts_the_models_of_its_packages_and_extract_needs_no_key(key: None, tmp_path: Path) -> None:
    manifest = build(tmp_path)
    assert manifest["options"]["encryption"] == KEY_ID
    [compiled] = manifest["compiled"]
    assert compiled["plain-sha256"] != compiled["sha256"]
    assert {choice["sha256"] for plan in manifest["plans"] for choice in plan["choices"]} == {compiled["sha256"]}
    evidence = json.loads((tmp_path / "dist/evidence.json").read_text(encoding="utf-8"))
    assert {parity["sha256"] for parity in evidence["parity"] if parity.get("sha256")} == {compiled["sha256"]}
    [archive] = (tmp_path / "dist/swift").glob("vision-*.zip")
    sealed = [content for content in read_zip(archive).values() if content.startswith(b"MPCRYPT\x02")]
    assert len(sealed) == 1
    texts = b"".join(path.read_bytes() for path in (tmp_path / "dist").rglob("*") if path.is_file())
    assert KEY not in texts
    assert KEY.hex().encode() not in texts

    extracted = run("extract", tmp_path / "dist", "--to", tmp_path / "public")
    assert extracted.exit_code == 0, extracted.output
    file = tmp_path / "public" / compiled["sha256"]
    with file.open("rb") as opened:
        assert read_header(opened, file).sha256.hex() == compiled["plain-sha256"]
    open_sealed(file, tmp_path / "opened", key=KEY)
    assert sha256_of(tmp_path / "opened") == compiled["plain-sha256"]
    assert (tmp_path / "public" / INDEX).is_file()


def test_the_same_key_gives_the_same_release_and_another_one_is_a_change(
    key: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = build(tmp_path / "one"), build(tmp_path / "two")
    assert first["artifacts"] == second["artifacts"]
    monkeypatch.setenv("MODEL_KEY", "ff" * 32)
    assert build(tmp_path / "one")["artifacts"] != first["artifacts"]
    monkeypatch.delenv("MODEL_KEY")
    with pytest.raises(MobpackError, match="the variable MODEL_KEY of the environment has no key"):
        raise run("build", "--model-key", "env:MODEL_KEY").exception or AssertionError(os.environ)


def test_a_release_is_built_again_with_its_key_and_not_without(key: None, tmp_path: Path) -> None:
    build(tmp_path)
    again = ("verify", tmp_path / "dist", "--rebuild", "--cached", "--config", tmp_path)
    done = run(*again, "--model-key", "env:MODEL_KEY")
    assert done.exit_code == 0, (done.output, done.exception)
    assert "built again, and all" in done.output
    with pytest.raises(MobpackError, match=f"package.encryption needs the key {KEY_ID}"):
        raise run(*again).exception or AssertionError(done.output)


def test_a_pack_has_the_encrypted_files(key: None, tmp_path: Path) -> None:
    manifest = build(tmp_path)
    packed = run("pack", tmp_path / "dist", "--kind", "on-demand-resources", "--to", tmp_path / "packs")
    assert packed.exit_code == 0, (packed.output, packed.exception)
    [compiled] = manifest["compiled"]
    content = (tmp_path / "packs/vision/mobpack/vision" / compiled["sha256"]).read_bytes()
    assert content.startswith(b"MPCRYPT\x02")
