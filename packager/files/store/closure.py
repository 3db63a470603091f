"""Finds the files of mobpack that compute a result: modules, all that they import or start, and files these read.

In a checkout, a change of one module thus keeps the results of others. An installed wheel has one key for all results.

Works on the text of modules, by patterns: parsing them takes a second, this a few hundredths.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from packager.files.installed import PACKAGE, PINS, files_of_the_wheel, pins_in, templates_folder

FROM = re.compile(r"from ([a-zA-Z_][\w.]*) import (\([^)]*\)|[^\n]*)")
IMPORT = re.compile(r"import ([a-zA-Z_][\w.]*)")
MODULE = re.compile(r"packager(?<=[\"']packager)((?:\.\w+)+)[:\"']")
"""A module named in a string: started with `-m`, or imported by name."""
BESIDE = re.compile(r"""with_name\(["']([\w.-]+)["']"""), re.compile(r""" / ["']([\w.-]+)["']""")
"""A file or folder named by its path: `Path(__file__).with_name("session.py")`. Patterns that begin with a word are
fast."""
TABLE = re.compile(r"""pins\(\)\[(?:["']([\w-]+)["']|[^\]]*)\]""")
COMMENT = re.compile(r"#[^\n]*")
PROGRAMS = (".py", ".mjs")
"""Ends of the names of programs that mobpack starts by path."""
FILES = "files"
"""Table of pins.toml with a table for each file that is fetched."""
NEUTRAL = ("packager/files/store", "packager/core/console.py")
"""Modules that store results and talk to the user: no result depends on them."""
PACKAGES = {
    "PIL": "pillow",
    "bsdiff4": "bsdiff4",
    "elftools": "pyelftools",
    "flatbuffers": "flatbuffers",
    "google": "protobuf",
    "jinja2": "jinja2",
    "numpy": "numpy",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
}
"""Third-party modules -> the package whose version identifies what they compute."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """One version of mobpack's code."""

    package: Path
    """`packager/`"""
    templates: Path

    def module(self, name: str) -> Path | None:
        """The file of the module `packager.a.b`; None if there is none."""
        path = _modules(self).get(name)
        return Path(path) if path else None

    def name(self, path: Path) -> str:
        """`packager/a/b.py`"""
        return "packager" + str(path)[len(str(self.package)) :].replace(os.sep, "/")


@cache
def _modules(code: Code) -> Mapping[str, str]:
    """The path of every module by its name."""
    found, start = {}, len(str(code.package))
    for folder, name in _files(code):
        if name.endswith(".py"):
            module = f"packager{folder[start:].replace(os.sep, '.')}.{name[:-3]}"
            found[module.removesuffix(".__init__")] = f"{folder}{os.sep}{name}"
    return found


@cache
def _files(code: Code) -> Sequence[tuple[str, str]]:
    """Folder and name of every file in the package, a thousand of them: texts are several times as fast as paths."""
    found = []
    for folder, folders, names in os.walk(code.package):
        folders[:] = (each for each in folders if each != "__pycache__")
        found += [(folder, name) for name in names]
    return found


INSTALLED = Code(package=PACKAGE, templates=templates_folder())


@dataclass(frozen=True, kw_only=True)
class References:
    """Names found in the text of a module."""

    modules: tuple[str, ...]
    """imports, at its top or in functions: `packager.a.b.name`, where `name` may be a module or something in one"""
    strings: tuple[str, ...]
    """modules of mobpack that strings name"""
    others: tuple[str, ...]
    """top-level third-party modules"""
    paths: tuple[str, ...]
    """last parts of paths"""
    tables: tuple[str, ...]
    """of pins.toml; an empty name if the text does not say which"""


@cache
def references(text: str) -> References:
    imported = [*IMPORT.findall(text)]
    for module, names in FROM.findall(text):
        imported += [f"{module}.{name}" for name in re.findall(r"(\w+)(?: as \w+)?", COMMENT.sub("", names))]
    return References(
        modules=tuple(each for each in imported if each.split(".")[0] == "packager"),
        strings=tuple(f"packager{each}" for each in MODULE.findall(text)),
        others=tuple({each.split(".")[0] for each in imported} & PACKAGES.keys()),
        paths=tuple(name for pattern in BESIDE for name in pattern.findall(text)),
        tables=tuple(TABLE.findall(text)),
    )


@cache
def content_of(path: Path) -> bytes:
    return path.read_bytes()


@cache
def text_of(path: Path) -> str:
    return content_of(path).decode()


@cache
def closure(code: Code, modules: tuple[str, ...], without: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """The files of `modules` and of all that they import, start and read, without pins and templates, nor the files
    `without` and what only they need.

    The `__init__.py` of a folder counts if it is imported by its own name.
    """
    found: set[Path] = set()
    waiting = [path for module in modules if (path := code.module(module))]
    while waiting:
        path = waiting.pop()
        if path not in found and path not in without and not code.name(path).startswith(NEUTRAL):
            found.add(path)
            waiting += _named_by(code, path) if path.suffix == ".py" else ()
    return frozenset(found)


@cache
def _named_by(code: Code, path: Path) -> tuple[Path, ...]:
    named = references(text_of(path))
    imported = (code.module(each) or code.module(each.rpartition(".")[0]) for each in named.modules)
    started = (code.module(each) for each in named.strings)
    read = (file for name in named.paths for file in _at(code, path, name))
    return tuple(each for each in (*imported, *started, *read) if each)


def _at(code: Code, module: Path, name: str) -> Iterator[Path]:
    """The files that `module` may mean by a path that ends with `name`: one beside it, or else a program anywhere."""
    beside = module.with_name(name)
    if name == Path(PINS).name:
        return
    if beside.is_file():
        yield beside
    elif beside.is_dir() and not (beside / "__init__.py").exists():
        yield from (file for file in beside.rglob("*") if file.is_file() and file.suffix != ".pyc")
    elif name.endswith(PROGRAMS):
        yield from (Path(folder, name) for folder, each in _files(code) if each == name)


def digest(code: Code, modules: tuple[str, ...], files: Iterable[Path] = (), templates: Iterable[str] = ()) -> str:
    """Hex sha256 of the closure of `modules`, of more `files`, of `templates` (files or folders below templates/), of
    the pins they use and of the versions of their third-party imports."""
    reached = closure(code, modules) | set(files)
    texts = [text_of(path) for path in reached if path.suffix == ".py"]
    others = {name for text in texts for name in references(text).others}
    sums = {
        **{code.name(path): _sha256(path) for path in reached},
        **{path.relative_to(code.templates).as_posix(): _sha256(path) for path in _templates(code, templates)},
        **{name: _version(PACKAGES[name]) for name in others},
        **{f"pin {name}": repr(value) for name, value in pins_of(code, texts).items()},
    }
    return hashlib.sha256(repr(sorted(sums.items())).encode()).hexdigest()


@cache
def digest_of_the_wheel() -> str:
    """Hex sha256 of the files of the installed wheel and of the versions of third-party packages; empty in a checkout.

    A released version does not change: nobody has to look for the modules that compute a result.
    """
    files = files_of_the_wheel()
    versions = [(name, _version(name)) for name in sorted(PACKAGES.values())]
    return hashlib.sha256(repr((files, versions)).encode()).hexdigest() if files else ""


def _templates(code: Code, names: Iterable[str]) -> Iterator[Path]:
    for name in names:
        path = code.templates / name
        yield from (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else (path,)


def pins_of(code: Code, texts: Iterable[str]) -> Mapping[str, object]:
    """The tables of pins.toml that modules with these `texts` use; a file counts if a text contains its name, or builds
    names from the same first word: `f"arm64-{name}"`."""
    pinned = pins_in(code.package)
    texts = list(texts)
    tables = {name for text in texts for name in references(text).tables}
    found = {name: value for name, value in pinned.items() if name != FILES and (name in tables or "" in tables)}
    files = pinned["files"]
    return {**found, **{f"{FILES}.{name}": files[name] for text in texts for name in _files_in(text, tuple(files))}}


@cache
def _files_in(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The files among `names` that a module with this `text` may fetch."""
    if "pin(" not in text and "fetch(" not in text:
        return ()
    return tuple(name for name in names if f'"{name}"' in text or f'f"{name.split("-")[0]}-{{' in text)


@cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(content_of(path)).hexdigest()


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def forget() -> None:
    """Clears the cache: files are read once per process."""
    for function in (_modules, _files, content_of, text_of, closure, _named_by, _sha256, pins_in):
        function.cache_clear()
