"""Isolated environments: whole or absent, from locked bytes, and separate from the user's packages."""

import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from packager.core.errors import ConfigError, ToolError
from packager.engines.environments import ENVIRONMENTS, cuda, ensure, qnn, runtime, webgpu
from packager.engines.environments.environment import folder_for, make_once
from packager.files.leftovers import DAY_S
from packager.workflows.doctor import environments_to_install, examine_environments
from tests.cases.environments import Doctor, cache, doctor

__all__ = ["cache", "doctor"]

LOCKS = (cuda.LOCK, runtime.LOCK, qnn.LOCK, webgpu.LOCK)


@pytest.mark.usefixtures("cache")
def test_an_environment_is_made_once_for_its_contents() -> None:
    folder = folder_for("thing", ["one"])
    for content in ("first", "second"):
        make_once(folder, lambda made, content=content: (made / "file").write_text(content) and None)  # type: ignore[misc]
    assert (folder / "file").read_text() == "first"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert folder_for("thing", ["one"]) != folder_for("thing", ["two"])
    assert folder_for("thing", ["one"]) == folder_for("thing", ["one"])


def test_what_killed_installs_left_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (cache / "environments" / "thing" / name for name in ("tmp-old", "tmp-new"))
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (0, time.time() - DAY_S - 1))
    make_once(folder_for("thing", []), lambda made: None)
    assert (old.exists(), new.exists()) == (False, True)
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


def test_locked_packages_are_checked(doctor: Doctor, cache: Path) -> None:
    with pytest.raises(ConfigError, match="unknown environment 'qn'") as error:
        environments_to_install(("runtime", "qn"))
    assert error.value.hint == "did you mean 'qnn'?"
    assert environments_to_install(("runtime", "qnn", "runtime")) == ["runtime", "qnn"]
    assert environments_to_install(()) == []
    assert "runtime" in environments_to_install(("all",))
    for lock in LOCKS:
        text = lock.read_text().replace("\\\n", " ")
        packages = [line for line in text.splitlines() if line and not line.startswith("#")]
        assert all("==" in line and line.count("--hash=sha256:") for line in packages)
        runtime_of_it = "onnxruntime-gpu" if lock == cuda.LOCK else "onnxruntime"
        assert {line.split("==")[0] for line in packages} >= {"numpy", runtime_of_it}
    for lock in (qnn.LOCK, webgpu.LOCK):
        assert f"onnxruntime=={version('onnxruntime')} " in lock.read_text()
    code, _, messages = doctor("--install", "runtime", "--install", "webgpuu")
    assert code == ConfigError.EXIT_CODE
    assert "unknown environment 'webgpuu'" in messages
    assert "did you mean 'webgpu'?" in messages
    assert not (cache / "environments").exists()
