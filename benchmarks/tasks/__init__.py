"""Real models on real tasks: what `mobpack quantize --metric benchmarks.tasks.NAME:accuracy` is given."""

from collections.abc import Mapping

from benchmarks.tasks import denoise, digits, orientation, pitch, similarity, source_code, speech
from benchmarks.tasks.task import Task

TASKS: Mapping[str, Task] = {
    "orientation": orientation,
    "digits": digits,
    "similarity": similarity,
    "source_code": source_code,
    "denoise": denoise,
    "pitch": pitch,
    "speech": speech,
}
