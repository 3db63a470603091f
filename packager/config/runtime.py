"""The table of a runtime of the user's own."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from packager.config.strict import Strict
from packager.core.errors import SettingError
from packager.targets import TARGETS

COORDINATES = re.compile(r"[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.+-]+")
"""`group:artifact:version`, in a Maven repository"""
ARCHIVE_ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~%+@=&,-]+)+\.zip")
"""https address of a .zip, in the form that SwiftPM accepts"""
SHA256 = re.compile(r"[0-9a-f]{64}")


class RuntimeTable(Strict):
    """An ONNX Runtime of your own, instead of the published one."""

    android: str = ""
    """an .aar, or a folder or .zip with one, as made by the recipe of `mobpack runtime recipe`; or Maven coordinates,
    `group:artifact:version`. Default: packages depend on the published ONNX Runtime"""
    ios: str = ""
    """an .xcframework, or a folder or .zip with one; or the https address of such a .zip, which is not downloaded"""
    ios_checksum: str = ""
    """sha256 of the .zip at the address, as printed by `swift package compute-checksum`"""
    config: Path | None = None
    """the runtime's operator configuration, if it is neither beside the file nor inside it"""
    name: str = ""
    """short name, one to four letters or digits, to rename its library and classes with, so that an app can contain
    another ONNX Runtime as well"""
    ship: Literal["inside", "maven"] | None = None
    """`inside`, the default for a file, puts the runtime into the .aar; `maven` makes a separate artifact beside the
    package's, which several packages can share"""

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Raises SettingError for keys that do not go together."""
        given = [key for key in ("name", "ship") if getattr(self, key)]
        if given and not self.android:
            raise SettingError(
                f"'{given[0]}' has no effect without 'android'", hint='name the runtime: android = "FILE.aar"'
            )
        if self.config and not self.named:
            raise SettingError(
                "'config' has no effect without 'android' or 'ios'", hint="name the runtime that it belongs to"
            )
        self._check_address()
        if self.is_published and self.name:
            raise SettingError(
                "a runtime given by Maven coordinates cannot be renamed", hint="name its .aar, or remove 'name'"
            )
        if self.is_published and self.ship:
            raise SettingError(
                "a runtime given by Maven coordinates is always a dependency", hint="name its .aar, or remove 'ship'"
            )
        return self

    def _check_address(self) -> None:
        """Raises ValueError for an address that SwiftPM would reject, or one without a checksum."""
        if "://" in self.ios and not self.is_address:
            raise SettingError(
                f"'{self.ios}' is not the address of a .zip", hint="use https://HOST/PATH/onnxruntime.xcframework.zip"
            )
        if self.is_address and not SHA256.fullmatch(self.ios_checksum):
            raise SettingError(
                "an address needs 'ios-checksum', a sha256 of 64 lower-case hex digits",
                hint="run: swift package compute-checksum FILE.zip, or sha256sum FILE.zip",
            )
        if self.ios_checksum and not self.is_address:
            raise SettingError(
                "'ios-checksum' applies to https addresses only", hint="remove it: the checksum of a file is computed"
            )

    @property
    def named(self) -> Mapping[str, str]:
        """Target -> its runtime, for targets that the table has a key for: a file, a folder, coordinates or an
        address."""
        return {name: found for name in TARGETS if (found := getattr(self, name, ""))}

    @property
    def local(self) -> Mapping[str, Path]:
        """The runtimes among them that are files or folders."""
        elsewhere = {self.android if self.is_published else "", self.ios if self.is_address else ""}
        return {name: Path(found) for name, found in self.named.items() if found not in elsewhere}

    @property
    def is_published(self) -> bool:
        return bool(COORDINATES.fullmatch(self.android))

    @property
    def is_address(self) -> bool:
        """Whether `ios` is an address rather than a file."""
        return bool(ARCHIVE_ADDRESS.fullmatch(self.ios))
