"""An encoder and a decoder in two files become one model, which makes the tokens of a plain loop over both files."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest
from tokenizers import Tokenizer

from packager import models
from packager.compile.compile import compile_variant
from packager.contract import INPUT_KINDS, OUTPUT_KINDS, attachment
from packager.contract.attachment import Tables
from packager.core.errors import ConfigError
from packager.core.findings import Report
from packager.core.values import Model, Package, baseline
from packager.engines.session import exact
from packager.files.store import Store
from packager.render.templates import write_sources
from packager.targets.android import Android
from packager.targets.ios import Ios
from tests.cases import decoders, encoder_decoders
from tests.cases.generation import DTYPES
from tests.cases.onnx_text import saved
from tests.toolchain import generation_models

MOST = 12
START = ("a", "d")
PAIR = ("decoder_model.onnx", "decoder_with_past_model.onnx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("encoder")
    decoders.tokenizer(made)
    saved(made / "encoder_model.onnx", encoder_decoders.encoder())
    size = Tokenizer.from_file(str(made / "tokenizer.json")).get_vocab_size()
    saved(made / "decoder_model_merged.onnx", encoder_decoders.decoder(size))
    return made


def loaded(folder: Path, encoder: str = "encoder_model.onnx", *, with_past: bool = False) -> Model:
    """The model of two files, or of three with a decoder of further steps."""
    decoder = "decoder_model" if with_past else "decoder_model_merged"
    return models.load(
        folder / f"{decoder}.onnx",
        "m",
        encoder=folder / encoder if encoder else None,
        with_past=folder / "decoder_with_past_model.onnx" if with_past else None,
    )


def joined(
    folder: Path,
    encoder: str = "encoder_model.onnx",
    *,
    with_past: bool = False,
    inputs: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Model:
    model = loaded(folder, encoder, with_past=with_past)
    table: Any = OUTPUT_KINDS["generated"]
    given = {"stop_tokens": (decoders.STOP,), "start_tokens": START, "tokenizer": folder / "tokenizer.json"} | keys
    kind = table(max_new_tokens=MOST, **given)
    return attachment.attach(model, Tables(inputs=inputs or {}, outputs={"logits": kind})).model


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a model whose encoder takes texts."""
    made = tmp_path_factory.mktemp("translator")
    size = Tokenizer.from_file(str(decoders.tokenizer(made))).get_vocab_size()
    saved(made / "encoder_model.onnx", encoder_decoders.text_encoder(size))
    saved(made / "decoder_model_merged.onnx", encoder_decoders.decoder(size, is_masked=True))
    return made


def translating(folder: Path, *, with_past: bool = False, **keys: Any) -> Model:
    model = loaded(folder, with_past=with_past)
    inputs: Any = INPUT_KINDS
    outputs: Any = OUTPUT_KINDS
    made = outputs["generated"](max_new_tokens=MOST, stop_tokens=(decoders.STOP,), start_tokens=START)
    text = inputs["text"](tokenizer=folder / "tokenizer.json", **keys)
    return attachment.attach(model, Tables(inputs={"input_ids": text}, outputs={"logits": made})).model


def points_of(text: str) -> Any:
    return numpy.array([ord(each) for each in text] or [-1], numpy.int32)


def steps(model: Model, name: str, first: Any, further: Any) -> list[int]:
    """Tokens of the joined model, which gets `first` in its first step only."""
    assert model.contract is not None
    path = model.path.with_name("joined.onnx")
    path.write_bytes(model.graph)
    session, states = encoder_decoders.opened(path), model.contract.states
    given = {each.input.name: numpy.zeros(each.first_shape, DTYPES[each.input.element.value]) for each in states}
    given[name] = first
    names, tokens = [each.name for each in session.get_outputs()], []
    while True:
        made = dict(zip(names, session.run(None, given), strict=True))
        tokens.append(int(made["logits.next progress"][1]))
        if made["logits.finished"][0]:
            return tokens
        given = {each.input.name: made[each.output.name] for each in states} | {name: further}


def test_tokens_are_those_of_a_plain_loop_over_both_files(folder: Path) -> None:
    model, random = joined(folder), numpy.random.default_rng(0)
    seen = set()
    for windows in (1, 3, 20):
        samples = random.normal(0, 2, (1, 4 * windows)).astype(numpy.float32)
        tokens = steps(model, "input_values", samples, samples[:, :0])
        assert tokens == encoder_decoders.plain(folder, samples, START, MOST)
        seen.add(tuple(tokens))
    assert len(seen) == 3


