"""`mobpack release`: one command from a project to registries, which stops where something is wrong and continues."""

import json
import shutil
import stat
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from packager.files.hashes import sha256_of
from packager.workflows import release as workflow
from tests.cases.cli import Answer, Mobpack, mobpack
from tests.cases.signing_cases import make_key
from tests.ship.test_provenance import PROJECT, make_release

__all__ = ["mobpack"]

RUNTIME = "https://github.com/example/onnxruntime-binary"


@cache
def shared_project(base: Path) -> Path:
    """A project with its lock, built once; its cache is beside it."""
    text = PROJECT.replace("[target.ios]\n", f'[target.ios]\nruntime-package = "{RUNTIME}"\n')
    return make_release(base / "released" / "project", text).parent


@pytest.fixture
def project(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, mobpack: Mobpack, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A locked project in the working folder of `mobpack`, with a key, a git repository, and the cache of its build."""
    source = shared_project(tmp_path_factory.getbasetemp())
    shutil.copytree(source, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("dist"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(source.with_name("project-cache")))
    make_key(tmp_path)
    subprocess.run(["git", "init", "--quiet", "--bare", "released.git"], cwd=tmp_path, check=True)
    for name, value in {"user.name": "Ada", "user.email": "ada@example.com"}.items():  # a machine may know nobody
        subprocess.run(["git", "config", name, value], cwd=tmp_path / "released.git", check=True)
    return tmp_path


def write(project: Path, text: str) -> None:
    (project / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")


def state(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in files}


def tags(project: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "tag", "--list"], cwd=project / "released.git", check=True, capture_output=True, text=True
    )
    return listed.stdout.split()


RELEASE = ("release", "--key", "release.pem", "--to", "swift-git=released.git")


def steps(document: Any) -> dict[str, str]:
    return {each["step"] if "step" in each else each["name"]: each["result"] for each in document["steps"]}


def test_a_dry_run_shows_all_steps_and_changes_nothing(project: Path, mobpack: Mobpack) -> None:
    before = state(project)
    answer = mobpack(*RELEASE, "--first", "--dry-run", "--json")
    assert answer.code == 0, answer.err
    document = json.loads(answer.out)
    assert steps(document) == {
        "build": "done",
        "compare": "skipped",
        "changelog": "planned",
        "verify": "done",
        "bills of materials": "done",
        "provenance": "done",
        "sign": "done",
        "publish": "planned",
    }
    assert document["changelog"].startswith("# Changelog\n\n## 1.0.0 - ")
    assert [each["method"] for each in document["requests"]] == ["git tag"]
    assert state(project) == before


def test_releases_follow_each_other(project: Path, mobpack: Mobpack) -> None:
    """The first one, the same again, a change under the same version, and the version that the change needs. The
    changelog is a link, and stays one."""
    changes = project / "docs" / "changes.md"
    changes.parent.mkdir()
    changes.touch(mode=0o640)
    (project / "CHANGELOG.md").symlink_to("docs/changes.md")
    first = mobpack(*RELEASE, "--first", "--rebuild")
    assert first.code == 0, first.err
    assert tags(project) == ["1.0.0"]
    assert "First release." in changes.read_text(encoding="utf-8")
    assert (project / "CHANGELOG.md").is_symlink()
    assert stat.S_IMODE(changes.stat().st_mode) == 0o640
    assert mobpack("verify", "dist", "--key", "release.pub").code == 0
    before = state(project)

    again = mobpack(*RELEASE, "--first", "--json")
    assert again.code == 0, again.err
    assert [each["result"] for each in json.loads(again.out)["requests"]] == ["already there"]
    assert state(project) == before

    (project / "dist").rename(project / "old")
    text = (project / "mobpack.toml").read_text(encoding="utf-8").replace("[model.pages]", "[model.sheets]")
    write(project, text)
    assert mobpack("lock").code == 0
    refused = mobpack(*RELEASE, "--previous", "old")
    assert refused.code == 6
    assert "both are 1.0.0" in refused.err
    assert "the version is too low: major: ios: " in refused.err
    assert "pages" in refused.err.lower(), "the change that is major has a name"
    assert 'set version = "2.0.0"' in refused.err
    assert tags(project) == ["1.0.0"]
    assert not list((project / "dist").rglob("*.sig")), "nothing is signed that was refused"

    interrupt_while_the_version_is_raised(project, mobpack)
    raised = mobpack(*RELEASE, "--previous", "old", "--bump")
    assert raised.code == 0, raised.err
    assert tags(project) == ["1.0.0", "2.0.0"]
    assert 'version = "2.0.0"' in (project / "mobpack.toml").read_text(encoding="utf-8")
    assert mobpack("lock", "--check").code == 0, "the lock has the raised version"
    entries = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    assert entries.index("## 2.0.0") < entries.index("### Breaking changes") < entries.index("## 1.0.0")
    assert mobpack("verify", "dist", "--key", "release.pub").code == 0


def interrupt_while_the_version_is_raised(project: Path, mobpack: Mobpack) -> None:
    """Project and lock stay as they were. Another release has to wait until this one has ended."""
    before = {name: (project / name).read_bytes() for name in ("mobpack.toml", "mobpack.lock", "CHANGELOG.md")}
    meanwhile: list[Answer] = []

    def interrupted(*_: object) -> None:
        assert 'version = "2.0.0"' in (project / "mobpack.toml").read_text(encoding="utf-8")
        meanwhile.append(mobpack(*RELEASE, "--previous", "old"))
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workflow, "ingredients", interrupted)
        answer = mobpack(*RELEASE, "--previous", "old", "--bump")
    assert (answer.code, answer.err) == (
        130,
        "\nmobpack: interrupted; dist is complete, and not yet released: run the same command again, it continues\n",
    )
    assert {name: (project / name).read_bytes() for name in before} == before
    assert meanwhile[0].code == 4
    assert "another mobpack release of mobpack.toml is running" in meanwhile[0].err


@pytest.mark.parametrize(("name", "options"), [("CHANGELOG.md", ()), ("mobpack.toml", ("--bump",))])
def test_a_file_that_may_not_be_changed_is_refused_before_the_build(
    name: str, options: tuple[str, ...], project: Path, mobpack: Mobpack
) -> None:
    (project / name).touch()
    (project / name).chmod(0o444)
    answer = mobpack("release", "--first", *options)
    assert answer.code == 4
    assert f"{name} is read-only" in answer.err
    assert not (project / "dist").exists()


def test_a_change_that_is_not_locked_is_refused(project: Path, mobpack: Mobpack) -> None:
    write(project, (project / "mobpack.toml").read_text(encoding="utf-8") + "# changed\n")
    answer = mobpack(*RELEASE, "--first")
    assert answer.code == 6
    assert "file mobpack.toml" in answer.err
    assert not (project / "dist").exists()
    assert not (project / "CHANGELOG.md").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either --previous"),
        (("--first", "--previous", "old"), "either --previous"),
        (("--previous", "dist"), "--previous and --out are both dist"),
        (("--previous", "missing"), "missing"),
        (("--first", "--certificate", "release.pub"), "--certificate belongs to a key"),
        (("--first", "--to", "nowhere"), "unknown registry 'nowhere'"),
        (("--first", "--key", "missing.pem"), "missing.pem"),
    ],
)
def test_what_cannot_end_well_is_refused_before_the_build(
    arguments: tuple[str, ...], words: str, project: Path, mobpack: Mobpack
) -> None:
    answer = mobpack("release", *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert not (project / "dist").exists()


def test_a_package_is_no_previous_release(
    project: Path, mobpack: Mobpack, tmp_path_factory: pytest.TempPathFactory
) -> None:
    [package] = (shared_project(tmp_path_factory.getbasetemp()) / "dist/swift").glob("pages-*.zip")
    shutil.copy(package, project / "old.zip")
    answer = mobpack("release", "--previous", "old.zip")
    assert answer.code == 2
    assert "old.zip is a single package: --previous is a whole release" in answer.err
    assert not (project / "dist").exists()


def test_what_a_registry_refuses_is_refused_before_anything_is_written(project: Path, mobpack: Mobpack) -> None:
    text = (project / "mobpack.toml").read_text(encoding="utf-8")
    write(project, text.replace(f'runtime-package = "{RUNTIME}"\n', ""))
    assert mobpack("lock").code == 0
    answer = mobpack(*RELEASE, "--first")
    assert answer.code == 2
    assert "onnxruntime-binary" in answer.err
    assert not (project / "CHANGELOG.md").exists()
    assert not list((project / "dist").rglob("*.sig"))


def test_apps_that_verify_need_a_key(project: Path, mobpack: Mobpack) -> None:
    text = (project / "mobpack.toml").read_text(encoding="utf-8")
    trusting = text.replace('name = "pages"\n', 'name = "pages"\ntrust = "release.pub"\n')
    write(project, trusting)
    answer = mobpack("release", "--first")
    assert answer.code == 2
    assert "add --key FILE" in answer.err
    assert not (project / "dist").exists()
