"""Makes JSON schemas in which docstrings describe the keys.

Pydantic can read docstrings by itself, but does so where a class is defined: a fifth of the time that a command takes
to start.
"""

import ast
import inspect
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from packager.core.names import kebab_case


def documented_schema(kind: type) -> dict[str, Any]:
    """JSON schema of a table; the docstring below a field describes its key."""
    return TypeAdapter(kind).json_schema(schema_generator=DocumentedSchema)


class DocumentedSchema(GenerateJsonSchema):
    """Describes each key by the docstring below its field."""

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _described(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _described(super().dataclass_schema(schema), schema["cls"])


def _described(table: JsonSchemaValue, kind: type) -> JsonSchemaValue:
    docstrings = {kebab_case(name): text for each in reversed(kind.__mro__) for name, text in _docstrings(each).items()}
    keys = {
        key: {**entry, "description": docstrings[key]} if key in docstrings else entry
        for key, entry in table.get("properties", {}).items()
    }
    return {**table, "properties": keys} if keys else table


def _docstrings(kind: type) -> Mapping[str, str]:
    """Field of a class -> the text below it."""
    with suppress(OSError, TypeError):  # the class has no source: Python's own, or one of `create_model`
        [body] = ast.parse(inspect.getsource(kind)).body
        assert isinstance(body, ast.ClassDef)
        return {
            field.target.id: inspect.cleandoc(text)
            for field, below in pairwise(body.body)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if isinstance(text := below.value.value, str)
        }
    return {}
