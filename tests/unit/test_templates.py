"""Templates print the values of views: every variable is a field, and every field is printed somewhere."""

import re
from collections.abc import Set
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import PurePosixPath

import pytest
from jinja2 import Environment, meta

from packager.distribution.differences import page as differences
from packager.distribution.packs import apple, play
from packager.files.installed import templates_folder
from packager.measuring.bench import page as bench_page
from packager.measuring.devices import page as device_page
from packager.measuring.devices import xcode_tests
from packager.measuring.devices.farms import app as farm_app
from packager.measuring.fleet import page as fleet_page
from packager.measuring.tuning import page as tune_page
from packager.quantization.measurement import page
from packager.render.pages import bars, layers, parts
from packager.render.templates import environment
from packager.reporting import views
from packager.runtimes import recipe
from packager.targets import golden, maven, pipelines, signed_list, swift_runtime, tuning
from packager.targets.android import aar, gradle
from packager.targets.android import readme as android_readme
from packager.targets.cpp import view as cpp
from packager.targets.flutter import texts as flutter_texts
from packager.targets.flutter import view as flutter
from packager.targets.ios import package as swift_package
from packager.targets.ios import texts as swift_texts
from packager.targets.ios import typed_view as swift_typed
from packager.targets.ios import view as swift
from packager.targets.jvm import readme as jvm_readme
from packager.targets.kotlin import sources as android_sources
from packager.targets.kotlin import view
from packager.targets.node import texts as node_texts
from packager.targets.node import view as node
from packager.targets.python import view as python
from packager.targets.react_native import texts as react_native_texts
from packager.targets.react_native import view as react_native
from packager.targets.typescript import texts as typescript_texts
from packager.targets.typescript import view as npm
from packager.targets.typescript.texts import is_of_one
from packager.targets.web import texts as web_texts
from packager.targets.web import view as web
from packager.workflows.xcode import files as xcode_files
from packager.workflows.xcode import plugin as xcode_plugin

