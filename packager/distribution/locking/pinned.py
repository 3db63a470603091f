"""Third-party files that mobpack's own code fetches, by origin and sha256."""

import platform
import sys
from collections.abc import Iterable, Mapping

from packager.distribution.locking.lock import Facts
from packager.engines.environments import ENVIRONMENTS, zig
from packager.files.processes import downloads
from packager.files.processes.downloads import Pin
from packager.files.store.closure import FILES, INSTALLED, closure, pins_of, text_of

REGISTRIES = {"npm": "npm", "apt": "debian", "pip": "pypi", "maven": "maven"}
"""Client -> registry, as origins name it."""
FOR_OTHERS = frozenset(name for machine, name in zig.PINS.items() if machine != (sys.platform, platform.machine()))
"""The compilers for other machines than this one."""


def pinned_by(modules: Iterable[str], environments: Iterable[str]) -> Mapping[str, Facts]:
    """The pinned files that `modules` of mobpack, with all that they import, may fetch on this machine, by name. Of
    isolated environments, only those among `environments` count."""
    own = {module_of(name) for name in environments}
    others = {module_of(name) for name in ENVIRONMENTS} - own
    without = frozenset(path for name in others if (path := INSTALLED.module(name)))
    entered = (*modules, *sorted(own))
    texts = [text_of(path) for path in closure(INSTALLED, entered, without) if path.suffix == ".py"]
    files = (name.removeprefix(f"{FILES}.") for name in pins_of(INSTALLED, texts) if name.startswith(f"{FILES}."))
    return {name: facts(downloads.pin(name)) for name in sorted(files) if name not in FOR_OTHERS}


def module_of(environment: str) -> str:
    return ENVIRONMENTS[environment].__module__


def facts(pin: Pin) -> Facts:
    """Origin in the notation `npm:NAME@VERSION`, and the sha256 that every download is compared with."""
    more = {key: getattr(pin, key) for key in ("suite", "architecture", "platform", "python") if getattr(pin, key)}
    return {"origin": origin(pin), **more, "sha256": pin.sha256}


def origin(pin: Pin) -> str:
    """`npm:onnxruntime-web@1.30.0`, `pypi:ziglang@0.17.0`, `debian:libc6@2.36-9`, `maven:group/artifact@1.0`."""
    registry = REGISTRIES[pin.client]
    if registry == "npm":
        return f"npm:{pin.package}"
    if registry == "maven":
        group, artifact, version = pin.package.split(":")[:3]
        return f"maven:{group}/{artifact}@{version}"
    name, _, version = pin.package.partition("==" if registry == "pypi" else "=")
    return f"{registry}:{name}@{version}"
