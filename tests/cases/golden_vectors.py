"""A small model, its plan, and the golden vectors that are made of both."""

from pathlib import Path
from typing import Any

import onnx
import pytest

from packager.compile import plan
from packager.config.checks import ParityTable
from packager.core.console import Console
from packager.core.values import Plan, baseline
from packager.files.store import Store
from packager.targets.android import Android
from packager.vectors import Golden
from packager.verification import parity
from packager.verification.golden import golden_vectors
from packager.verification.parity import ParitySettings, Subject
from tests.cases.onnx_text import linear, loaded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the store lies that the tests share."""
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module")
def one(folder: Path) -> Plan:
    """y = x @ w + b, with a file for XNNPACK and one for the CPU."""
    return planned(folder, linear(), "xnnpack")


def planned(folder: Path, proto: onnx.ModelProto, *providers: str, name: str = "m") -> Plan:
    model = loaded(folder, proto, name)
    target = Android(providers=providers)
    return plan.make(baseline(model, "source"), target, Store(folder / "store"), lambda text: None)


def settings_of(subject: Subject) -> ParitySettings:
    return ParitySettings(tolerance=parity.default_tolerance(subject.variant))


def made(folder: Path, one: Plan, **keys: Any) -> tuple[Golden, list[str]]:
    """The vectors, and the warnings that `--strict` counts. `keys` are those of [parity]."""
    console = Console(quiet=True)
    table = ParityTable(**{key.replace("_", "-"): value for key, value in keys.items()})
    return golden_vectors([one], table, settings_of, Store(folder / "store"), console), console.warnings
