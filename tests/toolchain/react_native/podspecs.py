"""Evaluates podspecs in Ruby: the real interpreter, compiled to WebAssembly, with a recorder in place of CocoaPods."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.toolchain import node

FOLDER = Path(__file__).with_name("podspec")


@dataclass(frozen=True)
class Pod:
    """A podspec, and the files beside it and in the app."""

    podspec: str
    description: str
    """package.json"""
    properties: str | None = None
    """Podfile.properties.json of the app, if it has one"""


def evaluate(pods: Sequence[Pod], folder: Path) -> list[Mapping[str, Any]]:
    """Each podspec's attributes; or `told`, its message to the user before it gives up."""
    project = node.project("ruby")
    cases = folder / "podspecs.json"
    cases.write_text(json.dumps([asdict(pod) for pod in pods]), encoding="utf-8")
    done = node.run(["--no-warnings", FOLDER / "evaluate.mjs", project, FOLDER / "cocoapods.rb", cases], cwd=folder)
    assert done.returncode == 0, done.output
    found: list[Mapping[str, Any]] = json.loads(done.stdout)
    return found
