"""Makes the table of a chat template: what it writes for each order of roles, as jinja2 itself runs it.

A template runs with texts that are no characters but slots (`Text`). It may put them together and take blanks away;
anything else that it asks about them is assumed not to be so, and refused in conversations, or refuses the template.
"""

import re
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NoReturn

from jinja2 import TemplateError, TemplateSyntaxError, meta, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from packager.contract.generation.slots import HIDDEN, Assumed, Slot, Text, Unsupported, joined, parts_of
from packager.core.chat import ROLES, ChatTemplate, keys_of
from packager.core.errors import ConfigError

NAMES = {letter: role for role, letter in ROLES.items()}
LONGEST = 5
"""number of messages up to which every order of roles is tried"""
LONG = (
    *("s" * system + "ua" * turns + "u" * last for system in (0, 1) for turns in (3, 8, 20) for last in (0, 1)),
    *("".join("sua"[int(digit) % 3] for digit in str(7**power)) for power in range(6, 54)),
)
"""longer conversations on which the table is compared"""
WINDOWS = sorted(
    ((before, after, first) for before in range(4) for after in range(3) for first in (False, True)),
    key=lambda each: (each[0] + each[1] + each[2], each[1], each[2]),
)
"""what keys may have, those that make the smallest tables first"""
MOST_PIECES = 40
"""of a table: those with more hold conversations that nobody has"""
ORDERS = ("[sua]+", "s?[ua]+", "s?(ua)*u?", "s?(ua)*u")
"""orders of roles that a table takes: all, or else as many as its keys can hold"""
FILTERS = frozenset(
    "capitalize count d default first items last length list lower map reject rejectattr replace select selectattr "
    "string title trim upper".split()
)
"""filters that see a Text as what it is"""
REFUSED = {
    nodes.Block: "`block`",
    nodes.Extends: "`extends`",
    nodes.Include: "`include`",
    nodes.Import: "`import`",
    nodes.FromImport: "`import`",
}
"""statements about other files"""
JOINED = "mobpack_joined"


class Generation(Extension):
    """Leaves out `{% generation %}`, which marks what a model is trained on."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        return nodes.Scope(parser.parse_statements(("name:endgeneration",), drop_needle=True)).set_lineno(line)


class Environment(ImmutableSandboxedEnvironment):
    """Runs templates as transformers does, with texts that are slots."""

    concat = staticmethod(joined)

    free: "frozenset[str] | set[str]" = frozenset()
    """names in the template that it does not set itself"""

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
        others = {name: _refusing_filter(name) for name in {*self.filters, "tojson"} - FILTERS}
        self.filters |= others | {"join": _join}
        self.tests |= {name: _or_text(self.tests[name]) for name in ("iterable", "sequence")}
        self.globals |= {JOINED: lambda *values: joined(values), "raise_exception": _raise, "strftime_now": _now}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        self.free = meta.find_undeclared_variables(tree)
        for each in tree.find_all(tuple(REFUSED)):
            raise TemplateSyntaxError(f"uses {REFUSED[type(each)]}", each.lineno)
        Joining().visit(tree)
        return tree


class Joining(NodeTransformer):
    """Writes `a ~ b` as a call: jinja2 itself would put characters together."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Call:  # noqa: N802
        self.generic_visit(node)
        return nodes.Call(nodes.Name(JOINED, "load"), node.nodes, [], None, None, lineno=node.lineno)


class Raised(Exception):  # noqa: N818
    """An error of the template's own."""


def _raise(words: str) -> NoReturn:
    raise Raised(words)


def _now(_: str) -> NoReturn:
    raise Unsupported('writes the day\'s date: fix it by chat-values = { strftime_now = "26 Jul 2026" }')


def _refusing_filter(name: str) -> Any:
    def refused(*_: object, **__: object) -> NoReturn:
        raise Unsupported(f"uses the filter `{name}`")

    return refused


def _or_text(test: Any) -> Any:
    return lambda value: isinstance(value, Text) or test(value)


def _join(values: Iterable[object], between: str = "", attribute: str | None = None) -> str:
    if attribute is not None:
        raise Unsupported("uses `join` with an attribute")
    given = list(values)
    return joined([each for value in given for each in (between, value)][1:])


Window = tuple[int, int, bool]
"""`before`, `after` and `has_first` of a ChatTemplate"""
Outcome = list[tuple[str, ...]] | str | None
"""the pieces that a template writes, or its error; None for texts in another order than messages have"""


