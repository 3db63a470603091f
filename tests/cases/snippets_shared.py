"""Code in README.md, the guides and the pages of the platforms compiles as it stands.

A part of a file becomes the body of a function, whose parameters are what the app has: a context, a picture, a model.
"""

import re
from pathlib import Path

TOOLCHAIN = Path(__file__).parents[1] / "toolchain"

BUILD_FILE = re.compile(r"^(dependencyResolutionManagement|android|apply|dependencies|targets)\b", re.MULTILINE)
"""contents of files of Gradle and SwiftPM, as tests/unit/test_gradle_project.py and test_swift_packages.py read them"""
