"""`mobpack diff` calls a change of an interface breaking where the compilers of Dart, Kotlin, Swift and TypeScript
refuse an app that was written for the old one, and nowhere else."""

from dataclasses import replace
from pathlib import Path

from packager.render.templates import write_sources
from tests.cases.diff_compilers import OLD, says_breaking, write
from tests.cases.differences_cases import APPS_IN_DART, CHANGED, FLUTTER, app
from tests.toolchain.dart import configured_package, dart


def test_dart_refuses_the_apps_that_the_verdict_says(tmp_path: Path) -> None:
    view = FLUTTER.view()
    sources = FLUTTER.target.render(replace(view, files={}))
    write_sources(sources, tmp_path)
    configured_package(tmp_path, view.names.pub_name)
    apps = {name: app(APPS_IN_DART, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_DART, each.of, each.name) for each in CHANGED}
    write({f"apps/{name}.dart": text for name, text in apps.items()}, tmp_path)

    done = dart().run(["dart", "analyze", "--format=machine", "lib", "apps"], cwd=tmp_path)

    errors = [line for line in done.output.splitlines() if line.startswith("ERROR|")]
    refused = {each.name for each in CHANGED if says_breaking("Dart", each)}
    assert {Path(line.split("|")[3]).stem for line in errors} == refused, done.output
