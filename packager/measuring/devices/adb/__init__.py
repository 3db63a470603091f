"""Android devices on a cable or a network, through adb."""

from packager.measuring.devices.adb.link import Adb

__all__ = ["Adb"]
