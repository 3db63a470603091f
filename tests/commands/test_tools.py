"""Other programs, run and reported; pinned files, fetched and checked. The programs here are scripts of a few lines."""

import hashlib
import os
import re
import sys
import tarfile
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from packager.core.errors import ModelError, ToolError
from packager.files.processes import commands, downloads
from tests.cases.tools import CONTENT, PINNED, registry, script, serve

__all__ = ["registry"]


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text().splitlines()


def test_a_pinned_file_is_fetched_once_and_then_taken_from_the_cache(registry: Path) -> None:
    serve(registry)
    one, two = downloads.fetch("thing"), downloads.fetch("thing")
    assert one == two
    assert one.read_bytes() == CONTENT
    assert len(calls(registry)) == 1
    assert calls(registry)[0].startswith("pack thing@1.0.0 --pack-destination ")


def test_a_damaged_file_in_the_cache_is_fetched_again(registry: Path) -> None:
    serve(registry)
    downloads.fetch("thing").write_bytes(b"damaged")
    assert downloads.fetch("thing").read_bytes() == CONTENT


def test_other_bytes_than_the_pinned_ones_are_refused_and_not_kept(registry: Path, tmp_path: Path) -> None:
    serve(registry, "another file")
    with pytest.raises(ToolError, match=r"thing@1\.0\.0 is not the pinned file: sha256 [0-9a-f]{64}, expected"):
        downloads.fetch("thing")
    assert list((tmp_path / "cache" / "mobpack" / "files").iterdir()) == []


def test_a_registry_that_answers_the_third_time_is_good_enough(registry: Path) -> None:
    script(
        registry,
        "npm",
        f"""
        echo "$@" >> {registry}/calls.txt
        [ "$(wc -l < {registry}/calls.txt)" -ge 3 ] || {{ echo "no network" >&2; exit 1; }}
        printf "{CONTENT.decode()}" > "$4/thing.tgz" """,
    )
    assert downloads.fetch("thing").read_bytes() == CONTENT


def test_a_registry_that_never_answers_is_a_tool_error_in_its_own_words(registry: Path) -> None:
    script(registry, "npm", f'echo "$@" >> {registry}/calls.txt\necho "network unreachable" >&2\nexit 1')
    with pytest.raises(ToolError, match=r"cannot fetch thing@1\.0\.0: network unreachable") as error:
        downloads.fetch("thing")
    assert len(calls(registry)) == downloads.FETCH_ATTEMPTS
    assert "check the network" in error.value.hint


def test_npm_is_told_not_to_wait_for_a_registry_and_to_say_what_failed(registry: Path) -> None:
    """npm's own three attempts take minutes without a network, and `--silent` hides even a full disk."""
    serve(registry, CONTENT.decode())
    downloads.fetch("thing")
    assert calls(registry)[0].endswith(
        " --ignore-scripts --loglevel=error --fetch-retries=1 --fetch-retry-mintimeout=1000"
    )


def test_a_full_disk_while_fetching_is_called_that(registry: Path, tmp_path: Path) -> None:
    script(registry, "npm", 'echo "npm error nospc ENOSPC: no space left on device, write" >&2\nexit 1')
    with pytest.raises(ToolError, match=rf"^no space left on the disk of {tmp_path}/cache/mobpack/files/") as error:
        downloads.fetch("thing")
    assert error.value.hint == "free some space, or set XDG_CACHE_HOME and TMPDIR to folders on another disk"


