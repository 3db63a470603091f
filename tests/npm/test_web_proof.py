"""Web packages decide by proof which provider runs a model: under Node, with ONNX Runtime's WebAssembly, where WebGPU
lies. A browser's sessions cannot be given a plug-in: a layer before `InferenceSession.create` lies in its place."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cases.liar import BEHAVIOURS, Behaviour
from tests.toolchain import node, projects
from tests.toolchain.chromium import browser
from tests.toolchain.web import gpu
from tests.toolchain.web.page import package, page_of

PROGRAM = Path(node.__file__).parent / "web" / "liar.mjs"
ROWS = [each for each in BEHAVIOURS if each.name != "few nodes"]
"""ONNX Runtime for the web does not say which nodes a provider took."""
NO_WEBNN = {"provider": "webnn", "isProved": False, "reason": f"this browser has no WebNN: {gpu.HINT}"}
LOADED = """
const model = await Finder.load({ proof: new (await import('/vision/lib/index.js')).Proof({ limit: 600 }) });
const { provider, fallbacks, info: { proofs } } = model;
model.dispose();
return { provider, fallbacks, proofs, kept: Object.values(localStorage) };
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(tmp_path_factory.mktemp("liar"), projects.WEBGPU_THAT_LIES)


def run(unpacked: Path, storage: Path, rows: list[Behaviour]) -> node.Finished:
    """A process whose localStorage is in a file. The limit is long: machines may stand still."""
    options: dict[str, object] = {each.name: {} if each.name == "hang" else {"limit": 600} for each in rows}
    kept = ("--experimental-webstorage", f"--localstorage-file={storage}", "--no-warnings")
    return node.run([*kept, PROGRAM, unpacked, json.dumps(options)], cwd=unpacked)


def found(done: node.Finished) -> dict[str, Any]:
    assert done.returncode == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_provider_that_lies_is_left_out_with_the_reason_and_the_next_start_knows_it(
    unpacked: Path, tmp_path: Path
) -> None:
    rows = [each for each in ROWS if each.name != "crash in the third run"]
    first, second = (found(run(unpacked, tmp_path / "storage", rows)) for _ in range(2))
    for each in rows:
        fits(each, first[each.name])
        assert second[each.name] == {**first[each.name], "opened": int(each.is_proved)}, each.name


def test_a_provider_that_ended_the_page_is_not_tried_by_the_next_one(unpacked: Path, tmp_path: Path) -> None:
    [row] = (each for each in ROWS if each.name == "crash in the third run")
    assert run(unpacked, tmp_path / "storage", [row]).returncode == 9
    loaded = found(run(unpacked, tmp_path / "storage", [row]))[row.name]
    fits(row, loaded)
    assert loaded["opened"] == 0


def fits(row: Behaviour, loaded: dict[str, Any]) -> None:
    """The CPU is right where the provider lied; an observer hears what the model says."""
    assert loaded["passed"]
    assert loaded["told"] == loaded["fallbacks"]
    webnn, webgpu = loaded["proofs"]
    assert webnn == NO_WEBNN
    assert webgpu["isProved"] == row.is_proved
    assert re.fullmatch(row.reason, webgpu["reason"]), row.name
    left = [NO_WEBNN] if row.is_proved else [NO_WEBNN, webgpu]
    assert loaded["fallbacks"] == [{"provider": each["provider"], "reason": each["reason"]} for each in left]
    assert loaded["provider"] == ("webgpu" if row.is_proved else "cpu")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return gpu.files(tmp_path_factory.mktemp("package"), projects.WEBGPU)


def test_a_page_in_chromium_keeps_its_verdicts(files: dict[str, bytes], tmp_path: Path) -> None:
    """Its graphics processor computes on this one: what is proved of it, no test knows."""
    with browser(tmp_path, has_gpu=True, seconds=gpu.SECONDS) as opened, page_of(opened, files) as page:
        page.visit()
        first = page.run(LOADED, "Finder")
        page.visit()
        second = page.run(LOADED, "Finder")
    [kept] = first["kept"]
    webnn, webgpu = json.loads(kept)["proofs"][::-1]
    assert (webnn["state"], webgpu["state"]) == ("refused", "proved" if first["provider"] == "webgpu" else "refused")
    assert webgpu["seconds"] > 0
    assert webgpu["cpu_seconds"] > 0
    assert second == first
