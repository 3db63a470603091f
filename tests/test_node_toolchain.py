"""Projects of npm packages for tests: locked by hash, and installed whole or not at all."""

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from packager.core.errors import ToolError
from tests.toolchain import node, typescript
from tests.toolchain.npm_checks import compile_all

PROJECTS = sorted(path.name for path in node.PROJECTS.iterdir())
OF_NIGHTS = ("azurite", "expo_57")
"""projects of tests that run at night alone: each takes half a minute of a processor to install"""
EXACT = re.compile(r"\d+\.\d+\.\d+(-[\w.]+)?")
INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")


def locked(name: str, file: str = "package-lock.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((node.PROJECTS / name / file).read_text(encoding="utf-8"))
    return found


def places(value: object) -> list[str]:
    """Every string below `resolved`: the places that packages were fetched from."""
    if isinstance(value, Mapping):
        own = [str(value["resolved"])] if "resolved" in value else []
        return own + [each for part in value.values() for each in places(part)]
    return []


@pytest.mark.parametrize("name", PROJECTS)
def test_every_package_of_a_lock_has_a_hash_and_no_place(name: str) -> None:
    # what a package bundles is in its archive, whose hash is that of the package
    packages = {path: entry for path, entry in locked(name)["packages"].items() if path and not entry.get("inBundle")}

    assert packages
    assert [path for path, entry in packages.items() if not INTEGRITY.fullmatch(entry.get("integrity", ""))] == []
    assert places(locked(name)) == []


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_asks_for_exact_versions_and_its_lock_has_them(name: str) -> None:
    asked = locked(name, "package.json")
    packages = locked(name)["packages"]

    assert [version for version in asked["dependencies"].values() if not EXACT.fullmatch(version)] == []
    assert packages[""]["dependencies"] == asked["dependencies"]
    for package, version in {**asked["dependencies"], **asked.get("overrides", {})}.items():
        assert packages[f"node_modules/{package}"]["version"] == version


@pytest.mark.react_native
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly("the other projects")] if name in OF_NIGHTS else [])
        for name in PROJECTS
    ],
)
def test_a_project_holds_what_its_lock_names(name: str) -> None:
    modules = node.project(name) / "node_modules"

    for package, version in locked(name, "package.json")["dependencies"].items():
        installed = json.loads((modules / package / "package.json").read_text(encoding="utf-8"))
        assert (installed["name"], installed["version"]) == (package, version)


def test_the_place_of_a_package_in_the_registry_follows_from_its_name_and_version() -> None:
    hashed: dict[str, Any] = {"version": "1.2.0", "integrity": "sha512-"}
    packages: dict[str, dict[str, Any]] = {
        "": {"dependencies": {"@a/b": "1.2.0"}},
        "node_modules/@a/b": hashed,
        "node_modules/@a/b/node_modules/c": hashed,
        "node_modules/called": {**hashed, "name": "@a/real"},
        "node_modules/c/node_modules/bundled": {"version": "1.2.0", "inBundle": True},
        "node_modules/elsewhere": {**hashed, "resolved": "https://example.com/e.tgz"},
    }
    locked = json.dumps({"lockfileVersion": 3, "packages": packages})
    placed = json.loads(node.with_places(locked, "https://example.org/npm/\n"))["packages"]

    assert places(placed) == [
        "https://example.org/npm/@a/b/-/b-1.2.0.tgz",
        "https://example.org/npm/c/-/c-1.2.0.tgz",
        "https://example.org/npm/@a/real/-/real-1.2.0.tgz",
        "https://example.com/e.tgz",
    ]
    assert {path: {**entry, "resolved": ""} for path, entry in placed.items()} == {
        path: {**entry, "resolved": ""} for path, entry in packages.items()
    }


@pytest.mark.react_native
def test_a_registry_that_has_packages_in_other_places_is_asked_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    seen: list[bool] = []

    def npm(*arguments: str, cwd: Path) -> node.Finished:
        if arguments[0] == "config":
            return node.Finished(0, "https://example.org/", "")
        seen.append("https://example.org/" in (cwd / "package-lock.json").read_text(encoding="utf-8"))
        return node.Finished(1, "", "npm error 404") if seen[-1] else node.Finished(0, "", "")

    monkeypatch.setattr(node, "npm", npm)
    assert node.install(node.PROJECTS / "ruby").is_dir()
    assert seen == [True, False]


