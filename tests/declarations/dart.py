"""Declarations that the library of a pub package exports, read from its sources."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tests.declarations.tokens import Reader, Token, joined, split, tokens
from tests.declarations.values import Declaration, Parameter

TYPES = ("class", "enum", "extension", "mixin")
HERITAGE = ("extends", "implements", "with", "on")
MODIFIERS = frozenset(
    "abstract base const covariant external factory final interface late sealed static var class".split()
)
COUNTED = frozenset({"abstract", "sealed", "static"})
"""modifiers that end the compilation of code that used the declaration without them, or with them"""
BRACKETS = {"(": ")", "[": "]", "{": "}"}
BODIES = ("{", "=>", "=", ":")
"""beginnings of what follows the head of a declaration"""
AFTER_VALUES = (";", ",", ".", ")", "]", "?", ":")
"""tokens after a `}` that ends no declaration"""
QUOTE = re.compile(r"r?('''|\"\"\"|'|\")")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def declarations(texts: Mapping[str, str], library: str) -> tuple[Declaration, ...]:
    """Of `library`, a path in `texts`, including those of the files that it exports."""
    found: dict[str, Declaration] = {}
    for path, shown, hidden in _exported(library, texts, ()):
        for each in _file(texts.get(path, "")):
            top = each.path.partition(".")[0]
            if (shown is None or top in shown) and top not in hidden:
                found.setdefault(f"{each.path} {each.kind}", each)
    return tuple(found[key] for key in sorted(found))


def _exported(
    path: str, texts: Mapping[str, str], seen: tuple[str, ...]
) -> Iterator[tuple[str, frozenset[str] | None, frozenset[str]]]:
    """Path of each file, the names that are exported of it (None for all), and those that are not."""
    yield path, None, frozenset()
    for statement in _statements(_tokens(texts.get(path, ""))):
        if not statement or statement[0].text != "export" or path in seen:
            continue
        words = [each.text for each in statement]
        other = posixpath.normpath(posixpath.join(posixpath.dirname(path), words[1].strip("'\"")))
        shown, hidden = _listed(words, "show"), _listed(words, "hide")
        for place, inner_shown, inner_hidden in _exported(other, texts, (*seen, path)):
            both = shown if inner_shown is None else inner_shown if shown is None else shown & inner_shown
            yield place, both, inner_hidden | (hidden or frozenset())


def _listed(words: Sequence[str], keyword: str) -> frozenset[str] | None:
    """Names after `show` or `hide`; None without the keyword."""
    if keyword not in words:
        return None
    names = []
    for word in words[words.index(keyword) + 1 :]:
        if word in ("show", "hide"):
            break
        names.append(word)
    return frozenset(names) - {",", ";"}


def _file(source: str) -> Iterator[Declaration]:
    for statement in _statements(_tokens(source)):
        yield from _declared(statement, "", {})


def _tokens(source: str) -> list[Token]:
    return tokens(_without_interpolation(source))


def _without_interpolation(source: str) -> str:
    """`source` with the strings that have `${...}` in them emptied: what is inside may be strings again."""
    made, at = [], 0
    while at < len(source):
        quote = QUOTE.match(source, at)
        comment = COMMENT.match(source, at)
        end = _end_of_text(source, quote) if quote else comment.end() if comment else at + 1
        text = source[at:end]
        made.append("''" if quote and ("${" in text or len(quote[1]) == 3) else "" if comment else text)
        at = end
    return "".join(made)


def _end_of_text(source: str, quote: re.Match[str]) -> int:
    """Where a string ends."""
    at, is_raw = quote.end(), quote[0].startswith("r")
    while at < len(source) and not source.startswith(quote[1], at):
        if source[at] == "\\" and not is_raw:
            at += 2
        elif source.startswith("${", at) and not is_raw:
            at = _end_of_expression(source, at + 2)
        else:
            at += 1
    return at + len(quote[1])


def _end_of_expression(source: str, at: int) -> int:
    depth = 1
    while at < len(source) and depth:
        if quote := QUOTE.match(source, at):
            at = _end_of_text(source, quote)
            continue
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return at


def _statements(found: Sequence[Token]) -> Iterator[list[Token]]:
    """Declarations: each ends with a `;`, or with the `}` of its body."""
    depth, start = 0, 0
    for index, each in enumerate(found):
        depth += (each.text in BRACKETS) - (each.text in BRACKETS.values())
        following = found[index + 1].text if index + 1 < len(found) else ""
        is_body = each.text == "}" and following not in AFTER_VALUES
        if depth == 0 and (each.text == ";" or is_body):
            yield list(found[start : index + 1])
            start = index + 1


def _declared(statement: Sequence[Token], container: str, fields: Mapping[str, str]) -> Iterator[Declaration]:
    reader = Reader(statement)
    while reader.took("@"):
        reader.take()
        while reader.text in ("<", "("):
            reader.skip()
    traits: set[str] = set()
    while reader.text in MODIFIERS and reader.text not in TYPES:
        traits.add(reader.take())
    if reader.text in TYPES and not container:
        yield from _type(reader, traits)
        return
    if reader.text in ("import", "export", "library", "part"):
        return
    if reader.took("typedef"):
        name, _, generics = joined(reader.until("=")).partition("<")
        reader.took("=")
        yield from _public(
            Declaration(container="", name=name, kind="alias", type=generics + joined(reader.until(";")))
        )
        return
    made = _member(_head(statement[reader.at :]), container, traits, fields)
    if made is not None:
        yield from _public(made)


def _public(declared: Declaration) -> Iterator[Declaration]:
    if not declared.name.startswith("_"):
        yield declared


def _head(found: Sequence[Token]) -> list[Token]:
    """All before a body, initializers or a value."""
    depth = 0
    for index, each in enumerate(found):
        if depth == 0 and (each.text in BODIES or each.text == ";"):
            return _without_async(found[:index])
        depth += (each.text in BRACKETS) - (each.text in BRACKETS.values())
    return _without_async(found)


def _without_async(found: Sequence[Token]) -> list[Token]:
    head = list(found)
    while head and head[-1].text in ("async", "sync", "*"):
        head.pop()
    return head


def _type(reader: Reader, modifiers: set[str]) -> Iterator[Declaration]:
    kind, name = reader.take(), reader.take()
    if name.startswith("_"):
        return
    generics = joined(reader.block()) if reader.text == "<" else ""
    heritage = [replace(part, text=",") if part.text in HERITAGE else part for part in reader.until("{")]
    bases = frozenset(f"is {joined(each)}" for each in split(heritage) if each)
    traits = frozenset(modifiers & COUNTED) | bases
    yield Declaration(container="", name=name, kind=kind, type=generics, traits=traits)
    body = reader.block()
    if kind == "enum":
        inside = Reader(body)
        for case in split(inside.until(";")):
            yield Declaration(container=name, name=case[0].text, kind="case")
        inside.took(";")
        body = list(body[inside.at :])
    statements = list(_statements(body))
    fields = {each.name: each.type for made in statements for each in _fields(made, name)}
    members = [each for made in statements for each in _declared(made, name, fields)]
    has_constructor = any(_is_constructor(made, name) for made in statements)
    if kind == "class" and not has_constructor and not modifiers & {"abstract", "sealed"}:
        yield Declaration(container=name, name="new", kind="constructor")
    # Values of an enum are made in its file alone.
    yield from (each for each in members if kind != "enum" or each.kind != "constructor")


def _fields(statement: Sequence[Token], container: str) -> Iterator[Declaration]:
    """Fields with private ones: constructors take their types."""
    reader = Reader(statement)
    while reader.text in MODIFIERS:
        reader.take()
    made = _member(_head(statement[reader.at :]), container, set(), {})
    if made is not None and made.kind == "property":
        yield made


def _is_constructor(statement: Sequence[Token], container: str) -> bool:
    head = [each.text for each in _head(statement) if each.text not in MODIFIERS]
    return head[:1] == [container] and head[1:2] in (["("], ["."])


def _member(head: Sequence[Token], container: str, traits: set[str], fields: Mapping[str, str]) -> Declaration | None:
    words = [each.text for each in head]
    counted = frozenset(traits & COUNTED)
    if not words:
        return None
    if container and words[0] == container and words[1:2] in (["("], ["."]):
        if "abstract" in traits:
            return None
        name = words[2] if words[1] == "." else "new"
        parameters = _parameters(head[words.index("(") :], fields)
        return Declaration(container=container, name=name, kind="constructor", parameters=parameters)
    for accessor in ("get", "set"):
        if accessor in words[:-1] and words[words.index(accessor) + 1] not in ("(", "?", ">", ","):
            return _accessor(head, words.index(accessor), container, counted)
    if words[-1] == ")":
        return _function(head, container, counted)
    is_settable = not traits & {"final", "const"}
    return Declaration(
        container=container,
        name=words[-1],
        kind="property",
        type=joined(head[:-1]),
        traits=counted | ({"mutable"} if is_settable else set()),
    )


def _accessor(head: Sequence[Token], at: int, container: str, traits: frozenset[str]) -> Declaration:
    """A getter is used as a final field is."""
    name = head[at + 1].text
    if head[at].text == "get":
        return Declaration(container=container, name=name, kind="property", type=joined(head[:at]), traits=traits)
    parameters = _parameters(head[at + 2 :], {})
    return Declaration(container=container, name=f"{name}=", kind="property", parameters=parameters, traits=traits)


def _function(head: Sequence[Token], container: str, traits: frozenset[str]) -> Declaration:
    opening = _opening(head)
    named = Reader(head)
    generics, at = "", opening
    if head[opening - 1].text == ">":
        at = next(index for index in range(opening) if _closes(head, index) == opening - 1)
        named.at = at
        generics = f"<{joined(named.block())}> "
    name = head[at - 1].text
    is_operator = at >= 2 and any(each.text == "operator" for each in head[:at])
    if is_operator:
        at = next(index for index, each in enumerate(head) if each.text == "operator") + 2
        name = joined(head[at - 1 : opening])
    return Declaration(
        container=container,
        name=name,
        kind="function",
        parameters=_parameters(head[opening:], {}),
        type=generics + joined(head[: at - 1 - is_operator]),
        traits=traits,
    )


def _opening(head: Sequence[Token]) -> int:
    """The place of the bracket that the last token closes."""
    depth = 0
    for index in range(len(head) - 1, -1, -1):
        depth += (head[index].text in BRACKETS.values()) - (head[index].text in BRACKETS)
        if depth == 0:
            return index
    return 0


def _closes(head: Sequence[Token], at: int) -> int:
    """Where the `<` at a place is closed; -1 for another token."""
    if head[at].text != "<":
        return -1
    reader = Reader(head)
    reader.at = at
    reader.skip()
    return reader.at - 1


def _parameters(found: Sequence[Token], fields: Mapping[str, str]) -> tuple[Parameter, ...]:
    """Of a list in brackets: the positional ones in their order, then the named ones by name, whose order is free."""
    positional: list[Parameter] = []
    named: list[Parameter] = []
    for each in split(Reader(found).block()):
        if each[0].text == "[":
            positional += (_parameter(inner, fields, is_optional=True) for inner in split(Reader(each).block()))
        elif each[0].text == "{":
            named += (_parameter(inner, fields, is_named=True) for inner in split(Reader(each).block()))
        else:
            positional.append(_parameter(each, fields))
    return (*positional, *sorted(named, key=lambda each: each.label))


def _parameter(
    found: Sequence[Token], fields: Mapping[str, str], *, is_optional: bool = False, is_named: bool = False
) -> Parameter:
    reader = Reader(found)
    words = [each for each in reader.until("=") if each.text not in ("covariant", "final")]
    default = joined(found[reader.at + 1 :]) if reader.text == "=" else ""
    is_required = any(each.text == "required" for each in words)
    words = [each for each in words if each.text != "required"]
    name = words[-1].text
    kind = joined(words[:-1])
    if [each.text for each in words[:2]] == ["this", "."]:
        kind = fields.get(name, "")
    may_be_left_out = is_optional or (is_named and not is_required)
    label = name if is_named else "_"
    return Parameter(label=label, type=kind, default=default or ("?" if may_be_left_out else ""))
