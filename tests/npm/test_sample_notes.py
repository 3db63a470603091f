"""sample_apps/notes: the vocabulary that its command writes, and the notes."""

from tests.toolchain.sample_package import NOTES


def test_the_vocabulary_is_that_of_bert_in_lower_case() -> None:
    """The ids are those of google-bert/bert-base-uncased."""
    lines = (NOTES.root() / NOTES.folder / "build" / "vocab.txt").read_text(encoding="utf-8").splitlines()
    ids = (0, 1, 100, 101, 102, 103, 1996, 2015, 2088, 7592, 30521)
    assert len(lines) == 30522
    assert [lines[each] for each in ids] == (
        "[PAD] [unused0] [UNK] [CLS] [SEP] [MASK] the ##s world hello ##\uff5e".split()
    )
