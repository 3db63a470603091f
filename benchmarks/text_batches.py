"""Several texts in one run beside a run for each: `python -m benchmarks.text_batches`.

Milliseconds of MiniLM with its tokenizer and pooling in the graph, from strings to vectors: eight texts by a model with
`batch = true`, and by one without. The median of 41 rounds in turns: of one thread, those in which it had the
processor. A batch is padded to its longest text, as `encode_batch` of Hugging Face's tokenizers does.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import onnx
import onnxruntime

from benchmarks.models import default_folder
from benchmarks.tokenizers import entries
from packager import models
from packager.contract.attachment import Tables, attach
from packager.contract.embedding import Embedding
from packager.contract.tokens import StringInput
from packager.core.values import Model
from packager.graph.weights.whole import write_whole
from packager.samples.texts import code_points
from tests.toolchain.models import minilm

ROUNDS = 41
TOKENIZER = "all-minilm-l6"
LENGTHS = {
    "alike, 10 to 13 tokens": (12, 11, 10, 11, 12, 11, 11, 13),
    "alike, 98 to 122": (122, 110, 98, 110, 122, 110, 98, 110),
    "unlike, 3 to 46": (4, 11, 14, 46, 3, 20, 6, 29),
}
SPECIAL = 2
"""tokens of the template"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    [known] = (each for each in entries.read() if each.name == TOKENIZER)
    file = entries.file(known, default_folder() / "tokenizers")
    batch, single = (opened(with_texts(file, is_batch=each), threads) for each in (True, False))
    words = [each for each in json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"] if each.isalpha()]
    print("| eight texts | one run | a run for each | times faster |\n|---|---:|---:|---:|")
    for name, lengths in LENGTHS.items():
        texts = [" ".join(random.Random(at).choices(words, k=size - SPECIAL)) for at, size in enumerate(lengths)]
        together, apart = compared(batch, single, texts, threads)
        print(f"| {name} | {together * 1e3:.1f} ms | {apart * 1e3:.1f} ms | {apart / together:.2f} |")


def with_texts(tokenizer: Path, *, is_batch: bool) -> Model:
    """MiniLM of one text, or of several."""
    text = StringInput(tokenizer=tokenizer, batch=is_batch)
    model = models.load(Path(minilm()), "minilm")
    output = next(each.name for each in model.signature.outputs if len(each.shape) == 3)
    return attach(model, Tables(inputs={"input_ids": text}, outputs={output: Embedding(pooling="mean")})).model


def opened(model: Model, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    with tempfile.TemporaryFile() as file:
        write_whole(onnx.ModelProto.FromString(model.graph), model.path.parent, file)
        file.seek(0)
        return onnxruntime.InferenceSession(file.read(), options, providers=["CPUExecutionProvider"])


def compared(
    batch: onnxruntime.InferenceSession, single: onnxruntime.InferenceSession, texts: Sequence[str], threads: int
) -> tuple[float, float]:
    """Seconds for `texts` in one run, and in a run for each."""
    [name] = (each.name for each in batch.get_inputs())

    def together() -> None:
        batch.run(None, {name: code_points(texts)})

    def apart() -> None:
        for each in texts:
            single.run(None, {name: code_points([each])})

    clock = time.thread_time if threads == 1 else time.perf_counter

    def seconds(run: Callable[[], object]) -> float:
        begin = clock()
        run()
        return clock() - begin

    rounds = [(seconds(together), seconds(apart)) for _ in range(ROUNDS)]
    return median(first for first, _ in rounds), median(second for _, second in rounds)


if __name__ == "__main__":
    main()
