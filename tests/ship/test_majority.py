"""When engines of different makes disagree, the report says which one stands alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import onnx
import pytest

from packager.core.findings import Agreement
from packager.engines.runners import GRAPH, Runnable, Runner, Session
from packager.engines.runners.reference import OnnxReference
from packager.engines.runners.runner import ONNX_RUNTIME
from packager.verification import parity
from packager.verification.failures import Case
from packager.verification.majority import Pair, agreements, judged
from packager.verification.parity import OriginalOutputs, ParitySettings, Subject
from tests.cases.onnx_text import compiled, linear

SETTINGS = ParitySettings(random_samples=2)


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """An engine that takes MatMul for something else: onnx's reference, on a graph with its second input doubled."""

    NAME: ClassVar[str] = "wrong"
    OPENS: ClassVar[str] = GRAPH
    ROUNDING: ClassVar[float] = 0.0
    about: ClassVar[str] = "wrong"
    ENGINE: ClassVar[str] = "wrong"
    name: str = ""

    def label(self) -> str:
        return f"wrong {self.ENGINE} {self.name}"

    def identity(self) -> str:
        return ""

    def missing(self) -> str:
        return ""

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def cannot_time(self) -> str:
        return "a test"

    def open(self, model: Runnable, folder: Path) -> Session:
        proto = onnx.load(model.path, load_external_data=False)
        for node in proto.graph.node:
            if node.op_type == "MatMul":
                node.op_type = "Gemm"
                node.attribute.append(onnx.helper.make_attribute("alpha", 2.0))
        path = folder / "changed.onnx"
        onnx.save(proto, path)
        return OnnxReference().open(Runnable(path=path, data_folder=model.data_folder), folder)


class One(Wrong):
    ENGINE: ClassVar[str] = "one"


class Two(Wrong):
    ENGINE: ClassVar[str] = "two"


class Refusing(Wrong):
    """An engine that refuses every model."""

    def open(self, model: Runnable, folder: Path) -> Session:
        (folder / "text.onnx").write_bytes(b"no model")
        return OnnxReference().open(Runnable(path=folder / "text.onnx"), folder)


def agreement(folder: Path, *runners: Runner) -> Agreement:
    """The agreement of these runners and ONNX Runtime on x @ w + b."""
    file = compiled(folder / "made", linear(), "line")
    references = OriginalOutputs(folder)
    cases = []
    for runner in runners:
        subject, own = Subject(variant=file.variant), folder / runner.label()
        own.mkdir()
        checked = parity.check(subject, runner, SETTINGS, own, references)
        cases.append(Case(subject=subject, runner=runner, checked=checked, settings=SETTINGS))
    (found,) = agreements(cases, references, folder / "scratch")
    return found


def test_engines_that_agree_are_named(tmp_path: Path) -> None:
    found = agreement(tmp_path, OnnxReference())
    assert found.agree == found.engines == (ONNX_RUNTIME, "onnx reference")
    assert found.alone == ()
    assert found.words.startswith("ONNX Runtime and onnx reference agree within ")
    assert 0 <= found.within < 1e-5


def test_a_broken_engine_stands_alone(tmp_path: Path) -> None:
    found = agreement(tmp_path, OnnxReference(), Wrong())
    assert (found.agree, found.alone) == ((ONNX_RUNTIME, "onnx reference"), ("wrong",))
    assert not found.is_reference_alone
    assert found.words.startswith("wrong stands alone: ONNX Runtime and onnx reference agree within ")
    assert ", and output 'y' differs by " in found.words
    assert found.apart > 0.1 > found.within


def test_the_reference_alone_is_said_to_be_the_source_of_the_expected_outputs(tmp_path: Path) -> None:
    found = agreement(tmp_path, One(), Two())
    assert (found.agree, found.alone) == (("one", "two"), (ONNX_RUNTIME,))
    assert found.is_reference_alone
    assert found.words.startswith("ONNX Runtime stands alone, and the expected outputs are its own: one and two agree")


def test_two_engines_do_not_decide(tmp_path: Path) -> None:
    found = agreement(tmp_path, Wrong())
    assert (found.agree, found.alone) == ((), ())
    assert found.words == "ONNX Runtime and wrong differ; name a third engine in runners to decide"


def test_two_runners_of_one_engine_are_one_opinion(tmp_path: Path) -> None:
    """Two wrong runners do not outvote ONNX Runtime."""
    found = agreement(tmp_path, Wrong(), Wrong(name="again"))
    assert found.engines == (ONNX_RUNTIME, "wrong")
    assert found.agree == ()


def test_an_engine_that_refuses_has_not_run(tmp_path: Path) -> None:
    file = compiled(tmp_path / "made", linear(), "line")
    found = parity.check(Subject(variant=file.variant), Refusing(), SETTINGS, tmp_path).parity
    assert found.skipped.startswith("the runtime cannot load the model: DecodeError")
    assert (found.refusal, found.has_failed) == ("", False)


def pairs(**errors: float) -> Mapping[frozenset[str], Pair]:
    """`a_b=0.1`: the error between a and b; errors below 0.01 are agreement."""
    return {
        frozenset(name.split("_")): Pair(error=error, output="y", agrees=error < 0.01) for name, error in errors.items()
    }


@pytest.mark.parametrize(
    ("errors", "agree", "alone"),
    [
        ({"a_b": 0.001, "a_c": 0.5, "b_c": 0.4}, ("a", "b"), ("c",)),
        ({"a_b": 0.5, "a_c": 0.5, "b_c": 0.5}, (), ()),
        ({"a_b": 0.001, "a_c": 0.001, "b_c": 0.02}, ("a", "b"), ("c",)),
        ({"a_b": 0, "c_d": 0, "a_c": 1, "a_d": 1, "b_c": 1, "b_d": 1}, (), ()),
        ({"a_b": 0, "a_c": 0, "b_c": 0, "a_d": 1, "b_d": 1, "c_d": 2}, ("a", "b", "c"), ("d",)),
    ],
)
def test_a_majority_is_more_than_half_of_which_every_two_agree(
    errors: Mapping[str, float], agree: tuple[str, ...], alone: tuple[str, ...]
) -> None:
    found = judged("m", "source", "0" * 64, pairs(**errors))
    assert (found.agree, found.alone) == (agree, alone)


def test_the_smallest_distance_to_the_majority_is_given() -> None:
    found = judged("m", "source", "0" * 64, pairs(a_b=0.002, a_c=0.5, b_c=0.4))
    assert (found.within, found.apart, found.output) == (0.002, 0.4, "y")
