"""Plug-in for pytest: modules are compiled once, before the workers start that would each compile all of them.

In a new clone that takes a worker many seconds: pytest rewrites the tests among 200,000 lines, too.
"""

import importlib.util
import os
import py_compile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.assertion import rewrite

FOLDERS = ("benchmarks", "packager", "tests")


def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    workers = getattr(config.option, "workers", 0) or getattr(config.option, "numprocesses", 0)
    if workers and not hasattr(config, "workerinput"):
        in_processes(workers, list(compilations(config)))


def compilations(config: pytest.Config) -> Iterator[Callable[[], object]]:
    """A call for each module that was never compiled; those that have changed since are few."""
    for path in (path for name in FOLDERS for path in (config.rootpath / name).rglob("*.py")):
        if path.name.startswith("test_"):
            written = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
            if not written.is_file():
                yield lambda path=path, written=written: rewritten(path, written, config)  # type: ignore[misc]
        elif not Path(importlib.util.cache_from_source(str(path))).is_file():
            yield lambda path=path: plain(path)  # type: ignore[misc]


def rewritten(path: Path, written: Path, config: pytest.Config) -> None:
    """As pytest does it where it imports a test."""
    written.parent.mkdir(parents=True, exist_ok=True)
    source_hash, code = rewrite._rewrite_test(path, config)
    rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, written)


def plain(path: Path) -> None:
    with suppress(py_compile.PyCompileError):  # who imports it says it
        py_compile.compile(str(path), doraise=True)


def in_processes(count: int, compile_each: Sequence[Callable[[], object]]) -> None:
    """Shares the work among processes; what one of them cannot do is left to the workers."""
    if not compile_each:
        return
    started = [pid for number in range(count) if (pid := _forked(compile_each[number::count]))]
    for pid in started:
        os.waitpid(pid, 0)


def _forked(compile_each: Sequence[Callable[[], object]]) -> int:
    pid = os.fork()
    if not pid:
        try:
            for each in compile_each:
                each()
        finally:
            os._exit(0)
    return pid
