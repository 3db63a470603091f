"""The inputs that models of a package run on: the samples that travel with it, or the user's."""

from collections.abc import Sequence
from pathlib import Path

from packager import vectors
from packager.core.errors import ConfigError
from packager.measuring.devices.device_answers import PackagedModel
from packager.measuring.devices.package import DevicePackage
from packager.measuring.devices.rows import DeviceSample
from packager.samples.sample import arrays_of

BATCH = 1


def sample_of(package: DevicePackage, model: PackagedModel, given: Path | None, folder: Path) -> DeviceSample:
    """The first sample in the package, or the one `given`: an .npz keyed by input name. Raises ConfigError if there is
    neither, or an input is missing."""
    import numpy

    if given:
        lacking = [name for name in model.inputs if name not in arrays_of(given)]
        if lacking:
            raise ConfigError(
                f"--sample {given} has no input '{lacking[0]}' of {model.name}",
                hint=f"it needs {', '.join(model.inputs)}; name the model with --model if it is for another one",
            )
        return DeviceSample(path=given.absolute(), expected={})
    golden = package.golden.get(model.name)
    if not golden or not golden.samples:
        raise ConfigError(
            f"the package has no samples of {model.name}", hint="give one: --sample inputs.npz, keyed by input name"
        )
    first = golden.samples[0]
    path = folder / f"{model.class_name}.npz"
    numpy.savez(path, **vectors.inputs_of(golden, first))  # type: ignore[arg-type]
    return DeviceSample(path=path, expected=vectors.outputs_of(golden, first))


def names_of(models: Sequence[PackagedModel]) -> str:
    return ", ".join(each.name for each in models)
