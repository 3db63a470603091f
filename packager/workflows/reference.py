"""Writes docs/configuration.md and the schemas mobpack, report, api, bench and fleet in docs/ from the types and
docstrings of the configuration, the report, the descriptions of packages and the results of `mobpack bench` and
`mobpack fleet`.

Run `python -m packager.workflows.reference` after adding a key; a test compares the files with its output.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packager.config import FILE_NAME, Config
from packager.config.documented import documented_schema
from packager.contract import INPUT_KINDS, OUTPUT_KINDS
from packager.description import PackageApi
from packager.measuring.bench.document import BenchDocument
from packager.measuring.devices.document import DeviceDocument
from packager.measuring.fleet.document import FleetDocument
from packager.quantizers import QUANTIZERS
from packager.reporting import ReportDocument
from packager.targets import KNOWN_TARGETS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

TABLES = {
    "PackageTable": "package",
    "ModelTable": "model.NAME",
    "ImporterTable": "model.NAME.importer",
    "Card": "model.NAME.card",
    "Dataset": "[model.NAME.card.datasets]]",
    "Metric": "[model.NAME.card.metrics]]",
    "ToleranceTable": "model.NAME.tolerance.OUTPUT",
    **{kind.__name__: f'model.NAME.inputs.INPUT] with kind = "{name}"' for name, kind in INPUT_KINDS.items()},
    "MelTable": "model.NAME.inputs.INPUT.mel",
    **{kind.__name__: f'model.NAME.outputs.OUTPUT] with kind = "{name}"' for name, kind in OUTPUT_KINDS.items()},
    "PipelineTable": "pipeline.NAME",
    "StageTable": "pipeline.NAME.stages.STAGE",
    **{kind.__name__: f'variant.NAME] with quantizer = "{name}"' for name, kind in QUANTIZERS.items()},
    "Calibration": "variant.NAME.calibration",
    "ImageSettings": "variant.NAME.calibration.image",
    "AudioSettings": "variant.NAME.calibration.audio",
    "ParityTable": "parity",
    "CheckTable": "check",
    "RuntimeTable": "runtime",
    "CacheTable": "cache",
    **{kind.__name__: f"target.{name}" for name, kind in KNOWN_TARGETS.items()},
    "Tuned": "target.NAME.tuned.CHIP.MODEL",
}
"""definition in the schema -> table in mobpack.toml, in the order of the documentation"""


def schema() -> dict[str, Any]:
    """JSON schema of mobpack.toml, for editors."""
    return _schema_of(Config)


def report_schema() -> dict[str, Any]:
    """JSON schema of report.json, for programs that read it."""
    return _schema_of(ReportDocument)


def api_schema() -> dict[str, Any]:
    """JSON schema of the api.json in packages."""
    return _schema_of(PackageApi)


def bench_schema() -> dict[str, Any]:
    """JSON schema of what mobpack bench writes."""
    return _schema_of(BenchDocument)


def devices_schema() -> dict[str, Any]:
    """JSON schema of what mobpack device bench writes."""
    return _schema_of(DeviceDocument)


def fleet_schema() -> dict[str, Any]:
    """JSON schema of what mobpack fleet writes."""
    return _schema_of(FleetDocument)


def _schema_of(kind: type) -> dict[str, Any]:
    return {"$schema": DIALECT, **documented_schema(kind)}


def markdown() -> str:
    return "\n".join(_lines(schema()["$defs"])) + "\n"


def _lines(definitions: dict[str, Any]) -> Iterator[str]:
    yield f"# {FILE_NAME}"
    yield ""
    yield "Lists every key of the project file, with its default and its meaning."
    yield ""
    yield "    mobpack build --set target.android.min-sdk=26"
    yield ""
    yield "The result is a build with one key changed: every key can also be given on the command line."
    yield ""
    yield "Keys are in kebab-case, paths relative to the file. An unknown key is an error that names the nearest one."
    yield "Editors complete keys from [mobpack.schema.json](mobpack.schema.json)."
    yield ""
    yield "`python -m packager.workflows.reference` writes this page and the schema from the types in"
    yield "`packager/config/` and the plug-ins."
    for name, table in TABLES.items():
        title = f"[{table}" if "]" in table else f"[{table}]"
        yield from ("", f"## {title}", "", "| key | default | what it says |", "|---|---|---|")
        required = definitions[name].get("required", [])
        for key, entry in definitions[name]["properties"].items():
            description = " ".join(entry["description"].split())
            yield f"| `{key}` | {_default(entry, is_required=key in required)} | {description} |"


def _default(entry: dict[str, Any], *, is_required: bool) -> str:
    if is_required:
        return "required"
    default = entry.get("default")
    return "" if default in (None, "", {}) else f"`{json.dumps(default)}`"


def main() -> None:
    docs = Path(__file__).parents[2] / "docs"
    (docs / "configuration.md").write_text(markdown(), encoding="utf-8", newline="\n")
    schemas = {
        "mobpack": schema(),
        "report": report_schema(),
        "api": api_schema(),
        "bench": bench_schema(),
        "devices": devices_schema(),
        "fleet": fleet_schema(),
    }
    for name, document in schemas.items():
        (docs / f"{name}.schema.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
