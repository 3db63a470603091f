"""Word errors of a speech recognizer: `python -m benchmarks.speech_to_text [--write]`.

A synthesizer says fifty sentences in two voices. `mobpack predict` writes them down as a user would run it, with one
graph made of the model's two files; the references are plain loops over these files in ONNX Runtime, with its
optimizers, as apps run models, and without, as `mobpack predict` does. The result is the table in
results/speech_to_text.md, between its two marks, which `--write` renews. Ten minutes on two busy cores.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import wave
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from benchmarks.tasks import recognizer, synthesizer
from benchmarks.tasks.scores import word_error_rate, word_errors, words
from benchmarks.tasks.task import Array

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "speech_to_text.md"
BEGIN, END = "<!-- word errors: begin -->", "<!-- word errors: end -->"
SENTENCES = Path(__file__).parent / "tasks" / "sentences.txt"
VOICES: Mapping[str, str] = {"en-us": "American, low", "en-us+f3": "American, high"}
TITLES = (
    "voice",
    "words",
    "plain loop",
    "mobpack",
    "same texts",
    "loop with optimizers",
    "same texts",
    "change",
    "mobpack, from 22.05 kHz",
    "change",
)
SAMPLES = 1000
PROJECT = """\
[package]
name = "recognizer"
version = "1.0.0"

[model.recognizer]
path = {decoder}
encoder = {encoder}

[model.recognizer.inputs.input_values]
kind = "audio"
rate = {rate}

[model.recognizer.outputs.logits]
kind = "generated"
tokenizer = {tokenizer}
start-tokens = ["<s>"]
stop-tokens = ["</s>"]
max-new-tokens = {most}
"""


@dataclass(frozen=True, kw_only=True)
class Written:
    """Texts that were made of a voice's sentences, in their order."""

    sentences: Sequence[str]
    optimized: Sequence[str]
    """of a plain loop with ONNX Runtime's optimizers"""
    plain: Sequence[str]
    """of a plain loop without"""
    ours: Sequence[str]
    ours_resampled: Sequence[str]
    """of the recordings at the synthesizer's own rate"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the page's table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measured(Path(folder))
    for voice, written in found.items():
        for said, *texts in zip(*vars(written).values(), strict=True):
            print(f"{voice}: {said!r}", *map(repr, texts), sep="\n  ", file=sys.stderr)
    lines = list(table(found))
    print("\n".join(lines))
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8", newline="\n")


def measured(folder: Path) -> dict[str, Written]:
    """Texts by voice."""
    sentences = SENTENCES.read_text(encoding="utf-8").splitlines()
    told = [(voice, each) for voice in VOICES for each in sentences]
    sounds = list(synthesizer.spoken(told))
    resampled = [synthesizer.resampled(each, recognizer.RATE) for each in sounds]
    floats = [(each / 32768).astype(numpy.float32) for each in resampled]
    sides = {
        "optimized": list(map(recognizer.reference(), floats)),
        "plain": list(map(recognizer.reference(recognizer.exact_predictor), floats)),
        "ours": predicted(resampled, recognizer.RATE, folder / "16"),
        "ours_resampled": predicted(sounds, synthesizer.RATE, folder / "22"),
    }
    count = len(sentences)
    return {
        voice: Written(sentences=sentences, **{side: texts[first : first + count] for side, texts in sides.items()})
        for voice, first in zip(VOICES, range(0, len(told), count), strict=True)
    }


def predicted(sounds: Sequence[Array], rate: int, folder: Path) -> list[str]:
    """The texts that `mobpack predict` makes of recordings with `rate` samples a second; files go to `folder`."""
    folder.mkdir()
    files = [recording(each, rate, folder / f"{number}.wav") for number, each in enumerate(sounds)]
    tokens = folder / "tokenizer.json"
    recognizer.tokenizer().save(str(tokens))
    paths = {"decoder": recognizer.decoder(), "encoder": recognizer.encoder(), "tokenizer": tokens}
    quoted = {name: json.dumps(str(path)) for name, path in paths.items()}
    project = folder / "mobpack.toml"
    text = PROJECT.format(**quoted, rate=recognizer.RATE, most=recognizer.MOST_TOKENS)
    project.write_text(text, encoding="utf-8", newline="\n")
    command = [sys.executable, "-m", "packager.cli", "predict", "--json", "--config", str(project), *map(str, files)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return [str(each["generated"]) for each in json.loads(done.stdout)["predictions"]]


def recording(samples: Array, rate: int, path: Path) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return path


def table(found: Mapping[str, Written]) -> Iterator[str]:
    yield f"| {' | '.join(TITLES)} |"
    yield "|---|" + "--:|" * (len(TITLES) - 1)
    for voice, each in found.items():
        cells = [
            f"{VOICES[voice]} (`{voice}`)",
            str(sum(len(words(sentence)) for sentence in each.sentences)),
            rate_with_error(each.plain, each.sentences),
            rate_with_error(each.ours, each.sentences),
            same(each.plain, each.ours),
            rate_with_error(each.optimized, each.sentences),
            same(each.optimized, each.ours),
            change_with_error(each.ours, each.optimized, each.sentences),
            rate_with_error(each.ours_resampled, each.sentences),
            change_with_error(each.ours, each.ours_resampled, each.sentences),
        ]
        yield f"| {' | '.join(cells)} |"


def same(one: Sequence[str], other: Sequence[str]) -> str:
    return f"{sum(each == text for each, text in zip(one, other, strict=True))} of {len(one)}"


def rate_with_error(texts: Sequence[str], sentences: Sequence[str]) -> str:
    """The word error rate and its standard error, in percent."""
    counts = numpy.array([word_errors(*pair) for pair in zip(texts, sentences, strict=True)])
    return f"{100 * word_error_rate(texts, sentences):.1f} ± {100 * standard_error(counts, sentences):.1f} %"


def change_with_error(before: Sequence[str], after: Sequence[str], sentences: Sequence[str]) -> str:
    """How the rate differs between two sides that hear the same sentences, in percentage points."""
    counts = [
        word_errors(new, sentence) - word_errors(old, sentence)
        for old, new, sentence in zip(before, after, sentences, strict=True)
    ]
    change = word_error_rate(after, sentences) - word_error_rate(before, sentences)
    return f"{100 * change:+.1f} ± {100 * standard_error(numpy.array(counts), sentences):.1f}"


def standard_error(counts: Array, sentences: Sequence[str]) -> float:
    """Standard deviation of `counts` per word, over bootstrap samples of the sentences."""
    lengths = numpy.array([len(words(each)) for each in sentences])
    chosen = numpy.random.default_rng(0).integers(0, len(counts), (SAMPLES, len(counts)))
    return float(numpy.std(counts[chosen].sum(axis=1) / lengths[chosen].sum(axis=1)))


if __name__ == "__main__":
    main()
