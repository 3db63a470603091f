"""A sound that a model of every language's tests gives back, and its .wav file as Python's `wave` writes it."""

import io
import wave

STEPS = (0, 0.5, -0.5, 1.5, -1.5, 32766.5, -32767.5, 1e6, -1e6, float("nan"))
"""samples in steps of 16 bits, also in the programs of the tests: left, right, left..."""
WHOLE = (0, 1, 0, 2, -1, 32767, -32767, 32767, -32768, 0)
RATE, CHANNELS = 44100, 2
GRAPH = """
(float[n, c] samples, int64 rate) => (float[m, 2] played)
<int64[1] row = {1}, int64[1] zero = {0}, int64[1] all = {8000}, int64[1] far = {9223372036854775807}> {
    given = Reshape (rate, row)
    start = Sub (given, all)
    played = Slice (samples, start, far, zero)
}
"""
"""returns the recording of 8000 Hz that reaches it, and nothing of one with another rate"""


def wav_file(samples: tuple[int, ...] = WHOLE) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(CHANNELS)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(b"".join(each.to_bytes(2, "little", signed=True) for each in samples))
    return written.getvalue()
