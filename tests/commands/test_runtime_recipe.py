"""A recipe says exactly how to build a reduced runtime; it is the same for the same models, providers and versions."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from packager.render.templates import render
from packager.runtimes import recipe as recipes
from packager.runtimes.recipe import recipe
from tests.cases.runtime_recipe import OPERATORS, texts


@pytest.mark.parametrize("target", ["android", "ios", "web"])
def test_scripts_are_shell_and_name_the_version_and_the_key(target: str, tmp_path: Path) -> None:
    providers = ("webgpu",) if target == "web" else ("xnnpack",)
    made = texts(target, providers=providers)
    version = recipe(target, OPERATORS, providers=providers).version
    script = tmp_path / "build.sh"
    script.write_text(made["build.sh"], encoding="utf-8")

    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    assert f"name=onnxruntime-{version}\n" in made["build.sh"]
    assert f"# The commit of version {version.partition('-')[0]}." in made["build.sh"]
    assert version in made["README.md"]


@pytest.mark.parametrize("target", ["android", "ios", "web"])
def test_a_flag_that_onnxruntime_does_not_know_ends_the_build_at_once(target: str, tmp_path: Path) -> None:
    made = texts(target)
    program = re.search(r"<<'END'\n(.*?)\nEND\n", made["build.sh"], re.DOTALL)
    assert program
    (tmp_path / "settings.json").write_text(made["build-settings.json"], encoding="utf-8")
    scripts = tmp_path / "ci_build"
    scripts.mkdir()

    def checked(known: list[str]) -> subprocess.CompletedProcess[str]:
        lines = "\n".join(f'parser.add_argument("{flag}")' for flag in known)
        (scripts / "build_args.py").write_text(lines, encoding="utf-8")
        command = [sys.executable, "-", str(tmp_path / "settings.json"), str(scripts)]
        return subprocess.run(command, input=program.group(1), capture_output=True, text=True, check=False)

    flags = sorted({flag.partition("=")[0] for flag in re.findall(r'"(--[^"]+)"', made["build-settings.json"])})
    assert checked(flags).returncode == 0
    refused = checked([flag for flag in flags if flag != "--skip_tests"])
    assert refused.returncode == 1
    assert refused.stderr.strip() == "ONNX Runtime's build.py does not know --skip_tests"


def committed(repository: Path, text: str) -> str:
    """The commit of a file with `text`, for which the tag v1 stands."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(repository)]
    (repository / "build.py").write_text(text, encoding="utf-8")
    for command in (["add", "."], ["commit", "-qm", text], ["tag", "-f", "v1"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


def test_a_repository_whose_tag_stands_for_another_commit_is_not_built(tmp_path: Path) -> None:
    repository = tmp_path / "onnxruntime"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    ours, others = committed(repository, "ours"), committed(repository, "another's")

    def fetched(commit: str, folder: Path) -> int:
        view = recipes.BuildView(repository=str(repository), version="1", commit=commit, name="n")
        folder.mkdir(exist_ok=True)
        script = "set -eu\n" + render("runtime/_source.sh.j2", view)
        return subprocess.run(["sh", "-c", script], cwd=folder, check=False, capture_output=True).returncode

    assert [fetched(ours, tmp_path / "first"), fetched(ours, tmp_path / "first")] == [0, 0], "again, nothing is fetched"
    assert (tmp_path / "first/source/build.py").read_text(encoding="utf-8") == "ours", "an older commit than the tag's"
    assert fetched("0" * 40, tmp_path / "second") != 0
    assert fetched(others, tmp_path / "first") == 0
    assert (tmp_path / "first/source/build.py").read_text(encoding="utf-8") == "another's"
