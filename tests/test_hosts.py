"""No call that only Linux has stands outside of named places, and the code runs where those calls are absent."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import hosts

ROOT = Path(__file__).parents[1]
PACKAGER = ROOT / "packager"
PLACES = {
    "files/atomic.py": "copies in the kernel, and hard links, where the system has them",
    "files/exchange.py": "swaps two folders in one step on Linux and macOS",
    "files/host.py": "locks, links, syncs and renames, on each system in its own way",
    "processes/groups.py": "ends programs on each system in its own way",
    "processes/downloads.py": "reads Debian's sources where there is apt-get",
    "quantization/calibration/child.py": "gives memory back where the C library is glibc",
    "runners/arm64.py": "reads the processor's flags, in an environment for Linux",
    "runners/reference_child.py": "limits its memory on Linux",
    "workflows/unchanged.py": "names the processor where there is no /proc, too",
    "graph/weights/writing.py": "copies in the kernel where the system can",
    "environments/webgpu.py": "finds drivers, in an environment for Linux",
    "environments/android_probe.py": "runs in an environment for Linux",
    "environments/bionic/builder.py": "runs in an environment for Linux",
    "environments/debian.py": "runs in environments for Linux",
    "workflows/xcode/files.py": "sets the bits of a script, which Windows ignores",
    "workflows/xcode/wiring.py": "names the shell of Xcode's phases",
}
"""Modules that may call what other systems lack, and why they run there all the same."""
METHODS = frozenset("symlink_to hardlink_to chmod rename".split())
"""Methods of Path that do something else on Windows, or may be refused."""
KEYWORDS = frozenset("preexec_fn start_new_session process_group pass_fds creationflags".split())
FOLDERS = ("/proc/", "/dev/", "/sys/", "/etc/", "/bin/", "/usr/")


def findings(source: str) -> list[str]:
    """Calls that Linux has and another system lacks, or does differently."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return sorted({each for node in ast.walk(tree) if id(node) not in docstrings for each in _found(node, imported)})


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
    if not isinstance(node.func, ast.Attribute) or ast.unparse(node.func.value) in imported:
        return  # a function, or one of a module: `host.rename`
    name = node.func.attr
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


def sources() -> dict[str, str]:
    return {path.relative_to(PACKAGER).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGER.rglob("*.py")}


def test_no_call_that_only_linux_has_stands_outside_of_named_places() -> None:
    found = {name: found for name, text in sorted(sources().items()) if (found := findings(text))}
    assert {name: calls for name, calls in found.items() if name not in PLACES} == {}
    assert [name for name in PLACES if name not in found] == [], "places without such a call"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", ["fcntl"]),
        ("from os import fchmod", ["os.fchmod"]),
        ("import os\nos.killpg(1, 9)", ["os.killpg"]),
        ("import signal\nsignal.SIGKILL", ["signal.SIGKILL"]),
        ("import os\nos.sched_getaffinity(0)", ["os.sched_getaffinity"]),
        ("a.symlink_to(b)", [".symlink_to()"]),
        ("a.rename(b)", [".rename()"]),
        ("a.replace(b)", [".replace()"]),
        ("a.replace(b, c)", []),
        ("from packager.files import host\nhost.rename(a, b)", []),
        ("run(x, process_group=0)", ["process_group="]),
        ("ctypes.CDLL(None)", ["CDLL(None)"]),
        ("open('/proc/cpuinfo')", ["'/proc/cpuinfo'"]),
        ('"""/proc/cpuinfo"""', []),
        ("a.write_text('x', encoding='utf-8')", [".write_text() without newline"]),
        ("import os\nos.getpid()", []),
    ],
)
def test_such_calls_are_found(source: str, found: list[str]) -> None:
    assert findings(source) == found
