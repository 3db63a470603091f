"""Names that platforms have already, and those of them that the lists lack."""

import re

from packager.core.class_names import class_name


def single_words(names: list[str]) -> set[str]:
    """Those that a model may well have: `Text`, but not `TextAreaElement`."""
    return {name for name in names if re.fullmatch("[A-Z][a-z]+", name)}


def missing(names: set[str]) -> set[str]:
    return {name for name in names if class_name(name) == name}
