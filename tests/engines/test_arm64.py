"""An emulated arm64 processor converts and runs models that this machine's own cannot."""

import json
from collections import Counter
from pathlib import Path

import numpy
import onnx
import pytest

from packager.compile.canonical import canonicalize
from packager.core.errors import ModelError, ToolError
from packager.engines.environments import arm64, ensure
from packager.engines.environments.arm64 import Arm64
from packager.files.hashes import sha256_of
from packager.files.processes import commands, downloads
from tests.cases.arm64 import FLOAT32, content, convert, saved
from tests.toolchain.require import require

FLOAT16 = "(float16[1,64] x) => (float16[1,32] y) { a = MatMul (x, w) y = Relu (a) }"

VERSION = "import json, sys, onnxruntime, platform; print(json.dumps([onnxruntime.__version__, platform.machine()]))"


@pytest.fixture(scope="module")
def installed() -> None:
    require(not Arm64().unsupported(), Arm64().unsupported())
    try:
        ensure(Arm64())
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")


def test_the_runtime_that_ships_is_the_pinned_one_for_arm64(installed: None) -> None:
    environment = Arm64(runtime="shipped")

    done = commands.run([*environment.command(), "-c", VERSION], what="asking", environment=environment.variables())

    version = downloads.pin("arm64-onnxruntime-shipped").package.split("==")[1]
    assert json.loads(done) == [version, "aarch64"]


def test_float16_stays_float16_on_a_processor_that_computes_it_with_the_same_bytes_each_time(
    installed: None, tmp_path: Path
) -> None:
    model = saved(tmp_path, FLOAT16, numpy.float16)
    hashes = set()
    for index in range(2):
        raw, canonical = tmp_path / f"{index}.ort", tmp_path / f"{index}.canonical"
        assert convert(model, raw, Arm64()) == {"ok": {}}
        canonicalize(raw, canonical)
        hashes.add(sha256_of(canonical))

    assert content(tmp_path / "0.ort") == (Counter(MatMul=1, Relu=1), {onnx.TensorProto.FLOAT16})
    assert len(hashes) == 1


def test_float16_becomes_float32_on_a_processor_without_it(installed: None, tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT16, numpy.float16)

    convert(model, tmp_path / "model.ort", Arm64(cpu="cortex-a53"))

    operators, types = content(tmp_path / "model.ort")
    assert (operators["Cast"], types) == (2, {onnx.TensorProto.FLOAT})


def test_a_float32_model_has_the_same_bytes_as_without_emulation(installed: None, tmp_path: Path) -> None:
    model = saved(tmp_path, FLOAT32, numpy.float32)
    for name, environment in (("emulated", Arm64()), ("own", None)):
        convert(model, tmp_path / f"{name}.raw", environment)
        canonicalize(tmp_path / f"{name}.raw", tmp_path / f"{name}.ort")

    assert (tmp_path / "emulated.ort").read_bytes() == (tmp_path / "own.ort").read_bytes()


def test_a_crash_on_the_emulated_processor_is_a_model_error(installed: None, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", encoding="utf-8")
    environment = Arm64()

    with pytest.raises(ModelError, match=r"it crashed \(SIGSEGV\)$"):
        commands.run_job(
            [program],
            {},
            tmp_path,
            crash="it crashed",
            hint="",
            environment=environment.variables(),
            command=environment.command(),
        )


def test_the_arrangement_for_arm64_machines_starts_too(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """On arm64 machines Debian's loader starts Python without qemu; here qemu starts that loader."""
    qemu, *_, python, _ = Arm64().command()
    root = Path(python).parents[2]
    libraries = ":".join(str(root / part) for part in arm64.LIBRARY_FOLDERS)

    done = commands.run(
        [qemu, str(root / arm64.LOADER), "--library-path", libraries, python, "-c", VERSION],
        what="asking",
        environment=Arm64().variables(),
    )

    assert json.loads(done)[1] == "aarch64"
