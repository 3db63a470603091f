"""Ways to run a model on this machine. Adding one: a file and a line here."""

from packager.runners.cpu import Cpu
from packager.runners.runner import Outcome, Runnable, Runner

RUNNERS: dict[str, type[Runner]] = {Cpu.NAME: Cpu}

__all__ = ["RUNNERS", "Outcome", "Runnable", "Runner"]
