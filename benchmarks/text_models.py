"""Texts of trained models, token for token: `python -m benchmarks.text_models [--write]`.

A small language model, Whisper, and a transliterator run as a user would run them, by `mobpack predict`; each is
compared with a program that has nothing of mobpack in it. The language model is quantized by `mobpack quantize`, too.
The result is the tables in results/text_models.md, between its two marks, which `--write` renews. 1.5 GB on disk,
twenty minutes on two busy cores.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from benchmarks.speech_to_text import SENTENCES, rate_with_error, recording, same
from benchmarks.tasks import language_model, romanizer, synthesizer, whisper
from benchmarks.tasks.task import Array, predictor

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "text_models.md"
BEGIN, END = "<!-- text models: begin -->", "<!-- text models: end -->"
MOST = 24
"""new tokens of the language model"""
QUESTIONS = (
    "What is the capital of France?",
    "Name three colours.",
    "Why is the sky blue?",
    "Write one sentence about a dog.",
    "How many days has a week?",
    "What do bees make?",
    "Translate 'good morning' into Spanish.",
    "What is 12 plus 30?",
    "Who wrote Romeo and Juliet?",
    "Explain what a computer is in one sentence.",
)
VARIANTS = {
    "int8 weights in blocks of 128": ("weight-only", "bits=8", "block-size=128"),
    "int4 weights in blocks of 32": ("weight-only", "bits=4", "block-size=32"),
    "int4 weights in blocks of 16": ("weight-only", "bits=4", "block-size=16"),
    "int4 weights in blocks of 32, GPTQ": ("weight-only", "calibration=benchmarks.tasks.language_model:calibration"),
    "int4 and int8 weights in 115 MB, GPTQ": (
        "weight-only",
        "calibration=benchmarks.tasks.language_model:calibration",
        "max-size-mb=115",
    ),
    "int8 weights and activations (`dynamic`)": ("dynamic",),
}
PROJECT = """\
[package]
name = "writer"
version = "1.0.0"

[model.writer]
path = {model}
{encoder}

[model.writer.inputs.{given}]
{kind}

