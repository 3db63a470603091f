"""Servers that send a byte now and then: an update ends by itself, in minutes, and the next one goes on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from benchmarks.abuse.result import Result
from tests.cases.delivery_language import TRICKLED, Language, trickles
from tests.delivery_drivers import dart, kotlin

PROGRAMS: Mapping[str, Callable[[Path], AbstractContextManager[Language]]] = {
    "Kotlin": kotlin.of_releases,
    "Dart": dart.of_releases,
}


def attack(folder: Path) -> Iterator[Result]:
    """The documents and files of a channel, and their headers, told to programs with generated packages."""
    for name, program in PROGRAMS.items():
        with program(folder / name) as language:
            held = [what for what in TRICKLED if not _ends(language, folder / name / what.replace(" ", "-"), what)]
        title = f"servers that send a byte now and then, {name}"
        yield Result(attack=title, tries=len(TRICKLED), exceptions=tuple(f"{each} held the update" for each in held))


def _ends(language: Language, folder: Path, what: str) -> bool:
    fault, is_document = TRICKLED[what]
    try:
        trickles(language, folder, fault, is_document=is_document)
    except AssertionError:
        return False
    return True
