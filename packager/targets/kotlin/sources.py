"""The Kotlin sources of a package and the list of its files, laid out as a module of a Gradle project."""

import re
from pathlib import PurePosixPath

from packager.core.values import Sources
from packager.files.installed import templates_folder
from packager.render.templates import render
from packager.targets import signed_list
from packager.targets.kotlin import files, typed, units
from packager.targets.kotlin.view import KotlinView, ModelView, PipelineFileView, RuntimeView, UpdatedModelsView
from packager.targets.pipelines import PipelineView, pipeline_views

KOTLIN_ROOT = PurePosixPath("src/main/kotlin")
RESOURCES_ROOT = PurePosixPath("src/main/resources")
ASSETS_ROOT = PurePosixPath("src/main/assets")
LIBRARIES_ROOT = PurePosixPath("src/main/jniLibs")
MANIFEST = PurePosixPath("src/main/AndroidManifest.xml")
README = PurePosixPath("README.md")
CONSUMER_RULES = PurePosixPath("consumer-rules.pro")
RUNTIME_FILES = (
    "Assignment",
    "Bundle",
    "Calls",
    "Checked",
    "Download",
    "Downloads",
    "Environment",
    "Folder",
    "Info",
    "Json",
    "Loading",
    "Memory",
    "ModelException",
    "ModelFile",
    "ModelLoader",
    "ModelMetrics",
    "ModelObserver",
    "ModelOpener",
    "ModelSession",
    "Options",
    "OwnFile",
    "Policies",
    "Proof",
    "Provider",
    "Reopening",
    "Source",
    "Tensors",
    "TypedModel",
    "Weights",
)
ANDROID_ALONE = ("Pack",)
JAVA_ALONE = ("Context", "Log")
SELF_TEST = ("ProofRecord", "Proving", "SelfTest", "SelfTestingModel")
"""files that only packages with golden vectors have"""
STAGES = "Stages"
"""file that only packages with pipelines have"""
DECRYPTION = "Decryption"
"""file that only packages with `encryption` have"""
TUNING = "Tuning"
"""file that only packages with tuned settings have"""
TRUST = ("Envelope", "Trust")
"""files that only packages with `trust` have"""
DELIVERY = (
    "Attempts",
    "ChannelRelease",
    "ChannelRequest",
    "Delta",
    "ReleaseDownload",
    "Safetensors",
    "Trial",
    "TufClient",
    "TufMetadata",
    "Update",
    "UpdateOptions",
    "UpdateRecord",
    "UpdateState",
    "UpdateStore",
    "UpdatedRelease",
    "UpdatedSource",
)
"""files that only packages with `channel` have"""
UPDATED_MODELS = ("ModelUpdater", "PackagedModels")
"""those of them that name the models"""
FOR_JAVA = "jvm/kotlin"
"""templates of Java's virtual machine: those that take the place of Android's, and those that it has alone"""
OF_ANDROID = re.compile(
    r"^import androidx?\..*\n|^ *@WorkerThread\n|@WorkerThread |, see android\.util\.Half", re.MULTILINE
)
"""lines that Java's virtual machine does without: its packages have a `Context` and a `Log` of their own"""


def module_texts(view: KotlinView) -> dict[PurePosixPath, str]:
    """The Kotlin files with their labels, and the unsigned list of the package's files, by path in the module."""
    root = KOTLIN_ROOT / folder(view)
    is_android = view.runtime.is_android
    texts = {root / f"{model.class_name}.kt": _printed("Model", model, is_android) for model in view.models}
    for each in pipelines_of(view):
        file = PipelineFileView(kotlin_package=view.namespace, is_android=is_android, pipeline=each)
        texts[root / f"{each.class_name}.kt"] = _printed("Pipeline", file, is_android)
    texts |= {
        RESOURCES_ROOT / each.path: each.text for model in view.models if model.typed for each in model.typed.labels
    }
    for name in (*RUNTIME_FILES, *view.typed_files, *_extra_files(view)):
        texts[root / f"{name}.kt"] = _printed(name, view.runtime, is_android)
    named = UpdatedModelsView(kotlin_package=view.namespace, models=view.models)
    for name in UPDATED_MODELS if view.runtime.delivery else ():
        texts[root / f"{name}.kt"] = render(f"android/kotlin/{name}.kt.j2", named)
    return texts | {ASSETS_ROOT / path: text for path, text in signed_list_of(view).items()}


def _printed(name: str, view: ModelView | PipelineFileView | RuntimeView, is_android: bool) -> str:
    """The Kotlin file `name`. Java's virtual machine gets Android's text where it has none of its own."""
    if is_android:
        return render(f"android/kotlin/{name}.kt.j2", view)
    own = f"{FOR_JAVA}/{name}.kt.j2"
    text = render(own if (templates_folder() / own).is_file() else f"android/kotlin/{name}.kt.j2", view)
    return OF_ANDROID.sub("", text).replace("\n\n\n", "\n\n")


def pipelines_of(view: KotlinView) -> tuple[PipelineView, ...]:
    return pipeline_views(view.package.pipelines, typed.methods(view.models))


def _extra_files(view: KotlinView) -> tuple[str, ...]:
    """Files that some packages have."""
    updated = DELIVERY if view.runtime.delivery else ()
    tested = SELF_TEST if view.runtime.has_self_test else ()
    verified = TRUST if view.package.trust else ()
    decrypted = (DECRYPTION,) if view.package.encryption else ()
    staged = (STAGES,) if pipelines_of(view) else ()
    tuned = (TUNING,) if view.runtime.tuned else ()
    platform = ANDROID_ALONE if view.runtime.is_android else JAVA_ALONE
    return (*platform, *tested, *verified, *decrypted, *updated, *staged, *tuned)


def printed(sources: Sources, root: PurePosixPath) -> dict[PurePosixPath, bytes]:
    """Texts below `root` by path from there."""
    return {path.relative_to(root): text.encode() for path, text in sources.texts.items() if path.is_relative_to(root)}


def signed_list_of(view: KotlinView) -> dict[PurePosixPath, str]:
    """The list of the package's files by path below assets/, unsigned; empty for a package without trusted keys."""
    if view.package.trust is None:
        return {}
    folder = files.models_folder(view.package)
    digests = {str(PurePosixPath(asset.path).relative_to(folder)): asset.sha256 for asset in view.assets}
    return {folder / signed_list.NAME: signed_list.unsigned(digests, view.package)}


def kotlin_files(sources: Sources) -> dict[PurePosixPath, str]:
    """The Kotlin files by path below their source root."""
    return {
        path.relative_to(KOTLIN_ROOT): text for path, text in sources.texts.items() if path.is_relative_to(KOTLIN_ROOT)
    }


def module(view: KotlinView, sources: Sources) -> units.Module:
    """A pipeline's class uses those of models: such a package is compiled as a whole."""
    apart = () if pipelines_of(view) else view.models
    return units.Module(
        name=view.namespace,
        onnxruntime=view.runtime.onnxruntime,
        texts=kotlin_files(sources),
        models=[folder(view) / f"{model.class_name}.kt" for model in apart],
        resources=printed(sources, RESOURCES_ROOT),
    )


def folder(view: KotlinView) -> PurePosixPath:
    """Folder of the Kotlin files, below their source root."""
    return PurePosixPath(*view.namespace.split("."))
