"""Sessions whose program refuses, dies or is killed."""

from pathlib import Path

import pytest

from packager.core.errors import ModelError, ToolError
from packager.engines.runners.process import Host, ProcessSession

READY = 'print(json.dumps({"version": "9", "plugin": "", "placed": 1, "nodes": 2}), flush=True)\nsys.stdin.readline()\n'


def session(folder: Path, program: str, owner: str = "") -> ProcessSession:
    path = folder / "program.py"
    path.write_text(f"import json, os, signal, sys\n{program}\n")
    return ProcessSession(Host(program=path, owner=owner), {}, folder)


def test_sessions_answer_samples_and_crashes(tmp_path: Path) -> None:
    with session(tmp_path, READY + 'print(json.dumps({"error": ""}), flush=True)') as opened:
        assert (opened.about, opened.placed, opened.node_count) == ("ONNX Runtime 9", 1, 2)
        assert opened.run(tmp_path / "sample.npz", tmp_path).outputs == tmp_path
    with session(tmp_path, READY + 'print(json.dumps({"error": "too long"}), flush=True)') as opened:
        outcome = opened.run(tmp_path / "sample.npz", tmp_path)
    assert (outcome.outputs, outcome.error) == (None, "too long")
    # If memory runs out the system kills: that says nothing about the model.
    with pytest.raises(ModelError, match=r"the runtime crashed while opening the model \(SIGSEGV\)"):
        session(tmp_path, "os.kill(os.getpid(), signal.SIGSEGV)")
    with (
        session(tmp_path, READY + "os.kill(os.getpid(), signal.SIGKILL)") as opened,
        pytest.raises(ToolError, match=r"the runtime was killed while running the model \(SIGKILL\)") as error,
    ):
        opened.run(tmp_path / "sample.npz", tmp_path)
    assert error.value.hint == "memory has probably run out: close other programs"
    with pytest.raises(ToolError, match=r"the environment arm64 does not work: .*No module named 'nothing'"):
        session(tmp_path, "import nothing", owner="arm64")


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        ({"refused": "no kernel"}, ModelError, "the runtime cannot load the model: no kernel"),
        ({"idle": "XNNPACK takes no node of it"}, ModelError, "XNNPACK takes no node of it"),
        ({"unusable": "no device"}, ToolError, "the runner does not work on this machine: no device"),
    ],
)
def test_an_unopened_model_says_why(
    tmp_path: Path, answer: dict[str, str], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as error:
        session(tmp_path, f"print(json.dumps({answer}), flush=True)")
    assert error.value.message == message  # type: ignore[attr-defined]
