"""Values in generated source code: whatever they hold, they cannot change the code."""

import html
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import jinja2
import markdown_it
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from packager.core.characters import in_one_line, shown
from packager.files.compiled_templates import CompiledTemplates
from packager.files.installed import templates_folder
from packager.files.user_cache import cache_folder
from packager.render.templates import (
    cpp_string,
    environment,
    groovy_string,
    kdoc,
    kdoc_code,
    kotlin_string,
    markdown_text,
    render,
    ruby_string,
    swift_doc,
    swift_integer,
    swift_string,
    ts_doc,
    ts_string,
)
from tests.nights import examples

QUOTE = '"'
few = settings(max_examples=examples(150), deadline=None)
characters = st.characters(exclude_categories=["Cs"])
texts = st.text(st.one_of(characters, st.sampled_from("\\\"'$fnu{}*/[]`\n\r\t\f\b\0\u2028")), max_size=12)


def kotlin_reads(literal: str) -> str:
    """The text that a Kotlin compiler reads in a string literal (Kotlin specification, "String literals")."""
    assert literal[0] == literal[-1] == '"'
    simple = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "'": "'", '"': '"', "\\": "\\", "$": "$"}
    units, rest = "", literal[1:-1]
    while rest:
        found = re.match(r"\\(?:u([0-9a-fA-F]{4})|(.))|[^\"\\$\n\r]", rest)
        assert found, f"not Kotlin: {rest!r}"
        units += chr(int(found[1], 16)) if found[1] else simple[found[2]] if found[2] else found[0]
        rest = rest[found.end() :]
    return units.encode("utf-16", "surrogatepass").decode("utf-16")


@few
@given(text=texts)
@example(text='C:\\foo\\new $price ${x}\f"')
@example(text="🙂\u2028")
def test_a_kotlin_string_literal_means_the_text(text: str) -> None:
    assert kotlin_reads(kotlin_string(text)) == text


@few
@given(text=texts)
@example(text="*/ evil() /*")
@example(text="/*/")
@example(text="**//*")
def test_text_in_a_comment_never_ends_it_nor_opens_another(text: str) -> None:
    for written in (kdoc(text), kdoc_code(text)):
        assert "*/" not in written
        assert "/*" not in written
        assert len(written.splitlines()) <= 1


@few
@given(text=texts)
def test_text_between_backticks_stays_between_them(text: str) -> None:
    assert "`" not in kdoc_code(text)


def swift_reads(literal: str) -> str:
    """The text that a Swift compiler reads in a string literal (The Swift Programming Language, "String Literals")."""
    assert literal[0] == literal[-1] == '"'
    simple = {"0": "\0", "t": "\t", "n": "\n", "r": "\r", "'": "'", '"': '"', "\\": "\\"}
    text, rest = "", literal[1:-1]
    while rest:
        found = re.match(r"\\(?:u\{([0-9a-fA-F]{1,8})\}|([^u(]))|[^\"\\\n\r]", rest)
        assert found, f"not Swift: {rest!r}"
        text += chr(int(found[1], 16)) if found[1] else simple[found[2]] if found[2] else found[0]
        rest = rest[found.end() :]
    return text


@few
@given(text=texts)
@example(text='\\(evil()) "quoted" \\u{41} \\')
@example(text="🙂\u2028*/\u202e")
def test_a_swift_string_literal_means_the_text_in_ascii(text: str) -> None:
    assert swift_reads(swift_string(text)) == text
    assert swift_string(text).isascii()


@few
@given(text=texts)
@example(text="`\u2028\x85 evil()")
def test_text_in_a_swift_comment_stays_on_its_line_and_between_its_backticks(text: str) -> None:
    assert len(swift_doc(text).splitlines()) <= 1
    assert "`" not in swift_doc(text)


def test_long_swift_numbers_have_their_digits_in_groups() -> None:
    assert (swift_integer(999_999), swift_integer(1_000_000), swift_integer(-12_345_678)) == (
        "999999",
        "1_000_000",
        "-12_345_678",
    )


