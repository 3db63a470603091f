"""React Native: whatever servers, publishers and disks do, the app opens a verified model."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases.delivery_killing import SWEEPS, Victim, kill_everywhere
from tests.cases.delivery_language import Language, fills_up, impatient, serving, trickles, trickling, visits
from tests.cases.delivery_scenarios import VISITS
from tests.cases.delivery_server import Channel
from tests.cases.delivery_stage import Visit
from tests.cases.tuf_attacks import ATTACKS
from tests.delivery_drivers import react_native
from tests.delivery_drivers.react_native import language_of, program
from tests.toolchain.react_native.download.server import Certificate, Fault


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> react_native.Made:
    return program(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Channel, Certificate]]:
    with serving("react_native", tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture(scope="module")
def hasty(made: react_native.Made, tmp_path_factory: pytest.TempPathFactory) -> react_native.Made:
    """The program with less patience."""
    script = tmp_path_factory.mktemp("hasty") / "script.js"
    text, count = impatient(made.code.script.read_text(encoding="utf-8"))
    assert count == 2
    script.write_text(text, encoding="utf-8", newline="\n")
    return replace(made, code=replace(made.code, script=script))


@pytest.fixture(scope="module")
def language(made: react_native.Made, served: tuple[Channel, Certificate]) -> Language:
    return language_of(made, *served)


@visits((*VISITS, *ATTACKS))
def test_a_verified_model_is_opened_after(language: Language, visit: Visit, tmp_path: Path) -> None:
    language.play(visit, tmp_path)


@trickling("a document", "headers of a file")
def test_a_server_that_sends_a_byte_now_and_then_holds_no_update(
    made: react_native.Made,
    hasty: react_native.Made,
    served: tuple[Channel, Certificate],
    fault: Fault,
    is_document: bool,
    tmp_path: Path,
) -> None:
    told = replace(language_of(made, *served), impatient=language_of(hasty, *served).start)
    trickles(told, tmp_path, fault, is_document=is_document)


@pytest.mark.parametrize(("version", "count"), SWEEPS)
def test_a_verified_model_is_opened_after_a_kill(language: Language, version: str, count: int, tmp_path: Path) -> None:
    print(f"{kill_everywhere(Victim.of(language, tmp_path), version, count)} changes")


def test_a_full_disk_is_named_and_the_update_goes_on_when_there_is_room(language: Language, tmp_path: Path) -> None:
    fills_up(language, tmp_path)