@pytest.mark.parametrize("length", [None, 40])
def test_a_translation_is_that_of_a_plain_loop_over_both_files(translator: Path, length: int | None) -> None:
    model, known, seen = translating(translator, length=length), decoders.tokenizer(translator), set()
    for text in ("a dog", "the quick brown fox", decoders.EMOJI):
        ids = Tokenizer.from_file(str(known)).encode(text).ids
        padding = [0] * ((length or len(ids)) - len(ids))
        mask = numpy.array([[1] * len(ids) + padding])
        fed = {"input_ids": numpy.array([ids + padding]), "attention_mask": mask}
        wanted = encoder_decoders.plain_of(translator, fed, {"encoder_attention_mask": mask}, START, MOST)
        assert steps(model, "input_ids.text", points_of(text), points_of("")) == wanted
        seen.add(tuple(wanted))
    assert len(seen) == 3


def test_a_decoder_that_takes_a_mask_gets_ones_for_a_recording(tmp_path: Path) -> None:
    size = Tokenizer.from_file(str(decoders.tokenizer(tmp_path))).get_vocab_size()
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.encoder())
    saved(tmp_path / "decoder_model_merged.onnx", encoder_decoders.decoder(size, is_masked=True))
    samples = numpy.random.default_rng(0).normal(0, 2, (1, 12)).astype(numpy.float32)
    ones = {"encoder_attention_mask": numpy.ones((1, 3), numpy.int64)}
    wanted = encoder_decoders.plain_of(tmp_path, {"input_values": samples}, ones, START, MOST)
    assert steps(joined(tmp_path), "input_values", samples, samples[:, :0]) == wanted


def test_two_decoders_are_one_model_that_makes_the_tokens_of_the_merged_one(folder: Path, translator: Path) -> None:
    for each, is_masked in ((folder, False), (translator, True)):
        size = Tokenizer.from_file(str(each / "tokenizer.json")).get_vocab_size()
        for name, net in zip(PAIR, encoder_decoders.split_decoders(size, is_masked=is_masked), strict=True):
            saved(each / name, net)
    texts, sounds = ("a dog", "the quick brown fox", decoders.EMOJI), (1, 3, 20)
    made: dict[bool, set[tuple[Any, ...]]] = {False: set(), True: set()}
    for with_past, seen in made.items():
        model, other = joined(folder, with_past=with_past), translating(translator, with_past=with_past)
        for windows in sounds:
            samples = numpy.random.default_rng(windows).normal(0, 2, (1, 4 * windows)).astype(numpy.float32)
            seen.add((windows, *steps(model, "input_values", samples, samples[:, :0])))
        seen.update((text, *steps(other, "input_ids.text", points_of(text), points_of(""))) for text in texts)
    assert made[True] == made[False]
    assert len({each[1:] for each in made[True]}) == len(texts) + len(sounds)


def test_weights_that_both_decoders_have_are_kept_once(tmp_path: Path) -> None:
    size = Tokenizer.from_file(str(decoders.tokenizer(tmp_path))).get_vocab_size()
    for name, net in zip(PAIR, encoder_decoders.split_decoders(size), strict=True):
        renamed = {each.name: f"{name}.{each.name}" for each in net.graph.initializer}  # as exporters number them
        for node in net.graph.node:
            node.input[:] = [renamed.get(value, value) for value in node.input]
        for each in net.graph.initializer:
            each.name = renamed[each.name]
        saved(tmp_path / name, net)
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.encoder())
    saved(tmp_path / "decoder_model_merged.onnx", encoder_decoders.decoder(size))
    assert joined(tmp_path, with_past=True).parameter_count <= joined(tmp_path).parameter_count


def test_caches_of_two_decoders_have_the_sizes_of_further_steps(folder: Path) -> None:
    size = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab_size()
    for name, net in zip(PAIR, encoder_decoders.split_decoders(size), strict=True):
        saved(folder / name, net)
    shapes = {spec.name: spec.shape for spec in loaded(folder, with_past=True).signature.outputs}
    assert shapes["present.0.decoder.key"][1] == "past_decoder_sequence_length + 1"


def test_decoders_of_two_exports_are_refused(tmp_path: Path) -> None:
    first, later = encoder_decoders.split_decoders(300)
    del later.graph.input[2:]
    for name, net in zip(PAIR, (first, later), strict=True):
        saved(tmp_path / name, net)
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.encoder())
    with pytest.raises(ConfigError, match=r"gives 'present\.0\.encoder\.key', which the other neither"):
        loaded(tmp_path, with_past=True)


def test_a_result_of_the_encoder_may_have_a_fixed_length(tmp_path: Path) -> None:
    size = Tokenizer.from_file(str(decoders.tokenizer(tmp_path))).get_vocab_size()
    encoder, decoder = encoder_decoders.encoder(), encoder_decoders.decoder(size)
    for value in (encoder.graph.output[0], decoder.graph.input[1]):
        value.type.tensor_type.shape.dim[1].dim_value = 5
    encoder.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 20
    saved(tmp_path / "encoder_model.onnx", encoder)
    saved(tmp_path / "decoder_model_merged.onnx", decoder)
    samples = numpy.random.default_rng(0).normal(0, 2, (1, 20)).astype(numpy.float32)
    wanted = encoder_decoders.plain(tmp_path, samples, START, MOST)
    assert steps(joined(tmp_path), "input_values", samples, samples) == wanted


