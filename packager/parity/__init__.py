"""Does the compiled model compute what the original computes?"""

from packager.parity.check import References, check
from packager.parity.samples import files as sample_files
from packager.parity.settings import ParitySettings, default_tolerance

__all__ = ["ParitySettings", "References", "check", "default_tolerance", "sample_files"]
