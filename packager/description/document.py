"""`api.json`: the description of a package as JSON, written into the package and read from anybody's."""

from packager.core import parsing
from packager.core.characters import to_json
from packager.core.described import API
from packager.core.errors import ConfigError
from packager.core.to_json import plain
from packager.description.api import PackageApi


def printed(api: PackageApi) -> str:
    """The description as JSON text; the same API gives the same text."""
    return to_json(plain(api), indent=1) + "\n"


def read(text: str, place: str) -> PackageApi:
    """The API in the text of an `api.json`. Raises ConfigError for another text, and for that of a newer mobpack;
    `place` names the package in messages."""
    from pydantic import TypeAdapter

    try:
        document = parsing.json_of(text)
        version = document.get("schema-version") if isinstance(document, dict) else None
        if isinstance(version, int) and version > PackageApi.schema_version:
            raise ConfigError(
                f"{place}: {API} has schema version {version}, and this mobpack reads {PackageApi.schema_version}",
                hint=f"use the mobpack that made it ({document.get('mobpack', 'a newer one')}) or a newer one",
            )
        return TypeAdapter(PackageApi).validate_python(document)
    except ValueError as error:
        raise ConfigError(f"{place}: {API} is not a description by mobpack", hint="build the packages again") from error
