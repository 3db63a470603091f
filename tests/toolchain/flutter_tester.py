"""Flutter's engine without a screen, Debian's own: compiles and runs tests of widgets.

`python -m tests.toolchain.flutter_tester --lock` locks the versions that Debian's mirror has now.

Debian has no program `flutter`. Its part of a test is done here: the compiler of Dart's SDK makes a kernel, with the
declarations of Flutter's engine, and the engine runs it. The engine exits with 0 whatever happens, so the lines that
it prints decide.
"""

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from tests.toolchain.dart import LANGUAGE, code, dart
from tests.toolchain.dart import toolchain_files as files_of_dart
from tests.toolchain.debian_root import Suite
from tests.toolchain.kept import kept, linked
from tests.toolchain.require import require
from tests.toolchain.swift import Finished, Swift

SUITE = Suite("sid")
LOCK = Path(__file__).with_name("flutter_tester_debs.txt")
REFRESH = "python -m tests.toolchain.flutter_tester --lock"
WANTED = ("flutter-tester", "flutter-test", "flutter-patched-sdk", "libdouble-conversion3", "coreutils", "dash")
NOT_NEEDED = re.compile(r"(debianutils|libc-gconv-modules-extra|openssl-provider-legacy)$")
"""Dependencies of these that are not used here."""
NOT_UNPACKED = re.compile(r"usr/share/(doc|info|lintian|locale|man)/|.*/flutter_patched_sdk_product/")
DART_SDK = Path("/usr/lib/dart")
COMPILER = DART_SDK / "bin" / "snapshots" / "frontend_server_aot.dart.snapshot"
ENGINE = Path("/usr/lib/flutter-engine/linux-x64")
PACKAGES = Path("/usr/share/dart/packages")
PROGRAMS = f"{DART_SDK}/bin:/usr/bin"
KERNEL = "test.dill"
FRAMEWORK = "framework.dill"
FRAMEWORK_SOURCE = """\
import 'package:flutter/material.dart';
import 'package:flutter_test/flutter_test.dart';

void main() {}
"""
"""a program that has what tests of apps have in common"""
ASSETS = "flutter_assets"
OPTIONS = (
    "--disable-vm-service",
    "--enable-checked-mode",
    "--enable-software-rendering",
    "--non-interactive",
    "--use-test-fonts",
    "--disable-asset-fonts",
)
"""those of `flutter test`"""
LANGUAGE_OF = re.compile(r"^\s+sdk:\s*\D*(\d+\.\d+)", re.MULTILINE)
PASSED = re.compile(r"^\d\d:\d\d \+(\d+): All tests passed!$", re.MULTILINE)
SOURCE = re.compile(r"[+-](file|package|org-dartlang-sdk):")
"""beginning of a line that names a file that was read"""
TIMEOUT_S = 300


@dataclass(frozen=True)
class Tested:
    """Result of one file of tests."""

    passed: int
    """tests that passed; 0 unless all of the file did"""
    output: str


