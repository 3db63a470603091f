"""Links between files of the repository, as links between pages of the site."""

import re
from collections.abc import Mapping
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]+)(?P<anchor>#[^)\s]*)?\)")

PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")
DOCS = "docs/"


def for_site(markdown: str, source: str, pages: Mapping[str, str], root: Path) -> str:
    """The text of the file `source` with links that hold in the site.

    `pages` says for paths in the repository, which lies at `root`, where they are in the site. A link to another file
    of the repository becomes its path in words. One to nothing stays as it is: mkdocs refuses it.
    """

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found["text"], found["target"], found["anchor"] or ""
        path = normpath(join(dirname(source), target))
        page = pages.get(path) or pages.get(f"{path}/README.md")
        if page:
            return f"[{text}]({relpath(page, dirname(pages[source]) or '.')}{anchor})"
        if is_in_repository(root, path) and not anchor:
            return f"`{path}`" if text.strip("`") in (path, target) else f"{text} (`{path}` in the repository)"
        return found[0]

    def picture(found: re.Match[str]) -> str:
        path = normpath(join(dirname(source), found["target"]))
        if not path.startswith(DOCS):  # the site has those of docs/ alone
            return found[0]
        return f"![{found['text']}]({relpath(path.removeprefix(DOCS), dirname(pages[source]) or '.')})"

    return PICTURE.sub(picture, LINK.sub(link, markdown))


def is_in_repository(root: Path, path: str) -> bool:
    return not path.startswith(("/", "..")) and ":" not in path and (root / path).exists()