@pytest.mark.react_native
def test_a_package_with_other_bytes_than_the_locked_ones_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entry = {"version": "0.2.1", "integrity": f"sha512-{'A' * 86}=="}
    asked = {"name": "small", "dependencies": {"xhr2": "0.2.1"}}
    lock = {"name": "small", "lockfileVersion": 3, "packages": {"": asked, "node_modules/xhr2": entry}}
    project = tmp_path / "small"
    project.mkdir()
    (project / "package.json").write_text(json.dumps(asked), encoding="utf-8")
    (project / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")

    with pytest.raises(ToolError, match=r"a package of small is not the locked one") as caught:
        node.install(project)

    assert "do not use them" in caught.value.hint
    assert [path.name for path in (tmp_path / "cache" / "mobpack" / "node").iterdir() if path.is_dir()] == []


@pytest.mark.react_native
def test_a_program_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    (tmp_path / "child.js").write_text(
        "setInterval(() => require('fs').appendFileSync('beats', '.'), 20)", encoding="utf-8"
    )
    (tmp_path / "parent.js").write_text(
        "require('child_process').spawn(process.execPath, ['child.js']); setTimeout(() => {}, 60000);",
        encoding="utf-8",
    )

    for timeout_s in (1, 10, 60):
        done = node.run(["parent.js"], cwd=tmp_path, timeout_s=timeout_s)
        assert done.returncode < 0
        assert f"ended after {timeout_s} s" in done.stderr
        if (tmp_path / "beats").exists():  # on a busy machine it takes a while to start
            break

    time.sleep(0.2)
    beats = (tmp_path / "beats").read_text(encoding="utf-8")
    time.sleep(0.2)
    assert beats
    assert (tmp_path / "beats").read_text(encoding="utf-8") == beats


@pytest.mark.react_native
def test_linked_packages_are_found_and_others_can_be_added(tmp_path: Path) -> None:
    modules = node.link(node.project("react_native"), tmp_path)
    (modules / "@types" / "mine").mkdir()
    (modules / "mine").mkdir()
    (modules / "mine" / "index.js").write_text("module.exports = require('react').version", encoding="utf-8")

    done = node.run(["-p", "require('mine')"], cwd=tmp_path)

    assert done.stdout.strip() == locked("react_native", "package.json")["dependencies"]["react"]
    assert not (node.project("react_native") / "node_modules" / "mine").exists()
    assert not (node.project("react_native") / "node_modules" / "@types" / "mine").exists()


@pytest.mark.react_native
def test_temporary_files_of_a_program_are_removed(tmp_path: Path) -> None:
    leave = "const f = fs.mkdtempSync(path.join(os.tmpdir(), 'left')); fs.writeFileSync(path.join(f, 'a'), ''); f"
    done = node.run(["-p", leave], cwd=tmp_path)
    left = Path(done.stdout.strip())

    assert left.name.startswith("left"), done.output
    assert not left.exists()


@pytest.mark.react_native
def test_complaints_of_a_compiler_are_kept_for_the_same_content_alone(tmp_path: Path) -> None:
    def compiled(name: str, text: str) -> node.Finished:
        place = typescript.Workplace(tmp_path / name)
        place.src.mkdir(parents=True)
        (place.src / "index.ts").write_text(text, encoding="utf-8")
        place.configure({})
        [done] = compile_all(typescript.PROJECT, [place.config])
        assert (place.lib / "index.js").read_text(encoding="utf-8").startswith("export const one")
        return done

    right, wrong = "export const one: number = 1;\n", "export const one: string = 1;\n"
    assert compiled("first", right) == compiled("same", right) == node.Finished(0, "", "")
    for name in ("other", "again"):
        done = compiled(name, wrong)
        assert done.returncode == 2
        assert done.stdout.startswith("src/index.ts(1,14): error TS2322: ")
