"""Compiles the TypeScript of npm packages with the pinned compiler, and keeps what it makes of the shared part.

`python -m tests.toolchain.typescript --write` renews lib/ in templates/typescript and in those of the targets: apps get
JavaScript and types without a toolchain of their own.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packager.files.installed import templates_folder
from tests.toolchain import node
from tests.toolchain.node import Finished

PROJECT = "react_native"
ROOTS = {
    "typescript": templates_folder() / "typescript",
    "react_native": templates_folder() / "react_native",
    "web": templates_folder() / "web",
}
"""folders with code that is the same in every package, the shared one first"""
SHARED = "typescript"
OPTIONS = {
    "target": "ES2022",
    "lib": ["ES2022", "DOM"],
    "types": [],
    "module": "ESNext",
    "moduleResolution": "Bundler",
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "noFallthroughCasesInSwitch": True,
    "noImplicitOverride": True,
    "noImplicitReturns": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
    "verbatimModuleSyntax": True,
    "isolatedDeclarations": True,
    "erasableSyntaxOnly": True,
    "declaration": True,
    "newLine": "lf",
    "skipLibCheck": True,
    "rootDir": "src",
    "outDir": "lib",
}
"""The strictest options: apps compile the package with any of them."""


@dataclass(frozen=True)
class Workplace:
    """A folder with sources in `src`, npm packages beside them, and the output in `lib`."""

    folder: Path

    @property
    def src(self) -> Path:
        return self.folder / "src"

    @property
    def lib(self) -> Path:
        return self.folder / "lib"

    def compile(self, *options: str) -> Finished:
        """Runs the compiler on all of `src`; errors are in its output."""
        return node.run([node.tool(node.project(PROJECT), "tsc"), "-p", ".", *options], cwd=self.folder)


def workplace(sources: Mapping[str, Path], folder: Path) -> Workplace:
    """Copies of folders with TypeScript, by their names in `folder`/src, ready to compile."""
    for name, source in sources.items():
        shutil.copytree(source, folder / "src" / name)
    node.link(node.project(PROJECT), folder)
    (folder / "package.json").write_text('{"type": "module"}\n', encoding="utf-8")
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": OPTIONS, "include": ["src"]}, indent=2), encoding="utf-8"
    )
    return Workplace(folder)


def texts(folder: Path) -> dict[str, str]:
    """Every file of JavaScript and types below `folder`, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".js", ".ts")
    }


def kept(root: str) -> dict[str, str]:
    """The compiler's output that lies in the templates `root`, by path below lib/."""
    lib = ROOTS[root] / "lib"
    wanted = {path.relative_to(ROOTS[root] / "src") for path in _sources(root)}
    return {
        path: text
        for path, text in texts(lib).items()
        if Path(path.removesuffix(".js").removesuffix(".d.ts") + ".ts") in wanted
    }


def compiled(root: str, folder: Path) -> dict[str, dict[str, str]]:
    """The compiler's output for the code in the templates `root` and for the shared code, by path below lib/ of each.

    `folder` is empty, or missing.
    """
    roots = dict.fromkeys((SHARED, root))
    for each in roots:
        for path in _sources(each):
            place = folder / "src" / path.relative_to(ROOTS[each] / "src")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    done = workplace({}, folder).compile()
    if done.returncode != 0:
        sys.exit(done.output)
    made = texts(folder / "lib")
    return {each: {path: text for path, text in made.items() if _source_of(path) in _own(each)} for each in roots}


def _source_of(path: str) -> str:
    """The path of a file of lib/ without its ending."""
    return path.removesuffix(".js").removesuffix(".d.ts")


def _own(root: str) -> set[str]:
    return {path.relative_to(ROOTS[root] / "src").with_suffix("").as_posix() for path in _sources(root)}


def _sources(root: str) -> list[Path]:
    return sorted((ROOTS[root] / "src").rglob("*.ts"))


def main() -> None:
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m tests.toolchain.typescript --write")
    for root in ROOTS:
        with tempfile.TemporaryDirectory() as scratch:
            made = compiled(root, Path(scratch, "package"))[root]
        lib = ROOTS[root] / "lib"
        for path in kept(root):
            (lib / path).unlink()
        for path, text in made.items():
            (lib / path).parent.mkdir(parents=True, exist_ok=True)
            (lib / path).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
