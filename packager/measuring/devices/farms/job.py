"""The job of a farm's app: files of a package, and a plan of rounds in the words that devices are asked with.

The plan is a text. Its first line has the number of rounds; every other line is a model: its class, its sample, and the
pace of its runs. The app goes through all of it with every provider of the package.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from packager.core.class_names import class_name
from packager.core.errors import ConfigError
from packager.core.names import kebab_case
from packager.engines.runners import Pace
from packager.files.atomic import link_or_copy
from packager.measuring.devices import values
from packager.measuring.devices.conversation import request_line
from packager.measuring.devices.device_answers import PackagedModel
from packager.measuring.devices.document import PackageEntry
from packager.measuring.devices.package import DevicePackage
from packager.measuring.devices.samples import sample_of
from packager.samples.sample import arrays_of

PLAN = "plan.txt"
PACKAGE = "package.json"
FILES = "files"
INPUTS = "inputs"


def write_job(package: DevicePackage, folder: Path, *, pace: Pace, rounds: int, threads: int) -> tuple[str, ...]:
    """Writes the job to the empty `folder`, and returns the models in it.

    Raises ConfigError if no model of the package has a sample to run on.
    """
    (folder / FILES).mkdir()
    (folder / INPUTS).mkdir()
    for sha256, path in package.assets.items():
        link_or_copy(path, folder / FILES / sha256)
    lines = [request_line("rounds", {"rounds": str(rounds)})]
    models = tuple(_models(package))
    for number, model in enumerate(models):
        sample = sample_of(package, model, None, folder)
        place = f"{INPUTS}/{number}"
        described = values.write(arrays_of(sample.path), folder / place)
        sample.path.unlink()
        words = {
            "class": model.class_name,
            "threads": str(threads),
            "inputs": place,
            "warm-up-seconds": str(pace.warm_up_seconds),
            "seconds": str(pace.seconds),
            "runs": str(pace.runs),
            "least-runs": str(pace.least_runs),
            **described,
        }
        lines.append(request_line("model", words))
    if not models:
        raise ConfigError(
            f"{package.path.name} has no samples of its models: nothing could be run",
            hint='build it with golden = "random" in [parity], and a higher golden-max-kib',
        )
    (folder / PLAN).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    entry = PackageEntry(file=package.path.name, sha256=package.sha256, runtime=package.runtime.words)
    about = {kebab_case(key): value for key, value in asdict(entry).items()}
    (folder / PACKAGE).write_text(json.dumps(about), encoding="utf-8", newline="\n")
    return tuple(model.name for model in models)


def _models(package: DevicePackage) -> Iterator[PackagedModel]:
    """Models that have samples, as far as an archive tells of them: the device says the rest."""
    for name, golden in sorted(package.golden.items()):
        written = f"{package.namespace}.{class_name(name)}"
        if written in package.class_names and golden.samples:
            yield PackagedModel(
                class_name=written,
                name=name,
                version="",
                inputs=(),
                outputs=(),
                providers=(),
                tests_itself=True,
            )
