"""Compiles the TypeScript of npm packages with the pinned compiler, and keeps what it makes of the shared part.

`python -m tests.toolchain.typescript --write` renews lib/ in templates/typescript and in those of the targets: apps get
JavaScript and types without a toolchain of their own.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packager.files.installed import templates_folder
from packager.providers import Provider, all_providers
from packager.render.templates import render
from tests.toolchain import node
from tests.toolchain.node import Finished
from tests.toolchain.npm_checks import compile_all

PROJECT = "react_native"
ROOTS = {
    "typescript": templates_folder() / "typescript",
    "react_native": templates_folder() / "react_native",
    "web": templates_folder() / "web",
    "node": templates_folder() / "node",
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
NO_OPTIONS: Mapping[str, object] = {}
PROVIDERS = "runtime/providers.ts"


@dataclass(frozen=True)
class Printed:
    """The variable of the template PROVIDERS."""

    all_providers: tuple[type[Provider], ...] = field(default_factory=all_providers)


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

    @property
    def config(self) -> Path:
        return self.folder / "tsconfig.json"

    def compile(self, options: Mapping[str, object] = NO_OPTIONS) -> Finished:
        """Compiles all of `src`, unless the same was compiled before; errors are in the output."""
        self.configure(options)
        [done] = compile_all([self.config])
        return done

    def configure(self, options: Mapping[str, object], include: Sequence[str] = ("src",)) -> None:
        """Has the compiler take `options` in the place of those of OPTIONS."""
        settings = {"compilerOptions": {**OPTIONS, **options}, "include": list(include)}
        self.config.write_text(json.dumps(settings, indent=2), encoding="utf-8")


def workplace(sources: Mapping[str, Path], folder: Path) -> Workplace:
    """Copies of folders with TypeScript, by their names in `folder`/src, ready to compile."""
    for name, source in sources.items():
        shutil.copytree(source, folder / "src" / name)
    node.link(node.project(PROJECT), folder)
    (folder / "package.json").write_text('{"type": "module"}\n', encoding="utf-8")
    made = Workplace(folder)
    made.configure(NO_OPTIONS)
    return made


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


def shared_place(root: str, folder: Path) -> Workplace:
    """The code in the templates `root` and the shared code, ready to compile in `folder`, which is empty or missing."""
    for each in dict.fromkeys((SHARED, root)):
        for path in _sources(each):
            place = folder / "src" / path.relative_to(ROOTS[each] / "src")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    print_providers(folder / "src")
    return workplace({}, folder)


def print_providers(src: Path) -> None:
    """Adds the table of providers, which every package prints, to a copy of the shared sources."""
    text = render(f"{SHARED}/src/{PROVIDERS}.j2", Printed())
    (src / PROVIDERS).write_text(text, encoding="utf-8", newline="\n")


def shared_output(root: str, place: Workplace) -> dict[str, dict[str, str]]:
    """The compiler's output in a `shared_place`, by path below lib/ of the templates `root` and of the shared code."""
    made = texts(place.lib)
    roots = dict.fromkeys((SHARED, root))
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
            place = shared_place(root, Path(scratch, "package"))
            done = place.compile()
            if done.returncode != 0:
                sys.exit(done.output)
            made = shared_output(root, place)[root]
        lib = ROOTS[root] / "lib"
        for path in kept(root):
            (lib / path).unlink()
        for path, text in made.items():
            (lib / path).parent.mkdir(parents=True, exist_ok=True)
            (lib / path).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
