"""Writes CycloneDX 1.6 as JSON: the same content gives the same bytes.

A document of 1.6 is one of 1.7 as well, but for the number of the version. There is no timestamp, and the serial number
is a hash of the content.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packager import __version__
from packager.core import licenses
from packager.core.characters import to_json
from packager.core.components import Component, purl

SPEC = "1.6"
Entry = dict[str, Any]
"""An object of the format"""


def document(
    package: Entry, components: Iterable[Entry], dependencies: Mapping[str, Iterable[str]], tools: Iterable[Entry]
) -> str:
    """The bill of `package`, an entry, as JSON text. `dependencies` maps references of entries to those that they
    need."""
    content: Entry = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": list(tools)},
            "component": package,
        },
        "components": list(components),
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(set(needed))} for reference, needed in sorted(dependencies.items())
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, to_json(content))
    head = {key: content.pop(key) for key in ("$schema", "bomFormat", "specVersion")}
    return to_json({**head, "serialNumber": f"urn:uuid:{serial}", **content}, indent=2) + "\n"


def component(part: Component, **more: Any) -> Entry:
    """The entry of a library or a package, with `more` keys."""
    return compact(
        {
            "type": "library",
            "bom-ref": reference(part),
            "group": part.group,
            "name": part.name,
            "version": part.version,
            "description": part.about,
            "scope": "optional" if part.is_optional else "required",
            "hashes": sha256(part.sha256),
            "licenses": license_choice(part.license),
            "purl": part.purl,
            "externalReferences": [{"type": "distribution", "url": part.address}] if part.address else [],
            "properties": properties({"allowed-versions": part.allowed}),
            **more,
        }
    )


def reference(part: Component) -> str:
    return part.purl or "/".join(each for each in (part.group, part.name, part.version) if each)


def tool(name: str, version: str, terms: str) -> Entry:
    """The entry of a Python package that took part in the build."""
    part = Component(name=name, version=version, purl=purl("pypi", name, version), license=terms)
    found = component(part, **{"type": "application", "bom-ref": f"tool:{name}"})
    del found["scope"]
    return found


def mobpack() -> Component:
    """The origin of generated code: classes, and what they share, are made of mobpack's own templates."""
    return Component(
        name="mobpack",
        version=__version__,
        purl=purl("pypi", "mobpack", __version__),
        license="Apache-2.0",
        about="the generated classes and the code that they share",
    )


def license_choice(text: str) -> list[Entry]:
    """Licences in CycloneDX: an identifier of SPDX's list, an expression, or a name for any other text; empty for
    none."""
    if not text:
        return []
    expression = licenses.normalized(text)
    if not expression:
        return [{"license": {"name": text}}]
    return [{"license": {"id": expression}}] if licenses.is_single(expression) else [{"expression": expression}]


def sha256(digest: str) -> list[Entry]:
    return [{"alg": "SHA-256", "content": digest}] if digest else []


def properties(found: Mapping[str, object]) -> list[Entry]:
    """Properties by name, without `mobpack:`; values other than texts become JSON, empty ones are left out."""
    return [
        {"name": f"mobpack:{name}", "value": value if isinstance(value, str) else to_json(value)}
        for name, value in found.items()
        if value not in ("", None, (), [], {})
    ]


def compact(entry: Mapping[str, Any]) -> Entry:
    """`entry` without empty values: the format knows no other absence."""
    return dict(_filled(entry))


def _filled(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in entry.items():
        if value not in ("", None, [], {}, ()):
            yield key, value
