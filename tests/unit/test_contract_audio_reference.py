"""Resampling and mel bands compared with their definitions in float64 and with the libraries' results."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy
import numpy.typing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packager.contract.audio import SoundInput
from packager.contract.audio.mel import Mel, MelTable, mel_of
from packager.core.signature import ElementType
from packager.graph.writer import Writer
from tests.cases.audio_libraries import FILE, HEARD_HZ, LENGTHS, RATES, RESAMPLED, recording
from tests.cases.contract_graphs import Ran, graph_of, spec_of

Floats = numpy.typing.NDArray[numpy.floating]

RESAMPLING_ERROR = 1e-6
"""For samples up to 1, sums in float32. The largest error over all sample rates of phones is 4e-7."""
DECIBEL_ERROR = 2e-3
"""A band 60 dB below the loudest carries the loudest band's float32 noise."""


@cache
def ran(sound: SoundInput, *shape: int | None) -> Ran:
    writer = Writer(scope="x")
    attached = sound.attach(writer, spec_of("x", ElementType.FLOAT, *shape), {})
    return Ran(graph_of(writer, [(attached.value, ElementType.FLOAT, ("a", "b", "c")[: len(shape)])]), threads=1)


def heard(sound: SoundInput, samples: Floats, rate: int, *shape: int | None) -> Floats:
    feeds = {"x.samples": samples.astype(numpy.float32)[:, None], "x.rate": numpy.array(rate)}
    (made,) = ran(sound, *shape)(feeds).values()
    return numpy.asarray(made[0], numpy.float64)


