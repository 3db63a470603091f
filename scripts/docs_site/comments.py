"""Comments of Kotlin, Swift and TypeScript as Markdown."""

import re

MARKERS = re.compile(r"^ *(?:/\*\*|///|\*/|\*)? ?|\s*\*/$", re.MULTILINE)
CODE = r"(?P<code>```.*?```|(?<!`)`[^`\n]+`(?!`))"
REFERENCE = re.compile(CODE + r"|``(\S+?)``|\{@link ([\w.]+)\}|\[([\w.]+)\](?!\()", re.DOTALL)
"""Code, which stays as it is, or the name of a declaration in the words of Swift, TypeScript or Kotlin."""
TAG = re.compile(r"^@(throws|param) ([\w.]+):?(?: - )?", re.MULTILINE)
ITEM = re.compile(r"^( *)- ", re.MULTILINE)


def markdown(comment: str) -> str:
    text = REFERENCE.sub(in_code, MARKERS.sub("", comment).strip())
    paragraphs, *tagged = re.split(r"^(?=@)", text, flags=re.MULTILINE)
    tags = [TAG.sub(item, each).strip().replace("\n", "\n    ") for each in tagged]
    return "\n\n".join(filter(None, (spread(paragraphs).strip(), "\n".join(tags))))


def in_code(found: re.Match[str]) -> str:
    return found["code"] or f"`{found[2] or found[3] or found[4]}`"


def item(found: re.Match[str]) -> str:
    return f"- {'Throws ' if found[1] == 'throws' else ''}`{found[2]}`:"


def spread(text: str) -> str:
    """Lists that are indented by two blanks, as Markdown's four."""
    first = ITEM.search(text)
    start = first.start() if first else len(text)
    return text[:start] + re.sub(r"^ +", lambda blanks: blanks[0] * 2, text[start:], flags=re.MULTILINE)