def test_python_packages_are_fetched_by_this_pip_alone(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(downloads.pins()["files"], "thing", {**PINNED, "client": "pip", "package": "thing==1.0.0"})
    script(
        registry,
        "python",
        f"""
        echo "$@" > {registry}/calls.txt
        cat "${{14}}" >> {registry}/calls.txt
        printf "{CONTENT.decode()}" > "${{12}}/thing.whl" """,
    )
    assert downloads.fetch("thing").read_bytes() == CONTENT
    command, requirement = calls(registry)
    assert re.fullmatch(
        r"-P -m pip download --quiet --no-deps --ignore-requires-python --require-hashes --only-binary :all: "
        r"--dest \S+ --requirement \S+",
        command,
    )
    assert requirement == f"thing==1.0.0 --hash=sha256:{PINNED['sha256']}"


def source_package(mirror: Path, witness: Path) -> bytes:
    """A package `thing` 1.0.0 that is published as sources alone; its own build backend writes the file `witness`."""
    backend = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    texts = {
        "pyproject.toml": f"{backend}[project]\nname = 'thing'\nversion = '1.0.0'\n",
        "backend.py": f"open({str(witness)!r}, 'w').close()\n",
        "PKG-INFO": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0.0\n",
    }
    with tarfile.open(mirror / "thing-1.0.0.tar.gz", "w:gz") as archive:
        for name, text in texts.items():
            member = tarfile.TarInfo(f"thing-1.0.0/{name}")
            member.size = len(text)
            archive.addfile(member, BytesIO(text.encode()))
    return (mirror / "thing-1.0.0.tar.gz").read_bytes()


def wheel(mirror: Path) -> None:
    with zipfile.ZipFile(mirror / "thing-1.0.0-py3-none-any.whl", "w") as archive:
        archive.writestr("thing-1.0.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0.0\n")
        archive.writestr("thing-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("thing-1.0.0.dist-info/RECORD", "")


@pytest.mark.parametrize("is_pinned", [False, True], ids=["other bytes", "the pinned bytes"])
def test_no_code_of_sources_runs_on_a_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_pinned: bool) -> None:
    witness = tmp_path / "ran"
    content = source_package(tmp_path, witness)
    pinned = {**PINNED, "client": "pip", "package": "thing==1.0.0"}
    pinned |= {"sha256": hashlib.sha256(content).hexdigest()} if is_pinned else {}
    monkeypatch.setitem(downloads.pins()["files"], "thing", pinned)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ToolError, match=r"^cannot fetch thing==1\.0\.0: "):
        downloads.fetch("thing")
    assert not witness.exists(), "the mirror's code has run"

    wheel(tmp_path)
    with pytest.raises(ToolError, match=r"^thing==1\.0\.0 is not the pinned file: sha256 [0-9a-f]{64}, expected "):
        downloads.fetch("thing")
    assert not witness.exists(), "the mirror's code has run"


MAVEN = {**PINNED, "client": "maven", "package": "com.example:thing:1.0.0:aar"}


