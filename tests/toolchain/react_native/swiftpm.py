"""An app that React Native builds with SwiftPM: React Native's own scripts lay it out, Debian's Swift builds it.

React Native's binaries are for Apple's systems alone. A package of the same products stands in for them, and the
compiler gets the headers of the npm package.
"""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.toolchain import cxx, jsc, node
from tests.toolchain.kept import kept
from tests.toolchain.npm_checks import contents
from tests.toolchain.react_native import bare, codegen
from tests.toolchain.react_native.bare import BareApp
from tests.toolchain.react_native.packages import Built
from tests.toolchain.swift import Finished, swift, toolchain_files

APPLE = Path(__file__).with_name("apple")
SCRIPT = Path(__file__).with_name("spm.js")
PRODUCTS = ("ReactHeaders", "ReactNativeHeaders", "ReactNativeDependenciesHeaders")
OUTCOME = "outcome.json"
MANIFEST = """\
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "ReactNative",
    products: [{products}],
    targets: [{targets}]
)
"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The work of React Native's scripts and of Swift's compiler on an app with a package."""

    told: str
    """output of React Native's scripts"""
    linked: str
    """the folder that they link, by its path in the app"""
    build: Finished
    compiled: list[str]
    """the objects that were built, by their paths in the app"""
    described: Finished
    """the package's manifest in JSON"""


def outcome(built: Built, name: str) -> Outcome:
    """Of the package whose product in Swift has that name; kept by content, as all compilations are.

    Raises AssertionError with the words of a build that fails.
    """

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            made = _outcome(built, Path(scratch).resolve(), name)
        for done in (made.build, made.described):
            assert done.returncode == 0, done.output
        (folder / OUTCOME).write_text(json.dumps(asdict(made)), encoding="utf-8")

    react_native = str(node.project(jsc.NEWEST))
    content = [*contents(built.package), react_native, *jsc.includes()]
    found = kept("swiftpm", make, *content, *toolchain_files(), Path(__file__), SCRIPT, APPLE, bare.FIXTURE) / OUTCOME
    read: Mapping[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    finished = {key: Finished(**read[key]) for key in ("build", "described")}
    return Outcome(told=read["told"], linked=read["linked"], compiled=read["compiled"], **finished)


def _outcome(built: Built, scratch: Path, name: str) -> Outcome:
    app = make(bare.make(built, scratch / "app"))
    package = (app.linked / "libs" / name).resolve()
    build = app.build()
    objects = sorted(path.relative_to(app.folder).as_posix() for path in app.folder.glob("scratch/*/debug/**/*.o"))
    described = app.run("package", "dump-package", folder=package)
    return Outcome(
        told=app.told,
        linked=package.relative_to(app.folder).as_posix(),
        build=build,
        compiled=objects,
        described=described,
    )


@dataclass(frozen=True)
class SwiftPmApp:
    """An app whose packages are linked."""

    folder: Path
    told: str
    """output of React Native's scripts"""

    @property
    def linked(self) -> Path:
        """The package that has all linked packages as dependencies."""
        return self.folder / "build" / "generated" / "autolinking"

    def run(self, *command: str, folder: Path) -> Finished:
        """A command of Swift's for the package in `folder`."""
        return swift().run(["swift", *command], cwd=folder, mounts={str(self.folder): self.folder, **_mounts()})

    def build(self) -> Finished:
        """`swift build`, which checks all sources; nothing is linked, because the libraries are Apple's."""
        seen = [option for folder in _headers() for option in ("-Xcc", "-isystem", "-Xcc", str(folder))]
        quick = ("-j", "2", "--disable-index-store", "-Xcc", "-g0")
        lenient = ("-Xcc", "-Wno-everything", "-Xcc", "-fmodule-name=ReactAppHeaders")
        checked = [word for option in cxx.WITHOUT_CODE for word in ("-Xcc", option)]
        place = ("--scratch-path", str(self.folder / "scratch"))
        return self.run("build", *place, *quick, *lenient, *checked, *seen, folder=self.linked)


def make(app: BareApp) -> SwiftPmApp:
    """Links the packages as `npx react-native spm` does, but for React Native's binaries."""
    made = app.folder / "build" / "generated" / "autolinking"
    made.mkdir(parents=True)
    (made / "autolinking.json").write_text(json.dumps(app.config()), encoding="utf-8")
    _write_react_native(app.folder / "build" / "xcframeworks")
    codegen.generate_for_ios(app.folder, app.folder, app.project)
    react_native = node.project(app.project) / "node_modules" / "react-native"
    done = node.run([SCRIPT, react_native, app.folder], cwd=app.folder)
    assert done.returncode == 0, done.output
    return SwiftPmApp(app.folder, done.output)


def _write_react_native(folder: Path) -> None:
    for name in PRODUCTS:
        include = folder / "Sources" / name / "include"
        include.mkdir(parents=True)
        (include / f"{name}.h").write_text("// nothing\n", encoding="utf-8")
        (include.parent / f"{name}.c").write_text(f'#include "{name}.h"\n', encoding="utf-8")
    products = ", ".join(f'.library(name: "{name}", targets: ["{name}"])' for name in PRODUCTS)
    targets = ", ".join(f'.target(name: "{name}")' for name in PRODUCTS)
    (folder / "Package.swift").write_text(MANIFEST.format(products=products, targets=targets), encoding="utf-8")


def _headers() -> list[Path]:
    """Folders of React Native's headers, and of those of Apple's that the packages include."""
    options = jsc.includes(APPLE)
    return [Path(folder) for folder in options[1::2]]


def _mounts() -> dict[str, Path]:
    return {str(folder): folder for folder in _headers()}