VIEWS: dict[str, type] = {
    "android/AndroidManifest.xml.j2": aar.ManifestView,
    "android/README.md.j2": android_readme.ReadmeView,
    "android/consumer-rules.pro.j2": aar.ConsumerRulesView,
    "android/gradle/README.md.j2": gradle.ReadmeView,
    "android/gradle/build.gradle.kts.j2": gradle.BuildView,
    "android/gradle/gradle.properties.j2": gradle.PropertiesView,
    "android/gradle/settings.gradle.kts.j2": gradle.SettingsView,
    "android/kotlin/Model.kt.j2": view.ModelView,
    "android/kotlin/ModelUpdater.kt.j2": view.UpdatedModelsView,
    "android/kotlin/PackagedModels.kt.j2": view.UpdatedModelsView,
    "android/kotlin/Pipeline.kt.j2": view.PipelineFileView,
    "android/maven/maven-metadata.xml.j2": maven.MavenMetadataView,
    "android/maven/module.json.j2": maven.ModuleView,
    "android/maven/pom.xml.j2": maven.PomView,
    "device_farm/app/AndroidManifest.xml.j2": farm_app.AppView,
    "device_farm/test/AndroidManifest.xml.j2": farm_app.TestView,
    "device_xcode/DeviceTests.xcodeproj/project.pbxproj.j2": xcode_tests.ProjectView,
    "device_xcode/README.md.j2": xcode_tests.XcodeReadmeView,
    "device_xcode/Tests/Models.swift.j2": xcode_tests.ModelsView,
    "device_xcode/Tests/Plan.swift.j2": xcode_tests.PlanView,
    "ios/Module.docc.md.j2": swift.DocumentationView,
    "ios/Package.swift.j2": swift_package.ManifestView,
    "ios/README.md.j2": swift.ReadmeView,
    "ios/SelfTests.swift.j2": swift.TestsView,
    "ios/make-xcframework.sh.j2": swift_package.ScriptView,
    "ios/runtime/Package.swift.j2": swift_runtime.ManifestView,
    "ios/runtime/README.md.j2": swift_runtime.ReadmeView,
    "ios/swift/Model.swift.j2": swift.ModelView,
    "ios/swift/Pipeline.swift.j2": swift.PipelineFileView,
    "jvm/README.md.j2": jvm_readme.JvmReadmeView,
    "packs/build.gradle.kts.j2": play.BuildScript,
    "packs/apple/DownloaderExtension.swift.j2": apple.DownloaderExtension,
    "python/pipeline.py.j2": python.PipelinePage,
    "report/bench.html.j2": bench_page.BenchPageView,
    "report/tune.html.j2": tune_page.TuningPageView,
    "report/tuned.html.j2": tune_page.TuningPartView,
    "report/devices.html.j2": device_page.DevicesPageView,
    "report/device_matrix.html.j2": device_page.DevicePartView,
    "report/fleet.html.j2": fleet_page.FleetPageView,
    "report/report.html.j2": views.ReportPageView,
    "report/differences.html.j2": differences.PageView,
    "report/quantization.html.j2": page.QuantizationPageView,
    "runtime/requirements.txt.j2": recipe.RequirementsView,
    "runtime/android/Dockerfile.j2": recipe.DockerfileView,
    "runtime/android/README.md.j2": recipe.RecipeReadmeView,
    "runtime/android/build.sh.j2": recipe.BuildView,
    "runtime/ios/README.md.j2": recipe.RecipeReadmeView,
    "runtime/ios/build.sh.j2": recipe.BuildView,
    "runtime/web/README.md.j2": recipe.RecipeReadmeView,
    "runtime/web/build.sh.j2": recipe.BuildView,
    "xcode/mobpack-build.sh.j2": xcode_files.XcodeScriptView,
    "xcode/plugin/MobpackPlugin.swift.j2": xcode_plugin.PluginView,
    "xcode/plugin/Package.swift.j2": xcode_plugin.PluginManifestView,
}
SHARED = [
    f"android/kotlin/{name}.kt.j2"
    for name in (
        "Assignment",
        "Bundle",
        "Calls",
        "Checked",
        "Classification",
        "CodePoints",
        "GeneratedText",
        "Box",
        "Detection",
        "Download",
        "Downloads",
        "Environment",
        "Folder",
        "Info",
        "Json",
        "Instance",
        "InstanceMask",
        "Keypoint",
        "Message",
        "RgbaPicture",
        "Loading",
        "Mask",
        "ModelException",
        "ModelFile",
        "ModelLoader",
        "Memory",
        "ModelMetrics",
        "ModelObserver",
        "ModelOpener",
        "ModelSession",
        "NamedValues",
        "Options",
        "Orientation",
        "OwnFile",
        "Pack",
        "Picture",
        "PixelFormat",
        "Plane",
        "Policies",
        "Proof",
        "ProofRecord",
        "Provider",
        "Proving",
        "Reading",
        "Entity",
        "Ranked",
        "Similarity",
        "Reopening",
        "SelfTest",
        "SelfTestingModel",
        "Sound",
        "Source",
        "Stages",
        "Tensors",
        "TypedModel",
        "Tuning",
        "Decryption",
        *android_sources.TRUST,
        *android_sources.DELIVERY,
        "SoundStream",
        "TextLists",
        "Values",
        "Weights",
    )
]
JVM = templates_folder() / android_sources.FOR_JAVA
SHARED += [f"{android_sources.FOR_JAVA}/{path.name}" for path in JVM.iterdir()]
SHARED_SWIFT = [
    "ios/c/inflate.h.j2",
    "ios/c/module.modulemap.j2",
    "ios/c/shim.c.j2",
    *(f"ios/swift/{name}.swift.j2" for name in swift_texts.FILES),
]
SHARED_REACT_NATIVE = [
    str(root / path)
    for root, path in typescript_texts.templates(react_native_texts.ROOT, updates=True)
    if not is_of_one(path)
]
"""the files that all models of a package share: together they print the view of their target"""
SHARED_WEB = [
    str(root / path)
    for root, path in typescript_texts.templates(web_texts.ROOT, updates=True)
    if not is_of_one(path) and path.parts[0] != web_texts.SOURCES
]
SHARED_NODE = [
    str(root / path)
    for root, path in typescript_texts.templates(node_texts.ROOT)
    if not is_of_one(path) and path.parts[0] != node_texts.SOURCES
]
MODELS_NPM = [
    str(root / path)
    for root, path in typescript_texts.templates(react_native_texts.ROOT, updates=True)
    if is_of_one(path) and path.parent.name == "models"
]
"""the same for the files of one model: its types are not where its values are"""
PIPELINES_NPM = [
    str(root / path)
    for root, path in typescript_texts.templates(react_native_texts.ROOT, updates=True)
    if is_of_one(path) and path.parent.name == "pipelines"
]
SHARED_FLUTTER = [
    str(flutter_texts.ROOT / path)
    for path in flutter_texts.found()
    if path.suffix == flutter_texts.TEMPLATE and path not in (flutter_texts.MODEL, flutter_texts.PIPELINE)
]
MODELS_FLUTTER = [str(flutter_texts.ROOT / flutter_texts.MODEL)]
SHARED_PYTHON = ["python/METADATA.j2", "python/README.md.j2", "python/package.py.j2"]
MODELS_PYTHON = ["python/model.py.j2"]
SHARED_CPP = [
    str(path.relative_to(templates_folder()))
    for path in sorted((templates_folder() / "cpp").rglob("*.j2"))
    if not path.name.startswith(("model.", "pipeline."))
]
MODELS_CPP = ["cpp/include/model.h.j2", "cpp/src/model.cpp.j2"]
PIPELINES_CPP = ["cpp/include/pipeline.h.j2", "cpp/src/pipeline.cpp.j2"]
PIPELINES_FLUTTER = [str(flutter_texts.ROOT / flutter_texts.PIPELINE)]
PARTIALS = ("android/_providers", "android/_typed", "jvm/_providers", "ios/_providers", "ios/_typed")
NESTED = (
    flutter.AssetView,
    flutter.FileView,
    flutter.UsageView,
    flutter.GoldenView,
    flutter.LabelsView,
    flutter.ParameterView,
    flutter.ProviderView,
    flutter.ResultView,
    flutter.SettingView,
    flutter.StateView,
    flutter.TensorView,
    flutter.TypedView,
    flutter.WeightsView,
    npm.FileView,
    npm.FlatFile,
    npm.GoldenView,
    npm.OptionView,
    npm.PlatformProvidersView,
    npm.PlatformView,
    npm.ProviderView,
    npm.TensorView,
    npm.WeightsView,
    swift.CoremlView,
    swift_runtime.DependencyView,
    swift.FileView,
    swift.GoldenView,
    swift.InputView,
    swift.OptionView,
    swift.OutputView,
    swift.ProviderView,
    swift.SampleView,
    swift.TestedView,
    swift_typed.GenerationView,
    swift_typed.HeadsView,
    swift_typed.LabelsView,
    swift_typed.ListsView,
    swift_typed.LocalsView,
    swift_typed.ParameterView,
    swift_typed.ResultView,
    swift_typed.StateView,
    swift_typed.TypedView,
    view.FileView,
    golden.GoldenSampleView,
    golden.GoldenTensorView,
    view.GenerationView,
    view.GoldenView,
    golden.TestedFileView,
    golden.ToleranceView,
    view.ArgumentView,
    view.InputView,
    view.OutputView,
    view.OptionView,
    pipelines.ModelMethod,
    pipelines.PipelineView,
    pipelines.StageView,
    view.ParameterView,
    view.ProviderView,
    view.ResultView,
    view.StateView,
    signed_list.TrustView,
    tuning.ChipView,
    tuning.TunedOptionsView,
    tuning.TunedView,
    view.TypedView,
    view.WeightsView,
    view.LabelsView,
    android_readme.Parameter,
    android_readme.Usage,
    jvm_readme.Listed,
    gradle.GradleDependency,
    maven.Attribute,
    maven.Dependency,
    maven.File,
    maven.VariantView,
    recipe.PythonPackage,
    page.LayerChoiceView,
    page.EvaluationView,
    page.QuantizationLatencyView,
    page.LeftView,
    page.SearchView,
    bars.BarView,
    layers.LayersView,
    layers.LayerView,
    layers.LineView,
    layers.PlotView,
    parts.FactView,
    parts.TileView,
    *(
        each
        for each in vars(views).values()
        if is_dataclass(each) and isinstance(each, type) and each is not views.ReportPageView
    ),
)


