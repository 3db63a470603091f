"""Keys of a project that name code to run; `--no-code` refuses them."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from packager.config import Config
from packager.core.errors import ConfigError
from packager.core.names import kebab_case
from packager.core.user_functions import is_function
from packager.quantizers import Recipe
from packager.workflows.importing.project import runs_code


def refuse_code(config: Config) -> None:
    """Raises ConfigError that names the key of the first function or program that the project would run."""
    for name, recipe in config.variant.items():
        refuse_functions(recipe, f"variant.{name}")
    for name, model in config.model.items():
        if runs_code(model.path, model.importer):
            raise refusal(f"model.{name}.path", f"'{model.path.name}', which can run code when it is loaded,")
    for name, program in config.parity.interpreters.items():
        raise refusal(f"parity.interpreters.{name}", f"the program '{program}'")


def refuse_functions(recipe: Recipe, where: str) -> None:
    """Raises ConfigError for a function in the quantizer of the table `where`."""
    refuse_texts(dict(_texts(recipe, where)))


def functions_of(config: Config) -> Iterator[str]:
    """Functions of the project that a build runs."""
    named = (text for name, recipe in config.variant.items() for _, text in _texts(recipe, f"variant.{name}"))
    yield from (text for text in named if is_function(text))


def refuse_texts(named: Mapping[str, str | None]) -> None:
    """Raises ConfigError for a function among the values of `named`, which maps keys to values."""
    for key, text in named.items():
        if text and is_function(text):
            raise refusal(key, f"the function '{text}'")


def refusal(key: str, what: str) -> ConfigError:
    return ConfigError(
        f"{key}: {what} is code of the project, which --no-code refuses to run",
        hint="review the code and omit --no-code, or use sample files and a built-in metric",
    )


def _texts(table: object, where: str) -> Iterator[tuple[str, str]]:
    """Every text in a table and its nested tables, with its key."""
    if not is_dataclass(table):
        return
    for field in fields(table):
        key, value = f"{where}.{kebab_case(field.name)}", getattr(table, field.name)
        if isinstance(value, str):
            yield key, value
        else:
            yield from _texts(value, key)
