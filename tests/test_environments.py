"""Isolated environments: whole or absent, from locked bytes, and separate from the user's packages."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from packager.cli import main
from packager.core.errors import ConfigError, ToolError
from packager.engines.environments import ENVIRONMENTS, cuda, ensure, qnn, runtime, webgpu
from packager.engines.environments.debian import unpack_deb
from packager.engines.environments.environment import (
    INSTALL_ATTEMPTS,
    folder_for,
    install_locked,
    isolated_command,
    make_once,
)
from packager.files.leftovers import DAY_S
from packager.files.processes import commands
from packager.workflows.doctor import environments_to_install, examine_environments
from tests.toolchain.environments import have
from tests.toolchain.require import require

LOCKS = (cuda.LOCK, runtime.LOCK, qnn.LOCK, webgpu.LOCK)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, without delays after failures."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    return tmp_path / "cache" / "mobpack"


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


@pytest.mark.usefixtures("cache")
def test_an_environment_is_made_once() -> None:
    folder = folder_for("thing", ["one"])
    for content in ("first", "second"):
        make_once(folder, lambda made, content=content: (made / "file").write_text(content) and None)  # type: ignore[misc]
    assert (folder / "file").read_text() == "first"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.usefixtures("cache")
def test_other_contents_are_another_folder() -> None:
    assert folder_for("thing", ["one"]) != folder_for("thing", ["two"])
    assert folder_for("thing", ["one"]) == folder_for("thing", ["one"])


@pytest.mark.programs
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


def test_what_killed_installs_left_is_removed_after_a_day(cache: Path) -> None:
    old, new = (cache / "environments" / "thing" / name for name in ("tmp-old", "tmp-new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (0, time.time() - DAY_S - 1))
    make_once(folder_for("thing", []), lambda made: None)
    assert (old.exists(), new.exists()) == (False, True)


def test_an_install_that_another_process_completes_meanwhile_is_no_error(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = cache / "environments" / "thing" / "tmp-of-another"
    others.mkdir(parents=True)
    found = list(others.parent.glob("tmp*"))
    others.rename(others.with_name("whole"))
    monkeypatch.setattr(Path, "glob", lambda *_: iter(found))
    make_once(folder_for("thing", []), lambda made: None)
    assert folder_for("thing", []).is_dir()


def test_a_cache_that_cannot_be_written_is_a_tool_error(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "environments").write_text("")
    with pytest.raises(ToolError, match="cannot make ") as error:
        make_once(folder_for("thing", []), lambda made: None)
    assert "XDG_CACHE_HOME" in error.value.hint


@pytest.mark.programs
def test_pip_installs_locked_wheels_alone(pip: Path, tmp_path: Path) -> None:
    serve(pip, 'echo "$WORD" > $target/module.py')
    (tmp_path / "site").mkdir()
    install_locked(tmp_path / "lock.txt", tmp_path / "site", {"WORD": "w"})
    assert (tmp_path / "site" / "module.py").read_text() == "w\n"
    assert len(calls(pip)) == 1
    assert "-m pip install --quiet" in calls(pip)[0]
    assert "--no-compile --require-hashes --no-deps --only-binary :all: --target " in calls(pip)[0]


@pytest.mark.programs
def test_pip_unpacks_on_the_disk_of_the_environment(pip: Path, tmp_path: Path) -> None:
    serve(pip, "test -d $TMPDIR && basename $(dirname $TMPDIR) > $target/beside; echo left > $TMPDIR/left")
    site = tmp_path / "environment" / "site"
    site.mkdir(parents=True)
    install_locked(tmp_path / "lock.txt", site)
    assert (site / "beside").read_text() == "environment\n"
    assert [path.name for path in site.parent.iterdir()] == ["site"]


@pytest.mark.programs
def test_pip_that_succeeds_the_third_time_is_good_enough(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, f'touch $target/file$(wc -l < {pip}/calls.txt | tr -d " "); [ $(wc -l < {pip}/calls.txt) -ge 3 ]')
    (tmp_path / "site").mkdir()
    install_locked(tmp_path / "lock.txt", tmp_path / "site")
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["file3"]


@pytest.mark.programs
def test_pip_that_never_succeeds_is_a_tool_error_in_its_own_words(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, "echo 'no route to host' >&2; exit 1")
    (tmp_path / "site").mkdir()
    with pytest.raises(ToolError, match=r"cannot install lock\.txt with pip:\nno route to host") as error:
        install_locked(tmp_path / "lock.txt", tmp_path / "site")
    assert len(calls(pip)) == INSTALL_ATTEMPTS
    assert "check the network" in error.value.hint


@pytest.mark.programs
def test_a_full_disk_is_called_that_and_not_tried_again(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, "printf 'Traceback:\\nOSError: [Errno 28] No space left on device\\n' >&2; exit 2")
    (tmp_path / "site").mkdir()
    with pytest.raises(ToolError, match=rf"^no space left on the disk of {tmp_path / 'site'}") as error:
        install_locked(tmp_path / "lock.txt", tmp_path / "site")
    assert "Traceback" not in error.value.message
    assert len(calls(pip)) == 1


@pytest.mark.programs
def test_that_pip_tried_again_is_left_out_of_what_it_said(pip: Path, tmp_path: Path, cache: Path) -> None:
    serve(pip, "printf 'WARNING: Retrying (Retry(total=4))\\nERROR: no route to host\\n' >&2; exit 1")
    (tmp_path / "site").mkdir()
    with pytest.raises(ToolError, match=r"with pip:\nERROR: no route to host$"):
        install_locked(tmp_path / "lock.txt", tmp_path / "site")


@pytest.mark.programs
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


@pytest.mark.environments
def test_a_debian_package_is_unpacked_as_far_as_is_wanted(tmp_path: Path) -> None:
    require(shutil.which("dpkg-deb") is not None, "packages of Debian are unpacked by its dpkg-deb")
    content = tmp_path / "content"
    (content / "DEBIAN").mkdir(parents=True)
    (content / "DEBIAN" / "control").write_text(
        "Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.com>\nDescription: none\n"
    )
    for name in ("a.txt", "b.so", "c.so"):
        (content / name).write_text(name)
    commands.run(["dpkg-deb", "--build", content, tmp_path / "thing.deb"], what="making a package")

    for name, files in {"all": None, "first": 1}.items():
        unpack_deb(tmp_path / "thing.deb", tmp_path / name, lambda path: path.suffix == ".so", files=files)

    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["b.so", "c.so"]
    [first] = (tmp_path / "first").iterdir()
    assert first.read_text() == first.name


def test_an_environment_this_machine_cannot_have_says_so_in_words(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    for name in ("qnn", "webgpu"):
        environment = ENVIRONMENTS[name]()
        assert "x86_64 only; this is " in environment.unsupported()
        assert "riscv64" in environment.missing()
        with pytest.raises(ToolError, match="riscv64"):
            environment.install()
        with pytest.raises(ToolError, match=f"does not support the environment {name}: "):
            ensure(environment)
    states = {each.name: each for each in examine_environments()}
    assert (states["qnn"].state, states["runtime"].state) == ("unsupported", "missing")
    assert states["runtime"].reason == "not installed: run `mobpack doctor --install runtime`"
    assert "qnn" not in environments_to_install(("all",))


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is Linux's")
@pytest.mark.parametrize(
    ("reported", "is_enough"), [(("glibc", "2.35"), True), (("glibc", "2.31"), False), (("", ""), False)]
)
def test_qnn_asks_for_the_c_library_it_was_built_with(
    reported: tuple[str, str], is_enough: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "libc_ver", lambda: reported)
    assert (qnn.Qnn().unsupported() == "") == is_enough
    assert is_enough or "glibc 2.35 or later" in qnn.Qnn().unsupported()


def test_names_to_install_are_checked_and_taken_once() -> None:
    with pytest.raises(ConfigError, match="unknown environment 'qn'") as error:
        environments_to_install(("runtime", "qn"))
    assert error.value.hint == "did you mean 'qnn'?"
    assert environments_to_install(("runtime", "qnn", "runtime")) == ["runtime", "qnn"]
    assert environments_to_install(()) == []
    assert "runtime" in environments_to_install(("all",))


Doctor = Callable[..., "tuple[int | str | None, str, str]"]


@pytest.fixture
def doctor(cache: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Doctor:
    """Runs `mobpack doctor` with a cache of its own: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int | str | None, str, str]:
        monkeypatch.setattr(sys, "argv", ["mobpack", "doctor", *arguments])
        with pytest.raises(SystemExit) as exited:
            main()
        return (exited.value.code, *capfd.readouterr())

    return run


