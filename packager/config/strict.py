"""Base of every table, and rules for the text in it."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from packager.core import names
from packager.core.errors import SettingError, nearest

Size = Annotated[int, Field(ge=0)]


class Strict(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=names.kebab_case,
    )


def one_of(known: Sequence[str], what: str) -> AfterValidator:
    def check(name: str) -> str:
        if name not in known:
            raise SettingError(f"unknown {what} '{name}'", hint=f"{nearest(name, known)}")
        return name

    return AfterValidator(check)


def matches(pattern: re.Pattern[str], rule: str) -> AfterValidator:
    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise SettingError(f"'{text}' is not allowed", hint=f"{rule}")
        return text

    return AfterValidator(check)
