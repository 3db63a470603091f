"""The target cpp: a CMake package whose models run on ONNX Runtime's C API."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import chat, components
from packager.core.characters import in_one_line
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.values import Artifact, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments.runtime import shipped_version
from packager.files.hashes import content_sha256
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.render.templates import render
from packager.targets.cpp import model, naming
from packager.targets.cpp.view import CppView, NamesView
from packager.targets.desktop import BringsRuntime
from packager.targets.layouts import copied
from packager.targets.target import TOP, Built, Shipped, artifact, licenses_of
from packager.targets.typescript.tarball import write_tarball
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="cpp", caller=__name__, computed_by=("packager.targets.typescript.tarball",))
MODELS = PurePosixPath("models")


@dataclass(frozen=True, kw_only=True)
class Cpp(BringsRuntime):
    NAME: ClassVar[str] = "cpp"
    LANGUAGE: ClassVar[Language] = Language(
        name="C++", adds_nothing_for=("channel", "encryption", "trust"), has_pipelines=True
    )
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"cmake-package": f"{TOP}{MODELS}/"}
    ABOUT: ClassVar[str] = "a CMake package in C++17 for desktops, servers and boards: docs/cpp.md"

    def published_runtime(self) -> str:
        return f"ONNX Runtime {self.oldest_runtime()} or later"

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> CppView:
        namespace = naming.namespace(package.name)
        staged = (each.name for each in package.pipelines)
        names = naming.files([*(plan.model.name for plan in plans), *staged], namespace)
        oldest = self.oldest_runtime()
        models = tuple(
            model.model_view(plan, package, golden, file=names[plan.model.name], runtime_version=oldest)
            for plan in plans
        )
        licenses = licenses_of(plans)
        return CppView(
            package=package,
            names=NamesView(
                name=package.name,
                cpp_namespace=namespace,
                macro=namespace.upper(),
                version=package.version,
                number=re.split("[-+]", package.version)[0],
                summary=in_one_line(package.description) or f"Models: {', '.join(each.name for each in models)}",
                runtime_version=oldest,
                models=models,
                pipelines=tuple(model.pipeline_file_views(package, models, names)),
                shared=naming.SHARED,
                licenses=tuple(licenses),
                roles=chat.ROLES,
                blanks=tuple(map(ord, chat.BLANKS)),
                chat_start=chat.START,
                chat_end=chat.END,
                out_of_order=chat.OUT_OF_ORDER,
            ),
            files={path: file for plan in plans for path, file in model.files_of(plan, golden).items()},
            licenses=licenses,
        )

    def built(self, view: CppView, plans: tuple[Plan, ...]) -> Built:
        return self.built_with(plans, namespace=view.names.cpp_namespace, dependency=self.published_runtime())

    def render(self, view: CppView) -> Sources:
        names = view.names
        include, source = PurePosixPath("include", names.cpp_namespace), PurePosixPath("src")
        cmake = PurePosixPath("cmake")
        return Sources(
            texts={
                PurePosixPath("CMakeLists.txt"): render("cpp/CMakeLists.txt.j2", names),
                PurePosixPath("README.md"): render("cpp/README.md.j2", names),
                cmake / "onnxruntime.cmake": render("cpp/cmake/onnxruntime.cmake.j2", names),
                cmake / f"{names.cpp_namespace}Config.cmake.in": render("cpp/cmake/config.cmake.in.j2", names),
                include / f"{names.cpp_namespace}.h": render("cpp/include/package.h.j2", names),
                include / "runtime.h": render("cpp/include/runtime.h.j2", names),
                **{include / f"{each.file_name}.h": render("cpp/include/model.h.j2", each) for each in names.models},
                **{source / f"{each.file_name}.cpp": render("cpp/src/model.cpp.j2", each) for each in names.models},
                **{
                    include / f"{each.file_name}.h": render("cpp/include/pipeline.h.j2", each)
                    for each in names.pipelines
                },
                **{
                    source / f"{each.file_name}.cpp": render("cpp/src/pipeline.cpp.j2", each)
                    for each in names.pipelines
                },
                source / "internal.h": render("cpp/src/internal.h.j2", names),
                **{source / f"{each}.cpp": render(f"cpp/src/{each}.cpp.j2", names) for each in names.shared},
            },
            files={
                **{MODELS / path: file for path, file in view.files.items()},
                **{PurePosixPath("licenses", name): file for name, file in view.licenses.items()},
            },
        )

    def parts(self, view: CppView) -> Parts:
        names, terms = view.names, downloads.pins()["licenses"]
        return Parts(
            package=components.generic(names.name, names.version, view.package.license, about=view.package.description),
            libraries=(
                components.generic(
                    "onnxruntime", shipped_version(), terms["onnxruntime"], allowed=f">={names.runtime_version}"
                ),
            ),
        )

    def project(self, view: CppView, sources: Sources, store: Store) -> Sources:
        """The files of the package: CMake's are among them."""
        return sources

    def assemble(
        self, view: CppView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The package as a tarball."""
        announce("pack it")
        stem = stem_of(view)
        entries: dict[PurePosixPath, bytes | Path] = {path: text.encode() for path, text in sources.texts.items()}
        entries.update(sources.files)
        inputs = [stem, {str(path): content_sha256(content) for path, content in entries.items()}]

        def make(folder: Path) -> None:
            write_tarball(folder / f"{stem}.tgz", entries, top=PurePosixPath(stem))

        made = store.results(ASSEMBLY, inputs, make)
        return (artifact(made / f"{stem}.tgz", target=self.NAME, kind="cmake-package"),)

    def layout(self, view: CppView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The tarball."""
        return copied(artifacts, dist, self.NAME)


def stem_of(view: CppView) -> str:
    """Name of the tarball without suffix, and of the folder in it."""
    return f"{view.names.name}-{view.names.version}"
