"""All sentences of mobpack in one list, for an editor: `python -m tests.unit.words [FOLDER]`.

Messages are printed by `pytest -s tests/unit/test_messages.py`. Here, one a line, are docstrings' first lines and doc
comments of templates: `place kind: text`.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cases.readings import Nodes, nodes_of

ROOT = Path(__file__).parents[2]
CODE = ("packager", "templates", "scripts", "benchmarks", "sample_apps")
"""folders whose sentences follow the rules"""
SUFFIXES = (".kt", ".java", ".swift", ".ts", ".tsx", ".dart", ".h", ".mm", ".cpp")
"""languages whose doc comments are read; compiled JavaScript repeats those of TypeScript"""
DOC_COMMENT = re.compile(
    r"/\*\*\s*(?:\*\s+)?(?P<block>[^\n]*?)\s*(?:\*/|\n)|(?<!/)///\s?(?P<line>[^\n]*)(?:\n\s*///[^\n]*)*"
)


@dataclass(frozen=True)
class Sentence:
    place: str
    kind: str
    """`docstring` of a module, class or function; `field`; `comment`"""
    paragraph: str

    @property
    def text(self) -> str:
        return self.paragraph.partition("\n")[0]

    def __str__(self) -> str:
        return f"{self.place} {self.kind}: {self.text}"


def sentences(*folders: str) -> Iterator[Sentence]:
    for folder in folders or CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            place = path.relative_to(ROOT).as_posix()
            if path.suffix == ".py":
                yield from of_python(nodes_of(path), place)
            elif place.removesuffix(".j2").endswith(SUFFIXES) and not place.removesuffix(".j2").endswith(".d.ts"):
                yield from of_comments(path.read_text("utf-8"), place)


def of_python(nodes: Nodes, place: str) -> Iterator[Sentence]:
    """First paragraphs of docstrings, those below fields and constants among them."""
    for node in nodes:
        body = getattr(node, "body", None)
        for index, statement in enumerate(body if isinstance(body, list) else ()):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    kind = "field" if index else "docstring"
                    yield Sentence(f"{place}:{statement.lineno}", kind, text.strip().partition("\n\n")[0])


def of_comments(source: str, place: str) -> Iterator[Sentence]:
    """First lines of the comments that become pages of an API: `/** ... */` and `/// ...`."""
    for found in DOC_COMMENT.finditer(source):
        text = found["block"] if found["block"] is not None else found["line"]
        yield Sentence(f"{place}:{source.count(chr(10), 0, found.start()) + 1}", "comment", text.strip())


if __name__ == "__main__":
    for each in sentences(*sys.argv[1:]):
        print(each)
