"""Imports of what Keras and TensorFlow save, with the real ones, and of what they save badly."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnxruntime
import pytest

from packager.cli import main
from packager.core.console import Console
from packager.core.errors import ConfigError, ModelError, ParityError
from packager.workflows.conversion.graph import ports
from packager.workflows.importing import ImportRequest, layout, starting, steps
from tests.toolchain import command, models
from tests.toolchain.importing import answers_of
from tests.toolchain.keras_models import SOURCES

Answers = Mapping[str, Mapping[str, Any]]
RIGHT = """
digits.keras digits.h5 digits digits.tflite digits_int8.tflite named.keras recurrent.keras gelu.keras wide.keras
subclass counting.tflite sparse.tflite
""".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keras")


@pytest.fixture(scope="module")
def answers(folder: Path) -> Answers:
    return answers_of("tests.toolchain.keras_models", "keras", folder)


def request_for(name: str, folder: Path) -> ImportRequest:
    return ImportRequest(source=name, folder=folder, output=folder / "model.onnx")


def finished(name: str, answers: Answers, folder: Path, place: Path) -> tuple[Any, Path]:
    """The graph of an import, and a copy of its samples."""
    shutil.copytree(folder / "imported" / name, place)
    answer = starting.answer_of(answers[name])
    proto = steps.read(place, answer)
    steps.freed_layout(proto, place, request_for(name, folder), Console(quiet=True))
    return proto, place


@pytest.mark.parametrize("name", RIGHT)
def test_the_framework_and_the_onnx_agree(name: str, answers: Answers, folder: Path, tmp_path: Path) -> None:
    proto, place = finished(name, answers, folder, tmp_path / "made")
    answer = starting.answer_of(answers[name])
    errors = steps.compare(proto, answer, place, request_for(name, folder), Console(quiet=True))
    assert [each.name for each in errors] == list(answer.outputs)
    assert all(each.max_share < 0.5 for each in errors)
    assert len(answer.sizes) == 4


def test_a_wrong_weight_is_found_and_the_output_is_named(answers: Answers, folder: Path, tmp_path: Path) -> None:
    proto, place = finished("digits.keras", answers, folder, tmp_path / "made")
    weights = next(each for each in proto.graph.initializer if len(each.dims) == 4)
    wrong = onnx.numpy_helper.to_array(weights).copy()
    wrong[0] += 0.1
    weights.CopyFrom(onnx.numpy_helper.from_array(wrong, weights.name))
    with pytest.raises(ParityError, match=r"differs from Keras .*\n  output 'scores' on sample 0 \(batch = 2\)"):
        steps.compare(
            proto,
            starting.answer_of(answers["digits.keras"]),
            place,
            request_for("digits.keras", folder),
            Console(quiet=True),
        )


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "digits.keras": {"image": ("batch", 12, 12, 1), "scores": ("batch", 4)},
        "digits": {"image": ("batch", 12, 12, 1), "output": ("batch", 4)},
        "digits.tflite": {"image": ("batch", 12, 12, 1), "output": ("batch", 4)},
        "named.keras": {"left": ("batch", 4), "right": ("batch", 4), "both": ("batch", 8), "sum": ("batch", 2)},
        "recurrent.keras": {"tokens": ("batch", "tokens_1"), "output": ("batch", 3)},
        "subclass": {"input": ("batch", 4), "score": ("batch", 3)},
    }.items(),
)
def test_names_and_shapes_are_those_of_the_model(
    name: str, expected: dict[str, Any], answers: Answers, folder: Path, tmp_path: Path
) -> None:
    proto, _ = finished(name, answers, folder, tmp_path / "made")
    assert {each.name: each.dimensions for each in (*ports(proto.graph.input), *ports(proto.graph.output))} == expected


def test_channels_last_is_taken_off_where_it_costs_a_transpose(answers: Answers, folder: Path, tmp_path: Path) -> None:
    proto, place = finished("wide.keras", answers, folder, tmp_path / "made")
    assert "Transpose" not in {node.op_type for node in proto.graph.node}
    assert [each.dimensions for each in ports(proto.graph.input)] == [("batch", 3, "input_1", "input_2")]
    assert ports(proto.graph.output)[0].dimensions[:2] == ("batch", 2)
    with numpy.load(place / "samples" / "sample-0.npz") as found:
        assert found["input"].shape == (2, 3, 32, 33)
    kept, _ = finished("digits.keras", answers, folder, tmp_path / "kept")
    assert layout.take_off(kept).names == (), "a second time, there is nothing left"


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("lambda.keras", ModelError, "contains Python code (a Lambda layer), which is not run"),
        ("custom.keras", ModelError, "has a part that is not in Keras, and its code is not in the file: Triple"),
        ("cut.keras", ModelError, "not a whole .keras file"),
        ("cut.h5", ModelError, "Keras cannot load cut.h5: "),
        ("text.h5", ModelError, "not a whole .h5 file"),
        ("text.tflite", ModelError, "not a .tflite file"),
        ("started.tflite", ModelError, "started.tflite keeps a state in variables that does not begin with zeros"),
        ("weights.h5", ModelError, "weights.h5 has only weights, without the model that they belong to"),
        ("two_signatures", ConfigError, "has no signature serving_default; it has one, other"),
        ("no_signature", ConfigError, "has no signature serving_default; it has none"),
        ("writes", ModelError, "uses files: WriteFile"),
        ("unmovable.keras", ModelError, "the converter cannot write unmovable.keras as ONNX"),
    ],
)
def test_every_bad_source_has_its_words(name: str, kind: type, words: str, answers: Answers) -> None:
    answer = answers[name]
    assert answer.get("failed") == kind.__name__, answer
    assert words in answer["message"]
    assert answer["hint"]


def test_mediapipes_own_operator_becomes_one_of_litert(tmp_path: Path) -> None:
    """The command compares the graph with LiteRT, whose XNNPACK computes the operator."""
    (tmp_path / "selfie.tflite").write_bytes(models.selfie_tflite())
    done = command.run("import", "selfie.tflite", "--output", "selfie.onnx", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    [error] = json.loads(done.stdout)["errors"]
    assert error["share-of-tolerance"] < 0.5
    assert [node.op_type for node in onnx.load(tmp_path / "selfie.onnx").graph.node].count("ConvTranspose") == 1


def test_a_state_in_variables_goes_from_run_to_run(answers: Answers, folder: Path, tmp_path: Path) -> None:
    """The model returns its input plus the sum of all inputs so far."""
    proto, _ = finished("counting.tflite", answers, folder, tmp_path / "made")
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    assert {each.name for each in (*session.get_inputs(), *session.get_outputs())} == {
        *("x", "state_0"),
        *("output_0", "next_state_0"),
    }
    given = numpy.random.default_rng(0).standard_normal((3, 1, 4)).astype(numpy.float32)
    state = numpy.zeros(4, numpy.float32)
    for number, each in enumerate(given):
        found, state = session.run(["output_0", "next_state_0"], {"x": each, "state_0": state})
        assert numpy.allclose(found, each + given[: number + 1].sum(axis=0), atol=1e-6)


def test_every_source_is_tried(answers: Answers) -> None:
    assert set(answers) == set(SOURCES)


def test_the_command_imports_a_model_and_a_build_records_its_origin(
    answers: Answers, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del answers
    monkeypatch.chdir(tmp_path)
    shutil.copy(folder / "digits.keras", tmp_path / "digits.keras")
    Path("mobpack.toml").write_text(
        '[package]\nname = "digits"\n[model.digits]\npath = "digits.keras"\n[target.web]\n', encoding="utf-8"
    )
    assert run(monkeypatch, "build") == 0, capsys.readouterr().err
    manifest = Path("dist/manifest.json").read_text(encoding="utf-8")
    assert (
        '"imported": "digits.keras, imported from Keras 3.15.1 with tf2onnx 1.17.0; compared on 4 samples' in manifest
    )
    capsys.readouterr()
    assert run(monkeypatch, "build", "--verify") == 0
    assert "convert digits.keras" not in capsys.readouterr().err, "the store has it"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr("sys.argv", ["mobpack", *arguments])
    with pytest.raises(SystemExit) as exited:
        main()
    return exited.value.code
