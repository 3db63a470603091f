"""Sentences stand alone and are in the field's words; `python -m tests.unit.words` lists them for an editor."""

import re
from collections.abc import Iterator

from tests.unit.words import CODE, ROOT, Sentence, sentences

FIRST = ("All", "As", "Has", "Of", "Those", "What", "Whatever")
"""words that lean on what stands before the sentence; `The files of`, `Like`, `Lets` say the same"""
DROPPED = {
    "be had": ("(is|are|cannot) (to )?be had", "available"),
    "stands for": ("stands for", "means, replaces, simulates"),
    "go of": ("(lets?|letting) go of", "releases"),
    "met silicon": ("met silicon", "tested on hardware"),
    "nobody looked": ("nobody looked", "cause unknown"),
    "tales": (r"\btales\b", "scenarios"),
}
"""phrases, each with a pattern of it, and the words to write instead"""
OTHERS = ("templates/ios/onnxruntime/", "templates/licenses/")
"""texts of others"""
PAGES = ("docs", "README.md", "CONTRIBUTING.md")


def faults(each: Sentence) -> Iterator[str]:
    if each.text.partition(" ")[0].rstrip(".,:;") in FIRST:
        yield "begins with a word that leans on another sentence"
    if not each.text:
        yield "is empty"
    begins = each.kind == "docstring" and re.match(r"[A-Z]\w* ", each.text)
    if begins and not re.search(r"[.:?)]`?$", each.paragraph) and "/cli/" not in each.place:
        yield "has no end"


def test_every_sentence_stands_alone() -> None:
    found = [each for each in sentences() if not each.place.startswith(OTHERS)]
    assert len(found) > 10_000
    assert [f"{each} ({fault})" for each in found for fault in faults(each)] == []


def test_dropped_words_are_in_no_text() -> None:
    texts = [path for name in (*CODE, *PAGES) for path in ([ROOT / name] if "." in name else (ROOT / name).rglob("*"))]
    found = []
    for path in sorted(each for each in texts if each.is_file()):
        place, content = path.relative_to(ROOT).as_posix(), path.read_bytes()
        if b"\0" not in content and "/adr/" not in place and not place.startswith(OTHERS):
            text = content.decode()
            found += [f"{place}: {each}" for each in DROPPED if each in text and re.search(DROPPED[each][0], text)]
    assert found == [], f"write instead: {DROPPED}"
