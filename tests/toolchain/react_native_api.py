"""React Native's Android API: its published classes, and the list of binary signatures that it checks itself with.

The classes are those of `react-android` on Maven Central, the list is that of the locked npm package, which is newer.
`react_native/android/fakes` has what stays a stand-in: `Arguments`, which needs native code of phones, and annotations
and a class of libraries that React Native depends on.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from packager.files.zips import write_zip
from tests.cases.archives import read_zip
from tests.toolchain import class_files, jvm, maven, node
from tests.toolchain.class_files import ClassFile, Member
from tests.toolchain.kept import kept
from tests.toolchain.require import fetched

FAKES = Path(__file__).with_name("react_native") / "android" / "fakes"
ANDROID = Path("node_modules", "react-native", "ReactAndroid")
PREFIX = "com/facebook/"
CLASS = re.compile(r"(?P<flags>[a-z ]*?) (?:annotation )?(?:class|interface) (?P<name>\S+)(?: : (?P<above>.*))? \{")
MEMBER = re.compile(r"\t(?P<flags>[a-z ]*?) ?(?:fun|field) (?P<name>\S+) (?P<descriptor>\S+)")


@dataclass(frozen=True)
class Api:
    """The public and protected part of React Native's classes."""

    members: frozenset[Member]
    abstract: frozenset[Member]
    above: Mapping[str, tuple[str, ...]]
    """class -> its superclass and interfaces; names as class files have them"""

    def has(self, member: Member) -> bool:
        """Whether `member` can be linked: the class or one above it has it."""
        if member in self.members:
            return True
        owners = self.above.get(member.owner, ())
        return any(self.has(Member(owner, member.name, member.descriptor)) for owner in owners)


def api() -> Api:
    """Contents of `ReactAndroid.api` of the locked React Native."""
    text = (node.project("react_native") / ANDROID / "api" / "ReactAndroid.api").read_text(encoding="utf-8")
    return read(text)


def read(text: str) -> Api:
    """The format is that of Kotlin's binary-compatibility-validator."""
    members: dict[Member, bool] = {}
    above: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in text.splitlines():
        if found := CLASS.fullmatch(line):
            name = found["name"]
            above[name] = tuple((found["above"] or "").split(", ")) if found["above"] else ()
        elif found := MEMBER.fullmatch(line):
            members[Member(name, found["name"], found["descriptor"])] = "abstract" in found["flags"].split()
        elif line.strip(" }"):
            raise AssertionError(f"ReactAndroid.api has a line of an unknown kind: {line}")
    return Api(frozenset(members), frozenset(each for each in members if members[each]), above)


@cache
def classes() -> Path:
    """A jar with React Native's classes, stand-ins in their places, for compiling and for running."""
    published, stand_ins = maven.classes_of(fetched("react-android")), fakes()

    def make(folder: Path) -> None:
        write_zip(folder / "classes.jar", {**read_zip(published), **read_zip(stand_ins)})

    return kept("react-android", make, published, stand_ins) / "classes.jar"


@cache
def fakes() -> Path:
    """The stand-ins alone."""
    path = [maven.classes_of(fetched("react-android")), jvm.fakes()]
    return jvm.compile_kotlin(sorted(FAKES.glob("*.kt")), classpath=path)


def references(jar: Path) -> frozenset[Member]:
    """All members of React Native that the classes of `jar` call or read."""
    used: frozenset[Member] = frozenset().union(*(each.referred for each in class_files_of(jar)))
    return frozenset(member for member in used if member.owner.startswith(PREFIX))


def class_files_of(jar: Path) -> list[ClassFile]:
    return [class_files.read(content) for name, content in read_zip(jar).items() if name.suffix == ".class"]
