"""`mobpack predict` prints the answers that an app gets."""

import json
import re
import shutil
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from packager.cli import main
from packager.samples import wav
from tests.cases.onnx_text import onnx_model, saved
from tests.cases.tokenizer_graphs import bert, changed, vocabulary
from tests.toolchain import models

NET = """(float[batch, 3, 8, 8] x) => (float[batch, 3] logits) <int64[2] axes = {2, 3}>
    { logits = ReduceMean <keepdims = 0> (x, axes) }"""
PROJECT = """
[package]
name = "colours"
[model.colours]
path = "net.onnx"
[model.colours.inputs.x]
kind = "image"
[model.colours.outputs.logits]
kind = "classes"
labels = "labels.txt"
activation = "none"
top-k = 2
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    saved(tmp_path / "net.onnx", onnx_model(NET, opsets={"": 18}))
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\n", encoding="utf-8")
    (tmp_path / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "plain.toml").write_text(PROJECT.partition("[model.colours.inputs")[0], encoding="utf-8")
    Image.new("RGB", (30, 20), (51, 255, 102)).save(tmp_path / "green.png")
    Image.new("RGBA", (5, 9), (204, 0, 0, 255)).save(tmp_path / "red.png")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Result:
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def predict(*arguments: str) -> Result:
        monkeypatch.setattr("sys.argv", ["mobpack", "predict", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Result(int(ended.value.code or 0), printed.out, printed.err)

    return predict


def test_it_names_the_best_classes_of_each_file(run: Callable[..., Result]) -> None:
    result = run("green.png", "red.png")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "green.png",
        "  1.000  green",
        "  0.400  blue",
        "red.png",
        "  0.800  red",
        "  0.000  green",
    ]


def test_a_picture_that_a_model_makes_is_a_file(run: Callable[..., Result], project: Path) -> None:
    negative = "(float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y) { y = Neg (x) }"
    saved(project / "net.onnx", onnx_model(negative, opsets={"": 18}))
    table = '[model.colours.inputs.x]\nkind = "image"\n[model.colours.outputs.y]\nkind = "picture"\nrange = [-1, 0]\n'
    (project / "mobpack.toml").write_text(f"{(project / 'plain.toml').read_text()}{table}", encoding="utf-8")
    assert run("green.png").stdout.splitlines() == ["green.png", "  30 x 20  green.y.png"]
    with Image.open(project / "green.y.png") as made:
        assert (made.mode, made.size, made.getcolors()) == ("RGBA", (30, 20), [(600, (204, 0, 153, 255))])
    (project / "more").mkdir()
    (project / "more" / "Green.png").write_bytes((project / "red.png").read_bytes())
    made = json.loads(run("--json", "green.png", "more/Green.png", "red.png").stdout)["predictions"]
    files = {"green.y.png": [30, 20], "Green-2.y.png": [5, 9], "red.y.png": [5, 9]}
    assert {
        each["answers"]["y"]["file"]: [each["answers"]["y"][side] for side in ("width", "height")] for each in made
    } == files
    assert all((project / file).is_file() for file in files)
    (project / "green.y.png").unlink()
    (project / "green.y.png").mkdir()
    refused = run("green.png")
    assert (refused.exit_code, "cannot write" in refused.stderr) == (4, True)


SPOTTER = """(float[1, 3, 8, 8] x) => (float[1, 1, 7] y, float[1, 1, 8, 8] p) {
    y = Identity (found)
    first = Constant <value = int64[1] {0}> ()
    red = Gather <axis = 1> (x, first)
    half = Constant <value = float {0.5}> ()
    p = Sub (red, half)
}"""
"""finds one object in the middle, whose pixels are red"""
SPOTTED = """
[model.colours.inputs.x]
kind = "image"
[model.colours.outputs.y]
kind = "instances"
format = "rows"
prototypes = "p"
"""


def test_objects_are_drawn_over_the_upright_picture(run: Callable[..., Result], project: Path) -> None:
    found = numpy.array([[[2, 2, 6, 6, 0.75, 4, 1]]], numpy.float32)
    saved(project / "net.onnx", onnx_model(SPOTTER, opsets={"": 18}, weights={"found": found}))
    (project / "mobpack.toml").write_text(f"{(project / 'plain.toml').read_text()}{SPOTTED}", encoding="utf-8")
    pixels = numpy.zeros((20, 30, 3), numpy.uint8)
    pixels[:, :15, 0] = pixels[:, 15:, 2] = 255  # the upper half is red when it is upright
    turned = Image.Exif()
    turned[0x0112] = 6
    Image.fromarray(pixels).save(project / "turned.png", exif=turned)
    assert run("turned.png").stdout.splitlines() == [
        "turned.png",
        "  0.750  4  5.0 7.5 15.0 22.5  80 pixels",
        "  20 x 30  turned.y.png",
    ]
    with Image.open(project / "turned.y.png") as made:
        assert (made.mode, made.size) == ("RGBA", (20, 30))
        assert made.getpixel((10, 10)) == ((255 + 230) // 2, 25 // 2, 75 // 2, 255)
        assert [made.getpixel(place) for place in ((4, 10), (10, 20))] == [(255, 0, 0, 255), (0, 0, 255, 255)]
    [answer] = json.loads(run("--json", "turned.png").stdout)["predictions"]
    assert answer["answers"]["y"]["instances"] == [
        {
            "label": "",
            "index": 4,
            "score": 0.75,
            "box": {"left": 5, "top": 7.5, "right": 15, "bottom": 22.5},
            "mask": {"left": 5, "top": 7, "width": 10, "height": 15, "pixels": 80},
        }
    ]
    assert answer["answers"]["y"]["picture"] == {"width": 20, "height": 30, "file": "turned.y.png"}


def test_arrays_and_json_are_understood_and_torn_pictures_named(run: Callable[..., Result], project: Path) -> None:
    document: Any = json.loads(run("--json", "--top", "1", "green.png").stdout)
    assert document["predictions"] == [
        {"file": "green.png", "answers": {"logits": [{"label": "green", "index": 1, "score": 1.0}]}}
    ]
    pixels = numpy.full((4, 4, 4), [0, 0, 255, 255], numpy.uint8)
    arrays: Any = {
        "x.pixels": pixels,
        "x.channels": numpy.array([2, 1, 0]),
        "x.orientation": numpy.array(6),
        "x.chroma": numpy.zeros((1, 1, 1), numpy.uint8),
        "x.conversion": numpy.zeros(3, numpy.int64),
    }
    numpy.savez(project / "bgra.npz", **arrays)
    assert "1.000  red" in run("--top", "1", "bgra.npz").stdout
    (project / "torn.png").write_bytes((project / "green.png").read_bytes()[:45])
    result = run("torn.png")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "torn.png: not a readable image" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["absent.png"], "absent.png: no such file", "pass texts, pictures or .wav files"),
        (["."], ".: a folder", "pass texts, pictures or .wav files"),
        (["net.onnx"], "no samples in", "give .npz files"),
        (["green.png", "--model", "colour"], "mobpack.toml has no model 'colour'", "did you mean 'colours'?"),
        (["green.png", "-c", "other.toml"], "other.toml: no such file", "mobpack init"),
        (["green.png", "-c", "plain.toml"], "model.colours has no contract", "[model.colours.inputs.INPUT]"),
    ],
)
def test_what_cannot_be_answered_is_said_with_what_to_do(
    run: Callable[..., Result], arguments: list[str], message: str, hint: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert hint in result.stderr


TAGGER = """(int64[batch, n] input_ids) => (float[batch, n, 3] logits)
    { logits = Gather <axis = 0> (scores, input_ids) }"""
TAGGED = """
[package]
name = "texts"
[model.tagger]
path = "tagger.onnx"
[model.tagger.inputs.input_ids]
kind = "text"
tokenizer = "tokenizer.json"
[model.tagger.outputs.logits]
kind = "spans"
labels = "tags.txt"
activation = "none"
[model.ranker]
path = "ranker.onnx"
[model.ranker.inputs.input_ids]
kind = "text"
names = ["query", "document"]
tokenizer = "tokenizer.json"
[model.ranker.outputs.logits]
kind = "pairs"
activation = "none"
"""


@pytest.fixture
def texts(project: Path) -> None:
    changed(bert(), project)
    table = numpy.zeros((len(vocabulary()), 3), numpy.float32)
    table[vocabulary()["fox"], 1], table[vocabulary()["dog"], 2] = 0.75, 0.5
    saved(project / "tagger.onnx", onnx_model(TAGGER, weights={"scores": table}, opsets={"": 18}))
    ranker = """(int64[batch, n] input_ids) => (float[batch, 1] logits) <int64[1] axis = {1}> {
        most = ReduceMax <keepdims = 1> (input_ids, axis) logits = Cast <to = 1> (most) }"""
    saved(project / "ranker.onnx", onnx_model(ranker, opsets={"": 18}))
    (project / "tags.txt").write_text("O\nB-ANIMAL\nI-ANIMAL\n", encoding="utf-8")
    (project / "mobpack.toml").write_text(TAGGED, encoding="utf-8")


@pytest.mark.usefixtures("texts")
def test_parts_of_texts_have_labels_and_places(run: Callable[..., Result]) -> None:
    given = ("--model", "tagger", "\U0001f600 the fox dog", "the")
    result = run(*given)
    assert result.stdout.splitlines() == [
        "'\U0001f600 the fox dog'",
        "  0.625  ANIMAL  'fox dog'  6-13",
        "'the'",
        "  nothing",
    ]
    document: Any = json.loads(run("--json", *given).stdout)
    found = {"label": "ANIMAL", "text": "fox dog", "start": 6, "end": 13, "score": 0.625}
    assert [each["answers"] for each in document["predictions"]] == [{"logits": [found]}, {"logits": []}]


@pytest.mark.usefixtures("texts")
def test_a_query_and_a_document_have_a_score(run: Callable[..., Result]) -> None:
    result = run("--model", "ranker", "the", "fox", "fox", "\U0001f600")
    first, second = vocabulary()["fox"], vocabulary()["\U0001f600"]
    assert result.stdout.splitlines() == ["'the' / 'fox'", f"  {first:.3f}", "'fox' / '\U0001f600'", f"  {second:.3f}"]
    assert "pass texts in pairs" in run("--model", "ranker", "the").stderr


BATCH = """
[package]
name = "texts"
[model.ranker]
path = "rows.onnx"
[model.ranker.inputs.input_ids]
kind = "text"
names = ["query", "document"]
tokenizer = "tokenizer.json"
batch = true
[model.ranker.outputs.logits]
kind = "pairs"
activation = "none"
"""


@pytest.mark.usefixtures("texts")
def test_several_texts_of_a_batch_have_an_answer_each(project: Path, run: Callable[..., Result]) -> None:
    net = """(int64[batch, n] input_ids, int64[batch, n] attention_mask) => (float[batch, 1] logits)
    <int64[1] axis = {1}> { known = Mul (input_ids, attention_mask) most = ReduceMax <keepdims = 1> (known, axis)
        logits = Cast <to = 1> (most) }"""
    saved(project / "rows.onnx", onnx_model(net, opsets={"": 18}))
    (project / "mobpack.toml").write_text(BATCH, encoding="utf-8")
    result = run("the", "fox", "fox", "\U0001f600", "", "the fox")
    first, second = vocabulary()["fox"], vocabulary()["\U0001f600"]
    assert result.stdout.splitlines() == [
        "'the' / 'fox'",
        f"  {first:.3f}",
        "'fox' / '\U0001f600'",
        f"  {second:.3f}",
        "'' / 'the fox'",
        f"  {first:.3f}",
    ]
    assert "on 3 texts" in result.stderr
    assert "pass texts in pairs" in run("the").stderr


SOUNDS = """
[package]
name = "sounds"
[model.half]
path = "half.onnx"
[model.half.inputs.x]
kind = "audio"
rate = 8000
[model.half.outputs.y]
kind = "sound"
[model.voice]
path = "voice.onnx"
[model.voice.inputs.ids]
kind = "text"
tokenizer = "tokenizer.json"
[model.voice.outputs.y]
kind = "sound"
rate = 22050
scale = 100000
"""


@pytest.mark.usefixtures("texts")
def test_sounds_are_written_into_files(project: Path, run: Callable[..., Result]) -> None:
    half = "(float[1, n] x) => (float[1, n] y) <float half = {0.5}> { y = Mul (x, half) }"
    saved(project / "half.onnx", onnx_model(half, opsets={"": 18}))
    voice = """(int64[1, n] ids) => (float[1, 1, n] y) <int64[1] one = {1}> {
        numbers = Cast <to = 1> (ids) y = Unsqueeze (numbers, one) }"""
    saved(project / "voice.onnx", onnx_model(voice, opsets={"": 18}))
    (project / "mobpack.toml").write_text(SOUNDS, encoding="utf-8")
    given = [2000, -4000, 6, 8] * 1000
    (project / "loud.wav").write_bytes(wav.content_of([each / 32768 for each in given], 8000, 1))
    assert run("--model", "half", "loud.wav").stdout.splitlines() == ["loud.wav", "  0.500 s at 8000 Hz  loud.y.wav"]
    assert sound_of("loud.y.wav") == (8000, [each // 2 for each in given])
    document: Any = json.loads(run("--json", "--model", "voice", "the fox", "dog").stdout)
    files = [each["answers"]["y"]["file"] for each in document["predictions"]]
    assert files == ["text-1.y.wav", "text-2.y.wav"]
    rate, samples = sound_of(files[1])
    ids = [vocabulary()[each] for each in ("[CLS]", "dog", "[SEP]")]
    assert (rate, samples) == (22050, [round(32768 * each / 100000) for each in ids])


@pytest.mark.usefixtures("project")
def test_the_command_of_the_page_on_streams_answers_for_each_hop(run: Callable[..., Result]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "streams.md").read_text(encoding="utf-8")
    [configuration] = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    Path("mobpack.toml").write_text(configuration, encoding="utf-8")
    shutil.copy(models.silero_vad(), "silero_vad.onnx")
    tone = numpy.sin(numpy.arange(5000) * numpy.pi / 40) / 2
    Path("voice.wav").write_bytes(wav.content_of(tone.tolist(), 48000, 1))
    [command] = re.findall(r"^    mobpack predict (.*)$", page, re.MULTILINE)
    lines = run(command).stdout.splitlines()
    assert lines[::2] == [f"voice.wav {part}" for part in ("0-1536", "1536-3072", "3072-4608", "4608-5000")]
    assert all(re.fullmatch(r"  speech  \[1\]  0\.\d+", line) for line in lines[1::2])
    [first, *_] = json.loads(run("--json", command).stdout)["predictions"]
    assert (first["start"], first["end"]) == (0, 1536)
    text = configuration.replace("value = 16000", "")
    Path("mobpack.toml").write_text(text, encoding="utf-8")
    refused = run(command)
    assert (refused.exit_code, "takes sound alone; this one also takes 'sr'" in refused.stderr) == (2, True)


def sound_of(name: str) -> tuple[int, list[int]]:
    with wave.open(name) as file:
        return file.getframerate(), numpy.frombuffer(file.readframes(file.getnframes()), "<i2").tolist()
