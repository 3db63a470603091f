"""Keys of stored results: they change with the code that computes the result, and with no other code."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from packager.files.store import closure
from packager.files.store.closure import Code
from tests.cases.store_keys import ROOT, modules_of, steps


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Code:
    folder = tmp_path_factory.mktemp("code")
    for name in ("packager", "templates"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    return Code(package=folder / "packager", templates=folder / "templates")


def touched(path: Path) -> None:
    with path.open("a") as file:
        file.write("\n# touched\n")


@contextmanager
def all_touched(paths: Iterable[Path]) -> Iterator[None]:
    """The files are longer by a comment."""
    sizes = {path: path.stat().st_size for path in paths}
    try:
        for path in sizes:
            touched(path)
        yield
    finally:
        for path, size in sizes.items():
            os.truncate(path, size)


def by_state(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of files, the last of its arguments, which are read again when their size or time has changed."""
    known: dict[object, Any] = {}

    def of(*arguments: Any) -> Any:
        found = arguments[-1].stat()
        key = (*arguments, found.st_size, found.st_mtime_ns)
        if key not in known:
            known[key] = function(*arguments)
        return known[key]

    return of


@cache
def readers() -> Mapping[str, Callable[..., Any]]:
    """Functions of `closure` that read a file once, for files that change."""
    names = ("content_of", "text_of", "_sha256", "_named_by")
    return {name: by_state(getattr(closure, name).__wrapped__) for name in names}


@pytest.fixture
def changing(copy: Code, monkeypatch: pytest.MonkeyPatch) -> Code:
    """A copy of the code of which a test changes files: the others are not read again for each change."""
    for name, function in readers().items():
        monkeypatch.setattr(closure, name, function)
    monkeypatch.setattr(closure, "closure", closure.closure.__wrapped__)
    return copy


@pytest.mark.parametrize("name", sorted(steps()))
def test_a_change_outside_of_a_step_keeps_its_key_and_one_inside_changes_it(name: str, changing: Code) -> None:
    """Outside: every file at once. Inside: some files one by one, including the first and the last."""
    code, step = changing, steps()[name]
    before, inside = step.code_in(code), modules_of(step, code)
    templates = [code.templates / each for each in step.templates]
    rendered = {path for each in templates for path in (each, *each.rglob("*"))}
    others = [path for path in code.package.rglob("*.py") if path not in inside]
    others += [path for path in code.templates.rglob("*") if path.is_file() and path not in rendered]
    assert len(others) > 100
    with all_touched(others):
        assert step.code_in(code) == before
    every = sorted(path for path in (*inside, *rendered) if path.is_file())
    for path in {*every[:: max(1, len(every) // 6)], every[-1]}:
        with all_touched([path]):
            assert step.code_in(code) != before, path
    assert step.code_in(code) == before
