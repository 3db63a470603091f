"""The golden trees for iOS are packages that Swift takes: compiled, described, laid out and documented as it asks.

Three of them, which have all code for systems other than Apple's, are compiled as Swift 6 for Linux here, the others
at night; most are compiled for iPhones (`test_swift_apple.py`). `test_swift_packages.py` compiles what their manifests
ask for.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from packager.files.processes import downloads
from packager.targets.swift_runtime import BINARY, PRODUCT
from tests.nights import AT_NIGHT
from tests.toolchain.kept import kept
from tests.toolchain.swift import UNVERIFIED, Finished, swift, toolchain_files
from tests.toolchain.swift_golden import golden_package
from tests.toolchain.swift_packages import place_of, runtimes

COMPILED = ("delivered", "contracts", "encrypted")
NAMES = ("image_classifier", "everything", "cpu_alone", *COMPILED)
FORMAT = {
    "version": 1,
    "indentation": {"spaces": 4},
    "lineLength": 120,
    "indentConditionalCompilationBlocks": False,
    "multiElementCollectionTrailingCommas": False,
    "rules": {"GroupNumericLiterals": False},
}
SYMBOLS = "symbols.json"
Symbols = dict[str, Any]
ACCESSOR = """\
import Foundation

extension Foundation.Bundle {
    static var module: Bundle { .main }
}
"""
APPLE = "#if os(Linux)"
MISTAKES = (
    ("ModelSession.swift", "    private let queue:", "    private var queue:", "is mutable"),
    ("Options.swift", "public var threads: Int\n", "public var threads: NSObject\n", "cannot find type 'NSObject'"),
    ("Shape.swift", "        var needed = 1", "        var unused = 1\n        var needed = 1", "never used"),
)
"""File, what stands there, what a mistake makes of it, the compiler's words for it."""


@pytest.fixture(scope="module", params=NAMES)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    swift()
    return golden_package(request.param, tmp_path_factory.mktemp("golden"))


