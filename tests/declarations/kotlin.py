"""Public declarations of generated Kotlin, which says `public` wherever it means it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tests.declarations.tokens import Reader, Token, joined, split, tokens
from tests.declarations.values import Declaration, Parameter

HIDDEN = ("private", "internal", "protected")
MODIFIERS = frozenset(
    "data enum abstract open sealed override suspend const lateinit inline operator inner value annotation companion "
    "tailrec final infix fun".split()
)
COUNTED = frozenset("abstract open sealed suspend const inner value data fun operator infix".split())
"""modifiers that an app can notice"""
FOR_JAVA = frozenset("JvmField JvmName JvmOverloads JvmStatic".split())
"""annotations that decide how code in Java, and classes that are compiled already, name a declaration"""
TYPES = ("class", "interface", "object")


def declarations(source: str) -> tuple[Declaration, ...]:
    return tuple(_body(tokens(source), "", is_interface=False))


def with_bases(found: Sequence[Declaration]) -> tuple[Declaration, ...]:
    """All declarations of a package: a class is what its base is, too."""
    types = {each.name: each for each in found if each.kind == "class" and not each.container}
    return tuple(replace(each, traits=each.traits | _inherited(each.traits, types)) for each in found)


def _inherited(traits: frozenset[str], types: Mapping[str, Declaration]) -> frozenset[str]:
    made: frozenset[str] = frozenset()
    for trait in traits:
        name, _, given = trait.removeprefix("is ").rstrip(">").partition("<")
        if base := types.get(name) if trait.startswith("is ") else None:
            parameters = [each.partition(":")[0].strip() for each in base.type.split(",")]
            values = dict(zip(parameters, (each.strip() for each in given.split(",")), strict=True))
            bases = frozenset(_filled(each, values) for each in base.traits if each.startswith("is "))
            made |= bases | _inherited(bases, types)
    return made


def _filled(trait: str, values: Mapping[str, str]) -> str:
    """A base with the types in the place of parameters."""
    return re.sub(r"(?<=[<, ])\w+(?=[,>])", lambda found: values.get(found[0], found[0]), trait)


def package_of(source: str) -> str:
    """Its Kotlin package; empty if it names none."""
    reader = Reader(tokens(source))
    reader.until("package")
    return joined(reader.until(lines_end=True)[1:])


def _body(found: Sequence[Token], container: str, *, is_interface: bool) -> Iterator[Declaration]:
    reader = Reader(found)
    annotations: set[str] = set()
    while not reader.is_at_end:
        if reader.took("@"):
            annotations.add(_annotation(reader))
        elif reader.took("public"):
            yield from _declaration(reader, container, _for_java(annotations), is_interface=is_interface)
            annotations.clear()
        elif reader.text in ("(", "[", "{"):
            annotations.clear()
            reader.skip()
        else:
            annotations.clear()
            reader.take()


def _annotation(reader: Reader) -> str:
    """The name of an annotation, with its arguments: `JvmName("other")`."""
    name = reader.take()
    return f"{name}({joined(reader.block())})" if reader.text == "(" else name


def _for_java(annotations: Iterable[str]) -> frozenset[str]:
    return frozenset(each for each in annotations if each.partition("(")[0] in FOR_JAVA)


def _declaration(
    reader: Reader, container: str, annotations: frozenset[str], *, is_interface: bool
) -> Iterator[Declaration]:
    found: list[str] = []
    while reader.text in MODIFIERS and not (reader.text == "fun" and _is_function(reader)):
        found.append(reader.take())
    keyword = reader.take()
    traits = annotations | COUNTED.intersection(found)
    if keyword in TYPES:
        yield from _type(reader, container, keyword, found, traits)
    elif keyword == "fun":
        yield _function(reader, container, traits, is_interface=is_interface)
    elif keyword in ("val", "var"):
        yield _property(reader, container, keyword, traits, is_interface=is_interface)
    elif keyword == "constructor":
        yield Declaration(
            container=container,
            name="<init>",
            kind="constructor",
            parameters=_parameters(reader.block()),
            traits=traits,
        )
    elif keyword == "typealias":
        name = reader.take()
        reader.until("=")
        reader.took("=")
        yield Declaration(container=container, name=name, kind="alias", type=joined(reader.until(lines_end=True)))


def _is_function(reader: Reader) -> bool:
    """Whether `fun` begins a function, not an interface of one."""
    return reader.at + 1 < len(reader.found) and reader.found[reader.at + 1].text != "interface"


def _type(
    reader: Reader, container: str, keyword: str, modifiers: Sequence[str], traits: frozenset[str]
) -> Iterator[Declaration]:
    if "companion" in modifiers:  # its members are called like those of its class
        reader.until("{")
        yield from _body(reader.block(), container, is_interface=False)
        return
    name = reader.take()
    path = f"{container}.{name}" if container else name
    generics = joined(reader.block()) if reader.text == "<" else ""
    is_public = "enum" not in modifiers
    annotations: set[str] = set()
    while reader.text in (*HIDDEN, "public", "@") or reader.text == "constructor":
        is_public = is_public and reader.text not in HIDDEN
        if reader.took("@"):
            annotations.add(_annotation(reader))
        else:
            reader.take()
    fields = reader.block() if reader.text == "(" else []
    bases = []
    if reader.took(":"):
        bases = [joined(_without_call(each)) for each in split(reader.until("{", lines_end=True, going_on=(",",)))]
    kind = "enum" if "enum" in modifiers else keyword
    yield Declaration(
        container=container,
        name=name,
        kind=kind,
        type=generics,
        traits=traits | {f"is {base}" for base in bases if base},
    )
    if keyword == "class" and is_public and kind == "class":
        yield Declaration(
            container=path,
            name="<init>",
            kind="constructor",
            parameters=_parameters(fields),
            traits=_for_java(annotations),
        )
    yield from _fields(fields, path)
    if reader.text != "{":
        return
    body = reader.block()
    if kind == "enum":
        yield from _entries(body, path)
    yield from _body(body, path, is_interface=keyword == "interface")


def _without_call(base: Sequence[Token]) -> list[Token]:
    """A base without the arguments of its constructor."""
    return Reader(base).until("(")


def _fields(fields: Sequence[Token], path: str) -> Iterator[Declaration]:
    for field in split(fields):
        reader = Reader(field)
        annotations: set[str] = set()
        while reader.took("@"):
            annotations.add(_annotation(reader))
        if not reader.took("public"):
            continue
        reader.took("override")
        keyword = reader.take()
        if keyword in ("val", "var"):
            name = reader.take()
            reader.took(":")
            yield Declaration(
                container=path,
                name=name,
                kind="property",
                type=joined(reader.until("=")),
                traits=_for_java(annotations) | ({"mutable"} if keyword == "var" else set()),
            )


def _entries(body: Sequence[Token], path: str) -> Iterator[Declaration]:
    for entry in split(Reader(body).until(";")):
        name = next((each.text for each in entry if each.text.isidentifier()), "")
        if name:
            yield Declaration(container=path, name=name, kind="case")


def _function(reader: Reader, container: str, traits: frozenset[str], *, is_interface: bool) -> Declaration:
    generics = joined(reader.block()) if reader.text == "<" else ""
    name = joined(reader.until("("))
    parameters = _parameters(reader.block())
    result = joined(reader.until("{", "=", lines_end=True, going_on=(":", "->"))[1:]) if reader.text == ":" else "Unit"
    has_body = reader.text in ("{", "=") and not (reader.text == "{" and reader.starts_line)
    if is_interface and not has_body:
        traits |= {"abstract"}
    return Declaration(
        container=container,
        name=name,
        kind="function",
        parameters=parameters,
        type=f"<{generics}> {result}" if generics else result,
        traits=traits,
    )


def _property(
    reader: Reader, container: str, keyword: str, traits: frozenset[str], *, is_interface: bool
) -> Declaration:
    name = joined(reader.until(":", "=", "get", lines_end=True))
    kind = joined(reader.until("=", "get", "private", "{", lines_end=True)[1:]) if reader.text == ":" else ""
    if is_interface and reader.text not in ("=", "get"):
        traits |= {"abstract"}
    if reader.text == "=":
        reader.until("public", "private", "internal", "get", lines_end=True)
    return Declaration(
        container=container,
        name=name,
        kind="property",
        type=kind,
        traits=traits | ({"mutable"} if keyword == "var" and not _has_hidden_setter(reader) else set()),
    )


def _has_hidden_setter(reader: Reader) -> bool:
    """Whether `private set` follows."""
    following = reader.found[reader.at + 1].text if reader.at + 1 < len(reader.found) else ""
    return reader.text in HIDDEN and following == "set"


def _parameters(found: Sequence[Token]) -> tuple[Parameter, ...]:
    return tuple(_parameter(each) for each in split(found) if each)


def _parameter(found: Sequence[Token]) -> Parameter:
    reader = Reader(found)
    words = [each.text for each in reader.until(":")]
    reader.took(":")
    kind = joined(reader.until("="))
    default = joined(reader.found[reader.at :]) if reader.took("=") else ""
    vararg = "vararg " if "vararg" in words else ""
    return Parameter(label=words[-1] if words else "", type=vararg + kind, default=default)
