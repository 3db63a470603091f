"""Xcode: a script that builds the Swift package when its models change, and the project that runs it."""

from packager.xcode.files import Layout, integration, write
from packager.xcode.inputs import input_files
from packager.xcode.package import SwiftPackage, find_package
from packager.xcode.plugin import write_plugin
from packager.xcode.project import app_target, read_project, write_project
from packager.xcode.wiring import Wiring, wire, wiring

__all__ = [
    "Layout",
    "SwiftPackage",
    "Wiring",
    "app_target",
    "find_package",
    "input_files",
    "integration",
    "read_project",
    "wire",
    "wiring",
    "write",
    "write_plugin",
    "write_project",
]
