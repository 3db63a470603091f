"""Compiles the program of the processes."""

import os

from packager.targets.android import kotlin
from tests.toolchain import warm_java

os.environ.pop(kotlin.JAVA_RUNNER, None)  # there is no process yet
warm_java.make()
