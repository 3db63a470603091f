"""Generated texts in Swift, on Linux, are those of Python: each test in `toolchain/swift_generation/` is one here."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy
import onnx
import pytest

from packager.core.findings import Report
from packager.core.values import Package, Plan
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.targets.ios import Ios
from tests.cases.onnx_text import saved
from tests.golden.cases import choice, on_ios
from tests.golden.stored import read
from tests.toolchain import generation_models
from tests.toolchain.generation_models import CONVERSATION, PROMPT, REFUSED, SEEDS
from tests.toolchain.swift import swift
from tests.toolchain.swift_dependency import write_runtime
from tests.toolchain.swift_packages import Outcomes, compiled, write_values

TESTS = Path(__file__).parents[1] / "toolchain" / "swift_generation" / "GenerationTests.swift"
CASES = re.findall(r"func (test\w+)\(", TESTS.read_text(encoding="utf-8"))
MODULE = "TalesKit"


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """All tests in Swift, compiled and run once."""
    swift()
    folder = tmp_path_factory.mktemp("swift-generation")
    (folder / "models").mkdir()
    models = {
        each.plan.model.name: each
        for each in generation_models.made(folder / "models", Store(cache_folder() / "store"))
    }
    scribe = generation_models.heard(folder / "models", Store(cache_folder() / "store"))
    target = Ios(providers=())
    plans = tuple(map(shipped, (*(each.plan for each in models.values()), scribe.plan)))
    view = target.view(Package(name="tales", version="1.0.0", license=""), plans, Report(parities=()))
    made = folder / "package" / "tales"
    write_sources(target.render(view), made)
    write_runtime(view, folder / "package")
    shutil.copy(TESTS, made / "Tests" / f"{MODULE}Tests")
    teller, sampler = models["teller"].steps, models["sampler"].steps
    texts = {"text": teller.text(PROMPT), "nothing": teller.text(""), "dog": teller.text("a dog"), "heard": scribe.text}
    texts |= {f"seed {seed}": sampler.text("a dog", seed) for seed in SEEDS}
    texts |= {"chat": sampler.text(CONVERSATION, 7), "refused": "; ".join(REFUSED)}
    arrays = {name: numpy.array(list(map(ord, text)), numpy.int32) for name, text in texts.items()}
    values = write_values(folder / "values", arrays)
    found = compiled(made, folder / "build")
    return found.run("", folder / "run", environment={"MOBPACK_VALUES": str(values)})


def shipped(plan: Plan) -> Plan:
    """`plan` with the model in one ONNX file, for iOS."""
    model = onnx.ModelProto.FromString(plan.model.graph)
    onnx.load_external_data_for_model(model, str(plan.model.path.parent))
    path = saved(plan.model.path.with_name("whole.onnx"), model)
    cpu = choice("cpu", path=path)
    file = replace(cpu.compiled, sha256=sha256_of(path), size_bytes=path.stat().st_size)
    return on_ios(plan, replace(cpu, compiled=file))


@pytest.mark.parametrize("case", CASES)
def test_in_swift(tested: Outcomes, case: str) -> None:
    assert tested.by_case.get(f"GenerationTests.{case}") == "passed", tested.output[-4000:]


def test_the_state_of_a_text_is_fed_where_onnx_runtime_has_made_it() -> None:
    text = read("ios", "contracts")["Sources/ContractsKit/Storyteller.swift"]
    step = text.split("private func step(")[1]
    assert "answer.pastKey = .returned(ReturnedValue(results: results, index: 2))" in step
    assert 'FedState("past.key", carried.pastKey)' in step
    assert "presentKey" not in step, "nothing reads its values"
