"""Swift packages that `mobpack build` makes of models for tests, compiled with the tests of `swift_tests/`, and run."""

import os
import re
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packager.targets import swift_runtime
from tests.toolchain.kept import digest, kept, linked
from tests.toolchain.swift import swift, toolchain_files

TESTS = Path(__file__).with_name("swift_tests")
NAME, MODULE = "models", "ModelsKit"
BUNDLE = f"{NAME}_{MODULE}.resources"
OUTCOME = re.compile(r"Test Case '(\w+\.\w+)' (passed|failed|skipped)")
CASE = re.compile(r"^    func (test\w+)\(", re.MULTILINE)
BUILT = "x86_64-pc-linux-gnu/debug"
"""in SwiftPM's folder"""
WRITTEN_S = 1e9
"""when all C headers were written, as the toolchain sees it"""


@dataclass(frozen=True)
class Outcomes:
    """A run of a package's tests."""

    output: str
    by_case: Mapping[str, str]
    """`VoiceActivityTests.testX` -> passed, failed or skipped; without an entry it did not come to its end"""

    def words(self, case: str) -> str:
        """Output of a test."""
        _, _, after = self.output.partition(f"Test Case '{case}' started")
        return re.split(rf"Test Case '{case}' (?:passed|failed)", after)[0]


@dataclass(frozen=True)
class Compiled:
    """A package with its tests, compiled."""

    folder: Path
    """with the program, and the package's resources beside it, as in an app"""
    program: str

    def run(self, cases: str, scratch: Path, *, environment: Mapping[str, str] | None = None) -> Outcomes:
        """Runs `ModelsKitTests.A` or `ModelsKitTests.A/testX`, or several with commas between, or all where `cases` is
        empty; `scratch` is theirs."""
        scratch.mkdir(parents=True, exist_ok=True)
        library = swift().onnxruntime_library()
        variables = {"LD_LIBRARY_PATH": str(library), "TMPDIR": str(scratch), **(environment or {})}
        given = {text: Path(text) for text in (environment or {}).values() if Path(text).is_absolute()}
        mounts = {str(scratch): scratch, **given}
        done = swift().run(
            [self.folder / self.program, *([cases] if cases else [])],
            cwd=self.folder,
            mounts=mounts,
            environment=variables,
            timeout_s=600,
        )
        return Outcomes(done.output, dict(OUTCOME.findall(done.output)))

    def copy(self, folder: Path) -> "Compiled":
        """A separate copy to alter: replace files, do not write to them."""
        shutil.copytree(self.folder, folder, copy_function=linked)
        return Compiled(folder, self.program)

    def replace(self, path: str, content: bytes) -> None:
        """Replace a file; `path` is below the bundle's folder `Models`."""
        file = self.folder / BUNDLE / "Models" / path
        file.unlink()
        file.write_bytes(content)

    def read(self, path: str) -> bytes:
        return (self.folder / BUNDLE / "Models" / path).read_bytes()

    def admit(self, old_sha256: str, new_sha256: str) -> None:
        """Let the code expect a file of another SHA-256."""
        program = self.folder / self.program
        code = program.read_bytes()
        assert code.count(old_sha256.encode()) > 0, f"no code knows the sha256 {old_sha256}"
        program.unlink()
        program.write_bytes(code.replace(old_sha256.encode(), new_sha256.encode()))
        program.chmod(0o755)


def cases(source: str) -> list[str]:
    """The tests in a file of `swift_tests/`: `VoiceActivityTests.testX`."""
    found = CASE.findall((TESTS / f"{source}.swift").read_text(encoding="utf-8"))
    assert found, f"{source} has no tests"
    return [f"{source}.{name}" for name in found]


def unpack(archives: Path, folder: Path) -> Path:
    """The package in the archives of a build; that of ONNX Runtime lies beside it."""
    for archive in archives.glob("*.zip"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    [package] = (path for path in folder.iterdir() if path not in runtimes(folder))
    return package


def runtimes(folder: Path) -> list[Path]:
    """The packages of ONNX Runtime in a folder."""
    return sorted(path for path in folder.glob(f"{swift_runtime.NAME}-*") if path.is_dir())


def place_of(package: Path) -> Path:
    """Where the toolchain sees the folder that a package and that of ONNX Runtime lie in.

    It is the same for all packages with the same C headers, whose manifests SwiftPM then reads once, and whose headers
    are compiled once. A folder for each would have both done again; one for all would have compilers that run at
    the same time replace each other's headers.
    """
    headers = sorted(package.glob("Sources/C*/include"))
    for path in (each for folder in headers for each in folder.iterdir()):
        os.utime(path, (WRITTEN_S, WRITTEN_S))
    return Path("/packages", digest(*headers))


def build(package: Path, scratch: Path, *options: str) -> Path:
    """Has SwiftPM build a package, beside that of ONNX Runtime; warnings are errors. The folder with what it made."""
    place = place_of(package)
    built = Path("/built", place.name)
    scratch.mkdir(parents=True, exist_ok=True)
    mounts = {str(place): package.parent, str(built): scratch}
    done = swift().package("build", place / package.name, *options, scratch=built, mounts=mounts)
    assert done.returncode == 0, done.output
    return scratch / BUILT


def with_tests(package: Path) -> Path:
    """The package, with the tests of `swift_tests/` beside its own."""
    for source in sorted(TESTS.glob("*.swift")):
        shutil.copy(source, package / "Tests" / f"{MODULE}Tests")
    return package


def compiled(package: Path, scratch: Path) -> Compiled:
    """A package with its tests, compiled; warnings are errors. Nobody may write to it."""

    def make(folder: Path) -> None:
        made = build(package, scratch, "--build-tests")
        [program] = made.glob("*PackageTests.xctest")
        shutil.copy(program, folder)
        for bundle in made.glob("*.resources"):
            shutil.copytree(bundle, folder / bundle.name)

    folder = kept("swift", make, package, *runtimes(package.parent), *toolchain_files())
    [program] = folder.glob("*PackageTests.xctest")
    return Compiled(folder, program.name)


def write_values(folder: Path, arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Writes numbers as Swift tests read them: raw, in row-major order, little-endian."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        (folder / name).write_bytes(np.ascontiguousarray(array).tobytes())
    return folder
