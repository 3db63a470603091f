"""Invisible characters reach no package: refused in a project, shown or escaped if they come from a model."""

import json
import re
import tomllib
import unicodedata
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.config import from_document
from packager.contract.labels import labels_for
from packager.core import characters
from packager.core.characters import in_markup, in_one_line, shown, to_json, toml_string, unseen
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.toml import DEEPEST
from packager.workflows.confinement import refuse_outside
from tests.cases.cli import Mobpack, mobpack

__all__ = ["mobpack"]

PERSIAN, FAMILY, ENGLAND, HEART = (
    "می\u200cخو\u0627\u0647م",
    "👩\u200d👩\u200d👧",
    "🏴\U000e0067\U000e0062\U000e0065\U000e007f",
    "❤\ufe0f",
)
BAD = (
    "\x00 \x01 \x0b \x1b \x7f \x85 \xad \u061c \u180e \u200b \u200e \u200f \u2028 \u2029 \u202a \u202e \u2060 \u2066"
    " \u2069 \ufeff \ufffe \uffff \ufdd0 \ud800 \udfff \U0001fffe \U000e0001 \U0010ffff"
).split(" ")
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("\u200c\u200d\u202e\x01می👩a")), max_size=8)


@pytest.mark.parametrize("character", BAD, ids=lambda character: f"U+{ord(character):04X}")
def test_what_nobody_sees_is_found_wherever_it_stands(character: str) -> None:
    for text in (character, f"a{character}b", f"م{character}ی", f"{character}a", f"a{character}"):
        assert unseen(text) == character
        assert character not in shown(text)
        assert shown(text).isprintable()


@pytest.mark.parametrize(
    "text", [PERSIAN, FAMILY, ENGLAND, HEART, "naïve Å 中文 العربية עברית ไทย हिन्दी", "two\nlines\tand"]
)
def test_text_of_all_languages_stays_as_it_is(text: str) -> None:
    assert unseen(text) == ""
    assert shown(text) == text


@pytest.mark.parametrize(
    "text", ["pass\u200dword", "a\u200c", "\u200cم", "م\u200c", "م\u200d\u200dم", "a\U000e0067\U000e007f"]
)
def test_joiners_and_tags_that_join_nothing_are_found(text: str) -> None:
    assert unseen(text)


def test_unicode_has_no_control_or_format_character_that_is_not_known() -> None:
    """Except visible ones, tabs and line ends."""
    missed = [
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        and not characters.any_unseen().fullmatch(character)
    ]
    seen = {
        "\t",
        "\n",
        "\r",
        *map(chr, range(0x600, 0x606)),
        "\u06dd",
        "\u070f",
        "\u08e2",
        "\u0890",
        "\u0891",
        "\U000110bd",
        "\U000110cd",
    }
    assert [each for each in missed if each not in seen and not 0x13430 <= ord(each) <= 0x1345F] == []


@settings(deadline=None)
@given(text=TEXTS)
def test_json_means_the_same_and_holds_none_of_them(text: str) -> None:
    for document in (text, {text: [text]}):
        written = to_json(document, indent=2)
        assert json.loads(written) == document
        assert not characters.any_unseen().search(written)
    assert to_json("ä中🙂") == '"ä中🙂"'


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_toml_means_the_same_and_holds_none_of_them(text: str) -> None:
    written = toml_string(text)
    assert tomllib.loads(f"key = {written}") == {"key": text}
    assert not characters.any_unseen().search(written)


