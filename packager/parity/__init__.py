"""Does the compiled model compute what the original computes?"""

from packager.parity.check import References, check
from packager.parity.settings import ParitySettings, default_tolerance
from packager.samples import sample_files

__all__ = ["ParitySettings", "References", "check", "default_tolerance", "sample_files"]
