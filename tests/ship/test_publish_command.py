"""`mobpack publish` on the command line: requests as a table and as JSON, refusals, exit codes."""

import json
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from packager.cli import main
from packager.distribution.publishing import REGISTRIES, registries
from tests.cases.registries import Server, release, serving


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Mobpack = Callable[..., Answer]


@pytest.fixture
def mobpack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Mobpack:
    monkeypatch.chdir(tmp_path)
    for name in ("MOBPACK_MAVEN_TOKEN", "MOBPACK_MAVEN_USERNAME", "MOBPACK_MAVEN_PASSWORD"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["mobpack", "publish", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        assert isinstance(exited.value.code, int)
        return Answer(exited.value.code, *capfd.readouterr())

    return run


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--to", "pub"], "there is nothing for pub: mobpack does not publish Flutter packages", "leave it out"),
        (["--to", "nmp"], "unknown registry 'nmp'", "did you mean 'npm'?"),
        (["--to", "npm", "--set", "npm.acess=public"], "unknown key", "did you mean 'access'?"),
        (["--to", "npm", "--set", "npm.access=open"], "npm.access: 'open' is unknown", "public, restricted"),
        (["--to", "npm", "--set", "maven.x=1"], "there is no --to maven", "known: npm"),
        (["--to", "npm", "--set", "access=public"], "expected REGISTRY.KEY=VALUE", "npm.access=public"),
        (["--to", "swift-git"], "a folder is missing", "--to swift-git=FOLDER"),
        (["--to", "maven"], "not an address of a registry", "https://HOST/PATH"),
        (["--to", "maven-central", "--set", "maven-central.publishing-type=auto"], "'auto' is unknown", "AUTOMATIC"),
        (["--to", "maven-central", "--set", "maven-central.wait-s=long"], "'long' is not a number of seconds", "1800"),
        (["nowhere", "--to", "npm"], "nowhere is not a release of mobpack", "the folder that `mobpack build` writes"),
    ],
)
def test_mistakes_are_said_with_what_to_write_instead(
    mobpack: Mobpack, arguments: list[str], message: str, hint: str
) -> None:
    answer = mobpack(*arguments)
    assert answer.code == 2
    assert message in answer.err
    assert hint in answer.err


DEEP = "[" * 100_000


@pytest.mark.parametrize("document", ["", "[]", "{}", DEEP, '{"package": {}}', '{"package": 1, "artifacts": [1]}'])
def test_manifests_that_are_none_are_refused(mobpack: Mobpack, tmp_path: Path, document: str) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "manifest.json").write_text(document, encoding="utf-8")
    answer = mobpack("--to", "npm")
    assert answer.code == 2
    assert "is not a manifest of mobpack" in answer.err


def test_files_outside_of_the_release_are_never_sent(mobpack: Mobpack, tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    text = (dist / "manifest.json").read_text(encoding="utf-8")
    (dist / "manifest.json").write_text(text.replace("npm/vision", "../npm/vision"), encoding="utf-8")
    answer = mobpack("--to", "npm")
    assert answer.code == 2
    assert "names a file outside of the release: ../npm/vision-web-1.0.0.tgz" in answer.err


def test_the_page_names_every_registry_and_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs" / "publish.md").read_text(encoding="utf-8")
    for name, kind in REGISTRIES.items():
        assert f"`{name}" in page
        for each in fields(kind):  # type: ignore[arg-type]
            assert each.name == "address" or f"`{name}.{each.name.replace('_', '-')}`" in page, each.name


def test_registries_with_their_settings_are_values() -> None:
    given = (["npm=https://npm.example/", "https://maven.example/releases"], ["npm.tag=beta"])
    assert registries(*given) == registries(*given)
    npm, maven = registries(*given)
    assert (npm.address, maven.address) == ("https://npm.example", "https://maven.example/releases")


SHOWN = {"registry", "method", "address", "file", "size-bytes", "sha256", "parts", "note", "result", "words"}


SECRET = "s3cret-of-the-test"


def test_a_dry_run_for_all_registries_sends_nothing_and_lists_everything(mobpack: Mobpack, tmp_path: Path) -> None:
    release(tmp_path / "dist")
    with serving(Server()) as server:
        to = [f"--to={name}={server.address}" for name in ("maven", "npm", "swift-registry")]
        answer = mobpack("dist", *to, "--set", "swift-registry.scope=acme", "--dry-run", "--json")
        assert server.requests == []
    document: dict[str, Any] = json.loads(answer.out)
    assert (answer.code, answer.err) == (0, "")
    assert (document["schema-version"], document["dry-run"]) == (1, True)
    assert {frozenset(each) for each in document["requests"]} == {frozenset(SHOWN)}
    assert {each["result"] for each in document["requests"]} == {"planned"}
    methods = [(each["registry"], each["method"]) for each in document["requests"]]
    assert methods == [*[("maven", "PUT")] * 25, ("npm", "npm publish"), ("swift-registry", "PUT")]
    aar = next(each for each in document["requests"] if each["file"].endswith("1.0.0.aar"))
    assert (aar["size-bytes"], len(aar["sha256"])) == (300_000, 64)


def test_requests_are_shown_as_a_table_with_a_sum(mobpack: Mobpack, tmp_path: Path) -> None:
    release(tmp_path / "dist")
    with serving(Server()) as server:
        assert mobpack("--to", server.address).out.endswith("25 requests: 25 sent\n")
        answer = mobpack("--to", server.address)
    assert answer.out.endswith("25 requests: 25 already there\n")
    assert "warning: the group com.example is for examples and belongs to nobody" in answer.err
    assert "PUT" in answer.out
    assert "300.0 kB" in answer.out


def test_a_failure_in_the_middle_is_in_the_json(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOBPACK_MAVEN_TOKEN", SECRET)
    release(tmp_path / "dist")
    with serving(Server(faults={6: 403})) as server:
        answer = mobpack("--to", server.address, "--json")
    document = json.loads(answer.out)
    assert answer.code == 4
    assert "refuses" in document["error"]["message"]
    assert "(403): because of the test" in document["error"]["message"]
    assert [each["result"] for each in document["requests"]] == ["sent"] * 5 + ["not sent"] * 20
    assert SECRET not in answer.out + answer.err


def test_other_bytes_end_with_the_code_of_a_gate(mobpack: Mobpack, tmp_path: Path) -> None:
    release(tmp_path / "dist")
    release(tmp_path / "other", aar=b"another aar")
    with serving(Server()) as server:
        assert mobpack("--to", server.address).code == 0
        assert mobpack("other", "--to", server.address).code == 6


def test_a_file_that_is_not_the_manifests_is_refused(mobpack: Mobpack, tmp_path: Path) -> None:
    dist = release(tmp_path / "dist")
    archive = dist / "npm" / "vision-web-1.0.0.tgz"
    archive.write_bytes(archive.read_bytes() + b"x")
    with serving(Server()) as server:
        answer = mobpack("--to", server.address)
        assert server.requests == []
    assert answer.code == 6
    assert "vision-web-1.0.0.tgz is not the file that manifest.json describes" in answer.err
    archive.unlink()
    assert "cannot be read: No such file or directory" in mobpack("--to", "npm").err
