"""`mobpack predict` prints a generated text as it is made."""

import json
from pathlib import Path

import onnx
import pytest
from tokenizers import Tokenizer

from packager.cli import main
from tests import decoders
from tests.generation import plain_greedy

pytestmark = [pytest.mark.by_content, pytest.mark.processes]

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


def test_sampling_takes_a_seed(
    net: onnx.ModelProto, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mobpack.toml").write_text(PROJECT + 'strategy = "sample"\n', encoding="utf-8")
    texts = [predicted(capsys, monkeypatch, "dog", "--json", "--seed", seed) for seed in ("1", "2", "1")]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]
