"""Spectrograms in mel bands, as ONNX nodes."""

from math import isqrt, log
from typing import TYPE_CHECKING

from packager.contract.audio.mel import Mel
from packager.contract.writer import Writer

if TYPE_CHECKING:
    import numpy


def write_mel(writer: Writer, samples: str, mel: Mel) -> str:
    """`samples`, float of one dimension, no fewer than `mel.shortest`, as [frames, bands]."""
    if mel.around:
        mode = "reflect" if mel.pad == "reflect" else "constant"
        samples = writer.node("Pad", samples, [mel.around, mel.around], mode=mode)
    value = writer.node("MatMul", _spectra(writer, samples, mel), writer.constant(_bands_by_place(mel)))
    return _scaled(writer, _logarithm(writer, value, mel), mel)


def _logarithm(writer: Writer, value: str, mel: Mel) -> str:
    if mel.offset:
        value = writer.node("Add", value, mel.offset)
    if mel.floor:
        value = writer.node("Max", value, mel.floor)
    if mel.log == "none":
        return value
    factor = {"ln": 1.0, "log10": 1 / log(10), "db": (20 / mel.power) / log(10)}[mel.log]
    made = writer.node("Log", value)
    return made if factor == 1 else writer.node("Mul", made, factor)


def _scaled(writer: Writer, value: str, mel: Mel) -> str:
    if mel.range or mel.reference == "loudest":
        highest = writer.node("ReduceMax", value, keepdims=1)
        if mel.range:
            value = writer.node("Max", value, writer.node("Sub", highest, mel.range))
        if mel.reference == "loudest":
            value = writer.node("Sub", value, highest)
    if mel.mean:
        value = writer.node("Sub", value, mel.mean)
    return value if mel.std == 1 else writer.node("Div", value, mel.std)


def _spectra(writer: Writer, samples: str, mel: Mel) -> str:
    """Energies, or amplitudes, of all frames: [frames, places of frequencies].

    A transform of n = a b samples is b transforms of a samples, then a transforms of b: window and twiddle factors are
    in their matrices. A matrix for all n would be 17 MB for 2048 samples; DFT and STFT of ONNX Runtime are slower.
    """
    inner, outer = _factors(mel.n_fft)
    first, second = _stages(mel)
    framed = writer.node("Gather", samples, _places(writer, samples, mel))
    made = writer.node("MatMul", framed, writer.constant(first))  # [outer, frames, 2 inner]
    made = writer.node("Reshape", made, [outer, -1, 2, inner])
    made = writer.node("Reshape", writer.node("Transpose", made, perm=[3, 1, 2, 0]), [inner, -1, 2 * outer])
    made = writer.node("MatMul", made, writer.constant(second))  # [inner, frames, 2 (outer / 2 + 1)]
    parts = writer.nodes("Split", 2, made, axis=2, num_outputs=2)
    real, imaginary = (writer.node("Mul", part, part) for part in parts)
    energy = writer.node("Transpose", writer.node("Add", real, imaginary), perm=[1, 0, 2])
    energy = writer.node("Reshape", energy, [-1, inner * (outer // 2 + 1)])
    return energy if mel.power == 2 else writer.node("Sqrt", energy)


def _places(writer: Writer, samples: str, mel: Mel) -> str:
    """Which samples each frame has: [outer, frames, inner]."""
    import numpy

    inner, outer = _factors(mel.n_fft)
    room = writer.node("Sub", writer.node("Shape", samples), [mel.n_fft - mel.hop * int(mel.last)])
    count = writer.node("Squeeze", writer.node("Div", room, [mel.hop]), [0])
    frames = writer.node("Range", writer.integer(0), count, writer.integer(1))
    starts = writer.node("Unsqueeze", writer.node("Mul", frames, [mel.hop]), [1])
    within = numpy.arange(outer)[:, None, None] + outer * numpy.arange(inner)
    return writer.node("Add", starts, writer.constant(within.astype(numpy.int64)))


def _factors(n: int) -> tuple[int, int]:
    """Two numbers near to each other whose product is `n`, the smaller one first."""
    inner = max(each for each in range(1, isqrt(n) + 1) if n % each == 0)
    return inner, n // inner


def _stages(mel: Mel) -> "tuple[numpy.ndarray, numpy.ndarray]":
    """The matrices of both transforms, [outer, inner, 2 inner] and [inner, 2 outer, 2 (outer / 2 + 1)]: real parts
    first, in columns and rows."""
    import numpy

    inner, outer = _factors(mel.n_fft)
    at, kept = numpy.arange(inner), numpy.arange(outer // 2 + 1)
    window = numpy.zeros(mel.n_fft)
    left = (mel.n_fft - mel.window) // 2
    window[left : left + mel.window] = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(mel.window) / mel.window)
    waves = numpy.exp(-2j * numpy.pi * numpy.outer(at, at) / inner)
    first = window.reshape(inner, outer).T[:, :, None] * waves
    frequencies = at[:, None, None] + inner * kept
    second = numpy.exp(-2j * numpy.pi * frequencies * numpy.arange(outer)[:, None] / mel.n_fft)
    real = numpy.concatenate([second.real, second.imag], 2)
    imaginary = numpy.concatenate([-second.imag, second.real], 2)
    return (
        numpy.concatenate([first.real, first.imag], 2).astype(numpy.float32),
        numpy.concatenate([real, imaginary], 1).astype(numpy.float32),
    )


def _bands_by_place(mel: Mel) -> "numpy.ndarray":
    """The triangles of all bands, in the order in which `_spectra` gives frequencies: none reaches those above half the
    rate, which it gives, too."""
    import numpy

    inner, outer = _factors(mel.n_fft)
    frequencies = (numpy.arange(inner)[:, None] + inner * numpy.arange(outer // 2 + 1)).reshape(-1)
    return triangles(mel, frequencies * (mel.rate / mel.n_fft)).astype(numpy.float32)


def triangles(mel: Mel, frequencies: "numpy.ndarray") -> "numpy.ndarray":
    """How much each band takes of each frequency in Hz: [frequencies, bands]."""
    import numpy

    low, high = _mels(numpy.array([mel.fmin, mel.fmax]), mel.scale)
    ends = _hertz(numpy.linspace(low, high, mel.bands + 2), mel.scale)
    rising = (frequencies[:, None] - ends[:-2]) / (ends[1:-1] - ends[:-2])
    falling = (ends[2:] - frequencies[:, None]) / (ends[2:] - ends[1:-1])
    made: numpy.ndarray = numpy.maximum(0, numpy.minimum(rising, falling))
    return made * (2 / (ends[2:] - ends[:-2])) if mel.norm == "slaney" else made


STEP_HZ = 200 / 3
"""Slaney's mels are as wide, up to 1000 Hz; from there on 27 of them make a factor of 6.4."""
KNEE = 15


def _mels(hertz: "numpy.ndarray", scale: str) -> "numpy.ndarray":
    import numpy

    if scale == "htk":
        return numpy.asarray(2595 * numpy.log10(1 + hertz / 700))
    above = numpy.log(numpy.maximum(hertz, 1000) / 1000) * 27 / numpy.log(6.4)
    return numpy.where(hertz < 1000, hertz / STEP_HZ, KNEE + above)


def _hertz(mels: "numpy.ndarray", scale: str) -> "numpy.ndarray":
    import numpy

    if scale == "htk":
        return numpy.asarray(700 * (10 ** (mels / 2595) - 1))
    return numpy.where(mels < KNEE, mels * STEP_HZ, 1000 * 6.4 ** ((mels - KNEE) / 27))
