"""Models of React Native packages on threads of worklets: a second JavaScript in the same process runs them."""

from pathlib import Path

import pytest

from tests.toolchain.react_native import native

ENGINES = ("plain", "lending")


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> native.Code:
    return native.code(tmp_path_factory)


@pytest.fixture
def app(code: native.Code, tmp_path: Path) -> native.App:
    return code.app(tmp_path / "installed")


@pytest.mark.parametrize("engine", ENGINES)
def test_worklets_run_models_on_threads_of_their_own(app: native.App, engine: str) -> None:
    for case in ("worksInWorklets", "worksOnPartsOfBuffers", "refusesInWorklets", "disposesInWorklets"):
        assert app.run(case, engine=engine) is None, case


@pytest.mark.parametrize("delay", [0, 20])
def test_javascript_may_end_while_worklets_run(app: native.App, delay: int) -> None:
    following = app.plan("loads")
    assert app.run("endsAmidWorklets", delay=delay, next=str(following))["provider"] == "cpu"