def test_kdoc_makes_no_links() -> None:
    assert kdoc("see [Other]") == "see &#91;Other&#93;"


@few
@given(text=st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=12))
def test_xml_keeps_the_text_in_elements_and_attributes(text: str) -> None:
    template = environment().from_string("<a b={{ text | xml_attribute }}>{{ text | xml_text }}</a>")
    element = ElementTree.fromstring(template.render(text=text))
    assert (element.get("b"), element.text or "") == (shown(text), shown(text))


@dataclass(frozen=True)
class View:
    name: str


def test_a_template_sees_the_fields_of_its_view_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.j2").write_text("{% if name %}\nhello {{ name }}\n{% endif %}\n")
    monkeypatch.setattr(environment(), "loader", jinja2.FileSystemLoader(tmp_path))
    assert render("t.j2", View(name="you")) == "hello you\n"
    (tmp_path / "u.j2").write_text("hello {{ nmae }}\n")
    monkeypatch.setattr(environment(), "loader", jinja2.FileSystemLoader(tmp_path))
    with pytest.raises(jinja2.UndefinedError, match="nmae"):
        render("u.j2", View(name="you"))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with compiled templates, as a new process finds it: `written` makes one, and has read none."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder() / "templates"


def written(folder: Path, text: str) -> str:
    """Renders a template with `text` as a new process does."""
    (folder / "t.j2").write_text(text)
    fresh = environment.__wrapped__()
    fresh.loader = jinja2.FileSystemLoader(folder)
    return fresh.get_template("t.j2").render(name="you")


def test_compiled_templates_are_current_and_optional(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert written(tmp_path, "hello {{ name }}") == "hello you"
    (file,) = kept.iterdir()
    compiled = file.stat().st_ino
    assert written(tmp_path, "hello {{ name }}") == "hello you"
    assert file.stat().st_ino == compiled
    assert written(tmp_path, "bye {{ name }}") == "bye you"
    assert list(kept.iterdir()) == [file]
    for version in ("1", "2"):
        (tmp_path / "version").write_text(version)
        made = jinja2.Environment(
            loader=jinja2.FileSystemLoader(tmp_path), bytecode_cache=CompiledTemplates([tmp_path / "version"])
        )
        made.filters["upper"] = lambda text, version=version: f"{text} {version}"
        (tmp_path / "t.j2").write_text("{{ 'a' | upper }}")  # which Jinja computes as it compiles
        assert made.get_template("t.j2").render() == f"a {version}"
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert written(tmp_path, "hello {{ name }}") == "hello you"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (cache_folder() / "templates").touch()
    assert written(tmp_path, "hello {{ name }}") == "hello you"


@pytest.mark.parametrize("place", [0, 31, 32, 40, -1])
def test_a_damaged_compiled_template_is_compiled_again(kept: Path, tmp_path: Path, place: int) -> None:
    written(tmp_path, "hello {{ name }}")
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    damaged = bytearray(whole)
    damaged[place] ^= 1
    for content in (bytes(damaged), whole[:place], b""):
        file.write_bytes(content)
        assert written(tmp_path, "hello {{ name }}") == "hello you"
        assert file.read_bytes() == whole


def test_every_template_is_where_the_package_looks_and_ends_with_one_newline() -> None:
    assert (templates_folder() / "android").is_dir()
    for path in sorted(templates_folder().rglob("*.j2")):
        text = path.read_text(encoding="utf-8")
        environment().parse(text, filename=path.name)
        assert text.endswith("\n"), path.name
        assert not text.endswith("\n\n"), path.name
        assert "\r" not in text, path.name


def javascript_reads(literal: str) -> str:
    """The text that JavaScript reads in a string literal (ECMA-262, "String Literals"); Groovy has the same rules."""
    assert literal[0] == literal[-1] == "'"
    simple = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "'": "'", "\\": "\\"}
    units, rest = "", literal[1:-1]
    while rest:
        found = re.match(r"\\(?:u([0-9a-fA-F]{4})|([tbnrf'\\]))|[^'\\\n\r]", rest)
        assert found, f"not JavaScript: {rest!r}"
        units += chr(int(found[1], 16)) if found[1] else simple[found[2]] if found[2] else found[0]
        rest = rest[found.end() :]
    return units.encode("utf-16", "surrogatepass").decode("utf-16")


