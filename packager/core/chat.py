"""A chat template as a table, and the prompt that it makes of a conversation: what every language does alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ROLES = {"system": "s", "user": "u", "assistant": "a"}
"""roles of messages, with their letters in keys"""
START, END = "^", "$"
"""stand in keys for what is before the first message and after the last one"""
BLANKS = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""what Python's `strip` takes away"""


@dataclass(frozen=True)
class Message:
    role: str
    """one of ROLES"""
    text: str


@dataclass(frozen=True, kw_only=True)
class ChatTemplate:
    """Pieces of a prompt: one for each message and one for the end, chosen by the roles near it.

    The key of a message is the letter of its role, with those of `before` messages before it and of `after` messages
    after it; `has_first` puts that of the conversation's first message ahead of all. The end has the key of a message
    with the role END.
    """

    before: int
    after: int
    has_first: bool
    pieces: Mapping[str, tuple[str, ...]]
    """by key: texts and, at each odd place, a slot: `m`, the text of the message itself, or `f`, that of the first one,
    and then marks: `<` without blanks at its start, `>` at its end, `[` and `]` without newlines there"""
    errors: Mapping[str, str] = field(default_factory=dict)
    """by key: what the template says against the roles"""
    refused: tuple[str, ...] = ()
    """texts that no message may have, because the template would act on them"""
    needs_text: bool = False
    """whether each message needs a character that is not blank"""


OUT_OF_ORDER = "the chat template does not take these roles in this order"


class ChatError(ValueError):
    """A conversation that the template does not take."""


def prompt(template: ChatTemplate, messages: Sequence[Message]) -> str:
    """The prompt that asks for the assistant's next message. Raises ChatError."""
    if not messages:
        raise ChatError("a conversation needs a message")
    for number, message in enumerate(messages, 1):
        if message.role not in ROLES:
            raise ChatError(f"message {number} has the role {message.role!r}, not one of {', '.join(ROLES)}")
        if template.needs_text and not message.text.strip(BLANKS):
            raise ChatError(f"message {number} has no text")
        for each in template.refused:
            if each in message.text:
                raise ChatError(f"message {number} has '{each}', which the chat template acts on")
    keys = keys_of(template, "".join(ROLES[each.role] for each in messages))
    parts: list[str] = []
    for place, key in enumerate(keys):
        if key not in template.pieces:
            raise ChatError(template.errors.get(key, OUT_OF_ORDER))
        for index, part in enumerate(template.pieces[key]):
            parts.append(_filled(part, messages[0 if part[0] == "f" else place].text) if index % 2 else part)
    return "".join(parts)


def keys_of(template: ChatTemplate, roles: str) -> list[str]:
    """Keys of the messages with these letters, and of the end."""
    padded = START * template.before + roles + END * (template.after + 1)
    first = roles[0] if template.has_first else ""
    width = template.before + 1 + template.after
    return [first + padded[place : place + width] for place in range(len(roles) + 1)]


def _filled(slot: str, text: str) -> str:
    text = text.lstrip(BLANKS) if "<" in slot else text.lstrip("\n") if "[" in slot else text
    return text.rstrip(BLANKS) if ">" in slot else text.rstrip("\n") if "]" in slot else text
