"""Xcode: a script that builds the Swift package when its models change, and the project that runs it."""

from packager.workflows.xcode.files import XcodeFolders, integration, write
from packager.workflows.xcode.package import SwiftPackage, find_package
from packager.workflows.xcode.plugin import write_plugin
from packager.workflows.xcode.project import app_target, read_project, write_project
from packager.workflows.xcode.wiring import Wiring, wire, wiring

__all__ = [
    "SwiftPackage",
    "Wiring",
    "XcodeFolders",
    "app_target",
    "find_package",
    "integration",
    "read_project",
    "wire",
    "wiring",
    "write",
    "write_plugin",
    "write_project",
]
