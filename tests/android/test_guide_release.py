"""Pipelines of docs/guides, release.yml and release.gitlab-ci.yml: their steps work, on the models of the sample apps
and on a small one."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from packager.workflows.doctor import environments_to_install
from tests.cases.caches import OWN, empty_cache
from tests.cases.cli import options_of
from tests.cases.onnx_text import linear, saved
from tests.cases.registries import Server, serving
from tests.cases.signing_cases import make_key
from tests.nights import at_night
from tests.toolchain import vision
from tests.toolchain.require import fetched

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "docs" / "guides" / "release.yml"
PIPELINE = WORKFLOW.with_name("release.gitlab-ci.yml")


@cache
def yaml_of(file: Path) -> Mapping[str, Any]:
    """The file as GitHub and GitLab read it, by PyYAML out of its wheel."""
    sys.path.insert(0, str(fetched("yaml")))
    try:
        yaml = importlib.import_module("yaml")
    finally:
        sys.path.pop(0)
    read: Mapping[str, Any] = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)
    return read


def workflow() -> Mapping[str, Any]:
    return yaml_of(WORKFLOW)


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
    found = [*steps("package").items(), *steps("release").items()]
    found += [(job, "\n".join(yaml_of(PIPELINE)[job]["script"])) for job in ("package", "release")]
    for name, lines in found:
        command: list[str | Path] = [Path(sys.executable).with_name("shellcheck"), "--shell=bash", "-"]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
        assert (name, done.stdout) == (name, "")


def test_commands_and_options_of_the_workflow_exist() -> None:
    lines = "\n".join((*steps("package").values(), *steps("release").values()))
    found = re.findall(r"^ *mobpack (\w+)(.*)$", lines, re.MULTILINE)
    assert [name for name, _ in found] == ["doctor", "check", "build", "diff", "sign", "verify", "publish"]
    for name, rest in found:
        known = options_of(name)
        assert set(re.findall(r"--[a-z-]+", rest)) <= known


def test_what_the_guide_says_of_steps_names_those_that_there_are() -> None:
    page = WORKFLOW.with_name("release-pipeline.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| ([A-Z]\w+) \|.*\|.*\|$", page, re.MULTILINE)
    assert named == [name for name in (*steps("package"), *steps("release")) if name != "Install"]
    jobs = re.findall(r"^\| `(\w+)` \|.*\|$", page, re.MULTILINE)
    assert jobs == [name for name, job in yaml_of(PIPELINE).items() if "script" in job]


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


def run(lines: str, folder: Path, *programs: Path, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Shell lines as a runner runs them, with `programs` and those of this Python on PATH."""
    path = os.pathsep.join(map(str, (*programs, Path(sys.executable).parent, os.environ["PATH"])))
    known = {"GITHUB_REF_NAME": "models-1.0.0", "GITHUB_REPOSITORY": "me/app", "CI": "true"}
    environment = {**os.environ, **known, **variables, "PATH": path}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", lines]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def program(path: Path, lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}", encoding="utf-8", newline="\n")
    path.chmod(0o755)
    return path


def archived(release: Path, folder: Path) -> str:
    """The archive of an earlier release, in the format of gzip and not compressed, which takes seconds."""
    path = folder / "previous.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=0) as archive:
        archive.add(release, ".")
    return str(path)


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


GH = """\
case "$1 $2" in
"release list") echo models-0.9.0 ;;
"release download") cp "$PREVIOUS" previous.tar.gz ;;
"release create") for each; do printf "%s\\n" "$each"; done ;;
esac
"""
"""GitHub's own client, replaced by a program that has one release and logs what it gets."""


def test_a_release_is_compared_signed_and_published(released: Path, tmp_path: Path) -> None:
    """Every file that is uploaded is there, and the Maven repository has what was built."""
    programs = program(tmp_path / "programs" / "gh", GH).parent
    folder = tmp_path / "models"
    shutil.copytree(released / "dist", folder / "dist")
    previous = archived(folder / "dist", tmp_path)
    key = make_key(folder)
    secret = key.private.read_text(encoding="ascii")
    key.private.unlink()
    with serving(Server()) as server:
        variables = {
            "PREVIOUS": previous,
            "RUNNER_TEMP": str(tmp_path),
            "RELEASE_KEY": secret,
            "MAVEN_URL": server.address,
        }
        printed = {}
        for name, lines in steps("release").items():
            if name != "Install":
                done = run(lines, folder, programs, **variables)
                assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
                printed[name] = done.stdout
        stored = {path.rpartition("/")[2] for path in server.files}
    assert {each.suffix for each in (folder / "dist/android").iterdir()} >= {".aar", ".sig"}
    assert stored >= {path.name for path in (folder / "dist/maven").rglob("*.aar")}
    assert (folder / "changes.html").is_file()
    assert "signed by" in printed["Sign"]
    assert not (tmp_path / "release.pem").exists()
    files = [folder / each for each in printed["Publish"].splitlines() if each.startswith("dist")]
    assert {each.suffix for each in files} == {".gz", ".aar", ".zip", ".tgz", ".html", ".json", ".sig"}
    assert [each for each in files if not each.is_file()] == []


