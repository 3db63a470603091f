"""The XNNPACK rules, compared with ONNX Runtime's own XNNPACK provider in its Android library."""

import onnx

from tests.cases.random_xnnpack import drawn
from tests.cases.xnnpack_cases import FAILS, HALF, WRONG
from tests.cases.xnnpack_rules import SEEDS, SOUND, prediction


def in_question(model: onnx.ModelProto) -> str:
    """The last node that computes."""
    names: list[str] = [node.name for node in model.graph.node]
    quantizers = ("QuantizeLinear", "DequantizeLinear")
    return next((name for name in reversed(names) if not name.startswith(quantizers)), names[-1])


def test_a_node_is_taken_or_left_for_the_reason() -> None:
    for each in SOUND:
        model = each.model()
        found = prediction(model)
        why = found.left.get(in_question(model), "")
        assert bool(why) == bool(each.why), each
        assert each.why in why, each
        assert found.refusal == "", each


def test_a_model_that_xnnpack_fails_with_is_kept_from_it() -> None:
    for each in [*WRONG, *FAILS, HALF]:
        model = each.model()
        refusal, node = prediction(model).refusal, in_question(model)
        assert each.why in refusal, each
        assert refusal.startswith((f"{node.split('.')[0]} '{node}'", "ConvTranspose 'ConvTranspose", "Conv 'Conv")), (
            each
        )


def test_few_random_nets_are_kept_from_xnnpack() -> None:
    """The test of random nets compares the others."""
    assert sum(bool(prediction(drawn(seed)).refusal) for seed in range(SEEDS)) < SEEDS / 3
