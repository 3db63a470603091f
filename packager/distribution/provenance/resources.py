"""Entries of a lock as resource descriptors of in-toto, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from packager.core.parsing import Json
from packager.distribution.locking import Facts, Lock
from packager.distribution.locking.lock import (
    BUILD,
    DIR_HASH,
    ENVIRONMENT,
    FILE,
    MACHINE,
    PINNED,
    PYTHON,
    RUNTIME,
    WORDS,
)

TOOL = "mobpack"
DEPENDENCIES = (PYTHON, RUNTIME, PINNED, FILE)
"""Tables whose entries a build resolves; mobpack itself is one, too."""
STATES = (MACHINE, ENVIRONMENT)
"""Tables that say how the machine was."""
DIGESTS = {"sha256": "sha256", DIR_HASH: "dirHash"}
"""Fact of a lock -> in-toto's name of the digest."""
KIND = "mobpack.kind"


def dependencies(lock: Lock) -> list[dict[str, Any]]:
    """Descriptors of mobpack, Python packages, runtimes, tools and files, sorted by kind and name."""
    own = _descriptor(TOOL, TOOL, {"origin": f"pypi:{TOOL}@{lock.facts(BUILD, TOOL)['version']}", **_own(lock)})
    return [own, *_descriptors(lock)]


def _own(lock: Lock) -> Facts:
    return {DIR_HASH: lock.facts(BUILD, TOOL)[DIR_HASH]}


def _descriptors(lock: Lock) -> Iterator[dict[str, Any]]:
    for table in DEPENDENCIES:
        for name, facts in sorted(lock.tables.get(table, {}).items()):
            yield _descriptor(table, name, facts)


def _descriptor(kind: str, name: str, facts: Facts) -> dict[str, Any]:
    place = uri(facts)
    digest = {DIGESTS[key]: value for key, value in facts.items() if key in DIGESTS}
    rest = {key: value for key, value in facts.items() if key not in DIGESTS}
    return {
        "name": name,
        **({"uri": place} if place else {}),
        **({"digest": digest} if digest else {}),
        "annotations": {KIND: kind, **rest},
    }


def uri(facts: Facts) -> str:
    """Package URL of a thing; empty for a file of the project."""
    if "origin" in facts:
        registry, _, rest = str(facts["origin"]).partition(":")
        name, _, version = rest.rpartition("@")
        if registry == "debian":
            query = f"?arch={facts['architecture']}" if "architecture" in facts else ""
            return f"pkg:deb/debian/{quote(name, safe='')}@{quote(version, safe='')}{query}"
        return f"pkg:{registry}/{quote(name, safe='/')}@{quote(version, safe='')}"
    if "value" not in facts:
        return ""
    group, *more = str(facts["value"]).split(":")
    if len(more) == 2:
        return f"pkg:maven/{quote(group)}/{quote(more[0])}@{quote(more[1], safe='')}"
    name, _, version = str(facts["value"]).partition(" ")
    return f"pkg:generic/{quote(name, safe='')}@{quote(version, safe='')}"


def states(lock: Lock) -> dict[str, dict[str, str | int]]:
    """The machine and its environments: name -> value."""
    return {
        table: {name: facts["value"] for name, facts in sorted(lock.tables.get(table, {}).items())} for table in STATES
    }


def lock_of(found: Sequence[Json], machine: Mapping[str, Mapping[str, str | int]]) -> Lock:
    """The lock that descriptors and states were made of, without options. Raises KeyError and TypeError for others."""
    names = {digest: key for key, digest in DIGESTS.items()}
    tables: dict[str, dict[str, Facts]] = {
        table: {name: {"value": value} for name, value in entries.items()}
        for table, entries in machine.items()
        if entries
    }
    for each in found:
        notes = {key: value for key, value in each["annotations"].items() if key != KIND}
        facts = {**notes, **{names[key]: value for key, value in each.get("digest", {}).items()}}
        kind = each["annotations"][KIND]
        if kind == TOOL:
            version = notes["origin"].rpartition("@")[2]
            tables[BUILD] = {TOOL: {"version": version, DIR_HASH: facts[DIR_HASH]}}
        else:
            tables.setdefault(kind, {})[each["name"]] = facts
    if unknown := tables.keys() - WORDS.keys():
        raise KeyError(f"unknown kind {min(unknown)}")
    return Lock(tables=tables)
