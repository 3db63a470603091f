"""Builds that fail or are stopped: a clear error, and the previous release left whole."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.errors import ConfigError, ModelError, ParityError, ToolError
from tests.cases.caches import empty_cache
from tests.cases.onnx_text import linear, onnx_model, saved
from tests.toolchain import command


def mobpack(*arguments: str | Path, cwd: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(empty_cache(cache))}
    return command.run(*arguments, folder=cwd, environment=environment)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a model and a previous release in dist/."""
    saved(tmp_path / "model.onnx", linear())
    previous = tmp_path / "dist" / "android"
    previous.mkdir(parents=True)
    (previous / "old.aar").write_bytes(b"previous release")
    (tmp_path / "dist" / "manifest.json").write_text(json.dumps({"mobpack": "0.0.1"}))
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def assert_refused(
    project: Path, tmp_path_factory: pytest.TempPathFactory, *arguments: str | Path, code: int, message: str, hint: str
) -> None:
    """`mobpack build ARGUMENTS` in `project` fails with this message and changes no file there."""
    before = files(project)
    done = mobpack("build", *arguments, cwd=project, cache=tmp_path_factory.mktemp("cache"))
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert f"hint: {hint}" in done.stderr
    assert "Traceback" not in done.stderr
    assert files(project) == before
    assert sorted(path.name for path in project.iterdir()) == sorted({name.split("/")[0] for name in before})


