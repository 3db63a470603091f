"""Packages before and after a change, as compilers of apps see them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from packager.distribution.differences import Change, Level, interfaces
from packager.distribution.differences.values import heaviest
from packager.targets.android import Android
from tests.cases.differences_cases import ANDROID, Changed, changed, kotlin_texts

OLD = ("given", "typed")

NEW_PROVIDER = kotlin_texts(replace(ANDROID, target=Android(providers=("xnnpack",))))["com/example/changes/Provider.kt"]


def says_breaking(language: str, each: Changed) -> bool:
    of_all = changed(language)
    return is_major(interfaces.changes(of_all[each.of], of_all[each.name]))


def is_major(found: Iterable[Change]) -> bool:
    return heaviest(*(each.level for each in found)) is Level.MAJOR


def files_with_errors(output: str) -> set[str]:
    return {Path(name).stem for name in re.findall(r"^(\S+?\.(?:kt|ts|swift))[:(]\d+.*error", output, re.MULTILINE)}


def write(texts: Mapping[str, str], folder: Path) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
