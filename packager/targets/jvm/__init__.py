"""The target jvm: a jar."""

from packager.targets.jvm.target import Jvm

__all__ = ["Jvm"]
