"""Graphs of tokenizers beside Hugging Face's library: `python -m benchmarks.tokenize [NAME...] [--write]`.

Milliseconds of the processor for texts of 64, 512 and 4,096 characters of English, in one process and in turns, one
thread each, no text twice; time and memory to open the file, each in a process of its own; bytes that the tokenizer
adds to a model. `--write` puts the table into results/tokenizers.md.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy
import onnxruntime
from tokenizers import Tokenizer

from benchmarks.models import default_folder
from benchmarks.tokenizers import entries, page, texts
from benchmarks.tokenizers.comparing import Graph, points
from packager.core.errors import ConfigError

NAMES = (
    "all-minilm-l6",
    "gpt-2",
    "cl100k",
    "gpt-4o",
    "llama-3",
    "qwen-3",
    "clip",
    "mistral-7b",
    "kyoto-unigram",
    "jurassic-2",
)
SIZES = (64, 512, 4096)
SAMPLES, WARM_UP = 200, 50
"""texts of each size that are timed, and others before them"""
HEAD = """\
| tokenizer | 64 characters | 512 | 4,096 | opens in | memory | in a model |
|---|---|---|---|---|---|---|
"""
MARKED = re.compile(
    r"(<!-- table: python -m benchmarks\.tokenize --write -->\n)(.*?)(<!-- end of table -->)", re.DOTALL
)
CHILD = """
import json, os, sys, time
from benchmarks.measure import resident_bytes
import numpy, onnxruntime
from tokenizers import Tokenizer
path, is_ours = sys.argv[1], sys.argv[2] == "ours"
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
before, start = resident_bytes(os.getpid()), time.perf_counter()
if is_ours:
    made = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
else:
    made = Tokenizer.from_file(path)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "bytes": resident_bytes(os.getpid()) - before}))
"""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """Cost of opening a tokenizer's file."""

    seconds: float
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Row:
    name: str
    ours_s: Mapping[int, float]
    """by characters"""
    theirs_s: Mapping[int, float]
    ours: Opened
    theirs: Opened
    model_bytes: int

    @property
    def line(self) -> str:
        cells = [self.name]
        for size in SIZES:
            ours, theirs = self.ours_s[size], self.theirs_s[size]
            cells.append(f"{ours * 1e3:.2f} ms, {ours / theirs:.1f} times {theirs * 1e3:.2f}")
        cells += [
            f"{self.ours.seconds * 1e3:.0f} ms ({self.theirs.seconds * 1e3:.0f})",
            f"{self.ours.bytes / 1e6:.0f} MB ({self.theirs.bytes / 1e6:.0f})",
            f"{self.model_bytes / 1e6:.1f} MB",
        ]
        return f"| {' | '.join(cells)} |\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {', '.join(NAMES)}")
    parser.add_argument("--write", action="store_true", help="write the table of results/tokenizers.md")
    arguments = parser.parse_args()
    folder = default_folder() / "tokenizers"
    folder.mkdir(parents=True, exist_ok=True)
    known = {each.name: each for each in entries.read()}
    rows = []
    for name in arguments.names or NAMES:
        try:
            rows.append(measured(known[name], folder))
        except ConfigError as error:
            print(f"{name}: {error.message}", file=sys.stderr)
            continue
        print(rows[-1].line, end="", flush=True)
    if arguments.write:
        write(rows)
    return 0


def measured(entry: entries.Entry, folder: Path) -> Row:
    path = entries.file(entry, folder)
    with tempfile.TemporaryDirectory() as scratch:
        file = entries.readable(entry, path, Path(scratch))
        graph, reference = Graph(file), entries.reference(entry, path)
        model, theirs = Path(scratch) / "tokenizer.onnx", Path(scratch) / "theirs.json"
        model.write_bytes(graph.proto)
        reference.save(str(theirs))
        opened = [opening(model, "ours"), opening(theirs, "theirs")]
    of_size = {size: english(entries.texts(folder), size) for size in SIZES}
    both = {size: beside(graph, reference, chosen) for size, chosen in of_size.items()}
    return Row(
        name=entry.name,
        ours_s={size: ours for size, (ours, _) in both.items()},
        theirs_s={size: found for size, (_, found) in both.items()},
        ours=opened[0],
        theirs=opened[1],
        model_bytes=len(graph.proto),
    )


def opening(path: Path, whose: str) -> Opened:
    """The median of five processes."""
    found = []
    for _ in range(5):
        command = [sys.executable, "-c", CHILD, str(path), whose]
        found.append(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))
    return Opened(seconds=median(each["seconds"] for each in found), bytes=int(median(each["bytes"] for each in found)))


def english(package: Path, size: int) -> list[str]:
    """Sentences of Django in English, cut to `size` characters."""
    words = [each for each in texts.messages(package) if "%" not in each and len(each) > 20]
    chosen = random.Random(texts.SEED)
    return [" ".join(chosen.choices(words, k=size // 20))[:size] for _ in range(WARM_UP + SAMPLES)]


def beside(graph: Graph, reference: Tokenizer, chosen: Sequence[str]) -> tuple[float, float]:
    """Seconds of the processor for a text, of the graph and of the library: medians over texts that both see once.

    The library keeps what it has seen in a cache: words, and whole sentences where a tokenizer has no splitter.
    """
    calls: tuple[Callable[[str], object], ...] = (
        lambda text: graph.session.run(["ids"], {"text": numpy.ascontiguousarray(points(text))}),
        lambda text: reference.encode(text).ids,
    )
    seconds: tuple[list[float], ...] = tuple([] for _ in calls)
    for text in chosen:
        for call, found in zip(calls, seconds, strict=True):
            start = time.thread_time()
            call(text)
            found.append(time.thread_time() - start)
    ours, theirs = (median(found[WARM_UP:]) for found in seconds)
    return ours, theirs


def write(rows: Sequence[Row]) -> None:
    versions = f"tokenizers {version('tokenizers')}, ONNX Runtime {onnxruntime.__version__}"
    made = HEAD + "".join(each.line for each in rows) + f"\nMeasured {datetime.now(UTC):%Y-%m-%d} with {versions}.\n"
    text = page.PAGE.read_text(encoding="utf-8")
    text, count = MARKED.subn(lambda found: found[1] + made + found[3], text)
    if count != 1:
        raise ValueError(f"{page.PAGE} has no mark for the table of speed")
    page.PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
