"""`mobpack publish` on the command line: requests as a table and as JSON, refusals, exit codes."""

from dataclasses import fields
from pathlib import Path

import pytest

from packager.distribution.publishing import REGISTRIES, registries
from tests.cases.publish_command import Mobpack, mobpack
from tests.cases.registries import release

__all__ = ["mobpack"]


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
