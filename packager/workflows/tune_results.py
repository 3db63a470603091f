"""The end of searches: their page, the report of a release, and the settings in a mobpack.toml."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from packager.core import user_files
from packager.core.console import Console
from packager.core.errors import ConfigError
from packager.core.tuned import Tuned
from packager.files.atomic import atomic_file
from packager.measuring.devices import merging
from packager.measuring.devices.device_answers import OutputTest
from packager.measuring.devices.document import PackageEntry
from packager.measuring.devices.link import Device
from packager.measuring.tuning import page
from packager.measuring.tuning.page import SearchBounds, TunedSearch
from packager.measuring.tuning.search import SearchOutcome
from packager.measuring.tuning.writing import with_tuned
from packager.render.pages import parts
from packager.render.pages.sections import with_section

MAX_BYTES = 1 << 20
"""of a project"""
CHIP_HINT = "Android 12 and later name their chip: settings by chip reach no older device"


@dataclass(frozen=True, kw_only=True)
class FoundSettings:
    """The end of the search for a model on a device."""

    device: Device
    target: str
    """whose settings are written: `android`"""
    model: str
    """its name in mobpack.toml"""
    package: PackageEntry
    """the first that was searched, which ships today"""
    outcome: SearchOutcome

    @property
    def tuned(self) -> Tuned:
        """Settings to write; empty where nothing is faster than what ships."""
        return self.outcome.tuned


def searches(found: Sequence[FoundSettings]) -> tuple[TunedSearch, ...]:
    """The searches as the page explains them."""
    return tuple(
        TunedSearch(
            device=each.device.name, target=each.target, chip=each.device.soc, model=each.model, outcome=each.outcome
        )
        for each in found
    )


def write_page(path: Path, found: Sequence[FoundSettings], bounds: SearchBounds) -> None:
    """Raises ToolError if it cannot be written."""
    parts.write(path, page.page(searches(found), bounds))


def merge(folder: Path, found: Sequence[FoundSettings], bounds: SearchBounds) -> None:
    """Adds the searches to the report of a release: each replaces an older one of its model on that build of a device.

    Raises ConfigError if the release has other packages than those that were measured.
    """
    report = folder / merging.REPORT
    text = report.read_text(encoding="utf-8")
    for each, searched in zip(found, searches(found), strict=True):
        merging.refuse_others(folder, each.package.sha256, each.package.file)
        name = sha256(f"{each.device.fingerprint or each.device.serial}, {each.model}".encode()).hexdigest()[:16]
        text = with_section(text, f"tuning {name}", page.part(searched, bounds))
    parts.write(report, text)


def text_of(project: Path) -> str:
    """Raises ConfigError for a file that cannot be read."""
    try:
        return user_files.read_text(project, limit_bytes=MAX_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {project}: {error}", hint="name a mobpack.toml with --config") from error


def write(project: Path, found: Sequence[FoundSettings], console: Console) -> bool:
    """Writes the settings into `project`; whether it changed. Settings on which devices with one chip disagree, and
    those of devices that do not name their chip, are left out and said.

    Raises ConfigError for a file that cannot be changed.
    """
    targets: dict[str, dict[str, dict[str, Tuned]]] = {}
    for target, chip, model, settings in _agreed(found, console):
        targets.setdefault(target, {}).setdefault(chip, {})[model] = settings
    before = after = text_of(project)
    for target, chips in targets.items():
        after = with_tuned(after, target, chips)
    if after != before:
        with atomic_file(project) as file:
            file.write(after.encode())
    return after != before


def share_of(tests: Sequence[OutputTest]) -> float | None:
    """The largest error, as a share of what the self-test allows; None where no output is measured by its distance."""
    allowed = [(each.max_abs_error, each.absolute_tolerance + each.tolerance * each.scale) for each in tests]
    shares = [error / most for error, most in allowed if most > 0 and math.isfinite(error)]
    return max(shares, default=None)


def error_of(tests: Sequence[OutputTest]) -> str:
    """Why a candidate with these outputs of the self-test takes part no further; empty if all passed."""
    failed = [f"{test.name}: {test.failure}" for test in tests if test.failure]
    return f"its numbers are off: {failed[0]}" if failed else ""


def _agreed(found: Sequence[FoundSettings], console: Console) -> Iterator[tuple[str, str, str, Tuned]]:
    by_chip: dict[tuple[str, str, str], list[FoundSettings]] = {}
    for each in found:
        if each.device.soc:
            by_chip.setdefault((each.target, each.device.soc, each.model), []).append(each)
        else:
            console.caution(f"{each.device.name} does not name its chip; {CHIP_HINT}")
    for (target, chip, model), same in sorted(by_chip.items()):
        if len({repr(each.tuned) for each in same}) == 1:
            yield target, chip, model, same[0].tuned
        else:
            names = ", ".join(each.device.serial for each in same)
            console.caution(f"{model} on {chip}: {names} disagree; nothing is written for this chip")
