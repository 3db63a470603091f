"""Keys of stored results: they change with the code that computes the result, and with no other code."""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from packager.files import installed
from packager.files.processes import downloads
from packager.files.store import Step, Store, closure, key_of
from packager.files.store.closure import INSTALLED, NEUTRAL, Code
from tests.cases.readings import Nodes, of_all_modules
from tests.cases.store_keys import MODULES, ROOT, dotted, modules_of, steps

COMPUTED_BEFORE = {"parity": "_checked", "kotlin": "_compile"}
"""Steps -> the function that computes results before they are stored: only those that agree, or several at once."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def strings() -> Mapping[Path, Sequence[str]]:
    """For each module its strings that may name a module or a file."""
    return {ROOT / "packager" / path: found for path, found in of_all_modules(strings_in).items()}


def strings_in(_path: str, nodes: Nodes) -> list[str]:
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    return sorted({each for each in constants if isinstance(each, str) and re.search(r"\Apackager\.|\.\w+\Z", each)})


def test_the_steps_are_those_that_are_asked_for() -> None:
    """Every call of `results` or `find` of a store names a step of the same module."""
    named = set()
    asking = [path for path in MODULES if re.search(r"store\s*\.\s*(results|find)\b", path.read_text())]
    for path in asking:
        for call in calls(tree(path)):
            step = call.args[0]
            assert isinstance(step, ast.Name), ast.unparse(call)
            value = getattr(import_module(dotted(path)), step.id, None)
            if value is None:  # of a function that gets the step
                assert dotted(path) == "packager.compile.compile"
                continue
            assert value.caller == dotted(path)
            named.add(value.name)
    assert set(steps()) == named | {"compile", "over", "plain", "context"}


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """Calls of `store.results(...)` and `store.find(...)`."""
    for each in ast.walk(node):
        function = each.func if isinstance(each, ast.Call) else None
        is_named = isinstance(function, ast.Attribute) and function.attr in ("results", "find")
        if is_named and ast.unparse(each).partition("(")[0].endswith(("store.results", "store.find")):
            assert isinstance(each, ast.Call)
            yield each


def test_what_modules_import_is_read_from_their_text() -> None:
    """Patterns find the same imports as the parser: at the top, in functions, over several lines, with other names."""
    for path, known in of_all_modules(imported).items():
        ours = {name for name in known if name.split(".")[0] == "packager"}
        found = closure.references((ROOT / "packager" / path).read_text())
        assert set(found.modules) == ours, path
        assert set(found.others) >= {name.split(".")[0] for name in known} & set(closure.PACKAGES), path


def imported(_path: str, nodes: Nodes) -> list[str]:
    """Modules, and names in modules, that Python's parser finds imported."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return sorted(found)


def test_programs_that_are_started_and_files_that_are_read_belong_to_a_step() -> None:
    """Every string in a step's code that names a module or a file of mobpack."""
    for name in sorted(steps()):
        everything = modules_of(steps()[name])
        for path in sorted(path for path in everything if path.suffix == ".py"):
            for text in strings()[path]:
                module = INSTALLED.module(text.partition(":")[0]) if text.startswith("packager.") else None
                beside = path.with_name(text) if re.fullmatch(r"[\w-]+\.\w+", text) else path
                if module:
                    assert module in everything, f"{path}: {text}"
                elif text.endswith(".py") and text != ".py":
                    assert [each for each in MODULES if each.name == text and each in everything], f"{path}: {text}"
                elif text.endswith(".mjs"):
                    assert [each for each in everything if each.name == text], f"{path}: {text}"
                elif beside.suffix in (".txt", ".toml") and beside.is_file() and text != Path(installed.PINS).name:
                    assert beside in everything, f"{path}: {text}"


@pytest.mark.parametrize("name", sorted(steps()))
def test_what_makes_a_result_is_named_by_its_step(name: str) -> None:
    """Every module whose names are used between `make` and its end, in the calling module."""
    step = steps()[name]
    caller = INSTALLED.module(step.caller)
    assert caller
    if step.caller in step.computed_by:
        return  # all that it imports counts
    everything = modules_of(step)
    used = {module for makes in makers(caller, name) for module in used_by(caller, makes)}
    if name in COMPUTED_BEFORE:
        used |= used_by(caller, definitions(caller, COMPUTED_BEFORE[name])[0])
    assert used
    missing = {each for each in used if each not in everything and not INSTALLED.name(each).startswith(NEUTRAL)}
    assert sorted(map(INSTALLED.name, missing)) == []


def makers(path: Path, name: str) -> Iterator[ast.AST]:
    """Functions passed as `make` with the step `name`: one inside the caller, or a lambda."""
    for function in ast.walk(tree(path)):
        if not isinstance(function, ast.FunctionDef):
            continue
        inner = {each.name: each for each in function.body if isinstance(each, ast.FunctionDef)}
        inner |= {each.name: each for each in ast.walk(function) if isinstance(each, ast.FunctionDef)}
        for call in calls(function):
            step = getattr(import_module(dotted(path)), ast.unparse(call.args[0]))
            if step.name == name and len(call.args) == 3:
                make = call.args[2]
                yield inner[make.id] if isinstance(make, ast.Name) else make


