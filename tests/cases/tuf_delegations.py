"""Roles that leave files to each other in the metadata of channels, and where clients look for a file.

The graphs are those of the conformance suite of The Update Framework.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from tests.cases.delivery_releases import CHANNEL, FIRST, MODEL, SECOND
from tests.cases.delivery_stage import LOADS, SAME, Scenario, Stage, Visit
from tests.cases.trust_vectors import NEXT
from tests.cases.tuf_repository import Json, key_id, public, signed_by

TOP = "targets"
"""the role that delegates to others first"""
MOST = 32
"""delegated roles that a client asks"""


class Left(NamedTuple):
    """A role that another one leaves files to."""

    name: str
    path: str = f"{MODEL}/*"
    ends: bool = False
    """whether nobody after it is asked"""

    def listed(self) -> Json:
        role = {"name": self.name, "keyids": [key_id(NEXT)], "threshold": 1, "terminating": self.ends}
        return {**role, "paths": [self.path]}


Graph = Mapping[str, Sequence[Left]]
A, B, C, D = map(Left, "abcd")


def _graph(graph: Graph, having: str, *asked: str) -> Callable[[Stage], None]:
    """Roles leave files to each other; those `having` them are letters. These roles are asked in turn."""

    def happens(stage: Stage) -> None:
        channel = stage.channel
        number = channel.number + 1

        def targets(signed: Json) -> None:
            found = signed["targets"]

            def filled(name: str) -> Json:
                roles = [each.listed() for each in graph.get(name, ())]
                delegations = {"keys": {key_id(NEXT): public(NEXT)}, "roles": roles}
                return {**signed, "targets": found if name in having else {}, "delegations": delegations}

            for name in {each.name for some in graph.values() for each in some}:
                path = f"/{CHANNEL}/{number}.{quote(name, '')}.json"
                channel.address.files.by_path[path] = signed_by(filled(name), [NEXT])
                channel.repository.delegated[f"{name}.json"] = {"version": number}
            signed.update(filled(TOP))

        channel.publish(edits={TOP: targets})
        channel.forget()
        if any(name in having for name in asked):
            stage.update(LOADS, SECOND)
        else:
            stage.update(SAME, FIRST)
        paths = [each for each in channel.asked if each.startswith(f"/{CHANNEL}/{number}.")]
        names = [unquote(each).removeprefix(f"/{CHANNEL}/{number}.").removesuffix(".json") for each in paths]
        assert [each for each in names if each not in (TOP, "snapshot", "root")] == list(asked), names

    return happens


PATTERNS = {
    f"{MODEL}/*": True,
    "*/*": True,
    "*": False,
    "*/*/*": False,
    f"{MODEL}*": False,
    f"{MODEL}/rel?ases.j*n": True,
    f"{MODEL}/rel?eases.json": False,
    f"[!a]{MODEL[1:]}/[p-s]eleases[.]json": True,
    f"[!{MODEL[0]}]{MODEL[1:]}/*": False,
    f"{MODEL}/RELEASES.json": False,
    f"{MODEL}/releases": False,
    f"{MODEL}/": False,
    f"{MODEL[:2]}.*/*": False,
}
"""ways to name files, and whether the releases are among them"""
MATCHING = {TOP: [Left(str(number), pattern) for number, pattern in enumerate(PATTERNS)]}
MATCHED = [str(number) for number, is_matched in enumerate(PATTERNS.values()) if is_matched]
ODD = ("a/b", "../up", "?", "#", "ü ö", "100%41")
"""names of roles that no address has as they are"""
CHAIN = {
    before: [Left(after)]
    for before, after in zip((TOP, *map(str, range(MOST + 8))), map(str, range(MOST + 9)), strict=False)
}
GRAPHS = Visit(
    name="roles that leave files to each other",
    scenarios=(
        Scenario("the role that is named first", "", _graph({TOP: [A, B]}, "ab", "a")),
        Scenario("a role of a role", "", _graph({TOP: [A], "a": [B]}, "b", "a", "b")),
        Scenario("a role's own roles before the next role", "", _graph({TOP: [A, B], "a": [C]}, "b", "a", "c", "b")),
        Scenario("a role that ends the search", "", _graph({TOP: [A._replace(ends=True), B]}, "b", "a")),
        Scenario(
            "the roles of one that ends the search",
            "",
            _graph({TOP: [A._replace(ends=True), B], "a": [C, D]}, "d", "a", "c", "d"),
        ),
        Scenario(
            "a role of a role that ends the search",
            "",
            _graph({TOP: [A, B], "a": [C._replace(ends=True), D]}, "bd", "a", "c"),
        ),
        Scenario("roles in a circle", "endless data", _graph({TOP: [A, B], "a": [B], "b": [A]}, "", "a", "b")),
        Scenario("more roles than anybody asks", "endless data", _graph(CHAIN, "", *map(str, range(MOST)))),
        Scenario("patterns of paths", "", _graph(MATCHING, "", *MATCHED)),
        Scenario("roles with odd names", "paths", _graph({TOP: list(map(Left, ODD))}, "", *ODD)),
    ),
    on_pages=False,
)
