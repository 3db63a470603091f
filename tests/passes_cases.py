"""A small repository with one test file, in which tests of `passes.py` and `recorded.py` run pytest."""

import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.keys import Tree
from tests.toolchain import forks
from tests.toolchain.kept import FRESH

ROOT = Path(__file__).parents[1]
LEFT_OUT = ("PYTEST_ADDOPTS", FRESH)
"""Variables of a run of these tests that have no effect in theirs: at night, too, some of these passes are kept."""
VARIABLES = {name: value for name, value in os.environ.items() if name not in LEFT_OUT} | {"PYTHONPATH": str(ROOT)}
CONFTEST = "import pytest\n\n@pytest.fixture\ndef shared():\n    return 1\n"
TESTS = """
import pytest
from pathlib import Path
pytestmark = pytest.mark.by_content("data.txt")
DATA = Path(__file__).parents[1] / "data.txt"
LOCK = Path(__file__).with_suffix(".lock")
TABLES = Path(__file__).parent / "given" / "tables"
NAMED = f"toolchain/{__name__}_version.toml"

@pytest.fixture(scope="module")
def number():
    yield int(DATA.read_text())

def test_is_odd(number):
    assert number % 2

def test_is_positive(number):
    assert number > 0

@pytest.mark.skip(reason="never")
def test_is_skipped():
    pass
"""

PACKAGED = """
import pytest
from pathlib import Path

class Package:
    def digest(self):
        return Path(__file__).with_name("made.py").read_text()

pytestmark = pytest.mark.by_content(of=[Package()])

def test_it():
    pass
"""
"""Tests of a package whose content is that of made.py."""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository with one test file, which reads data.txt."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST)
    (tmp_path / "tests" / "test_number.py").write_text(TESTS)
    (tmp_path / "data.txt").write_text("7")
    return Tree(tmp_path)


PYTEST = """
_pytest.assertion.rewrite _pytest.cacheprovider _pytest.doctest _pytest.faulthandler _pytest.junitxml _pytest.logging
_pytest.pytester _pytest.subtests _pytest.unittest _pytest.unraisableexception pytest execnet.multi tests.keys
tests.toolchain.kept
""".split()
"""Modules that each run of tests imports, but for plug-ins, which pytest imports itself."""


PLUGINS = ("-p", "tests.passes", "-p", "no:cacheprovider", "-p", "no:anyio", "-p", "no:hypothesispytest")


@cache
def client() -> tuple[str, ...]:
    """The command that starts a fork of a process with PYTEST: importing it takes longer than most runs."""
    client, _ = forks.lasting(PYTEST, VARIABLES)
    return client


def run(tree: Tree, *options: str, environment: Mapping[str, str] | None = None) -> Mapping[str, int]:
    """The summary of a run of all tests of `tree`: `passed`, `kept` ... -> count."""
    variables = {**VARIABLES, "XDG_CACHE_HOME": str(tree.root / ".cache"), **(environment or {})}
    command = [*client(), "-m", "pytest", *PLUGINS, "--keep-passes", *options]
    done = subprocess.run(command, cwd=tree.root, env=variables, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    assert " in " in last, done.stdout + done.stderr
    return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", last.rpartition(" in ")[0])}
