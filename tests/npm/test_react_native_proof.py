"""Packages for React Native decide by proof which provider runs a model, and their C++ keeps the verdicts. Their
ONNX Runtime is given no plug-in: a layer before the TurboModule lies in its place."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.liar import BEHAVIOURS, Behaviour
from tests.toolchain import jsc
from tests.toolchain.react_native import native, packages

CRASH = "crash in the third run"


@pytest.fixture
def app(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> native.App:
    code = native.build(packages.several(tmp_path_factory), tmp_path / "native", main="proving.js")
    return code.app(tmp_path / "installed")


def options(*rows: Behaviour) -> dict[str, object]:
    """The limit is long: machines may stand still."""
    return {each.name: {} if each.name == "hang" else {"limit": 600} for each in rows}


def test_a_provider_that_lies_is_left_out_with_the_reason_and_the_next_start_knows_it(app: native.App) -> None:
    rows = [each for each in BEHAVIOURS if each.name != CRASH]
    first, second = (app.run("proves", rows=options(*rows)) for _ in range(2))
    for each in rows:
        fits(each, first[each.name])
        assert second[each.name] == {**first[each.name], "opened": int(each.is_proved)}, each.name
    [row] = (each for each in BEHAVIOURS if each.name == CRASH)
    plan = app.plan("proves", rows=options(row))
    environment = {"XDG_CACHE_HOME": str(app.scratch / "caches"), "HOST_ENGINE": "plain"}
    ended = app.program.run(app.script, plan, onnxruntime=jsc.onnxruntime(), environment=environment)
    assert ended.returncode == 9, ended.output
    third = app.run("proves", rows=options(row))[row.name]
    fits(row, third)
    assert third["opened"] == 0


def fits(row: Behaviour, loaded: dict[str, Any]) -> None:
    """The CPU is right where the provider lied; an observer hears what the model says."""
    assert loaded["passed"]
    assert loaded["told"] == loaded["fallbacks"]
    [proof] = loaded["proofs"]
    assert proof["isProved"] == row.is_proved, proof
    assert re.fullmatch(row.reason.replace(" y,", " [a-zA-Z]+,"), proof["reason"]), proof
    assert loaded["fallbacks"] == ([] if row.is_proved else [{"provider": "xnnpack", "reason": proof["reason"]}])
    assert loaded["provider"] == ("xnnpack" if row.is_proved else "cpu")
