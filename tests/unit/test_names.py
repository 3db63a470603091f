"""Names that Kotlin, Swift, TypeScript and Dart accept, whatever names an exporter wrote."""

import re
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from packager.core.contract import FUNCTIONS, TypedOutput
from packager.core.names import AROUND_PARAMETERS, camel_case, identifiers, pascal_case
from packager.targets.flutter import naming as dart
from packager.targets.kotlin import typed as kotlin
from tests.nights import examples

# Kotlin: hard keywords (Kotlin language documentation, "Keywords and operators").
KOTLIN = frozenset(
    "as break class continue do else false for fun if in interface is null object package return super this throw true "
    "try typealias typeof val var when while".split()
)
# Swift: reserved in declarations, statements and expressions (The Swift Programming Language, "Lexical Structure").
SWIFT = frozenset(
    "associatedtype class deinit enum extension fileprivate func import init inout internal let open operator private "
    "precedencegroup protocol public rethrows static struct subscript typealias var break case catch continue default "
    "defer do else fallthrough for guard if in repeat return throw switch where while Any as await false is nil self "
    "Self super throws true try".split()
)
# TypeScript: reserved words of strict mode and modules (ECMAScript, "Keywords and Reserved Words").
TYPESCRIPT = frozenset(
    "await break case catch class const continue debugger default delete do else enum export extends false finally for "
    "function if import in instanceof new null return super switch this throw true try typeof var void while with "
    "yield let static implements interface package private protected public arguments eval".split()
)
# Dart: reserved words, and members of every object (dart.dev/language/keywords, dart:core's Object).
DART = frozenset(
    "assert break case catch class const continue default do else enum extends false final finally for if in is new "
    "null rethrow return super switch this throw true try var void while with hashCode noSuchMethod runtimeType "
    "toString".split()
)
RESERVED_SOMEWHERE = KOTLIN | SWIFT | TYPESCRIPT | DART

EXPORTED = [
    "serving_default_input_2:0",
    "StatefulPartitionedCall:2",
    "onnx::Flatten_0",
    "x.1",
    "53",
    "input:0",
    "save_infer_model/scale_0.tmp_1",
    "past_key_values.0.decoder.key",
    "",
    ":",
    "__",
    "été",
    "输入",
    "Ⅷ",
    "🙂",
    "ﬀ",
]
few = settings(max_examples=examples(60), deadline=None)
tensor_names = st.one_of(
    st.sampled_from(EXPORTED),
    st.sampled_from(sorted(RESERVED_SOMEWHERE)),
    st.text(max_size=12),
    st.text(alphabet="aAbB01_.:/ ", max_size=6),
)


def is_legal(identifier: str) -> bool:
    return bool(re.fullmatch("[A-Za-z][A-Za-z0-9]*", identifier)) and identifier not in RESERVED_SOMEWHERE


@few
@given(names=st.lists(tensor_names, max_size=12))
def test_every_identifier_is_legal_in_all_languages(names: list[str]) -> None:
    assert [name for name in identifiers(names, prefix="input") if not is_legal(name)] == []


def test_no_word_of_any_of_the_languages_is_an_identifier() -> None:
    for word in sorted(RESERVED_SOMEWHERE):
        assert is_legal(identifiers([word], prefix="input")[0])


@few
@given(names=st.lists(tensor_names, max_size=12), taken=st.lists(st.sampled_from(["a", "a2", "input", "x1"])))
def test_identifiers_never_collide_with_each_other_or_with_taken_ones(names: list[str], taken: list[str]) -> None:
    made = identifiers(names, prefix="input", taken=taken)
    assert len(made) == len(names) == len({*made, *taken}) - len(set(taken))


@few
@given(names=st.lists(tensor_names, min_size=1, max_size=6, unique=True))
def test_identifiers_depend_only_on_the_names_before_them(names: list[str]) -> None:
    made = identifiers(names, prefix="output")
    assert all(identifiers(names[:count], prefix="output") == made[:count] for count in range(len(names)))


def test_names_as_exporters_write_them_become_readable() -> None:
    for name, identifier in [
        ("serving_default_input_2:0", "servingDefaultInput20"),
        ("StatefulPartitionedCall:2", "statefulPartitionedCall2"),
        ("onnx::Flatten_0", "onnxFlatten0"),
        ("x.1", "x1"),
        ("INPUT", "input"),
        ("été", "ete"),
        ("ﬁn", "fin"),
        ("53", "output53"),
        ("2nd_score", "output2ndScore"),
        ("输出", "output"),
        ("", "output"),
        ("class", "classValue"),
        ("Default", "defaultValue"),
        ("hash_code", "hashCodeValue"),
    ]:
        assert identifiers([name], prefix="output") == [identifier]


def test_a_name_that_is_taken_gets_the_first_free_number() -> None:
    assert identifiers(["a", "A", "a2", "a:", "a_2"], prefix="input") == ["a", "a2", "a22", "a3", "a23"]


def test_the_name_a_keyword_was_changed_to_can_be_taken_too() -> None:
    assert identifiers(["inValue", "in"], prefix="input") == ["inValue", "inValue2"]


def test_pascal_case_keeps_inner_capitals_and_lowers_words_of_capitals() -> None:
    assert [pascal_case(text) for text in ("mobile-net v2", "PP-OCRv6_rec_small", "VAD", "")] == [
        "MobileNetV2",
        "PpOCRv6RecSmall",
        "Vad",
        "",
    ]


@few
@given(text=st.text(max_size=20))
def test_camel_and_pascal_case_differ_in_the_first_letter_only(text: str) -> None:
    camel, pascal = camel_case(text), pascal_case(text)
    assert camel[1:] == pascal[1:]
    assert camel[:1].upper() == pascal[:1]


def test_a_name_that_one_language_keeps_from_parameters_is_kept_from_them_in_all() -> None:
    functions = {kind.DESCRIBED.function for kind in get_args(TypedOutput)} - {""}
    kept = {*kotlin.CALLED, *functions, *dart.LOCAL}
    assert kept - AROUND_PARAMETERS - FUNCTIONS == set()
