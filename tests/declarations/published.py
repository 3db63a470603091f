"""The public declarations of the last published mobpack, by language: they say how `REVISIONS` must be raised.

`python -m tests.declarations.published` writes them when mobpack is published. Before its first publication there are
none, and all may change.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from packager.description.api import REVISIONS
from packager.distribution.differences import Level
from packager.distribution.differences.values import heaviest
from tests.declarations import interfaces
from tests.declarations.values import DeclaredPackage
from tests.differences_cases import TENSORS, TYPED, declarations, package

FOLDER = Path(__file__).parents[1] / "data" / "published_api"


@dataclass(frozen=True, kw_only=True)
class PublishedApi:
    revision: tuple[int, int]
    package: DeclaredPackage


def current(language: str) -> PublishedApi:
    read = declarations(language, package(language, (TENSORS, TYPED)))
    return PublishedApi(revision=REVISIONS[language], package=DeclaredPackage(language=language, declarations=read))


def is_raised(published: PublishedApi, now: PublishedApi) -> bool:
    """Whether the revision says what has changed since."""
    level = heaviest(*(each.level for each in interfaces.changes(published.package, now.package)))
    first, second = published.revision
    needed = {Level.MAJOR: (first + 1, 0), Level.MINOR: (first, second + 1)}.get(level, published.revision)
    return now.revision >= needed


def published() -> list[PublishedApi]:
    return [TypeAdapter(PublishedApi).validate_json(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))]


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for language in REVISIONS:
        content = TypeAdapter(PublishedApi).dump_json(current(language), indent=1)
        (FOLDER / f"{language}.json").write_bytes(content + b"\n")


if __name__ == "__main__":
    main()
