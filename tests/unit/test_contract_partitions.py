"""A contract does not split partitions: its nodes run on the CPU around the model."""

from tests.cases.contract_partitions import IMAGES, OUTPUTS, PICTURES, READ, TEXTS, TOKENIZERS


def test_every_picture_and_every_output_is_in_a_pair() -> None:
    assert {image for image, _ in PICTURES} == set(IMAGES)
    assert {outputs for _, outputs in PICTURES} == {name for name in OUTPUTS if "mask" not in name}
    assert {tokenizer for tokenizer, _ in TEXTS} == set(TOKENIZERS)
    assert {output for _, output in TEXTS} == set(READ)
