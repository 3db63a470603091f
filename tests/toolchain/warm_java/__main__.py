"""Compiles the program of the processes."""

import os

from tests.toolchain import warm_java
from tests.toolchain.warm_java.run import TRUSTED

os.environ["JDK_JAVA_OPTIONS"] = " ".join(TRUSTED)
warm_java.make()
