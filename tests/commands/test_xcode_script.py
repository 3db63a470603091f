"""The script that Xcode runs: when it builds, which mobpack it uses, and how Xcode shows its errors."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from packager.files.user_cache import cache_folder
from packager.workflows.xcode import XcodeFolders, find_package, integration, write
from tests.cases.onnx_text import linear, saved
from tests.cases.xcode_cases import release
from tests.toolchain import command
from tests.toolchain.require import require

MOBPACK = Path(sys.executable).with_name("mobpack")
CONFIG = '[package]\nname = "page-orientation"\n[model.orientation]\npath = "orientation.onnx"\n[target.ios]\n'
XCODE = {"ACTION": "build", "SCRIPT_OUTPUT_FILE_LIST_COUNT": "1", "TARGET_NAME": "mobpack page-orientation"}
"""Environment of an Xcode build phase with lists of outputs."""


class Ran(NamedTuple):
    code: int
    output: str


class App(NamedTuple):
    """An app's folder with a project file, a model, a release and the script in a folder of its own."""

    folder: Path
    script: Path

    def run(self, environment: Mapping[str, str] = XCODE) -> Ran:
        bare = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LANG": "en_US.US-ASCII"}
        known = {**bare, "XDG_CACHE_HOME": str(cache_folder().parent), **environment}
        done = subprocess.run(
            [self.script], env=known, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        return Ran(done.returncode, done.stdout.decode())

    @property
    def config(self) -> Path:
        return self.folder / "mobpack.toml"


@pytest.fixture
def app(tmp_path: Path) -> App:
    folder = tmp_path / "it's an app"
    saved(folder / "orientation.onnx", linear())
    (folder / "mobpack.toml").write_text(CONFIG)
    release(folder / "dist")
    layout = XcodeFolders(
        config=folder / "mobpack.toml", dist=folder / "dist", out=folder / "Build $upport", source_root=folder
    )
    package = find_package(folder / "dist", "page-orientation", layout.config)
    inputs = (layout.config, folder / "orientation.onnx")
    write(integration(layout, package, inputs), layout.out)
    for place in inputs:
        os.utime(place, (1_700_000_000, 1_700_000_000))
    return App(folder, layout.out / "mobpack-build.sh")


def program(path: Path, text: str) -> Path:
    """A shell script in place of mobpack that prints its arguments."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "ran $0 $*"\n{text}\n')
    path.chmod(0o755)
    return path


def test_the_script_has_no_traps_and_names_what_is_missing(app: App) -> None:
    shellcheck = shutil.which("shellcheck", path=f"{MOBPACK.parent}:{os.environ['PATH']}")
    require(shellcheck is not None, "shellcheck is missing: pip install mobpack[test]")
    done = subprocess.run([shellcheck or "", app.script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    code, output = app.run()
    assert code == 4
    first, second = output.splitlines()
    assert first == f"{app.config}:1: error: mobpack is neither in {app.folder}/.venv nor on PATH"
    assert second.startswith(f"{app.config}:1: note: install it into {app.folder}/.venv, or say where it is with")
    code, output = app.run({**XCODE, "ENABLE_USER_SCRIPT_SANDBOXING": "YES"})
    assert code == 4
    assert "error: Xcode runs scripts of the target 'mobpack page-orientation' in a sandbox" in output
    assert "note: set ENABLE_USER_SCRIPT_SANDBOXING" in output


@pytest.mark.parametrize("said", [{"ACTION": "clean"}, {"ACTION": "indexbuild"}, {"ENABLE_PREVIEWS": "YES"}], ids=str)
def test_nothing_is_built_while_xcode_cleans_indexes_or_draws_previews(app: App, said: dict[str, str]) -> None:
    program(app.folder / ".venv/bin/mobpack", "exit 1")
    assert app.run({**XCODE, **said}) == (0, "")
    assert app.run(XCODE).code == 1


def test_the_build_setting_goes_before_the_folders_own_environment_and_that_before_path(app: App) -> None:
    last = program(app.folder / ".local/bin/mobpack", "")
    assert f"ran {last} build" in app.run().output
    second = program(app.folder / ".venv/bin/mobpack", "")
    assert f"ran {second} build" in app.run().output
    first = program(app.folder / "mine/mobpack", "")
    assert f"ran {first} build" in app.run({**XCODE, "MOBPACK": str(first)}).output
    code, output = app.run({**XCODE, "MOBPACK": "absent"})
    assert (code, output.splitlines()[0]) == (4, f"{app.config}:1: error: MOBPACK says absent, which cannot be run")


def test_mobpacks_words_come_as_xcode_shows_them_and_its_exit_code_stays(app: App) -> None:
    words = "echo 'warning: large' >&2; echo 'mobpack: error: no' >&2; printf 'hint: do' >&2; exit 3"
    program(app.folder / ".venv/bin/mobpack", words)
    code, output = app.run()
    assert code == 3
    assert output.splitlines()[1:] == [
        f"{app.config}:1: warning: large",
        f"{app.config}:1: error: no",
        f"{app.config}:1: note: do",
    ]


def test_by_hand_the_script_builds_when_something_read_is_newer_or_something_made_is_gone(app: App) -> None:
    program(app.folder / ".venv/bin/mobpack", "")
    assert app.run({}) == (0, "mobpack: nothing has changed\n")
    assert " build " in app.run(XCODE).output  # Xcode knows better
    os.utime(app.folder / "orientation.onnx")
    os.utime(app.folder / "dist/manifest.json", (1_700_000_001, 1_700_000_001))
    assert " build " in app.run({}).output
    os.utime(app.folder / "dist/manifest.json")
    os.utime(app.folder / "orientation.onnx", (1_700_000_000, 1_700_000_000))
    assert app.run({}).output == "mobpack: nothing has changed\n"
    next(app.folder.glob("dist/swift/*/Sources/PageOrientationKit/*.swift")).unlink()
    assert " build " in app.run({}).output


def test_the_lists_are_made_anew_behind_a_build_that_went_well(app: App) -> None:
    mobpack = program(app.folder / ".venv/bin/mobpack", 'case "$1" in xcode) exit 5 ;; esac')
    code, output = app.run({**XCODE, "SRCROOT": str(app.folder)})
    here = app.script.parent
    assert code == 5
    assert output.splitlines() == [
        f"ran {mobpack} build --config {app.config} --target ios --out {here}/../dist",
        f"ran {mobpack} xcode --config {app.config} --dist {here}/../dist --out {here} --source-root {app.folder}",
    ]


def test_the_real_mobpack_says_in_xcode_what_is_wrong(app: App) -> None:
    require(MOBPACK.is_file(), "mobpack is not installed: pip install -e .")
    app.config.write_text(CONFIG + 'min_ios = "16.0"\n')
    code, output = app.run({**XCODE, "MOBPACK": str(MOBPACK)})
    assert (code, output.splitlines()) == (
        2,
        [f"{app.config}:1: error: target.ios: unknown key 'min_ios'", f"{app.config}:1: note: did you mean 'min-ios'?"],
    )


@pytest.fixture
def built(app: App) -> App:
    """The same with the real mobpack's output in place of the release."""
    require(MOBPACK.is_file(), "mobpack is not installed: pip install -e .")
    shutil.rmtree(app.folder / "dist")
    for words in (("build", "-t", "ios", "-o", "dist"), ("xcode", "-o", app.script.parent.name, "--source-root", ".")):
        done = command.run(*words, folder=app.folder)
        assert done.returncode == 0, done.stderr
    return app


def test_the_real_mobpack_builds_when_a_model_has_changed_and_keeps_the_lists(built: App) -> None:
    lists = {path: path.stat().st_mtime_ns for path in built.script.parent.iterdir()}
    assert built.run({"MOBPACK": str(MOBPACK)}) == (0, "mobpack: nothing has changed\n")
    manifest = built.folder / "dist/manifest.json"
    before = manifest.read_text()
    saved(built.folder / "orientation.onnx", linear(seed=5))
    os.utime(manifest, (1_700_000_000, 1_700_000_000))
    code, output = built.run({**XCODE, "MOBPACK": str(MOBPACK), "SRCROOT": str(built.folder)})
    assert (code, "package for ios" in output) == (0, True), output
    assert manifest.read_text() != before
    assert {path: path.stat().st_mtime_ns for path in built.script.parent.iterdir()} == lists
    listed = (built.script.parent / "mobpack-outputs.xcfilelist").read_text().splitlines()
    assert all((built.folder / line.removeprefix("$(SRCROOT)/")).exists() for line in listed)
    assert built.run({"MOBPACK": str(MOBPACK)}) == (0, "mobpack: nothing has changed\n")


def test_a_model_added_to_the_project_file_comes_onto_the_lists(built: App) -> None:
    saved(built.folder / "language.onnx", linear(columns=8))
    built.config.write_text(f'{CONFIG}[model.language]\npath = "language.onnx"\n')
    code, output = built.run({**XCODE, "MOBPACK": str(MOBPACK)})
    assert code == 0, output
    inputs, outputs = (built.script.parent / f"mobpack-{name}.xcfilelist" for name in ("inputs", "outputs"))
    assert "$(SRCROOT)/language.onnx\n" in inputs.read_text()
    assert "/Models/language/model.ort\n" in outputs.read_text()
