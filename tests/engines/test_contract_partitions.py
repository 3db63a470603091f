"""A contract does not split partitions: its nodes run on the CPU around the model."""

from pathlib import Path

import pytest

from tests.cases.contract_partitions import (
    BATCHES,
    PHONES,
    SOUNDS,
    TEXTS,
    Alone,
    core_of_rows,
    coreml,
    cores,
    folder,
    heard,
    hearing,
    partition,
    read,
    same_core,
    same_pieces,
    same_work,
    seeing,
)
from tests.nights import at_night, spread
from tests.toolchain.environments import have

__all__ = ["core_of_rows", "coreml", "cores", "folder", "hearing", "seeing"]


@pytest.mark.parametrize(
    ("provider", "image", "outputs"),
    [
        ("qnn", "crop", "mask of the picture"),
        ("nnapi", "letterbox", "classes"),
        ("xnnpack", "letterbox", "boxes"),
        *at_night(
            ("qnn", "stretch", "classes"),
            ("qnn", "letterbox", "boxes"),
            ("qnn", "as OpenCV", "mask"),
            ("nnapi", "crop", "boxes"),
        ),
    ],
)
def test_providers_of_android_take_the_core_in_as_many_pieces_as_without(
    folder: Path, seeing: Alone, provider: str, image: str, outputs: str
) -> None:
    have(ENVIRONMENTS[provider])
    alone = seeing(provider)
    found = partition(folder, provider, image, outputs)
    same_pieces(alone, found)
    assert alone.share == 1.0


@pytest.mark.parametrize("sound", spread([*SOUNDS], 3))
def test_qnn_takes_the_core_in_one_piece_behind_a_recording(folder: Path, hearing: Alone, sound: str) -> None:
    have("qnn")
    alone, found = hearing("qnn"), heard(folder, "qnn", sound)
    assert alone.partition_count == 1
    same_pieces(alone, found)


ENVIRONMENTS = {"nnapi": "android", "qnn": "qnn", "webgpu": "webgpu", "xnnpack": "android"}


@pytest.mark.parametrize("provider", [name for name in PHONES if name != "xnnpack"])
def test_classes_of_a_text_are_no_piece_of_their_own(folder: Path, cores: Alone, provider: str) -> None:
    """XNNPACK's softmax is a kernel of its own: it does not take the Reshape before it, and shares the CPU's memory."""
    have(ENVIRONMENTS.get(provider, "android"))
    found = read(folder, provider, "WordPiece", "classes")
    same_pieces(cores(provider), found)
    assert found.added_taken_count > 0


ONE_TEXT = [
    (provider, *TEXTS[(number + step) % len(TEXTS)]) for number, provider in enumerate(ENVIRONMENTS) for step in (0, 2)
]
SEVERAL_TEXTS = [(provider, *BATCHES[number % 2]) for number, provider in enumerate(ENVIRONMENTS)]
"""At night every provider meets each tokenizer, and every text two providers. Rules of Core ML meet all texts."""


@pytest.mark.parametrize(("provider", "tokenizer", "output"), spread(ONE_TEXT, 3))
def test_other_providers_take_no_node_around_a_text_model_either(
    folder: Path, cores: Alone, provider: str, tokenizer: str, output: str
) -> None:
    have(ENVIRONMENTS[provider])
    same_core(provider, cores(provider), read(folder, provider, tokenizer, output))


@pytest.mark.parametrize(("provider", "tokenizer", "output"), spread(SEVERAL_TEXTS, 2))
def test_other_providers_take_no_node_around_a_model_of_several_texts_either(
    folder: Path, core_of_rows: Alone, provider: str, tokenizer: str, output: str
) -> None:
    have(ENVIRONMENTS[provider])
    found = read(folder, provider, tokenizer, output, is_batch=True)
    same_work(core_of_rows(provider), found)
