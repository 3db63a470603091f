"""Speech made by eSpeak NG (GPL-3), out of a pinned package: the same samples each time, in the same order."""

import ctypes
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy

from benchmarks.tasks.task import Array
from packager.files.processes import downloads

RATE = 22050
RETRIEVAL, CHARACTERS, UTF_8 = 2, 1, 1
"""AUDIO_OUTPUT_SYNCHRONOUS, POS_CHARACTER and espeakCHARS_UTF8 of speak_lib.h"""
BUFFER_MS, SEED = 1000, 1
"""without a seed of ours, its random numbers begin with the time"""
Heard = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


def spoken(texts: Sequence[tuple[str, str]]) -> Iterator[Array]:
    """Samples int16[n] at 22,050 Hz of each voice and text, at the synthesizer's usual speed.

    Its random numbers go on from text to text: the same list in a new process gives the same samples. Linux on x86_64.
    """
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(downloads.fetch("data-synthesizer")) as wheel:
            wheel.extractall(folder)
        home = Path(folder, "espeakng_loader")
        library = ctypes.CDLL(str(home / "libespeak-ng.so"))
        parts: list[Array] = []
        heard = _listener(parts)
        rate = library.espeak_Initialize(RETRIEVAL, BUFFER_MS, str(home / "espeak-ng-data").encode(), 0)
        if rate != RATE:
            raise RuntimeError(f"eSpeak NG did not start: {rate} instead of {RATE} samples per second")
        library.espeak_ng_SetRandSeed(SEED)
        library.espeak_SetSynthCallback(heard)
        for voice, text in texts:
            parts.clear()
            _say(library, voice, text.encode("utf-8"))
            yield numpy.concatenate(parts)
        library.espeak_Terminate()


def _listener(parts: list[Array]) -> "ctypes._FuncPointer":
    def hear(samples: "ctypes._Pointer[ctypes.c_short]", count: int, _: int | None) -> int:
        if samples and count:
            parts.append(numpy.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    return Heard(hear)


def _say(library: ctypes.CDLL, voice: str, text: bytes) -> None:
    if library.espeak_SetVoiceByName(voice.encode()):
        raise RuntimeError(f"eSpeak NG has no voice '{voice}'")
    if library.espeak_Synth(text, len(text) + 1, 0, CHARACTERS, 0, UTF_8, None, None):
        raise RuntimeError(f"eSpeak NG does not say {text!r}")


def resampled(samples: Array, rate: int) -> Array:
    """The same sound at another rate, int16: the spectrum of the whole, cut off at half the lower rate."""
    step = RATE // numpy.gcd(RATE, rate)
    padded = numpy.zeros(-(-len(samples) // step) * step)
    padded[: len(samples)] = samples
    length = len(padded) * rate // RATE
    sound = numpy.fft.irfft(numpy.fft.rfft(padded)[: length // 2 + 1], length) * length / len(padded)
    return numpy.clip(numpy.rint(sound), -32768, 32767).astype(numpy.int16)
