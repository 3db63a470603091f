"""Adds results of devices to a release: the matrix to its report, the numbers to its manifest, by device."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packager.core import parsing
from packager.core.characters import to_json
from packager.core.errors import ConfigError
from packager.core.to_json import plain
from packager.files.atomic import atomic_file
from packager.measuring.devices import page
from packager.measuring.devices.document import DeviceDocument, DeviceEntry, DeviceRow
from packager.render.pages.sections import with_section

MANIFEST = "manifest.json"
REPORT = "report.html"
SIGNATURES = "*.sigstore*"
KEY = "devices"


def refuse_unfit(folder: Path) -> None:
    """Raises ConfigError for a folder that is no release, or one that is signed: signatures cover its manifest."""
    if not (folder / MANIFEST).is_file() or not (folder / REPORT).is_file():
        raise ConfigError(f"--merge {folder}: it holds no release", hint="build one with `mobpack build -t android`")
    if any(folder.glob(SIGNATURES)) or (folder / "signatures").exists():
        raise ConfigError(f"--merge {folder}: it is signed", hint="merge results first, then sign the release")


def merge(folder: Path, found: DeviceDocument) -> None:
    """Replaces what the release says of the same builds of devices; others stay. Raises ConfigError if the results are
    of another package."""
    refuse_others(folder, found.package.sha256, found.package.file)
    manifest = _manifest(folder)
    entries = {each["fingerprint"]: each for each in manifest.get(KEY, ())}
    entries |= {entry["fingerprint"]: entry for entry in _entries(found)}
    manifest[KEY] = [entries[name] for name in sorted(entries)]
    text = (folder / REPORT).read_text(encoding="utf-8")
    with atomic_file(folder / REPORT) as file:
        file.write(with_section(text, KEY, page.part(found)).encode())
    with atomic_file(folder / MANIFEST) as file:
        file.write((to_json(manifest, indent=2) + "\n").encode())


def refuse_others(folder: Path, sha256: str, name: str) -> None:
    """Raises ConfigError for a release without the package `name` of that content, which was measured."""
    shipped = [each["sha256"] for each in _manifest(folder).get("artifacts", ())]
    if sha256 not in shipped:
        raise ConfigError(
            f"--merge {folder}: its packages are others than {name}, which was measured",
            hint="measure the package of that release: --package " + str(folder),
        )


def _manifest(folder: Path) -> dict[str, Any]:
    with parsing.damage_as(
        lambda reason: ConfigError(f"--merge {folder}: {MANIFEST}: {reason}", hint="build it again")
    ):
        return dict(parsing.json_of((folder / MANIFEST).read_text(encoding="utf-8")))


def _entries(found: DeviceDocument) -> Iterator[dict[str, Any]]:
    """An entry for each device that was measured: no serial number, which names a person's phone."""
    for device in found.devices:
        rows = [each for each in found.rows if each.device == device.serial]
        if rows:
            yield {
                "fingerprint": device.fingerprint or f"{device.maker} {device.model} {device.release}",
                "maker": device.maker,
                "model": device.model,
                "soc": device.soc,
                "api": device.api,
                "abi": device.abi,
                "package-sha256": found.package.sha256,
                "results": [_result(each, device) for each in rows],
            }


def _result(each: DeviceRow, device: DeviceEntry) -> dict[str, Any]:
    row = each.row
    after = device.after or device.before
    return {
        "model": row.model,
        "provider": each.provider,
        "file-sha256": row.sha256,
        "runtime": row.about,
        "p50-ms": round(row.p50_ms, 4),
        "p90-ms": round(row.p90_ms, 4),
        "p99-ms": None if row.p99_ms is None else round(row.p99_ms, 4),
        "load-ms": None if row.load_ms is None else round(row.load_ms, 2),
        "cold-load-ms": round(each.cold_load_ms, 2),
        "pss-bytes": each.pss_bytes,
        "runs": row.runs,
        "is-noisy": row.is_noisy,
        "error": row.error,
        "differs": row.differs,
        "assigned": plain(each.assigned),
        "thermal-status": after.thermal_status if after else None,
    }
