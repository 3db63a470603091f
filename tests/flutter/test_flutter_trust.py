"""In Dart: packages with trusted keys open what was signed, and say of everything else why they do not."""

import pytest

from tests.cases.trust_vectors import OPENED, SWAPPED, VECTORS, unsaid
from tests.toolchain import trusted_dart
from tests.toolchain.dart import dart
from tests.toolchain.trusted_dart import Facts


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    dart()
    return trusted_dart.answers(tmp_path_factory.mktemp("trust"))


@pytest.mark.parametrize("number", range(len(VECTORS)), ids=[vector.name for vector in VECTORS])
def test_a_list_is_answered_as_on_every_platform(facts: Facts, number: int) -> None:
    expected = VECTORS[number].expected
    found = facts[f"{number:02}"]
    assert found["found"] == ("opened by cpu" if expected == OPENED else expected), found
    assert found["told"] == ([] if expected == OPENED else ["ModelUntrustedException"]), found


def test_a_signed_file_with_another_byte_is_not_opened(facts: Facts) -> None:
    assert facts["damaged"]["found"] == "corrupted"
    assert facts["damaged"]["told"] == ["ModelException"]


def test_a_file_of_the_app_s_own_must_be_in_the_list(facts: Facts) -> None:
    assert facts["own"]["found"] == "opened by cpu"
    assert facts["own stranger"]["found"] == SWAPPED
    assert facts["folder"]["found"] == "opened by cpu"


def test_words_say_what_to_do(facts: Facts) -> None:
    assert unsaid(facts[f"{number:02}"].get("words", "") for number in range(len(VECTORS))) == {}
