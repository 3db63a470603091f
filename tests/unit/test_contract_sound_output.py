"""The kind `sound` of outputs beside NumPy, and the .wav files of sounds."""

import io
import wave
from typing import Any

import numpy
import numpy.typing
import pytest
from onnx import helper

from packager.contract import Core, Writer
from packager.contract.results import SoundResult, answer
from packager.contract.sound import Waveform
from packager.core.contract import SoundOutput
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import Dimension, ElementType
from packager.graph.writer import onnx_type
from packager.samples import wav
from tests.cases import spoken
from tests.cases.contract_graphs import Ran, graph_of, spec_of

Numbers = numpy.typing.NDArray[Any]
Shape = tuple[Dimension, ...]

RANDOM = numpy.random.default_rng(3)
NAN, INFINITY = numpy.nan, numpy.inf


class Made:
    """A sound of an output `y`, with an output `n` beside it."""

    def __init__(self, kind: Waveform, *shape: Dimension, element: ElementType = ElementType.FLOAT) -> None:
        writer = Writer(scope="y")
        specs = {"y": spec_of("y", element, *shape), "n": spec_of("n", ElementType.INT32, 1)}
        attached = kind.attach(writer, specs["y"], Core(outputs=specs, placements={}, rates=frozenset({16000})))
        assert isinstance(attached.typed, SoundOutput)
        assert attached.taken == tuple(filter(None, ("y", kind.length)))
        self.typed = attached.typed
        inputs = [(each.name, each.element, each.shape) for each in specs.values() if each.name in attached.taken]
        self._ran = Ran(graph_of(writer, inputs=inputs))

    def __call__(self, values: Numbers, count: int = 0) -> Numbers:
        return self._ran({"y": values, "n": numpy.array([count], numpy.int32)})["y.samples"]


@pytest.mark.parametrize(
    ("shape", "frames", "sizes"),
    [
        ((1, 500), 500, (1, 500)),
        ((1, 1, 500), 500, (1, 1, 500)),
        ((500,), 500, (500,)),
        ((1, "time"), "y.frames", (1, 500)),
        (("batch", 1, "time"), "y.frames", (1, 1, 500)),
        (("time",), "y.frames", (500,)),
        (("batch", "time", 1, "more"), "y.frames", (1, 1, 1, 500)),  # Piper's, which names its sizes wrongly
    ],
)
def test_one_channel_has_a_row_for_each_sample_and_is_cut_at_1(
    shape: Shape, frames: Dimension, sizes: tuple[int, ...]
) -> None:
    made = Made(Waveform(rate=22050), *shape)
    assert (made.typed.samples.shape, made.typed.rate, made.typed.channels) == ((frames, 1), 22050, 1)
    given = (2 * RANDOM.standard_normal(500)).astype(numpy.float32)
    given[[3, 77, 130]] = NAN, INFINITY, -INFINITY
    assert numpy.array_equal(made(given.reshape(sizes)), given.clip(-1, 1)[:, None], equal_nan=True)


@pytest.mark.parametrize(
    ("element", "scale", "step"),
    [
        (ElementType.INT16, 32768.0, 32768),
        (ElementType.INT32, 2.0**31, 2**31),
        (ElementType.FLOAT16, 1.0, 1),
        (ElementType.DOUBLE, 0.5, 0.5),
    ],
)
def test_samples_of_other_types_are_parts_of_the_loudest(element: ElementType, scale: float, step: float) -> None:
    given = (RANDOM.uniform(-0.9, 0.9, (1, 64)) * step).astype(helper.tensor_dtype_to_np_dtype(onnx_type(element)))
    found = Made(Waveform(scale=scale), 1, None, element=element)(given)
    numpy.testing.assert_allclose(found, given.astype(numpy.float64).T / step, rtol=1e-6)


