"""Finds characters that are invisible or reorder their neighbours; nothing that mobpack writes contains one.

A reviewer then reads the same name as the compiler (CVE-2021-42574), XML stays well-formed, and a terminal receives no
control sequences. Texts of a project with such a character are rejected; names that come from a model are printed with
the character's code point instead.

Joiners are different: Persian, the languages of India and many emoji need them. They are allowed between two characters
beyond the Latin scripts, as are the tags of flags; both are written escaped.
"""

import json
import re
import unicodedata
from functools import cache
from typing import Any

LATIN_END = "\\u0300"
"""Start of the code points beyond Latin: scripts that join, and emoji, are above it."""
UNSEEN = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufdd0-\\ufdef\\ufeff\\uffa0\\ufff0-\\ufffb"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))
)
"""Control characters except tabs and line ends, Unicode's Default_Ignorable_Code_Point without variation selectors,
direction marks, line separators, surrogates and noncharacters."""
CONTROL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]")
"""Control characters in ASCII, which is all that most texts consist of."""
BETWEEN = f"(?<=[{LATIN_END}-\\U0010ffff])(?<![{UNSEEN}])[\\u200c\\u200d](?=[{LATIN_END}-\\U0010ffff])(?![{UNSEEN}])"
FLAG = "(?<=\\U0001f3f4)[\\U000e0020-\\U000e007e]+\\U000e007f"
CONTROLS = "control character"


@cache
def any_unseen() -> re.Pattern[str]:
    """Finds each of them. Compiled when it is needed, which takes longer than to start a command."""
    return re.compile(f"[{UNSEEN}]")


@cache
def _found() -> re.Pattern[str]:
    """Like `any_unseen`, with the group `fine` for those that are where they belong."""
    return re.compile(f"(?P<fine>{BETWEEN}|{FLAG})|[{UNSEEN}]")


@cache
def _gaps() -> re.Pattern[str]:
    return re.compile(f"[\\s{UNSEEN}]+")


def _is_plain(text: str) -> bool:
    """Whether `text` is ASCII without any of them."""
    return text.isascii() and not CONTROL.search(text)


def unseen(text: str) -> str:
    """The first character of `text` that a project's text must not contain; empty if there is none."""
    if _is_plain(text):
        return ""
    return next((found[0] for found in _found().finditer(text) if not found["fine"]), "")


def in_words(character: str) -> str:
    """Code point and name: `U+200B (zero width space)`."""
    return f"U+{ord(character):04X} ({unicodedata.name(character, CONTROLS).lower()})"


def shown(text: str) -> str:
    """Text to display: `\\u202e` in place of the character; joiners stay where they belong."""
    if _is_plain(text):
        return text
    return _found().sub(lambda found: found[0] if found["fine"] else _code(found[0]), text)


def in_one_line(text: str) -> str:
    """Text for a comment: each run of white space and each invisible character becomes one space."""
    return _gaps().sub(" ", text)


def in_markup(text: str) -> str:
    """Text for XML and HTML that is already escaped: joiners become character references, others are written as by
    `shown`."""
    return any_unseen().sub(lambda found: f"&#x{ord(found[0]):X};", shown(text))


def to_json(
    document: Any, *, indent: int | None = None, separators: tuple[str, str] | None = None, allow_nan: bool = True
) -> str:
    """JSON with exactly these characters escaped: it parses to the same values."""
    text = json.dumps(document, indent=indent, separators=separators, ensure_ascii=False, allow_nan=allow_nan)
    if _is_plain(text):
        return text
    return any_unseen().sub(lambda found: _utf_16(found[0]), text)


def toml_string(text: str) -> str:
    """A basic string of TOML, quotes included, with these characters escaped."""
    return any_unseen().sub(lambda found: _code(found[0]), json.dumps(text, ensure_ascii=False))


def _code(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def _utf_16(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 0x7F else f"\\u{ord(character):04x}"
