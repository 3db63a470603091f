"""Parts of a package's view that do not depend on the platform: its names, its files, its licences."""

import re
from collections.abc import Mapping, Sequence

from packager.core.errors import SettingError
from packager.core.values import Package, Plan
from packager.targets.kotlin.files import Files
from packager.targets.kotlin.names import KEYWORDS, package_part
from packager.targets.kotlin.view import Asset, GoldenView, License
from packager.targets.target import licenses_of


def refuse_group(group: str) -> None:
    """Raises SettingError for a Maven group that cannot begin the name of a Kotlin package."""
    for part in group.split("."):
        if not re.fullmatch(r"[a-z][a-z0-9_]*", part) or part in KEYWORDS:
            raise SettingError(f"group '{group}' is not a package name", hint="use a reversed domain: com.example")


def namespace_of(group: str, package: Package) -> str:
    """The Kotlin package."""
    return f"{group}.{package_part(package.name)}"


def all_assets(laid_out: Mapping[str, Files], tested: Mapping[str, Sequence[GoldenView]]) -> tuple[Asset, ...]:
    """For each model its files, then its golden vectors."""
    return tuple(
        asset for name, each in laid_out.items() for asset in (*each.assets, *(view.asset for view in tested[name]))
    )


def licenses(plans: Sequence[Plan]) -> tuple[License, ...]:
    return tuple(License(name=name, file=file) for name, file in licenses_of(plans).items())
