"""A contract does not split partitions: its nodes run on the CPU around the model."""

from pathlib import Path

import pytest

from packager.core.findings import Partition
from tests.cases.contract_partitions import (
    BATCHES,
    OUTPUTS,
    PICTURES,
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

__all__ = ["core_of_rows", "coreml", "cores", "folder", "hearing", "seeing"]


@pytest.mark.parametrize(("image", "outputs"), PICTURES)
def test_coreml_takes_the_core_in_one_piece_between_every_picture_and_output(
    folder: Path, coreml: Partition, image: str, outputs: str
) -> None:
    found = partition(folder, "coreml", image, outputs)
    assert (coreml.partition_count, coreml.share) == (1, 1.0)
    same_pieces(coreml, found)


@pytest.mark.parametrize("outputs", [name for name in OUTPUTS if "mask" in name])
def test_the_best_class_of_each_place_is_no_piece_of_the_model(folder: Path, coreml: Partition, outputs: str) -> None:
    """Core ML takes it, too: in 16 bits it is still the best one, or an equal one."""
    found = partition(folder, "coreml", "stretch", outputs)
    same_pieces(coreml, found)
    assert found.added_taken_count > 0


@pytest.mark.parametrize("sound", SOUNDS)
def test_coreml_takes_the_core_in_one_piece_behind_a_recording(folder: Path, hearing: Alone, sound: str) -> None:
    alone, found = hearing("coreml"), heard(folder, "coreml", sound)
    assert alone.partition_count == 1
    same_pieces(alone, found)


@pytest.mark.parametrize(("tokenizer", "output"), TEXTS)
def test_coreml_takes_no_node_around_a_text_model(folder: Path, cores: Alone, tokenizer: str, output: str) -> None:
    same_core("coreml", cores("coreml"), read(folder, "coreml", tokenizer, output))


@pytest.mark.parametrize(("tokenizer", "output"), BATCHES)
def test_coreml_takes_no_node_around_several_texts(
    folder: Path, core_of_rows: Alone, tokenizer: str, output: str
) -> None:
    found = read(folder, "coreml", tokenizer, output, is_batch=True)
    same_work(core_of_rows("coreml"), found)
