"""Public declarations of generated Swift."""

from collections.abc import Iterator, Sequence

from tests.declarations.tokens import Reader, Token, joined, split, tokens
from tests.declarations.values import Declaration, Parameter

PUBLIC = ("public", "open")
TYPES = ("struct", "class", "enum", "actor", "protocol")
MODIFIERS = frozenset(
    "final static mutating nonmutating convenience required override lazy weak indirect nonisolated dynamic".split()
)
SETTERS = ("private", "fileprivate", "internal")
MEMBERS = ("func", "var", "let", "init", "subscript", "typealias", "associatedtype", "case")
ACTORS = frozenset({"MainActor"})
"""attributes that say where a declaration may be used"""


def declarations(sources: Sequence[str]) -> tuple[Declaration, ...]:
    """Of all files of a module. What a protocol's extension implements, apps need not."""
    found = [each for source in sources for each in _body(tokens(source), "", is_all_public=False)]
    implemented = {(each.path, each.parameters) for each in found if "abstract" not in each.traits}
    return tuple(
        each for each in found if "abstract" not in each.traits or (each.path, each.parameters) not in implemented
    )


def _body(found: Sequence[Token], container: str, *, is_all_public: bool) -> Iterator[Declaration]:
    """With `is_all_public`, members need no modifier, as in a protocol."""
    reader = Reader(found)
    attributes: set[str] = set()
    while not reader.is_at_end:
        if reader.took("@"):
            attributes.add(reader.take())
            if reader.text == "(":
                reader.skip()
            continue
        if reader.took("extension"):
            yield from _extension(reader, is_public=False)
        elif reader.text in PUBLIC or (is_all_public and reader.text in (*MEMBERS, *MODIFIERS)):
            yield from _declaration(reader, container, attributes & ACTORS, is_abstract=is_all_public)
        elif reader.text in ("(", "[", "{"):
            reader.skip()
        else:
            reader.take()
        attributes.clear()


def _extension(reader: Reader, *, is_public: bool) -> Iterator[Declaration]:
    name = joined(reader.until(":", "where", "{"))
    reader.until("{")
    yield from _body(reader.block(), name, is_all_public=is_public)


def _declaration(reader: Reader, container: str, attributes: set[str], *, is_abstract: bool) -> Iterator[Declaration]:
    traits = set(attributes)
    is_settable = True
    is_open = reader.text == "open"
    while reader.text in (*PUBLIC, *MODIFIERS, *SETTERS) or (reader.text == "class" and _is_member(reader)):
        word = reader.take()
        if reader.text == "(":
            reader.skip()
            is_settable = is_settable and word not in SETTERS
        elif word in ("static", "mutating", "class"):
            traits.add(word)
    keyword = reader.take()
    if keyword == "extension":
        yield from _extension(reader, is_public=True)
    elif keyword in TYPES:
        yield from _type(reader, container, keyword, {"open"} | traits if is_open else traits)
    elif keyword in ("func", "init", "subscript"):
        yield _function(reader, container, keyword, traits, is_abstract=is_abstract)
    elif keyword in ("var", "let"):
        yield _property(
            reader, container, traits, is_settable=is_settable and keyword == "var", is_abstract=is_abstract
        )
    elif keyword == "associatedtype":
        words = [each.text for each in reader.until(";", "}", lines_end=True)]
        needed = frozenset() if "=" in words else frozenset({"abstract"})
        yield Declaration(container=container, name=words[0], kind="type", type=" ".join(words[1:]), traits=needed)
    elif keyword == "typealias":
        name = reader.take()
        reader.until("=")
        reader.took("=")
        yield Declaration(container=container, name=name, kind="alias", type=joined(reader.until(lines_end=True)))


def _is_member(reader: Reader) -> bool:
    return reader.at + 1 < len(reader.found) and reader.found[reader.at + 1].text in ("func", "var", "let")


def _type(reader: Reader, container: str, keyword: str, traits: set[str]) -> Iterator[Declaration]:
    name = reader.take()
    path = f"{container}.{name}" if container else name
    generics = joined(reader.block()) if reader.text == "<" else ""
    bases = reader.until("{", "where")[1:] if reader.text == ":" else []
    traits |= {f"is {joined(each)}" for each in split(bases)}
    reader.until("{")
    kind = "interface" if keyword == "protocol" else keyword
    yield Declaration(container=container, name=name, kind=kind, type=generics, traits=frozenset(traits))
    body = reader.block()
    if keyword == "enum":
        yield from _cases(body, path)
    yield from _body(body, path, is_all_public=keyword == "protocol")


def _cases(body: Sequence[Token], path: str) -> Iterator[Declaration]:
    reader = Reader(body)
    while not reader.is_at_end:
        if reader.took("case"):
            for case in split(reader.until(lines_end=True, going_on=(",",))):
                inside = Reader(case)
                name = inside.take()
                parameters = _parameters(inside.block()) if inside.text == "(" else ()
                yield Declaration(container=path, name=name, kind="case", parameters=parameters)
        elif reader.text in ("(", "[", "{"):
            reader.skip()
        else:
            reader.take()


def _function(reader: Reader, container: str, keyword: str, traits: set[str], *, is_abstract: bool) -> Declaration:
    name = "init" if keyword == "init" else keyword if keyword == "subscript" else joined(reader.until("(", "<"))
    if keyword == "init" and reader.text in ("?", "!"):
        traits.add("failable")
        reader.take()
    generics = joined(reader.block()) if reader.text == "<" else ""
    parameters = _parameters(reader.block())
    after = reader.until("{", ";", lines_end=True, going_on=("->", "where", "async", "throws"))
    words = [each.text for each in after]
    traits |= {word for word in ("async", "throws", "rethrows") if word in words}
    if is_abstract and reader.text != "{":
        traits.add("abstract")
    begin = next((words.index(each) for each in ("->", "where") if each in words), len(words))
    result = joined(after[begin:]).removeprefix("-> ")
    return Declaration(
        container=container,
        name=name,
        kind="constructor" if keyword == "init" else "function",
        parameters=parameters,
        type=f"<{generics}> {result}" if generics else result,
        traits=frozenset(traits),
    )


def _property(reader: Reader, container: str, traits: set[str], *, is_settable: bool, is_abstract: bool) -> Declaration:
    name = reader.take()
    kind = joined(reader.until("=", "{", ";", lines_end=True)[1:]) if reader.text == ":" else ""
    if reader.text == "{":
        accessors = {each.text for each in reader.block()}
        is_settable = is_settable and "set" in accessors
        if is_abstract:
            traits.add("abstract")
    return Declaration(
        container=container,
        name=name,
        kind="property",
        type=kind,
        traits=frozenset(traits | ({"mutable"} if is_settable else set())),
    )


def _parameters(found: Sequence[Token]) -> tuple[Parameter, ...]:
    return tuple(_parameter(each) for each in split(found) if each)


def _parameter(found: Sequence[Token]) -> Parameter:
    """`label name: Type = default`; values of an enum's case may have a type alone."""
    reader = Reader(found)
    words = reader.until(":")
    if not reader.took(":"):
        return Parameter(label="_", type=joined(words))
    kind = joined(reader.until("="))
    default = joined(reader.found[reader.at :]) if reader.took("=") else ""
    return Parameter(label=words[0].text if words else "_", type=kind, default=default)
