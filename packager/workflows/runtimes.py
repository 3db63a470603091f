"""Chooses the ONNX Runtime of every target: the published one, or the project's own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from packager.config import Config
from packager.core.console import Console
from packager.core.values import Package
from packager.files.store import Store
from packager.runtimes import ios, shipping
from packager.runtimes.shipping import Chosen
from packager.targets import InMaven, PackagedRuntime, included
from packager.workflows.requested import targets_of, wrappers_of


def choose_runtimes(config: Config, targets: Sequence[str], store: Store, console: Console) -> Mapping[str, Chosen]:
    """The runtimes of `[runtime]` by target, each read once; targets without one use the published runtime.

    Raises ConfigError for what does not go together with them.
    """
    named = config.runtime.named
    chosen: dict[str, Chosen] = {}
    for name in targets:
        if name not in named:
            continue
        with console.step(f"read the runtime {Path(named[name]).name}"):
            chosen[name] = choose_runtime(config, name, store)
        if chosen[name].is_reduced:
            console.say('  reduced: it reads ORT format only, so all files are planned as with format = "ort"')
        for note in chosen[name].notes:
            console.warn(note)
    return chosen


def choose_runtime(config: Config, target: str, store: Store) -> Chosen:
    """The runtime that `[runtime]` names for `target`, checked against the target's table."""
    table = config.targets()[target]
    if isinstance(table, InMaven):
        runtime = shipping.choose(config.runtime, target, group=table.group, store=store)
        shipping.refuse_settings(table, table.assembler, runtime)
        return runtime
    framework = ios.choose_ios(config.runtime, store)
    ios.refuse_settings(table, framework)
    return framework


def refuse_unwrappable(
    package: Package, config: Config, targets: Sequence[str], runtimes: Mapping[str, Chosen], console: Console
) -> None:
    """Prints the targets that each wrapper needs. Raises ConfigError for a package or a runtime that a wrapper cannot
    include."""
    own = {target: chosen.packaged for target, chosen in runtimes.items()}
    for name, wrapper in wrappers_of(config, targets).items():
        console.say(f"  {name} includes the packages for {', '.join(included(wrapper, targets))}")
        wrapper.refuse(package, own)


def runtimes_of(config: Config, targets: Sequence[str], runtimes: Mapping[str, Chosen]) -> dict[str, str]:
    """The runtime that each target's packages depend on or contain."""
    found = {name: target.published_runtime() for name, target in targets_of(config, targets).items()}
    for name, runtime in runtimes.items():
        own = runtime.packaged
        where = own.coordinates if isinstance(own, PackagedRuntime) else own.url
        found[name] = where or f"{runtime.display_name}, inside the package"
    return found
