"""Several texts in one run beside a run for each: `python -m benchmarks.text_batches`.

Milliseconds of MiniLM for eight texts, the median of 41 rounds in turns: of one thread, those in which it had the
processor. A batch is padded to its longest text, as `encode_batch` of Hugging Face's tokenizers does.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy
import onnxruntime

from tests.toolchain.models import minilm

ROUNDS = 41
LENGTHS = {
    "alike, 10 to 13 tokens": (12, 11, 10, 11, 12, 11, 11, 13),
    "alike, 98 to 122": (122, 110, 98, 110, 122, 110, 98, 110),
    "unlike, 3 to 46": (4, 11, 14, 46, 3, 20, 6, 29),
}
VOCABULARY = 30_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    session = opened(Path(minilm()), threads)
    print("| eight texts | one run | a run for each | times faster |\n|---|---:|---:|---:|")
    for name, lengths in LENGTHS.items():
        together, apart = compared(session, lengths, threads)
        print(f"| {name} | {together * 1e3:.1f} ms | {apart * 1e3:.1f} ms | {apart / together:.2f} |")


def opened(path: Path, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def compared(session: onnxruntime.InferenceSession, lengths: Sequence[int], threads: int) -> tuple[float, float]:
    """Seconds for texts of so many tokens in one run, and in a run for each."""
    random = numpy.random.default_rng(0)
    rows = [random.integers(999, VOCABULARY, length) for length in lengths]
    batch, single = given(session, rows), [given(session, [row]) for row in rows]

    def apart() -> None:
        for each in single:
            session.run(None, each)

    clock = time.thread_time if threads == 1 else time.perf_counter

    def seconds(run: Callable[[], object]) -> float:
        begin = clock()
        run()
        return clock() - begin

    rounds = [(seconds(lambda: session.run(None, batch)), seconds(apart)) for _ in range(ROUNDS)]
    return median(first for first, _ in rounds), median(second for _, second in rounds)


def given(session: onnxruntime.InferenceSession, rows: Sequence[Any]) -> Mapping[str, Any]:
    """`rows`, padded to the longest, with mask and types."""
    ids = numpy.zeros((len(rows), max(map(len, rows))), numpy.int64)
    mask = numpy.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    made = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
    return {each.name: made[each.name] for each in session.get_inputs()}


if __name__ == "__main__":
    main()
