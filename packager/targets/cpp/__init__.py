"""The target cpp: a CMake package with a class in C++17 for each model."""

from packager.targets.cpp.target import Cpp

__all__ = ["Cpp"]
