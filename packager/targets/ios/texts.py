"""Swift, C and documentation files of a package, with their templates."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import get_args

from packager.core.contract import (
    AudioInput,
    BoxesOutput,
    EmbeddingOutput,
    ImageInput,
    InstancesOutput,
    PairsOutput,
    TextInput,
    TypedOutput,
)
from packager.core.described import Plain
from packager.render.templates import render
from packager.targets.ios import package
from packager.targets.ios.view import DocumentationView, IosView, ReadmeView, TestsView
from packager.targets.xcframework.packaged import PackagedFramework

SHARED = (
    "Assignment",
    "Cancellation",
    "Checksum",
    "Download",
    "Frames",
    "Half",
    "Info",
    "Locks",
    "MappedBytes",
    "Metrics",
    "ModelError",
    "ModelFile",
    "ModelOpener",
    "ModelSession",
    "Number",
    "Observer",
    "OnnxRuntime",
    "Options",
    "Pack",
    "Policies",
    "Provider",
    "Reopening",
    "Resources",
    "Results",
    "Session",
    "SessionSettings",
    "Shape",
    "Source",
    "Tensor",
    "Texts",
    "Threads",
    "Transfer",
    "TypedModel",
)
"""files that all models of a package share"""
COREML = ("CoreMLOptions",)
"""files of packages with CoreML"""
SELF_TEST = ("Samples", "SelfTest")
"""files of packages with golden vectors"""
ENCRYPTION = ("Decryption",)
"""files of packages that decrypt models"""
TRUST = ("Trust",)
"""files of packages that verify signatures"""
DELIVERY = (
    "Attempts",
    "Channel",
    "ChannelRelease",
    "ChannelRequest",
    "Delta",
    "DeviceConditions",
    "DurableFiles",
    "Inflate",
    "ModelUpdater",
    "Presence",
    "ReleaseDownload",
    "SampleFile",
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
"""files of packages that take models from a channel"""
PROOF = ("DurableFiles", "Presence", "Proof", "ProofRecord", "Prover")
"""files of packages that can prove providers"""
TUNING = ("Tuning",)
"""files of packages with tuned settings"""
LABELS = ("Labels",)
"""files of packages with labels"""
BESIDE: Mapping[type, tuple[str, ...]] = {
    BoxesOutput: ("Box",),
    InstancesOutput: ("Box", "InstanceMask"),
    EmbeddingOutput: ("Similarity", "Ranked"),
    PairsOutput: ("Ranked",),
}
"""types of values beside that of the result, by output kind"""


def _type(kind: type[TypedOutput]) -> tuple[str, ...]:
    made = kind.DESCRIBED.type
    return () if isinstance(made, Plain) else (made,)


VALUES: Mapping[type, tuple[str, ...]] = {
    ImageInput: ("Picture", "PixelFormat", "Orientation", "Region", "YuvConversion"),
    AudioInput: ("Sound",),
    **{kind: (*_type(kind), *BESIDE.get(kind, ())) for kind in get_args(TypedOutput)},
}
"""types that apps use, by kind"""
OF_KINDS: Mapping[type, tuple[str, ...]] = {
    ImageInput: ("Chroma", "Picture", "Pixels", "SystemPictures"),
    AudioInput: ("Sound",),
    TextInput: ("CodePoints",),
    **{
        kind: (
            *VALUES[kind],
            *(LABELS if kind.DESCRIBED.lines else ()),
            *(("GeneratedText",) if kind.DESCRIBED.type is Plain.TEXTS else ()),
        )
        for kind in get_args(TypedOutput)
    },
}
"""files of packages with a contract of that kind"""
OF_LISTS = ("TextLists",)
"""files of packages with a model that takes several texts in a run"""
OF_STREAMS = ("SoundStream",)
"""files of packages with a model that takes a sound piece by piece"""
OF_PIPELINES = ("Stages",)
"""files of packages with pipelines"""
OF_CHATS = ("Message",)
"""files of packages with a model that takes conversations"""
ALWAYS = (*SHARED, *COREML, *SELF_TEST)
"""names of files that no model's class may have"""
FILES = (
    *dict.fromkeys(
        (*ALWAYS, *TRUST, *ENCRYPTION, *DELIVERY, *PROOF, *TUNING, *OF_LISTS, *OF_CHATS, *OF_STREAMS, *OF_PIPELINES)
    ),
    *dict.fromkeys(name for names in OF_KINDS.values() for name in names),
)
"""names of all files"""


