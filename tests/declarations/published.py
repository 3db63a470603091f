"""The public declarations in packages of the last published mobpack, by target: they say how the REVISION of a target
must be raised.

`python -m tests.declarations.published` writes them when mobpack is published. Before its first publication there are
none, and all may change.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from packager.distribution.differences import Level
from packager.distribution.differences.values import heaviest
from packager.targets.web import Web
from tests.cases.differences_cases import PACKAGE, TENSORS, TYPED, declarations, package
from tests.declarations import interfaces
from tests.declarations.values import DeclaredPackage
from tests.golden.cases import paged

FOLDER = Path(__file__).parents[1] / "data" / "published_api"
PLANS = (TENSORS, TYPED)


@dataclass(frozen=True, kw_only=True)
class PublishedApi:
    target: str
    revision: tuple[int, int]
    package: DeclaredPackage


def current() -> dict[str, PublishedApi]:
    """By target."""
    made = [package(language, PLANS) for language in ("Dart", "Kotlin", "Swift", "TypeScript")]
    targets = [(each.target, each) for each in (*made, paged(PACKAGE, Web(), PLANS))]
    return {
        target.NAME: PublishedApi(
            target=target.NAME,
            revision=target.REVISION,
            package=DeclaredPackage(language=target.LANGUAGE, declarations=declarations(target.LANGUAGE, each)),
        )
        for target, each in targets
    }


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
    for target, api in current().items():
        (FOLDER / f"{target}.json").write_bytes(TypeAdapter(PublishedApi).dump_json(api, indent=1) + b"\n")


if __name__ == "__main__":
    main()
