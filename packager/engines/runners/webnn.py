"""Says why no WebNN runs here: it is an interface of browsers."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from packager.core.errors import ToolError
from packager.engines.runners.runner import GRAPH, Runnable, Session

PROVIDER = "webnn"
"""Name of the provider in onnxruntime-web."""
MISSING = (
    "WebNN is an interface of browsers (navigator.ml), which Node.js does not have, and the headless Chromium of the "
    "tests ends its page when WebNN opens a model: try the page of a web package in a browser with WebNN"
)


@dataclass(frozen=True, kw_only=True)
class Webnn:
    NAME: ClassVar[str] = "webnn"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "WebNN, in a browser that has it"

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""

    def missing(self) -> str:
        return MISSING

    def cannot_open(self, model: Runnable) -> str:
        return MISSING

    def cannot_time(self) -> str:
        return MISSING

    def open(self, model: Runnable, folder: Path) -> Session:
        """Raises ToolError."""
        raise ToolError(MISSING)
