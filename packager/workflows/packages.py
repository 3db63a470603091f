"""Packages what was planned and proven: every target first, then the wrappers that include them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from packager import description
from packager.compile.operators import operator_config
from packager.config import SOURCE, Config
from packager.core.components import Parts
from packager.core.console import Announce, Console
from packager.core.findings import Report
from packager.core.values import Package, Plan, Sources, distinct_files
from packager.description import API
from packager.distribution import release, sbom
from packager.distribution.sbom import DescribedModels
from packager.files.store import Store
from packager.quantization.variants import settings_of
from packager.render.templates import write_sources
from packager.runtimes.shipping import Chosen
from packager.targets import SBOM, Built, DefaultProviders, Printed, Shipped, Target, included, layouts
from packager.targets.target import PrintedOf, View
from packager.vectors import Golden
from packager.workflows.requested import BuildRequest, targets_of, wrappers_of


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The contents of a build's packages, proven."""

    package: Package
    plans: tuple[Plan, ...]
    report: Report
    golden: Golden
    runtimes: Mapping[str, Chosen]
    """the project's own, by target"""

    def planned_for(self, target: str, wrapper: str = "") -> tuple[Plan, ...]:
        """The plans of a target, in its own package or inside that of a wrapper, which has plans of its own for some
        models."""
        own = {each.model.name: each for each in self.plans if each.target == target and not each.wrapper}
        inside = {each.model.name: each for each in self.plans if (each.target, each.wrapper) == (target, wrapper)}
        return tuple((own | inside).values())


def package_all(
    contents: Contents, config: Config, request: BuildRequest, staging: Path, store: Store, console: Console
) -> list[Shipped]:
    """Packages every target and wrapper of `request` below `staging`."""
    shipped: list[Shipped] = []
    built: dict[str, Built] = {}
    for name, table in targets_of(config, request.targets).items():
        with console.step(f"package for {name}") as announce:
            plans = contents.planned_for(name)
            target = narrowed(table, plans)
            runtime = contents.runtimes[name].packaged if name in contents.runtimes else None
            view = target.view(contents.package, plans, contents.report, runtime, contents.golden)
            bills = Bills(contents, plans, config)
            shipped += package_target(target, view, bills, staging, store, request, announce)
            shipped += operators_of(target, contents.package, plans, staging)
            if request.emit_ort_package:
                shipped += ort_package(target, plans, staging)
            built[name] = target.built(view, plans)
    for name, wrapper in wrappers_of(config, request.targets).items():
        with console.step(f"package for {name}") as announce:
            needed = included(wrapper, request.targets)
            inside = {each: replace(built[each], plans=contents.planned_for(each, name)) for each in needed}
            view = wrapper.view(contents.package, inside, contents.report, contents.golden)
            bills = Bills(contents, [plan for each in inside.values() for plan in each.plans], config)
            shipped += package_target(wrapper, view, bills, staging, store, request, announce)
    return shipped


def narrowed(target: Target, plans: tuple[Plan, ...]) -> Target:
    """`target` without providers that have no file of any model: apps never see them."""
    used = {choice.provider for each in plans for choice in each.choices}
    kept = tuple(name for name in target.providers if name in used)
    return replace(target, providers=DefaultProviders(kept) if isinstance(target.providers, DefaultProviders) else kept)


@dataclass(frozen=True)
class Bills:
    """Contents of the bills of materials of one target's package, and of the description of its API."""

    contents: Contents
    plans: Sequence[Plan]
    config: Config

    def api(self, target: Printed) -> str:
        """The public API of the package."""
        made = self.contents
        return description.printed(description.describe(made.package, self.plans, made.golden, target))

    def inside(self, parts: Parts) -> str:
        """The bill in the package, which depends on its contents alone."""
        return sbom.bill(self.contents.package, parts, self.plans, described(self.config))

    def beside(self, parts: Parts) -> str:
        """The bill beside the package, with what was measured here."""
        return sbom.bill(self.contents.package, parts, self.plans, described(self.config), self.contents.report)

    def as_spdx(self, parts: Parts) -> str:
        """The same facts as in `beside`, as SPDX 3."""
        return sbom.spdx(self.contents.package, parts, self.plans, described(self.config), self.contents.report)


def described(config: Config) -> DescribedModels:
    """The cards of the models, and how their variants are made."""
    variants = {SOURCE, *config.variant}
    return DescribedModels(
        cards={name: table.card for name, table in config.model.items()},
        recipes={name: settings_of(config.quantizer_of(name)) for name in sorted(variants)},
    )


def package_target(
    target: PrintedOf[View],
    view: View,
    bills: Bills,
    staging: Path,
    store: Store,
    request: BuildRequest,
    announce: Announce,
) -> list[Shipped]:
    """Renders, assembles and lays out one target below `staging`, with the description of its API inside, and its bill
    of materials inside and beside."""
    parts = target.parts(view)
    sources = with_texts(target.render(view), {API: bills.api(target), SBOM: bills.inside(parts)})
    artifacts = target.assemble(view, sources, store, announce)
    announce("lay it out")
    shipped = target.layout(view, artifacts, staging, sources.texts[SBOM])
    shipped.append(layouts.beside(target, shipped, bills.beside(parts), staging))
    if request.emit_spdx:
        shipped.append(layouts.beside(target, shipped, bills.as_spdx(parts), staging, suffix=layouts.SPDX_SUFFIX))
    if request.emit_project:
        write_sources(target.project(view, sources, store), staging / target.NAME / "project")
    return shipped


def with_texts(sources: Sources, texts: Mapping[PurePosixPath, str]) -> Sources:
    return replace(sources, texts=dict(sorted({**sources.texts, **texts}.items())))


def operators_of(target: Target, package: Package, plans: tuple[Plan, ...], staging: Path) -> list[Shipped]:
    """Operator configuration of one target's files, for a reduced build of ONNX Runtime."""
    (staging / target.NAME).mkdir(exist_ok=True)
    config = staging / target.NAME / f"{package.name}-{package.version}.required_operators_and_types.config"
    text = operator_config([each.operators for each in distinct_files(plans)])
    config.write_text(text, encoding="utf-8", newline="\n")
    return [layouts.described(config, staging, target=target.NAME, kind="operator-config")]


def ort_package(target: Target, plans: tuple[Plan, ...], staging: Path) -> list[Shipped]:
    """The target's files as an ORT Model Package, verified with ONNX Runtime's own reader."""
    folder = staging / target.NAME / "ort-package"
    files = release.write_ort_package(folder, [release.component(plan) for plan in plans])
    return [layouts.described(file, staging, target=target.NAME, kind="ort-package") for file in files]