def test_a_file_that_is_not_onnx_is_refused(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (project / "notes.onnx").write_text("these are notes, not a model, and long enough to look like one")
    assert_refused(
        project,
        tmp_path_factory,
        "notes.onnx",
        "-t",
        "android",
        code=ModelError.EXIT_CODE,
        message="notes.onnx: not",
        hint="",
    )


def test_a_truncated_model_is_refused(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    whole = (project / "model.onnx").read_bytes()
    (project / "cut.onnx").write_bytes(whole[: len(whole) // 2])
    assert_refused(
        project,
        tmp_path_factory,
        "cut.onnx",
        "-t",
        "android",
        code=ModelError.EXIT_CODE,
        message="cut.onnx: not a complete ONNX file",
        hint="download or export it again",
    )


def test_a_model_that_needs_a_newer_ir_is_refused(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = linear()
    model.ir_version = 14
    model.graph.value_info.append(
        onnx.helper.make_tensor_value_info("xw", onnx.TensorProto.DataType.Value("FLOAT6E2M3"), [1])
    )
    saved(project / "new.onnx", model)
    assert_refused(
        project,
        tmp_path_factory,
        "new.onnx",
        "-t",
        "android",
        code=ModelError.EXIT_CODE,
        message="IR version 14 is newer than the runtime reads (13)",
        hint="export without them",
    )


def test_missing_external_data_is_named(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    onnx.save(linear(), project / "split.onnx", save_as_external_data=True, location="split.data", size_threshold=0)
    (project / "split.data").unlink()
    assert_refused(
        project,
        tmp_path_factory,
        "split.onnx",
        "-t",
        "android",
        code=ModelError.EXIT_CODE,
        message="external data file not found",
        hint="copy split.data beside the model",
    )


def test_an_unknown_key_names_the_nearest(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (project / "mobpack.toml").write_text(
        '[package]\nname = "p"\n[model.m]\npath = "model.onnx"\n[target.android]\nmin_sdk = 26\n'
    )
    assert_refused(
        project,
        tmp_path_factory,
        code=ConfigError.EXIT_CODE,
        message="mobpack: error: target.android: unknown key 'min_sdk'",
        hint="did you mean 'min-sdk'?",
    )


def test_an_output_that_cannot_be_written_is_named(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    # A file where a folder is needed fails for root too, which a read-only folder would not.
    assert_refused(
        project,
        tmp_path_factory,
        "model.onnx",
        "-t",
        "android",
        "--out",
        "model.onnx/dist",
        code=ToolError.EXIT_CODE,
        message="cannot write to",
        hint="choose another folder with --out",
    )


@pytest.mark.skipif(
    os.geteuid() == 0 and not Path("/proc/self/status").exists(), reason="root writes anywhere, and there is no /proc"
)
def test_a_read_only_output_is_named(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert_refused(
        project,
        tmp_path_factory,
        "model.onnx",
        "-t",
        "android",
        "--out",
        "/proc/mobpack/dist",
        code=ToolError.EXIT_CODE,
        message="cannot write to /proc/mobpack",
        hint="choose another folder with --out",
    )


def test_a_folder_that_is_not_a_release_is_never_replaced(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (project / "photos").mkdir()
    (project / "photos" / "cat.jpg").write_bytes(b"jpeg")
    assert_refused(
        project,
        tmp_path_factory,
        "model.onnx",
        "-t",
        "android",
        "--out",
        "photos",
        code=ConfigError.EXIT_CODE,
        message="is not a mobpack release",
        hint="choose another folder with --out",
    )


def test_an_error_over_tolerance_stops_the_build(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    # Folding the normalization into the convolution changes the rounding; no tolerance is that tight.
    model = onnx_model(
        "(float[1, 64, 8, 8] x) => (float[1, 64, 8, 8] y) { a = Conv (x, w) y = BatchNormalization (a, s, b, m, v) }",
        weights={
            "w": numpy.random.default_rng(0).standard_normal((64, 64, 1, 1)).astype(numpy.float32),
            **{
                name: numpy.random.default_rng(n).uniform(0.1, 2, 64).astype(numpy.float32)
                for n, name in enumerate("sbmv")
            },
        },
    )
    saved(project / "fused.onnx", model)
    evidence = tmp_path_factory.mktemp("outside") / "evidence"
    assert_refused(
        project,
        tmp_path_factory,
        "fused.onnx",
        "-t",
        "ios",
        "--set",
        "parity.tolerance=1e-12",
        "--evidence",
        str(evidence),
        code=ParityError.EXIT_CODE,
        message="output 'y' differs from the original on sample",
        hint=f"{evidence}/fused-source-",
    )


def test_strict_makes_a_warning_fail(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = linear()
    model.ir_version = 14
    saved(project / "new.onnx", model)
    assert_refused(
        project,
        tmp_path_factory,
        "new.onnx",
        "-t",
        "ios",
        "--strict",
        code=ModelError.EXIT_CODE,
        message="warning(s); first warning: model 'new': IR version lowered from 14 to 13",
        hint="fix the warnings",
    )


@pytest.mark.parametrize(
    ("interrupt", "number"),
    [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)],
    ids=["Ctrl-C in a terminal", "a cancelled CI job"],
)
def test_an_interrupted_build_leaves_the_previous_release_whole(
    project: Path,
    tmp_path_factory: pytest.TempPathFactory,
    interrupt: Callable[[int, int], None],
    number: signal.Signals,
) -> None:
    """The converter never comes to its work: what it imports waits."""
    before = files(project)
    modules = tmp_path_factory.mktemp("modules")
    begun = modules / "begun"
    waiting = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)\n"
    (modules / "onnxruntime.py").write_text(waiting, encoding="utf-8", newline="\n")
    cache = empty_cache(tmp_path_factory.mktemp("cache"))
    with subprocess.Popen(
        [sys.executable, "-m", "packager.cli", "build", "model.onnx", "-t", "android"],
        cwd=project,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(modules)},
        start_new_session=True,
    ) as child:
        assert child.stderr is not None
        assert "load model.onnx" in child.stderr.readline()
        end = time.monotonic() + 120
        while not begun.exists() and child.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        interrupt(child.pid, number)
        rest = child.stderr.read()
    assert child.returncode == 130, rest
    assert "interrupted; no output was changed" in rest
    assert files(project) == before
    assert sorted(path.name for path in project.iterdir()) == ["dist", "model.onnx"]


def test_eight_models_end_on_one_screen(project: Path, tmp_path: Path) -> None:
    names = [f"net{number}" for number in range(8)]
    models = "".join(f'[model.{name}]\npath = "model.onnx"\n' for name in names)
    (project / "mobpack.toml").write_text(
        f'[package]\nname = "eight"\nversion = "1.0.0"\nlicense = "MIT"\n{models}[target.ios]\n[target.web]\n'
    )
    done = mobpack("build", cwd=project, cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert len(done.stderr.splitlines()) < 25
    assert "plan files (16)" in said
    assert said.count("have no licence") == 1
    together = ", ".join(names)
    assert f"{together} (8 files) on cpu: equal the original within" in said
    assert said.count(f"left out: coreml of {together} on ios: ") == 1
    assert said.count("left out: ") == 1
    assert 'providers = ["coreml"] in [target.ios] ships it' in said
    assert "dist/report.html has every check" in said


def test_json_reports_the_error_on_standard_output(project: Path, tmp_path: Path) -> None:
    done = mobpack("build", "nowhere.onnx", "-t", "android", "--json", cwd=project, cache=tmp_path / "cache")
    answer = json.loads(done.stdout)
    assert answer["error"]["exit-code"] == done.returncode == ModelError.EXIT_CODE
    assert "nowhere.onnx: no such file or directory" in answer["error"]["message"]


def test_a_class_that_is_renamed_is_named_once_with_the_reason(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (project / "model.onnx").rename(project / "text.onnx")
    done = mobpack("build", "text.onnx", "-t", "ios", "-t", "web", cwd=project, cache=tmp_path_factory.mktemp("cache"))
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "class TextModel" in line]
    assert line.strip() == (
        "model text: class TextModel, since Text is a name of Compose, SwiftUI, the browser, React Native and Flutter"
    )