def defined(samples: Floats, source: int, target: int) -> Floats:
    """The sum of torchaudio.functional.resample's definition, term by term."""
    shared = int(numpy.gcd(source, target))
    source, target = source // shared, target // shared
    made = numpy.arange(-(-len(samples) * target // source))
    cutoff = 0.99 * min(source, target)
    reach = int(6 * source / cutoff) + 2
    places = (made * source // target)[:, None] + numpy.arange(-reach, reach + 1)
    times = (places * target - made[:, None] * source) * (cutoff / (source * target))
    window = numpy.where(numpy.abs(times) < 6, numpy.cos(numpy.pi * times / 12) ** 2, 0)
    inside = (places >= 0) & (places < len(samples))
    values = numpy.where(inside, samples[numpy.clip(places, 0, len(samples) - 1)].astype(numpy.float64), 0)
    return numpy.asarray((values * numpy.sinc(times) * window).sum(1) * (cutoff / source))


SOURCES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 44101, 48000, 96000)


def test_recordings_are_resampled_as_torchaudio_defines_it() -> None:
    for target in [8000, 16000, 22050, 44100, 48000]:
        samples = recording(500)
        for source in SOURCES:
            made = heard(SoundInput(rate=target), samples, source, 1, None)
            wanted = samples if source == target else defined(samples, source, target)
            assert made.shape == wanted.shape
            assert numpy.abs(made - wanted).max() < RESAMPLING_ERROR


@settings(max_examples=25, deadline=None)
@given(source=st.integers(4000, 50000), target=st.sampled_from([8000, 16000, 22050]), length=st.integers(1, 1500))
def test_any_rate_is_resampled_as_defined(source: int, target: int, length: int) -> None:
    samples = recording(length)
    made = heard(SoundInput(rate=target), samples, source, 1, None)
    wanted = samples if source == target else defined(samples, source, target)
    assert made.shape == wanted.shape
    assert numpy.abs(made - wanted).max() < RESAMPLING_ERROR


def test_the_phase_is_exact_at_the_end_of_a_long_recording() -> None:
    """As float32, the numbers of samples behind 16,777,216 would be off by one."""
    source, target, length = 8001, 48000, 3_000_000
    samples = numpy.zeros(length, numpy.float32)
    samples[-600:] = recording(600)
    made = heard(SoundInput(rate=target, length=3000, take="end"), samples, source, 1, None)
    total = -(-length * target // source)
    seconds = total // target - 1  # whole ones: the phase is 0 there, and nothing is heard before
    wanted = defined(samples[seconds * source :], source, target)[-3000:]
    assert numpy.abs(wanted).max() > 0.1
    assert numpy.abs(made - wanted).max() < RESAMPLING_ERROR


def test_recordings_are_resampled_as_torchaudio_did() -> None:
    for source, target in RATES:
        with numpy.load(FILE) as libraries:
            wanted = libraries[f"{source} {target}"]
        made = heard(SoundInput(rate=target), recording(RESAMPLED), source, 1, None)
        assert made.shape == wanted.shape
        assert numpy.abs(made - wanted).max() < RESAMPLING_ERROR


def test_the_numbers_of_libraries_say_which_versions_made_them() -> None:
    with numpy.load(FILE) as libraries:
        assert [str(each).split()[0] for each in libraries["versions"]] == ["librosa", "torch", "torchaudio"]


@pytest.mark.parametrize(
    ("features", "bands", "error"), [("whisper", 80, 1e-4), ("librosa", 128, DECIBEL_ERROR), ("torchaudio", 40, 2e-3)]
)
def test_mel_bands_are_those_of_the_library(features: str, bands: int, error: float) -> None:
    sound = SoundInput(rate=HEARD_HZ[features], features=features, mel=MelTable(bands=bands))  # type: ignore[arg-type]
    with numpy.load(FILE) as libraries:
        wanted = libraries[features]
    made = heard(sound, recording(LENGTHS[features]), HEARD_HZ[features], 1, bands, None)
    assert made.shape == wanted.shape
    assert numpy.ptp(wanted) > 0.5  # it is no silence
    assert numpy.abs(made - wanted).max() < error


def spectrogram(samples: Floats, mel: Mel) -> Floats:
    """[bands, frames] in float64, with numpy's own transform, before any logarithm."""
    if mel.around:
        samples = numpy.pad(
            samples.astype(numpy.float64), mel.around, mode="reflect" if mel.pad == "reflect" else "constant"
        )
    frames = numpy.lib.stride_tricks.sliding_window_view(samples, mel.n_fft)[:: mel.hop]
    ahead = (mel.n_fft - mel.window) // 2
    hann = numpy.sin(numpy.pi * numpy.arange(mel.window) / mel.window) ** 2
    spectra = numpy.fft.rfft(frames * numpy.pad(hann, (ahead, mel.n_fft - mel.window - ahead)))
    return numpy.asarray(filters(mel) @ (numpy.abs(spectra) ** mel.power).T)


def filters(mel: Mel) -> Floats:
    """[bands, frequencies]: one straight line up and one down between neighbouring mels."""
    low, high = (mel_number(hertz, mel.scale) for hertz in (mel.fmin, mel.fmax))
    ends = [hertz_of(low + (high - low) * step / (mel.bands + 1), mel.scale) for step in range(mel.bands + 2)]
    frequencies = numpy.fft.rfftfreq(mel.n_fft, 1 / mel.rate)
    rows = []
    for left, centre, right in zip(ends, ends[1:], ends[2:], strict=False):
        row = numpy.interp(frequencies, [left, centre, right], [0, 1, 0])
        rows.append(row * 2 / (right - left) if mel.norm == "slaney" else row)
    return numpy.array(rows)


def mel_number(hertz: float, scale: str) -> float:
    if scale == "htk":
        return float(2595 * numpy.log10(1 + hertz / 700))
    return hertz * 3 / 200 if hertz < 1000 else float(15 + 27 * numpy.log(hertz / 1000) / numpy.log(6.4))


def hertz_of(mels: float, scale: str) -> float:
    if scale == "htk":
        return float(700 * (10 ** (mels / 2595) - 1))
    return mels * 200 / 3 if mels < 15 else float(1000 * 6.4 ** ((mels - 15) / 27))


TABLES = {
    "whole": MelTable(),
    "amplitudes": MelTable(power=1),
    "no padding": MelTable(pad="none"),
    "zeros": MelTable(pad="zero"),
    "narrow window": MelTable(n_fft=512, window=401, hop=160),
    "prime hop": MelTable(n_fft=320, hop=101),
    "twice a prime": MelTable(n_fft=2 * 101, hop=64, bands=20),
    "power of two": MelTable(n_fft=1024, hop=256, bands=64),
    "odd factors": MelTable(n_fft=450, hop=90, bands=30),
    "htk": MelTable(scale="htk", norm="slaney", fmin=50.0, fmax=7000.0),
    "slaney": MelTable(scale="slaney", norm="none", fmin=20.0, fmax=3800.0, bands=26),
}


def test_mel_bands_are_as_defined() -> None:
    for name in TABLES:
        table = TABLES[name]
        changed = replace(table, log="none", bands=table.bands or 40)
        sound = SoundInput(rate=16000, features="torchaudio", mel=changed)
        samples = recording(2500)
        mel = mel_of("torchaudio", changed, 16000)
        made = heard(sound, samples, 16000, 1, mel.bands, None)
        wanted = spectrogram(samples, mel)
        assert made.shape == wanted.shape == (mel.bands, mel.frames_of(len(samples)))
        assert numpy.abs(made - wanted).max() < 2e-6 * wanted.max()


LOGS: Mapping[str, tuple[MelTable, Callable[[Floats], Floats]]] = {
    "ln": (MelTable(log="ln", floor=0.0, offset=1e-6), lambda bands: numpy.log(bands + 1e-6)),
    "log10": (MelTable(log="log10", floor=1e-3), lambda bands: numpy.log10(numpy.maximum(bands, 1e-3))),
    "loudest": (
        MelTable(log="db", floor=1e-10, range=30.0, reference="loudest"),
        lambda bands: 10 * numpy.log10(numpy.maximum(bands / bands.max(), 1e-3)),
    ),
    "scaled": (
        MelTable(log="ln", floor=0.0, offset=1.0, mean=-4.5, std=2.5),
        lambda bands: (numpy.log(bands + 1) + 4.5) / 2.5,
    ),
}


def test_logarithms_are_as_their_keys_say() -> None:
    for name in LOGS:
        table, logarithm = LOGS[name]
        samples = recording(4000)
        made = heard(SoundInput(rate=16000, features="torchaudio", mel=table), samples, 16000, 1, 128, None)
        wanted = logarithm(spectrogram(samples, mel_of("torchaudio", table, 16000)))
        assert numpy.abs(made - wanted).max() < 1e-3


def test_decibels_of_amplitudes_are_those_of_their_energies() -> None:
    samples = recording(3000)
    table = MelTable(power=1, log="db", floor=1e-5, bands=20)
    made = heard(SoundInput(rate=16000, features="torchaudio", mel=table), samples, 16000, 1, 20, None)
    wanted = 20 * numpy.log10(spectrogram(samples, mel_of("torchaudio", table, 16000)))
    assert numpy.abs(made - wanted).max() < DECIBEL_ERROR
