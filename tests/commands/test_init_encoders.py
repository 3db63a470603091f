"""`mobpack init` proposes tables for an encoder and a decoder that makes a text; what is not certain has a reason."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

from packager import config, models
from packager.cli import encoder_tables, main
from packager.cli.text_tables import Table
from tests.cases import decoders, encoder_decoders
from tests.cases.onnx_text import saved

SOUND = {"sampling_rate": 16000, "do_normalize": False, "feature_extractor_type": "Wav2Vec2FeatureExtractor"}


def write(folder: Path, *, is_of_texts: bool = False, suffix: str = "", files: Mapping[str, Any] | None = None) -> Path:
    """The decoder in `folder`, with the encoder and the files of transformers, of which `files` replaces some."""
    known = Tokenizer.from_file(str(decoders.tokenizer(folder)))
    size = known.get_vocab_size()
    encoder = encoder_decoders.text_encoder(size) if is_of_texts else encoder_decoders.encoder()
    saved(folder / f"encoder_model{suffix}.onnx", encoder)
    decoder = encoder_decoders.decoder(size, is_masked=is_of_texts)
    stop, start = (known.token_to_id(each) for each in (decoders.STOP, "a"))
    written = {
        "generation_config.json": {"decoder_start_token_id": start, "eos_token_id": stop, "max_length": 21},
        "config.json": {"eos_token_id": 1, "bos_token_id": 2},
        "preprocessor_config.json": SOUND,
        **(files or {}),
    }
    for name, content in written.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return saved(folder / f"decoder_model_merged{suffix}.onnx", decoder)


def initialized(
    given: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> tuple[Any, Mapping[str, Any], str]:
    """The model's table and those of its inputs and outputs, as a build reads them, and what `mobpack init` said."""
    monkeypatch.chdir(given.parent)
    monkeypatch.setattr(sys, "argv", ["mobpack", "init", given.name])
    with pytest.raises(SystemExit) as exited:
        main()
    said = capfd.readouterr().err
    assert exited.value.code == 0, said
    (model,) = config.load(given.parent / "mobpack.toml").model.values()
    return model, {**model.inputs, **model.outputs}, said


def test_a_recognizer_has_its_encoder_rate_and_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    model, tables, said = initialized(write(tmp_path, suffix="_int8"), monkeypatch, capfd)
    assert "commented out" not in said
    assert model.encoder.name == "encoder_model_int8.onnx"
    assert list(tables) == ["input_values", "logits"]
    assert (tables["input_values"].kind, tables["input_values"].rate) == ("audio", 16000)
    made = tables["logits"]
    assert (made.start_tokens, made.stop_tokens, made.max_new_tokens) == (("a",), (decoders.STOP,), 20)
    assert made.tokenizer.name == "tokenizer.json"


def test_a_translator_takes_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _, tables, said = initialized(write(tmp_path, is_of_texts=True), monkeypatch, capfd)
    assert "commented out" not in said
    assert {name: table.kind for name, table in tables.items()} == {"input_ids": "text", "logits": "generated"}


@pytest.mark.parametrize("named", [{"architectures": ["LlamaForCausalLM"]}, {}], ids=["by name", "by caches"])
def test_a_language_model_has_its_stop_tokens_and_its_chat_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], named: dict[str, Any]
) -> None:
    known = Tokenizer.from_file(str(decoders.tokenizer(tmp_path)))
    model = saved(tmp_path / "model.onnx", decoders.decoder(known.get_vocab_size(), kind="llama"))
    for name, content in {
        "config.json": {**named, "eos_token_id": 1},
        "generation_config.json": {"eos_token_id": [known.token_to_id(decoders.STOP)], "max_new_tokens": 9},
        "tokenizer_config.json": {
            "chat_template": "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}",
            "eos_token": {"content": decoders.STOP},
        },
    }.items():
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    _, tables, said = initialized(model, monkeypatch, capfd)
    assert "commented out" not in said
    assert (tables["input_ids"].kind, tables["input_ids"].max_length) == ("text", None)
    made = tables["logits"]
    assert (made.stop_tokens, made.max_new_tokens, made.chat_template.name) == (
        (decoders.STOP,),
        9,
        "tokenizer_config.json",
    )


