"""Detect speech: `input` float[1, 576] and `state` float[2, 1, 128] -> a probability, and the next state."""

from collections.abc import Iterator
from pathlib import Path

import numpy

from benchmarks.tasks import sounds
from benchmarks.tasks.packages import unpacked
from benchmarks.tasks.scores import area_under_curve
from benchmarks.tasks.task import Array, Inputs, Predict, predictor

WHAT = (
    "voice activity: Silero VAD 6.2 (silero-vad, MIT) on 12 recordings of sounds like speech, pauses and noise, made "
    "here; area under the ROC curve of its 32 ms frames"
)
RATE, FRAME, CONTEXT = 16000, 512, 64
PART_SECONDS, PARTS = 1.024, 8
TEST_RECORDINGS, CALIBRATION_RECORDINGS, CALIBRATION_FRAMES = 12, 4, 16
FIRST_TEST_RECORDING = 1000
"""Recordings before it are for calibration."""


def model() -> Path:
    return unpacked("model-silero-vad", "silero_vad/data/silero_vad_openvino_16k.onnx")


def calibration() -> Iterator[Inputs]:
    """Frames of other recordings, with the float32 model's states at these frames."""
    predict = predictor(model())
    for seed in range(CALIBRATION_RECORDINGS):
        for place, (inputs, _) in enumerate(followed(predict, recording(seed)[0])):
            if place % (PARTS * 32 // CALIBRATION_FRAMES) == 0:
                yield inputs


def accuracy(predict: Predict, count: int = TEST_RECORDINGS) -> float:
    """Probability that a frame with a voice ranks above one without (ROC AUC)."""
    chances: list[float] = []
    voices: list[bool] = []
    for seed in range(FIRST_TEST_RECORDING, FIRST_TEST_RECORDING + count):
        sound, has_voice = recording(seed)
        chances += [chance for _, chance in followed(predict, sound)]
        voices += has_voice.tolist()
    return area_under_curve(numpy.array(chances), numpy.array(voices))


def followed(predict: Predict, sound: Array) -> Iterator[tuple[Inputs, float]]:
    """The model's inputs and answer for each frame; the state is passed from one frame to the next."""
    state = numpy.zeros((2, 1, 128), numpy.float32)
    padded = numpy.concatenate([numpy.zeros(CONTEXT, numpy.float32), sound])
    for start in range(0, len(sound), FRAME):
        inputs = {"input": padded[None, start : start + CONTEXT + FRAME], "state": state}
        outputs = predict(inputs)
        state = outputs["stateN"]
        yield inputs, float(outputs["output"][0, 0])


def recording(seed: int) -> tuple[Array, Array]:
    """A sound of eight parts, every other one with a voice, in noise all along; and which frames have the voice."""
    numbers = numpy.random.default_rng(seed)
    length = int(PART_SECONDS * RATE)
    silence = numpy.zeros(length)
    parts = [sounds.speech(numbers, PART_SECONDS, RATE) if part % 2 else silence for part in range(PARTS)]
    has_voice = numpy.repeat([part % 2 == 1 for part in range(PARTS)], length // FRAME)
    disturbance = sounds.noise(numbers, length * PARTS, numbers.uniform(0, 1.5))
    mixture = sounds.mixed(numpy.concatenate(parts), disturbance, numbers.uniform(5, 20))
    return (0.3 * mixture / numpy.abs(mixture).max()).astype(numpy.float32), has_voice