@settings(deadline=None)
@given(text=TEXTS)
def test_markup_is_well_formed_and_a_comment_is_one_line(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    found = ElementTree.fromstring(f"<a>{in_markup(escaped)}</a>").text or ""
    assert found == shown(text).replace("\r\n", "\n").replace("\r", "\n")
    assert not characters.any_unseen().search(in_markup(text))
    assert not re.search(r"[\n\r\t]", in_one_line(text))
    assert not characters.any_unseen().search(in_one_line(text))


def test_a_terminal_gets_none_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    console, text = Console(), "tensor \x1b[31m\u202egnp\udcff"
    console.say(text)
    console.warn(text)
    console.error(text, text)
    console.table(text, ["a"], [[text]])
    console.result(text)
    with console.step(text):
        pass
    said = "".join(capsys.readouterr())
    assert said.count(r"tensor \u001b[31m\u202egnp\udcff") == 8
    assert not characters.any_unseen().search(said)


def document(**package: str) -> dict[str, object]:
    return {"package": {"name": "m", **package}, "model": {"m": {"path": "m.onnx"}}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"package": {"name": "m", "description": "a\u0001b"}}, "package.description: U+0001 (control character)"),
        ({"package": {"name": "m", "license": "MIT\u202e"}}, "package.license: U+202E (right-to-left override)"),
        (
            {"package": {"name": "m", "description": "\ufeffa"}},
            "package.description: U+FEFF (zero width no-break space)",
        ),
        (
            {"model": {"m": {"path": "m.onnx", "shapes": {"b\u200b": 1}}}},
            "model.m.shapes.b\\u200b: U+200B (zero width space)",
        ),
        ({"target": {"android": {"group": "a.b\u2066"}}}, "target.android.group: U+2066 (left-to-right isolate)"),
        ({"target": {"android": {"providers": ["cpu\u200d"]}}}, "target.android.providers: U+200D (zero width joiner)"),
    ],
)
def test_a_project_with_one_is_refused_by_key_and_number(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        from_document({**document(), **changes}, Path(), targets=(), settings=())
    assert error.value.message == f"{said} is not allowed here"


def test_projects_with_one_are_refused_but_not_in_persian_with_emoji(mobpack: Mobpack, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^package\.license: U\+202E"):
        from_document(document(), Path(), targets=(), settings=["package.license=MIT\u202e"])
    text = f"{PERSIAN} {FAMILY} {ENGLAND} {HEART}"
    made = from_document(document(description=text), Path(), targets=(), settings=())
    assert made.package.description == text
    (tmp_path / "mobpack.toml").write_text('\ufeff[package]\nname = "m"\nversoin = "1"\n', encoding="utf-8")
    answer = mobpack("check")
    assert answer.code == ConfigError.EXIT_CODE
    assert "package: unknown key 'versoin'" in answer.err


def test_labels_and_licences_with_one_are_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    path.write_text("cat\nd\u200bog\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"labels\.txt:2: U\+200B \(zero width space\) is not allowed in a label"):
        labels_for(path, 2)
    path.write_text(f"\ufeff{PERSIAN}\n{FAMILY}\n", encoding="utf-8")
    assert labels_for(path, 2) == (PERSIAN, FAMILY)
    path = tmp_path / "LICENSE.txt"
    (tmp_path / "m.onnx").write_bytes(b"")
    tables = {"model": {"m": {"path": "m.onnx", "license": "LICENSE.txt"}}}
    made = from_document({**document(), **tables}, tmp_path, targets=(), settings=())
    path.write_text(f"\ufeffMIT\r\n\fCopyright {PERSIAN}\n", encoding="utf-8")
    refuse_outside(made, tmp_path)
    path.write_text("MIT\nnot \u202eelbail\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^model\.m\.license: .*LICENSE\.txt:2: U\+202E \(right-to-left override\)"):
        refuse_outside(made, tmp_path)


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, "x = " + "[" * 5000 + "]" * 5000, "[" + "a." * 5000 + "b]\n"])
def test_thousands_of_nested_arrays_are_an_error_in_words(mobpack: Mobpack, tmp_path: Path, text: str) -> None:
    (tmp_path / "mobpack.toml").write_text(text, encoding="utf-8")
    for answer in (mobpack("check"), mobpack("check", "m.onnx", "--set", f"package.description={'[' * 5000}")):
        assert answer.code == ConfigError.EXIT_CODE
        assert f"more than {DEEPEST} nested tables or arrays" in answer.err


@pytest.mark.parametrize("number", ["9" * 5000, "1" + "0" * 4000])
def test_a_number_of_thousands_of_digits_is_an_error_in_words(mobpack: Mobpack, tmp_path: Path, number: str) -> None:
    (tmp_path / "mobpack.toml").write_text(f"[parity]\nseed = {number}\n", encoding="utf-8")
    answer = mobpack("check")
    assert answer.code == ConfigError.EXIT_CODE
    assert "Traceback" not in answer.err