[model.writer.outputs.logits]
kind = "generated"
tokenizer = "tokenizer.json"
{tokens}
max-new-tokens = {most}
"""
TEXT = 'kind = "text"\ntokenizer = "tokenizer.json"'
SOUND = f'kind = "audio"\nrate = {whisper.RATE}\nfeatures = "whisper"\nlength = {whisper.RATE * whisper.SECONDS}'
STATE = '\n[model.writer.inputs.state]\nkind = "state"\noutput = "next_state"\n'


@dataclass(frozen=True, kw_only=True)
class Written:
    """Texts of a model, and those of its reference, in the same order."""

    name: str
    size: int
    about: str
    """inputs"""
    reference: str
    theirs: Sequence[str]
    ours: Sequence[str]
    errors: str = ""
    """word error rates of both, if there are any"""


@dataclass(frozen=True, kw_only=True)
class Variant:
    name: str
    size: int
    perplexity: float
    equal: float
    """share of the reference's tokens that are the likeliest here, too, after the same tokens"""
    texts: Sequence[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the page's tables")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names, speech = romanized(_made(folder, "names")), recognized(_made(folder, "speech"))
        stories, variants = written(_made(folder, "stories"))
    lines = [*table([stories, speech, names]), "", *variant_table(variants, stories.theirs)]
    print("\n".join(lines))
    if arguments.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8", newline="\n")


def romanized(folder: Path) -> Written:
    romanizer.files(folder)
    tokens = f'start-tokens = ["{romanizer.START}"]\nstop-tokens = ["{romanizer.STOP}"]'
    _project(folder, "input_ids", TEXT, tokens, romanizer.MOST_TOKENS, after=STATE)
    return Written(
        name="arabic-name-romanizer, two GRUs (MIT)",
        size=_size(folder),
        about=f"{len(romanizer.NAMES)} Arabic names",
        reference="a plain loop over the package's two ONNX files",
        theirs=_logged("names", map(romanizer.reference(), romanizer.NAMES)),
        ours=_predicted(folder, romanizer.NAMES),
    )


def recognized(folder: Path) -> Written:
    whisper.files(folder)
    sentences = SENTENCES.read_text(encoding="utf-8").splitlines()
    spoken = synthesizer.spoken([("en-us", each) for each in sentences])
    sounds = [synthesizer.resampled(each, whisper.RATE) for each in spoken]
    files = [recording(each, whisper.RATE, folder / f"{number}.wav") for number, each in enumerate(sounds)]
    tokens = f'start-tokens = {json.dumps(whisper.START)}\nstop-tokens = ["{whisper.STOP}"]'
    _project(folder, "input_features", SOUND, tokens, whisper.MOST_TOKENS)
    theirs = _logged("speech", map(whisper.reference(), [(each / 32768).astype(numpy.float32) for each in sounds]))
    ours = _predicted(folder, list(map(str, files)))
    return Written(
        name="Whisper base (MIT)",
        size=_size(folder),
        about=f"{len(sentences)} sentences by eSpeak NG (`en-us`)",
        reference="CTranslate2 4.8.5 in 32 bits, on its own file",
        theirs=theirs,
        ours=ours,
        errors=" / ".join(rate_with_error(each, sentences) for each in (theirs, ours)),
    )


def written(folder: Path) -> tuple[Written, list[Variant]]:
    path, known = language_model.file(folder), language_model.tokenizer()
    known.save(str(folder / "tokenizer.json"))
    prompts = [language_model.prompt(each) for each in QUESTIONS]
    ids = [known.encode(each, add_special_tokens=False).ids for each in prompts]
    made = [language_model.greedy(each, MOST) for each in ids]
    theirs = _logged("stories", (known.decode(each) for each in made))
    pairs = list(zip(ids, made, strict=True))
    variants = [_variant("float", path, pairs, prompts)]
    for name, (quantizer, *settings) in VARIANTS.items():
        small = folder / f"{quantizer}-{'-'.join(settings)}.onnx"
        given = [part for each in settings for part in ("--set", each)]
        _mobpack("quantize", str(path), "-q", quantizer, *given, "--no-report", "-o", str(small))
        variants.append(_variant(name, small, pairs, prompts))
        small.unlink()
    story = Written(
        name="SmolLM2 135M Instruct (Apache-2.0)",
        size=variants[0].size,
        about=f"{len(QUESTIONS)} questions, up to {MOST} tokens each",
        reference="numpy over the GGUF file",
        theirs=theirs,
        ours=variants[0].texts,
    )
    return story, variants


def _variant(name: str, path: Path, pairs: Sequence[tuple[list[int], list[int]]], prompts: Sequence[str]) -> Variant:
    logits, known = _plain(path), language_model.tokenizer()
    text = known.encode(" ".join(SENTENCES.read_text(encoding="utf-8").split("\n")), add_special_tokens=False).ids
    _project(path.parent, "input_ids", TEXT, f'stop-tokens = ["{language_model.STOP}"]', MOST, model=path.name)
    agreeing = [
        token == likeliest
        for ids, made in pairs
        for token, likeliest in zip(made, logits(ids + made)[len(ids) - 1 :].argmax(-1), strict=False)
    ]
    return Variant(
        name=name,
        size=sum(each.stat().st_size for each in (path, path.with_name(f"{path.name}.data")) if each.is_file()),
        perplexity=_perplexity(logits(text), text),
        equal=sum(agreeing) / len(agreeing),
        texts=_predicted(path.parent, prompts),
    )


def _plain(path: Path) -> Callable[[list[int]], Array]:
    """Logits of token ids by ONNX Runtime with its optimizers, as apps run models."""
    run = predictor(path, threads=2)

    def logits(ids: list[int]) -> Array:
        found: Array = run(language_model.inputs(ids))["logits"][0]
        return found

    return logits


def _perplexity(logits: Array, ids: Sequence[int]) -> float:
    scores = logits[:-1].astype(numpy.float64)
    scores -= scores.max(-1, keepdims=True)
    losses = numpy.log(numpy.exp(scores).sum(-1)) - scores[numpy.arange(len(ids) - 1), ids[1:]]
    return float(numpy.exp(losses.mean()))


def _project(folder: Path, given: str, kind: str, tokens: str, most: int, *, model: str = "", after: str = "") -> None:
    encoder = "" if model else 'encoder = "encoder_model.onnx"'
    shown = json.dumps(model or "decoder_model_merged.onnx")
    text = PROJECT.format(model=shown, encoder=encoder, given=given, kind=kind, tokens=tokens, most=most)
    (folder / "mobpack.toml").write_text(text + after, encoding="utf-8", newline="\n")


def _predicted(folder: Path, given: Sequence[str]) -> list[str]:
    done = _mobpack("predict", "--json", "--config", str(folder / "mobpack.toml"), *given)
    return _logged(folder.name, (str(each["generated"]) for each in json.loads(done)["predictions"]))


def _mobpack(*arguments: str) -> str:
    command = [sys.executable, "-m", "packager.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def _made(folder: str, name: str) -> Path:
    path = Path(folder, name)
    path.mkdir()
    return path


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.glob("*.onnx"))


def _logged(about: str, texts: "Iterator[str]") -> list[str]:
    """Every text of `texts`, which go to standard error as well."""
    found = []
    for text in texts:
        print(f"{about}: {text!r}", file=sys.stderr)
        found.append(text)
    return found


def table(rows: Sequence[Written]) -> Iterator[str]:
    yield "| model | size | given | compared with | same texts | word errors, theirs / mobpack |"
    yield "|---|--:|---|---|--:|---|"
    for each in rows:
        cells = [
            each.name,
            _megabytes(each.size),
            each.about,
            each.reference,
            same(each.theirs, each.ours),
            each.errors,
        ]
        yield f"| {' | '.join(cells)} |".replace("|  |", "| |")


def variant_table(variants: Sequence[Variant], texts: Sequence[str]) -> Iterator[str]:
    yield "| SmolLM2 135M | size | perplexity | same next token | same texts |"
    yield "|---|--:|--:|--:|--:|"
    for each in variants:
        shares = f"{each.perplexity:.2f} | {100 * each.equal:.1f} % | {same(texts, each.texts)}"
        yield f"| {each.name} | {_megabytes(each.size)} | {shares} |"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
