"""Dart for Linux, Debian's own, in a folder of the cache: analyses, formats and runs generated packages.

`python -m tests.toolchain.dart --lock` locks the versions that Debian's mirror has now. They are sid's, which keeps no
older ones: a machine whose cache lacks a version that sid no longer has needs a new lock.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.core.errors import ToolError
from packager.engines.environments.environment import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from tests.toolchain.debian_root import Suite
from tests.toolchain.kept import kept, linked
from tests.toolchain.require import require
from tests.toolchain.swift import Finished, Swift
from tests.toolchain.swift_processes import command

SUITE = Suite("sid")
LOCK = Path(__file__).with_name("dart_debs.txt")
REFRESH = "python -m tests.toolchain.dart --lock"
WANTED = ("dart-sdk", "sky-engine", "coreutils", "dash")
NOT_NEEDED = re.compile(r"(debianutils|libc-gconv-modules-extra|openssl-provider-legacy)$")
"""Dependencies of these that are not used here."""
NOT_UNPACKED = re.compile(r"usr/share/(doc|info|lintian|locale|man)/|usr/lib/dart/bin/resources/(devtools|dartdoc)/")
PROGRAMS = "/usr/lib/dart/bin:/usr/bin"
SKY_ENGINE = "/usr/share/dart/packages/sky_engine"
"""Declarations of dart:ui, as packages of Flutter have them."""
LANGUAGE = "3.10"
"""version of the language that packages have"""
PROBLEM = re.compile(r"^(ERROR|WARNING|INFO)\|", re.MULTILINE)
"""beginning of a line of the analyzer that says what is wrong"""
TIMEOUT_S = 900


@dataclass(frozen=True)
class Dart:
    """The toolchain, in a folder that its runs share."""

    folder: Path

    @property
    def root(self) -> Path:
        """The folder that its programs see as /."""
        return Swift(self.folder).root

    def run(
        self,
        arguments: Sequence[str | Path],
        *,
        cwd: Path,
        mounts: Mapping[str, Path] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Finished:
        """Runs a program of the toolchain in `cwd`, the one folder of the machine that it sees besides `mounts`."""
        root = Swift(self.folder)
        variables = {"PATH": PROGRAMS, "PUB_CACHE": str(root.shared / "pub"), **(environment or {})}
        return root.run(arguments, cwd=cwd, mounts=mounts, environment=variables, timeout_s=timeout_s)

    def command(
        self, arguments: Sequence[str | Path], *, cwd: Path, mounts: Mapping[str, Path], environment: Mapping[str, str]
    ) -> list[str]:
        """Command that starts a program in `cwd`, as `run` does: it ends with the process that the command makes."""
        root = Swift(self.folder)
        return command(arguments, cwd=cwd, mounts=mounts, environment={"PATH": PROGRAMS, **environment}, toolchain=root)

    def onnxruntime(self) -> Path:
        """The ONNX Runtime for Linux in the version that packages depend on. Raises ToolError."""
        shipped = Runtime()
        ensure(shipped)
        [library] = Path(shipped.variables()["PYTHONPATH"]).glob("onnxruntime/capi/libonnxruntime.so.*.*.*")
        return library


def toolchain_files() -> tuple[Path, ...]:
    """Identity of a toolchain and of the way it is used."""
    return LOCK, Path(__file__)


def compile_program(package: Path, kind: str, program: str, output: str, *options: str) -> None:
    """Compiles a program in the folder of a package as `dart compile KIND` does, to `output` there and the files that
    come with it. They are kept by the content of the package's code."""

    def make(made: Path) -> None:
        command = ["dart", "compile", kind, *options, "-o", str(made / output), program]
        done = dart().run(command, cwd=package, mounts={str(made): made})
        assert done.returncode == 0, done.output

    words = " ".join((program, output, *options))
    for made in kept(f"dart-{kind}", make, *toolchain_files(), *code(package), words).iterdir():
        linked(str(made), str(package / made.name))


def compile_kernel(package: Path, program: str) -> str:
    """Compiles a program in the folder of a package for the virtual machine, and gives the name of the file to run.

    To compile a program that it is given as text, the virtual machine first compiles its own compiler while it runs:
    7 s of a processor in place of 0.4.
    """
    output = Path(program).with_suffix(".dill").name
    compile_program(package, "kernel", program, output, "--no-link-platform")
    return output


def code(package: Path) -> list[str]:
    """Paths and sums of all Dart in the folder of a package."""
    found = sorted(package.rglob("*.dart"))
    return [f"{path.relative_to(package).as_posix()} {sha256_of(path)}" for path in found]


def configured_package(folder: Path, name: str) -> Path:
    """The package in `folder`, which programs there and the analyzer find under its name; dart:ui is Flutter's."""
    found = {name: folder.as_uri(), "sky_engine": f"file://{SKY_ENGINE}"}
    listed = [
        {"name": name, "rootUri": place, "packageUri": "lib/", "languageVersion": LANGUAGE}
        for name, place in found.items()
    ]
    (folder / ".dart_tool").mkdir()
    text = json.dumps({"configVersion": 2, "packages": listed})
    (folder / ".dart_tool" / "package_config.json").write_text(text, encoding="utf-8", newline="\n")
    return folder


def flutter_sdk(folder: Path) -> Path:
    """As much of a Flutter SDK in `folder` as pub looks at: its version, and the package of dart:ui."""
    kept = folder / "bin" / "cache"
    (kept / "pkg").mkdir(parents=True)
    version = json.dumps({"frameworkVersion": "3.47.5", "flutterVersion": "3.47.5", "dartSdkVersion": "3.13.4"})
    (kept / "flutter.version.json").write_text(version, encoding="utf-8")
    (kept / "pkg" / "sky_engine").symlink_to(SKY_ENGINE)
    return folder


@cache
def dart() -> Dart:
    """The toolchain, made on first use; skips the test if it is not available."""
    require(sys.platform == "linux", "Debian's Dart runs on Linux")
    try:
        return Dart(SUITE.installed("dart", LOCK, NOT_UNPACKED, refresh=REFRESH))
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
        raise


def main() -> None:
    if sys.argv[1:] != ["--lock"]:
        sys.exit(f"usage: {REFRESH}")
    LOCK.write_text(SUITE.lock(WANTED, NOT_NEEDED), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
