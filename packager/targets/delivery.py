"""Names by which generated code knows the models that a channel has for it."""

from dataclasses import dataclass

from packager.core.values import Package


@dataclass(frozen=True, kw_only=True)
class DeliveryView:
    """The channel of a package, and the release that the code belongs to."""

    channel: str
    root: str
    """metadata that says whose channel it is, in JSON"""
    package: str
    version: str
    number: int
    """of the release, which grows with its version"""
    contracts: tuple[tuple[str, str], ...]
    """name of each model, and the hex sha256 of the API that its code has"""


def delivery_view(package: Package) -> DeliveryView | None:
    """None for a package whose models come with the app alone."""
    if package.delivery is None or package.trust is None:
        return None
    return DeliveryView(
        channel=package.delivery.channel,
        root=package.delivery.root,
        package=package.name,
        version=package.version,
        number=package.trust.number,
        contracts=tuple(sorted(package.delivery.contracts.items())),
    )
