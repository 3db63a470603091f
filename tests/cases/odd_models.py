"""Plans of unusual models."""

from pathlib import Path

from packager import models
from packager.compile import plan
from packager.core.values import Plan, baseline
from packager.files.store import Store
from packager.targets.android import Android
from tests.cases.odd_cases import CASES, Wanted
from tests.cases.onnx_text import loaded


def planned(folder: Path, name: str, wanted: Wanted) -> Plan:
    """As a build plans it for Android; the store lies in `folder`."""
    described = loaded(folder, CASES[name].model)
    models.refuse_blocked(described)
    target = Android(providers=CASES[name].providers, format=wanted)
    store = Store(folder / "store")
    return plan.make(baseline(described, "source"), target, store, lambda text: None)