def texts(view: IosView) -> dict[PurePosixPath, str]:
    """Sources of the package by path."""
    home, shared = package.sources(view.runtime.module), view.runtime
    printed = {home / f"{model.class_name}.swift": render("ios/swift/Model.swift.j2", model) for model in view.models}
    for each in view.pipelines:
        printed[home / f"{each.pipeline.class_name}.swift"] = render("ios/swift/Pipeline.swift.j2", each)
    for name in shared_files(view):
        printed[home / f"{name}.swift"] = render(f"ios/swift/{name}.swift.j2", shared)
    c_home = package.sources(shared.c_module)
    printed[c_home / "shim.c"] = render("ios/c/shim.c.j2", shared)
    printed[c_home / "include" / "module.modulemap"] = render("ios/c/module.modulemap.j2", shared)
    if shared.delivery:
        printed[c_home / "include" / "inflate.h"] = render("ios/c/inflate.h.j2", shared)
    tests = TestsView(module=shared.module, models=view.models)
    printed[package.tests(shared.module) / "SelfTests.swift"] = render("ios/SelfTests.swift.j2", tests)
    printed[home / f"{shared.module}.docc" / f"{shared.module}.md"] = _documentation(view)
    printed[PurePosixPath("README.md")] = _readme(view)
    return printed


def shared_files(view: IosView) -> tuple[str, ...]:
    decrypted = ENCRYPTION if view.runtime.is_encrypted else ()
    tuned = TUNING if view.runtime.tuned else ()
    tests = SELF_TEST if view.runtime.has_self_test else ()
    optional = (*(COREML if view.runtime.uses_coreml else ()), *tests)
    verified = (*(TRUST if view.runtime.trust else ()), *(DELIVERY if view.runtime.delivery else ()))
    lists = OF_LISTS if any(contract.is_batch for contract in view.contracts) else ()
    chats = OF_CHATS if any(each.generated and each.generated.chat for each in view.contracts) else ()
    streams = OF_STREAMS if any(contract.streamed for contract in view.contracts) else ()
    staged = OF_PIPELINES if view.pipelines else ()
    proved = PROOF if view.runtime.has_proof else ()
    kinds = _of_kinds(view, OF_KINDS)
    every = (*SHARED, *optional, *verified, *proved, *decrypted, *tuned, *kinds, *lists, *chats, *streams, *staged)
    return tuple(dict.fromkeys(every))


def _of_kinds(view: IosView, names: Mapping[type, tuple[str, ...]]) -> tuple[str, ...]:
    """Names of the kinds that the models' contracts have."""
    kinds = [type(each) for contract in view.contracts for each in (*contract.inputs, *contract.outputs)]
    return tuple(dict.fromkeys(name for kind, each in names.items() if kind in kinds for name in each))


def _has_self_test(view: IosView) -> bool:
    return any(model.golden for model in view.models)


def _documentation(view: IosView) -> str:
    return render(
        "ios/Module.docc.md.j2",
        DocumentationView(
            module=view.runtime.module,
            uses_coreml=view.runtime.uses_coreml,
            has_self_test=_has_self_test(view),
            values=_of_kinds(view, VALUES),
            models=view.models,
            pipelines=view.pipelines,
        ),
    )


def _readme(view: IosView) -> str:
    return render(
        "ios/README.md.j2",
        ReadmeView(
            package=view.package.name,
            module=view.runtime.module,
            description=view.package.description,
            runtime_folder=view.dependency.identity if view.has_runtime else "",
            runtime_version=view.framework.version,
            min_ios=view.min_ios,
            min_macos=view.min_macos,
            uses_coreml=view.runtime.uses_coreml,
            has_static_frameworks=view.has_runtime and _has_static_frameworks(view.own),
            is_runtime_unknown=view.own is not None and view.own.folder is None,
            has_self_test=_has_self_test(view),
            has_pictures=view.runtime.has_pictures,
            channel=view.runtime.delivery.channel if view.runtime.delivery else "",
            models=view.models,
            pipelines=view.pipelines,
        ),
    )


def _has_static_frameworks(own: PackagedFramework | None) -> bool:
    """Whether ONNX Runtime consists of static frameworks, which Xcode copies into apps; the published one does."""
    if own is None:
        return True
    return own.linkage == "static" and own.folder is not None and any(own.folder.glob("*/*.framework"))