def test_doctor_refuses_an_unknown_environment_before_it_installs_any(doctor: Doctor, cache: Path) -> None:
    code, _, messages = doctor("--install", "runtime", "--install", "webgpuu")
    assert code == ConfigError.EXIT_CODE
    assert "unknown environment 'webgpuu'" in messages
    assert "did you mean 'webgpu'?" in messages
    assert not (cache / "environments").exists()


@pytest.mark.programs
def test_doctor_lists_every_environment_and_what_to_do(doctor: Doctor) -> None:
    found = {each["name"]: each for each in json.loads(doctor("--json")[1])["environments"]}
    assert set(found) == set(ENVIRONMENTS)
    assert {each["state"] for each in found.values()} <= {"missing", "unsupported"}
    assert all(each["reason"] and each["about"] for each in found.values())
    assert all(name in doctor("--details")[1] for name in ENVIRONMENTS)


@pytest.mark.programs
def test_doctor_installs_and_says_how_long_it_took(doctor: Doctor, pip: Path) -> None:
    serve(pip, "exit 0")
    code, listed, messages = doctor("--install", "runtime", "--details")
    assert code == 0
    assert "✓ install runtime" in messages
    assert "present" in listed


@pytest.mark.programs
def test_doctor_that_cannot_install_says_why_and_exits_with_4(doctor: Doctor, pip: Path, cache: Path) -> None:
    serve(pip, "echo 'no route to host' >&2; exit 1")
    code, _, messages = doctor("--install", "runtime")
    assert code == ToolError.EXIT_CODE
    assert "cannot install runtime.txt with pip" in messages
    assert "no route to host" in messages
    assert list((cache / "environments" / "runtime").iterdir()) == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_package_has_a_version_and_hashes_for_every_python(lock: Path) -> None:
    text = lock.read_text().replace("\\\n", " ")
    packages = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all("==" in line and line.count("--hash=sha256:") for line in packages)
    runtime_of_it = "onnxruntime-gpu" if lock == cuda.LOCK else "onnxruntime"
    assert {line.split("==")[0] for line in packages} >= {"numpy", runtime_of_it}


