"""Isolated environments with other ONNX Runtimes, installed for the tests that ask for one."""

from packager.core.errors import ToolError
from packager.environments import ENVIRONMENTS
from tests.toolchain.require import require


def have(name: str) -> None:
    """The environment `name`, installed; or the end of the test where it cannot be had."""
    environment = ENVIRONMENTS[name]()
    require(not environment.unsupported(), environment.unsupported())
    try:
        environment.install()
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