@few
@given(text=texts)
@example(text="it's \\\\\"quoted\"\\' ${x}")
@example(text="\u2028🙂</script>")
def test_a_typescript_string_literal_means_the_text(text: str) -> None:
    assert javascript_reads(ts_string(text)) == text
    assert ts_string(text).isascii()


@few
@given(text=texts)
@example(text="\\u0027 $x ${x}")
def test_a_groovy_string_literal_means_the_text(text: str) -> None:
    written = groovy_string(text)
    assert javascript_reads(written) == text
    # Older Groovy reads \\uXXXX before anything else: such a one must not be a quote or the end of a line.
    escaped = {chr(int(code, 16)) for code in re.findall(r"(?<!\\)(?:\\\\)*\\u([0-9a-f]{4})", written)}
    assert not escaped & set("'\n\r\\")


def ruby_reads(literal: str) -> str:
    """The text that Ruby reads in a double-quoted string (doc/syntax/literals.rdoc); nothing in it may be evaluated."""
    assert literal[0] == literal[-1] == '"'
    simple = {"t": "\t", "n": "\n", "r": "\r", '"': '"', "\\": "\\", "#": "#"}
    text, rest = "", literal[1:-1]
    while rest:
        found = re.match(r'\\(?:u\{([0-9a-fA-F]{1,6})\}|([tnr"\\#]))|[^"\\#\n\r]', rest)
        assert found, f"not Ruby: {rest!r}"
        text += chr(int(found[1], 16)) if found[1] else simple[found[2]] if found[2] else found[0]
        rest = rest[found.end() :]
    return text


@few
@given(text=texts)
@example(text="#{evil} #$x #@x \\#{}")
def test_a_ruby_string_literal_means_the_text(text: str) -> None:
    assert ruby_reads(ruby_string(text)) == text


def cpp_reads(literal: str) -> bytes:
    """The text that C++ reads in a string literal (lex.ccon): an octal escape has three digits at most."""
    assert literal[0] == literal[-1] == '"'
    found, rest = b"", literal[1:-1]
    while rest:
        piece = re.match(r'\\(?:([0-7]{1,3})|(["\\?]))|[^"\\\n\r]', rest)
        assert piece, f"not C++: {rest!r}"
        found += bytes([int(piece[1], 8)]) if piece[1] else (piece[2] or piece[0]).encode()
        rest = rest[piece.end() :]
    return found


@few
@given(text=texts)
@example(text='é1 ??/ "')
@example(text="\x007")
def test_a_cpp_string_literal_means_the_text(text: str) -> None:
    assert cpp_reads(cpp_string(text)) == text.encode()
    assert "??" not in cpp_string(text), "a trigraph before C++17"


@few
@given(text=texts)
@example(text="*/ evil() /*")
@example(text="**//")
@example(text="*\u200b/ `${x}` \u202e")
def test_text_in_a_typescript_comment_neither_ends_it_nor_turns_it_round(text: str) -> None:
    written = ts_doc(text)
    assert "*/" not in written
    assert "`" not in written
    assert not re.search("[\u200b\u202a-\u202e\u2066-\u2069]", written)
    assert len(written.splitlines()) <= 1


@few
@given(text=texts)
@example(text="# 1. <!-- *b* _i_ `c` [l](m) ![n] &lt; ~~~ \\")
@example(text="12) three\n\n    four\u202e <b>")
@example(text="- - -")
@example(text="a_b and mobilenet_v2, __c__")
def test_text_in_markdown_is_a_paragraph_and_nothing_else(text: str) -> None:
    said = in_one_line(text).strip()
    page = markdown_it.MarkdownIt("commonmark").render(markdown_text(text))
    assert page == (f"<p>{html.escape(said, quote=False).replace(QUOTE, '&quot;')}</p>\n" if said else "")
