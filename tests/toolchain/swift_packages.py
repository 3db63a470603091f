"""Swift packages that `mobpack build` makes of models for tests, compiled with the tests of `swift_tests/`, and run."""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from packager.files.installed import templates_folder
from packager.render import write_sources
from packager.targets.ios import Ios, framework
from packager.targets.ios.view import IosView
from tests.golden.cases import IOS_CASES
from tests.onnx_text import onnx_model, saved
from tests.toolchain import models
from tests.toolchain.kept import kept, linked
from tests.toolchain.swift import swift, toolchain_files

TESTS = Path(__file__).with_name("swift_tests")
NAME, MODULE, VERSION = "models", "ModelsKit", "1.2.3"
BUNDLE = f"{NAME}_{MODULE}.resources"
PROJECT = """\
[package]
name = "{name}"
version = "{version}"

[model.orientation]
path = '{orientation}'

[model.silero-vad]
path = '{silero_vad}'
shapes = {{ batch = 1, sequence = 576 }}

[model.minilm]
path = '{minilm}'

[model.corners]
path = '{corners}'

[model.generated]
path = '{generated}'

{tolerances}
[parity]
random-samples = 1

[target.ios]
providers = ["coreml", "xnnpack"]
"""
GENERATED_TYPES = "float double float16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool".split()
EXACT = 1e-30
"""A share of the largest value: no float can be this far off by rounding."""
OUTCOME = re.compile(r"Test Case '(\w+\.\w+)' (passed|failed|skipped)")
CASE = re.compile(r"^    func (test\w+)\(", re.MULTILINE)


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
            timeout_s=180,
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


def real_models(folder: Path) -> Path:
    """Writes a mobpack.toml of three real models and some that are made to be difficult."""
    folder.mkdir()
    paths = {
        "orientation": models.orientation(),
        "silero_vad": models.silero_vad(),
        "minilm": models.minilm(),
        "corners": corners(folder / "corners.onnx"),
        "generated": generated(folder / "generated.onnx"),
    }
    outputs = [f"{each}_out" for each in GENERATED_TYPES if each.startswith(("float", "double"))]
    outputs += ["int8_out", "uint8_out", "rows", "same"]
    tolerances = "".join(f"[model.generated.tolerance.{name}]\nmax-rel-error = {EXACT}\n\n" for name in outputs)
    text = PROJECT.format(name=NAME, version=VERSION, tolerances=tolerances, **paths)
    (folder / "mobpack.toml").write_text(text, encoding="utf-8")
    return folder


