"""npm packages, and the programs that apps write with them, compiled."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.nights import at_night
from tests.toolchain.node import Finished
from tests.toolchain.npm_checks import compile_all
from tests.toolchain.react_native import packages
from tests.toolchain.react_native.packages import Built
from tests.toolchain.typescript import Workplace

CHECKS = Path(packages.__file__).with_name("checks")

FENCE = re.compile(r"^```(tsx?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

RESOLUTIONS: Mapping[str, Mapping[str, object]] = {
    "of-an-app": {"module": "esnext", "moduleResolution": "bundler", "customConditions": ["react-native"]},
    "of-node": {"module": "nodenext", "moduleResolution": "nodenext"},
}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return packages.page_orientation(tmp_path_factory)


@pytest.fixture(scope="session")
def difficult(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return packages.several(tmp_path_factory)


@pytest.fixture(params=[*at_night("built"), "difficult"])
def each(request: pytest.FixtureRequest) -> Built:
    """One package with default names, and one with every difficulty."""
    found: Built = request.getfixturevalue(request.param)
    return found


def configured(folder: Path, options: Mapping[str, object], *, include: Sequence[str]) -> Path:
    """The folder, whose sources the compiler is to check."""
    Workplace(folder).configure({"noEmit": True, **options}, include)
    return folder


def write_examples(built: Built, folder: Path) -> list[Path]:
    """The README's TypeScript, a file each, in a folder of ES modules."""
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    found = FENCE.findall((built.package / "README.md").read_text(encoding="utf-8"))
    paths = [folder / f"example{number}.{kind}" for number, (kind, _) in enumerate(found)]
    for path, (_, text) in zip(paths, found, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


@dataclass(frozen=True)
class Compiled:
    """A folder, and what the compiler says of it."""

    folder: Path
    done: Finished


@pytest.fixture(scope="module")
def compiled(built: Built, difficult: Built, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Compiled]:
    """The sources of both packages, and programs that use them: the compiler reads React Native's types once."""
    folder = tmp_path_factory.mktemp("compiled")
    difficult_sources = difficult.author(folder / "package")
    folders = {
        "sources": configured(difficult_sources, RESOLUTIONS["of-node"], include=["src"]),
        "examples": with_examples(built, difficult, folder / "examples"),
        **{name: with_consumer(built, folder / name, options) for name, options in RESOLUTIONS.items()},
    }
    said = compile_all([Workplace(each).config for each in folders.values()])
    return {name: Compiled(each, done) for (name, each), done in zip(folders.items(), said, strict=True)}


def with_consumer(built: Built, folder: Path, resolution: Mapping[str, object]) -> Path:
    """A program that uses all of a package.

    Types of the package are checked too, without a browser's, which apps do not have.
    """
    app = built.app(folder)
    (app / "src").mkdir()
    (app / "src" / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    shutil.copy(CHECKS / "consumer.tsx", app / "src")
    options = {"jsx": "react-native", "lib": ["es2022"], "rootDir": ".", "skipLibCheck": False}
    return configured(app, {**options, **resolution}, include=["src"])


def with_examples(built: Built, difficult: Built, folder: Path) -> Path:
    """The examples of both READMEs."""
    app = built.app(folder)
    shutil.copytree(difficult.package, app / "node_modules" / difficult.name, copy_function=os.link)
    for each in (built, difficult):
        examples = write_examples(each, app / "src" / each.name)
        assert {path.suffix for path in examples} == {".ts", ".tsx"}
    types = {"lib": ["es2022"], "types": ["node"]}
    options = {"jsx": "react-native", "rootDir": ".", **types, **RESOLUTIONS["of-an-app"]}
    return configured(app, options, include=["src"])


def tsc(folder: Path, options: Mapping[str, object], *, include: Sequence[str]) -> Finished:
    """The compiler's errors for a folder."""
    [done] = compile_all([Workplace(configured(folder, options, include=include)).config])
    return done
