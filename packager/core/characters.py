"""Characters that show nothing, or change the order in which others are shown: what is written holds none of them.

A name that somebody reads is then the name that a compiler reads (CVE-2021-42574), XML is XML, and a terminal is not
told what to do. Texts of a project with one are refused; what comes out of a model is shown with its number in place.

Joiners are different: Persian and the languages of India cannot be written without them, nor many emoji. Between two
characters beyond the Latin scripts they are allowed, and so are the tags of flags; both are written escaped.
"""

import json
import re
import unicodedata
from typing import Any

LATIN_END = "\\u0300"
"""Scripts that join, and emoji, lie behind it."""
UNSEEN = (
    "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f"
    "\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufdd0-\\ufdef\\ufeff\\uffa0\\ufff0-\\ufffb"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
    + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))
)
"""Controls but for tabs and line ends, what is ignored when shown (Unicode's Default_Ignorable_Code_Point, without
variation selectors), marks of direction, separators of lines, surrogates, and what will never be a character."""
ALL = re.compile(f"[{UNSEEN}]")
BETWEEN = f"(?<=[{LATIN_END}-\\U0010ffff])(?<![{UNSEEN}])[\\u200c\\u200d](?=[{LATIN_END}-\\U0010ffff])(?![{UNSEEN}])"
FLAG = "(?<=\\U0001f3f4)[\\U000e0020-\\U000e007e]+\\U000e007f"
FOUND = re.compile(f"(?P<fine>{BETWEEN}|{FLAG})|[{UNSEEN}]")
GAPS = re.compile(f"[\\s{UNSEEN}]+")
CONTROLS = "control character"


def unseen(text: str) -> str:
    """The first character of `text` that must not be in a text of a project; empty where there is none."""
    return next((found[0] for found in FOUND.finditer(text) if not found["fine"]), "")


def in_words(character: str) -> str:
    """`U+200B (zero width space)`."""
    return f"U+{ord(character):04X} ({unicodedata.name(character, CONTROLS).lower()})"


def shown(text: str) -> str:
    """Text for people: `\\u202e` in place of the character, and joiners where they belong as they are."""
    return FOUND.sub(lambda found: found[0] if found["fine"] else _code(found[0]), text)


def in_one_line(text: str) -> str:
    """Text for a comment: a space for every gap, and for whatever shows nothing."""
    return GAPS.sub(" ", text)


def in_markup(text: str) -> str:
    """Text for XML and HTML, after what else they want escaped: joiners as references, other characters as `shown`."""
    return ALL.sub(lambda found: f"&#x{ord(found[0]):X};", shown(text))


def to_json(
    document: Any, *, indent: int | None = None, separators: tuple[str, str] | None = None, allow_nan: bool = True
) -> str:
    """JSON in which such characters, and they alone, are escaped: the same values to whoever reads it."""
    text = json.dumps(document, indent=indent, separators=separators, ensure_ascii=False, allow_nan=allow_nan)
    return ALL.sub(lambda found: _utf_16(found[0]), text)


def toml_string(text: str) -> str:
    """A basic string of TOML, quotes included, in which they are escaped."""
    return ALL.sub(lambda found: _code(found[0]), json.dumps(text, ensure_ascii=False))


def _code(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def _utf_16(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 0x7F else f"\\u{ord(character):04x}"