def used_by(path: Path, start: ast.AST) -> set[Path]:
    """The modules of mobpack whose names are used in `start`, and in the functions of the same file that it calls."""
    imported: dict[str, Path] = {}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "packager":
            for alias in node.names:
                module = INSTALLED.module(f"{node.module}.{alias.name}") or INSTALLED.module(node.module or "")
                assert module
                imported[alias.asname or alias.name] = module
    found: set[Path] = set()
    seen: set[ast.AST] = set()
    waiting = [start]
    while waiting:
        top = waiting.pop()
        if top in seen:
            continue
        seen.add(top)
        for name in names_in(top):
            waiting += definitions(path, name)
            found |= {imported[name]} if name in imported else set()
    return found


def definitions(path: Path, name: str) -> list[ast.stmt]:
    """The functions and classes `name` of a module, or the methods `self.name` of its classes."""
    top = tree(path).body
    if name.startswith("self."):
        top = [each for part in top if isinstance(part, ast.ClassDef) for each in part.body]
    return [
        each
        for each in top
        if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == name.removeprefix("self.")
    ]


def names_in(top: ast.AST) -> Iterator[str]:
    """Names and methods that `top` uses when it runs; annotations do not count."""
    inside = top.body if isinstance(top, ast.FunctionDef) else [top]
    for node in (each for part in inside if isinstance(part, ast.AST) for each in ast.walk(part)):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield f"self.{node.attr}"


def test_a_pin_counts_for_those_who_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (INSTALLED.package / installed.PINS).read_text()

    def codes(pinned: str) -> dict[str, str]:
        monkeypatch.setattr(closure, "pins_in", lambda _: tomllib.loads(pinned))
        return {name: step.code_in(INSTALLED) for name, step in steps().items()}

    before = codes(text)
    changed = {}
    for table in ("[files.arm64-libc6]", "[android]", "[files.model-digits]"):
        assert table in text
        after = codes(text.replace(table, f"{table}\nanother = 1"))
        changed[table] = {name for name in steps() if before[name] != after[name]}
    assert changed["[files.model-digits]"] == set()
    assert {"compile", "kernels", "parity"} <= changed["[files.arm64-libc6]"]
    assert {"prepare", "ios", "calibration"}.isdisjoint(changed["[files.arm64-libc6]"])
    assert "android" in changed["[android]"]
    assert "calibration" not in changed["[android]"]


def test_every_pin_that_code_fetches_by_name_counts_for_it() -> None:
    """All names of files in pins.toml, as whole strings or joined, are found."""
    for path in MODULES:
        text = path.read_text()
        if "fetch(" not in text and "pin(" not in text:
            continue
        for name in downloads.pins()["files"]:
            if f'"{name}"' in text:
                assert f"files.{name}" in closure.pins_of(INSTALLED, [text]), f"{path}: {name}"
    webgpu = closure.pins_of(INSTALLED, [(ROOT / "packager" / "engines" / "environments" / "webgpu.py").read_text()])
    assert len([name for name in webgpu if name.startswith("files.lavapipe-")]) > 10


def test_code_pins_versions_and_inputs_are_in_a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = {name: step.code_in(INSTALLED) for name, step in steps().items()}
    monkeypatch.setattr(closure, "_version", lambda package: "2.99" if package == "onnx" else "1")
    other = {name: step.code_in(INSTALLED) for name, step in steps().items()}
    monkeypatch.setattr(closure, "_version", lambda package: "1")
    third = {name: step.code_in(INSTALLED) for name, step in steps().items()}
    assert all(before[name] != other[name] for name in ("compile", "quantize", "android"))
    assert {name for name in steps() if other[name] != third[name]} >= {"compile", "quantize", "parity"}
    assert other["ios"] == third["ios"]
    one = Step(name="one", caller="packager.core.errors")
    assert one.key([1]) == Step(name="one", caller="packager.core.errors").key([1])
    assert one.key([1]) != one.key([2])
    assert one.key([1]) != Step(name="two", caller="packager.core.errors").key([1])
    assert one.key([1]) != Step(name="one", caller="packager.core.names").key([1])
    assert one.key([1]) != key_of(["one", [1]])
    store = Store(tmp_path)
    store.results(Step(name="one", caller="packager.core.errors"), 1, lambda folder: None)
    assert store.find(Step(name="one", caller="packager.core.names"), 1) is None
    assert store.find(Step(name="one", caller="packager.core.errors"), 1)


def test_what_a_module_starts_or_reads_belongs_to_it_without_an_import(tmp_path: Path) -> None:
    package = tmp_path / "packager"
    (package / "below" / "sources").mkdir(parents=True)
    texts = {
        "below/__init__.py": "",
        "below/one.py": 'run("-m", "packager.below.two")\nrun(HERE.with_name("three.py"))\nrun("packager.lazy:go")\n',
        "below/two.py": 'run(HERE.parents[1] / "far" / "four.py")\nLOCK = HERE.with_name("lock.txt")\n',
        "below/three.py": 'SOURCES = HERE.with_name("sources")\n',
        "below/lock.txt": "",
        "below/sources/a.c": "",
        "far/four.py": "def f():\n    from packager.far import (\n        five,  # lazily\n    )\n",
        "far/five.py": "import numpy\n",
        "lazy.py": "from packager.files.store import Store\nfrom packager.core import console\n",
        "files/store/__init__.py": "",
        "core/console.py": "",
        "other.py": "from packager.below import one",
        "files/processes/pins.toml": "[files]\n",
    }
    for name, text in texts.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    code = Code(package=package, templates=tmp_path)
    found = {path.relative_to(package).as_posix() for path in closure.closure(code, ("packager.below.one",))}
    assert found == set(texts) - {
        "below/__init__.py",
        "files/store/__init__.py",
        "core/console.py",
        "other.py",
        "files/processes/pins.toml",
    }
