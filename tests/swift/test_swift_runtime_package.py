"""SwiftPM itself resolves and builds apps with several packages of ours, and with Microsoft's beside them."""

import json
import plistlib
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from packager.render.templates import write_sources
from packager.targets import swift_runtime
from packager.targets.ios import Ios
from packager.targets.xcframework.packaged import PackagedFramework
from tests.golden.cases import IOS_CASES
from tests.toolchain.kept import kept
from tests.toolchain.swift import PROGRAMS, QUICK, STOOD_IN, Finished, swift, toolchain_files
from tests.toolchain.swift_app import App
from tests.toolchain.swift_golden import golden_package
from tests.toolchain.swift_packages import BUILT, place_of, runtimes

MICROSOFTS = "onnxruntime-swift-package-manager"
ADDRESS = f"https://github.com/microsoft/{MICROSOFTS}"
PACKAGE = """\
// swift-tools-version: 5.9
import PackageDescription
let package = Package(
    name: "{name}", platforms: [.iOS("15.1"), .macOS("14.0")], products: [{products}], dependencies: [{packages}],
    targets: [{targets}]
)
"""
APP = """\
import CpuAloneKit
import VisionModels
do { _ = try VisionModels.Classifier() } catch { print("vision:", error) }
do { _ = try CpuAloneKit.Classifier() } catch { print("alone:", error) }
"""


def write_package(folder: Path, *, targets: str, products: str = "", packages: Sequence[str] = ()) -> None:
    folder.mkdir(exist_ok=True)
    text = PACKAGE.format(name=folder.name, products=products, packages=", ".join(packages), targets=targets)
    (folder / "Package.swift").write_text(text)


def write_app(folder: Path, *paths: str) -> Path:
    """An app that uses both packages; `paths` are the packages that it names."""
    products = '.product(name: "VisionModels", package: "image_classifier"), "cpu_alone"'
    products = products.replace('"cpu_alone"', '.product(name: "CpuAloneKit", package: "cpu_alone")')
    write_package(
        folder / "app",
        packages=[f'.package(path: "{path}")' for path in paths],
        targets=f'.executableTarget(name: "App", dependencies: [{products}])',
    )
    (folder / "app/Sources/App").mkdir(parents=True, exist_ok=True)
    (folder / "app/Sources/App/main.swift").write_text(APP)
    return folder / "app"


def write_stand_in(folder: Path) -> None:
    """A package with the names of Microsoft's: its binary target, and C in place of Objective-C."""
    write_package(
        folder,
        products='.library(name: "onnxruntime", targets: ["OnnxRuntimeBindings"])',
        targets='.binaryTarget(name: "onnxruntime", path: "onnxruntime.xcframework"), .target(name: '
        '"OnnxRuntimeBindings", dependencies: ["onnxruntime"], linkerSettings: [.linkedLibrary("onnxruntime")])',
    )
    include = folder / "Sources/OnnxRuntimeBindings/include"
    include.mkdir(parents=True)
    (include / "bindings.h").write_text("// nothing\n")
    (include.parent / "bindings.c").write_text('#include "bindings.h"\n')
    write_xcframework(folder / "onnxruntime.xcframework")


def write_xcframework(folder: Path) -> None:
    folder.mkdir()
    (folder / "Info.plist").write_bytes(plistlib.dumps({"AvailableLibraries": []}))


def write_unzip(both: Path) -> None:
    """The program that SwiftPM unpacks archives with: `unzip ARCHIVE -d FOLDER`, which the toolchain's root lacks.

    The machine's Python takes its place, which sees `both` where it is.
    """
    archive, folder = (f'"{both}${{{number}#{place_of(both / "cpu_alone")}}}"' for number in (1, 3))
    (both / "bin").mkdir()
    script = f"#!/bin/sh\nexec chroot /host {sys.executable} -m zipfile -e {archive} {folder}\n"
    (both / "bin" / "unzip").write_text(script)
    (both / "bin" / "unzip").chmod(0o755)


