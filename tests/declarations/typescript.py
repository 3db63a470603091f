"""Declarations that the entries of an npm package export, read from its .d.ts files."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.declarations.tokens import Reader, Token, joined, split, tokens
from tests.declarations.values import Declaration, Parameter

HIDDEN = ("private", "protected")


@dataclass(kw_only=True)
class Module:
    """One .d.ts file."""

    own: dict[str, list[Declaration]] = field(default_factory=dict)
    """by exported name"""
    from_others: dict[str, tuple[str, str]] = field(default_factory=dict)
    """exported name -> path of the module that has it, and its name there"""
    all_of: list[str] = field(default_factory=list)
    """modules of which everything is exported"""


def declarations(texts: Mapping[str, str], entries: Sequence[str]) -> tuple[Declaration, ...]:
    """Of the modules `entries`, paths in `texts`."""
    modules = {path: _module(path, text) for path, text in texts.items() if path.endswith(".d.ts")}
    found: dict[str, list[Declaration]] = {}
    for entry in entries:
        for name in _names(entry, modules, ()):
            found.setdefault(name, _exported(entry, name, modules, 0))
    return tuple(each for name in sorted(found) for each in found[name])


def _names(path: str, modules: Mapping[str, Module], seen: tuple[str, ...]) -> list[str]:
    module = modules.get(path)
    if module is None or path in seen:
        return []
    inside = [name for each in module.all_of for name in _names(each, modules, (*seen, path))]
    return [*module.own, *module.from_others, *inside]


def _exported(path: str, name: str, modules: Mapping[str, Module], depth: int) -> list[Declaration]:
    module = modules.get(path)
    if module is None or depth > len(modules):
        return []
    if name in module.own:
        return module.own[name]
    if name in module.from_others:
        other, original = module.from_others[name]
        return [_renamed(each, original, name) for each in _exported(other, original, modules, depth + 1)]
    return next((found for each in module.all_of if (found := _exported(each, name, modules, depth + 1))), [])


def _renamed(declared: Declaration, old: str, new: str) -> Declaration:
    if not declared.container:
        return replace(declared, name=new)
    return replace(declared, container=new + declared.container[len(old) :])


def _module(path: str, source: str) -> Module:
    module, reader = Module(), Reader(tokens(source))
    while not reader.is_at_end:
        if not reader.took("export"):
            reader.until(";")
            reader.took(";", "}", ")", "]")
            continue
        if reader.took("*"):
            reader.took("from")
            module.all_of.append(_place(path, reader.take()))
            continue
        if reader.text == "{" or (reader.text == "type" and reader.found[reader.at + 1].text == "{"):
            reader.took("type")
            _take_names(reader, path, module)
            continue
        for declared in _declaration(reader, is_inside=False):
            module.own.setdefault(declared.path.partition(".")[0], []).append(declared)
    return module


def _take_names(reader: Reader, path: str, module: Module) -> None:
    named = list(split(reader.block()))
    other = _place(path, reader.take()) if reader.took("from") else path
    for each in named:
        words = [part.text for part in each if part.text != "type"]
        if words:
            module.from_others[words[-1]] = other, words[0]


def _place(path: str, quoted: str) -> str:
    """The .d.ts file that an import names."""
    name = quoted.strip("'\"")
    if not name.startswith("."):
        return name
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name.removesuffix(".js"))) + ".d.ts"


def _declaration(reader: Reader, *, is_inside: bool) -> Iterator[Declaration]:
    is_abstract = False
    while reader.text in ("declare", "default", "abstract", "async"):
        is_abstract = reader.take() == "abstract" or is_abstract
    keyword = reader.take()
    if keyword in ("class", "interface", "enum"):
        yield from _type(reader, keyword, {"abstract"} if is_abstract else set())
    elif keyword == "function":
        yield _function(reader, "", reader.take(), frozenset())
        reader.took(";")
    elif keyword == "type":
        name, _, generics = joined(reader.until("=")).partition("<")
        reader.took("=")
        kind = joined(reader.until(";"))
        yield Declaration(container="", name=name, kind="alias", type=f"<{generics} {kind}" if generics else kind)
    elif keyword in ("const", "let", "var"):
        name = reader.take()
        reader.took(":")
        traits = frozenset() if keyword == "const" else frozenset({"mutable"})
        yield Declaration(container="", name=name, kind="property", type=joined(reader.until(";", "=")), traits=traits)
        reader.until(";")


def _type(reader: Reader, keyword: str, traits: set[str]) -> Iterator[Declaration]:
    name = reader.take()
    generics = joined(reader.block()) if reader.text == "<" else ""
    heritage = reader.until("{")
    bases = frozenset(
        f"is {joined(each)}"
        for each in split([part for part in heritage if part.text not in ("extends", "implements")])
    )
    yield Declaration(container="", name=name, kind=keyword, type=generics, traits=bases | traits)
    if keyword == "enum":
        for case in split(reader.block()):
            yield Declaration(container=name, name=case[0].text, kind="case", type=joined(case[2:]))
        return
    body = reader.block()
    if keyword == "class" and not heritage and all(each.text != "constructor" for each in body):
        yield Declaration(container=name, name="constructor", kind="constructor")
    yield from _members(body, name)


def _members(body: Sequence[Token], container: str) -> Iterator[Declaration]:
    for member in split(body, ";"):
        yield from _member(Reader(member), container)


def _member(reader: Reader, container: str) -> Iterator[Declaration]:
    traits = set()
    while _is_modifier(reader):
        word = reader.take()
        if word in HIDDEN:
            return
        traits.add(word)
    is_readonly = "readonly" in traits or "get" in traits
    traits -= {"readonly", "get", "set", "declare", "override"}
    if reader.text == "#" or reader.is_at_end:
        return
    name = "<index>" if reader.text == "[" else reader.take()
    key = joined(reader.block()).partition(": ")[2] if name == "<index>" else ""
    if reader.took("?"):
        traits.add("optional")
    if reader.text in ("(", "<"):
        yield _function(reader, container, name, frozenset(traits))
        return
    reader.took(":")
    if reader.text == "{" and name != "<index>":
        yield Declaration(container=container, name=name, kind="property", type="object", traits=frozenset(traits))
        yield from _members(reader.block(), f"{container}.{name}")
        return
    kind = f"[{key}] {joined(reader.until())}" if key else joined(reader.until())
    if not is_readonly:
        traits.add("mutable")
    yield Declaration(container=container, name=name, kind="property", type=kind, traits=frozenset(traits))


def _is_modifier(reader: Reader) -> bool:
    words = ("readonly", "static", "abstract", "get", "set", "declare", "override", *HIDDEN)
    following = reader.found[reader.at + 1].text if reader.at + 1 < len(reader.found) else ""
    return reader.text in words and following not in (":", "?", "(", "<", "")


def _function(reader: Reader, container: str, name: str, traits: frozenset[str]) -> Declaration:
    generics = joined(reader.block()) if reader.text == "<" else ""
    parameters = tuple(_parameter(Reader(each)) for each in split(reader.block()))
    result = joined(reader.until(";")[1:]) if reader.text == ":" else ""
    return Declaration(
        container=container,
        name=name,
        kind="constructor" if name == "constructor" else "function",
        parameters=parameters,
        type=f"<{generics}> {result}" if generics else result,
        traits=traits,
    )


def _parameter(reader: Reader) -> Parameter:
    words = reader.until(":", "?")
    is_optional = reader.took("?")
    reader.took(":")
    rest = "..." if words and words[0].text == "..." else ""
    return Parameter(label="_", type=rest + joined(reader.until()), default="?" if is_optional or rest else "")
