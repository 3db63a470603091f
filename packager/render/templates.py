"""Renders templates into texts and writes them to disk; all decisions are made in the views."""

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from packager.core import characters
from packager.core.characters import in_markup, in_one_line
from packager.core.values import Sources
from packager.files import host
from packager.files.installed import templates_folder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from jinja2 import Environment

SWIFT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
TYPESCRIPT = ".ts.j2"
SWIFT_GROUPED = 1_000_000
"""from this number on, Swift's formatter groups digits"""


def render(template: str, view: "DataclassInstance") -> str:
    """Renders `template`, a path below templates/, with the fields of `view` as its variables.

    An unknown variable raises jinja2.UndefinedError.
    """
    fields = {name: getattr(view, name) for name in view.__dataclass_fields__}
    return environment().get_template(template).render(fields)


def write_sources(sources: Sources, folder: Path) -> None:
    """Writes every text and copies every file of `sources` to its path below `folder`."""
    for path in (*sources.texts, *sources.files, *sources.links):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
    for path, text in sources.texts.items():
        (folder / path).write_text(text, encoding="utf-8", newline="\n")
    for path, file in sources.files.items():
        shutil.copyfile(file, folder / path)
    for path, target in sources.links.items():
        host.link(folder / path, target)


@cache
def environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    from packager.files.compiled_templates import CompiledTemplates

    made = Environment(  # source code, not HTML: every value passes its language's filter  # noqa: S701
        loader=FunctionLoader(_template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
        bytecode_cache=CompiledTemplates([Path(__file__), Path(characters.__file__)]),
    )
    made.filters.update(
        kotlin_string=kotlin_string,
        kdoc=kdoc,
        kdoc_code=kdoc_code,
        xml_text=xml_text,
        xml_attribute=xml_attribute,
        json_string=json_string,
        raw_json_string=raw_json_string,
        swift_string=swift_string,
        swift_doc=swift_doc,
        swift_integer=swift_integer,
        ts_string=ts_string,
        ts_doc=ts_doc,
        markdown_text=markdown_text,
        ruby_string=ruby_string,
        groovy_string=groovy_string,
        cpp_string=cpp_string,
        cpp_comment=cpp_comment,
        dart_string=dart_string,
        python_string=python_string,
        python_doc=python_doc,
    )
    return made


def _template(name: str) -> tuple[str, str, None] | None:
    """The text of a template. What lib/ lacks is made of the TypeScript in src/, where « and » enclose what only
    TypeScript has."""
    file = templates_folder() / name
    if file.is_file():
        text = file.read_text(encoding="utf-8")
        return re.sub("[«»]", "", text) if name.endswith(TYPESCRIPT) else text, str(file), None
    for ending, compiled in COMPILED.items():
        source = templates_folder() / (name.removesuffix(ending).replace("/lib/", "/src/") + TYPESCRIPT)
        if name.endswith(ending) and source.is_file():
            return compiled(source.read_text(encoding="utf-8")), str(source), None
    return None


def declarations(typescript: str) -> str:
    """A template of types as the compiler prints it: each list of parameters in one line."""
    text = re.sub(r"\(\n +", "(", typescript)
    text = re.sub(r",\n +(?=\w)", ", ", text)
    return _laid_out(text)


def javascript(typescript: str) -> str:
    """A template of TypeScript as the compiler prints it in JavaScript."""
    text = re.sub("«[^»]*»", "", typescript)
    text = re.sub(r"=>\n +", "=> ", text)
    text = re.sub(r"^( *)(if \(.*\)) ((?:return|throw) .*)", r"\1\2\n\1  \3", text, flags=re.MULTILINE)
    text = re.sub(r"^( *)\} catch", r"\1}\n\1catch", text, flags=re.MULTILINE)
    return _laid_out(text)


def _laid_out(text: str) -> str:
    """Without blank lines, indented by four spaces in the place of two."""
    text = re.sub(r",\n +\)", ")", text)
    text = re.sub(r"\n{2,}", "\n", text)
    return re.sub("^ +", lambda found: " " * (2 * len(found[0]) - len(found[0]) % 2), text, flags=re.MULTILINE)


COMPILED = {".d.ts.j2": declarations, ".js.j2": javascript}


def xml_text(text: str) -> str:
    """Escapes text between XML or HTML tags; the result is always well-formed."""
    return in_markup(escape(text))


def xml_attribute(text: str) -> str:
    """Quotes and escapes an attribute value."""
    return in_markup(quoteattr(text))


def kotlin_string(text: str) -> str:
    """Kotlin string literal, with quotes."""
    escaped = json.dumps(text).replace("$", "\\$")
    # Kotlin has all escapes of JSON except this one; a backslash before it may be half of an escaped backslash.
    return re.sub(r"\\(.)", lambda found: "\\u000c" if found[1] == "f" else found[0], escaped)


def dart_string(text: str) -> str:
    """Dart string literal, with quotes."""
    return json.dumps(text).replace("$", "\\$")


def python_string(text: str) -> str:
    """Python string literal, with double quotes where that needs no escapes; invisible characters are escaped."""
    literal = repr(text)
    return literal if '"' in text else '"' + literal[1:-1] + '"'


def python_doc(text: str) -> str:
    """Text safe in a docstring: one line of ASCII without quotes and backslashes."""
    return re.sub(r'["\\]', "'", in_one_line(text)).encode("ascii", "replace").decode()


def kdoc_code(text: str) -> str:
    """Text safe between backticks in a comment: one line, no backtick, no comment delimiters."""
    return in_one_line(text).replace("`", "'").replace("*/", "* /").replace("/*", "/ *")


def swift_string(text: str) -> str:
    """Swift string literal, with quotes; ASCII only, so that no character can be mistaken for another."""
    return '"' + "".join(_swift_character(character) for character in text) + '"'


def _swift_character(character: str) -> str:
    if character in SWIFT_ESCAPES:
        return SWIFT_ESCAPES[character]
    return character if " " <= character <= "~" else f"\\u{{{ord(character):X}}}"


def swift_doc(text: str) -> str:
    """Text safe between backticks in a `///` comment: one line, no backtick."""
    return in_one_line(text).replace("`", "'")


def swift_integer(number: int) -> str:
    """Swift integer literal; long numbers are grouped by three digits."""
    return f"{number:_}" if abs(number) >= SWIFT_GROUPED else str(number)


def ts_string(text: str) -> str:
    """TypeScript or JavaScript string literal in single quotes; ASCII only."""
    return "'" + json.dumps(text)[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def ts_doc(text: str) -> str:
    """Text safe between backticks in a `/** */` comment: one line, no backtick, no end of the comment."""
    return in_one_line(text).replace("`", "'").replace("*/", "* /")


def markdown_text(text: str) -> str:
    """Text as a Markdown paragraph: one line, without HTML or Markdown syntax."""
    line = in_one_line(text).strip().replace("&", "&amp;").replace("<", "&lt;")
    line = re.sub(r"[\\`*\[]|(?<![A-Za-z0-9])_|^[#>+=|~-]", lambda found: f"\\{found[0]}", line)
    return re.sub(r"^([0-9]+)([.)])", r"\1\\\2", line)


def ruby_string(text: str) -> str:
    """Ruby string literal, with quotes; ASCII only, without interpolation."""
    return '"' + "".join(_ruby_character(character) for character in text) + '"'


def _ruby_character(character: str) -> str:
    if character == "#":
        return "\\#"
    return SWIFT_ESCAPES.get(character) or (character if " " <= character <= "~" else f"\\u{{{ord(character):X}}}")


def groovy_string(text: str) -> str:
    """Groovy string literal in single quotes, without interpolation; ASCII only."""
    return ts_string(text)


def cpp_string(text: str) -> str:
    """C++ string literal in UTF-8, with quotes; octal escapes end after three digits."""
    return '"' + "".join(_cpp_byte(byte) for byte in text.encode()) + '"'


def cpp_comment(text: str) -> str:
    """Text safe in a `//` comment: one line of ASCII that does not end in a backslash."""
    return in_one_line(text).replace("\\", "/").encode("ascii", "replace").decode()


def _cpp_byte(byte: int) -> str:
    character = chr(byte)
    if character in '"\\?':
        return f"\\{character}"
    return character if " " <= character <= "~" else f"\\{byte:03o}"


def json_string(text: str) -> str:
    return json.dumps(text)


def raw_json_string(text: str) -> str:
    """A string of JSON in a raw string of Kotlin, where a dollar sign would begin a template."""
    return json_string(text).replace("$", "\\u0024")


def kdoc(text: str) -> str:
    """Text safe inside a KDoc comment: one line, no end of comment, no link."""
    return in_one_line(text).replace("*/", "*&#47;").replace("/*", "/&#42;").replace("[", "&#91;").replace("]", "&#93;")
