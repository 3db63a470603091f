"""Devices that are connected: what ships is run, compared and timed there. To add a kind of link: a folder and a line
here."""

from collections.abc import Callable, Mapping

from packager.measuring.devices.adb import Adb
from packager.measuring.devices.link import READY, Device, DeviceProgram, Finished, GoneError, Link, ListedDevice

LINKS: Mapping[str, Callable[[], Link]] = {Adb.NAME: Adb}

__all__ = ["LINKS", "READY", "Device", "DeviceProgram", "Finished", "GoneError", "Link", "ListedDevice"]
