"""Textual interfaces of Swift's own modules without the bodies of functions that the optimizer alone looks into.

Three quarters of the time that Swift's module takes to compile is theirs. A compiler that does not optimize reads
those of `@_transparent` functions alone: with them it finds numbers that overflow.
"""

import re

from tests.toolchain.swift import UNVERIFIED

INLINED = re.compile(r"@(inlinable|_alwaysEmitIntoClient) ")
TRANSPARENT = "@_transparent"
OPAQUE = re.compile(r"\bsome\b")
"""In the type of a result it is known from the body alone."""
USABLE = "@usableFromInline"
"""Has functions that are not public, but had a body for those who import them, stay visible to them."""
BEGIN = re.compile(r"(?m)^(?P<head> *(?:@.*?)?\b(?P<kind>func|init|var|subscript)\b.*?)(?<!=) \{")
ACCESSOR = re.compile(r"\s*((?:@\S+ |(?:non)?mutating |__consuming )*(?:get|set|_read|_modify)\b(?: async| throws)*) ?")
TOKEN = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|[{}]')

QUICK = f" {' '.join(('-Onone', *UNVERIFIED))} "


def without_bodies(interface: str) -> str:
    """The text of an interface, to be compiled without optimizing."""
    parts: list[str] = []
    done = at = 0
    while found := BEGIN.search(interface, at):
        at = found.end()
        head = found["head"]
        is_usable = interface.endswith(f"{USABLE}\n", 0, found.start())
        if not INLINED.search(head) or is_usable:
            continue
        end = _end(interface, found.end() - 1)
        at = end
        body = interface[found.end() : end - 1]
        left = "" if found["kind"] in ("func", "init") else _accessors(body)
        if TRANSPARENT not in f"{head}{left}" and not OPAQUE.search(head):
            parts += [interface[done : found.start()], _declared(head), left]
            done = end
    return "".join([*parts, interface[done:]]).replace(" -O ", QUICK)


def _declared(head: str) -> str:
    """A declaration without a body."""
    usable = f"{USABLE} " if " internal " in head and USABLE not in head else ""
    return re.sub(r"^ *", rf"\g<0>{usable}", INLINED.sub("", head))


def _accessors(body: str) -> str:
    """The accessors of a property without bodies; TRANSPARENT if they need theirs."""
    found: list[str] = []
    at = 0
    while body[at:].strip():
        accessor = ACCESSOR.match(body, at)
        if not accessor or not body.startswith("{", accessor.end()):
            return TRANSPARENT
        found.append(INLINED.sub("", accessor[1]))
        at = _end(body, accessor.end())
    return f" {{ {' '.join(found)} }}"


def _end(text: str, begin: int) -> int:
    """The place after the brace that closes the one at `begin`."""
    depth = 0
    for token in TOKEN.finditer(text, begin):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    raise ValueError(f"no brace closes {text[begin : begin + 100]!r}")
