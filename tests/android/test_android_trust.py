"""Android: packages with trusted keys open what was signed, and say of everything else why they do not."""

from collections.abc import Mapping

import pytest

from tests.cases.trust_vectors import OPENED, SWAPPED, VECTORS, unsaid
from tests.toolchain import jvm, trusted_android


@pytest.fixture(scope="module")
def facts(
    kotlin_compiler: None, onnxruntime_android: jvm.AndroidRuntime, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, str]:
    return trusted_android.answers(tmp_path_factory.mktemp("trust"))


@pytest.mark.parametrize("number", range(len(VECTORS)), ids=[vector.name for vector in VECTORS])
def test_a_list_is_answered_as_on_every_platform(facts: Mapping[str, str], number: int) -> None:
    expected = VECTORS[number].expected
    for provider in ("CPU", "XNNPACK"):
        case = f"{number:02} {provider}"
        if expected == OPENED:
            assert facts[case] == f"opened by {provider}", facts.get(f"words of {case}")
            continue
        assert facts[case].lower().replace("_", "-") == expected, facts.get(f"words of {case}")
        assert facts[f"mapped by {case}"] == "", "no file of the model is touched"
        assert facts[f"told of {case}"] == "ModelUntrustedException", "the observer hears of it"


def test_a_signed_file_with_another_byte_is_not_opened(facts: Mapping[str, str]) -> None:
    assert facts[f"{trusted_android.DAMAGED} CPU"] == "ModelCorruptedException"
    assert facts[f"{trusted_android.DAMAGED} XNNPACK"] == "opened by XNNPACK"


def test_a_file_of_the_app_s_own_must_be_in_the_list(facts: Mapping[str, str]) -> None:
    assert facts["own"] == "opened by CPU"
    assert facts["own stranger"].lower() == SWAPPED
    assert facts["folder"] == "opened by CPU"


def test_words_say_what_to_do(facts: Mapping[str, str]) -> None:
    assert unsaid(facts.get(f"words of {number:02} CPU", "") for number in range(len(VECTORS))) == {}
