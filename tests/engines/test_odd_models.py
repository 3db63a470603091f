"""Unusual models: each ships and loads in the runtime that packages depend on, with the original's
numbers, or is refused with the reason."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from packager.core.errors import ModelError
from packager.core.parsing import Json
from packager.core.values import Compiled, Plan, Style
from packager.engines.environments import ensure
from packager.engines.environments.runtime import Runtime
from packager.files.processes import commands
from packager.models.opsets import max_ir_version
from packager.verification.partition import kernels
from tests.cases.odd_cases import CASES, Wanted
from tests.cases.odd_models import planned
from tests.nights import spread

Row = tuple[str, Wanted]


def is_shipped(row: Row) -> bool:
    return CASES[row[0]].expected[row[1]] in ("ort", "onnx")


EVERY: list[Row] = [(name, wanted) for name, each in CASES.items() for wanted in each.expected]
PLAIN = [row for row in EVERY if is_shipped(row) and not CASES[row[0]].reason]
"""Rows that ship in the format that is asked for, or in ORT format where none is."""
ROWS = [row for row in EVERY if row not in PLAIN or row in spread(PLAIN, 3)]
SHIPPED = [row for row in ROWS if is_shipped(row)]
REFUSED = [row for row in ROWS if not is_shipped(row)]

PROGRAM = """\
import json, sys
import numpy, onnxruntime

answers = {}
for index, (model, entries, samples) in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))["files"]):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"], enable_fallback=0)
        answers[model] = ""
        if samples:
            arrays = numpy.load(samples)
            arrays = [arrays[str(i)] for i in range(len(arrays.files))]
            arrays = [each.astype(object) if each.dtype.kind == "U" else each for each in arrays]
            made = session.run(None, {value.name: each for value, each in zip(session.get_inputs(), arrays)})
            made = [each.astype(str) if each.dtype.kind == "O" else each for each in map(numpy.asarray, made)]
            numpy.savez(model + ".npz", **{str(i): each for i, each in enumerate(made)})
    except Exception as error:
        answers[model] = str(error)
print(json.dumps(answers))
"""


def samples(model: onnx.ModelProto) -> list[Any]:
    """An input for every graph input that is not an initializer."""
    random = numpy.random.default_rng(1)
    constants = {tensor.name for tensor in model.graph.initializer}
    made = []
    for value in model.graph.input:
        shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        element = value.type.tensor_type.elem_type
        if value.name in constants:
            continue
        if element == TensorProto.STRING:
            made.append(numpy.array(["a", "ü"][: shape[0]], object))
        elif element in (TensorProto.FLOAT, TensorProto.DOUBLE):
            made.append(numpy.asarray(random.standard_normal(shape), helper.tensor_dtype_to_np_dtype(element)))
        else:
            made.append(numpy.ones(shape, helper.tensor_dtype_to_np_dtype(element)))
    return made


def run_original(model: onnx.ModelProto) -> list[Any]:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.ir_version = min(copy.ir_version, max_ir_version())
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {value.name: each for value, each in zip(session.get_inputs(), samples(model), strict=True)}
    return [numpy.asarray(each) for each in session.run(None, feed)]


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    plans: Mapping[Row, Plan | ModelError]
    """case and format -> the plan, or the refusal"""
    loads: Mapping[str, str]
    """path of a file -> why it does not load or run in the runtime that ships; empty if it does"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every case in the formats of ROWS: planned in two threads, then all files loaded and run by one process."""
    root = tmp_path_factory.mktemp("odd")
    ensure(Runtime())

    def plans_of(index: int, name: str) -> dict[Row, Plan | ModelError]:
        folder = root / str(index)
        return {row: planned_or_refused(folder, *row) for row in ROWS if row[0] == name}

    with ThreadPoolExecutor(2) as pool:
        parts = list(pool.map(plans_of, range(len(CASES)), CASES))
    plans = {key: each for part in parts for key, each in part.items()}
    return Outcomes(plans=plans, loads=run_all(root, plans))


def planned_or_refused(folder: Path, name: str, wanted: Wanted) -> Plan | ModelError:
    """A file that must not load is opened in the runtime as a build does, for its refusal."""
    try:
        made = planned(folder, name, wanted)
        if not is_shipped((name, wanted)):
            kernels.prove(made.cpu, Runtime(), folder)
    except ModelError as error:
        return error
    return made


def run_all(folder: Path, plans: Mapping[Row, Plan | ModelError]) -> Json:
    files: dict[str, tuple[str, dict[str, str], str]] = {}
    for index, ((name, _), made) in enumerate(plans.items()):
        if isinstance(made, ModelError):
            continue
        inputs = folder / f"{index}.npz"
        if CASES[name].is_run:
            arrays = [each.astype(str) if each.dtype.kind == "O" else each for each in samples(CASES[name].model)]
            numpy.savez(inputs, **{str(i): each for i, each in enumerate(arrays)})
        for compiled in made.files:
            entries = {**Runtime.ENTRIES, **compiled.settings}
            files[str(compiled.path)] = (str(compiled.path), entries, str(inputs) if CASES[name].is_run else "")
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    runtime = Runtime()
    return commands.run_job(
        [program],
        {"files": list(files.values())},
        folder,
        crash="ONNX Runtime crashed on one of the files",
        hint="",
        command=runtime.command(),
        environment=runtime.variables(),
    )


@pytest.mark.parametrize(("name", "wanted"), SHIPPED, ids=map(", ".join, SHIPPED))
def test_it_ships_and_computes_in_the_runtime_what_the_original_does(
    outcomes: Outcomes, name: str, wanted: Wanted
) -> None:
    each, made = CASES[name], outcomes.plans[name, wanted]
    assert isinstance(made, Plan), f"{made}"
    assert {compiled.format for compiled in made.files if wanted != "auto"} <= {wanted}
    assert made.cpu.format == each.expected[wanted]
    expected = run_original(each.model) if each.is_run else []
    for compiled in made.files:
        assert outcomes.loads[str(compiled.path)] == ""
        assert set(kernels.graph_of(compiled).outputs) == {value.name for value in each.model.graph.output}
        if each.is_run:
            assert_same(compiled, expected, each.tolerance)


def assert_same(compiled: Compiled, expected: list[Any], tolerance: float) -> None:
    with numpy.load(f"{compiled.path}.npz") as arrays:
        actual = [arrays[str(index)] for index in range(len(arrays.files))]
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        if other.dtype.kind == "O":
            assert one.tolist() == other.tolist()
        else:
            largest = max(1.0, float(numpy.abs(other).max(initial=0.0)))
            numpy.testing.assert_allclose(one, other, rtol=0.0, atol=tolerance * largest)


@pytest.mark.parametrize("name", [name for name, each in CASES.items() if each.reason])
def test_the_plan_says_why_it_ships_as_onnx(outcomes: Outcomes, name: str) -> None:
    made = outcomes.plans[name, "auto"]
    assert isinstance(made, Plan)
    assert {choice.reason for choice in made.choices} == {CASES[name].reason}
    assert [compiled.style for compiled in made.files] == [Style.PLAIN]


@pytest.mark.parametrize(("name", "wanted"), REFUSED, ids=map(", ".join, REFUSED))
def test_it_is_refused_with_the_reason_and_what_to_do(outcomes: Outcomes, name: str, wanted: Wanted) -> None:
    refusal = outcomes.plans[name, wanted]
    assert isinstance(refusal, ModelError)
    with pytest.raises(ModelError, match=CASES[name].expected[wanted]):
        raise refusal
    assert refusal.hint
