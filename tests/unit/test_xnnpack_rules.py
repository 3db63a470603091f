"""The XNNPACK rules, compared with ONNX Runtime's own XNNPACK provider in its Android library."""

import onnx
import pytest

from tests.cases.random_xnnpack import drawn
from tests.cases.xnnpack_cases import FAILS, HALF, WRONG, Case
from tests.cases.xnnpack_rules import SEEDS, SOUND, prediction


def in_question(model: onnx.ModelProto) -> str:
    """The last node that computes."""
    names: list[str] = [node.name for node in model.graph.node]
    quantizers = ("QuantizeLinear", "DequantizeLinear")
    return next((name for name in reversed(names) if not name.startswith(quantizers)), names[-1])


@pytest.mark.parametrize("each", SOUND, ids=range(len(SOUND)))
def test_a_node_is_taken_or_left_for_the_reason(each: Case) -> None:
    found = prediction(each.model())
    why = found.left.get(in_question(each.model()), "")
    assert bool(why) == bool(each.why)
    assert each.why in why
    assert found.refusal == ""


@pytest.mark.parametrize("each", [*WRONG, *FAILS, HALF], ids=lambda each: each.why)
def test_a_model_that_xnnpack_fails_with_is_kept_from_it(each: Case) -> None:
    refusal = prediction(each.model()).refusal
    assert each.why in refusal
    node = in_question(each.model())
    assert refusal.startswith((f"{node.split('.')[0]} '{node}'", "ConvTranspose 'ConvTranspose", "Conv 'Conv"))


def test_few_random_nets_are_kept_from_xnnpack() -> None:
    """The test of random nets compares the others."""
    assert sum(bool(prediction(drawn(seed)).refusal) for seed in range(SEEDS)) < SEEDS / 3
