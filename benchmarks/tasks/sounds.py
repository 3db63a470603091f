"""Sounds made here: something like speech, tones of an instrument, noise."""

import numpy
from numpy.random import Generator

from benchmarks.tasks.task import Array

VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410))
"""The first three formants in Hz of a, i, u, e, o (Peterson and Barney 1952, men)."""


def speech(numbers: Generator, seconds: float, rate: int) -> Array:
    """Syllables of one voice: a hiss or a stop, then a vowel whose pitch glides; the loudest sample is one."""
    pitch = numbers.uniform(90, 220)
    parts: list[Array] = []
    while sum(map(len, parts)) < seconds * rate:
        parts.append(_consonant(numbers, rate))
        parts.append(_vowel(numbers, pitch * numbers.uniform(0.85, 1.2), rate))
        if numbers.random() < 0.2:
            parts.append(numpy.zeros(int(numbers.uniform(0.05, 0.2) * rate)))
    sound = numpy.concatenate(parts)[: int(seconds * rate)]
    return numpy.asarray(sound / numpy.abs(sound).max())


def _consonant(numbers: Generator, rate: int) -> Array:
    length = int(numbers.uniform(0.03, 0.1) * rate)
    if numbers.random() < 0.4:
        return numpy.zeros(length)
    hiss = numpy.diff(numbers.normal(0, 1, length + 1))
    return numpy.asarray(0.05 * hiss * numpy.hanning(length))


def _vowel(numbers: Generator, pitch: float, rate: int) -> Array:
    """Harmonics of a gliding pitch, as loud as the formants make them."""
    length = int(numbers.uniform(0.1, 0.28) * rate)
    glide = pitch * numpy.linspace(1, numbers.uniform(0.8, 1.15), length)
    phase = 2 * numpy.pi * numpy.cumsum(glide) / rate
    formants = VOWELS[numbers.integers(len(VOWELS))]
    sound = numpy.zeros(length)
    for harmonic in range(1, int(0.45 * rate / pitch)):
        hertz = harmonic * pitch
        gain = sum(1 / (1 + ((hertz - formant) / (60 + 0.05 * formant)) ** 2) for formant in formants)
        sound += gain / harmonic**0.7 * numpy.sin(harmonic * phase)
    edges = numpy.minimum(1, numpy.minimum(numpy.arange(length), numpy.arange(length)[::-1]) / (0.02 * rate))
    return numpy.asarray(sound * edges * numbers.uniform(0.5, 1))


def tone(numbers: Generator, note: int, seconds: float, rate: int) -> Array:
    """A plucked string: the harmonics of a MIDI note, the higher ones softer and shorter."""
    time = numpy.arange(int(seconds * rate)) / rate
    hertz = 440 * 2 ** ((note - 69) / 12)
    harmonics = [
        numbers.uniform(0.3, 1)
        / number
        * numpy.exp(-time * number * 0.7)
        * numpy.sin(2 * numpy.pi * hertz * number * time)
        for number in range(1, 9)
        if hertz * number < rate / 2
    ]
    return numpy.asarray(numpy.sum(harmonics, axis=0))


def noise(numbers: Generator, length: int, colour: float) -> Array:
    """Noise of power one that falls by 1/f to the power `colour`: 0 is white, 1 is pink."""
    spectrum = numpy.fft.rfft(numbers.normal(0, 1, length))
    spectrum[1:] /= numpy.arange(1, len(spectrum)) ** (colour / 2)
    spectrum[0] = 0
    sound = numpy.fft.irfft(spectrum, length)
    return numpy.asarray(sound / numpy.sqrt(numpy.mean(sound**2)))


def mixed(signal: Array, disturbance: Array, ratio_db: float) -> Array:
    """Both, the signal `ratio_db` stronger."""
    gain = numpy.sqrt(numpy.mean(signal**2) / numpy.mean(disturbance**2) / 10 ** (ratio_db / 10))
    return numpy.asarray(signal + gain * disturbance)
