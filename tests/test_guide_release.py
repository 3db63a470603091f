"""docs/guides/release.yml: a valid GitHub workflow, whose steps work on the models of the sample apps."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from packager.cli import commands
from tests.toolchain import vision
from tests.toolchain.require import fetched

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / "docs" / "guides" / "release.yml"
PUBLISHES = "Publish"
pytestmark = [pytest.mark.by_content("docs", "sample_apps"), pytest.mark.apptools]


@cache
def workflow() -> Mapping[str, Any]:
    """The file as GitHub reads it, by PyYAML out of its wheel."""
    sys.path.insert(0, str(fetched("yaml")))
    try:
        yaml = importlib.import_module("yaml")
    finally:
        sys.path.pop(0)
    read: Mapping[str, Any] = yaml.load(WORKFLOW.read_text(encoding="utf-8"), yaml.BaseLoader)
    return read


def steps(job: str) -> dict[str, str]:
    """Name -> shell lines of the steps that have some."""
    return {step["name"]: step["run"] for step in workflow()["jobs"][job]["steps"] if "run" in step}


def test_a_linter_of_workflows_finds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    shutil.copy(WORKFLOW, folder)
    with zipfile.ZipFile(fetched("zizmor")) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith("/scripts/zizmor")]
        program = Path(wheel.extract(name, tmp_path))
    program.chmod(0o755)
    done = subprocess.run(
        [program, "--offline", "--no-progress", "--strict-collection", str(folder / WORKFLOW.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No findings to report" in done.stdout


def test_a_shell_linter_finds_nothing() -> None:
    for name, lines in (*steps("package").items(), *steps("release").items()):
        command: list[str | Path] = [Path(sys.executable).with_name("shellcheck"), "--shell=bash", "-"]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        assert (name, done.stdout) == (name, "")


def test_commands_and_options_of_the_workflow_exist() -> None:
    found = re.findall(r"^mobpack (\w+)(.*)$", "\n".join(steps("package").values()), re.MULTILINE)
    assert [name for name, _ in found] == ["check", "build"]
    for name, rest in found:
        known = {option for each in commands.commands[name].params for option in each.opts}
        assert set(re.findall(r"--[a-z-]+", rest)) <= known


def test_what_the_guide_says_of_steps_names_those_that_there_are() -> None:
    page = WORKFLOW.with_name("release-pipeline.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| ([A-Z]\w+) \|.*\|.*\|$", page, re.MULTILINE)
    assert named == [name for name in (*steps("package"), *steps("release")) if name != "Install"]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder `models` after all steps of the job `package` except the installation."""
    folder = tmp_path_factory.mktemp("release") / str(workflow()["defaults"]["run"]["working-directory"])
    made = vision.root() / vision.FOLDER
    shutil.copytree(made, folder, ignore=shutil.ignore_patterns("dist", "downloads"))
    for name, lines in steps("package").items():
        if name != "Install":
            done = run(lines, folder)
            assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
    return folder


def run(lines: str, folder: Path, *programs: Path) -> "subprocess.CompletedProcess[str]":
    """Shell lines as a runner runs them, with mobpack and `programs` on PATH."""
    path = os.pathsep.join(map(str, (*programs, Path(sys.executable).parent, os.environ["PATH"])))
    environment = {**os.environ, "PATH": path, "GITHUB_REF_NAME": "models-1.0.0", "GITHUB_REPOSITORY": "me/app"}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", lines]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_steps_check_and_build(released: Path) -> None:
    [uploaded] = [
        step["with"]["path"]
        for step in workflow()["jobs"]["package"]["steps"]
        if step.get("with", {}).get("name") == "dist"
    ]
    dist, built = released.parent / uploaded, json.loads((released / "build.json").read_text(encoding="utf-8"))
    artifacts = {each["kind"]: dist / each["path"] for each in built["manifest"]["artifacts"]}
    assert artifacts.keys() >= {"aar", "maven", "swift-package", "npm-package"}
    assert [path for path in artifacts.values() if not path.is_file()] == []
    assert json.loads((released / "check.json").read_text(encoding="utf-8"))["models"]
    assert (released / "check.html").is_file()


def test_what_a_gate_refuses_is_not_built(released: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copytree(released, folder, ignore=shutil.ignore_patterns("dist"))
    lines = steps("package")["Build"].replace("min-share=0.9", "max-partitions=1")
    done = run(lines, folder)
    assert (done.returncode, (folder / "dist").exists()) == (6, False), done.stderr


def test_every_file_that_is_published_is_there(released: Path, tmp_path: Path) -> None:
    """GitHub's own client is replaced by a program that logs its calls."""
    client = tmp_path / "gh"
    client.write_text('#!/bin/sh\nfor each; do printf "%s\\n" "$each"; done\n', encoding="utf-8")
    client.chmod(0o755)
    shutil.copytree(released / "dist", tmp_path / "dist", copy_function=os.link)
    done = run(steps("release")[PUBLISHES], tmp_path, tmp_path)
    assert done.returncode == 0, done.stderr
    files = [tmp_path / each for each in done.stdout.splitlines() if each.startswith(("dist/", "maven"))]
    assert {each.suffix for each in files} == {".gz", ".aar", ".zip", ".tgz", ".html", ".json"}
    assert [each for each in files if not each.is_file()] == []
