"""Builds that fail or are stopped: a clear error, and the previous release left whole."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.errors import ConfigError, MobpackError, ModelError, ParityError, ToolError
from tests.cases.caches import empty_cache
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, onnx_model, saved
from tests.cases.waiting import until

__all__ = ["mobpack"]


@pytest.fixture
def project(mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a model and a previous release in dist/."""
    folder = tmp_path / "project"
    saved(folder / "model.onnx", linear())
    previous = folder / "dist" / "android"
    previous.mkdir(parents=True)
    (previous / "old.aar").write_bytes(b"previous release")
    (folder / "dist" / "manifest.json").write_text(json.dumps({"mobpack": "0.0.1"}))
    monkeypatch.chdir(folder)
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def no_model(folder: Path) -> None:
    (folder / "notes.onnx").write_text("these are notes, not a model, and long enough to look like one")


def half_a_model(folder: Path) -> None:
    whole = (folder / "model.onnx").read_bytes()
    (folder / "cut.onnx").write_bytes(whole[: len(whole) // 2])


def newer(folder: Path) -> None:
    model = linear()
    model.ir_version = 14
    saved(folder / "newer.onnx", model)


def newest(folder: Path) -> None:
    """A model with a type that older versions of the IR lack."""
    model = linear()
    model.ir_version = 14
    kind = onnx.TensorProto.DataType.Value("FLOAT6E2M3")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("xw", kind, [1]))
    saved(folder / "newest.onnx", model)


def without_weights(folder: Path) -> None:
    onnx.save(linear(), folder / "split.onnx", save_as_external_data=True, location="split.data", size_threshold=0)
    (folder / "split.data").unlink()


def misspelt_key(folder: Path) -> None:
    text = '[package]\nname = "p"\n[model.m]\npath = "model.onnx"\n[target.android]\nmin_sdk = 26\n'
    (folder / "mobpack.toml").write_text(text)


def photos(folder: Path) -> None:
    (folder / "photos").mkdir()
    (folder / "photos" / "cat.jpg").write_bytes(b"jpeg")


def fused(folder: Path) -> None:
    """Folding the normalization into the convolution changes the rounding; no tolerance is as tight as 1e-12."""
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
    saved(folder / "fused.onnx", model)


def nothing(folder: Path) -> None:
    """Changes nothing in the project."""


@dataclass(frozen=True)
class Refusal:
    """A build that is refused: additions to the project, arguments of `mobpack build`, and the answer."""

    given: Callable[[Path], None]
    arguments: str
    error: type[MobpackError]
    message: str
    hint: str


REFUSED = (
    Refusal(no_model, "notes.onnx -t android", ModelError, "notes.onnx: not", ""),
    Refusal(
        half_a_model,
        "cut.onnx -t android",
        ModelError,
        "cut.onnx: not a complete ONNX file",
        "download or export it again",
    ),
    Refusal(
        newest,
        "newest.onnx -t android",
        ModelError,
        "IR version 14 is newer than the runtime reads (13)",
        "export without them",
    ),
    Refusal(
        newer,
        "newer.onnx -t ios --strict",
        ModelError,
        "warning(s); first warning: model 'newer': IR version lowered from 14 to 13",
        "fix the warnings",
    ),
    Refusal(
        without_weights,
        "split.onnx -t android",
        ModelError,
        "external data file not found",
        "copy split.data beside the model",
    ),
    Refusal(
        misspelt_key,
        "",
        ConfigError,
        "mobpack: error: target.android: unknown key 'min_sdk'",
        "did you mean 'min-sdk'?",
    ),
    # A file where a folder is needed fails for root too, which a read-only folder would not.
    Refusal(
        nothing,
        "model.onnx -t android --out model.onnx/dist",
        ToolError,
        "cannot write to",
        "choose another folder with --out",
    ),
    Refusal(
        nothing,
        "model.onnx -t android --out /proc/mobpack/dist",
        ToolError,
        "cannot write to /proc/mobpack",
        "choose another folder with --out",
    ),
    Refusal(
        photos,
        "model.onnx -t android --out photos",
        ConfigError,
        "is not a mobpack release",
        "choose another folder with --out",
    ),
    Refusal(
        fused,
        "fused.onnx -t ios --set parity.tolerance=1e-12 --evidence ../evidence",
        ParityError,
        "output 'y' differs from the original on sample",
        "../evidence/fused-source-",
    ),
)


@pytest.mark.parametrize("refused", REFUSED, ids=lambda each: each.message)
def test_a_refused_build_says_why_and_changes_no_file(project: Path, mobpack: Mobpack, refused: Refusal) -> None:
    refused.given(project)
    before = files(project)
    done = mobpack("build", *refused.arguments.split())
    assert done.code == refused.error.EXIT_CODE, done.err
    assert refused.message in done.err
    assert f"hint: {refused.hint}" in done.err
    assert "Traceback" not in done.err
    assert files(project) == before
    assert sorted(path.name for path in project.iterdir()) == sorted({name.split("/")[0] for name in before})


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
        until(lambda: begun.exists() or child.poll() is not None)
        interrupt(child.pid, number)
        rest = child.stderr.read()
    assert child.returncode == 130, rest
    assert "interrupted; no output was changed" in rest
    assert files(project) == before
    assert sorted(path.name for path in project.iterdir()) == ["dist", "model.onnx"]


def test_eight_models_end_on_one_screen_and_errors_may_be_json(project: Path, mobpack: Mobpack) -> None:
    names = [f"net{number}" for number in range(8)]
    models = "".join(f'[model.{name}]\npath = "model.onnx"\n' for name in names)
    (project / "mobpack.toml").write_text(
        f'[package]\nname = "eight"\nversion = "1.0.0"\nlicense = "MIT"\n{models}[target.ios]\n[target.web]\n'
    )
    done = mobpack("build")
    assert done.code == 0, done.err
    said = " ".join(done.err.split())
    assert len(done.err.splitlines()) < 25
    assert "plan files (16)" in said
    assert said.count("have no licence") == 1
    together = ", ".join(names)
    assert f"{together} (8 files) on cpu: equal the original within" in said
    assert said.count(f"left out: coreml of {together} on ios: ") == 1
    assert said.count("left out: ") == 1
    assert 'providers = ["coreml"] in [target.ios] ships it' in said
    assert "dist/report.html has every check" in said
    done = mobpack("build", "nowhere.onnx", "-t", "android", "--json")
    answer = json.loads(done.out)
    assert answer["error"]["exit-code"] == done.code == ModelError.EXIT_CODE
    assert "nowhere.onnx: no such file or directory" in answer["error"]["message"]


def test_a_class_that_is_renamed_is_named_once_with_the_reason(project: Path, mobpack: Mobpack) -> None:
    (project / "model.onnx").rename(project / "text.onnx")
    done = mobpack("build", "text.onnx", "-t", "ios", "-t", "web")
    assert done.code == 0, done.err
    [line] = [line for line in done.err.splitlines() if "class TextModel" in line]
    assert line.strip() == (
        "model text: class TextModel, since Text is a name of Compose, SwiftUI, the browser, React Native and Flutter"
    )
