"""JSON objects with their places in a file, which errors name."""

from pathlib import Path
from typing import Any

from packager.core import parsing
from packager.core.errors import ConfigError
from packager.core.parsing import Json

UNSUPPORTED = 'use another tokenizer, or tokenize in the app and pass numbers: kind = "tensor"'
REQUIRED = object()


class Part:
    """A JSON object with its place in the file, which errors name."""

    def __init__(self, place: str, value: Json) -> None:
        self.place = place
        self.value = value

    @classmethod
    def whole(cls, path: Path, content: str) -> "Part":
        try:
            value = parsing.json_of(content)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: not JSON: {error}", hint="download or save the file again") from error
        if not isinstance(value, dict) or not isinstance(value.get("model"), dict):
            raise ConfigError(
                f"{path}: no tokenizer: it has no 'model'",
                hint="use tokenizer.json, which save_pretrained() of transformers writes",
            )
        return cls(str(path), value)

    @classmethod
    def having(cls, path: Path, content: str, key: str) -> "Part | None":
        """The object of a file without a model that has `key`; None for another file."""
        try:
            value = parsing.json_of(content)
        except (ValueError, RecursionError):
            return None
        return cls(str(path), value) if isinstance(value, dict) and key in value and "model" not in value else None

    def get(self, key: str, kind: type, default: Any = REQUIRED) -> Any:
        """The value at `key`, of type `kind`; `default` if it is absent or null. Raises ConfigError."""
        value = self.value.get(key)
        if value is None and default is not REQUIRED:
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ConfigError(
                f"{self.place}: '{key}' is {'missing' if value is None else 'not ' + kind.__name__}",
                hint="save the tokenizer again with a current version of tokenizers",
            )
        return value

    def part(self, key: str) -> "Part | None":
        value = self.get(key, dict, None)
        return None if value is None else Part(f"{self.place}: {key}", value)

    def parts(self, key: str) -> "list[Part]":
        found = self.get(key, list, [])
        return [Part(f"{self.place}: {key} {number}", self._object(each, key)) for number, each in enumerate(found)]

    def _object(self, value: Any, key: str) -> Json:
        if not isinstance(value, dict):
            raise ConfigError(
                f"{self.place}: an entry of '{key}' is not an object", hint="download or save the file again"
            )
        return value

    @property
    def type(self) -> str:
        return str(self.get("type", str, ""))

    def unsupported(self, words: str = "") -> ConfigError:
        return ConfigError(f"{self.place}: {words or repr(self.type)} is not supported", hint=UNSUPPORTED)
