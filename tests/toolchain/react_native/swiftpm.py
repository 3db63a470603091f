"""An app that React Native builds with SwiftPM: React Native's own scripts lay it out, Debian's Swift builds it.

React Native's binaries are for Apple's systems alone. A package of the same products stands in for them, and the
compiler gets the headers of the npm package.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from tests.toolchain import jsc, node
from tests.toolchain.react_native import codegen
from tests.toolchain.react_native.bare import BareApp
from tests.toolchain.swift import Finished, swift

APPLE = Path(__file__).with_name("apple")
SCRIPT = Path(__file__).with_name("spm.js")
PRODUCTS = ("ReactHeaders", "ReactNativeHeaders", "ReactNativeDependenciesHeaders")
MANIFEST = """\
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "ReactNative",
    products: [{products}],
    targets: [{targets}]
)
"""


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

    def run(self, *command: str, options: tuple[str, ...] = ()) -> Finished:
        """A command of Swift's in the package of linked packages."""
        return swift().run(
            ["swift", *command, "--scratch-path", str(self.folder / "scratch"), *options],
            cwd=self.linked,
            mounts={str(self.folder): self.folder, **_mounts()},
        )

    def build(self) -> Finished:
        """`swift build`; what is built stays unlinked, because the libraries are Apple's."""
        seen = [option for folder in _headers() for option in ("-Xcc", "-isystem", "-Xcc", str(folder))]
        quick = ("-j", "2", "--disable-index-store", "-Xcc", "-g0")
        return self.run(
            "build", options=(*quick, "-Xcc", "-Wno-everything", "-Xcc", "-fmodule-name=ReactAppHeaders", *seen)
        )


def make(app: BareApp) -> SwiftPmApp:
    """Links the packages as `npx react-native spm` does, but for React Native's binaries."""
    made = app.folder / "build" / "generated" / "autolinking"
    made.mkdir(parents=True)
    (made / "autolinking.json").write_text(json.dumps(app.config()), encoding="utf-8")
    _write_react_native(app.folder / "build" / "xcframeworks")
    codegen.for_ios(app.folder, app.folder, project=app.project)
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
