"""`mobpack device xcode --tune`: a test that takes the rounds of a search for the fastest settings, on an iPhone."""

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packager.core.console import Console
from packager.core.errors import ConfigError, ToolError
from packager.measuring.devices.farms.collecting import FILE
from packager.measuring.devices.iphones import chosen, run_tests
from packager.measuring.devices.xcode_tests import (
    CandidateView,
    ModelsView,
    PlanView,
    models_of,
    providers_of,
    write_device_tests,
)
from packager.measuring.tuning.candidates import candidates, shipped
from packager.providers import PROVIDERS
from packager.workflows.device import farming
from packager.workflows.tune_variants import shipped_variant

TARGET = "ios"
PAUSE_S = 1.0
"""before each round"""
RUNS = 500
"""in a round, at most"""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    most: int = 40
    """candidates for a model"""
    minutes: float = 20.0
    """for a model"""
    seconds: float = 1.0
    """of timed runs in a round"""
    pause: float = PAUSE_S


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    package: Path
    """folder of a Swift package"""
    bounds: Bounds
    kept: Path
    """folder for the results, which `mobpack tune --from` reads again"""
    device: str = ""
    """pattern; empty for the only one"""
    team: str = ""
    """identifier of the team that signs; empty for the one of the project"""


def write(package: Path, output: Path, bounds: Bounds) -> tuple[Path, ModelsView, PlanView]:
    """Writes the project, as `write_device_tests` does; with the search.

    Raises ConfigError for a package that is none of mobpack's.
    """
    found = models_of(package)
    plan = replace(
        plan_of(found.package, providers_of(package), bounds), variant=shipped_variant(package, found.sha256, TARGET)
    )
    folder, view = write_device_tests(package, output, plan)
    return folder, view, plan


def plan_of(package: str, providers: Sequence[str], bounds: Bounds) -> PlanView:
    """The candidates for the models of a Swift package, by ONNX Runtime's names for its providers.

    Raises ConfigError for a provider that is unknown.
    """
    names = {name.lower(): name for name in providers}
    if unknown := sorted(set(names) - set(PROVIDERS)):
        raise ConfigError(
            f"{package} has the provider {names[unknown[0]]}, which mobpack does not know",
            hint="build the package again: another version has made it",
        )
    own = shipped(package, list(names))
    every = dict.fromkeys(each.name for each in own)
    tried = [*own, *(each for each in candidates(package, list(names), bounds.most) if each.name not in every)]
    return PlanView(
        candidates=tuple(
            CandidateView(
                provider=names.get(each.provider, each.provider.upper()),
                threads=each.threads,
                options=tuple(sorted(each.options.items())),
            )
            for each in tried
        ),
        most=bounds.most,
        minutes=bounds.minutes,
        seconds=bounds.seconds,
        runs=RUNS,
        pause=bounds.pause,
    )


def run(request: RunRequest, console: Console) -> Path:
    """Writes the Xcode project to a scratch folder, runs its test on the device, and returns the file that keeps the
    results.

    Raises ToolError without a Mac, a device, or results. A search whose process has ended goes on in the next run.
    """
    device = chosen(request.device)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        project, _, _ = write(request.package, scratch, request.bounds)
        with console.step(f"build and search on {device.name}"):
            done = run_tests(project / f"{project.name}.xcodeproj", device, request.team, scratch)
        try:
            collected = farming.collect(done.output, console)
        except ToolError as error:
            raise ToolError(
                f"xcodebuild has ended with code {done.code}, and left no results: {done.said}",
                hint="if the test had begun, run the command again: the search goes on where it was; --team names the "
                "team that signs",
            ) from error
    kept = request.kept / re.sub(r"[^A-Za-z0-9.,-]", "_", device.serial) / FILE
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(collected.results[-1].document) + "\n", encoding="utf-8", newline="\n")
    return kept
