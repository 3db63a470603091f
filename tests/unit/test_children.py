"""One module starts programs: in folders of their own, without the user's modules, and all end with mobpack."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from packager.engines.environments import ENVIRONMENTS
from packager.files.processes import children
from packager.files.processes.inherited import PYTHON
from tests.cases.readings import nodes_of

ROOT = Path(__file__).parents[2]

STARTS = re.compile(r"subprocess|multiprocessing|pty|asyncio\.subprocess|concurrent\.futures\.process")

MODULES = ("subprocess", "multiprocessing", "import pty", "from pty", "concurrent.futures")
"""Words in each module that imports one of STARTS."""

CALLS = re.compile(r"(?:system|popen|fork\w*|exec[lv]\w*|spawn\w+|posix_spawn\w*|startfile)")

EXECUTABLE = {
    "files/processes/downloads.py": "npm lies beside it",
    "engines/environments/cuda_probe.py": "says which Python answers",
}
"""Modules that name this Python without starting it, with the reason."""

STARTING = ("files/processes/children.py", "files/processes/copies.py", "files/processes/groups.py")


def sources(*words: str) -> Iterator[tuple[str, ast.AST]]:
    """The nodes of modules whose text has any of `words`, patterns that begin with letters: these are looked for
    quickly, and parsing takes time."""
    for path in sorted((ROOT / "packager").rglob("*.py")):
        name, text = path.relative_to(ROOT / "packager").as_posix(), path.read_text(encoding="utf-8")
        if name not in STARTING and any(re.search(each, text) for each in words):
            yield from ((name, node) for node in nodes_of(path))


KNOWN = ("PIPE", "TimeoutExpired")
"""Of the module subprocess, without starting a program."""


def test_no_other_module_starts_programs() -> None:
    """Those that talk with a program know the module's constants, types and exceptions."""
    talking = (
        "files/processes/channel.py",
        "measuring/devices/conversation.py",
        "measuring/devices/link.py",
        "measuring/devices/adb/link.py",
    )
    wrong = []
    for name, node in sources(*MODULES, rf"os\.{CALLS.pattern}"):
        if isinstance(node, ast.Import) and any(STARTS.fullmatch(each.name) for each in node.names):
            wrong += [f"{name} imports it"] if name not in talking else []
        if isinstance(node, ast.ImportFrom) and STARTS.fullmatch(node.module or ""):
            wrong.append(f"{name} imports from {node.module}")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called = f"{node.value.id}.{node.attr}"
            known = (
                (*KNOWN, "Popen") if name == "measuring/devices/conversation.py" else KNOWN
            )  # it names the type alone
            if node.value.id == "subprocess" and node.attr not in known:
                wrong.append(f"{name}: {called}")
            if node.value.id == "os" and CALLS.fullmatch(node.attr):
                wrong.append(f"{name}: {called}")
    assert wrong == []


def test_programs_run_without_the_users_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        name
        for name, node in sources("executable")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr == "executable"
    }
    assert found == set(EXECUTABLE)
    for name in sorted(ENVIRONMENTS.keys() - {"web", "web-webgpu"}):
        environment = ENVIRONMENTS[name]()
        assert "-P" in environment.command() or environment.variables().get("PYTHONSAFEPATH")
    # A program's modules are looked for beside it, not in the working folder.
    assert {"NODE_OPTIONS": "", "NODE_PATH": ""}.items() <= ENVIRONMENTS["web"]().variables().items()
    assert ENVIRONMENTS["web-webgpu"]().variables()["NODE_OPTIONS"] == ""
    for name, value in {"PYTHONOPTIMIZE": "2", "PYTHONINSPECT": "1", "PYTHONWARNINGS": "error"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "src", "/opt/modules"]))
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    python_only = {name: value for name, value in children.variables({}, PYTHON).items() if name.startswith("PYTHON")}
    assert python_only == {"PYTHONPATH": f"{Path.cwd() / 'src'}{os.pathsep}/opt/modules", "PYTHONHASHSEED": "7"}
    assert children.variables({"PYTHONPATH": "own"})["PYTHONPATH"] == "own"