def run(folder: Path, *command: str) -> Finished:
    """A command of Swift's in the app of `folder`, which sees all packages in there.

    It finds them in the same place for all tests, and knows the manifests that it has read there.
    """
    library = swift().onnxruntime_library()
    place = place_of(folder / "cpu_alone")
    return swift().run(
        ["swift", *command],
        cwd=place / "app",
        mounts={str(place): folder, str(folder): folder, **swift().stand_ins()},
        environment={
            **STOOD_IN,
            "LD_LIBRARY_PATH": str(library),
            "LIBRARY_PATH": str(library),
            "PATH": f"{PROGRAMS}:{place / 'bin'}",
        },
    )


def packages_of(folder: Path) -> set[str]:
    """The packages that the app gets."""
    done = run(folder, "package", "show-dependencies", "--format", "json")
    assert done.returncode == 0, done.output
    _, _, text = done.output.partition("{")
    found, _ = json.JSONDecoder().raw_decode("{" + text)

    def names(node: dict[str, Any]) -> set[str]:
        return {str(node["identity"])}.union(*map(names, node["dependencies"]))

    return names(found)


@pytest.fixture(name="both")
def _both(tmp_path: Path) -> Path:
    """A folder with two packages of ours and ONNX Runtime's."""
    swift()
    for name in ("cpu_alone", "image_classifier"):
        golden_package(name, tmp_path)
    return tmp_path


def print_with(both: Path, name: str, target: Ios, own: PackagedFramework | None = None) -> None:
    """Prints a package's manifest anew, and its runtime's package if mobpack writes it."""
    case = IOS_CASES[name]
    view = target.view(case.package, case.plans, case.report, own, case.golden)
    text = target.render(view).texts
    (both / name / "Package.swift").write_text(next(text[path] for path in text if path.name == "Package.swift"))
    if view.has_runtime:
        write_sources(swift_runtime.sources(view.own), both / view.dependency.identity)


