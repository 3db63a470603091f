"""Samples that models run on, for parity and calibration; read one at a time."""

from packager.core.sample_settings import AudioSettings, ImageSettings, Settings
from packager.samples.complaint import marked
from packager.samples.flow import flow_of
from packager.samples.given import files as sample_files
from packager.samples.given import given, refuse_no_samples, typical
from packager.samples.growth import Growth, growth_of
from packager.samples.inspection import Inspection, inspect
from packager.samples.reading import describe
from packager.samples.sample import Problem, Samples, SampleSet, write_arrays
from packager.samples.search import FoundInputs, Lost, find
from packager.samples.source import SampleSource, source_of

__all__ = [
    "AudioSettings",
    "FoundInputs",
    "Growth",
    "ImageSettings",
    "Inspection",
    "Lost",
    "Problem",
    "SampleSet",
    "SampleSource",
    "Samples",
    "Settings",
    "describe",
    "find",
    "flow_of",
    "given",
    "growth_of",
    "inspect",
    "marked",
    "refuse_no_samples",
    "sample_files",
    "source_of",
    "typical",
    "write_arrays",
]
