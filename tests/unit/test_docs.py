"""Rules for every page of docs/: an opening of three parts, and links that lead somewhere."""

import re
from functools import cache
from pathlib import Path

from benchmarks.results.__main__ import written

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RECORDS = (
    "android/kotlin/ProofRecord.kt.j2",
    "flutter/lib/src/runtime/proof_record.dart",
    "ios/swift/ProofRecord.swift.j2",
    "typescript/src/runtime/proving/record.ts",
)
PAGES = [*sorted(DOCS.glob("*.md")), *sorted((DOCS / "guides").glob("*.md"))]
OF_THEIR_OWN = ("conformance", "providers", "zoo")
"""pages of figures that a benchmark writes by itself"""
RESULTS = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
LINKING = [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *RESULTS]
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_a_page_opens_with_what_it_is_for_the_command_and_the_result() -> None:
    for path in PAGES:
        title, purpose, command, result, *_ = path.read_text(encoding="utf-8").split("\n\n")
        assert re.fullmatch(r"# [^\n]+", title), path
        assert re.fullmatch(r"    \S[^\n]*", command), f"{path}: one command"
        for words in (purpose, result):
            assert re.fullmatch(r"[A-Z][^\n]+(\n[^\n]+){0,2}", words), f"{path}: a few lines"
        assert result.startswith("The result "), path


@cache
def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes from a page's titles."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_to_files_and_sections_that_exist() -> None:
    for path in LINKING:
        for target in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", path.read_text(encoding="utf-8"))):
            file, _, section = target.partition("#")
            to = path.parent / file if file else path
            assert "://" in target or to.exists(), f"{path}: {target}"
            assert "://" in target or not section or section in anchors(to), f"{path}: {target}"


def test_a_page_of_figures_names_its_command_date_and_machine() -> None:
    """`python -m benchmarks.results` or a program of its own writes it, and docs/performance.md leads to it."""
    leading = (DOCS / "performance.md").read_text(encoding="utf-8")
    for path in RESULTS:
        title, command, facts, *_ = path.read_text(encoding="utf-8").split("\n\n")
        if path.stem in OF_THEIR_OWN:
            command = facts
        else:
            assert title == f"# {path.stem}", path
            assert re.fullmatch(r"20\d\d-\d\d-\d\d; [^;]+, [^;]+; [^;]+ \d[^;]*\.", facts), path
        module = command.split()[2]
        assert module.rpartition(".")[2] == path.stem, path
        file = ROOT / module.replace(".", "/")
        assert file.with_suffix(".py").exists() or (file / "__main__.py").exists(), path
        assert f"(../benchmarks/results/{path.name})" in leading, path


def test_figures_keep_their_notes_and_the_readme_leads_to_every_page() -> None:
    before = written("pictures", (), "| old |", "", 0)
    after = written("pictures", ("A B",), "| new |", f"{before}\n## Notes\n\nKept.\n", 0.5)
    assert "python -m benchmarks.pictures 'A B'\n" in after
    assert after.endswith("\n\n| new |\n\n## Notes\n\nKept.\n")
    assert ", load average 0.5; " in after
    assert "old" not in after
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [name(path) for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "adr"]
    assert [page for page in pages if f"({page})" not in readme] == []


def test_every_language_keeps_as_many_verdicts_of_a_model_as_the_page_says() -> None:
    [said] = re.findall(r"the newest (\d+) of a model are kept", (DOCS / "on-device.md").read_text(encoding="utf-8"))
    for record in RECORDS:
        text = (ROOT / "templates" / record).read_text(encoding="utf-8")
        assert re.findall(r"(?i:most)\w* = (\d+)", text) == [said], record
