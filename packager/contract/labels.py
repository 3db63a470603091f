"""The names of classes and the symbols of alphabets: text with one of them on each line."""

from dataclasses import dataclass
from pathlib import Path

from packager.core import characters, user_files
from packager.core.errors import ConfigError

LIMIT = 100_000
"""Lines at most: they travel in an app's code."""
LIMIT_BYTES = 8 * 2**20


@dataclass(frozen=True, kw_only=True)
class Lines:
    """What a text says, line by line, and where it is from."""

    texts: tuple[str, ...]
    source: str

    def stripped(self) -> tuple[str, ...]:
        return tuple(text.strip() for text in self.texts)


def labels_for(path: Path | None, count: int) -> tuple[str, ...]:
    """The names of `count` classes; none without a file. Raises ConfigError for a file with another number."""
    if path is None:
        return ()
    lines = read(path)
    if len(lines.texts) != count:
        less = "one is missing" if len(lines.texts) == count - 1 else "they have to be as many"
        raise ConfigError(
            f"{lines.source} has {len(lines.texts)} labels, the model {count} classes: {less}",
            hint="one label on each line, in the model's order, with one for a background class if it has one",
        )
    labels = lines.stripped()
    for number, label in enumerate(labels, 1):
        if character := characters.unseen(label):
            raise ConfigError(
                f"{lines.source}:{number}: {characters.in_words(character)} cannot stand in a label",
                hint="characters that show nothing, or turn others around, reach no package: take it out",
            )
    return labels


def read(path: Path) -> Lines:
    """The lines of a file in UTF-8. Raises ConfigError when there are none, too many, or it is no text."""
    try:
        content = user_files.read(path, limit_bytes=LIMIT_BYTES)
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: no such file", hint="paths are relative to mobpack.toml") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", hint="give a text with one label on each line") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8", hint="save it as text in UTF-8") from error
    return split(text, str(path))


def split(text: str, source: str) -> Lines:
    """The lines of `text`; blank ones at its end do not count. Raises ConfigError as `read`, with `source`."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ConfigError(f"{source}: empty", hint="one label on each line")
    if len(lines) > LIMIT:
        raise ConfigError(f"{source}: {len(lines):,} lines", hint=f"{LIMIT:,} at most: an app carries them in its code")
    for number, line in enumerate(lines, 1):
        if "\0" in line or "\r" in line:
            raise ConfigError(
                f"{source}:{number}: not a line of text", hint="save it as text in UTF-8 with one label on each line"
            )
    return Lines(texts=tuple(lines), source=source)
