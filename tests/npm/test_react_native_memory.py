"""Memory that an app lends to React Native models: used in place if the engine has native memory."""

from pathlib import Path
from typing import Any

import pytest

from tests.toolchain import jsc
from tests.toolchain.react_native import native

ENGINES = ("plain", "lending")
MODEL = "orientation.ort.tflite"
MIB = 1 << 20
PAGE_BYTES = 4 * 3 * 224 * 224
ROUNDS = 14
LENT_BYTES = 2 * PAGE_BYTES
"""memory that each of the four runs of a round is lent; garbage of a few rounds may not be collected yet"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    return native.code(tmp_path_factory)


@pytest.fixture
def app(code: native.Code, tmp_path: Path) -> native.App:
    return code.app(tmp_path / "installed")


def run(app: native.App, case: str, engine: str, **plan: Any) -> Any:
    return app.run(case, engine=engine, isLending=engine == "lending", **plan)


CASES = (
    "allocatesMemory",
    "readsWhereInputsLie",
    "writesWhereOutputsLie",
    "makesOutputsWhereTheyAreWritten",
    "lendsEveryType",
    "filesInNativeMemory",
    "refusesWrongPlacesInNativeMemory",
)
ALSO_LENT = (
    "readsPartsOfBuffers",
    "keepsOutputsApart",
    "refusesWrongTensors",
    "disposesWhileRunning",
    "cancels",
    "runsSideBySide",
    "partsOfFiles",
    "readsFiles",
)
"""cases of test_react_native_native.py that go other ways where the engine has native memory"""


@pytest.mark.parametrize("engine", ENGINES)
def test_native_memory_is_worked_on_where_it_lies_and_other_memory_is_copied(app: native.App, engine: str) -> None:
    for case in (*CASES, *(ALSO_LENT if engine == "lending" else ())):
        assert run(app, case, engine) is None, case


@pytest.mark.parametrize("engine", ENGINES)
def test_native_memory_is_not_copied_for_a_run_that_may_be_repeated(app: native.App, engine: str) -> None:
    plan: dict[str, Any] = {"options": {"allowOtherRuntime": True, "providers": ["xnnpack"]}}
    file = str(app.bundle / MODEL)
    assert run(app, "copiesNoNativeInputs", engine, onnxruntime=jsc.other_onnxruntime(), file=file, **plan) is None


@pytest.mark.parametrize("engine", ENGINES)
def test_memory_of_a_run_lives_as_long_as_the_run_whatever_is_collected(app: native.App, engine: str) -> None:
    limit_bytes = ROUNDS * 4 * LENT_BYTES // 2
    found = run(app, "keepsMemoryOfRuns", engine, rounds=ROUNDS, lentBytes=LENT_BYTES, limitBytes=limit_bytes)
    assert found["grownBytes"] < limit_bytes


def test_a_thousand_runs_do_not_take_more_native_memory(app: native.App) -> None:
    assert run(app, "growsNot", "lending", limitBytes=8 * MIB)["grownBytes"] < 8 * MIB


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("delay", [0, 20])
def test_javascript_may_end_while_its_native_memory_is_worked_on(app: native.App, delay: int, engine: str) -> None:
    following = app.plan("loads")
    found = run(
        app, "endsAmidRunsInNativeMemory", engine, delay=delay, file=str(app.bundle / MODEL), next=str(following)
    )
    assert found["provider"] == "cpu"
