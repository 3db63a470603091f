"""`mobpack predict` prints a generated text as it is made."""

import json
import wave
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from PIL import Image
from tokenizers import Tokenizer

from packager import config
from packager.cli import main
from packager.engines.runners import cpu
from packager.workflows.inputs import model_files
from tests.cases import decoders, encoder_decoders
from tests.cases.generation import plain_greedy
from tests.cases.onnx_text import saved

PROJECT = """
[package]
name = "tales"
[model.writer]
path = "writer.onnx"
[model.writer.inputs.input_ids]
kind = "text"
tokenizer = "tokenizer.json"
[model.writer.outputs.logits]
kind = "generated"
stop-tokens = ["<|end|>"]
max-new-tokens = 24
"""


@pytest.fixture
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> onnx.ModelProto:
    known = Tokenizer.from_file(str(decoders.tokenizer(tmp_path)))
    made = decoders.decoder(known.get_vocab_size(), kind="gpt2", script=[-1, *known.encode(decoders.EMOJI).ids])
    (tmp_path / "writer.onnx").write_bytes(made.SerializeToString())
    (tmp_path / "mobpack.toml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return made


def predicted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    monkeypatch.setattr("sys.argv", ["mobpack", "predict", *arguments])
    with pytest.raises(SystemExit):
        main()
    return capsys.readouterr().out


def test_a_prompt_is_gone_on_with(
    net: onnx.ModelProto, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, text = plain_greedy(net, tmp_path, "the")
    assert decoders.EMOJI in text
    assert text in predicted(capsys, monkeypatch, "the")
    found = json.loads(predicted(capsys, monkeypatch, "the", "--json"))
    assert found["predictions"] == [{"texts": ["the"], "generated": text}]


def test_several_prompts_are_gone_on_with_by_one_session(
    net: onnx.ModelProto, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts, opened = ("the", "a dog", "the"), []
    first = cpu.Cpu.open

    def counted(self: cpu.Cpu, *arguments: Any) -> Any:
        opened.append(arguments)
        return first(self, *arguments)

    monkeypatch.setattr(cpu.Cpu, "open", counted)
    found = json.loads(predicted(capsys, monkeypatch, *prompts, "--json"))
    assert [each["generated"] for each in found["predictions"]] == [
        plain_greedy(net, tmp_path, each)[1] for each in prompts
    ]
    assert len(opened) == 1


def test_sampling_has_a_seed(
    net: onnx.ModelProto, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mobpack.toml").write_text(PROJECT + 'strategy = "sample"\n', encoding="utf-8")
    texts = [predicted(capsys, monkeypatch, "dog", "--json", "--seed", seed) for seed in ("1", "2", "1")]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


RECOGNIZER = """
[package]
name = "recognizer"
[model.recognizer]
path = "decoder_model_merged.onnx"
encoder = "encoder_model.onnx"
[model.recognizer.inputs.input_values]
kind = "audio"
rate = 16000
"""
TEXT = """
[model.recognizer.outputs.logits]
kind = "generated"
tokenizer = "tokenizer.json"
start-tokens = ["a"]
stop-tokens = ["<|end|>"]
max-new-tokens = 5
"""


def test_a_recording_becomes_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = Tokenizer.from_file(str(decoders.tokenizer(tmp_path)))
    samples = (numpy.arange(160) * 7919 % 60000 - 30000).astype(numpy.int16)
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.encoder())
    saved(tmp_path / "decoder_model_merged.onnx", encoder_decoders.decoder(known.get_vocab_size()))
    with wave.open(str(tmp_path / "speech.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())
    monkeypatch.chdir(tmp_path)
    Path("mobpack.toml").write_text(RECOGNIZER + TEXT, encoding="utf-8")
    (found,) = json.loads(predicted(capsys, monkeypatch, "speech.wav", "--json"))["predictions"]
    wanted = encoder_decoders.plain(tmp_path, samples[None].astype(numpy.float32) / 32768, ["a"], 5)
    assert found["generated"] == known.decode(wanted)


def test_a_picture_becomes_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = Tokenizer.from_file(str(decoders.tokenizer(tmp_path)))
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.picture_encoder())
    saved(tmp_path / "decoder_model_merged.onnx", encoder_decoders.decoder(known.get_vocab_size()))
    pixels = (numpy.arange(192) * 37 % 251).astype(numpy.uint8).reshape(8, 8, 3)
    Image.fromarray(pixels).save(tmp_path / "picture.png")
    monkeypatch.chdir(tmp_path)
    table = '[model.recognizer.inputs.pixel_values]\nkind = "image"\nmean = [0, 0, 0]\nstd = [1, 1, 1]\n'
    Path("mobpack.toml").write_text(
        RECOGNIZER.partition("[model.recognizer.inputs")[0] + table + TEXT, encoding="utf-8"
    )
    (found,) = json.loads(predicted(capsys, monkeypatch, "picture.png", "--json"))["predictions"]
    values = {"pixel_values": pixels.transpose(2, 0, 1)[None].astype(numpy.float32) / 255}
    wanted = encoder_decoders.plain_of(tmp_path, values, {}, ["a"], 5)
    assert found["generated"] == known.decode(wanted)


def test_an_encoder_gives_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = Tokenizer.from_file(str(decoders.tokenizer(tmp_path)))
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.encoder())
    saved(tmp_path / "decoder_model_merged.onnx", encoder_decoders.decoder(known.get_vocab_size()))
    monkeypatch.chdir(tmp_path)
    Path("mobpack.toml").write_text(RECOGNIZER, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["mobpack", "predict", "speech.wav"])
    with pytest.raises(SystemExit):
        main()
    assert "an encoder needs an output that becomes a text" in " ".join(capsys.readouterr().err.split())


def test_the_decoder_of_further_steps_needs_an_encoder_and_is_a_file_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    size = Tokenizer.from_file(str(decoders.tokenizer(tmp_path))).get_vocab_size()
    pair = ("decoder_model.onnx", "decoder_with_past_model.onnx")
    for name, net in zip(pair, encoder_decoders.split_decoders(size), strict=True):
        saved(tmp_path / name, net)
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.encoder())
    monkeypatch.chdir(tmp_path)
    both = RECOGNIZER.replace('path = "decoder_model_merged.onnx"', f'path = "{pair[0]}"\nwith-past = "{pair[1]}"')
    Path("mobpack.toml").write_text(both + TEXT, encoding="utf-8")
    files = {each.name for each in model_files(config.load(tmp_path / "mobpack.toml"))}
    assert files == {*pair, "encoder_model.onnx", "tokenizer.json"}
    Path("mobpack.toml").write_text(both.replace('encoder = "encoder_model.onnx"', "") + TEXT, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["mobpack", "predict", "speech.wav"])
    with pytest.raises(SystemExit):
        main()
    assert "with-past has no effect without an encoder" in " ".join(capsys.readouterr().err.split())


CHATML = (
    "{% for each in messages %}{{ '<|im_start|>' + each['role'] + '\n' + each['content'] | trim + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def test_a_conversation_is_gone_on_with(
    net: onnx.ModelProto, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    (tmp_path / "mobpack.toml").write_text(f'{PROJECT}chat-template = "chat_template.jinja"\n', encoding="utf-8")
    said = [{"role": "user", "content": " the dog\n"}]
    (tmp_path / "talk.json").write_text(json.dumps(said), encoding="utf-8")
    _, text = plain_greedy(net, tmp_path, "<|im_start|>user\nthe dog<|im_end|>\n<|im_start|>assistant\n")
    found = json.loads(predicted(capsys, monkeypatch, "talk.json", "--json"))
    assert found["predictions"] == [{"file": "talk.json", "generated": text}]
    with (tmp_path / "mobpack.toml").open("a", encoding="utf-8") as file:
        file.write('[parity]\nsamples = "talk.json"\n[target.python]\n')
    monkeypatch.setattr("sys.argv", ["mobpack", "check"])
    with pytest.raises(SystemExit):
        main()
    written = capsys.readouterr()
    assert ("compared with the original, 1 given" in written.out, "nothing was compared" in written.err) == (
        True,
        False,
    )
    (tmp_path / "talk.json").write_text(json.dumps([{"role": "tool", "content": "x"}]), encoding="utf-8")
    assert "message 1 has the role 'tool'" in predicted(capsys, monkeypatch, "talk.json", "--json")
