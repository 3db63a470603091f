"""`mobpack diff` calls a change of an interface breaking where the compilers of Dart, Kotlin, Swift and TypeScript
refuse an app that was written for the old one, and nowhere else."""

from pathlib import Path

from packager.render.templates import write_sources
from tests.cases.diff_compilers import OLD, files_with_errors, says_breaking
from tests.cases.differences_cases import APPS_IN_TYPESCRIPT, CHANGED, REACT_NATIVE, app
from tests.cases.react_native_typescript import code_of
from tests.toolchain import typescript


def test_typescript_refuses_the_apps_that_the_verdict_says(tmp_path: Path) -> None:
    write_sources(code_of(REACT_NATIVE.sources()), tmp_path / "rendered")
    place = typescript.workplace({"package": tmp_path / "rendered" / "lib"}, tmp_path / "work")
    apps = {name: app(APPS_IN_TYPESCRIPT, name, name) for name in OLD}
    apps |= {each.name: app(APPS_IN_TYPESCRIPT, each.of, each.name) for each in CHANGED}
    for name, text in apps.items():
        (place.src / f"{name}.ts").write_text(text, encoding="utf-8")

    done = place.compile({"noEmit": True})

    refused = {each.name for each in CHANGED if says_breaking("TypeScript", each)}
    assert files_with_errors(done.stdout) == refused, done.output
