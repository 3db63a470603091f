"""Providers that phones have left out, by chip: verdicts of `mobpack device self-test`, `bench` and `read`."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from packager.core import parsing, user_files
from packager.core.errors import ConfigError
from packager.measuring.devices.document import DeviceDocument, TestDocument

MAX_BYTES = 1 << 26
HINT = "write one with `mobpack device self-test --json > verdicts.json`, or with `mobpack device bench --report`"
UNDECIDED = ("was not examined", "the package has no samples")
"""Beginnings of reasons that say nothing about a provider: another proof may decide."""

Demotions = Mapping[tuple[str, str, str], str]
"""Chip, model and provider -> why a phone with the chip left the provider out."""


def read(paths: Iterable[Path]) -> Demotions:
    """The first reason for each provider; devices that do not name their chip say nothing about others.

    Raises ConfigError for a file that holds no results of devices.
    """
    found: dict[tuple[str, str, str], str] = {}
    for path in paths:
        document = _document(path)
        known = {each.serial: each for each in document.devices}
        for each in document.verdicts:
            device = known[each.device]
            if device.soc and not each.is_proved and not each.reason.startswith(UNDECIDED):
                found.setdefault((device.soc, each.model, each.provider), f"{device.model} left it out: {each.reason}")
    return found


def left_out(demotions: Demotions, chip: str, model: str) -> Mapping[str, str]:
    """Provider -> reason, for a model on a chip."""
    return {provider: why for (soc, name, provider), why in demotions.items() if (soc, name) == (chip, model)}


def _document(path: Path) -> DeviceDocument | TestDocument:
    from pydantic import TypeAdapter

    adapter: TypeAdapter[DeviceDocument | TestDocument] = TypeAdapter(DeviceDocument | TestDocument)
    try:
        found = dict(parsing.json_of(user_files.read(path, limit_bytes=MAX_BYTES)))
        found.pop("error", None)  # the results of a test that failed have it, too
        return adapter.validate_python(found)
    except OSError as error:
        raise ConfigError(f"--verdicts {path}: {error.strerror}", hint=HINT) from error
    except parsing.DAMAGE as error:
        raise ConfigError(f"--verdicts {path}: it holds no results of devices", hint=HINT) from error
