"""The target jvm: a jar for Java and Kotlin on servers and desktops, over ONNX Runtime's Java package."""

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import components
from packager.core.characters import in_one_line
from packager.core.class_names import class_name
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.names import EXAMPLE_GROUP
from packager.core.values import Artifact, Model, Package, Plan, Sources
from packager.description import API, Language
from packager.files.hashes import known_sha256
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.files.zips import Content, read_entry, write_zip
from packager.targets import maven
from packager.targets.desktop import BringsRuntime
from packager.targets.jvm.providers import KNOWN
from packager.targets.jvm.readme import readme
from packager.targets.kotlin import files, kotlin, sources, tensors, typed, units
from packager.targets.kotlin.golden import golden_views
from packager.targets.kotlin.javadoc import write_javadoc
from packager.targets.kotlin.names import ONNXRUNTIME
from packager.targets.kotlin.packages import all_assets, licenses, namespace_of, refuse_group
from packager.targets.kotlin.view import KotlinView, ModelView, RuntimeView
from packager.targets.layouts import copied, described
from packager.targets.target import SBOM, Built, Shipped, artifact
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(
    name="jvm",
    caller=__name__,
    computed_by=(
        "packager.files.zips",
        "packager.targets.kotlin.javadoc",
        "packager.targets.kotlin.kotlin",
        "packager.targets.kotlin.sources",
        "packager.targets.kotlin.units",
    ),
    templates=("android/stubs",),
)
META_INF = PurePosixPath("META-INF")
README = PurePosixPath("README.md")
CPU = "CPU"
"""constant of the enum Provider"""
LINE_BYTES = 70
"""of a line in a manifest of Java's, which may have 72 with its end"""


