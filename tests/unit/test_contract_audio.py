"""Audio contracts: recordings of apps become the samples, frames and mel bands of models."""

import re
from pathlib import Path

import numpy
import numpy.typing
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.contract.attachment import Tables, attach
from packager.contract.audio import SoundInput
from packager.contract.audio.mel import MelTable, mel_of
from packager.contract.audio.streaming import pieces
from packager.contract.kind import AttachedInput
from packager.core.contract import ADDED, AudioInput, Streamed
from packager.core.errors import ConfigError, SettingError
from packager.core.signature import ElementType, TensorSpec
from packager.graph.writer import Writer
from packager.models.graphs import read_graph
from packager.verification.partition.coreml import predict
from tests.cases.contract_graphs import Array, Ran, graph_of, spec_of
from tests.cases.onnx_text import loaded, onnx_model

Floats = numpy.typing.NDArray[numpy.float32]
RATES = (0, 8000, 16000, 44100)


class Heard:
    """A model that returns its audio input."""

    def __init__(self, sound: SoundInput, *shape: int | str | None, element: ElementType = ElementType.FLOAT) -> None:
        spec = spec_of("x", element, *shape)
        fixed = sound.shapes(spec, {}).get("x")
        self.spec = spec if fixed is None else spec_of("x", element, *fixed)
        writer = Writer(scope="x")
        self.attached: AttachedInput = sound.attach(writer, self.spec, {})
        sizes = tuple(size if isinstance(size, int) else f"size_{axis}" for axis, size in enumerate(self.spec.shape))
        self.graph = graph_of(writer, [(self.attached.value, element, sizes)])
        self._ran = Ran(self.graph, threads=1)

    def __call__(self, samples: Array, rate: int) -> Array:
        """`samples` are those of one channel, or [frames, channels]."""
        given = samples if samples.ndim == 2 else samples[:, None]
        return self.run({"samples": given, "rate": numpy.array(rate)})

    def run(self, given: dict[str, Array]) -> Array:
        return self._ran({f"x.{name}": each for name, each in given.items()})[self.attached.value]


def noise(*shape: int, seed: int = 0) -> Floats:
    return numpy.random.default_rng(seed).uniform(-1, 1, shape).astype(numpy.float32)


def refused(sound: SoundInput, spec: TensorSpec) -> str:
    with pytest.raises(ConfigError) as caught:
        sound.shapes(spec, {})
    assert caught.value.hint
    return f"{caught.value.message}|{caught.value.hint}"


ANY = SoundInput(rate=16000)


@pytest.mark.parametrize("rate", [16000, 0, -1, -(2**62)])
def test_samples_at_the_rate_of_the_model_are_unchanged_bit_for_bit(rate: int) -> None:
    samples = noise(3001) * numpy.float32(1e-30)
    assert Heard(ANY, 1, None)(samples, rate).tobytes() == samples.tobytes()


