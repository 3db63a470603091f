"""Keys of test files: the content of everything that a file's tests read (`passes.py`), or that a program runs."""

import fnmatch
import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from packager.files.hashes import sha256_of
from packager.files.installed import PACKAGE
from packager.files.store import closure
from tests.haswell import EMULATED

IMPORTED = re.compile(r"(?:from|import) (tests(?:\.\w+)*)(?: import (\([^)]*\)|[^\n]*))?")
TEMPLATES = re.compile(r"""templates_folder\(\)((?: / "[\w.-]+")*)""")
WORD = re.compile(r"[\w.*-]+")
REPLACED = re.compile(r"\{[^{}\n]*\}")
SAYS_MUCH = 4
"""Characters that a pattern must have in a row to name files: `*.kt` names what is also named otherwise."""
CLI = PACKAGE / "cli" / "__init__.py"
COMMAND = re.compile(r"(?m)^from (packager\.cli\.\w+) import ([\w, ]+)$")
"""In the text of CLI: the modules of commands."""
EVERY_COMMAND = re.compile(r"from packager\.cli import [^\n]*\b(?:commands|GROUPS)\b|[\"']--help[\"']")
"""In tests that read all commands."""
STARTED = re.compile(r"""["']([a-z][\w-]*)(?=["' ])|\bmobpack ([a-z][\w-]*)""")
"""In tests: first words of strings, one of which may be a command."""
FIXTURE = re.compile(r"@pytest\.fixture[^\n]*\ndef (\w+)\(")
ALWAYS = ("packager/files/processes/pins.toml", "pyproject.toml", "requirements")
"""Content that each of these tests depends on, or may depend on."""
WRITTEN = ("durations.json", "recorded.json")
"""Files in `tests/` that runs of tests write for the next ones."""
NEUTRAL = ("packager/files/store", "packager/core/console.py")
"""Code that closures leave out, as no stored result depends on it. A test may."""
MAKERS = (
    "tests/toolchain/delivery_packages.py",
    "tests/toolchain/projects.py",
    "tests/toolchain/sample_package.py",
    "tests/toolchain/weights_apart.py",
)
"""Modules that make packages for tests: their text counts, what they import and start does not. Who asks for a package
names it in its mark (`asked`), and has its content in the key instead."""
TOOLS = (
    "packager/core",
    "packager/files",
    "packager/files/processes",
    "packager/measuring/devices/android_tools.py",
    "packager/engines/environments/debian.py",
    "packager/engines/environments/environment.py",
    "packager/targets/android/kotlin.py",
)
"""Code with which tests of a package bring and start what checks it. Pins decide what that is."""


@dataclass(frozen=True)
class _Words:
    """Words and patterns in the text of modules."""

    words: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]

    @classmethod
    def of(cls, modules: Iterable[Path]) -> "_Words":
        """Also the names of the modules and of their folders; what an f-string fills in may be any text."""
        found: set[str] = set()
        for path in modules:
            found |= {path.stem, path.parent.name} | _words_of(closure.text_of(path))
        patterns = (word for word in sorted(found) if "*" in word and max(map(len, word.split("*"))) >= SAYS_MUCH)
        return cls(frozenset(found), tuple(re.compile(fnmatch.translate(each)) for each in patterns))

    def have(self, *names: str) -> bool:
        """Whether they name a file or folder: `names` are the first two parts of its path below `tests/`.

        A folder of a folder is named by its own name, with all that is in it; a file by its name or its stem.
        """
        last = names[-1]
        return not self.words.isdisjoint((last, Path(last).stem)) or any(each.match(last) for each in self.patterns)


@cache
def _words_of(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(REPLACED.sub("*", text)))


class Package(Protocol):
    """A package of models that are made or fetched for tests."""

    def digest(self) -> str:
        """Of its content, built now unless it is kept."""


ASKED: set[Package] = set()
"""Packages that the running test, or a fixture that was made for it, has asked for."""


def asked(package: Package) -> None:
    """Notes that a test uses a package: `passes.py` fails those whose mark does not name it."""
    ASKED.add(package)


