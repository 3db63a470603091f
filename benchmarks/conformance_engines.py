"""The engines that `benchmarks.conformance` asks: how each is started, and which files it opens."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from benchmarks.conformance_make import CONTRACT, FORMS
from packager.engines.environments import Environment, ensure
from packager.engines.environments.iree import Iree
from packager.engines.environments.mnn import Mnn
from packager.engines.environments.openvino import OpenVino
from packager.engines.environments.release import PinnedRuntime
from packager.engines.environments.runtime import Runtime
from packager.engines.environments.tract import Tract
from packager.engines.environments.web import CHILD, Web
from packager.engines.runners import iree, mnn, openvino, tract
from packager.engines.runners.engines import PROGRAM

HERE = Path(__file__).parent
ORIGINAL, GRAPH = "original", "graph"
OWN = (*FORMS, CONTRACT)


@dataclass(frozen=True, kw_only=True)
class Newest(PinnedRuntime):
    """The newest ONNX Runtime, which nothing of mobpack uses yet."""

    lock: ClassVar[Path] = HERE / "onnxruntime_newest.txt"


@dataclass(frozen=True, kw_only=True)
class Engine:
    name: str
    words: str
    environment: Environment
    forms: Sequence[str] = OWN
    """files that it opens"""
    settings: Mapping[str, str] = field(default_factory=dict)
    """job of conformance_engine.py; empty for ONNX Runtime"""

    def command(self, folder: Path) -> list[object]:
        """Command that runs cases, without their folders; files that it needs go to `folder`."""
        start = self.environment.command()
        if isinstance(self.environment, Web):
            return [*start, HERE / "conformance_web.mjs", CHILD]
        if not self.settings:
            return [*start, HERE / "conformance_run.py"]
        job = folder / f"{self.name}.job.json"
        job.write_text(json.dumps({**self.settings, "program": str(PROGRAM), "threads": 0}), encoding="utf-8")
        return [*start, HERE / "conformance_engine.py", job]

    def variables(self) -> Mapping[str, str]:
        ensure(self.environment)
        return self.environment.variables()


def _onnxruntime(name: str, environment: Runtime) -> Engine:
    return Engine(name=name, words=environment.display_name, environment=environment)


def _reading(name: str, words: str, environment: Environment, child: Path) -> Engine:
    settings = {"engine": str(child), "gpu": ""}
    return Engine(name=name, words=words, environment=environment, forms=(GRAPH,), settings=settings)


SHIPPED = _onnxruntime("onnxruntime-1.29", Runtime())
ENGINES: Mapping[str, Engine] = {
    each.name: each
    for each in (
        SHIPPED,
        _onnxruntime("onnxruntime-1.30", PinnedRuntime(release="1.30.0")),
        _onnxruntime("onnxruntime-1.31", PinnedRuntime(release="1.31.1")),
        _onnxruntime("onnxruntime-1.32", Newest(release="1.32.0")),
        Engine(name="web", words=Web().display_name, environment=Web()),
        _reading("openvino", "OpenVINO 2026.4", OpenVino(), openvino.CHILD),
        _reading("mnn", "MNN 3.6", Mnn(), mnn.CHILD),
        _reading("tract", "tract 0.23", Tract(), tract.CHILD),
        _reading("iree", "IREE 3.13", Iree(), iree.CHILD),
    )
}
