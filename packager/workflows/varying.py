"""Variants that some chips open in the place of a target's: which packages can have them, and what they add."""

from collections.abc import Sequence

from packager.config import Config
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.values import Plan
from packager.reporting.added import added
from packager.targets import KNOWN_TARGETS, included
from packager.targets.target import variants_of
from packager.workflows.requested import targets_of, wrappers_of


def refuse_unvarying(config: Config, targets: Sequence[str]) -> None:
    """Raises ConfigError for a variant of certain chips in packages whose code opens one variant on all, and together
    with `[package] channel`."""
    varied = [name for name, target in targets_of(config, targets).items() if len(variants_of(target)) > 1]
    if not varied:
        return
    unable = [name for name in varied if not KNOWN_TARGETS[name].VARIES]
    for name, wrapper in wrappers_of(config, targets).items():
        if not wrapper.VARIES and set(varied) & set(included(wrapper, targets)):
            unable.append(name)
    if unable:
        able = [name for name, target in KNOWN_TARGETS.items() if target.VARIES]
        raise ConfigError(
            f"target.{varied[0]}.tuned: the code for {', '.join(unable)} cannot choose a variant by chip yet",
            hint=f"leave `variant` out there, or build others: {', '.join(able)}",
        )
    if config.package.channel:
        raise ConfigError(
            f"target.{varied[0]}.tuned: variants of certain chips and package.channel cannot be combined yet",
            hint="leave one of them out: a channel delivers one variant of each model",
        )


def say_added(plans: Sequence[Plan], console: Console) -> None:
    """Prints how much the files of variants add that only some chips open."""
    for plan in plans:
        for each in added(plan):
            console.say(f"  {each.words}")
