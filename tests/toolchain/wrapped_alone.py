"""`mobpack` that makes no Android library: packages of React Native and Flutter bring Kotlin as sources.

The .aar that their build makes besides takes longer than they do. Every byte of them is the same without it.
"""

from pathlib import Path
from typing import Any

from packager.cli import commands
from packager.core.console import Announce
from packager.files.store import Store
from packager.targets import Shipped
from packager.targets.android import Android
from packager.workflows import packages
from packager.workflows.requested import BuildRequest

package_target = packages.package_target


def package_others(
    target: Any,
    view: Any,
    bills: packages.Bills,
    staging: Path,
    store: Store,
    request: BuildRequest,
    announce: Announce,
) -> list[Shipped]:
    """In the place of `packages.package_target`."""
    if isinstance(target, Android):
        return []
    return package_target(target, view, bills, staging, store, request, announce)


if __name__ == "__main__":
    packages.package_target = package_others
    commands()
