"""The tables of Unicode are those of the tokenizers that is installed."""

import random

import pytest
from tokenizers import normalizers, pre_tokenizers

from packager.contract.tokenization import unicode
from tests.nights import at_night
from tests.toolchain import unicode_tables


@pytest.mark.parametrize("name", [*at_night("categories.txt"), "lowercase.txt", "nfd.txt", "combining.txt"])
def test_the_files_are_what_tokenizers_answers(name: str) -> None:
    written = (unicode_tables.FOLDER / name).read_text(encoding="utf-8")
    assert dict(unicode_tables.files(only=name)) == {name: written}


def test_decompositions_equal_those_of_tokenizers() -> None:
    chosen = random.Random(5).sample(unicode_tables.SCALARS, 20_000)
    for is_compatible, normalizer in ((False, normalizers.NFD()), (True, normalizers.NFKD())):
        made = unicode.decompositions(compatible=is_compatible)
        for point in chosen:
            assert "".join(map(chr, made.get(point, (point,)))) == normalizer.normalize_str(chr(point)), hex(point)


def test_sets_equal_those_of_tokenizers() -> None:
    assert unicode.members("combining") == unicode_tables.removed(normalizers.StripAccents())
    assert unicode.members("digit") == unicode_tables.splitting(pre_tokenizers.Digits(individual_digits=True))