def test_a_decoder_alone_has_no_encoder(tmp_path: Path) -> None:
    decoder = write(tmp_path, suffix="_int8")
    (tmp_path / "encoder_model_int8.onnx").rename(tmp_path / "encoder_model.onnx")
    assert encoder_tables.encoder_of(decoder) is None
    assert encoder_tables.encoder_of(tmp_path / "encoder_model.onnx") is None


@pytest.mark.parametrize("inner", ["", "onnx"])
def test_a_folder_of_both_files_names_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], inner: str
) -> None:
    (tmp_path / "opus-en-de" / inner).mkdir(parents=True)
    write(tmp_path / "opus-en-de" / inner, is_of_texts=True)
    model, _, _ = initialized(tmp_path / "opus-en-de", monkeypatch, capfd)
    assert model.path == tmp_path / "opus-en-de" / inner / "decoder_model_merged.onnx"
    assert "[model.opus-en-de]" in (tmp_path / "mobpack.toml").read_text(encoding="utf-8")


def proposed(decoder: Path) -> Mapping[str, Table]:
    encoder = encoder_tables.encoder_of(decoder)
    return {each.name: each for each in encoder_tables.proposals(models.load(decoder, "m", encoder=encoder))}


@pytest.mark.parametrize(
    ("files", "name", "reason"),
    [
        ({"preprocessor_config.json": {}}, "input_values", "says the sample rate"),
        ({"preprocessor_config.json": {**SOUND, "do_normalize": True}}, "input_values", "has do_normalize"),
        ({"generation_config.json": {"decoder_start_token_id": 3}, "config.json": {}}, "logits", "has eos_token_id"),
        ({"generation_config.json": {"eos_token_id": 3}, "config.json": {}}, "logits", "has decoder_start_token_id"),
        (
            {"generation_config.json": {"decoder_start_token_id": 3, "eos_token_id": 4, "suppress_tokens": [5]}},
            "logits",
            "has suppress_tokens",
        ),
        (
            {"generation_config.json": {"decoder_start_token_id": 10**6, "eos_token_id": 4}},
            "logits",
            "the tokenizer has no '<1000000>'",
        ),
    ],
)
def test_what_is_not_certain_has_a_doubt(tmp_path: Path, files: Mapping[str, Any], name: str, reason: str) -> None:
    assert reason in proposed(write(tmp_path, files=files))[name].doubt


def test_a_forced_first_token_follows_the_start(tmp_path: Path) -> None:
    files = {"generation_config.json": {"decoder_start_token_id": 40, "forced_bos_token_id": 41, "eos_token_id": [0]}}
    known = Tokenizer.from_file(str(decoders.tokenizer(tmp_path)))
    made = proposed(write(tmp_path, files=files))["logits"]
    assert made.keys["start-tokens"] == [known.id_to_token(40), known.id_to_token(41)]
    assert made.doubt == ""


def test_two_decoders_of_an_older_export_are_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    merged = write(tmp_path)
    size = Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab_size()
    for name, net in zip(
        ("decoder_model", "decoder_with_past_model"), encoder_decoders.split_decoders(size), strict=True
    ):
        saved(tmp_path / f"{name}.onnx", net)
    merged.unlink()
    assert encoder_tables.decoder_in(tmp_path) == tmp_path / "decoder_model.onnx"
    model, tables, said = initialized(tmp_path / "decoder_model.onnx", monkeypatch, capfd)
    assert "commented out" not in said
    assert (model.path.name, model.with_past.name) == ("decoder_model.onnx", "decoder_with_past_model.onnx")
    assert tables["logits"].start_tokens == ("a",)


def test_a_decoder_without_that_of_further_steps_is_a_model_of_its_own(tmp_path: Path) -> None:
    write(tmp_path).rename(tmp_path / "decoder_model.onnx")
    assert encoder_tables.encoder_of(tmp_path / "decoder_model.onnx") is None
    assert encoder_tables.decoder_in(tmp_path) is None
