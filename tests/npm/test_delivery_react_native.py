"""React Native: whatever servers, publishers and disks do, the app opens a verified model."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases.delivery_killing import SWEEPS, Victim, kill_everywhere
from tests.cases.delivery_server import Channel
from tests.cases.delivery_tales import TALES, Tale
from tests.cases.delivery_telling import TRICKLES, Language, fills_up, impatient, serving, told, trickles
from tests.delivery_drivers import react_native
from tests.delivery_drivers.react_native import language_of, program
from tests.toolchain.react_native.download.server import Certificate, Fault

WEAKER: Mapping[str, tuple[str, str]] = {
    "an older document": (r"found\.number < seen\d*\.number", "false"),
    "another document of the same number": (r"found\.sha256 !== seen\d*\.sha256", "false"),
    "a stranger's key": (r"await isSigned\([^;]*?\}\)", "true"),
    "two signatures": (r"signatures\.length !== 1", "false"),
    "the document of another channel": (r"document\d*\.channel !== channel\d*", "false"),
    "the document of another package": (r"document\d*\.packageName !== packageName\d*", "false"),
    "an expired document": (r"document\d*\.expires <= Math\.max\(Date\.now\(\), latest\d*\)", "false"),
    "a clock that is behind a document": (r"Math\.max\(Date\.now\(\), latest\d*\)", "Date.now()"),
    "a release for other code": (r"\(contract !== taker\.contract", "(false"),
    "the app pins a version": (r"taker\.pin !== version\d*", "false"),
}
"""tale -> a check in the package's code that it is about, and what takes its place"""


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


@told()
def test_a_verified_model_is_opened_after(language: Language, tale: Tale, tmp_path: Path) -> None:
    language.tell(tale, tmp_path)


@TRICKLES
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


@pytest.mark.parametrize("name", WEAKER)
def test_tales_tell_code_without_a_check(
    made: react_native.Made, served: tuple[Channel, Certificate], name: str, tmp_path: Path
) -> None:
    check, instead = WEAKER[name]
    weaker, count = re.subn(check, instead, made.code.script.read_text(encoding="utf-8"))
    assert count == 1, f"the code has this check {count} times"
    script = tmp_path / "script.js"
    script.write_text(weaker, encoding="utf-8", newline="\n")
    without = replace(made, code=replace(made.code, script=script))
    [tale] = (each for each in TALES if each.name == name)
    with pytest.raises(AssertionError):
        language_of(without, *served).tell(tale, tmp_path)


@pytest.mark.parametrize(("version", "count"), SWEEPS)
def test_a_verified_model_is_opened_after_a_kill(language: Language, version: str, count: int, tmp_path: Path) -> None:
    assert language.dying
    assert language.kept
    victim = Victim(
        channel=language.channel, start=language.start, dying=language.dying, kept=language.kept, scratch=tmp_path
    )
    print(f"{kill_everywhere(victim, version, count)} changes")


def test_a_full_disk_is_named_and_the_update_goes_on_when_there_is_room(language: Language, tmp_path: Path) -> None:
    fills_up(language, tmp_path)