def test_a_picture_is_prepared_in_the_first_step_only(tmp_path: Path) -> None:
    size = Tokenizer.from_file(str(decoders.tokenizer(tmp_path))).get_vocab_size()
    saved(tmp_path / "encoder_model.onnx", encoder_decoders.picture_encoder())
    saved(tmp_path / "decoder_model_merged.onnx", encoder_decoders.decoder(size))
    model = joined(tmp_path, inputs={"pixel_values": INPUT_KINDS["image"]()})
    nodes = onnx.ModelProto.FromString(model.graph).graph.node
    (choice,) = (each for each in nodes if each.output[0] == "encoder_hidden_states")
    branches = {each.name: each.g for each in choice.attribute}
    assert [node.op_type for node in branches["then_branch"].node] == ["Identity"]
    assert any(node.output[0] == "pixel_values" for node in branches["else_branch"].node)
    apps = {each.name for each in model.signature.inputs if each.name.startswith("pixel_values.")}
    assert apps
    assert not any(apps.intersection(node.input) for node in nodes)


def test_sizes_of_a_text_and_of_what_is_carried_differ(translator: Path) -> None:
    files = [translator / f"{each}.onnx" for each in ("decoder_model_merged", "encoder_model")]
    shapes = {spec.name: spec.shape for spec in models.load(files[0], "m", encoder=files[1]).signature.inputs}
    assert shapes["input_ids"] == shapes["attention_mask"] == ("batch_size", "given_encoder_sequence_length")
    assert shapes["past_key_values.encoder_attention_mask"] == ("batch_size", "encoder_sequence_length")


def test_the_file_that_ships_opens_where_results_are_exact(translator: Path, tmp_path: Path) -> None:
    compiled = compile_variant(baseline(translating(translator)), Store(tmp_path))
    names = {each.name for each in exact.opened(compiled.path, "", onnxruntime.SessionOptions).get_outputs()}
    assert "present.encoder_attention_mask" in names


def test_apps_pass_a_text_to_a_translator(translator: Path) -> None:
    contract = translating(translator).contract
    assert contract is not None
    assert [each.identifier for each in contract.parameters] == ["text"]


def test_apps_pass_what_the_encoder_takes(folder: Path) -> None:
    contract = joined(folder).contract
    assert contract is not None
    assert [each.identifier for each in contract.parameters] == ["inputValues"]
    assert contract.verb == "generate"


def test_both_files_count_as_the_model(folder: Path) -> None:
    model = joined(folder)
    assert [each.name for each in model.data_files] == ["encoder_model.onnx"]


@pytest.mark.parametrize(
    ("encoder", "keys", "words"),
    [
        ("", {}, "which its encoder makes"),
        ("encoder_model.onnx", {"start_tokens": ()}, "start-tokens is missing"),
        ("encoder_model.onnx", {"start_tokens": ("<s>",)}, "start-tokens: the tokenizer has no '<s>'"),
        ("encoder_model.onnx", {"tokenizer": None}, "tokenizer is missing"),
    ],
)
def test_what_is_missing_is_named(folder: Path, encoder: str, keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        joined(folder, encoder, **keys)


def test_an_encoder_of_another_export_is_refused(folder: Path) -> None:
    saved(folder / "other.onnx", encoder_decoders.encoder(width=6))
    with pytest.raises(ConfigError, match="but the decoder takes 'encoder_hidden_states'"):
        joined(folder, "other.onnx")


def test_a_model_without_use_cache_branch_cannot_have_an_encoder(folder: Path) -> None:
    net = decoders.decoder(300, kind="llama")
    saved(folder / "alone.onnx", net)
    with pytest.raises(ConfigError, match="the decoder has no input 'encoder_hidden_states'"):
        models.load(folder / "alone.onnx", "m", encoder=folder / "encoder_model.onnx")


@pytest.mark.parametrize(
    ("target", "file", "passed"),
    [
        (Android(providers=()), "ScribeModel.kt", "tensors = inputOf(inputValues.firstFrame(), carried)"),
        (
            Ios(providers=()),
            "ScribeModel.swift",
            "self.step(first ? inputValues : inputValues.firstFrame, carried, until: $0)",
        ),
    ],
)
def test_apps_pass_one_frame_to_further_runs(tmp_path: Path, target: Any, file: str, passed: str) -> None:
    plan = replace(generation_models.heard(tmp_path, Store(tmp_path / "store")).plan, target=target.NAME)
    package = Package(name="tales", version="1.0.0", license="")
    write_sources(target.render(target.view(package, (plan,), Report(parities=()))), tmp_path / "made")
    (found,) = (tmp_path / "made").rglob(file)
    assert passed in found.read_text(encoding="utf-8")
