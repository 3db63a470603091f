"""Flutter packages in apps of Apple's systems: SwiftPM takes two of them with one ONNX Runtime, which they find."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from packager.render.templates import write_sources
from packager.targets.xcframework import macho
from tests.flutter.test_flutter_target import there
from tests.golden.cases import FLUTTER_CASES
from tests.toolchain import apple
from tests.toolchain.kept import kept
from tests.toolchain.swift import swift, toolchain_files
from tests.toolchain.swift_packages import BUILT

PARTS = Path(__file__).parents[1] / "toolchain" / "flutter_swift"
PACKAGES = ("apple_alone", "contracts")
PLUGIN = "plugins/{0}/darwin/{0}"
PLACE = Path("/flutter")
"""where SwiftPM sees the app: it knows the manifests that it has read there"""
OPTIONS = ("-Xlinker", "-export-dynamic")
FRAMEWORK_NAME = "FlutterFramework"
MACOS = "arm64-apple-macos14.0"
FRAMEWORK = """\
// swift-tools-version: 5.9
import PackageDescription

let package = Package(
    name: "FlutterFramework",
    products: [.library(name: "FlutterFramework", targets: ["Flutter"])],
    targets: [.target(name: "Flutter")]
)
"""
APP = """\
// swift-tools-version: 5.9
import PackageDescription

let package = Package(
    name: "app",
    platforms: [.iOS("15.1"), .macOS("14.0")],
    dependencies: [
        .package(name: "FlutterFramework", path: "../packages/FlutterFramework"),
        .package(name: "apple_alone", path: "../packages/apple_alone"),
        .package(name: "contracts", path: "../packages/contracts")
    ],
    targets: [
        .executableTarget(
            name: "app",
            dependencies: [
                .product(name: "FlutterFramework", package: "FlutterFramework"),
                .product(name: "apple-alone", package: "apple_alone"),
                .product(name: "contracts", package: "contracts")
            ]
        )
    ]
)
"""


@dataclass(frozen=True)
class App:
    """An app as Flutter lays it out: packages of plug-ins are links beside that of its framework."""

    folder: Path

    def plugin(self, name: str) -> Path:
        return self.folder / PLUGIN.format(name)

    def build(self) -> Path:
        """The folder with the program, with all that is beside it. Nobody may write to it."""

        def make(made: Path) -> None:
            done = swift().package(
                "build", PLACE / "app", *OPTIONS, scratch=PLACE / "scratch", mounts={str(PLACE): self.folder}
            )
            assert done.returncode == 0, done.output
            built = self.folder / "scratch" / BUILT
            shutil.copy(built / "app", made)
            for resources in built.glob("*.resources"):
                shutil.copytree(resources, made / resources.name)

        content = [self.folder / name for name in ("app", "plugins", f"packages/{FRAMEWORK_NAME}")]
        return kept("swift-flutter", make, *content, *OPTIONS, *toolchain_files())


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    made = App(tmp_path_factory.mktemp("app"))
    links = made.folder / "packages"
    framework = links / FRAMEWORK_NAME / "Sources" / "Flutter"
    framework.mkdir(parents=True)
    write(framework / "Flutter.swift", (PARTS / "Flutter.swift").read_text(encoding="utf-8"))
    write(links / FRAMEWORK_NAME / "Package.swift", FRAMEWORK)
    for name in PACKAGES:
        files = made.folder / "files" / name
        write_sources(there(FLUTTER_CASES[name], files).sources(), made.folder / "plugins" / name)
        (links / name).symlink_to(Path("..", PLUGIN.format(name)))
    sources = made.folder / "app" / "Sources" / "app"
    sources.mkdir(parents=True)
    write(sources / "main.swift", (PARTS / "main.swift").read_text(encoding="utf-8"))
    write(made.folder / "app" / "Package.swift", APP)
    return made


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def test_two_plugins_are_built_into_one_app_and_answer_where_onnxruntime_is(app: App) -> None:
    built = app.build()
    library = swift().onnxruntime_library()
    run = swift().run([built / "app"], cwd=built, environment={"LD_LIBRARY_PATH": str(library)})
    assert run.output.splitlines() == [
        "mobpack/apple_alone 8 same",
        "mobpack/contracts 8 same",
        "contracts found",
        "apple_alone found",
    ]


def test_flutter_finds_the_product_the_framework_and_the_privacy_manifest(app: App) -> None:
    found = described(app, "apple_alone")
    assert [each["name"] for each in found["products"]] == ["apple-alone"], "Flutter writes '-' for '_'"
    dependencies = [next(iter(each.values()))[0] for each in found["dependencies"]]
    assert [each["identity"] for each in dependencies] == ["flutterframework", "onnxruntime-binary-1.29.0"]
    plugin = next(each for each in found["targets"] if each["name"] == "apple_alone")
    assert [each["path"] for each in plugin["resources"]] == ["PrivacyInfo.xcprivacy"]
    assert {each["platformName"]: each["version"] for each in found["platforms"]} == {"ios": "15.1", "macos": "14.0"}


def described(app: App, name: str) -> dict[str, Any]:
    command = ["swift", "package", "--scratch-path", str(PLACE / "described"), "dump-package"]
    done = swift().run(command, cwd=PLACE / PLUGIN.format(name), mounts={str(PLACE): app.folder})
    assert done.returncode == 0, done.output
    found: dict[str, Any] = json.loads(done.output[done.output.index("{") :])
    return found


@pytest.mark.parametrize(("triple", "module"), [(apple.IOS, "Flutter"), (MACOS, "FlutterMacOS")])
def test_the_plugin_compiles_for_phones_and_for_macs(app: App, triple: str, module: str, tmp_path: Path) -> None:
    framework, plugin = tmp_path / "framework", tmp_path / "plugin"
    framework.mkdir()
    plugin.mkdir()
    made = apple.compile_swift(module, [PARTS / "Flutter.swift"], framework, triple=triple)
    assert made.returncode == 0, made.output
    sources = app.plugin("contracts") / "Sources"
    header = sources / "contracts_c" / "include"
    c_module = tmp_path / "c"
    c_module.mkdir()
    write(c_module / "module.modulemap", f'module contracts_c {{ header "{header / "contracts_c.h"}" }}\n')
    done = apple.compile_swift(
        "contracts",
        [sources / "contracts" / "ContractsPlugin.swift"],
        plugin,
        c_modules={"contracts_c": c_module},
        modules=[framework, header],
        triple=triple,
    )
    assert done.returncode == 0, done.output
    code = apple.compile_c([sources / "contracts_c" / "contracts_c.c"], plugin, includes=[header], triple=triple)
    assert code.returncode == 0, code.output
    [found] = macho.read(code.objects[0])
    assert "_OrtGetApiBase" in found.undefined