def test_a_version_that_was_published_with_other_content_is_not_signed(released: Path, tmp_path: Path) -> None:
    programs = program(tmp_path / "programs" / "gh", GH).parent
    folder = tmp_path / "models"
    shutil.copytree(released / "dist", folder / "dist")
    manifest = json.loads((folder / "dist" / "manifest.json").read_text(encoding="utf-8"))
    manifest["models"][0]["name"] = "former"
    old = tmp_path / "old"
    shutil.copytree(folder / "dist", old)
    (old / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8", newline="\n")
    previous = archived(old, tmp_path)
    done = run(steps("release")["Compare"], folder, programs, PREVIOUS=previous)
    assert done.returncode == 6, done.stdout + done.stderr
    assert "a published version does not change" in done.stderr


SMALL = """\
[package]
name = "pages"
license = "MIT"

[model.pages]
path = "net.onnx"
card = { license = "MIT" }

[target.android]
"""


GRADLE, XCODE = WORKFLOW.with_name("mobpack.gradle"), ROOT / "templates" / "xcode" / "mobpack-build.sh.j2"


def commands_of(pipeline: str) -> str:
    """The lines of a pipeline that check and build, and those that install what they need, but for pip's."""
    if pipeline == "github":
        found = [*steps("package")["Install"].splitlines(), steps("package")["Check"], steps("package")["Build"]]
    elif pipeline == "gitlab":
        default, job = yaml_of(PIPELINE)["default"], yaml_of(PIPELINE)["package"]
        found = ["mobpack lock", *default["before_script"][1:], *job["script"]]
    elif pipeline == "gradle":
        [words] = re.findall(r"resolve\(program\).*? : program, '(\w+)', \*options", GRADLE.read_text(encoding="utf-8"))
        found = [f"mobpack {words} --target android"]
    else:
        [words] = re.findall(r'^"\$mobpack" (build .*?) 2>&1', XCODE.read_text(encoding="utf-8"), re.MULTILINE)
        found = [f"config=mobpack.toml dist=dist; mobpack {words}"]
    return "\n".join(each for each in found if not each.startswith("pip install "))


@pytest.mark.parametrize("pipeline", ["gitlab", *at_night("github", "gradle", "xcode")])
def test_a_pipeline_works_on_a_machine_that_has_what_it_installs_alone(pipeline: str, tmp_path: Path) -> None:
    """With nothing but the ONNX Runtimes that ship, and an old Node.js on PATH. The command that installs what is
    missing has nothing left to do: no gate needs anything else."""
    saved(tmp_path / "models" / "net.onnx", linear())
    text = SMALL + "[target.ios]\n[target.react_native]\n[target.web]\n"
    (tmp_path / "models" / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    old = program(tmp_path / "programs" / "node", "echo v20.11.1\n").parent
    ship = ("runtime", "web")
    others = {path.name for path in (OWN / "environments").iterdir()} - {*ship, "zig"}
    cache = empty_cache(tmp_path / "cache", without=others)
    done = run(commands_of(pipeline), tmp_path / "models", old, XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (cache / "mobpack" / "environments").iterdir()} <= {*ship, "zig"}
    assert "skipped" not in done.stderr


def test_a_pipeline_installs_what_its_project_names(tmp_path: Path) -> None:
    """Runners, and providers that nothing else examines: asked on a machine without any, which says what it would
    install."""
    saved(tmp_path / "models" / "net.onnx", linear())
    text = SMALL.replace(
        "[target.android]", '[parity]\nrunners = ["cpu", "mnn"]\n\n[target.android]\nproviders = ["qnn"]'
    )
    (tmp_path / "models" / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
    cache = tmp_path / "cache"
    done = run(steps("package")["Check"], tmp_path / "models", XDG_CACHE_HOME=str(cache))
    assert done.returncode == 6, done.stderr
    assert "hint: mobpack doctor --install mnn --install qnn" in done.stderr
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path / "models")
        patched.setenv("XDG_CACHE_HOME", str(cache))
        assert environments_to_install(("project",)) == ["mnn", "qnn", "runtime"]
