"""The bill of materials of one package."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from packager.core.card import NO_CARD, Card
from packager.core.components import Parts
from packager.core.findings import Parity, Report
from packager.core.values import Package, Plan, distinct_files
from packager.distribution.sbom import card, cyclonedx
from packager.distribution.sbom.card import ShippedModel
from packager.distribution.sbom.cyclonedx import Entry

NOTHING_MEASURED = Report(parities=())


@dataclass(frozen=True, kw_only=True)
class DescribedModels:
    """Facts about the models of a project that are not in their graphs."""

    cards: Mapping[str, Card]
    """by model"""
    recipes: Mapping[str, object]
    """variant -> the keys of its quantizer"""


def bill(
    package: Package, parts: Parts, plans: Sequence[Plan], described: DescribedModels, report: Report = NOTHING_MEASURED
) -> str:
    """The bill of a target's package as CycloneDX JSON; with a `report`, its measurements are in the model cards.

    Without one the text depends on the package's contents alone: measured numbers differ between processors.
    """
    models = list(shipped_models(plans, described, report))
    code = cyclonedx.mobpack()
    libraries = sorted(parts.libraries, key=cyclonedx.reference)
    root = cyclonedx.reference(parts.package)
    needed = [code, *libraries]
    dependencies: dict[str, list[str]] = {
        root: [*(card.reference(each.model) for each in models), *(cyclonedx.reference(each) for each in needed)],
        **{card.reference(each.model): [] for each in models},
        **{cyclonedx.reference(each): [] for each in needed},
    }
    return cyclonedx.document(
        cyclonedx.component(parts.package, **_published(package)),
        [*(card.entry(each, package.version) for each in models), *map(cyclonedx.component, needed)],
        dependencies,
        _tools(),
    )


def shipped_models(plans: Sequence[Plan], described: DescribedModels, report: Report) -> Iterator[ShippedModel]:
    """The models of a package, each with its files and their comparisons."""
    for name in dict.fromkeys(plan.model.name for plan in plans):
        own = [plan for plan in plans if plan.model.name == name]
        files = tuple(sorted(distinct_files(own), key=lambda each: each.sha256))
        variants = {each.variant.name for each in files}
        yield ShippedModel(
            model=own[0].model,
            card=described.cards.get(name, NO_CARD),
            files=files,
            recipes={key: value for key, value in described.recipes.items() if key in variants},
            parities=tuple(_comparisons(name, {each.sha256 for each in files}, report)),
        )


def _comparisons(model: str, files: set[str], report: Report) -> Iterator[Parity]:
    """Comparisons of `files` that ran."""
    for each in report.parities:
        if each.model == model and each.sha256 in files and each.has_run:
            yield each


def _published(package: Package) -> Entry:
    """Keys of an entry from [package]; empty ones are left out of it."""
    addresses = {"website": package.url, "vcs": package.scm}
    return {
        "authors": [{"name": each} for each in package.developers],
        "externalReferences": [{"type": kind, "url": url} for kind, url in addresses.items() if url],
    }


def _tools() -> Iterator[Entry]:
    """The tools that decide about a package's bytes: others, such as onnx, may be of any version."""
    yield cyclonedx.tool("mobpack", cyclonedx.mobpack().version, cyclonedx.mobpack().license)
    yield cyclonedx.tool("onnxruntime", version("onnxruntime"), "MIT")