@pytest.fixture(scope="module", params=NAMES if AT_NIGHT else COMPILED)
def symbols(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Symbols:
    """The compiler's list of public symbols; it compiles the package's module for that, checks included."""
    swift()
    package = golden_package(request.param, tmp_path_factory.mktemp("golden"))

    def compile_into(folder: Path) -> None:
        done = compile_module(package)
        assert done.returncode == 0, done.output
        shutil.copy(package / f"{module_of(package)}.symbols.json", folder / SYMBOLS)

    folder = kept("swift-symbols", compile_into, package / "Sources", *toolchain_files(), Path(__file__))
    return public_symbols(folder / SYMBOLS)


def public_symbols(graph: Path) -> Symbols:
    found: Symbols = json.loads(graph.read_text(encoding="utf-8"))
    return found


def names(symbols: Symbols) -> set[str]:
    return {".".join(each["pathComponents"]) for each in symbols["symbols"]}


def undocumented(symbols: Symbols) -> set[str]:
    """Names of public symbols without a comment, except implementations of other modules' protocols, which have theirs
    where the compiler knows those modules' comments."""
    known = {each["identifier"]["precise"] for each in symbols["symbols"]}
    origins = {each["source"]: each.get("sourceOrigin", {}).get("identifier") for each in symbols["relationships"]}
    others = {symbol for symbol, origin in origins.items() if origin and origin not in known}
    own = [each for each in symbols["symbols"] if "::SYNTHESIZED::" not in each["identifier"]["precise"]]
    assert own
    found = (each for each in own if "docComment" not in each and each["identifier"]["precise"] not in others)
    return {".".join(each["pathComponents"]) for each in found}


def module_of(package: Path) -> str:
    [shim] = package.glob("Sources/C*/shim.c")
    return shim.parent.name.removeprefix("C")


def compile_module(package: Path) -> Finished:
    """Compiles a package's module as Swift 6, which refuses data races; what SwiftPM would add is added."""
    module = module_of(package)
    (package / "Accessor.swift").write_text(ACCESSOR, encoding="utf-8")
    sources = sorted((package / "Sources" / module).glob("*.swift"))
    headers = package / "Sources" / f"C{module}" / "include"
    command: list[str | Path] = ["swiftc", "-module-name", module, "-swift-version", "6", "-warnings-as-errors"]
    command += ["-parse-as-library", "-DSWIFT_PACKAGE", "-wmo", "-I", headers]
    command += ["-emit-module", "-emit-module-path", f"{module}.swiftmodule", "-emit-symbol-graph"]
    command += ["-emit-symbol-graph-dir", package, "-symbol-graph-minimum-access-level", "public"]
    command += [word for each in UNVERIFIED for word in ("-Xfrontend", each)]
    return swift().run([*command, *sources, "Accessor.swift"], cwd=package)


def test_it_compiles_as_swift_6_without_a_warning(symbols: Symbols) -> None:
    assert {"ModelError.closed(model:)", "Options", "Provider.cpu"} <= names(symbols)


def test_everything_public_is_documented(symbols: Symbols) -> None:
    assert undocumented(symbols) == set()


def test_its_files_are_laid_out_as_swift_format_does(package: Path) -> None:
    """But for long lines of Trust.swift, which stays as packages have it, and the root of a channel."""
    lines = lint(package, *new_files(package)).output.splitlines()
    assert [each for each in lines if not re.search(r"/(Trust|Channel)\.swift:.*\[LineLength\]", each)] == []


LOOKED_AT: dict[str, str] = {}
"""Text -> the package in which its layout was looked at."""


def files_of(package: Path) -> list[Path]:
    """All files of Swift, the manifest of the runtime's package among them."""
    folders = (f"Sources/{module_of(package)}", "Tests")
    inside = [path for folder in folders for path in sorted((package / folder).rglob("*.swift"))]
    return [package / "Package.swift", *inside, runtime_of(package) / "Package.swift"]


def new_files(package: Path) -> list[Path]:
    """Those whose text no package has that came before: most are the same in all of them."""
    texts = {path: path.read_text(encoding="utf-8") for path in files_of(package)}
    found = [path for path, text in texts.items() if LOOKED_AT.setdefault(text, package.name) == package.name]
    assert found
    return found


def lint(package: Path, *files: Path) -> Finished:
    options = ["--strict", "--configuration", json.dumps(FORMAT)]
    return swift().run(["swift-format", "lint", *options, *files], cwd=package.parent)


def described(package: Path) -> dict[str, Any]:
    """SwiftPM's view of the manifest."""
    return dumped(place_of(package), package, (package / "Package.swift").read_text(encoding="utf-8"))


def of_runtime(package: Path, *, is_apple: bool) -> dict[str, Any]:
    """SwiftPM's view of the manifest of the runtime's package, here or on a Mac."""
    runtime = runtime_of(package)
    text = (runtime / "Package.swift").read_text(encoding="utf-8")
    assert text.count(APPLE) == 1
    return dumped(place_of(package), runtime, text.replace(APPLE, "#if false") if is_apple else text)


DUMPED: dict[tuple[str, str], dict[str, Any]] = {}


def dumped(place: Path, package: Path, text: str) -> dict[str, Any]:
    """SwiftPM's view of a manifest with this text: most packages' runtime has the same."""
    manifest = package / "Package.swift"
    if (package.name, text) not in DUMPED:
        own = manifest.read_text(encoding="utf-8")
        manifest.write_text(text, encoding="utf-8")
        done = swiftpm(place, package, "dump-package")
        manifest.write_text(own, encoding="utf-8")
        assert done.returncode == 0, done.output
        DUMPED[package.name, text] = json.loads(done.output)
    return DUMPED[package.name, text]


def swiftpm(place: Path, package: Path, *words: str) -> Finished:
    """`swift package`, which sees packages in `place`: it knows the manifests that it has read there."""
    return swift().run(["swift", "package", *words], cwd=place / package.name, mounts={str(place): package.parent})


def runtime_of(package: Path) -> Path:
    [runtime] = runtimes(package.parent)
    return runtime


def test_the_runtime_on_linux_is_the_systems(package: Path) -> None:
    [target] = of_runtime(package, is_apple=False)["targets"]

    assert target["name"] == PRODUCT
    assert linked(target) == {"linkedLibrary": {"onnxruntime"}}


def test_the_runtime_on_a_mac_is_the_pinned_one(package: Path) -> None:
    found, pinned = of_runtime(package, is_apple=True), downloads.pins()["ios"]
    binary, target = found["targets"]
    [product] = found["products"]

    assert (binary["name"], binary["type"]) == (BINARY, "binary")
    assert (binary["url"], binary["checksum"]) == (pinned["archive"], pinned["checksum"])
    assert binary["url"].startswith("https://")
    assert target["dependencies"] == [{"byName": [BINARY, None]}]
    assert linked(target) == {"linkedFramework": {"CoreML", "Foundation", "Network"}, "linkedLibrary": {"c++"}}
    assert (product["name"], product["targets"]) == (PRODUCT, [target["name"]])


def test_the_package_depends_on_the_runtime_beside_it(package: Path) -> None:
    found, module, runtime = described(package), module_of(package), runtime_of(package)
    targets = {each["name"]: each for each in found["targets"]}
    [[dependency]] = [each["fileSystem"] for each in found["dependencies"]]

    assert set(targets) == {module, f"C{module}", f"{module}Tests"}
    assert (dependency["path"], dependency["identity"]) == (str(place_of(package) / runtime.name), runtime.name)
    assert targets[f"C{module}"]["dependencies"] == [{"product": [PRODUCT, runtime.name, None, None]}]
    assert linked(targets[f"C{module}"]) == ({"linkedLibrary": {"z"}} if package.name == "delivered" else {})


def test_the_manifest_says_what_apps_need_to_know(package: Path) -> None:
    found, module, pinned = described(package), module_of(package), downloads.pins()["ios"]
    platforms = {each["platformName"]: each["version"] for each in found["platforms"]}
    [product] = found["products"]
    resources = {each["path"]: list(each["rule"]) for target in found["targets"] for each in target["resources"]}

    assert set(platforms) == {"ios", "macos"}
    assert number(platforms["ios"]) >= number(pinned["min-ios"])
    assert (product["name"], product["targets"]) == (module, [module])
    assert resources == {"Resources/Models": ["copy"], "Resources/PrivacyInfo.xcprivacy": ["copy"]}
    assert not re.search("unsafe", json.dumps(found["targets"]), re.IGNORECASE)


def linked(target: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for setting in target["settings"]:
        [(kind, value)] = setting["kind"].items()
        found.setdefault(kind, set()).add(value["_0"])
    return found


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_swiftpm_finds_every_file_of_the_package(package: Path) -> None:
    done = swiftpm(place_of(package), package, "describe", "--type", "json")
    assert done.returncode == 0, done.output
    found = {each["name"]: each for each in json.loads(done.output)["targets"]}

    module = module_of(package)
    for name, folder in ((module, f"Sources/{module}"), (f"{module}Tests", f"Tests/{module}Tests")):
        assert sorted(found[name]["sources"]) == sorted(path.name for path in (package / folder).glob("*.swift"))
    assert found[f"C{module}"]["sources"] == ["shim.c"]
    assert "warning" not in done.output
