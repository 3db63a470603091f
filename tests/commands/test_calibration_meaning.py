"""Calibration by pictures, recordings and texts: the numbers that they become are those that the model wants."""

import wave
from pathlib import Path

import numpy
import onnx
import pytest
from PIL import Image

from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.sample_settings import AudioSettings, ImageSettings
from packager.files.store import Store
from packager.quantization.ranges import read_samples
from packager.quantizers import Calibration
from packager.workflows.project_samples import by_contract
from tests.cases.cli import Mobpack, mobpack
from tests.cases.labelled_pictures import MEAN, STD, Floats, Pixels, accuracy, classifier, folder_of, pictures, scaled
from tests.cases.onnx_text import loaded, onnx_model, saved, weight

__all__ = ["mobpack"]

PROJECT = f"""
[package]
name = "vision"
[model.classifier]
path = "classifier.onnx"
[model.classifier.inputs.image]
kind = "image"
mean = {list(MEAN)}
std = {list(STD)}
"""
STATED = ("--set", f"calibration.image.mean={list(MEAN)}", "--set", f"calibration.image.std={list(STD)}")
STATED_AS_IT_IS_ASSUMED = ("--set", "calibration.image.mean=[0.0]")
OPTIONS = ("--calibration", "calib", "--force", "--no-report", "-o", "made.onnx")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the classifier and pictures."""
    saved(tmp_path / "classifier.onnx", classifier())
    folder_of(tmp_path / "calib")
    return tmp_path


@pytest.mark.parametrize(
    ("contract", "options"),
    [("", STATED), (PROJECT, ()), (PROJECT.replace("classifier.inputs.image", "classifier.inputs.photo"), ())],
    ids=["stated", "contract", "contract of a renamed input"],
)
def test_a_classifier_stays_right_if_its_pictures_are_normalized_as_it_wants(
    mobpack: Mobpack, project: Path, contract: str, options: tuple[str, ...]
) -> None:
    if "photo" in contract:
        contract = contract.replace("[model.classifier]\n", '[model.classifier]\nrename = { image = "photo" }\n')
    if contract:
        (project / "mobpack.toml").write_text(contract)
    answer = mobpack("quantize", "classifier.onnx", "-q", "static-qdq", *OPTIONS, *options)
    assert answer.code == 0, answer.err
    assert ("converted by [model.classifier.inputs] of" in answer.err) is bool(contract)
    assert "not verified" not in answer.err
    assert accuracy(project / "classifier.onnx") == 1.0
    assert accuracy(project / "made.onnx") >= 0.99


def test_an_assumed_conversion_is_refused_by_answers_and_a_stated_one_never(mobpack: Mobpack, project: Path) -> None:
    options = ("-q", "auto", "--metric", "top1", "--max-drop", "0.01", *OPTIONS)
    answer = mobpack("quantize", "classifier.onnx", *options)
    assert answer.code == 2
    assert "pictures are scaled by 1/255, RGB, 32 x 32: set calibration.image.mean, .std and .scale" in answer.err
    assert "the float model's answers on 32 pictures are all of one class" in answer.err
    assert f"--set 'calibration.image.mean={list(MEAN)}' --set 'calibration.image.std={list(STD)}'" in answer.err
    assert not (project / "made.onnx").exists()
    answer = mobpack("quantize", "classifier.onnx", "-q", "static-qdq", *OPTIONS, *STATED_AS_IT_IS_ASSUMED)
    assert answer.code == 0, answer.err
    assert accuracy(project / "made.onnx") < 0.6  # what the refusal prevents


def test_a_conversion_that_is_assumed_and_that_nothing_contradicts_is_not_verified(
    mobpack: Mobpack, tmp_path: Path
) -> None:
    saved(tmp_path / "classifier.onnx", classifier(scaled))
    folder_of(tmp_path / "calib")
    answer = mobpack("quantize", "classifier.onnx", "-q", "static-qdq", "--metric", "top1", *OPTIONS[:3])
    assert answer.code == 0, answer.err
    said = " ".join(answer.err.split())
    assert "not verified: top1 compares the model with itself: pictures were taken to be scaled by 1/255, RGB" in said


def test_a_build_refuses_the_same_pictures(mobpack: Mobpack, project: Path) -> None:
    table = PROJECT.partition("[model.classifier.inputs")[0]
    variant = '[variant.int8]\nquantizer = "static-qdq"\ncalibration = "calib"\n[target.web]\nvariant = "int8"\n'
    (project / "mobpack.toml").write_text(table + variant)
    answer = mobpack("check", "--target", "web")
    assert answer.code == 2
    assert "the float model's answers on 32 pictures are all of one class" in answer.err


Constants = dict[str, tuple[float, ...]]


def preceded(nodes: str, constants: Constants) -> onnx.ModelProto:
    """The classifier behind `nodes`, which make `image` of `pixels`; constants have a number for each channel."""
    first = onnx_model(f"(float[1, 3, 32, 32] pixels) => (float[1, 3, 32, 32] image) {{ {nodes} }}")
    for name, numbers in constants.items():
        array = numpy.broadcast_to(numpy.array(numbers, numpy.float32), (3,))
        shaped = numpy.ascontiguousarray(array if "Batch" in nodes else array.reshape(1, 3, 1, 1))
        first.graph.initializer.append(onnx.numpy_helper.from_array(shaped, name))
    return onnx.compose.merge_models(first, classifier(), io_map=[("image", "image")])


def times(factor: float, numbers: tuple[float, ...], power: int = 1) -> tuple[float, ...]:
    return tuple((factor * each) ** power for each in numbers)


NORMALIZING = "centred = Sub (pixels, mean) image = Div (centred, spread)"
SCALING = f"scaled = Mul (pixels, factor) {NORMALIZING.replace('pixels', 'scaled')}"
STANDARDIZING = "image = BatchNormalization (pixels, one, zero, mean, variance)"
PASSED_ON = f"same = Identity (pixels) {STANDARDIZING.replace('pixels', 'same')}"
LEARNED: Constants = {"one": (1.0,), "zero": (0.0,)}
OF_PIXELS: dict[str, tuple[str, Constants]] = {
    "mean and spread of pixels": (NORMALIZING, {"mean": times(255, MEAN), "spread": times(255, STD)}),
    "a factor first": (SCALING, {"factor": (1 / 255,), "mean": MEAN, "spread": STD}),
    "learned of pixels": (STANDARDIZING, {"mean": times(255, MEAN), "variance": times(255, STD, 2), **LEARNED}),
    "learned of normalized pictures": (PASSED_ON, {"mean": (0.1,), "variance": (1.1,), **LEARNED}),
}
OF_SHARES: dict[str, tuple[str, Constants]] = {
    "mean and spread": (NORMALIZING, {"mean": MEAN, "spread": STD}),
    "learned": (STANDARDIZING, {"mean": MEAN, "variance": times(1, STD, 2), **LEARNED}),
    "of pixels behind a factor": (SCALING, {"factor": (255.0,), "mean": times(255, MEAN), "spread": times(255, STD)}),
}


def read(model: onnx.ModelProto, source: Path, settings: Calibration | None = None) -> list[str]:
    """The warnings of reading `source` as samples of `model`."""
    console = Console(quiet=True)
    given = settings or Calibration(samples=str(source))
    read_samples(loaded(source.parent, model), given, Store(source.parent / "store"), console)
    return console.warnings


@pytest.mark.parametrize("which", OF_PIXELS)
def test_constants_of_the_first_nodes_contradict_numbers_of_another_range(tmp_path: Path, which: str) -> None:
    source, model = folder_of(tmp_path / "calib", count=5), preceded(*OF_PIXELS[which])
    with pytest.raises(ConfigError, match="made for numbers of another range"):
        read(model, source)
    read(model, source, Calibration(samples=str(source), image=ImageSettings(scale=1.0)))


@pytest.mark.parametrize("which", OF_SHARES)
def test_pictures_that_the_model_normalizes_itself_are_taken_as_they_are(tmp_path: Path, which: str) -> None:
    source = folder_of(tmp_path / "calib", count=16)
    warnings = read(preceded(*OF_SHARES[which]), source)
    assert [each for each in warnings if "pictures are scaled by 1/255, RGB, 32 x 32" in each]
    assert len(warnings) == 1


def test_answers_that_say_much_less_than_in_another_usual_conversion_are_refused(tmp_path: Path) -> None:
    """The same net, fitted to numbers from 0 to 1 and from -1 to 1: the second gives several classes for either."""
    source = folder_of(tmp_path / "calib")
    assert len(read(classifier(scaled), source)) == 1
    centred = classifier(from_minus_1_to_1)
    assert accuracy(centred, 100, 9, from_minus_1_to_1) > 0.95
    assert accuracy(centred, 100, 9, scaled) < 0.2
    with pytest.raises(ConfigError, match="answers say more if the same numbers lie around 0") as caught:
        read(centred, source)
    assert "as with --set 'calibration.image.mean=[0.5]' --set 'calibration.image.std=[0.5]'" in str(caught.value)
    with pytest.raises(ConfigError, match="answers on them say little"):
        read(centred, folder_of(tmp_path / "few", count=6))


def from_minus_1_to_1(pixels: Pixels) -> Floats:
    return scaled(pixels, 2 / 255, -1.0)


def around_0(pixels: Pixels) -> Floats:
    return scaled(pixels, 1 / 255, -0.5)


def test_a_net_that_wants_the_same_numbers_around_0_is_known_by_its_certainty(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "calib")
    found = classifier(around_0)
    assert accuracy(found, 100, 9, around_0) > 0.95
    assert accuracy(found, 100, 9, scaled) < 0.9
    with pytest.raises(ConfigError, match="answers say more if the same numbers lie around 0"):
        read(found, source)
    read(found, source, Calibration(samples=str(source), image=ImageSettings(mean=(0.5,))))


def test_a_net_that_is_right_and_not_certain_is_taken(tmp_path: Path) -> None:
    """Larger numbers make its answers certain, and leave them what they are."""
    unsure = onnx.ModelProto.FromString(classifier(scaled).SerializeToString())
    for tensor in unsure.graph.initializer:
        if tensor.name in ("head", "bias"):
            tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor) / 6, tensor.name))
    assert accuracy(unsure, 100, 9, scaled) > 0.95
    assert len(read(unsure, folder_of(tmp_path / "calib"))) == 1


def test_few_pictures_of_one_class_are_no_reason_to_refuse(tmp_path: Path) -> None:
    folder = tmp_path / "calib"
    folder.mkdir()
    own = [pixels for pixels, label in pictures(60, 5) if label == 3]
    for number, pixels in enumerate(own[:5]):
        Image.fromarray(pixels).save(folder / f"{number}.png")
    assert any("set calibration.image.mean" in each for each in read(preceded(*OF_SHARES["learned"]), folder))


def recordings(folder: Path, count: int = 12) -> Path:
    folder.mkdir()
    generator = numpy.random.default_rng(4)
    for number in range(count):
        tone = numpy.sin(numpy.arange(400) * (0.05 + 0.03 * number)) + 0.1 * generator.standard_normal(400)
        with wave.open(str(folder / f"{number:02}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            file.writeframes((9000 * tone).astype("<i2").tobytes())
    return folder


def test_recordings_are_refused_by_a_model_that_divides_integers_and_taken_with_their_scale(tmp_path: Path) -> None:
    source = recordings(tmp_path / "calib")
    text = "(float[1, 400] x) => (float[1, 4] y) { s = Div (x, i) m = MatMul (s, w) y = Tanh (m) }"
    weights = {"w": weight(400, 4), "i": numpy.array(32768, numpy.float32)}
    model = onnx_model(text, weights=weights)
    with pytest.raises(
        ConfigError, match="recordings are passed from -1 to 1, with 16000 samples per second"
    ) as caught:
        read(model, source)
    assert "calibration.audio.scale" in caught.value.hint
    assert not read(model, source, Calibration(samples=str(source), audio=AudioSettings(scale=32768.0)))


AUDIO = """
[package]
name = "sounds"
[model.m]
path = "m.onnx"
[model.m.inputs.x]
kind = "audio"
rate = 16000
scale = 32768
"""
TEXT = """
[package]
name = "texts"
[model.m]
path = "m.onnx"
[model.m.inputs.input_ids]
kind = "text"
tokenizer = "vocab.txt"
"""


def converted(folder: Path, model: onnx.ModelProto, project: str, source: Path) -> list[dict[str, numpy.ndarray]]:
    """The samples that a quantizer of `model` gets of `source`, in a folder with `project`."""
    (folder / "mobpack.toml").write_text(project)
    store, console = Store(folder / "store"), Console(quiet=True)
    found = loaded(folder, model)
    made = by_contract(found, Calibration(samples=str(source)), made_folder(folder), store, console)
    read_samples(found, made, store, console)
    assert not [each for each in console.warnings if "calibration." in each]
    return [dict(numpy.load(path)) for path in sorted(Path(made.samples).iterdir())]


def made_folder(folder: Path) -> Path:
    (folder / "made").mkdir()
    return folder / "made"


def test_recordings_have_the_scale_and_the_length_of_the_contract(tmp_path: Path) -> None:
    source = recordings(tmp_path / "calib", count=2)
    model = onnx_model("(float[1, 500] x) => (float[1, 4] y) { y = MatMul (x, w) }", weights={"w": weight(500, 4)})
    samples = converted(tmp_path, model, AUDIO, source)
    with wave.open(str(source / "01.wav")) as file:
        integers = numpy.frombuffer(file.readframes(400), "<i2")
    assert (samples[1]["x"] == numpy.pad(integers.astype(numpy.float32), (0, 100))[None]).all()


def test_each_line_of_a_text_becomes_the_tokens_of_the_contract(tmp_path: Path) -> None:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "##s"]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    (tmp_path / "calib").mkdir()
    (tmp_path / "calib" / "lines.txt").write_text("Good films\n\nbad film\nfilm\n")
    text = """(int64[1, n] input_ids, int64[1, n] attention_mask) => (float[1, n, 4] y) {
        e = Gather (table, input_ids) m = Cast <to = 1> (attention_mask) u = Unsqueeze (m, axis) y = Mul (e, u)
    }"""
    model = onnx_model(text, weights={"table": weight(8, 4), "axis": numpy.array([2])})
    samples = converted(tmp_path, model, TEXT, tmp_path / "calib")
    ids = [each["input_ids"].tolist() for each in samples]
    assert ids == [[[2, 4, 6, 7, 3]], [[2, 5, 6, 3]], [[2, 6, 3]]]
    assert [each["attention_mask"].tolist() for each in samples] == [[[1] * 5], [[1] * 4], [[1] * 3]]
    (tmp_path / "mobpack.toml").unlink()
    with pytest.raises(ConfigError, match="nothing says how they become the inputs of model 'm'"):
        read(model, tmp_path / "calib")
