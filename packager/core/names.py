"""Turns tensor and model names into identifiers that are valid in Kotlin, Swift, TypeScript and Dart."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

NO_DEVICE = r"(?!(?i:con|prn|aux|nul|com[1-9]|lpt[1-9])$)"
"""Windows has no files of these names, whatever their suffix: learn.microsoft.com/windows/win32/fileio/naming-a-file"""
EXAMPLE_GROUP = "com.example"
"""Maven group of examples, and of projects that name none: it belongs to nobody."""
PACKAGE_NAME = re.compile(NO_DEVICE + r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MODEL_NAME = re.compile(NO_DEVICE + r"[A-Za-z][A-Za-z0-9_-]*")

# Hard keywords of the languages, plus members every generated class has.
# Kotlin: kotlinlang.org/docs/keyword-reference.html (hard keywords). Swift: The Swift Programming Language,
# "Lexical Structure", keywords used in declarations, statements, expressions. TypeScript: ECMA-262 12.7.2.
# Dart: what is reserved there alone.
RESERVED = frozenset(
    """
    as break class continue do else false for fun if in interface is null object package return super this
    throw true try typealias typeof val var when while
    associatedtype deinit enum extension fileprivate func import init inout internal let open operator private
    precedencegroup protocol public rethrows static struct subscript case catch default defer fallthrough guard
    repeat switch where any await nil self throws
    const debugger delete export extends finally function instanceof new void with yield async implements
    protected arguments eval undefined constructor prototype
    equals getClass hashCode notify notifyAll toString wait
    assert final late noSuchMethod rethrow runtimeType
    """.split()
)

# Names in the code around a parameter of a typed method, in one of the languages: a parameter has another name in all.
AROUND_PARAMETERS = frozenset(
    """
    android answer cancel cancellation carried carry count descriptor firstFrame firstState frame generated given
    inputOf ios isFirst isLast latestOf loadAs nextState options output outputs part pcmTensors pictureTensors
    rankedBy rankedInLists resultOf resultsOf row rowCount rowsOf run runBlocking seed seedTensor session signal
    some soundTensors source state tensors tensorsOf textTensor textsTensor top topOf turn useLoaded
    """.split()
)


def kebab_case(field: str) -> str:
    """`min_sdk` -> `min-sdk`: the key in mobpack.toml for a field in code."""
    return field.replace("_", "-")


def file_part(text: str) -> str:
    """`Int8 (v2)` -> `int8-v2`: a part of a file's name; empty if `text` has no usable characters."""
    return re.sub(r"[^a-z0-9]+", "-", _plain(text).lower()).strip("-")


def camel_case(text: str) -> str:
    """`serving_default_input_2:0` -> `servingDefaultInput20`; empty if `text` has no usable characters."""
    words = _words(text)
    return "".join([words[0][:1].lower() + words[0][1:], *(_capital(word) for word in words[1:])]) if words else ""


def snake_case(identifier: str) -> str:
    """`inputIds` -> `input_ids`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier).lower()


def pascal_case(text: str) -> str:
    """`mobile-net v2` -> `MobileNetV2`; empty if `text` has no usable characters."""
    return "".join(_capital(word) for word in _words(text))


def identifiers(names: Iterable[str], *, prefix: str, taken: Iterable[str] = ()) -> list[str]:
    """One camelCase identifier per name, in order, all different.

    `prefix` precedes names that start with a digit or have no letters: `53` -> `output53`. A reserved word gets the
    suffix `Value`, a duplicate the first free number from 2 on.
    """
    used = set(taken)
    result = []
    for name in names:
        candidate = camel_case(name)
        if not candidate[:1].isalpha():
            candidate = prefix + candidate
        if candidate in RESERVED:
            candidate += "Value"
        unique, number = candidate, 2
        while unique in used:
            unique, number = f"{candidate}{number}", number + 1
        used.add(unique)
        result.append(unique)
    return result


def plural(identifier: str) -> str:
    """Name of a list: `text` -> `texts`, `query` -> `queries`."""
    if identifier.endswith("y") and identifier[-2:-1] not in "aeiou":
        return f"{identifier[:-1]}ies"
    return f"{identifier}es" if identifier.endswith(("s", "x", "ch", "sh")) else f"{identifier}s"


def model_name(path: Path) -> str:
    """`PP-OCRv6_rec_small.onnx` -> `PP-OCRv6_rec_small`; falls back on `model`."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", _plain(path.stem)).strip("-_")
    return name if MODEL_NAME.fullmatch(name) else f"model-{name}".rstrip("-")


def package_name(path: Path) -> str:
    """`MobileNet V2.onnx` -> `mobilenet-v2`; falls back on `model`."""
    name = re.sub(r"[^a-z0-9]+", "-", _plain(path.stem).lower()).strip("-")
    return name if PACKAGE_NAME.fullmatch(name) else f"model-{name}".rstrip("-")


def _words(text: str) -> list[str]:
    """Runs of ASCII letters and digits; accents are dropped, an all-capitals name is lowered."""
    words = re.findall(r"[A-Za-z0-9]+", _plain(text))
    return [word.lower() if word.isupper() and len(word) > 1 else word for word in words]


def _plain(text: str) -> str:
    """ASCII only: drops accents, and letters without an ASCII base."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