def build(folder: Path) -> Path:
    """Build a project for iOS: the folder with the archives that a registry of Swift packages serves."""
    done = subprocess.run(
        [sys.executable, "-m", "packager.cli", "build", "--target", "ios"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "dist" / "swift"


def unpack(archives: Path, folder: Path) -> Path:
    """The package in the archives of a build; that of ONNX Runtime lies beside it."""
    for archive in archives.glob("*.zip"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    [package] = (path for path in folder.iterdir() if path not in runtimes(folder))
    return package


def runtimes(folder: Path) -> list[Path]:
    """The packages of ONNX Runtime in a folder."""
    return sorted(folder.glob(f"{framework.NAME}-*"))


def write_runtime(view: IosView, folder: Path) -> None:
    """Writes the package of ONNX Runtime that a package depends on, beside it."""
    write_sources(framework.sources(view), folder / view.dependency.identity)


def with_tests(package: Path) -> Path:
    """The package, with the tests of `swift_tests/` beside its own."""
    for source in sorted(TESTS.glob("*.swift")):
        shutil.copy(source, package / "Tests" / f"{MODULE}Tests")
    return package


def compiled(package: Path, scratch: Path) -> Compiled:
    """A package with its tests, compiled; warnings are errors. Nobody may write to it."""

    def make(folder: Path) -> None:
        beside = {str(path): path for path in runtimes(package.parent)}
        done = swift().package("build", package, "--build-tests", scratch=scratch, mounts=beside)
        assert done.returncode == 0, done.output
        made = scratch / "x86_64-pc-linux-gnu" / "debug"
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


def corners(path: Path) -> Path:
    """Names that are hard to write in Swift, types that no other model has, and outputs whose size a run decides.

    Two inputs bear the same name in two normal forms of Unicode, which Swift takes for equal strings.
    """
    tensor, node = helper.make_tensor_value_info, helper.make_node
    wide = {"u16": TensorProto.UINT16, "u32": TensorProto.UINT32, "u64": TensorProto.UINT64}
    graph = helper.make_graph(
        [
            node("Neg", ["caf\u00e9"], ["gr\u00f6\u00dfe"]),
            node("Add", ["cafe\u0301", "cafe\u0301"], ["gro\u0308\u00dfe"]),
            node("Abs", ['数"\\(x)'], ["let"]),
            *(node("Transpose", [name], [f"{name}_t"]) for name in wide),
            node("Add", ["scalar", "scalar"], ["doubled"]),
            node("Transpose", ["rows"], ["columns"]),
            node("NonZero", ["flags"], ["where"]),
            node("Constant", [], ["row"], value_ints=[-1]),
            node("Reshape", ["where", "row"], ["places"]),
            node("Gather", ["texts", "places"], ["kept"]),
        ],
        "corners",
        [
            tensor("scalar", TensorProto.FLOAT, []),
            tensor("rows", TensorProto.FLOAT, ["height", None]),
            tensor("caf\u00e9", TensorProto.FLOAT, [2, 3]),
            tensor("cafe\u0301", TensorProto.FLOAT, [2, 3]),
            tensor('数"\\(x)', TensorProto.FLOAT, [4]),
            *(tensor(name, element, [2, 3]) for name, element in wide.items()),
            tensor("flags", TensorProto.BOOL, ["count"]),
            tensor("texts", TensorProto.STRING, ["count"]),
        ],
        [
            tensor("gr\u00f6\u00dfe", TensorProto.FLOAT, [2, 3]),
            tensor("gro\u0308\u00dfe", TensorProto.FLOAT, [2, 3]),
            tensor("let", TensorProto.FLOAT, [4]),
            *(tensor(f"{name}_t", element, [3, 2]) for name, element in wide.items()),
            tensor("doubled", TensorProto.FLOAT, []),
            tensor("columns", TensorProto.FLOAT, [None, "height"]),
            tensor("where", TensorProto.INT64, [1, None]),
            tensor("kept", TensorProto.STRING, [None]),
        ],
    )
    return saved(path, helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]))


def generated(path: Path) -> Path:
    """Returns its inputs, of every type that random inputs have; every bit must match."""
    inputs = [f"{each}[3, 67] {each}_in" for each in GENERATED_TYPES]
    outputs = [f"{each}[67, 3] {each}_out" for each in GENERATED_TYPES]
    nodes = [f"{each}_out = Transpose ({each}_in)" for each in GENERATED_TYPES]
    text = f"""
        ({", ".join(inputs)}, int64[batch, 67] ids, float[2, 2] few, string[3] words)
        => ({", ".join(outputs)}, float[batch, 67, 2] rows, float[2, 2] same, string[3] said)
        {{ {" ".join(nodes)} rows = Gather (table, ids) same = Neg (few) said = Identity (words) }}"""
    table = {"table": np.arange(2000, dtype=np.float32).reshape(1000, 2)}
    return saved(path, onnx_model(text, weights=table))


def golden_package(name: str, folder: Path) -> Path:
    """A golden case for iOS as a package, with ONNX Runtime's headers, and an empty file for its models; the package of
    ONNX Runtime lies beside it."""
    package, case = folder / name, IOS_CASES[name]
    assert isinstance(case.target, Ios)
    write_runtime(case.target.view(case.package, case.plans, case.report, golden=case.golden), folder)
    for path, text in case.texts().items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8", newline="\n")
    [c_sources] = package.glob("Sources/C*/shim.c")
    shutil.copytree(templates_folder() / "ios" / "onnxruntime", c_sources.parent, dirs_exist_ok=True)
    models_folder = package / "Sources" / c_sources.parent.name.removeprefix("C") / "Resources" / "Models"
    models_folder.mkdir()
    (models_folder / "model.ort").touch()
    return package
