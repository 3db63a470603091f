"""Messages for users are short statements in plain words: `pytest -s tests/unit/test_messages.py` prints them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tests.cases.cli import options_of
from tests.cases.readings import Nodes, of_all_modules

ERRORS = ("ConfigError", "ModelError", "ToolError", "ParityError", "GateError", "InternalError", "SettingError")
PRINTED = ("warn", "say")
WITHOUT_HINT = ("verification/failures.py",)
"""This error never reaches the user: the report quotes its message."""
VALUE = "\N{HORIZONTAL ELLIPSIS}"
"""in place of a value that is known only at run time"""
PROPER_NAMES = (
    "ActiveKeyboards",
    "Keras",
    "LD_LIBRARY_PATH",
    "NVIDIA",
    "Node",
    "ONNX",
    "ORT",
    "Pillow",
    "PyTorch",
    "QNN",
    "S8S8",
    "Xcode",
)
CAMEL_CASE = re.compile(r"[A-Z]\w*[A-Z]")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z_-]*")
OPTIONS_OF_OTHERS = {"--build_java", "--force-reinstall", "--global", "--only-binary", "--stacktrace"}
"""options of ONNX Runtime's build, pip, npm and Gradle"""


@dataclass(frozen=True, kw_only=True)
class Message:
    place: str
    kind: str
    """class of the error, `warn`, `say`, `help` or `hint`"""
    text: str
    has_hint: bool = True

    def __str__(self) -> str:
        return f"{self.place} {self.kind}: {self.text}"


def text_of(node: ast.expr | None) -> str | None:
    """The text of a literal, with VALUE for its fields; None for an expression."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(part.value if isinstance(part, ast.Constant) else VALUE for part in values)  # type: ignore[misc]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return f"{text_of(left) or VALUE}{text_of(right) or VALUE}"
    return None


def collected(nodes: Nodes, place: str) -> Iterator[Message]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        keywords = {each.arg: each.value for each in node.keywords}
        at = f"{place}:{node.lineno}"
        if name in (*ERRORS, *PRINTED) and node.args:
            text = text_of(node.args[0])
            if text is not None:
                has_hint = "hint" in keywords or name in PRINTED or place in WITHOUT_HINT
                yield Message(place=at, kind=name, text=text, has_hint=has_hint)
        for key, kind in (("hint", "hint"), ("help", "help"), ("short_help", "help")):
            text = text_of(keywords.get(key))
            if text is not None and (kind == "hint" or name in ("option", "command")):
                yield Message(place=at, kind=kind, text=text)


@cache
def messages() -> tuple[Message, ...]:
    found = of_all_modules(lambda place, nodes: tuple(collected(nodes, place)))
    return tuple(each for of_one in found.values() for each in of_one)


def faults(message: Message) -> Iterator[str]:
    """Rules that the message breaks."""
    text, is_help = message.text, message.kind == "help"
    words = re.findall(r"[A-Za-z']+", re.sub(r"'[^']*'|`[^`]*`", "", text))
    if not text.strip(f" {VALUE}") and VALUE not in text:
        yield "is empty"
    if not is_help and is_capitalized(text):
        yield "begins with a capital letter"
    if is_help != text.endswith(".") and not text.endswith("..."):
        yield "lacks a full stop" if is_help else "ends with a full stop"
    if first := re.match(r"(all|as|of|those|what|whatever)\b", text, re.IGNORECASE):
        yield f"begins with '{first[1].lower()}'"
    if {"I", "we", "our", "ours", "us", "my"} & set(words):
        yield "is in the first person"
    if re.search(r"!(?!globally|no_ops)", text):
        yield "has an exclamation mark"
    if not message.has_hint and not text.endswith(f": {VALUE}"):  # such a reason says what to do
        yield "has no hint"


def is_capitalized(text: str) -> bool:
    """Whether the text begins like a sentence; names (`PyTorch`, `NVIDIA's`, `CFBundleVersion`) may begin it."""
    first = re.match(r"[A-Z]\w*", text)
    return bool(first) and not first[0].startswith(PROPER_NAMES) and not CAMEL_CASE.match(first[0])  # type: ignore[index]


def test_messages_are_plain_and_name_options_that_exist() -> None:
    for message in messages():
        print(message)
    assert len(messages()) > 900
    assert [f"{message} ({fault})" for message in messages() for fault in faults(message)] == []
    known = options_of() | OPTIONS_OF_OTHERS
    named = [(message, option) for message in messages() for option in OPTION.findall(message.text)]
    assert len(named) > 100
    assert [f"{message} ({option})" for message, option in named if option not in known] == []
