"""The package of the sample apps that show pictures."""

from pathlib import Path

from tests.toolchain.sample_package import VISION

FOLDER = VISION.folder


def root() -> Path:
    """A folder that looks like this repository's after `sh sample_apps/vision/make`, of sample_apps/vision alone.

    Its files are shared: nothing may write there.
    """
    return VISION.root()


def dist() -> Path:
    """Output of `mobpack build` for the sample apps."""
    return VISION.dist()
