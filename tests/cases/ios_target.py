"""A Swift package of a small model, rendered and assembled."""

from dataclasses import replace
from pathlib import Path

import pytest

from packager.core.values import Artifact, Plan, Sources
from packager.files.store import Store
from packager.targets.ios import Ios
from packager.targets.ios.view import IosView
from tests.golden.cases import IOS_CASES, Case


def view_of(case: Case) -> IosView:
    assert isinstance(case.target, Ios)
    return case.target.view(case.package, case.plans, case.report, golden=case.golden)


def assembled(case: Case, store: Path) -> tuple[IosView, Sources, Artifact]:
    assert isinstance(case.target, Ios)
    view = view_of(case)
    sources = case.target.render(view)
    artifact, _ = case.target.assemble(view, sources, Store(store))
    return view, sources, artifact


KIT = IOS_CASES["image_classifier"]


def on_disk(case: Case, folder: Path) -> Case:
    """The case with files on disk: packages are made of them."""
    folder.mkdir(parents=True)
    (folder / "golden").write_text("golden vectors")
    golden = {
        key: replace(each, golden=replace(each.golden, path=folder / "golden")) for key, each in case.golden.items()
    }
    return replace(case, plans=tuple(_on_disk(plan, folder) for plan in case.plans), golden=golden)


def _on_disk(plan: Plan, folder: Path) -> Plan:
    choices = []
    for each in plan.choices:
        path = folder / f"{each.compiled.sha256}{each.compiled.path.suffix}"
        path.write_text(f"{each.compiled.style} of {plan.model.name}")
        choices.append(replace(each, compiled=replace(each.compiled, path=path)))
    return replace(plan, choices=tuple(choices))


@pytest.fixture
def kit(tmp_path: Path) -> Case:
    return on_disk(KIT, tmp_path / "files")
