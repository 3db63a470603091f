"""Places of code in README.md, the guides and the pages of the platforms."""

import re
from pathlib import Path

TOOLCHAIN = Path(__file__).parents[1] / "toolchain"

BUILD_FILE = re.compile(r"^(dependencyResolutionManagement|android|apply|dependencies|targets)\b", re.MULTILINE)
"""contents of files of Gradle and SwiftPM, as tests/unit/test_gradle_project.py and test_swift_packages.py read them"""
