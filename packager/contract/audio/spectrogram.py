"""Mel spectrograms as ONNX nodes. The Writer must hide lengths: see `hidden`."""

from math import isqrt, log
from typing import TYPE_CHECKING

from packager.contract.audio import hidden
from packager.contract.audio.mel import Mel
from packager.core.signature import ElementType
from packager.graph.writer import Writer

if TYPE_CHECKING:
    import numpy


def write_mel(writer: Writer, samples: str, mel: Mel) -> str:
    """Mel bands of `samples`, one-dimensional doubles, at least `mel.shortest`: double [bands, frames]."""
    if mel.around:
        mode = "reflect" if mel.pad == "reflect" else "constant"
        samples = writer.node("Pad", samples, [mel.around, mel.around], mode=mode)
    bands = writer.constant(_bands_by_place(mel))
    value = writer.node("Einsum", bands, _spectra(writer, samples, mel), equation="pb,pf->bf")
    return _scaled(writer, _logarithm(writer, writer.cast(value, ElementType.DOUBLE), mel), mel)


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
            raised = writer.node("Max", writer.node("Add", value, mel.range), highest)
            value = writer.node("Sub", raised, mel.range)
        if mel.reference == "loudest":
            value = writer.node("Sub", value, highest)
    if mel.mean:
        value = writer.node("Sub", value, mel.mean)
    return value if mel.std == 1 else writer.node("Div", value, mel.std)


def _spectra(writer: Writer, samples: str, mel: Mel) -> str:
    """Energies, or amplitudes, of all frames: float [frequency positions, frames].

    A transform of n = a b samples is b transforms of a samples, then a transforms of b: window and twiddle factors are
    in their matrices. A matrix for all n would be 17 MB for 2048 samples; DFT and STFT of ONNX Runtime are slower. In
    the equations are f: frames, o: outer, i, j: inner, c, z: real and imaginary parts, k: outer / 2 + 1. Frames come
    last, so that whole rows are moved between the two.
    """
    inner, outer = _factors(mel.n_fft)
    first, second = _stages(mel)
    framed = hidden.picked(writer, writer.cast(samples, ElementType.FLOAT), _places(writer, samples, mel))
    framed = writer.node("Reshape", framed, [outer, inner, -1])
    made = writer.node("Einsum", writer.constant(first), framed, equation="ocji,oif->ocjf")
    made = writer.node("Einsum", writer.constant(second), made, equation="jzkco,ocjf->jzkf")
    made = writer.node("ReduceSumSquare" if mel.power == 2 else "ReduceL2", made, [1], keepdims=0)
    return writer.node("Reshape", made, [inner * (outer // 2 + 1), -1])


def _places(writer: Writer, samples: str, mel: Mel) -> str:
    """Positions of each frame's samples: [outer, inner, frames]."""
    import numpy

    inner, outer = _factors(mel.n_fft)
    room = writer.node("Sub", hidden.size(writer, samples), [mel.n_fft - mel.hop * int(mel.last)])
    frames = hidden.counted(writer, writer.node("Div", room, [mel.hop]))
    within = numpy.arange(outer)[:, None, None] + outer * numpy.arange(inner)[:, None]
    return writer.node("Add", writer.constant(within.astype(numpy.int64)), writer.node("Mul", frames, [mel.hop]))


def _factors(n: int) -> tuple[int, int]:
    """Two factors of `n` that are near to each other, the smaller one first."""
    inner = max(each for each in range(1, isqrt(n) + 1) if n % each == 0)
    return inner, n // inner


def _stages(mel: Mel) -> "tuple[numpy.ndarray, numpy.ndarray]":
    """The matrices of both transforms: [outer, 2, inner, inner] and [inner, 2, outer / 2 + 1, 2, outer], with real and
    imaginary parts of the result, then samples, or both parts of the input."""
    import numpy

    inner, outer = _factors(mel.n_fft)
    at, kept = numpy.arange(inner), numpy.arange(outer // 2 + 1)
    window = numpy.zeros(mel.n_fft)
    left = (mel.n_fft - mel.window) // 2
    window[left : left + mel.window] = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(mel.window) / mel.window)
    waves = numpy.exp(-2j * numpy.pi * numpy.outer(at, at) / inner)
    first = window.reshape(inner, outer).T[:, None] * waves
    frequencies = at[:, None] + inner * kept
    second = numpy.exp(-2j * numpy.pi * frequencies[:, :, None] * numpy.arange(outer) / mel.n_fft)
    real = numpy.stack([second.real, -second.imag], 2)
    imaginary = numpy.stack([second.imag, second.real], 2)
    return (
        numpy.stack([first.real, first.imag], 1).astype(numpy.float32),
        numpy.stack([real, imaginary], 1).astype(numpy.float32),
    )


def _bands_by_place(mel: Mel) -> "numpy.ndarray":
    """Triangles of all bands, in the frequency order of `_spectra`, which includes frequencies above half the rate that
    no band covers."""
    import numpy

    inner, outer = _factors(mel.n_fft)
    frequencies = (numpy.arange(inner)[:, None] + inner * numpy.arange(outer // 2 + 1)).reshape(-1)
    return triangles(mel, frequencies * (mel.rate / mel.n_fft)).astype(numpy.float32)


def triangles(mel: Mel, frequencies: "numpy.ndarray") -> "numpy.ndarray":
    """Weights of each frequency in Hz for each band: [frequencies, bands]."""
    import numpy

    low, high = _mels(numpy.array([mel.fmin, mel.fmax]), mel.scale)
    ends = _hertz(numpy.linspace(low, high, mel.bands + 2), mel.scale)
    rising = (frequencies[:, None] - ends[:-2]) / (ends[1:-1] - ends[:-2])
    falling = (ends[2:] - frequencies[:, None]) / (ends[2:] - ends[1:-1])
    made: numpy.ndarray = numpy.maximum(0, numpy.minimum(rising, falling))
    return made * (2 / (ends[2:] - ends[:-2])) if mel.norm == "slaney" else made


STEP_HZ = 200 / 3
"""width of Slaney's mels up to 1000 Hz; above, 27 mels are a factor of 6.4"""
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
