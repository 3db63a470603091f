"""The program that runs TensorRT, against the real Python modules of TensorRT 10, 11 and for RTX and of cuda-core."""

import sys

import pytest

from packager.engines.environments.cuda import Cuda
from tests.toolchain.environments import have

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="TensorRT's modules are those of Linux")


def test_the_environment_cuda_is_installed_and_its_libraries_load() -> None:
    have("cuda")
    assert Cuda().missing() == ""
