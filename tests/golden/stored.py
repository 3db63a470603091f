"""How the packages of `cases.py` are stored: for each target one whole tree, and of other cases what differs from it.

`contracts/TARGET/` is the package as users get it, without classes of models that are much like another one, and
without files that say what their template in `templates/` says. A case has files of its own in `CASE/TARGET/`, and the
rest in `CASE/TARGET.diff`: the case that it is `like` (`TARGET/CASE` of another target), the names of its package,
files that it is `without`, files that are a `template` with names in it (`FILE=SHA256`), and changes:
`=== FILE < OTHER FILE`, then a line before each change (`|`), the lines that go (of many the first one) and those that
come. `read` makes every byte of a package of that. JavaScript and types of React Native are what the compiler makes of
the rest (`test_react_native_typescript.py`), headers are ONNX Runtime's. UPDATE_GOLDEN=1 writes all: review it.
"""

import re
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath

from jinja2 import meta

from packager.files.installed import templates_folder
from packager.render.templates import environment

GOLDEN = Path(__file__).parent
COMPLETE = "contracts"
"""The case with a whole tree."""
SAVED = 0.7
"""A change is stored in place of a file when it has fewer lines than this part of it."""
ORDER = "|-+"
"""First letters of the lines of a change: before it, removed, added."""
LEFT_OUT = re.compile(r"\.\.\. (\d+) lines")
Texts = dict[str, str]
Names = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A case as the product prints it."""

    texts: Texts
    names: Names
    """variable of templates -> its value"""
    models: Sequence[tuple[str, ...]]
    """of each model its class, its name and its method"""


def replaced(text: str, words: Mapping[str, str]) -> str:
    """The text with each word of `words` replaced, the longest first."""
    if not words:
        return text
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(pattern, lambda found: words[found[0]], text)


def words_between(old: Names, new: Names) -> dict[str, str]:
    """The words of a package, also as folders, and those that stand in their place in another."""
    pairs = {old[each]: new[each] for each in old if old[each] != new.get(each, old[each])}
    return {**pairs, **{one.replace(".", "/"): other.replace(".", "/") for one, other in pairs.items()}}


@cache
def plain_templates(target: str) -> Mapping[str, str]:
    """Templates with names in it and no choices, by the name of the file that they print."""
    paths = (templates_folder() / target).rglob("*.j2")
    found = {path.name.removesuffix(".j2"): path.read_text(encoding="utf-8") for path in paths}
    return {name: text for name, text in found.items() if "{%" not in text}


def filled(target: str, path: str, names: Names) -> str:
    """The plain template of a file with names in it; empty for a file without one."""
    template = plain_templates(target).get(PurePosixPath(path).name, "")
    has_all = meta.find_undeclared_variables(environment().parse(template)) <= names.keys()
    return environment().from_string(template).render(names) if has_all else ""


def changes(old_text: str, new_text: str) -> list[str]:
    """Lines that make the new text of the old one."""
    old, new = old_text.split("\n"), new_text.split("\n")
    lines: list[str] = []
    cursor = 0
    for tag, begin, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        removed = _shortened(old[begin:end])
        is_clear = bool(removed) and (not lines or lines[-1][0] == "+")
        for size in range(0 if is_clear else min(1, begin - cursor), begin - cursor + 1):
            known = old[begin - size : begin]
            if _found(old, cursor, known, removed) == begin - size:
                break
        lines += [f"|{each}" for each in known] + [f"-{each}" for each in removed]
        lines += [f"+{each}" for each in new[first:last]]
        cursor = end
    return lines


def changed(old_text: str, lines: Sequence[str]) -> str:
    """The new text, of the old one and what `changes` gave."""
    old, new, cursor = old_text.split("\n"), list[str](), 0
    for hunk in _hunks(lines):
        known, removed, added = ([line[1:] for line in hunk if line[0] == sign] for sign in ORDER)
        at = _found(old, cursor, known, removed) + len(known)
        new += [*old[cursor:at], *added]
        cursor = at + _count(removed)
    return "\n".join([*new, *old[cursor:]])


def _hunks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines that are known, removed and added, in this order."""
    hunk: list[str] = []
    for line in lines:
        if hunk and ORDER.index(line[0]) < ORDER.index(hunk[-1][0]):
            yield hunk
            hunk = []
        hunk.append(line)
    if hunk:
        yield hunk


def _shortened(removed: Sequence[str]) -> list[str]:
    return list(removed) if len(removed) < 3 else [removed[0], f"... {len(removed) - 1} lines"]


def _count(removed: Sequence[str]) -> int:
    """The number of lines that were removed."""
    left_out = LEFT_OUT.fullmatch(removed[1]) if len(removed) == 2 else None
    return int(left_out[1]) + 1 if left_out else len(removed)


