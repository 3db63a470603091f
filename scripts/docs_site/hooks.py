"""Hooks of mkdocs: pages that are not in docs/, and links as they are in the repository."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts.docs_site import api, links

AFTER_CODE = re.compile(r"^( +```)\n(?=- )", re.MULTILINE)
"""A list item that Python-Markdown sees only behind a blank line."""
ROOT = Path(__file__).parents[2]
SAMPLES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("sample_apps/*/README.md"))
PICTURES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("sample_apps/*/*.png"))
FIGURES = {
    path.relative_to(ROOT).as_posix(): f"figures/{path.name}" for path in sorted(ROOT.glob("benchmarks/results/*.md"))
}
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    **{path: path for path in ("sample_apps/README.md", *SAMPLES)},
    **FIGURES,
    **{path: path for path in PICTURES},
}
"""Pages and pictures that are not in docs/: path in the repository -> in the site."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts all decisions into the navigation, by their numbers, and all figures."""
    for entry in config.nav or ():
        if entry.get("Decisions") == "adr/":
            names = sorted(path.name for path in Path(config.docs_dir, "adr").glob("[0-9]*.md"))
            entry["Decisions"] = ["adr/README.md", *(f"adr/{name}" for name in names)]
        if entry.get("Figures") == "figures/":
            entry["Figures"] = [*FIGURES.values()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, uri in OUTSIDE.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    for uri, text in api.pages().items():
        files.append(File.generated(config, uri, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]  # there is nothing beside it
    uris = {uri: path for path, uri in OUTSIDE.items()}
    pages = {uris.get(file.src_uri, f"docs/{file.src_uri}"): file.src_uri for file in files}
    markdown = AFTER_CODE.sub("\\1\n\n", markdown)
    return links.for_site(markdown, uris.get(page.file.src_uri, f"docs/{page.file.src_uri}"), pages, ROOT)
