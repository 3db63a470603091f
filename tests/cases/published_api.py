"""Public declarations in packages of the last published mobpack, by target: they say how the REVISION of a target must
be raised. `python -m tests.cases.published_api` writes them when mobpack is published; before, there are none."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from packager.targets.cpp import Cpp
from packager.targets.jvm import Jvm
from packager.targets.node import Node
from packager.targets.python import Python
from packager.targets.web import Web
from tests.cases.differences_cases import PACKAGE, TENSORS, TYPED, package, texts_of
from tests.golden.cases import Wheel, paged

FOLDER = Path(__file__).parents[1] / "data" / "published_api"
UP_TO_A_BODY = r"(?:[^()\n={;]|\((?:[^()]|\([^()]*\))*\))*"
DECLARATIONS = {
    "Dart": (".dart", rf"^(?: {{0,2}})(?!//|import |export |part |return )[A-Za-z@]{UP_TO_A_BODY}"),
    "C++": (".h", r"^(?:struct |class |enum class |using |  [A-Za-z][^/]*\()[^{;]*"),
    "Python": (".py", r"^(?:class |    (?:async )?def |    [A-Za-z]\w*: ).*"),
    "Kotlin": (".kt", rf"^ *public {UP_TO_A_BODY}"),
    "Kotlin and Java": (".kt", rf"^ *public {UP_TO_A_BODY}"),
    "Swift": (".swift", rf"^ *(?:public|case) {UP_TO_A_BODY}"),
    "TypeScript": (".d.ts", r"^ *[^\s*/].*"),
}
"""End of a file's name, and a pattern of its public declarations, which may find a few more."""


class Published(NamedTuple):
    revision: tuple[int, int]
    declarations: set[str]


def current() -> dict[str, Published]:
    """By target."""
    plans = (TENSORS, TYPED)
    made = [package(language, plans) for language in ("Dart", "Kotlin", "Swift", "TypeScript")]
    computers = [Wheel(package=PACKAGE, target=target, plans=plans) for target in (Python(), Cpp(), Jvm(), Node())]
    targets = [(each.target, each) for each in (*made, paged(PACKAGE, Web(), plans), *computers)]
    return {
        target.NAME: Published(target.REVISION, declarations(target.LANGUAGE.name, texts_of(each.sources())))
        for target, each in targets
    }


def declarations(language: str, texts: Mapping[str, str]) -> set[str]:
    end, pattern = DECLARATIONS[language]
    found = (
        " ".join(each.split())
        for path, text in texts.items()
        if path.endswith(end)
        for each in re.findall(pattern, text, re.MULTILINE)
    )
    return {each for each in found if not re.search(r"(?:^|\W)_", each)}


def is_raised(published: Published, now: Published) -> bool:
    """Whether the revision says what has changed since: a declaration that is gone is a major change."""
    first, second = published.revision
    if published.declarations - now.declarations:
        return now.revision >= (first + 1, 0)
    return now.revision >= (first, second + bool(now.declarations - published.declarations))


def published() -> dict[str, Published]:
    return {path.stem: TypeAdapter(Published).validate_json(path.read_bytes()) for path in FOLDER.glob("*.json")}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for target, api in current().items():
        sorted_api = (api.revision, sorted(api.declarations))
        (FOLDER / f"{target}.json").write_bytes(TypeAdapter(object).dump_json(sorted_api, indent=1) + b"\n")


if __name__ == "__main__":
    main()
