"""The pipeline of docs/guides/release.gitlab-ci.yml releases a first version and a second one."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

from tests.android.test_guide_release import PIPELINE, SMALL, program, run, yaml_of
from tests.cases.onnx_text import linear, saved
from tests.cases.registries import Server, serving
from tests.cases.signing_cases import make_key

CURL = """\
for each; do
    [ "$last" = --output ] && output=$each
    last=$each
done
printf '%s\\n' "$last" >> "$ASKED"
cp "$PREVIOUS" "$output"
"""
"""`curl`, replaced by a program that has the artifacts of one job."""


def git(folder: Path, *arguments: str) -> None:
    """Runs git as a user of its own, without the settings of this machine."""
    who = {f"GIT_{role}_{field}": "me@example.com" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def test_gitlab_releases_a_first_version_and_a_second_one(tmp_path: Path) -> None:
    """The first tag has nothing before it; the second one is compared with the files of the first tag's job."""
    programs = program(tmp_path / "programs" / "curl", CURL).parent
    project = tmp_path / "project"
    folder = project / "models"
    folder.mkdir(parents=True)
    saved(folder / "net.onnx", linear())
    (folder / "mobpack.toml").write_text(SMALL, encoding="utf-8", newline="\n")
    key = make_key(folder)
    secret = key.private.rename(tmp_path / "secret.pem")
    secret.chmod(0o666)  # as GitLab writes variables of the type File
    assert run("mobpack lock", folder).returncode == 0
    git(tmp_path, "init", "--quiet", "project")
    previous = tmp_path / "previous.zip"
    with serving(Server()) as server:
        variables = {
            "RELEASE_KEY": str(secret),
            "PREVIOUS": str(previous),
            "ASKED": str(tmp_path / "asked"),
            "CI_JOB_TOKEN": "token",
            "CI_API_V4_URL": server.address,
            "CI_PROJECT_ID": "7",
            "MOBPACK_MAVEN_USERNAME": "gitlab-ci-token",
            "MOBPACK_MAVEN_PASSWORD": "token",
        }
        for tag, version in (("models-1.0.0", "1.0.0"), ("models-1.1.0", "1.1.0")):
            text = SMALL.replace("[model", f'version = "{version}"\n\n[model', 1)
            (folder / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
            assert run("mobpack lock", folder).returncode == 0
            git(project, "add", ".")
            git(project, "commit", "--quiet", "--message", version)
            git(project, "tag", tag)
            lines = "\n".join(["cd models", *yaml_of(PIPELINE)["release"]["script"]])
            done = run(lines, project, programs, CI_COMMIT_TAG=tag, **variables)
            assert done.returncode == 0, done.stdout + done.stderr
            made = json.loads((folder / "release.json").read_text(encoding="utf-8"))
            assert made["version"] == version
            with zipfile.ZipFile(previous, "w") as archive:
                for path in (folder / "dist").rglob("*"):
                    archive.write(path, path.relative_to(project))
            shutil.rmtree(folder / "previous", ignore_errors=True)
        assert made["changes"]["bump"]["sentence"] == "1.0.0 -> 1.1.0 is enough"
        listed = next(content for path, content in server.files.items() if path.endswith("maven-metadata.xml"))
    assert re.findall(r"<version>([^<]+)", listed.decode()) == ["1.0.0", "1.1.0"]
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert asked == f"{server.address}/projects/7/jobs/artifacts/models-1.0.0/download?job=release\n"