def test_maven_copies_the_file_that_its_coordinates_name(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Maven itself reads the user's settings.xml: mirrors, accounts, proxies."""
    monkeypatch.setitem(downloads.pins()["files"], "thing", MAVEN)
    monkeypatch.setenv("PATH", f"{registry}:{os.environ['PATH']}")
    script(
        registry,
        "mvn",
        f"""
        echo "$@" >> {registry}/calls.txt
        printf "{CONTENT.decode()}" > "${{6#-DoutputDirectory=}}/thing-1.0.0.aar" """,
    )
    assert downloads.fetch("thing").read_bytes() == CONTENT
    [call] = calls(registry)
    assert call.startswith("--batch-mode --no-transfer-progress --update-snapshots org.apache.maven.plugins:maven-")
    assert " -Dartifact=com.example:thing:1.0.0:aar " in call


def test_maven_is_asked_once_for_a_file_that_no_repository_has(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(downloads.pins()["files"], "thing", MAVEN)
    monkeypatch.setenv("PATH", f"{registry}:{os.environ['PATH']}")
    script(
        registry,
        "mvn",
        f"""
        echo "$@" >> {registry}/calls.txt
        echo "WARNING: a method is deprecated" >&2
        echo "[ERROR] Could not find artifact com.example:thing:aar:1.0.0 in central -> [Help 1]"
        echo "[ERROR] Re-run Maven with the -e switch."
        exit 1""",
    )
    with pytest.raises(ToolError) as error:
        downloads.fetch("thing")
    assert error.value.message == (
        "cannot fetch com.example:thing:1.0.0:aar: Could not find artifact com.example:thing:aar:1.0.0 in central"
    )
    assert len(calls(registry)) == 1


def test_programs_run_and_fail_in_words(tmp_path: Path) -> None:
    program = script(tmp_path, "program", 'echo "$1 $WORD $PWD $HOME"; echo noise >&2')
    home = os.environ.get("HOME", "")
    assert (
        commands.run([program, "a b"], what="a test", cwd=tmp_path, environment={"WORD": "w"})
        == f"a b w {tmp_path} {home}\n"
    )
    program = script(tmp_path, "program", 'for i in $(seq 50); do echo "line $i"; done; echo "the reason" >&2; exit 7')
    with pytest.raises(ToolError, match=r"compiling failed \(exit code 7\):") as error:
        commands.run([program], what="compiling", hint="look there")
    lines = error.value.message.splitlines()
    assert (len(lines), lines[-1], lines[1]) == (21, "the reason", "line 32")
    assert error.value.hint == "look there"
    with pytest.raises(ToolError, match=r"cannot run .*/absent for compiling: No such file or directory"):
        commands.run([tmp_path / "absent"], what="compiling")


def program(folder: Path, text: str) -> Path:
    path = folder / "program.py"
    path.write_text(f"import json, os, signal, sys\njob = json.load(open(sys.argv[1]))\n{text}\n")
    return path


def test_jobs_are_answered_or_die_in_words(tmp_path: Path) -> None:
    answering = program(tmp_path, "print('chatter')\nprint(json.dumps({'twice': job['number'] * 2}))")
    assert commands.run_job([answering], {"number": 21}, tmp_path, crash="", hint="") == {"twice": 42}
    dying = program(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(ModelError, match=r"^it crashed \(SIGSEGV\)$") as error:
        commands.run_job([dying], {}, tmp_path, crash="it crashed", hint="another model")
    assert error.value.hint == "another model"
    full = program(tmp_path, "raise OSError(28, os.strerror(28))")
    with pytest.raises(OSError, match="No space left on device") as told:
        commands.run_job([full], {}, tmp_path, crash="", hint="")
    assert told.value.errno == 28
    faulty = program(tmp_path, "raise KeyError('ours')")
    with pytest.raises(RuntimeError, match="KeyError: 'ours'"):
        commands.run_job([faulty], {}, tmp_path, crash="", hint="")


def test_an_environment_with_a_library_that_was_cut_short_is_told_from_a_crash(tmp_path: Path) -> None:
    """Linux ends a program that reads past the end of a file in memory with SIGBUS (mmap(2))."""
    reading = program(
        tmp_path,
        """
import mmap
with open("library", "w+b") as file:
    file.truncate(8192)
    view = mmap.mmap(file.fileno(), 8192)
    file.truncate(0)
    view[5000]
""",
    )
    with pytest.raises(ToolError, match="qnn does not work: a file of it is shorter than") as error:
        commands.run_job([reading], {}, tmp_path, crash="", hint="", command=(sys.executable,), owner="qnn")
    assert error.value.hint.endswith("mobpack doctor --install qnn")
    with pytest.raises(ModelError, match=r"^it crashed \(SIGBUS\)$"):
        commands.run_job([reading], {}, tmp_path, crash="it crashed", hint="")


@pytest.mark.parametrize("missing", ["a module", "the interpreter"])
def test_an_environment_that_lacks_a_file_is_a_tool_error_with_a_remedy(tmp_path: Path, missing: str) -> None:
    broken = program(tmp_path, "import a_module_that_is_gone")
    command = (sys.executable,) if missing == "a module" else (str(tmp_path / "gone"),)
    with pytest.raises(ToolError, match=r"^the environment qnn does not work: .*gone'") as error:
        commands.run_job([broken], {}, tmp_path, crash="", hint="", command=command, owner="qnn")
    assert error.value.hint.startswith("remove environments/qnn from mobpack's cache")
    assert error.value.hint.endswith("mobpack doctor --install qnn")
