"""The -javadoc.jar of a library: its public Kotlin declarations with their comments, as plain HTML pages."""

import re
import zipfile
from collections.abc import Iterator
from html import escape
from pathlib import Path, PurePosixPath

from packager.files.zips import ONE_SAMPLE, opened_zip, read_entry, write_zip

PARAMETERS = r"\((?:[^()]|\((?:[^()]|\(\))*\))*\)"
DOCUMENTED = re.compile(
    r"/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*(?:@[\w.:]+(?:\([^)]*\))?\s*)*"
    rf"(?P<declaration>public\s(?:[^\n(]*\bfun\s[^\n(]*{PARAMETERS})?[^\n]*)",
    re.DOTALL,
)
PACKAGE = re.compile(r"^package\s+([\w.`]+)", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
HEAD = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n<h1>{title}</h1>\n'
STYLE = "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}</style>\n"


def write_javadoc(jar: Path, title: str, sources: Path | None) -> Path:
    """Writes pages made of the comments in the -sources.jar `sources`; without sources a page that says so."""
    pages = dict(_pages(sources)) if sources else {}
    links = "".join(f'<li><a href="{escape(name)}">{escape(name[:-5])}</a>\n' for name in sorted(pages))
    listed = f"<ul>\n{links}</ul>\n" if links else "<p>This library has no sources in Kotlin of its own.</p>\n"
    index = HEAD.format(title=escape(title)) + STYLE + listed
    texts = {"index.html": index, **pages}
    return write_zip(jar, {PurePosixPath(name): text.encode() for name, text in texts.items()})


def _pages(sources: Path) -> Iterator[tuple[str, str]]:
    with sources.open("rb") as file, opened_zip(file, ONE_SAMPLE) as archive:
        for entry in archive.infolist():
            if entry.filename.endswith(".kt"):
                text = _text(archive, entry)
                if parts := [_part(*found) for found in DOCUMENTED.findall(text)]:
                    package = next(iter(PACKAGE.findall(text)), "").replace("`", "")
                    title = f"{package}.{PurePosixPath(entry.filename).stem}".lstrip(".")
                    yield f"{title}.html", HEAD.format(title=escape(title)) + STYLE + "".join(parts)


def _text(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> str:
    return read_entry(archive, entry).decode("utf-8", "replace")


def _part(comment: str, declaration: str) -> str:
    lines = [line.strip().removeprefix("*").removeprefix(" ").rstrip() for line in comment.strip().splitlines()]
    text = "\n".join(_paragraphs(lines))
    line = re.sub(r",? \)", ")", " ".join(declaration.split()).replace("( ", "("))
    return f"<h2><code>{escape(line.rstrip(' {=,(:'))}</code></h2>\n{text}\n"


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """HTML of a comment: paragraphs, tags of KDoc as such, and blocks of code."""
    for number, block in enumerate("\n".join(lines).split("```")):
        if number % 2:
            yield f"<pre>{escape(block.partition(chr(10))[2])}</pre>"
        else:
            yield from (f"<p>{_line(each)}</p>" for each in re.split(r"\n\s*\n|\n(?=@)", block) if each.strip())


def _line(text: str) -> str:
    return CODE.sub(r"<code>\1</code>", escape(" ".join(text.split())))
