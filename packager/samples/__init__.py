"""What models are run on, for parity and for calibration; read one at a time, never all at once."""

from packager.inputs import AudioSettings, ImageSettings, Settings
from packager.samples.given import files as sample_files
from packager.samples.given import given
from packager.samples.inspection import Inspection, inspect
from packager.samples.random import random_candidates
from packager.samples.reading import describe
from packager.samples.sample import Problem, Samples, SampleSet, write_arrays

__all__ = [
    "AudioSettings",
    "ImageSettings",
    "Inspection",
    "Problem",
    "SampleSet",
    "Samples",
    "Settings",
    "describe",
    "given",
    "inspect",
    "random_candidates",
    "sample_files",
    "write_arrays",
]