def test_channels_count_alike() -> None:
    heard = Heard(ANY, 1, None)
    left, right = noise(500), noise(500, seed=1)
    assert numpy.array_equal(heard(numpy.stack([left, right], 1), 16000)[0], (left + right) / 2)
    three = numpy.stack([left, right, left], 1)
    assert numpy.allclose(heard(three, 44100), heard((2 * left + right) / 3, 44100), atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(
    rate=st.sampled_from([8000, 11025, 16000, 44100, 48000]), length=st.integers(0, 5000), channels=st.integers(1, 2)
)
def test_integers_of_16_bits_are_heard_as_the_floats_they_stand_for(rate: int, length: int, channels: int) -> None:
    integers = numpy.random.default_rng(length).integers(-(2**15), 2**15, (length, channels)).astype(numpy.int16)
    floats = integers.astype(numpy.float32) / 32768
    assert numpy.array_equal(PCM16(integers, rate), FLOAT(floats, rate))


FLOAT = Heard(ANY, 1, None)
PCM16 = Heard(SoundInput(rate=16000, format="pcm16"), 1, None)


def test_recordings_without_a_sample_or_a_channel_are_silence() -> None:
    for rate in RATES:
        for shape in [(0, 1), (0, 2), (0, 0), (7, 0)]:
            for heard in (FLOAT, SHORT, FRAMES, BANDS):
                made = heard(numpy.zeros(shape, numpy.float32), rate)
                assert made.size > 0
                assert len(set(made.ravel().tolist())) == 1
                assert heard is BANDS or not made.any()


SHORT = Heard(SoundInput(rate=16000), 1, 500)
FRAMES = Heard(SoundInput(rate=16000, frame=40), 1, None, 40)
BANDS = Heard(SoundInput(rate=16000, features="whisper"), 1, 80, None)


@pytest.mark.parametrize("rate", RATES)
def test_one_sample_is_enough(rate: int) -> None:
    for heard in (FLOAT, SHORT, FRAMES, BANDS):
        made = heard(numpy.array([0.5], numpy.float32), rate)
        assert numpy.isfinite(made).all()
        assert made.any()


def test_a_model_of_one_length_hears_what_it_asks_for_and_any_other_needs_a_key() -> None:
    for take in ["start", "end"]:
        for rate in [8000, 16000, 44100]:
            sound = SoundInput(rate=16000, take="start" if take == "start" else "end")
            heard = Heard(sound, 1, 3000)
            for length in (100, 1500, 20000):
                samples = noise(length)
                whole = FLOAT(samples, rate)[0]
                zeros = numpy.zeros(max(0, 3000 - len(whole)), numpy.float32)
                wanted = [*whole, *zeros][:3000] if take == "start" else [*zeros, *whole][-3000:]
                assert numpy.allclose(heard(samples, rate)[0], wanted, atol=2e-6)
    sound = SoundInput(rate=16000, length=480)
    assert sound.shapes(spec_of("x", ElementType.FLOAT, "batch", None), {}) == {"x": (1, 480)}
    assert Heard(sound, "batch", None)(noise(2000), 16000).shape == (1, 480)


def test_samples_lie_along_the_one_long_dimension() -> None:
    for shape, fixed in [
        ((800,), (800,)),
        ((1, 800), (1, 800)),
        ((1, 1, 800), (1, 1, 800)),
        (("batch", 800, 1), (1, 800, 1)),
        ((None, "channels", 800), (1, 1, 800)),
        ((1, 1), (1, 1)),
    ]:
        heard = Heard(ANY, *shape)
        samples = noise(900)
        assert heard.spec.shape == fixed
        assert numpy.array_equal(heard(samples, 16000).ravel(), samples[: max(fixed)])


@pytest.mark.parametrize("shape", [(None,), (1, "length"), ("batch", "samples"), ("n", 1, "time"), (1, None, 1)])
def test_models_of_any_length_hear_the_whole_recording(shape: tuple[int | str | None, ...]) -> None:
    assert ANY.shapes(spec_of("x", ElementType.FLOAT, *shape), {}) == {}
    made = Heard(ANY, *shape)(noise(777), 16000)
    assert sorted(made.shape) == [1] * (len(shape) - 1) + [777]


def test_frames_overlap_by_their_hop() -> None:
    samples = noise(100)
    made = Heard(SoundInput(rate=16000, frame=40, hop=25), 1, None, 40)(samples, 16000)[0]
    fixed = Heard(SoundInput(rate=16000, frame=40, hop=25, length=100), 1, None, 40)
    assert fixed.spec.shape == (1, 4, 40)
    assert numpy.array_equal(fixed(samples, 16000)[0], made)
    padded = numpy.concatenate([samples, numpy.zeros(15, numpy.float32)])
    assert numpy.array_equal(made, [padded[at : at + 40] for at in (0, 25, 50, 75)])
    for length in [1, 39, 40, 41, 80, 81]:
        samples = noise(length)
        made = Heard(SoundInput(rate=16000, frame=40), 1, None, 40)(samples, 16000)[0]
        assert made.shape == (-(-length // 40), 40)
        assert numpy.array_equal(made.ravel()[:length], samples)
        assert not made.ravel()[length:].any()
    heard = Heard(SoundInput(rate=16000, frame=40, hop=20), 1, 5, 40)
    samples = noise(1000)
    assert numpy.array_equal(heard(samples, 16000)[0], [samples[at : at + 40] for at in range(0, 100, 20)])


def test_frames_and_bands_lie_as_the_shape_says() -> None:
    samples = noise(200)
    rows = Heard(SoundInput(rate=16000, frame=40), 1, 5, 40)(samples, 16000)
    columns = Heard(SoundInput(rate=16000, frame=40), 1, 40, 5)(samples, 16000)
    assert numpy.array_equal(rows[0], columns[0].T)
    samples = noise(1600)
    frames = Heard(SoundInput(rate=16000, frame=40), 1, 40, 40)(samples, 16000)
    assert numpy.array_equal(frames.ravel(), samples)
    sound = SoundInput(rate=16000, features="whisper", mel=MelTable(bands=10))
    square = Heard(sound, 1, 10, 10)(samples, 16000)
    assert numpy.array_equal(square, Heard(sound, 1, 10, None)(samples, 16000))
    assert not numpy.array_equal(square[0], square[0].T)
    sound = SoundInput(rate=16000, features="whisper")
    samples = noise(1600)
    bands_first = Heard(sound, 1, 80, None)(samples, 16000)
    frames_first = Heard(sound, 1, None, 80)(samples, 16000)
    assert bands_first.shape == (1, 80, 10)
    assert numpy.array_equal(bands_first[0], frames_first[0].T)
    assert Heard(sound, 1, 1, 80, 10)(samples, 16000).shape == (1, 1, 80, 10)


def test_a_model_that_takes_so_many_frames_hears_as_many_samples_as_they_need() -> None:
    for features in ["whisper", "librosa", "torchaudio"]:
        for frames in [2, 7]:
            sound = SoundInput(rate=16000, features=features)  # type: ignore[arg-type]
            mel = mel_of(features, MelTable(), 16000)  # type: ignore[arg-type]
            length = mel.length_of(frames)
            assert mel.frames_of(length) == frames
            assert length == 1 or mel.frames_of(length - 1) == frames - 1
            made = Heard(sound, 1, mel.bands, frames)(noise(100_000), 16000)
            assert made.shape == (1, mel.bands, frames)


@pytest.mark.parametrize(("element", "scale"), [(ElementType.INT16, 32768.0), (ElementType.INT32, 2147483648.0)])
def test_models_that_take_integers_get_rounded_ones_within_their_range(element: ElementType, scale: float) -> None:
    heard = Heard(SoundInput(rate=16000, scale=scale), 1, 4, element=element)
    made = heard(numpy.array([-1.5, 0.25, 1.75 / scale, 1.5], numpy.float32), 16000)[0].tolist()
    assert made[:3] == [-scale, scale / 4, 2]
    assert made[3] == scale - 1


def test_integers_of_16_bits_pass_through_to_models_that_take_them() -> None:
    heard = Heard(SoundInput(rate=16000, format="pcm16", scale=32768), 1, None, element=ElementType.INT16)
    integers = numpy.arange(-(2**15), 2**15, 7).astype(numpy.int16)
    assert numpy.array_equal(heard(integers, 16000)[0], integers)


@pytest.mark.parametrize("element", [ElementType.FLOAT16, ElementType.DOUBLE])
def test_models_of_other_floats_get_theirs(element: ElementType) -> None:
    samples = noise(64)
    made = Heard(ANY, 1, 64, element=element)(samples, 16000)[0]
    assert made.dtype == {ElementType.FLOAT16: numpy.float16, ElementType.DOUBLE: numpy.float64}[element]
    assert numpy.array_equal(made, samples.astype(made.dtype))


def test_random_recordings_have_the_rates_of_phones_and_one_or_two_channels() -> None:
    attached = Heard(SoundInput(rate=22050), 1, None).attached
    assert {shape[1] for shape in attached.shapes["x.samples"]} == {1, 2}
    assert attached.values["x.rate"] == (22050, 8000, 16000, 44100, 48000)
    (typed,) = attached.typed
    assert isinstance(typed, AudioInput)
    assert (typed.samples.shape, typed.rate.shape) == (("x.frames", "x.channels"), ())


def test_the_graph_has_standard_operators_and_no_large_constants() -> None:
    short, long = (len(Heard(SoundInput(rate=16000), 1, length).graph) for length in (1000, 1_000_000))
    assert abs(long - short) < 100
    assert short < 20_000
    assert len(Heard(SoundInput(rate=22050, features="librosa"), 1, 128, 2000).graph) < 3_000_000
    for heard in (FLOAT, PCM16, FRAMES, BANDS):
        model = onnx.ModelProto.FromString(heard.graph)
        assert {node.domain for node in model.graph.node} == {""}
        assert not {node.op_type for node in model.graph.node} & {"Loop", "Scan", "If"}


LOUD = MelTable(
    bands=20, power=1, log="ln", offset=1e-6, range=50.0, reference="loudest", mean=1.0, std=2.0, pad="none"
)


def test_providers_of_phones_take_nothing_that_was_added() -> None:
    """CoreML by its own rules; QNN and NNAPI take no node of unknown size."""
    for sound, shape, element in [
        (ANY, (1, 800), ElementType.FLOAT),
        (SoundInput(rate=16000, format="pcm16", take="end", scale=3.0), (1, 1, 800), ElementType.FLOAT16),
        (SoundInput(rate=16000, scale=32768.0), (800,), ElementType.INT16),
        (SoundInput(rate=16000, frame=40, hop=20), (1, 5, 40), ElementType.FLOAT),
        (SoundInput(rate=16000, frame=40, hop=20), (1, 40, 5), ElementType.FLOAT),
        (SoundInput(rate=16000, features="whisper"), (1, 80, 30), ElementType.FLOAT),
        (SoundInput(rate=16000, features="librosa"), (1, 12, 128), ElementType.FLOAT),
        (SoundInput(rate=16000, features="torchaudio"), (1, 128, 20), ElementType.FLOAT),
        (SoundInput(rate=16000, features="torchaudio", mel=LOUD), (1, 20, 9), ElementType.FLOAT),
    ]:
        graph = read_graph(Heard(sound, *shape, element=element).graph)
        added = [node for node in graph.nodes if node.name.startswith(ADDED)]
        assert len(added) > 50
        taken = {name for partition in predict(graph).partitions for name in partition}
        assert not taken & {node.name for node in added}
        for node in added:
            assert any(graph.value(name).sizes is None for name in (*node.inputs, *node.outputs) if name), node


def test_a_model_hears_a_recording_through_its_contract(tmp_path: Path) -> None:
    model = loaded(tmp_path, onnx_model("(float[batch, 400] wave) => (float[batch, 400] y) { y = Neg (wave) }"))
    made = attach(model, Tables(inputs={"wave": SoundInput(rate=16000)}, outputs={})).model
    assert [(spec.name, spec.shape) for spec in made.signature.inputs] == [
        ("wave.samples", ("wave.frames", "wave.channels")),
        ("wave.rate", ()),
    ]
    samples = noise(900, 2)
    found = Ran(made.graph, threads=1)({"wave.samples": samples, "wave.rate": numpy.array(48000)})
    assert numpy.array_equal(found["y"][0], -Heard(ANY, 1, 400)(samples, 48000)[0])


def test_what_has_no_room_for_sound_is_refused() -> None:
    for shape, sound, message in [
        ((2, 800), ANY, "not samples along one dimension"),
        ((1, 3, 224, 224), ANY, "not samples along one dimension"),
        ((), ANY, "not samples along one dimension"),
        ((1, 800), SoundInput(rate=16000, length=900), "'length' is 900, but the model takes 800 samples"),
        ((1, 5, 41), SoundInput(rate=16000, frame=40), "not frames of 40 numbers"),
        ((1, 5, 40), SoundInput(rate=16000, frame=40, length=240), "'length' 240 is 6 frames, but the model takes 5"),
        ((1, 64, 100), SoundInput(rate=16000, features="whisper"), "not frames of 80 numbers"),
        (
            (1, 80, 3000),
            SoundInput(rate=16000, features="whisper", length=16000),
            "100 frames, but the model takes 3000",
        ),
        ((1, 80, None), SoundInput(rate=16000, features="whisper", length=100), "'length' 100 is too short"),
        ((1, 128, 1), SoundInput(rate=16000, features="torchaudio"), "has 201 samples and 2 frames"),
    ]:
        assert message in refused(sound, spec_of("x", ElementType.FLOAT, *shape))
    assert "is uint8" in refused(ANY, spec_of("x", ElementType.UINT8, 1, 800))
    assert "scale = 32768" in refused(ANY, spec_of("x", ElementType.INT16, 1, 800))
    for keys, message in [
        ({"rate": 0}, "rate 0 is not between 1 and 768000"),
        ({"rate": 16000, "length": 0}, "length 0 is less than 1"),
        ({"rate": 16000, "hop": 10}, "hop has no effect without frame"),
        ({"rate": 16000, "scale": 0.0}, "scale 0 silences the recording"),
        ({"rate": 16000, "scale": float("nan")}, "scale nan silences the recording"),
        ({"rate": 16000, "frame": 10, "features": "whisper"}, "frame has no effect with features 'whisper'"),
        ({"rate": 16000, "mel": MelTable(hop=80)}, "mel has no effect without features"),
        ({"rate": 8000, "features": "librosa", "mel": MelTable(fmax=8000.0)}, "mel.fmin 0 and mel.fmax 8000 form no"),
        ({"rate": 8000, "features": "librosa", "mel": MelTable(floor=0.0)}, "silence has no logarithm"),
        (
            {"rate": 8000, "features": "whisper", "mel": MelTable(window=500)},
            "mel.window 500 is more than mel.n-fft 400",
        ),
    ]:
        with pytest.raises(SettingError, match=re.escape(message)):
            SoundInput(**keys)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"n_fft": 401}, "mel.n-fft 401 is odd"),
        ({"n_fft": 0}, "mel.n-fft 0 is less than 1"),
        ({"bands": -1}, "mel.bands -1 is less than 1"),
        ({"floor": -1.0}, "mel.floor -1 is below zero"),
        ({"std": 0.0}, "mel.std is zero"),
    ],
)
def test_numbers_that_no_spectrogram_has_are_refused(keys: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=re.escape(message)):
        MelTable(**keys)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rate", "off"), [(8000, 0), (16000, 0), (44100, 0), (44101, 0), (48000, 0), (11025, 5e-7), (22050, 5e-7)]
)
@pytest.mark.parametrize("channels", [1, 2])
def test_the_pieces_of_a_stream_are_parts_of_the_whole_sound(rate: int, off: float, channels: int) -> None:
    """Bit by bit, unless ONNX Runtime multiplies matrices of one row in another order."""
    hop, length = 512, 576
    sound = noise(rate // 4 + 17, channels)
    whole = Heard(SoundInput(rate=16000), 1, "n")(sound, rate)[0]
    whole = numpy.concatenate([numpy.zeros(length - hop, numpy.float32), whole, numpy.zeros(hop, numpy.float32)])
    heard = Heard(SoundInput(rate=16000, stream_hop=hop), 1, length)
    [typed] = heard.attached.typed
    assert isinstance(typed, AudioInput)
    assert typed.streamed == Streamed(rate=16000, hop=hop, length=length)
    ends = [0]
    for number, piece in enumerate(pieces(sound, rate, typed.streamed)):
        found = heard.run({"samples": piece.samples, "rate": numpy.array(rate), "place": numpy.array(piece.place)})[0]
        numpy.testing.assert_allclose(found, whole[number * hop : number * hop + length], rtol=0, atol=off)
        assert piece.start == ends[-1] == number * hop * rate // 16000
        ends.append(piece.end)
    assert ends[-1] == len(sound)
    assert len(ends) - 1 == -(-(len(whole) - length) // hop)


def test_streams_are_refused_for_models_that_take_no_pieces() -> None:
    for keys in ({"take": "end"}, {"features": "whisper"}, {"frame": 400}):
        with pytest.raises(SettingError, match="stream-hop is for a model that takes samples"):
            SoundInput(rate=16000, stream_hop=10, **keys)
    with pytest.raises(SettingError, match="stream-hop 0 is less than 1"):
        SoundInput(rate=16000, stream_hop=0)
    for shape, words in ((("n",), "a fixed number of samples"), ((100,), "stream-hop is 512, but the model takes 100")):
        with pytest.raises(ConfigError, match=words):
            Heard(SoundInput(rate=16000, stream_hop=512), 1, *shape)
