"""Find the notes in audio: 2 s, float[1, 43844, 1] -> presence of each of 88 piano keys over time."""

from collections.abc import Iterator
from pathlib import Path

import numpy

from benchmarks.tasks import sounds
from benchmarks.tasks.packages import unpacked
from benchmarks.tasks.task import Array, Inputs, Predict

WHAT = (
    "notes of chords: basic-pitch (Apache-2.0) on 100 chords of three plucked strings in noise, made here; "
    "share of the notes among the three keys that are most present"
)
INPUT, OUTPUT = "serving_default_input_2:0", "StatefulPartitionedCall:1"
RATE, SAMPLES = 22050, 43844
LOWEST_KEY = 21
NOTES = 3
TEST_CHORDS, CALIBRATION_CHORDS = 100, 32
FIRST_TEST_CHORD = 1000
"""Chords before it are for calibration."""


def model() -> Path:
    return unpacked("model-basic-pitch", "basic_pitch/saved_models/icassp_2022/nmp.onnx")


def calibration() -> Iterator[Inputs]:
    """Other chords."""
    for seed in range(CALIBRATION_CHORDS):
        yield {INPUT: notes_and_sound(seed)[1]}


def accuracy(predict: Predict, count: int = TEST_CHORDS) -> float:
    """Share of the notes that are found, three guesses for each chord."""
    found = 0
    for seed in range(FIRST_TEST_CHORD, FIRST_TEST_CHORD + count):
        notes, sound = notes_and_sound(seed)
        presence = predict({INPUT: sound})[OUTPUT][0].mean(axis=0)
        best = numpy.argsort(presence, kind="stable")[-NOTES:] + LOWEST_KEY
        found += len(notes & {int(note) for note in best})
    return found / (count * NOTES)


def notes_and_sound(seed: int) -> tuple[set[int], Array]:
    """Three MIDI notes, and what they sound like together with pink noise, between 9 dB stronger and 6 dB weaker."""
    numbers = numpy.random.default_rng(seed)
    notes = [int(note) for note in numbers.choice(range(36, 91), NOTES, replace=False)]
    chord = sum(numbers.uniform(0.4, 1) * sounds.tone(numbers, note, SAMPLES / RATE, RATE) for note in notes)
    mixture = sounds.mixed(numpy.asarray(chord), sounds.noise(numbers, SAMPLES, 1), numbers.uniform(-9, 6))
    loudest = numpy.abs(mixture).max()
    return set(notes), (0.5 * mixture / loudest).astype(numpy.float32).reshape(1, SAMPLES, 1)
