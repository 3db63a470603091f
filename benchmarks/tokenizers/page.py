"""The table of benchmarks/results/tokenizers.md, between its two marks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.tokenizers.entries import Entry
from benchmarks.tokenizers.results import Outcome

PAGE = Path(__file__).parents[1] / "results" / "tokenizers.md"
MARKED = re.compile(
    r"(<!-- table: python -m benchmarks\.tokenizers --write -->\n)(.*?)(<!-- end of table -->)", re.DOTALL
)
HEAD = """\
| tokenizer | out of | licence | family | tokens | MB in a model | texts | that differ |
|---|---|---|---|---:|---:|---:|---:|
"""


def table(entries: Sequence[Entry], outcomes: Mapping[str, Outcome]) -> str:
    """Rows of all entries, then when they were measured."""
    return HEAD + "".join(_row(entry, outcomes.get(entry.name)) for entry in entries) + "\n" + _dated(outcomes) + "\n"


def _row(entry: Entry, found: Outcome | None) -> str:
    cells = [entry.name, entry.package, entry.licence, entry.family]
    if found is None:
        cells += ["", "", "not run", ""]
    elif found.refusal:
        cells += ["", "", "refused", ""]
    else:
        kinds = ", ".join(found.different or {})
        differ = f"{found.differences:,}" + (f" ({kinds})" if kinds else "")
        cells += [f"{found.tokens:,}", f"{found.model_bytes / 1e6:.1f}", f"{found.texts + found.pairs:,}", differ]
    return f"| {' | '.join(cells)} |\n"


def _dated(outcomes: Mapping[str, Outcome]) -> str:
    dates = sorted({each.date for each in outcomes.values()})
    versions = sorted({each.version for each in outcomes.values()})
    return f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} with tokenizers {', '.join(versions)}."


def refusals(entries: Sequence[Entry], outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    for entry in entries:
        found = outcomes.get(entry.name)
        if found and found.refusal:
            yield f"{entry.name}: {found.refusal}"


def write(entries: Sequence[Entry], outcomes: Mapping[str, Outcome], page: Path = PAGE) -> None:
    text = page.read_text(encoding="utf-8")
    made, count = MARKED.subn(lambda found: found[1] + table(entries, outcomes) + found[3], text)
    if count != 1:
        raise ValueError(f"{page} has no mark for the table of tokenizers")
    page.write_text(made, encoding="utf-8")
