"""Between which numbers the values of a graph lie, by the samples of a quantizer's calibration."""

from collections.abc import Mapping, Sequence

from packager import calibration
from packager import samples as samples_of
from packager.console import Console
from packager.errors import ConfigError
from packager.quantizers import Calibration
from packager.samples.reading import READER
from packager.store import Store
from packager.values import Model, Range


def ranges_for(
    model: Model,
    graph: bytes,
    values: Sequence[str],
    samples: calibration.Samples,
    settings: Calibration,
    store: Store,
    console: Console,
) -> Mapping[str, Range]:
    """The ranges of `values` of `graph`, the prepared one of `model`; one calibration serves all methods.

    Raises ModelError for values that have no range. What is odd about them is a warning.
    """
    request = calibration.Request(
        graph=graph,
        weights_sha256=model.sha256,
        data_folder=model.data_folder,
        tensors=tuple(values),
        samples=samples,
        method=calibration.Method(name=settings.method, percentile=settings.percentile),
    )
    with console.progress(f"calibrate {model.name} ({settings.method})") as advance:
        found = calibration.calibrate(request, store, advance)
    for note in calibration.warnings(request, found):
        console.warn(f"model '{model.name}': {note}")
    return found


def read_samples(model: Model, settings: Calibration, console: Console) -> calibration.Samples:
    """The samples of `settings`, each looked at once. Raises ConfigError for the first that cannot be used."""
    how = samples_of.Settings(image=settings.image, audio=settings.audio, limit=settings.limit)
    with console.step(f"read samples from {settings.samples}"):
        inspection = samples_of.inspect(settings.samples, model, how)
    if inspection.errors:
        first, *rest = inspection.errors
        more = f" (and {len(rest)} more)" if rest else ""
        raise ConfigError(f"calibration samples of model '{model.name}': {first.text}{more}", hint=first.hint)
    for problem in inspection.problems:
        console.warn(f"calibration samples of model '{model.name}': {problem.text}")
    return calibration.Samples(
        reader=READER,
        description=samples_of.describe(settings.samples, model, how),
        fingerprint=inspection.fingerprint,
        count=inspection.count,
    )
