"""Classes of models: one name in every language, which no platform has already."""

import re

from packager.core.class_names import class_name


def single_words(names: list[str]) -> set[str]:
    """Those that a model may well have: `Text`, but not `TextAreaElement`."""
    return {name for name in names if re.fullmatch("[A-Z][a-z]+", name)}


def missing(names: set[str]) -> set[str]:
    return {name for name in names if class_name(name) == name}