@pytest.mark.parametrize(("shape", "is_planar"), [((1, 2, "time"), True), ((1, "time", 2), False), ((2, 9), True)])
def test_channels_are_interleaved(shape: Shape, is_planar: bool) -> None:
    left, right = RANDOM.uniform(-1, 1, (2, 9)).astype(numpy.float32)
    made = Made(Waveform(channels=2), *shape)
    given = numpy.stack([left, right], 0 if is_planar else 1)
    assert numpy.array_equal(made(given if len(shape) == 2 else given[None]), numpy.stack([left, right], 1))


@pytest.mark.parametrize(("count", "kept"), [(-1, 0), (0, 0), (3, 3), (8, 8), (99, 8)])
def test_padding_behind_the_length_is_cut_off(count: int, kept: int) -> None:
    made = Made(Waveform(length="n", channels=2), 1, 2, 8)
    given = RANDOM.uniform(-1, 1, (1, 2, 8)).astype(numpy.float32)
    assert made.typed.samples.shape == ("y.frames", 2)
    assert numpy.array_equal(made(given, count), given[0].T[:kept])


def test_the_rate_is_that_of_the_only_sound_input() -> None:
    spec = spec_of("y", ElementType.FLOAT, 1, None)
    for rates, words in (((), "no sound input"), ((8000, 16000), "several rates"), ((999,), "rate 999 is not between")):
        core = Core(outputs={"y": spec}, placements={}, rates=frozenset(rates))
        with pytest.raises(ConfigError, match=words):
            Waveform().attach(Writer(scope="y"), spec, core)
    assert Made(Waveform(), 1, None).typed.rate == 16000


@pytest.mark.parametrize(
    ("keys", "shape", "element", "words"),
    [
        ({}, (1, 2, None), ElementType.FLOAT, r"not \[1, samples\], a sound of one channel"),
        ({}, (1, 80, "frames"), ElementType.FLOAT, "a sound of one channel"),
        ({}, (), ElementType.FLOAT, "a sound of one channel"),
        ({}, (1, 0), ElementType.FLOAT, "a sound of one channel"),
        ({"channels": 2}, (1, None), ElementType.FLOAT, "a sound of 2 channels"),
        ({"channels": 2}, (1, 3, None), ElementType.FLOAT, "a sound of 2 channels"),
        ({}, (1, None), ElementType.INT16, "samples are at most 1"),
        ({"scale": 128.0}, (1, None), ElementType.UINT8, "not a sound"),
        ({"length": "m"}, (1, None), ElementType.FLOAT, "length 'm' is not another output"),
        ({"length": "y"}, (1, None), ElementType.FLOAT, "length 'y' is not another output"),
        ({"length": "n"}, (1, None), ElementType.FLOAT, "not one number"),
        ({"rate": 999}, (1, None), ElementType.FLOAT, "rate 999 is not between 1000 and 768000"),
    ],
)
def test_outputs_that_are_no_sound_are_refused(
    keys: dict[str, Any], shape: Shape, element: ElementType, words: str
) -> None:
    outputs = {"y": spec_of("y", element, *shape), "n": spec_of("n", ElementType.INT64, 1, 2)}
    core = Core(outputs=outputs, placements={}, rates=frozenset({16000}))
    with pytest.raises(ConfigError, match=words):
        Waveform(**keys).attach(Writer(scope="y"), outputs["y"], core)


@pytest.mark.parametrize("keys", [{"channels": 0}, {"scale": 0.0}, {"scale": -1.0}, {"scale": NAN}])
def test_keys_that_no_sound_has_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(SettingError):
        Waveform(**keys)


def test_a_sound_is_a_file_that_others_read() -> None:
    made = Made(Waveform(rate=spoken.RATE, channels=2), 1, "time", 2)
    given = numpy.array(spoken.STEPS, numpy.float32) / numpy.float32(32768)
    heard = answer(made.typed, {"y.samples": made(given.reshape(1, 5, 2))})
    assert isinstance(heard, SoundResult)
    assert wav.content_of(heard.samples, heard.rate, heard.channels) == spoken.wav_file()
    with wave.open(io.BytesIO(wav.content_of((), 8000, 1))) as file:
        assert (file.getframerate(), file.getnframes()) == (8000, 0)
