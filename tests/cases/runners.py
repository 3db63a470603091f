"""Runners in environments of their own, and a machine that has none of these."""

from pathlib import Path

import pytest

from packager.engines.runners import Runner
from packager.engines.runners.arm64 import Arm64
from packager.engines.runners.qnn import Qnn
from packager.engines.runners.webgpu import Webgpu
from packager.engines.runners.x86_64 import X8664
from packager.engines.runners.xnnpack import Xnnpack

ISOLATED: dict[str, Runner] = {
    "arm64": Arm64(cpu="cortex-a53"),
    "qnn": Qnn(),
    "webgpu": Webgpu(),
    "x86_64": X8664(),
    "android": Xnnpack(),
}
"""Environment -> a runner that needs it."""

RELU = "(float[2] x) => (float[2] y) { y = Relu (x) }"


@pytest.fixture
def no_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without any environment, on x86_64 Linux with apt-get."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr("packager.engines.environments.qnn._glibc", lambda: (2, 40))
    return tmp_path / "cache"
