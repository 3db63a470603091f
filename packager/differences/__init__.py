"""Compares two releases: what has changed for apps, and does the version number say so?"""

from packager.differences.comparing import compare
from packager.differences.page import write_page
from packager.differences.reading import read
from packager.differences.values import Change, Comparison, Level

__all__ = ["Change", "Comparison", "Level", "compare", "read", "write_page"]
