"""An emulated arm64 processor converts and runs models that this machine's own cannot."""

from pathlib import Path

import pytest

from packager.core.errors import ToolError
from packager.engines.environments.arm64 import Arm64
from packager.files.processes import downloads


def test_the_runtimes_are_the_converters_and_the_one_that_packages_depend_on() -> None:
    assert downloads.pins()["files"]["arm64-onnxruntime-converter"]["package"] == _locked_converter()
    assert downloads.pin("arm64-onnxruntime-shipped").package.split("==")[1] == _android_version()


def _locked_converter() -> str:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    return next(line.split('"')[1] for line in text.splitlines() if line.strip().startswith('"onnxruntime=='))


def _android_version() -> str:
    return str(downloads.pins()["android"]["onnxruntime"]).rsplit(":", 1)[1]


def test_a_machine_of_another_kind_or_processor_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert Arm64().unsupported() == "qemu runs arm64 Linux programs on Linux only"
    with pytest.raises(ToolError, match="cannot be installed"):
        Arm64().install()
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert Arm64().missing() == "neither an x86_64 nor an arm64 processor: riscv64"
