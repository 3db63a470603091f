"""Licences of a project: conflicts are warnings, and errors with --strict. And the group, which must be one's own."""

from packager.config import Config
from packager.core.console import Console
from packager.core.errors import GateError
from packager.core.names import EXAMPLE_GROUP
from packager.core.values import Package
from packager.distribution import sbom
from packager.targets import InMaven
from packager.workflows.requested import BuildRequest, targets_of


def judge_licenses(package: Package, config: Config, request: BuildRequest, console: Console) -> None:
    """Warns about each licence that a release would not keep. With --strict, raises GateError for the first."""
    cards = {name: table.card for name, table in config.model.items()}
    has_files = {name: table.license is not None for name, table in config.model.items()}
    found = sbom.conflicts(package, cards, has_files=has_files)
    if found and request.rules.strict:
        first, *others = found
        more = f"; {len(others)} more" if others else ""
        raise GateError(f"--strict: {first.message}{more}", hint=f"{first.hint}, or run without --strict")
    for each in found:
        console.warn(f"{each.message}; {each.hint}")
    if request.has_project and (sentence := sbom.unnamed(package, cards, has_files=has_files)):
        console.say(f"  {sentence}")


def warn_of_example_group(config: Config, request: BuildRequest, console: Console) -> None:
    """Warns of a project whose Android library would be published in the group of examples. A model without a project
    has no other group, and nobody publishes its packages."""
    for target in targets_of(config, request.targets).values():
        if request.has_project and isinstance(target, InMaven) and target.group == EXAMPLE_GROUP:
            console.caution(
                f"the group of the Android library is {EXAMPLE_GROUP}, which is for examples: set your own before "
                "anybody depends on it, as it also names the Kotlin package: "
                f'group = "com.your-domain" in [target.{target.NAME}]'
            )
