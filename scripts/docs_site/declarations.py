"""The public declarations of generated Kotlin, Swift and TypeScript, without what they do.

Generated code is formatted: a declaration ends where its indentation does, so no grammar is needed.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scripts.docs_site.comments import markdown

TYPE = re.compile(
    r"(?:[a-z@][\w@]*(?:\(\w+\))? )*?(?:class|struct|enum class|enum|interface|companion object|protocol|extension)\b"
    r" ?(?P<name>[A-Z]\w*)?(?=[\s(:<{]|$)"
)
GOES_ON = re.compile(r" |[)}\]]|$")
"""A line that belongs to what began before it."""

ATTRIBUTE = re.compile(r"@\w+(\(.*\))?")
ATTRIBUTES = re.compile(rf"^(?:{ATTRIBUTE.pattern}\n)+")
NAMED = re.compile(r"(?:const|function|type) (\w+)")
BRACE = re.compile(r"\s*\{")
HIDDEN = re.compile(r" (?:private|internal) constructor")
AFTER_BRACKET = re.compile(r"(?<=\))")


@dataclass(frozen=True, kw_only=True)
class Language:
    name: str
    outer: re.Pattern[str]
    """Patterns of the first lines of public declarations in a file."""
    inner: re.Pattern[str]
    """The same within a type; the group `entry` is the whole declaration."""
    body: re.Pattern[str]
    """Pattern of the beginning of a body."""


KOTLIN = Language(
    name="kotlin",
    outer=re.compile("public "),
    inner=re.compile(r"public |override |(?P<entry>[A-Z][A-Z0-9_]*)\b"),
    body=re.compile(r"\s*\{|\s=\s|\s+get\(\)"),
)
SWIFT = Language(
    name="swift",
    outer=re.compile(r"public |extension "),
    inner=re.compile(r"public |case "),
    body=re.compile(r"\s*\{|\s=\s"),
)
TYPESCRIPT = Language(
    name="typescript",
    outer=re.compile(r"export (?!\{|\*|type \{)"),
    inner=re.compile(r"(?!private )"),
    body=re.compile(r"(?!)"),  # its .d.ts files have none
)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    code: str
    text: str
    """Its comment, in Markdown."""
    name: str = ""
    """Empty for members, and for Kotlin's companion objects."""
    is_type: bool = False
    is_extension: bool = False
    """Whether the type that it names is declared elsewhere."""
    members: tuple["Declaration", ...] = ()


def declarations(source: str, language: Language) -> list[Declaration]:
    return list(_within(source.splitlines(), language, language.outer))


def _within(lines: Sequence[str], language: Language, begins: re.Pattern[str]) -> Iterator[Declaration]:
    """Declarations of `lines`, which are not indented."""
    comment = ""
    place = 0
    while place < len(lines):
        end = _end(lines, place)
        block, place = lines[place:end], end
        first = next((line for line in block if not ATTRIBUTE.fullmatch(line)), "")
        if block[0].startswith(("///", "/**")):
            comment = "\n".join(block)
        elif block[0]:
            if found := begins.match(first):
                entry = found.groupdict().get("entry")
                yield Declaration(code=entry, text=markdown(comment)) if entry else _declared(block, comment, language)
            comment = ""


def _end(lines: Sequence[str], start: int) -> int:
    """The line behind the block at `start`: a comment, a declaration with its attributes, or a blank line."""
    end = start + 1
    if lines[start].startswith("///"):
        while lines[end].startswith("///"):
            end += 1
    elif lines[start].startswith("/**"):
        while "*/" not in lines[end - 1]:
            end += 1
    elif lines[start]:
        while ATTRIBUTE.fullmatch(lines[end - 1]):
            end += 1
        while end < len(lines) and GOES_ON.match(lines[end]):
            end += 1
    return end


def _declared(block: Sequence[str], comment: str, language: Language) -> Declaration:
    text = "\n".join(block).strip()
    found = TYPE.match(ATTRIBUTES.sub("", text))
    if not found:
        code = _shown(_head(text, language.body))
        named = NAMED.match(code)
        return Declaration(code=code, text=markdown(comment), name=named[1] if named else "")
    head = _head(text, BRACE)
    inner = textwrap.dedent(text[len(head) :].strip().removeprefix("{").removesuffix("}").strip("\n"))
    return Declaration(
        code=_shown(_without_hidden_constructor(head)),
        text=markdown(comment),
        name=found["name"] or "",
        is_type=True,
        is_extension=found[0].startswith("extension"),
        members=tuple(_within(inner.splitlines(), language, language.inner)),
    )


def _head(text: str, body: re.Pattern[str]) -> str:
    """The part of a declaration before its body; brackets are skipped in the search for the body."""
    depth = 0
    for place, letter in enumerate(text):
        if depth == 0 and body.match(text, place):
            return text[:place]
        depth += (letter in "([") - (letter in ")]")
    return text


def _without_hidden_constructor(head: str) -> str:
    """Apps call neither a private constructor nor an internal one."""
    found = HIDDEN.search(head)
    if not found:
        return head
    rest = head[found.end() :]
    return head[: found.start()] + rest[len(_head(rest, AFTER_BRACKET)) :]


def _shown(code: str) -> str:
    """The declaration without modifiers that everything here has."""
    return re.sub(r"^(?:export (?:declare )?|public )", "", code, flags=re.MULTILINE)
