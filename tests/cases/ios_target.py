"""iOS: a Swift package is whole, states its requirements, and has the same bytes every time."""

from pathlib import Path

from packager.core.values import Artifact, Sources
from packager.files.store import Store
from packager.targets.ios import Ios
from packager.targets.ios.view import IosView
from tests.golden.cases import Case


def view_of(case: Case) -> IosView:
    assert isinstance(case.target, Ios)
    return case.target.view(case.package, case.plans, case.report, golden=case.golden)


def assembled(case: Case, store: Path) -> tuple[IosView, Sources, Artifact]:
    assert isinstance(case.target, Ios)
    view = view_of(case)
    sources = case.target.render(view)
    artifact, _ = case.target.assemble(view, sources, Store(store))
    return view, sources, artifact
