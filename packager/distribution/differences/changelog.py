"""Entries of a changelog, in the form of keepachangelog.com 1.1.0: newest first, a heading for each version."""

import re
from collections.abc import Iterator

from packager.distribution.differences.values import ORDER, Comparison, Level

TITLE = "# Changelog\n"
HEADING = re.compile(r"^## +\[?(?P<version>[^\]\s]+)\]?[^\n]*$", re.MULTILINE)
UNRELEASED = "unreleased"
TITLES = {
    Level.MAJOR: "Breaking changes",
    Level.MINOR: "New",
    Level.PATCH: "Other changes",
}


def has_entry(text: str, version: str) -> bool:
    """Whether a changelog has a heading for `version`."""
    return any(found["version"] == version for found in HEADING.finditer(text))


def with_entry(text: str, version: str, day: str, found: Comparison | None) -> str:
    """The changelog with an entry for `version`, released on `day` (ISO 8601). What stands below the heading
    `Unreleased` becomes part of the entry. `found` has the changes; None for a first release. Lines end as they did.
    """
    if "\r\n" in text:
        return with_entry(text.replace("\r\n", "\n"), version, day, found).replace("\n", "\r\n")
    text = text if text.strip() else TITLE
    headings = list(HEADING.finditer(text))
    first = headings[0] if headings else None
    begin = first.start() if first else len(text)
    written = ""
    if first and first["version"].lower() == UNRELEASED:
        end = headings[1].start() if len(headings) > 1 else len(text)
        written, rest = text[first.end() : end].strip("\n"), text[end:]
    else:
        rest = text[begin:]
    parts = [f"## {version} - {day}", *([written] if written else []), *_changes(found)]
    before = text[:begin].rstrip("\n")
    return "\n\n".join([*([before] if before else []), *parts, *([rest.strip("\n")] if rest.strip() else [])]) + "\n"


def _changes(found: Comparison | None) -> Iterator[str]:
    if found is None:
        yield "First release."
        return
    changes = [each for each in found.changes if not each.is_internal]
    for level in ORDER:
        lines = [f"- {each.where}: {each.change}" for each in changes if each.level is level]
        if lines:
            yield f"### {TITLES[level]}"
            yield "\n".join(lines)
    if not changes:
        yield "The packages are as they were."