def test_an_app_with_two_packages_and_microsofts_builds_and_runs(
    both: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Then with packages that name Microsoft's, which bring no other runtime."""
    write_stand_in(both / MICROSOFTS)
    write_app(both, "../cpu_alone", "../image_classifier", f"../{MICROSOFTS}")
    manifest = both / "app/Package.swift"
    more = f'"cpu_alone"), .product(name: "onnxruntime", package: "{MICROSOFTS}")'
    manifest.write_text(manifest.read_text().replace('"cpu_alone")]', f"{more}]"))
    [runtime] = runtimes(both)

    assert packages_of(both) == {"app", "cpu_alone", "image_classifier", runtime.name, MICROSOFTS}
    runs(both, tmp_path_factory.mktemp("first"))

    for name, module in (("cpu_alone", "CpuAloneKit"), ("image_classifier", "VisionModels")):
        target = Ios(runtime_package=f"../{MICROSOFTS}", runtime_product="onnxruntime", module=module)
        print_with(both, name, target)
    write_app(both, "../cpu_alone", "../image_classifier")

    assert packages_of(both) == {"app", "cpu_alone", "image_classifier", MICROSOFTS}
    runs(both, tmp_path_factory.mktemp("second"))


def runs(both: Path, folder: Path) -> None:
    """Builds the app and runs it: both packages look for their models. SwiftPM compiles their modules file by file."""

    def make(made: Path) -> None:
        built = both / "app/.build" / BUILT
        (built / "App").unlink(missing_ok=True)
        options = ("-j", "2", "--disable-index-store", "-Xswiftc", "-warnings-as-errors")
        headers = ("-Xswiftc", "-module-cache-path", "-Xswiftc", str(swift().shared / "modules"))
        done = run(both, "build", *options, *headers, *QUICK)
        assert done.returncode == 0, done.output
        shutil.copy(built / "App", made)
        for resources in built.glob("*.resources"):
            shutil.copytree(resources, made / resources.name)

    packages = [path for path in sorted(both.iterdir()) if path.name != "app"]
    content = [*packages, both / "app/Package.swift", both / "app/Sources", *toolchain_files()]
    done = App(kept("swift-both", make, *content, Path(__file__))).run(scratch=folder / "run")
    assert done.returncode == 0, done.output
    for name in ("vision", "alone"):
        assert re.search(rf"{name}: \S+/classifier/model.ort is missing", done.output), done.output


def test_two_different_runtimes_of_ours_do_not_resolve(both: Path) -> None:
    write_xcframework(both / "own.xcframework")
    own = PackagedFramework(version="1.29.0", ship="inside", folder=both / "own.xcframework", sha256="d" * 64)
    target = IOS_CASES["cpu_alone"].target
    assert isinstance(target, Ios)
    print_with(both, "cpu_alone", target, own)
    write_app(both, "../cpu_alone", "../image_classifier")

    done = run(both, "build", "-j", "2")

    assert done.returncode != 0
    assert "MobpackOnnxRuntime" in done.output
    assert "onnxruntime-binary-1.29.0-dddddddd" in done.output


@pytest.mark.parametrize(
    ("tags", "oldest", "chosen"),
    [
        (("1.24.1", "1.24.2", "1.29.0", "1.30.0", "2.0.0"), "1.24.2", "1.30.0"),
        (("1.24.1", "1.24.2"), "1.24.2", "1.24.2"),
        (("1.24.1", "1.24.2"), "", ""),
    ],
)
def test_swiftpm_takes_the_newest_runtime_of_the_range(
    both: Path, tags: tuple[str, ...], oldest: str, chosen: str
) -> None:
    write_stand_in(both / MICROSOFTS)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    script = [["init", "-q"], ["add", "."], ["commit", "-qm", "all"], *(["tag", tag] for tag in tags)]
    for words in script:
        done = swift().run([*git, *words], cwd=both / MICROSOFTS)
        assert done.returncode == 0, done.output
    for name in ("cpu_alone", "image_classifier"):
        print_with(both, name, Ios(runtime_package=ADDRESS, runtime_product="onnxruntime", runtime_from=oldest))
    write_app(both, "../cpu_alone", "../image_classifier")
    mirror = ["--original", ADDRESS, "--mirror", f"file://{both / MICROSOFTS}"]
    assert run(both, "package", "config", "set-mirror", *mirror).returncode == 0

    done = run(both, "package", "resolve")

    if chosen:
        assert done.returncode == 0, done.output
        pins = json.loads((both / "app/Package.resolved").read_text())["pins"]
        assert [pin["state"]["version"] for pin in pins] == [chosen]
    else:
        assert done.returncode != 0
        assert "1.29.0..<2.0.0" in done.output, done.output


@pytest.mark.parametrize("form", ["folder", "archive", "empty archive"])
def test_the_name_of_the_binary_target_need_not_be_that_of_the_xcframework(both: Path, form: str) -> None:
    """As on a Mac, where the manifest names a binary; the published one is an archive."""
    write_xcframework(both / "onnxruntime.xcframework")
    own = PackagedFramework(version="1.29.0", ship="inside", folder=both / "onnxruntime.xcframework", sha256="d" * 64)
    target = IOS_CASES["cpu_alone"].target
    assert isinstance(target, Ios)
    print_with(both, "cpu_alone", target, own)
    shutil.rmtree(both / "image_classifier")
    manifest = both / "onnxruntime-binary-1.29.0-dddddddd/Package.swift"
    text = manifest.read_text().replace("#if os(Linux)", "#if false")
    if form != "folder":
        packed = both / "packed"
        packed.mkdir()
        if form == "archive":
            (manifest.parent / "onnxruntime.xcframework").rename(packed / "onnxruntime.xcframework")
        (packed / "LICENSE").write_text("MIT")
        shutil.make_archive(str(manifest.parent / "archive"), "zip", packed)
        write_unzip(both)
        text = text.replace('"onnxruntime.xcframework"', '"archive.zip"')
    manifest.write_text(text)
    write_package(both / "app", packages=['.package(path: "../cpu_alone")'], targets="")

    done = run(both, "package", "resolve")

    assert (done.returncode == 0) == (form != "empty archive"), done.output
    assert ("does not contain a binary artifact" in done.output) == (form == "empty archive"), done.output
