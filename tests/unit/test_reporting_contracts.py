"""The report describes an app's inputs and outputs."""

from packager.reporting.contracts import gives, takes
from tests.golden.cases import CONTRACTS

KNOWN = {plan.model.name: plan.model.contract for plan in CONTRACTS}


def of(name: str) -> tuple[list[str], list[str]]:
    contract = KNOWN[name]
    assert contract is not None
    return list(takes(contract)), list(gives(contract))


def test_inputs_and_outputs_of_every_kind_are_named() -> None:
    assert of("classifier")[0] == ["image: a picture of any size, pixel format and orientation"]
    assert of("listener")[0] == [
        "audio: a recording of any length and rate, whole or in pieces: a result for each 512 samples",
        "state: what output 'stateN' was in the run before",
    ]
    assert [
        of(name)[1] for name in ("classifier", "detector", "segmenter", "embedder", "reader", "tagger", "ranker")
    ] == [
        ["logits: the best 3 of 4 classes, with labels"],
        ["found: boxes in pixels of the upright picture, text"],
        ["mask: a class for each place of the picture"],
        ["feature: a vector of 256 numbers and length 1"],
        ["text: a text of 6 possible symbols"],
        ["tags: parts of the text, person, Ort"],
        ["logits: a score that says how well a document fits a query"],
    ]
    taken, given = of("several")
    assert taken[-1] == "lengths: int64 [batch, 2]"
    assert given[-1] == "raw: float [1, steps, 8]"
