"""Reads the chat template of a model, as Hugging Face's transformers find it, and the tokens that it writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packager.core import parsing, user_files
from packager.core.chat import ChatTemplate
from packager.core.errors import ConfigError

SETTINGS = "tokenizer_config.json"
TEMPLATE = "chat_template"
"""key of SETTINGS and of `chat_template.json`"""
DEFAULT = "default"
"""name of the template for conversations without tools, where a model has several"""
LIMIT_BYTES = 64 * 2**20


def read(file: Path, values: Mapping[str, object]) -> ChatTemplate:
    """The table of the template in `file`, which sees `values` and the tokens that `tokenizer_config.json` beside it
    names. Raises ConfigError."""
    from packager.contract.generation import conversation

    settings = _json(file.parent / SETTINGS) if (file.parent / SETTINGS).is_file() else {}
    named = {name: _content(token) for name, token in settings.items() if name.endswith("_token")}
    tokens = {name: token for name, token in named.items() if isinstance(token, str)}
    absent = [name for name, token in named.items() if token is None]
    return conversation.table_of(_source(file), {**tokens, **values}, absent=absent)


def _template_in(settings: Mapping[str, Any]) -> str:
    """The template of a file's content; empty if it has none."""
    found = settings.get(TEMPLATE)
    if isinstance(found, list):
        found = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
    if isinstance(found, dict):
        found = found.get(DEFAULT)
    return found if isinstance(found, str) else ""


def _source(file: Path) -> str:
    if file.suffix != ".json":
        return _text(file)
    found = _template_in(_json(file))
    if not found:
        raise ConfigError(f"{file} has no '{TEMPLATE}'", hint="name tokenizer_config.json, or chat_template.jinja")
    return found


def _content(token: object) -> object:
    return token.get("content") if isinstance(token, dict) else token


def _json(file: Path) -> Mapping[str, Any]:
    try:
        found = parsing.json_of(_text(file))
    except ValueError as error:
        raise ConfigError(f"{file} is no JSON: {error}", hint="download it again") from error
    return found if isinstance(found, dict) else {}


def _text(file: Path) -> str:
    try:
        return user_files.read_text(file, limit_bytes=LIMIT_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read ({error})", hint="name a chat template") from error
