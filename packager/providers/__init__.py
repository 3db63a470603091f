"""Execution providers that can run a model on a device, before the CPU does. To add one: a file and a line here."""

from packager.providers.coreml import Coreml
from packager.providers.cpu import Cpu
from packager.providers.nnapi import Nnapi
from packager.providers.provider import Provider
from packager.providers.qnn import Qnn
from packager.providers.webgpu import Webgpu
from packager.providers.webnn import Webnn
from packager.providers.xnnpack import Xnnpack

PROVIDERS: dict[str, type[Provider]] = {
    Qnn.NAME: Qnn,
    Nnapi.NAME: Nnapi,
    Xnnpack.NAME: Xnnpack,
    Webgpu.NAME: Webgpu,
    Webnn.NAME: Webnn,
    Coreml.NAME: Coreml,
}

CPU = Cpu()
"""Fallback behind all of them, whatever a project asks for."""


def all_providers() -> tuple[type[Provider], ...]:
    """Every provider, the CPU last: templates print tables of them."""
    return (*PROVIDERS.values(), Cpu)


def provider_of(name: str) -> Provider:
    """The provider of that name, with its default settings; the CPU is one."""
    return CPU if name == CPU.NAME else PROVIDERS[name]()


def providers_of(target: str) -> tuple[str, ...]:
    """Providers that packages of `target` can use, the CPU left out."""
    return tuple(name for name, kind in PROVIDERS.items() if target in kind.BUILD_FLAGS)


__all__ = ["CPU", "PROVIDERS", "Provider", "all_providers", "provider_of", "providers_of"]