INCLUDED = (".swift.j2", ".html.j2", ".md.j2", ".sh.j2", ".ts.j2")


def source(template: str) -> str:
    loader = environment().loader
    assert loader
    return loader.get_source(environment(), template)[0]


def variables(template: str) -> set[str]:
    bare = Environment()  # without jinja's own globals, one of which is called namespace, as a field of ours is
    bare.globals.clear()
    bare.filters = environment().filters
    parsed = bare.parse(source(template))
    referenced = (name for name in meta.find_referenced_templates(parsed) if name and "/_providers/" not in name)
    included = {name for name in referenced if name.endswith(INCLUDED)}
    return meta.find_undeclared_variables(parsed).union(*map(variables, included))


def names(view_class: type) -> set[str]:
    return {field.name for field in fields(view_class)}


def test_every_template_has_a_view() -> None:
    known = {
        *VIEWS,
        *SHARED,
        *SHARED_SWIFT,
        *SHARED_REACT_NATIVE,
        *SHARED_WEB,
        *SHARED_NODE,
        *MODELS_NPM,
        *SHARED_FLUTTER,
        *MODELS_FLUTTER,
        *SHARED_PYTHON,
        *MODELS_PYTHON,
        *SHARED_CPP,
        *MODELS_CPP,
        *PIPELINES_CPP,
        *PIPELINES_FLUTTER,
        *PIPELINES_NPM,
    }
    partials = {f"{folder}/{path.name}" for folder in PARTIALS for path in (templates_folder() / folder).iterdir()}
    partials |= {f"report/{path.name}" for path in (templates_folder() / "report").glob("_*")}
    for root in ("react_native", "typescript"):
        folder = templates_folder() / root
        partials |= {f"{root}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("_*.j2")}
    found = {path.relative_to(templates_folder()).as_posix() for path in templates_folder().rglob("*.j2")}
    compiled = {name for name in known if name.endswith(".js.j2")} - found
    assert found == (known - compiled) | partials | {
        "_privacy.md.j2",
        "android/_app.md.j2",
        "android/_files.kt.j2",
        "android/_application.xml.j2",
        "ios/_dependency.swift.j2",
        "jvm/_picture.kt.j2",
        "runtime/_source.sh.j2",
    }
    assert {PurePosixPath(name).suffix for name in found} == {".j2"}


def test_templates_and_nested_views_use_every_field() -> None:
    for template in VIEWS:
        assert variables(template) == names(VIEWS[template])
    for nested in NESTED:
        assert names(nested) - printed_fields() == set()


@pytest.mark.parametrize(
    ("shared", "printed"),
    [
        (SHARED, view.RuntimeView),
        (SHARED_SWIFT, swift.RuntimeView),
        (SHARED_REACT_NATIVE, react_native.NamesView),
        (SHARED_WEB, web.NamesView),
        (SHARED_NODE, node.NamesView),
        (SHARED_FLUTTER, flutter.NamesView),
        (SHARED_PYTHON, python.NamesView),
        (SHARED_CPP, cpp.NamesView),
    ],
)
def test_shared_files_use_exactly_the_fields_of_their_view(shared: list[str], printed: type) -> None:
    used = [variables(template) for template in shared]
    assert set().union(*used) == names(printed)


@pytest.mark.parametrize(
    ("models", "shared", "printed"),
    [
        (MODELS_NPM, SHARED_REACT_NATIVE, npm.ModelView),
        (PIPELINES_NPM, SHARED_REACT_NATIVE, npm.PipelineFileView),
        (MODELS_FLUTTER, SHARED_FLUTTER, flutter.ModelView),
        (MODELS_PYTHON, SHARED_PYTHON, python.ModelView),
        (MODELS_CPP, SHARED_CPP, cpp.ModelView),
        (PIPELINES_CPP, [], cpp.PipelineFileView),
    ],
)
def test_files_of_one_model_and_lists_of_models_use_exactly_the_fields_of_their_view(
    models: list[str], shared: list[str], printed: type
) -> None:
    used = set().union(*map(variables, models))
    texts = "".join(map(source, shared))
    listed = {name for name in names(printed) if re.search(rf"\bmodel(s\[0\])?\.{name}\b", texts)}
    assert used | listed == names(printed)
    assert used


@cache
def printed_fields() -> Set[str]:
    """Names after a dot in expressions of all templates."""
    texts = "".join(path.read_text(encoding="utf-8") for path in sorted(templates_folder().rglob("*.j2")))
    expressions = " ".join(re.findall(r"\{[{%](.*?)[%}]\}", texts, re.DOTALL))
    return frozenset(re.findall(r"\.(\w+)", expressions))
