"""Templates print what views give: every variable is a field, every field is printed somewhere."""

import re
from dataclasses import fields
from pathlib import PurePosixPath

import pytest
from jinja2 import Environment, meta

from packager.measurement import page, plot
from packager.release import maven
from packager.render import environment, templates_folder
from packager.reporting import views
from packager.runtimes import recipe
from packager.targets.android import aar, gradle, view

VIEWS: dict[str, type] = {
    "android/AndroidManifest.xml.j2": aar.ManifestView,
    "android/consumer-rules.pro.j2": aar.ConsumerRulesView,
    "android/gradle/README.md.j2": gradle.ReadmeView,
    "android/gradle/build.gradle.kts.j2": gradle.BuildView,
    "android/gradle/gradle.properties.j2": gradle.PropertiesView,
    "android/gradle/settings.gradle.kts.j2": gradle.SettingsView,
    "android/kotlin/Model.kt.j2": view.ModelView,
    "android/maven/maven-metadata.xml.j2": maven.MavenMetadataView,
    "android/maven/module.json.j2": maven.ModuleView,
    "android/maven/pom.xml.j2": maven.PomView,
    "report/report.html.j2": views.PageView,
    "report/quantization.html.j2": page.PageView,
    "runtime/requirements.txt.j2": recipe.RequirementsView,
    "runtime/android/Dockerfile.j2": recipe.DockerfileView,
    "runtime/android/README.md.j2": recipe.ReadmeView,
    "runtime/android/build.sh.j2": recipe.BuildView,
    "runtime/ios/README.md.j2": recipe.ReadmeView,
    "runtime/ios/build.sh.j2": recipe.BuildView,
}
SHARED = [
    f"android/kotlin/{name}.kt.j2"
    for name in (
        "Info",
        "ModelException",
        "ModelFile",
        "ModelSession",
        "Options",
        "Provider",
        "SelfTest",
        "Tensors",
        "Weights",
    )
]
"""the files that all models of a package share: together they print RuntimeView"""
NESTED = (
    view.DimensionView,
    view.FileView,
    view.GoldenSampleView,
    view.GoldenTensorView,
    view.GoldenView,
    view.TestedFileView,
    view.ToleranceView,
    view.InputView,
    view.OutputView,
    view.OptionView,
    view.ProviderView,
    view.WeightsView,
    gradle.GradleDependency,
    maven.Attribute,
    maven.Dependency,
    maven.File,
    maven.VariantView,
    recipe.PythonPackage,
    page.ChoiceView,
    page.EvaluationView,
    page.FactView,
    page.LatencyView,
    page.LayerView,
    page.LeftView,
    page.SearchView,
    page.TileView,
    plot.BarView,
    plot.LineView,
    plot.PlotView,
)


def variables(template: str) -> set[str]:
    source = (templates_folder() / template).read_text(encoding="utf-8")
    bare = Environment()  # without jinja's own globals, one of which is called namespace, as a field of ours is
    bare.globals.clear()
    bare.filters = environment().filters
    return meta.find_undeclared_variables(bare.parse(source))


def names(view_class: type) -> set[str]:
    return {field.name for field in fields(view_class)}


def test_every_template_has_a_view() -> None:
    known = {*VIEWS, *SHARED}
    partials = {f"android/_providers/{path.name}" for path in (templates_folder() / "android/_providers").iterdir()}
    found = {path.relative_to(templates_folder()).as_posix() for path in templates_folder().rglob("*.j2")}
    assert found == known | partials | {"report/_style.css.j2"}
    assert {PurePosixPath(name).suffix for name in found} == {".j2"}


@pytest.mark.parametrize("template", VIEWS)
def test_a_template_uses_exactly_the_fields_of_its_view(template: str) -> None:
    assert variables(template) == names(VIEWS[template])


def test_the_shared_kotlin_files_use_exactly_the_fields_of_their_view() -> None:
    used = [variables(template) for template in SHARED]
    assert set().union(*used) == names(view.RuntimeView)


@pytest.mark.parametrize("nested", NESTED)
def test_every_field_of_a_nested_view_is_printed(nested: type) -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in sorted(templates_folder().rglob("*.j2")))
    expressions = " ".join(re.findall(r"\{[{%](.*?)[%}]\}", texts, re.DOTALL))
    unused = {name for name in names(nested) if not re.search(rf"\.{name}\b", expressions)}
    assert unused == set()
