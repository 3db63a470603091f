"""Compares graphs of real tokenizers with Hugging Face's library: `python -m benchmarks.tokenizers [NAME...]`.

260,000 texts and 1,000 pairs for each, or a share of them: ids, types and offsets. Prints the first differences of each
kind of text.
Results are kept in the user's cache; `--write` puts all of them into results/tokenizers.md. It ends with 1 when a
text differs.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from tokenizers import Tokenizer

from benchmarks.models import default_folder
from benchmarks.tokenizers import comparing, entries, page, results, texts
from benchmarks.tokenizers.comparing import Difference, Graph, Result
from benchmarks.tokenizers.entries import Entry
from benchmarks.tokenizers.results import Outcome
from benchmarks.tokenizers.texts import Text
from packager.core.errors import ConfigError

PAIRS = 1000
LEAST = 0.4
"""share of the texts for a result that is kept"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these; default: all without a result")
    parser.add_argument("--again", action="store_true", help="all, also those with a result")
    parser.add_argument(
        "--share", type=float, default=1.0, help="of the texts; results of less than 0.4, 100,000 texts, are not kept"
    )
    parser.add_argument("--write", action="store_true", help="write results/tokenizers.md from all results")
    parser.add_argument("--folder", type=Path, help="where files and results are kept; default: the user's cache")
    arguments = parser.parse_args()
    folder = (arguments.folder or default_folder() / "tokenizers").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    known = entries.read()
    if unknown := set(arguments.names) - {each.name for each in known}:
        parser.error(f"tokenizers.toml has no {', '.join(sorted(unknown))}")
    found = {each.name: one for each in known if (one := results.kept(each.name, folder / "results"))}
    wanted = [each for each in known if each.name in (arguments.names or ()) or arguments.again]
    for entry in wanted or [each for each in known if not arguments.names and each.name not in found]:
        outcome = compared(entry, folder, arguments.share)
        found[entry.name] = outcome
        if arguments.share >= LEAST:
            results.keep(outcome, folder / "results")
    print(*page.refusals(known, found), sep="\n")
    if arguments.write:
        page.write(known, found)
    return int(any(each.differences for each in found.values()))


def compared(entry: Entry, folder: Path, share: float) -> Outcome:
    """Compares all texts and pairs, and prints what differs."""
    path, package = entries.file(entry, folder), entries.texts(folder)
    today, library = f"{datetime.now(UTC):%Y-%m-%d}", version("tokenizers")
    with tempfile.TemporaryDirectory() as scratch:
        file = entries.readable(entry, path, Path(scratch))
        try:
            graph, of_pairs = Graph(file), Graph(file, is_pair=True)
        except ConfigError as error:
            words = error.message.removeprefix(f"{file}: ")
            return Outcome(name=entry.name, date=today, version=library, refusal=words)
    made = entries.reference(entry, path)
    special = [each.content for _, each in sorted(made.get_added_tokens_decoder().items())]
    start = time.monotonic()
    result = comparing.compare(graph, made, texts.texts(package, special, share))
    pairs = _pairs(of_pairs, made, texts.translations(package), int(PAIRS * share))
    seconds = time.monotonic() - start
    report(entry.name, result, pairs, seconds)
    return Outcome(
        name=entry.name,
        date=today,
        version=library,
        tokens=made.get_vocab_size(),
        model_bytes=len(graph.proto),
        texts=sum(result.counts.values()),
        pairs=int(PAIRS * share),
        different={**result.wrong, **({"pairs": len(pairs)} if pairs else {})},
    )


def _pairs(graph: Graph, reference: Tokenizer, words: Sequence[str], number: int) -> list[Difference]:
    chosen = random.Random(texts.SEED + 7)
    made = ((chosen.choice(words), chosen.choice(words)) for _ in range(number))
    found = (comparing.different(graph, reference, Text(kind="pairs", text=one), two) for one, two in made)
    return [each for each in found if each]


def report(name: str, result: Result, pairs: Sequence[Difference], seconds: float) -> None:
    wrong = sum(result.wrong.values()) + len(pairs)
    print(f"{name}: {sum(result.counts.values()):,} texts, {wrong:,} differ, {seconds:.0f} s", flush=True)
    print(*lines([*result.first, *pairs[: comparing.SHOWN]]), sep="\n", end="" if not wrong else "\n")


def lines(differences: Sequence[Difference]) -> Iterator[str]:
    for each in differences:
        yield f"  {each.text.kind}: {each.text.text[:120]!r}"
        yield f"    {each.what} from token {each.place} on: {each.found}, not {each.wanted}"


if __name__ == "__main__":
    sys.exit(main())