class Learner:
    """Runs a template on orders of roles, and makes the table of what it writes."""

    def __init__(self, source: str, values: Mapping[str, object], absent: Collection[str]) -> None:
        self.assumed = Assumed()
        self.values = values
        environment = Environment()
        if "strftime_now" in values:
            environment.globals["strftime_now"] = lambda _: values["strftime_now"]
        try:
            self.template = environment.from_string(source)
        except TemplateSyntaxError as error:
            raise _refusal(error.message or "is no template", error.lineno) from error
        for name in sorted(environment.free):
            if name.endswith("_token") and name not in {*values, *absent}:
                raise ConfigError(
                    f"the chat template writes {name}, which tokenizer_config.json does not name",
                    hint=f'chat-values = {{ {name} = "<s>" }}, as the model has it',
                )

    def _ran(self, roles: str) -> tuple[str | Slot, ...] | str:
        messages = [
            {"role": NAMES[letter], "content": Text([Slot(number)], self.assumed)}
            for number, letter in enumerate(roles)
        ]
        given = {"messages": messages, "tools": None, "documents": None, "add_generation_prompt": True, **self.values}
        given.pop("strftime_now", None)
        try:
            written = self.template.render(given)
        except Unsupported as error:
            raise _refusal(str(error), _line(error)) from error
        except (Raised, TemplateError, TypeError, ValueError, LookupError, ArithmeticError) as error:
            return str(error)
        parts = parts_of(written)
        if any(isinstance(each, str) and HIDDEN in each for each in parts):
            raise _refusal("changes the text of a message")
        return parts

    def table(self) -> ChatTemplate:
        short = ["".join(each) for size in range(1, LONGEST + 1) for each in product(NAMES, repeat=size)]
        ran = {roles: self._ran(roles) for roles in (*short, *LONG)}
        outcomes = {roles: each if isinstance(each, str) else _pieces(each, len(roles)) for roles, each in ran.items()}
        if all(isinstance(each, str) for each in outcomes.values()):
            raise _refusal(f"takes no conversation: {outcomes['u']}")
        found = next((table for each in ORDERS if (table := _smallest(outcomes, re.compile(each)))), None)
        if found is None:
            raise _refusal("writes texts that depend on more than the roles of a few messages near each other")
        return replace(found, refused=tuple(sorted(self.assumed.signs)), needs_text=self.assumed.has_text)


def _smallest(outcomes: Mapping[str, Outcome], taken: re.Pattern[str]) -> ChatTemplate | None:
    known = {roles: each for roles, each in outcomes.items() if taken.fullmatch(roles)}
    others = [roles for roles in outcomes if roles not in known]
    tables = (_table(window, known, others) for window in WINDOWS)
    return next((each for each in tables if each and len(each.pieces) <= MOST_PIECES), None)


def _table(window: Window, outcomes: Mapping[str, Outcome], others: Sequence[str]) -> ChatTemplate | None:
    """A table with keys of this form, which takes no roles in the orders of `others`; None if the keys do not decide
    what the template writes."""
    before, after, has_first = window
    empty = ChatTemplate(before=before, after=after, has_first=has_first, pieces={})
    pieces: dict[str, tuple[str, ...]] = {}
    errors: dict[str, str] = {}
    for roles, outcome in outcomes.items():
        if not isinstance(outcome, str):
            if outcome is None:
                return None
            for key, piece in zip(keys_of(empty, roles), outcome, strict=True):
                if pieces.setdefault(key, piece) != piece:
                    return None
    for roles in (*(each for each, outcome in outcomes.items() if isinstance(outcome, str)), *others):
        unknown = [key for key in keys_of(empty, roles) if key not in pieces]
        said = str(outcomes.get(roles) or "")
        if not unknown or (said and errors.setdefault(unknown[0], said) != said):
            return None
    return replace(empty, pieces=dict(sorted(pieces.items())), errors=dict(sorted(errors.items())))


def _pieces(parts: "tuple[str | Slot, ...]", count: int) -> list[tuple[str, ...]] | None:
    """The pieces of each of `count` messages and of the end; None for texts in another order."""
    made: list[list[str]] = [[""] for _ in range(count + 1)]
    waiting, after = [""], 0
    for part in parts:
        if isinstance(part, str):
            waiting[-1] += part
        elif part.message >= after:
            made[part.message] = [*waiting, f"m{part.trims}", ""]
            waiting, after = [""], part.message + 1
        elif part.message == 0:
            waiting += [f"f{part.trims}", ""]
        else:
            return None
    made[count] = waiting
    return [tuple(each) for each in made]


def _line(error: BaseException) -> int:
    """Line of the template; 0 if it is not known."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == "<template>"]
    return lines[-1] or 0 if lines else 0


def _refusal(words: str, line: int = 0) -> ConfigError:
    return ConfigError(
        f"the chat template{f', line {line},' if line else ''} {words}",
        hint="leave out chat-template and pass generate a prompt that the app writes, or use a simpler template",
    )


def table_of(source: str, values: Mapping[str, object], *, absent: Collection[str] = ()) -> ChatTemplate:
    """The table of a template, which sees `values` beside the messages; the model has none of the tokens in `absent`.
    Raises ConfigError for what no table has."""
    return Learner(source, values, absent).table()
