"""Generated Kotlin keeps ktlint's official style and detekt's default rules, but for the rules named here."""

import re
import subprocess
from pathlib import Path

import pytest

from packager.targets.kotlin import kotlin
from tests.golden.trees import TREES
from tests.toolchain.require import fetched

OWN_TASTE = "ktlint's own taste: Kotlin's coding conventions and ktlint's style for Android Studio do not ask for it"
KTLINT_OFF = {
    "annotation": OWN_TASTE,
    "argument-list-wrapping": "tables of tensors and files have a row for each",
    "blank-line-between-when-conditions": OWN_TASTE,
    "chain-method-continuation": OWN_TASTE,
    "class-signature": OWN_TASTE,
    "enum-wrapping": OWN_TASTE,
    "filename": "a package without native code has one of the two classes of Assignment.kt",
    "function-signature": OWN_TASTE,
    "indent": "follows from multiline-expression-wrapping, which moves what is indented",
    "max-line-length": "hashes and the user's names are as long as they are",
    "multiline-expression-wrapping": OWN_TASTE,
    "package-name": "the group is the user's, and may have underscores",
    "parameter-list-wrapping": "the user's names are as long as they are",
    "property-wrapping": "tables of tensors and files have a row for each",
    "when-entry-bracing": OWN_TASTE,
}
DETEKT_OFF = {
    "CyclomaticComplexMethod": "the way to an external file's name is a table of steps",
    "DestructuringDeclarationWithTooManyEntries": "four numbers of one kind",
    "FunctionOnlyReturningConstant": "Java does not tell of heat: the function stands in for that of Android",
    "IteratorNotThrowingNoSuchElementException": "private: its only reader asks hasNext",
    "LongParameterList": "a model has as many tensors as it has, a picture its layout",
    "MagicNumber": "constants of formats and Android's levels stand beside the words that explain them",
    "MatchingDeclarationName": "a package without native code has one of the two classes of Assignment.kt",
    "MaxLineLength": "hashes, the user's names and their sentences are as long as they are",
    "MemberNameEqualsClassName": "private: the file of a copy",
    "NestedBlockDepth": "a download resumes in a loop in a stream in a file",
    "PackageNaming": "the group is the user's, and may have underscores",
    "ReturnCount": "a guard returns early",
    "SpreadOperator": "shapes have a few numbers",
    "SwallowedException": "the answer is another way to the same, and the words are told",
    "ThrowsCount": "each fault has words of its own",
    "TooGenericExceptionCaught": "what ONNX Runtime or another app's code throws is handed to the caller",
    "TooManyFunctions": "small functions are the aim",
    "UnusedParameter": "the tolerance of a provider may follow from its settings, in packages with such a one",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Kotlin of every golden package."""
    folder = tmp_path_factory.mktemp("packages")
    for target, cases in TREES.items():
        for case, made in cases.items():
            for path, text in made.texts().items():
                if path.suffix == ".kt":
                    place = folder / case / target / path
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_text(text, encoding="utf-8", newline="\n")
    return folder


def found(jar: Path, options: list[str], rule: str, folder: Path) -> dict[str, str]:
    """A place for each rule that the program names."""
    command = [str(kotlin.find_compiler().java), "-XX:TieredStopAtLevel=1", "-jar", str(jar), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    named = [(line, match) for line in done.stdout.splitlines() if (match := re.search(rule, line))]
    assert named, done.stderr[-2000:]
    return {match[1]: line for line, match in named}


def test_ktlint_names_the_rules_alone_that_are_off(kotlin_compiler: None, packages: Path, tmp_path: Path) -> None:
    settings = tmp_path / "editorconfig"
    settings.write_text("[*.kt]\nktlint_code_style = ktlint_official\n", encoding="utf-8")
    options = [f"--editorconfig={settings}", "--relative", "**/*.kt"]
    named = found(fetched("ktlint"), options, r"\(standard:([a-z-]+)\)", packages)
    assert named.keys() == KTLINT_OFF.keys(), {name: named.get(name) for name in named.keys() ^ KTLINT_OFF.keys()}


def test_detekt_names_the_rules_alone_that_are_off(kotlin_compiler: None, packages: Path) -> None:
    named = found(fetched("detekt"), ["--input", "."], r"\[([A-Za-z]+)\]", packages)
    assert named.keys() == DETEKT_OFF.keys(), {name: named.get(name) for name in named.keys() ^ DETEKT_OFF.keys()}
