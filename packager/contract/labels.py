"""Labels of classes and symbols of alphabets, in text files with one entry per line; names in a table."""

from dataclasses import dataclass
from pathlib import Path

from packager.core import characters, user_files
from packager.core.errors import ConfigError, SettingError

LIMIT = 100_000
"""largest number of lines: they become part of an app's code"""
LIMIT_BYTES = 8 * 2**20


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Lines of a text, and its source."""

    texts: tuple[str, ...]
    source: str

    def stripped(self) -> tuple[str, ...]:
        return tuple(text.strip() for text in self.texts)


def refuse_names(names: tuple[str, ...], *, hint: str) -> None:
    """Raises SettingError for no names, and for names that are blank or occur twice."""
    if not names or len(set(names)) < len(names) or not all(map(str.strip, names)):
        raise SettingError("names must be texts that differ from each other", hint=hint)
    refuse_lines(names, "names")


def refuse_lines(texts: tuple[str, ...], key: str) -> None:
    """Raises SettingError for a text of several lines or with a tab."""
    if found := next((text for text in texts if not set(text).isdisjoint("\t\n\r")), ""):
        raise SettingError(f"{key}: {found!r} is not one line", hint="remove the line breaks and tabs")


def labels_for(path: Path | None, count: int) -> tuple[str, ...]:
    """The labels of `count` classes; none without a file. Raises ConfigError for a file with another number of
    lines."""
    if path is None:
        return ()
    lines = read(path)
    if len(lines.texts) != count:
        less = "one is missing" if len(lines.texts) == count - 1 else "they have to be as many"
        raise ConfigError(
            f"{lines.source} has {len(lines.texts)} labels, but the model has {count} classes: {less}",
            hint="write one label per line, in the model's order, including a background class if the model has one",
        )
    labels = lines.stripped()
    for number, label in enumerate(labels, 1):
        if character := characters.unseen(label):
            raise ConfigError(
                f"{lines.source}:{number}: {characters.in_words(character)} is not allowed in a label",
                hint="remove it: packages contain no invisible or text-reversing characters",
            )
    return labels


def read(path: Path) -> Lines:
    """The lines of a file in UTF-8. Raises ConfigError if it is empty, too long, or not a text."""
    try:
        content = user_files.read(path, limit_bytes=LIMIT_BYTES)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint="paths are relative to mobpack.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint="use a text file with one label per line") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8", hint="save the file as UTF-8") from error
    return split(text, str(path))


def split(text: str, source: str) -> Lines:
    """The lines of `text` without trailing blank ones. Raises ConfigError as `read` does, naming `source`."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ConfigError(f"{source}: the file is empty", hint="write one label per line")
    if len(lines) > LIMIT:
        raise ConfigError(
            f"{source}: {len(lines):,} lines", hint=f"use at most {LIMIT:,}: they become part of an app's code"
        )
    for number, line in enumerate(lines, 1):
        if "\0" in line or "\r" in line:
            raise ConfigError(
                f"{source}:{number}: not a line of text", hint="save the file as UTF-8 with one label per line"
            )
    return Lines(texts=tuple(lines), source=source)
