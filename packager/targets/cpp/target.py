"""The target cpp: a CMake package whose models run on ONNX Runtime's C API."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from packager.core import chat, components
from packager.core.characters import in_one_line
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.values import Artifact, Package, Plan, Sources
from packager.description import Language
from packager.engines.environments.runtime import Runtime, shipped_version
from packager.files.hashes import known_sha256
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.render.templates import render
from packager.targets.cpp import model, naming
from packager.targets.cpp.view import CppView, NamesView
from packager.targets.layouts import copied
from packager.targets.target import TOP, Built, RuntimeRange, Shipped, artifact, runtime_range
from packager.targets.typescript.tarball import write_tarball
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="cpp", caller=__name__, computed_by=("packager.targets.typescript.tarball",))
MODELS = PurePosixPath("models")


@dataclass(frozen=True, kw_only=True)
class Cpp:
    NAME: ClassVar[str] = "cpp"
    LANGUAGE: ClassVar[Language] = Language(name="C++", adds_nothing_for=("channel", "encryption", "trust"))
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"cmake-package": f"{TOP}{MODELS}/"}
    VERIFIES: ClassVar[bool] = False
    DECRYPTS: ClassVar[bool] = False
    UPDATES: ClassVar[bool] = False
    VARIES: ClassVar[bool] = False
    ABOUT: ClassVar[str] = "a CMake package in C++17 for desktops, servers and boards: docs/cpp.md"
    COMMON: ClassVar[Mapping[str, str]] = {}
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    variant: str = "source"
    """variant of the models to ship"""
    providers: tuple[()] = ()
    """always empty: apps choose providers at load, and the CPU is the last one"""
    format: Literal["auto", "ort", "onnx"] = "onnx"
    """`onnx`: the unmodified graph, which every provider reads and ONNX Runtime optimizes for the machine at load;
    `auto` and `ort`: ORT format, which small boards map instead of reading it"""
    prepacking: Literal["auto", "on", "off"] = "on"
    """whether the CPU prepacks weights at load: a second copy in memory, for runs that are faster; `auto` does where
    the target is `android`, `ios` or `web`"""
    float16: Literal["onnx", "float32"] = "onnx"
    """form of float16 models: with `onnx` the runtime, which has few kernels for 16 bits, converts them at load;
    `float32` ships 32 bits"""
    runtime_range: str = ""
    """oldest minor version of ONNX Runtime that an app may have, for example `1.27`: the build loads every file in each
    release from there on; default: the release that the package was checked with, or a newer one"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        self.allowed_runtimes()

    @property
    def soc_models(self) -> tuple[str, ...]:
        """Always empty: no file is for one chip."""
        return ()

    @property
    def environment(self) -> str:
        return Runtime.NAME

    @property
    def no_float64(self) -> str:
        """Always empty: ONNX Runtime for desktops has them."""
        return ""

    def published_runtime(self) -> str:
        return f"ONNX Runtime {self._oldest_runtime()} or later"

    def _oldest_runtime(self) -> str:
        allowed = self.allowed_runtimes()
        return allowed.releases[0] if allowed else shipped_version()

    def allowed_runtimes(self) -> RuntimeRange | None:
        """Raises SettingError for a range that cannot be proved."""
        return runtime_range(self.runtime_range, shipped_version())

    def outside(self) -> str:
        """mobpack makes the package by itself; apps compile it."""
        return ""

    def refuse_without_tools(self) -> None:
        """mobpack makes the package by itself; apps compile it."""

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> CppView:
        namespace = naming.namespace(package.name)
        names = naming.files((plan.model.name for plan in plans), namespace)
        oldest = self._oldest_runtime()
        models = tuple(
            model.model_view(plan, package, golden, file=names[plan.model.name], runtime_version=oldest)
            for plan in plans
        )
        licenses = {
            f"LICENSE-{plan.model.name}.txt": plan.model.license_file for plan in plans if plan.model.license_file
        }
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
        return Built(
            target=self.NAME,
            plans=plans,
            providers=(),
            variant=self.variant,
            namespace=view.names.cpp_namespace,
            oldest_system="",
            runtime_version=shipped_version(),
            dependency=self.published_runtime(),
            own=None,
            runtime_range=self.allowed_runtimes(),
        )

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
        inputs = [stem, {str(path): _key_of(content) for path, content in entries.items()}]

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


def _key_of(content: bytes | Path) -> str:
    return known_sha256(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest()
