"""No call that only Linux has stands outside of named places, and the code runs where those calls are absent."""

import ast
import ctypes
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.cli.init import _relative
from packager.files.processes import commands, groups
from packager.workflows.limits import ONLY_ON, limits
from tests.cases import hosts
from tests.cases.hosts_shared import ROOT, imported
from tests.cases.readings import Nodes, of_all_modules
from tests.elsewhere import plugin

__all__ = ["imported"]

OWN_WAYS = ("files/host.py", "files/processes/copies.py", "files/processes/groups.py")
"""Modules that do the same on each system in its own way; `copies.py` is asked for nothing but on Linux."""

PLACES = {
    # where the system can; else in another way
    "measuring/bench/machine.py": {
        "'/proc/cpuinfo'",
        "'/proc/stat'",
        "'/sys/devices/system/cpu'",
        "'/sys/fs/cgroup/cpu.max'",
        "os.getloadavg",
        "os.sched_getaffinity",
        "os.sched_setaffinity",
    },
    "files/atomic.py": {".hardlink_to()", "os.copy_file_range"},
    "files/exchange.py": {"CDLL(None)"},
    "files/store/listing.py": {".chmod()"},
    "files/store/objects.py": {".hardlink_to()"},
    "graph/weights/writing.py": {"os.copy_file_range"},
    "files/processes/limits.py": {
        "'/proc/meminfo'",
        "resource",
        "resource.RLIMIT_DATA",
        "resource.RLIM_INFINITY",
        "resource.prlimit",
    },
    "quantization/calibration/child.py": {"CDLL(None)"},
    "engines/runners/reference_child.py": {"resource", "resource.RLIMIT_DATA", "resource.setrlimit"},
    "engines/session/timing.py": {"'/proc/self/status'", "resource", "resource.RUSAGE_SELF", "resource.getrusage"},
    "workflows/unchanged.py": {"'/proc/cpuinfo'"},
    # in environments that only Linux supports
    "engines/environments/android_probe.py": {"'/proc/self/status'"},
    "measuring/devices/adb/program.py": {".chmod()"},
    "measuring/devices/android_tools.py": {".chmod()"},
    "engines/environments/zig.py": {".chmod()"},
    "engines/environments/debian.py": {".rename()"},
    "engines/environments/webgpu.py": {"'/usr/lib/'", "'/usr/share/vulkan/icd.d'"},
    "files/processes/downloads.py": {"'/etc/apt'"},
    "engines/runners/arm64.py": {"'/proc/cpuinfo'"},
    "engines/runners/elsewhere.py": {"'/dev/kfd'"},
    # for Xcode, which runs on Macs
    "workflows/xcode/files.py": {".chmod()"},
    "workflows/xcode/wiring.py": {"'/bin/sh'"},
}
"""Other calls that a system lacks or does differently, by module."""

METHODS = frozenset("symlink_to hardlink_to chmod rename".split())
"""Methods of Path that do something else on Windows, or may be refused."""

CALLED = METHODS | {"replace", "CDLL", "write_text"}

KEYWORDS = frozenset("preexec_fn start_new_session process_group pass_fds creationflags".split())

KINDS = (ast.Expr, ast.Import, ast.ImportFrom, ast.Attribute, ast.Constant, ast.Call)
"""Nodes that may be such a call, or say whether one is."""

FOLDERS = ("/proc/", "/dev/", "/sys/", "/etc/", "/bin/", "/usr/")


def findings(nodes: Nodes) -> list[str]:
    """Calls that Linux has and another system lacks, or does differently."""
    nodes = [node for node in nodes if isinstance(node, KINDS)]
    docstrings = {
        id(node.value) for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    imported = {
        alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return sorted({each for node in nodes if id(node) not in docstrings for each in _found(node, imported)})


def _found(node: ast.AST, imported: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if _lacking(alias.name, ""))
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names if _lacking(node.module or "", alias.name))
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _lacking(node.value.id, node.attr):
        yield f"{node.value.id}.{node.attr}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(FOLDERS):
        yield repr(node.value)
    elif isinstance(node, ast.Call):
        yield from _called(node, imported)


def _called(node: ast.Call, imported: set[str]) -> Iterator[str]:
    yield from (f"{each.arg}=" for each in node.keywords if each.arg in KEYWORDS)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name not in CALLED or ast.unparse(node.func.value) in imported:  # type: ignore[attr-defined]
        return  # a function, or one of a module: `host.rename`
    is_replacement = name == "replace" and len(node.args) == 1 and not node.keywords  # str.replace takes two
    if name in METHODS or is_replacement:
        yield f".{name}()"
    if name == "CDLL" and node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value is None:
        yield "CDLL(None)"
    if name == "write_text" and not any(each.arg == "newline" for each in node.keywords):
        yield ".write_text() without newline"


def _lacking(module: str, name: str) -> bool:
    if not name:
        return any(hosts.is_missing(module, platform) for platform in hosts.OTHERS)
    return any(name in hosts.missing(module, platform) for platform in hosts.OTHERS)


def test_no_call_that_only_linux_has_stands_outside_of_named_places() -> None:
    found = {name: set(calls) for name, calls in of_all_modules(lambda _, nodes: findings(nodes)).items() if calls}
    assert all(found.pop(name) for name in OWN_WAYS)
    assert found == PLACES


def test_tests_that_are_left_out_elsewhere_exist() -> None:
    for name in (*plugin.LINUX_ONLY, *plugin.NOT_ON_WINDOWS):
        file, _, test = name.partition("::")
        text = (ROOT / "tests" / "unit" / file).read_text(encoding="utf-8")
        assert f"def {test.partition('[')[0]}" in text, name


@pytest.mark.parametrize("system", sorted(ONLY_ON))
def test_the_page_about_hosts_names_every_limit(system: str) -> None:
    page = " ".join((ROOT / "docs" / "hosts.md").read_text(encoding="utf-8").lower().split())
    found = [limit.what.lower() for limit in limits(system)]
    assert len(found) > 3
    assert [what for what in found if what not in page] == []


def test_other_systems_have_limits_and_crashes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits("linux") == ()
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert "ONNX Runtime" in [limit.what for limit in limits("darwin")]
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert "ONNX Runtime" not in [limit.what for limit in limits("darwin")]
    assert (commands.crash_reason(-11), commands.crash_reason(3), commands.crash_reason(0)) == ("SIGSEGV", "", "")
    monkeypatch.setattr(sys, "platform", "win32")
    assert commands.crash_reason(0xC0000005) == "access violation"
    assert commands.crash_reason(0xC0000123) == "0xC0000123"
    assert commands.crash_reason(3) == ""
    assert (ctypes.sizeof(groups.BasicLimits), ctypes.sizeof(groups.Limits)) == (64, 144)


def test_a_model_on_another_drive_is_named_by_its_whole_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def of_another_drive(path: Path, start: Path) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    model = tmp_path / "net.onnx"
    assert _relative(model, tmp_path / "mobpack.toml") == "net.onnx"
    monkeypatch.setattr(os.path, "relpath", of_another_drive)
    assert _relative(model, tmp_path / "mobpack.toml") == model.as_posix()
