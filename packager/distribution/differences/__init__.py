"""Compares two releases: what has changed for apps, and does the version number say so?"""

from packager.distribution.differences.comparing import compare
from packager.distribution.differences.page import write_page
from packager.distribution.differences.reading import read
from packager.distribution.differences.values import Change, Comparison, Level

__all__ = ["Change", "Comparison", "Level", "compare", "read", "write_page"]