@dataclass(frozen=True)
class Tree:
    """A repository with test files."""

    root: Path

    def key(self, files: Iterable[Path], *texts: str) -> str:
        """Hex digest of the content of `files`, of `texts`, of the interpreter and of the processor."""
        return self.content(files, sys.version, *_machine(), *texts)

    def content(self, files: Iterable[Path], *texts: str) -> str:
        """Hex digest of the content of `files` and of `texts`, the same on every machine."""
        whole = hashlib.sha256("\0".join(texts).encode())
        for each in sorted(_named_digest(self.root, path) for path in files):
            whole.update(each)
        return whole.hexdigest()[:32]

    def files(self, file: Path, also: tuple[str, ...] = ()) -> set[Path]:
        """All that the tests of `file` read but for packages; `also` names files and folders below the root."""
        modules = self.modules(file, self._makers)
        code = self._code(modules - self._makers)
        return {*modules, *code, self.conftest, *self._data(modules), *self._named(*also)}

    def program(self, file: Path) -> set[Path]:
        """All that a module of `tests` runs: modules, mobpack's among them, templates if these render, and pins."""
        modules = self.modules(file)
        return {*modules, *self._code(modules)}

    def files_around(self, file: Path, also: tuple[str, ...] = ()) -> set[Path]:
        """As `files`, for tests of packages: without TOOLS."""
        modules = self.modules(file, self._makers)
        code = self._code(modules - self._makers, TOOLS)
        return {*modules, *code, self.conftest, *self._data(modules), *self._named(*also)}

    def _data(self, modules: Iterable[Path]) -> Iterator[Path]:
        """Files in `tests/` that are no modules and that `modules` name: as `_Words` has it."""
        tests = self.root / "tests"
        words = _Words.of(modules)
        return (path for names, paths in _data(tests).items() if words.have(*names) for path in paths)

    def _code(self, modules: Iterable[Path], left_out: tuple[str, ...] = ()) -> set[Path]:
        """Mobpack's code that `modules` import and start, templates that it renders or they name, and ALWAYS."""
        names = {name for path in modules for name in _mobpack_modules(closure.text_of(path))}
        wanted = sorted(name for name in names if not _is_below(closure.INSTALLED.module(name), left_out))
        unasked = _unasked(modules) - {closure.INSTALLED.module(name) for name in wanted}
        found = closure.closure(closure.INSTALLED, tuple(wanted), unasked)
        code = {path for path in found if not _is_below(path, left_out)}
        rendered = self._rendered(code) if PACKAGE / "render" / "templates.py" in code else ()
        read = {f"templates{path}" for module in modules for path in _templates(closure.text_of(module))}
        return code | self._named(*ALWAYS, *(() if left_out else NEUTRAL), *rendered, *read)

    def _rendered(self, code: Iterable[Path]) -> Iterator[str]:
        """Folders of templates that a string in `code` begins with, and those that their templates include."""
        folder = self.root / "templates"
        waiting = {name for path in code if path.suffix == ".py" for name in _folders_in(folder, path)}
        found: set[str] = set()
        while waiting:
            found |= waiting
            inside = (path for name in waiting for path in _files(folder / name) if path.suffix == ".j2")
            waiting = {name for path in inside for name in _folders_in(folder, path)} - found
        return (f"templates/{each}" for each in sorted(found))

    def _named(self, *names: str) -> set[Path]:
        return {path for name in names for path in _files(self.root / name)}

    def modules(self, file: Path, ends: frozenset[Path] = frozenset()) -> set[Path]:
        """`file` and the modules of `tests` that it imports, directly or not; and conftest.py with its own, if one of
        them names a fixture of it. Imports of `ends` do not count."""
        found = self._with_imports(file, ends)
        fixtures = FIXTURE.findall(closure.text_of(self.conftest))
        is_used = any(not _names_in(closure.text_of(each)).isdisjoint(fixtures) for each in found)
        return found | self._with_imports(self.conftest, ends) if is_used else found

    @property
    def _makers(self) -> frozenset[Path]:
        return frozenset(self.root / name for name in MAKERS)

    @property
    def conftest(self) -> Path:
        return self.root / "tests" / "conftest.py"

    def _with_imports(self, file: Path, ends: frozenset[Path]) -> set[Path]:
        found: set[Path] = set()
        waiting = [file]
        while waiting:
            path = waiting.pop()
            if path not in found and path.is_file():
                found.add(path)
                waiting += () if path in ends else self._imported(closure.text_of(path))
        return found

    def _imported(self, text: str) -> Iterator[Path]:
        for module, names in IMPORTED.findall(text):
            base = self.root.joinpath(*module.split("."))
            yield from (base.with_suffix(".py"), base / "__init__.py")
            yield from (base / f"{name}.py" for name in re.findall(r"\w+", names))


