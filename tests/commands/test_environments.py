"""Isolated environments: whole or absent, from locked bytes, and separate from the user's packages."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments import ENVIRONMENTS
from packager.engines.environments.environment import INSTALL_ATTEMPTS, folder_for, install_locked, make_once
from tests.cases.environments import Doctor, cache, doctor

__all__ = ["cache", "doctor"]


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder whose `python` is used; `serve` sets its pip's behaviour."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return folder


def serve(folder: Path, text: str) -> None:
    """A `python` that keeps its arguments in calls.txt and runs `text`, where $target is the folder to install to."""
    program = folder / "python"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/calls.txt\ntarget="$(echo "$@" | sed "s/.*--target //; s/ .*//")"\n{text}\n'
    )
    program.chmod(0o755)


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text().splitlines()


def test_an_install_that_is_killed_leaves_nothing_that_looks_whole(cache: Path) -> None:
    program = (
        "import os, signal\nfrom packager.engines.environments.environment import folder_for, make_once\n"
        "def make(made):\n    (made / 'half').write_text('')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "make_once(folder_for('thing', []), make)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not folder_for("thing", []).exists()
    assert list((cache / "environments" / "thing").glob("tmp*")), "the check must have died half-way"


def test_pip_installs_locked_wheels_alone(pip: Path, tmp_path: Path) -> None:
    serve(pip, 'echo "$WORD" > $target/module.py')
    (tmp_path / "site").mkdir()
    install_locked(tmp_path / "lock.txt", tmp_path / "site", {"WORD": "w"})
    assert (tmp_path / "site" / "module.py").read_text() == "w\n"
    assert len(calls(pip)) == 1
    assert "-m pip install --quiet" in calls(pip)[0]
    assert "--no-compile --require-hashes --no-deps --only-binary :all: --target " in calls(pip)[0]


def test_pip_unpacks_on_the_disk_of_the_environment(pip: Path, tmp_path: Path) -> None:
    serve(pip, "test -d $TMPDIR && basename $(dirname $TMPDIR) > $target/beside; echo left > $TMPDIR/left")
    site = tmp_path / "environment" / "site"
    site.mkdir(parents=True)
    install_locked(tmp_path / "lock.txt", site)
    assert (site / "beside").read_text() == "environment\n"
    assert [path.name for path in site.parent.iterdir()] == ["site"]


def test_pip_that_succeeds_the_third_time_is_good_enough(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, f'touch $target/file$(wc -l < {pip}/calls.txt | tr -d " "); [ $(wc -l < {pip}/calls.txt) -ge 3 ]')
    (tmp_path / "site").mkdir()
    install_locked(tmp_path / "lock.txt", tmp_path / "site")
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["file3"]


def test_pip_that_never_succeeds_is_a_tool_error_in_its_own_words(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, "echo 'no route to host' >&2; exit 1")
    (tmp_path / "site").mkdir()
    with pytest.raises(ToolError, match=r"cannot install lock\.txt with pip:\nno route to host") as error:
        install_locked(tmp_path / "lock.txt", tmp_path / "site")
    assert len(calls(pip)) == INSTALL_ATTEMPTS
    assert "check the network" in error.value.hint


def test_that_pip_tried_again_is_left_out_of_what_it_said(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, "printf 'WARNING: Retrying (Retry(total=4))\\nERROR: no route to host\\n' >&2; exit 1")
    (tmp_path / "site").mkdir()
    with pytest.raises(ToolError, match=r"with pip:\nERROR: no route to host$"):
        install_locked(tmp_path / "lock.txt", tmp_path / "site")


def test_a_full_disk_is_called_that_and_not_tried_again(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, "printf 'Traceback:\\nOSError: [Errno 28] No space left on device\\n' >&2; exit 2")
    (tmp_path / "site").mkdir()
    with pytest.raises(ToolError, match=rf"^no space left on the disk of {tmp_path / 'site'}") as error:
        install_locked(tmp_path / "lock.txt", tmp_path / "site")
    assert "Traceback" not in error.value.message
    assert len(calls(pip)) == 1


@pytest.mark.usefixtures("cache")
def test_a_package_with_another_hash_is_refused_by_pip_itself(tmp_path: Path) -> None:
    """No registry is asked: the package lies in a folder, and its hash is not the one that the lock names."""
    (tmp_path / "thing-1.0-py3-none-any.whl").write_bytes(b"not what was locked")
    lock = tmp_path / "lock.txt"
    lock.write_text(f"--no-index\n--find-links {tmp_path}\nthing==1.0 --hash=sha256:{'0' * 64}\n")
    folder = folder_for("thing", [])
    with pytest.raises(ToolError, match=r"does not match the hash in lock\.txt") as error:
        make_once(folder, lambda made: install_locked(lock, made))
    assert "do not use the package" in error.value.hint
    assert list(folder.parent.iterdir()) == []


def test_doctor_lists_every_environment_and_what_to_do(doctor: Doctor) -> None:
    found = {each["name"]: each for each in json.loads(doctor("--json")[1])["environments"]}
    assert set(found) == set(ENVIRONMENTS)
    assert {each["state"] for each in found.values()} <= {"missing", "unsupported"}
    assert all(each["reason"] and each["about"] for each in found.values())
    assert all(name in doctor("--details")[1] for name in ENVIRONMENTS)


def test_doctor_installs_and_says_how_long_it_took(doctor: Doctor, pip: Path) -> None:
    serve(pip, "exit 0")
    code, listed, messages = doctor("--install", "runtime", "--details")
    assert code == 0
    assert "✓ install runtime" in messages
    assert "present" in listed


def test_doctor_that_cannot_install_says_why_and_exits_with_4(doctor: Doctor, pip: Path, cache: Path) -> None:
    serve(pip, "echo 'no route to host' >&2; exit 1")
    code, _, messages = doctor("--install", "runtime")
    assert code == ToolError.EXIT_CODE
    assert "cannot install runtime.txt with pip" in messages
    assert "no route to host" in messages
    assert list((cache / "environments" / "runtime").iterdir()) == []