@dataclass(frozen=True)
class FlutterTester:
    """The engine and its libraries, in a folder that its runs share."""

    folder: Path

    def run(
        self,
        arguments: Sequence[str | Path],
        *,
        cwd: Path,
        mounts: Mapping[str, Path] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Runs a program of the engine, or of Dart, in `cwd`, the one folder of the machine that it sees besides
        `mounts`."""
        root = Swift(self.folder)
        seen = {str(DART_SDK): dart().folder / "root" / DART_SDK.relative_to("/"), **(mounts or {})}
        variables = {"PATH": PROGRAMS, **(environment or {})}
        return root.run(arguments, cwd=cwd, mounts=seen, environment=variables, timeout_s=TIMEOUT_S)

    def configure(self, app: Path, name: str, packages: Mapping[str, Path]) -> None:
        """Lets the app in a folder find Flutter and `packages`, and lays out their assets as `flutter build` does."""
        found = {each.name: each for each in sorted((self.folder / "root" / PACKAGES.relative_to("/")).iterdir())}
        listed = [_package(each, (PACKAGES / each).as_uri(), _language(folder)) for each, folder in found.items()]
        own = {name: app, **packages}
        listed += [_package(each, folder.as_uri(), LANGUAGE) for each, folder in own.items()]
        (app / ".dart_tool").mkdir(exist_ok=True)
        text = json.dumps({"configVersion": 2, "packages": listed})
        (app / ".dart_tool" / "package_config.json").write_text(text, encoding="utf-8", newline="\n")
        (app / ASSETS).mkdir(exist_ok=True)
        for each, folder in packages.items():
            if (folder / "models").is_dir():
                shutil.copytree(folder / "models", app / ASSETS / "packages" / each / "models", dirs_exist_ok=True)

    def compile(
        self, file: str, *, app: Path, mounts: Mapping[str, Path] | None = None, defines: Sequence[str] = ()
    ) -> None:
        """Compiles a file of tests of an app that `configure` has seen; `defines` are `NAME=VALUE`. It is kept by
        the content of all code."""

        framework = self._framework()

        def make(made: Path) -> None:
            words = ["--initialize-from-dill", str(framework), *(f"-D{each}" for each in defines)]
            seen = {**(mounts or {}), str(framework.parent): framework.parent}
            self._compile(file, made / KERNEL, *words, app=app, mounts=seen)

        content: tuple[Path | str, ...] = (*toolchain_files(), *_code(app), file, *defines)
        linked(str(kept("flutter-tests", make, *content) / KERNEL), str(app / KERNEL))

    def _framework(self) -> Path:
        """Flutter itself, compiled once for all tests: 11 s of a processor for the first, and 2 for each."""

        def make(made: Path) -> None:
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch)
                (folder / "framework.dart").write_text(FRAMEWORK_SOURCE, encoding="utf-8", newline="\n")
                self.configure(folder, "framework", {})
                self._compile("framework.dart", made / FRAMEWORK, app=folder, mounts={})

        return kept("flutter-framework", make, *toolchain_files()) / FRAMEWORK

    def _compile(self, file: str, kernel: Path, *options: str, app: Path, mounts: Mapping[str, Path]) -> None:
        command: list[str | Path] = [
            "dartaotruntime",
            COMPILER,
            "--sdk-root",
            f"{ENGINE}/flutter_patched_sdk/",
            "--target=flutter",
            "--incremental",
        ]
        command += ["--enable-asserts", "--packages", ".dart_tool/package_config.json", "--output-dill", kernel]
        done = self.run([*command, *options, file], cwd=app, mounts={**mounts, str(kernel.parent): kernel.parent})
        said = [line for line in done.output.splitlines() if not SOURCE.match(line)]
        assert done.returncode == 0, "\n".join(said)

    def test(
        self, app: Path, *, mounts: Mapping[str, Path] | None = None, environment: Mapping[str, str] | None = None
    ) -> Tested:
        """Runs the tests that `compile` has made."""
        engine: list[str | Path] = [ENGINE / "flutter_tester", *OPTIONS, f"--flutter-assets-dir={ASSETS}", KERNEL]
        variables = {"FLUTTER_TEST": "true", **(environment or {})}
        done = self.run(engine, cwd=app, mounts=mounts, environment=variables)
        passed = PASSED.search(done.output)
        return Tested(passed=int(passed[1]) if passed else 0, output=done.output)

    def analyze(self, app: Path, mounts: Mapping[str, Path] | None = None) -> Finished:
        """Strict analysis of an app that `configure` has seen."""
        return self.run(["dart", "analyze", "--fatal-infos", "."], cwd=app, mounts=mounts)


def _code(app: Path) -> list[str]:
    """Paths and sums of the Dart of an app and of its packages that are not Flutter's: those lie in other folders."""
    configured = json.loads((app / ".dart_tool" / "package_config.json").read_text(encoding="utf-8"))
    places = {each["name"]: Path(each["rootUri"].removeprefix("file://")) for each in configured["packages"]}
    found = {name: place for name, place in places.items() if not place.is_relative_to(PACKAGES)}
    return [f"{name} {each}" for name, place in sorted(found.items()) for each in code(place)]


def _package(name: str, place: str, language: str) -> dict[str, str]:
    return {"name": name, "rootUri": place, "packageUri": "lib/", "languageVersion": language}


def _language(package: Path) -> str:
    """The oldest Dart of a package, which is the version of its language."""
    found = LANGUAGE_OF.search((package / "pubspec.yaml").read_text(encoding="utf-8"))
    assert found, package
    return found[1]


def toolchain_files() -> tuple[Path, ...]:
    """Identity of a toolchain and of the way it is used: its compiler is in Dart's."""
    return LOCK, Path(__file__), *files_of_dart()


@cache
def flutter_tester() -> FlutterTester:
    """The engine, made on first use; skips the test if it is not available."""
    dart()
    try:
        return FlutterTester(
            SUITE.installed("flutter-tester", LOCK, NOT_UNPACKED, refresh=REFRESH, finish=_place_of_dart)
        )
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise


def _place_of_dart(root: Path) -> None:
    (root / DART_SDK.relative_to("/")).mkdir(exist_ok=True)  # that of Dart's own folder is seen there


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
