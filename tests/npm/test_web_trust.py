"""Web packages with trusted keys open what was signed, and say of everything else why they do not."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.cases.onnx_text import linear, saved
from tests.cases.trust_vectors import IN_USE, OPENED, SWAPPED, VECTORS, unsaid
from tests.toolchain import command, node, trusted, trusted_web
from tests.toolchain.chromium import browser
from tests.toolchain.react_native.packages import unpack
from tests.toolchain.trusted_web import Facts
from tests.toolchain.web.page import page_of
from tests.toolchain.web.site import files_of

LIST = "/vision/models/models.sig"
ANSWER = "return await Scorer.load().then(({ provider }) => provider, (error) => error.problem ?? String(error));"


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    return trusted_web.answers(tmp_path_factory.mktemp("trust"))


@pytest.mark.parametrize("number", range(len(VECTORS)), ids=[vector.name for vector in VECTORS])
def test_a_list_is_answered_as_on_every_platform(facts: Facts, number: int) -> None:
    expected, found = VECTORS[number].expected, facts[f"{number:02}"]
    assert found["found"] == ("opened by cpu" if expected == OPENED else expected), found
    if expected != OPENED:
        assert found["told"] == ["ModelUntrustedError"], "the observer hears of it"


def test_a_signed_file_with_another_byte_is_not_opened(facts: Facts) -> None:
    assert facts["damaged"]["found"] == "corrupted"
    assert "sha256" in facts["damaged"]["words"]


def test_a_file_of_the_app_s_own_must_be_in_the_list(facts: Facts) -> None:
    assert facts["own"]["found"] == "opened by cpu"
    assert facts["own without sha256"]["found"] == SWAPPED
    assert facts["own stranger"]["found"] == SWAPPED
    assert facts["own with another byte"]["found"] == "corrupted"


def test_a_page_that_is_not_secure_is_told_to_be_served_over_https(facts: Facts) -> None:
    assert facts["no secure context"]["found"] == "unsupported"
    assert "serve the page over https" in facts["no secure context"]["words"]


def test_words_say_what_to_do(facts: Facts) -> None:
    assert unsaid(facts[f"{number:02}"].get("words", "") for number in range(len(VECTORS))) == {}


def test_a_browser_answers_each_list_as_node_does(tmp_path: Path) -> None:
    files = trusted_web.write(tmp_path)
    home = tmp_path / "chromium"
    home.mkdir()
    found = {}
    with browser(home) as opened, page_of(opened, files_of(tmp_path / "package", "/vision/")) as page:
        page.visit()
        for vector in VECTORS:
            page.server.files.by_path.pop(LIST, None)
            text = vector.text(files, trusted.PACKAGE)
            if text is not None:
                page.server.files.by_path[LIST] = text.encode()
            found[vector.name] = page.run(ANSWER, name="Scorer")
    assert found == {vector.name: "cpu" if vector.expected == OPENED else vector.expected for vector in VECTORS}


PROJECT = """\
[package]
name = "models"
version = "1.2.3"
trust = "release.pub"

[model.scorer]
path = "scorer.onnx"

[target.web]
"""
LOAD = """\
const { Scorer } = await import('./package/lib/index.js');
const model = await Scorer.load().catch((error) => error);
console.log(model.provider ?? model.problem);
"""


def test_what_mobpack_builds_is_opened_once_mobpack_has_signed_it(tmp_path: Path) -> None:
    saved(tmp_path / "scorer.onnx", linear())
    (tmp_path / "mobpack.toml").write_text(PROJECT, encoding="utf-8", newline="\n")
    (tmp_path / "release.pub").write_bytes(
        IN_USE.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    key = tmp_path / "release.pem"
    key.touch(mode=0o600)
    key.write_bytes(IN_USE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))

    mobpack(tmp_path, "build")
    assert loaded(tmp_path, tmp_path / "unsigned") == "unsigned"
    mobpack(tmp_path, "sign", "dist", "--key", "release.pem")
    assert loaded(tmp_path, tmp_path / "signed") == "cpu"
    mobpack(tmp_path, "extract", "dist", "--to", "server")
    listed = json.loads((tmp_path / "server/models.json").read_text(encoding="utf-8"))["files"]
    assert {each["file"] for each in listed} == {"scorer.ort", "scorer-golden.safetensors"}, (
        "models.sig stays in the app"
    )


def mobpack(folder: Path, *words: str) -> None:
    done = command.run(*words, folder=folder)
    assert done.returncode == 0, done.stderr


def loaded(project: Path, folder: Path) -> str:
    """The outcome of a load of the package that lies in the project's `dist`."""
    [archive] = (project / "dist").rglob("*.tgz")
    unpack(archive, folder)
    (folder / "main.mjs").write_text(LOAD, encoding="utf-8", newline="\n")
    done = node.run(["main.mjs"], cwd=folder)
    assert done.returncode == 0, done.output
    return done.stdout.strip()