@cache
def _names_in(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


@cache
def _mobpack_modules(text: str) -> Sequence[str]:
    """Modules of mobpack that a test module imports or starts."""
    found = closure.references(text)
    names = (*found.modules, *found.strings)
    return tuple(name if closure.INSTALLED.module(name) else name.rpartition(".")[0] for name in names)


def _unasked(modules: Iterable[Path]) -> frozenset[Path]:
    """Modules of commands that tests do not start: no string in `modules` begins with a name of the command, and none
    has it behind `mobpack`."""
    asked: set[str] = set()
    for path in modules:
        names = _started_in(closure.text_of(path))
        if names is None:
            return frozenset()
        asked |= names
    return frozenset(path for path, names in _commands().items() if asked.isdisjoint(names))


@cache
def _started_in(text: str) -> frozenset[str] | None:
    """Words in the text of a module that may be names of commands; None for one that reads all commands."""
    if EVERY_COMMAND.search(text):
        return None
    return frozenset(name for pair in STARTED.findall(text) for name in pair)


@cache
def _commands() -> Mapping[Path, frozenset[str]]:
    """The modules of commands, and the names of each: the command's, its function's and its module's."""
    found: dict[Path, frozenset[str]] = {}
    for module, names in COMMAND.findall(closure.text_of(CLI)):
        path = closure.INSTALLED.module(module)
        assert path
        named = re.findall(r"""command\(["']([\w-]+)""", closure.text_of(path))
        found[path] = frozenset((path.stem, *re.findall(r"\w+", names), *named))
    return found


def _templates(text: str) -> Iterator[str]:
    """Paths below the templates that a module names: `/react_native/src`."""
    for path in TEMPLATES.findall(text):
        yield "".join(f"/{name}" for name in re.findall(r"[\w.-]+", path))


def _is_below(path: Path | None, names: tuple[str, ...]) -> bool:
    """Whether `path` is one of the files or lies in one of the folders that `names` has, relative to the root."""
    return path is not None and f"{path}{os.sep}".startswith(_beginnings(names))


@cache
def _beginnings(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{PACKAGE.parent / name}{os.sep}" for name in names)


@cache
def _files(path: Path) -> frozenset[Path]:
    """The file `path`, or all below the folder, without what Python compiles."""
    found = path.rglob("*") if path.is_dir() else [path]
    return frozenset(each for each in found if each.suffix != ".pyc" and each.is_file())


@cache
def _folders(path: Path) -> re.Pattern[str]:
    """A string that begins with the name of a folder in `path`."""
    names = sorted(each.name for each in path.iterdir() if each.is_dir())
    return re.compile(rf"[\"']({'|'.join(names)})(?=[\"'/])")


@cache
def _folders_in(path: Path, file: Path) -> frozenset[str]:
    """Folders in `path` that strings in the text of `file` begin with."""
    return frozenset(_folders(path).findall(closure.text_of(file)))


@cache
def _data(folder: Path) -> Mapping[tuple[str, ...], Sequence[Path]]:
    """Files that are no modules, by the first two parts of their paths."""
    found: dict[tuple[str, ...], list[Path]] = {}
    for path in _files(folder):
        if path.suffix != ".py" and path.name not in WRITTEN:
            found.setdefault(path.relative_to(folder).parts[:2], []).append(path)
    return found


@cache
def _named_digest(root: Path, path: Path) -> bytes:
    """The path below the root, and the content."""
    return f"{os.path.relpath(path, root)}\0".encode() + bytes.fromhex(sha256_of(path))


@cache
def _machine() -> tuple[str, ...]:
    """The processor, with what it can compute."""
    known = Path("/proc/cpuinfo")
    flags = re.search(r"(?m)^(?:flags|Features)\s*:(.*)$", known.read_text() if known.is_file() else "")
    return platform.machine(), flags[1] if flags else "", os.environ.get(EMULATED, "")
