"""Outputs of torchaudio, librosa and Whisper for a recording, kept in data/audio_libraries.npz.

Needs librosa, torch and torchaudio; the versions are in the file: `python -m tests.cases.audio_libraries` writes it.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

FILE = Path(__file__).parents[1] / "data" / "audio_libraries.npz"
Samples = numpy.typing.NDArray[numpy.float32]

RATES = ((8000, 16000), (11025, 16000), (44100, 16000), (48000, 16000), (16000, 22050), (48000, 44100))
RESAMPLED = 401
"""Samples that are resampled."""
LENGTHS = {"whisper": 2400, "librosa": 3000, "torchaudio": 2000}
HEARD_HZ = {"whisper": 16000, "librosa": 22050, "torchaudio": 16000}


def recording(length: int) -> Samples:
    """Noise of 16 bits whose second half is quiet: the same on every machine."""
    state, made = 1, []
    for place in range(length):
        state = (1103515245 * state + 12345) % (1 << 31)
        sample = (state >> 15) - (1 << 15)
        made.append(sample if place < length // 2 else sample >> 6)
    return numpy.array(made, numpy.float32) / numpy.float32(1 << 15)


def main() -> None:
    librosa, torch, torchaudio = (importlib.import_module(name) for name in ("librosa", "torch", "torchaudio"))
    modules = (librosa, torch, torchaudio)
    made: dict[str, Any] = {"versions": numpy.array([f"{each.__name__} {each.__version__}" for each in modules])}
    for source, target in RATES:
        heard = torch.from_numpy(recording(RESAMPLED).astype(numpy.float64))
        made[f"{source} {target}"] = resampled(torchaudio, heard, source, target)
    heard = torch.from_numpy(recording(LENGTHS["whisper"]))
    made["whisper"] = whisper(torch, heard, librosa.filters.mel(sr=HEARD_HZ["whisper"], n_fft=400, n_mels=80))
    energies = librosa.feature.melspectrogram(y=recording(LENGTHS["librosa"]), sr=HEARD_HZ["librosa"])
    made["librosa"] = librosa.power_to_db(energies)
    transform = torchaudio.transforms.MelSpectrogram(sample_rate=HEARD_HZ["torchaudio"], n_mels=40)
    energies = transform(torch.from_numpy(recording(LENGTHS["torchaudio"])))
    made["torchaudio"] = torchaudio.transforms.AmplitudeToDB()(energies).numpy()
    numpy.savez_compressed(FILE, **made)


def resampled(torchaudio: Any, heard: Any, source: int, target: int) -> Samples:
    """In float64 throughout: as float32, torchaudio rounds the places of its filter, and is off by 4e-5."""
    inner = importlib.import_module("torchaudio.functional.functional")
    torch = importlib.import_module("torch")
    shared = int(numpy.gcd(source, target))
    kernel, width = inner._get_sinc_resample_kernel(source, target, shared, dtype=torch.float64)
    made = inner._apply_sinc_resample_kernel(heard[None], source, target, shared, kernel, width)
    rounded = torchaudio.functional.resample(heard.float(), source, target)
    assert numpy.abs(made[0].numpy() - rounded.numpy()).max() < 1e-4
    return numpy.asarray(made[0].numpy(), numpy.float32)


def whisper(torch: Any, heard: Any, filters: Any) -> Any:
    """The computation of openai-whisper's log_mel_spectrogram, line by line."""
    spectra = torch.stft(heard, 400, 160, window=torch.hann_window(400), return_complex=True)
    energies = torch.from_numpy(filters) @ (spectra[..., :-1].abs() ** 2)
    logarithms = torch.clamp(energies, min=1e-10).log10()
    logarithms = torch.maximum(logarithms, logarithms.max() - 8.0)
    return ((logarithms + 4.0) / 4.0).numpy()


if __name__ == "__main__":
    main()