def _found(old: Sequence[str], cursor: int, known: Sequence[str], removed: Sequence[str]) -> int:
    """The first place from `cursor` on where the old text has the lines."""
    shown = [*known, *(removed if _count(removed) == len(removed) else removed[:1])]
    for at in range(cursor, len(old)):
        if list(old[at : at + len(shown)]) == shown:
            return at
    raise ValueError(f"no such lines: {shown}")


def _listed(key: str, entries: Sequence[str]) -> list[str]:
    width = 119 - len(key)
    text = " ".join(entries)
    return [f"{key} {line}" for line in textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)]


def _paired(words: Mapping[str, str]) -> list[str]:
    return [f"{one}={other}" for one, other in sorted(words.items())]


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def _pairs(entries: Sequence[str]) -> dict[str, str]:
    return dict(each.split("=", 1) for each in entries)


def _model(path: str, printed: Printed) -> tuple[str, ...] | None:
    """The model whose file this is."""
    stem = PurePosixPath(path).name.split(".")[0]
    return next((each for each in printed.models if stem in (*each[:2], each[1].replace("-", "_"))), None)


def _nearest(path: str, printed: Printed, known: Mapping[str, tuple[str, tuple[str, ...] | None]]) -> list[str]:
    """The fewest lines that say a file by another one: one of the same name, or the class of another model."""
    found, place, model = [], PurePosixPath(path), _model(path, printed)
    for old, (text, other) in known.items():
        is_like = model and other and PurePosixPath(old).parent == place.parent
        if old != path and not (is_like and PurePosixPath(old).suffixes[-1:] == place.suffixes[-1:]):
            continue
        words = dict(zip(other, model, strict=True)) if model and other and model != other else {}
        words = {one: new for one, new in words.items() if one and new and one != new}
        said = f"=== {path} < {old}"
        head = f"{said} with {' '.join(_paired(words))}" if words else said
        found.append([head, *changes(replaced(text, words), printed.texts[path])])
    return min(found, key=len, default=[])


def write(target: str, case: str, printed: Printed, base: str = "", like: Printed | None = None) -> None:
    """Stores a case, which differs little from the case `base`; the whole tree without one."""
    folder, file = GOLDEN / case / target, GOLDEN / case / f"{target}.diff"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    words = words_between(like.names, printed.names) if like else {}
    inherited = {replaced(path, words): replaced(text, words) for path, text in like.texts.items()} if like else {}
    known = {path: (text, _model(path, like) if like else None) for path, text in inherited.items()}
    plain: list[str] = []
    said: list[str] = []
    for path, text in sorted(printed.texts.items()):
        if inherited.get(path) == text:
            continue
        if filled(target, path, printed.names) == text:
            plain.append(f"{path}={_digest(text)}")
            continue
        change = _nearest(path, printed, known)
        if change and len(change) < SAVED * text.count("\n"):
            said += change
            continue
        known[path] = (text, _model(path, printed))
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    lines = [f"like {base}"] if base else []
    lines += _listed("names", _paired(printed.names))
    lines += _listed("without", sorted(inherited.keys() - printed.texts.keys()))
    lines += _listed("template", plain) + said
    file.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")


def place(target: str, base: str) -> tuple[str, str]:
    """Target and case of a case that another one of `target` is like: `CASE` or `TARGET/CASE`."""
    other, _, case = base.rpartition("/")
    return other or target, case


def read(target: str, case: str) -> Texts:
    """Every file of a case, of what is stored."""
    said, bodies = _parts(target, case)
    names = _pairs(said["names"])
    inherited: Texts = {}
    for base in said.get("like", []):
        other = place(target, base)
        words = words_between(_pairs(_parts(*other)[0]["names"]), names)
        inherited = {replaced(path, words): replaced(text, words) for path, text in read(*other).items()}
    folder = GOLDEN / case / target
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    texts = {path: text for path, text in inherited.items() if path not in said.get("without", [])}
    whole = {path: file.read_text(encoding="utf-8") for path, file in files.items()}
    texts |= whole
    for path, digest in _pairs(said.get("template", [])).items():
        text = filled(target, path, names)
        texts[path] = text if _digest(text) == digest else f"another text, whose sha256 begins with {digest}\n"
    for head, *lines in bodies:
        _, path, _, old, *entries = head.split(" ")
        source = whole[old] if old in whole else inherited[old]
        texts[path] = changed(replaced(source, _pairs(entries[1:])), lines)
    return texts


def _parts(target: str, case: str) -> tuple[Mapping[str, list[str]], list[list[str]]]:
    """The lines on the package, by their first word, and the changes of files, each with its head."""
    said: dict[str, list[str]] = {}
    bodies: list[list[str]] = []
    for line in (GOLDEN / case / f"{target}.diff").read_text(encoding="utf-8").removesuffix("\n").split("\n"):
        if line.startswith("=== "):
            bodies.append([line])
        elif bodies:
            bodies[-1].append(line)
        else:
            key, *entries = line.split(" ")
            said.setdefault(key, []).extend(entries)
    return said, bodies
