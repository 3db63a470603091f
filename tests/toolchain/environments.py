"""Isolated environments with other ONNX Runtimes, installed when a test asks for one."""

from packager.core.errors import ToolError
from packager.engines.environments import ENVIRONMENTS
from tests.toolchain.require import require
from tests.toolchain.unpacking import quickly


def have(name: str) -> None:
    """The environment `name`, installed; skips the test if it is not available."""
    environment = ENVIRONMENTS[name]()
    require(not environment.unsupported(), environment.unsupported())
    try:
        with quickly():
            environment.install()
    except ToolError as error:
        require(False, f"{error.message} ({error.hint})")
