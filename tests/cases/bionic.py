"""A probe of the shims for Android's system libraries, compiled as code for Android is."""

import re
from pathlib import Path

import pytest

from packager.engines.environments import bionic, zig
from packager.files.processes import commands

PROBE = Path(__file__).parents[1] / "toolchain" / "bionic_probe.c"

CHECKS = re.findall(r"^int (\w+)\(void\) \{", PROBE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture(scope="session")
def probe(stand_in_compiler: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_probe(tmp_path_factory.mktemp("probe"))


def built_probe(folder: Path, *, target: str = bionic.ZIG_TARGET) -> Path:
    names = re.findall(r"^extern .*?(\w+)(?:\(|\[|;)", PROBE.read_text(encoding="utf-8"), re.MULTILINE)
    objects = {"__sF", "stdout"}
    return android_library(
        folder, PROBE, functions=sorted(set(names) - objects), objects=sorted(objects), target=target
    )


def android_library(
    folder: Path,
    source: Path,
    *,
    functions: list[str],
    objects: list[str],
    library: str = "libc.so",
    target: str = bionic.ZIG_TARGET,
) -> Path:
    """`source` compiled against an Android library of names alone, in version LIBC."""
    stub = folder / "stub.c"
    stub.write_text(
        "".join([*(f"void {name}(void) {{}}\n" for name in functions), *(f"char {name}[456];\n" for name in objects)]),
        encoding="utf-8",
    )
    versions = folder / "stub.map"
    versions.write_text("LIBC { global: *; };\n", encoding="utf-8")
    compiler: list[str | Path] = [
        zig.compiler(),
        "cc",
        "-target",
        target,
        "-shared",
        "-fPIC",
        "-nostdlib",
        "-fno-builtin",
        "-fno-sanitize=undefined",
        "-fno-stack-protector",
        "-w",
    ]
    commands.run(
        [*compiler, stub, f"-Wl,-soname,{library}", f"-Wl,--version-script={versions}", "-o", folder / library],
        what="building a library of names",
    )
    binary = folder / "libprobe.so"
    commands.run([*compiler, "-O1", source, folder / library, "-o", binary], what=f"compiling {source.name}")
    return binary
