"""The shims for Android's system libraries behave as code compiled for Android expects."""

import subprocess
from pathlib import Path

import pytest

from packager.engines.environments import bionic
from packager.engines.environments.arm64 import Arm64
from tests.cases.bionic import CHECKS, built_probe, probe
from tests.toolchain.environments import have

__all__ = ["probe"]

pytestmark = pytest.mark.usefixtures("stand_in_compiler")


def test_shims_for_arm64_keep_it_too(tmp_path: Path) -> None:
    have(Arm64.NAME)
    probe = built_probe(tmp_path, target=bionic.PROCESSORS["arm64-v8a"].target)
    program = "import ctypes, sys; probe = ctypes.CDLL(sys.argv[1])\n"
    program += "for name in sys.argv[2:]: print(name, getattr(probe, name)(), file=sys.stderr, flush=True)"

    done = subprocess.run(
        [*Arm64().command(), "-c", program, str(probe), *CHECKS],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**Arm64().variables(), "LD_LIBRARY_PATH": str(bionic.shims([probe]))},
    )

    assert [line for line in done.stderr.splitlines() if line.startswith(tuple(CHECKS))] == [
        f"{name} 0" for name in CHECKS
    ], done.stderr
    assert done.stdout == "old new"