def test_plug_ins_are_asked_in_the_converters_version() -> None:
    for lock in (qnn.LOCK, webgpu.LOCK):
        assert f"onnxruntime=={version('onnxruntime')} " in lock.read_text()


def python(name: str, program: str) -> str:
    environment = ENVIRONMENTS[name]()
    return commands.run([*environment.command(), "-c", program], what=name, environment=environment.variables()).strip()


@pytest.mark.environments
@pytest.mark.parametrize("name", ["runtime", "qnn", "webgpu"])
def test_an_installed_environment_is_whole_and_sealed_off(name: str, tmp_path: Path) -> None:
    have(name)
    assert ENVIRONMENTS[name]().missing() == ""
    wanted = runtime.shipped_version() if name == "runtime" else version("onnxruntime")
    assert python(name, "import onnxruntime; print(onnxruntime.__version__)") == wanted
    (tmp_path / "onnx.py").write_text("")
    leaks = "import importlib.util as u; print([n for n in ('onnx', 'packager', 'pytest', 'site') if u.find_spec(n)])"
    assert python(name, leaks) == "['site']"
    assert python(name, "import sys; print('site' in sys.modules)") == "False"


UNCOMPILED = """
import os, onnxruntime, sys
used = [module for module in sys.modules.values() if (getattr(module, "__file__", "") or "").startswith(sys.path[0])]
assert {"numpy", "onnxruntime"} <= {module.__name__ for module in used}
print([module for module in used if module.__file__.endswith(".py") and not os.path.exists(module.__cached__)])
"""
"""Prints the modules of the environment that every process compiles anew."""


@pytest.mark.environments
def test_the_runtime_is_made_when_it_is_first_needed(cache: Path) -> None:
    environment = ENVIRONMENTS["runtime"]()
    assert environment.missing()
    try:
        ensure(environment)
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
    assert environment.missing() == ""
    assert environment.command() == isolated_command()
    assert python("runtime", UNCOMPILED) == "[]"


@pytest.mark.environments
def test_webgpu_finds_its_own_vulkan() -> None:
    have("webgpu")
    variables = ENVIRONMENTS["webgpu"]().variables()
    described = json.loads(Path(variables["VK_DRIVER_FILES"]).read_text())
    library = described["ICD"]["library_path"]
    assert "/" not in library or Path(library).is_file()
    assert python("webgpu", webgpu.TRY) == ""


@pytest.mark.environments
def test_a_new_pin_without_new_hashes_is_refused(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    have("runtime")
    before = runtime.Runtime().variables()["PYTHONPATH"]
    monkeypatch.setattr(runtime, "shipped_version", lambda: "1.27.0")
    with pytest.raises(ToolError, match=r"does not match the hash in runtime\.txt"):
        runtime.Runtime().install()
    assert [path.name for path in (cache / "environments" / "runtime").iterdir()] == [Path(before).name]