@dataclass(frozen=True, kw_only=True)
class Jvm(BringsRuntime):
    NAME: ClassVar[str] = "jvm"
    LANGUAGE: ClassVar[Language] = Language(
        name="Kotlin and Java",
        adds_nothing_for=("channel", "encryption", "trust"),
        has_pipelines=True,
        has_sizes=True,
        may_omit_labels=True,
        has_own_self_tests=True,
    )
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"jar": "/mobpack/"}
    ABOUT: ClassVar[str] = "a jar for servers and desktops: docs/jvm.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        f'group = "{EXAMPLE_GROUP}"': "Maven group and start of the Kotlin package",
        '# variant = "small"': "which numbers ship; the model's own when absent",
    }

    group: str = EXAMPLE_GROUP
    """Maven group; with the package's name it forms the package of the Kotlin classes. The artifact is the package's
    name with `-jvm`"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        refuse_group(self.group)
        super().__post_init__()

    def published_runtime(self) -> str:
        """Maven coordinates of the ONNX Runtime that the package depends on."""
        return downloads.pins()["jvm"]["onnxruntime"]

    def checked_runtime(self) -> str:
        return self.published_runtime().rpartition(":")[2]

    def refuse_without_tools(self) -> None:
        """Looks for the program that compiles Kotlin."""
        kotlin.find_compiler()

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> KotlinView:
        namespace = namespace_of(self.group, package)
        models = [plan.model for plan in plans]
        variants = {plan.model.name: plan.variants for plan in plans}
        laid_out = files.lay_out(plans, package, is_android=False)
        tested = {name: golden_views(name, each, package, golden) for name, each in laid_out.items()}
        for_any = (*(each.constant for each in KNOWN), CPU)

        def model_view(model: Model) -> ModelView:
            view = tensors.model_view(
                model,
                package,
                files=tuple(replace(each, providers=for_any) for each in laid_out[model.name].views),
                golden=tested[model.name],
                kotlin_package=namespace,
                class_name=class_name(model.name),
                runtime_version=self.checked_runtime(),
                onnxruntime=ONNXRUNTIME,
                reshaped=report.reshaped_outputs(model.name, self.variant, *variants[model.name]),
            )
            return typed.with_contract(replace(view, is_android=False), model.contract)

        typed_files = typed.files(model.contract for model in models)
        return KotlinView(
            package=package,
            group=self.group,
            namespace=namespace,
            runtime=RuntimeView(
                kotlin_package=namespace,
                is_android=False,
                onnxruntime=ONNXRUNTIME,
                providers=KNOWN,
                library="",
                has_self_test=any(tested.values()),
            ),
            models=tuple(model_view(model) for model in models),
            typed_files=(*typed_files, *(["Images"] if "Picture" in typed_files else [])),
            assets=all_assets(laid_out, tested),
            licenses=licenses(plans),
            onnxruntime=self.published_runtime(),
            libraries=kotlin.libraries(),
            allowed_runtimes=self.allowed_runtimes(),
        )

    def built(self, view: KotlinView, plans: tuple[Plan, ...]) -> Built:
        return self.built_with(plans, namespace=view.namespace, dependency=self.published_runtime())

    def render(self, view: KotlinView) -> Sources:
        """Texts and models, laid out as a module of a Maven project."""
        package = view.package
        summary = in_one_line(package.description) or f"Models: {', '.join(each.name for each in view.models)}"
        texts = {**sources.module_texts(view), README: readme(view, _artifact(view), summary)}
        return Sources(
            texts=dict(sorted(texts.items())),
            files={sources.RESOURCES_ROOT / asset.path: asset.file for asset in view.assets},
        )

    def parts(self, view: KotlinView) -> Parts:
        terms = downloads.pins()["licenses"]
        allowed = view.allowed_runtimes.maven if view.allowed_runtimes else ""
        own = components.maven(f"{view.group}:{_artifact(view)}:{view.package.version}", "")
        return Parts(
            package=replace(own, license=view.package.license, about=view.package.description),
            libraries=(
                components.maven(view.onnxruntime, terms["onnxruntime"], allowed=allowed),
                *(components.maven(library, terms["kotlin"]) for library in view.libraries),
            ),
        )

    def project(self, view: KotlinView, sources: Sources, store: Store) -> Sources:
        """The sources in the folders that Maven and Gradle look for them in."""
        return sources

    def assemble(
        self, view: KotlinView, given: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The jar, and those of its sources and its documentation."""
        stem = f"{_artifact(view)}-{view.package.version}"
        inputs = [
            stem,
            {str(path): text for path, text in given.texts.items()},
            {str(path): known_sha256(file) for path, file in given.files.items()},
            {each.name: known_sha256(each.file) for each in view.licenses},
            kotlin.compiler_version(),
            kotlin.stubs(),
        ]

        entries = _entries(view, given)

        def make(folder: Path) -> None:
            announce("compile its Kotlin")
            with store.scratch() as work:
                classes = units.write_classes(work / "classes.jar", sources.module(view, given), store)
                write_zip(folder / f"{stem}.jar", {**_classes(classes), **entries})
            texts = {path: text.encode() for path, text in sources.kotlin_files(given).items()}
            written = write_zip(folder / f"{stem}-sources.jar", texts)
            write_javadoc(folder / f"{stem}-javadoc.jar", f"{view.group}:{stem}", written)

        made = store.results(ASSEMBLY, inputs, make)
        names = {"jar": f"{stem}.jar", "sources-jar": f"{stem}-sources.jar", "javadoc-jar": f"{stem}-javadoc.jar"}
        return tuple(artifact(made / name, target=self.NAME, kind=kind) for kind, name in names.items())

    def layout(self, view: KotlinView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The jars, and a Maven repository with them."""
        by_kind = {each.kind: each.path for each in artifacts}
        allowed = view.allowed_runtimes.maven if view.allowed_runtimes else ""
        written = maven.write_repository(
            dist / "maven",
            coordinates=maven.Coordinates(group=view.group, artifact=_artifact(view), version=view.package.version),
            package=view.package,
            library=by_kind["jar"],
            sources_jar=by_kind["sources-jar"],
            javadoc_jar=by_kind["javadoc-jar"],
            dependencies=(
                maven.dependency(view.onnxruntime, scope=maven.Scope.RUNTIME, allowed=allowed),
                *(maven.dependency(library, scope=maven.Scope.COMPILE) for library in view.libraries),
            ),
            sbom=sbom,
        )
        suffixes = {f".{algorithm}" for algorithm in maven.ALGORITHMS}
        found = [
            described(path, dist, target=self.NAME, kind="maven") for path in written if path.suffix not in suffixes
        ]
        return [*copied(artifacts, dist, self.NAME), *found]


def _artifact(view: KotlinView) -> str:
    """Android's library of the package has its name alone, and one repository may have both."""
    return f"{view.package.name}-jvm"


def _classes(jar: Path) -> Mapping[PurePosixPath, Content]:
    with zipfile.ZipFile(jar) as archive:
        return {PurePosixPath(name): read_entry(archive, name) for name in archive.namelist()}


def _entries(view: KotlinView, given: Sources) -> Mapping[PurePosixPath, Content]:
    """The content of the jar besides its classes: models, and the texts about the package in a folder of its own in
    META-INF, which other jars do not have."""
    home = META_INF / view.namespace
    return {
        META_INF / "MANIFEST.MF": _manifest(view).encode(),
        **{path.relative_to(sources.RESOURCES_ROOT): file for path, file in given.files.items()},
        **{home / path.name: given.texts[path].encode() for path in (README, API, SBOM) if path in given.texts},
        **{home / each.name: each.file for each in view.licenses},
    }


def _manifest(view: KotlinView) -> str:
    """An automatic module: ONNX Runtime is one, and modules that name others must not depend on those."""
    fields = {
        "Manifest-Version": "1.0",
        "Automatic-Module-Name": view.namespace,
        "Implementation-Title": view.package.name,
        "Implementation-Version": view.package.version,
    }
    return "".join(f"{_folded(f'{key}: {value}')}\r\n" for key, value in fields.items()) + "\r\n"


def _folded(line: str) -> str:
    """A long line goes on in the next, which begins with a space."""
    parts = [line[at : at + LINE_BYTES - 1] for at in range(0, len(line), LINE_BYTES - 1)]
    return "\r\n ".join(parts)
