"""Compiles the program of the processes."""

import os

from packager.targets.android import kotlin
from tests.toolchain import warm_java
from tests.toolchain.warm_java.run import TRUSTED

os.environ.pop(kotlin.JAVA_RUNNER, None)  # there is no process yet
os.environ["JDK_JAVA_OPTIONS"] = " ".join(TRUSTED)
warm_java.make()
