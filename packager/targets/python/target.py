"""The target python: a wheel whose models run on ONNX Runtime's Python package."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

from packager.core import chat, components
from packager.core.characters import in_one_line
from packager.core.components import Parts
from packager.core.console import Announce, silent
from packager.core.findings import Report
from packager.core.values import Artifact, Package, Plan, Sources
from packager.description import API, Language
from packager.engines.environments.runtime import shipped_version
from packager.files.hashes import content_sha256
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.files.zips import write_zip
from packager.render.templates import render
from packager.targets.desktop import BringsRuntime
from packager.targets.layouts import copied
from packager.targets.python import model, naming
from packager.targets.python.view import NamesView, PythonView
from packager.targets.target import SBOM, Built, Shipped, artifact, licenses_of
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="python", caller=__name__, computed_by=("packager.files.zips",))
RUNTIME = PurePosixPath("_runtime")
"""modules that all models share, below the package"""
MODELS = PurePosixPath("models")


@dataclass(frozen=True, kw_only=True)
class Python(BringsRuntime):
    NAME: ClassVar[str] = "python"
    LANGUAGE: ClassVar[Language] = Language(
        name="Python", adds_nothing_for=("channel", "encryption", "trust"), has_pipelines=True
    )
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"wheel": f"/{MODELS}/"}
    ABOUT: ClassVar[str] = "a wheel for servers and desktops: docs/python.md"
    COMMON: ClassVar[Mapping[str, str]] = {
        '# package = "example-reader"': "on PyPI; the package's name when absent",
    }

    package: str = ""
    """name on PyPI; default: the package's name"""

    def __post_init__(self) -> None:
        """Raises SettingError for invalid values."""
        if self.package:
            naming.distribution("", self.package)
        super().__post_init__()

    def published_runtime(self) -> str:
        return f"onnxruntime>={self.oldest_runtime()}"

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> PythonView:
        distribution = naming.distribution(package.name, self.package)
        module = naming.module(distribution)
        version = naming.version_of(package.version)
        names = naming.modules(plan.model.name for plan in plans)
        models = tuple(
            model.model_view(
                plan,
                package,
                golden,
                module=names[plan.model.name],
                package_module=module,
                runtime_version=self.oldest_runtime(),
            )
            for plan in plans
        )
        pipelines = tuple(model.pipeline_pages(package, models))
        licenses = licenses_of(plans)
        urls = {"Homepage": package.url, "Source": package.scm}
        names_view = NamesView(
            distribution=distribution,
            version=version,
            summary=in_one_line(package.description) or f"Models: {', '.join(each.name for each in models)}",
            license=package.license,
            urls={label: address for label, address in urls.items() if address},
            runtime=self.published_runtime(),
            models=models,
            pipelines=pipelines,
            results=model.RESULTS,
            exported=tuple(sorted(model.exported(models, pipelines))),
            licenses=tuple(licenses),
        )
        return PythonView(
            package=package,
            names=names_view,
            module=module,
            info=f"{module_file(distribution)}-{version}.dist-info",
            files={path: file for plan in plans for path, file in model.files_of(plan, golden).items()},
            licenses=licenses,
        )

    def built(self, view: PythonView, plans: tuple[Plan, ...]) -> Built:
        return self.built_with(plans, namespace=view.module, dependency=view.names.runtime)

    def render(self, view: PythonView) -> Sources:
        home, info = PurePosixPath(view.module), PurePosixPath(view.info)
        runtime = templates_folder() / self.NAME / "runtime"
        return Sources(
            texts={
                home / naming.ENTRY: render("python/package.py.j2", view.names),
                home / "py.typed": "\n",
                **{home / f"{each.module}.py": render("python/model.py.j2", each) for each in view.names.models},
                **{home / f"{each.module}.py": render("python/pipeline.py.j2", each) for each in view.names.pipelines},
                info / "METADATA": render("python/METADATA.j2", view.names),
                info / "WHEEL": "Wheel-Version: 1.0\nGenerator: mobpack\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            },
            files={
                **{home / RUNTIME / file.name: file for file in sorted(runtime.iterdir()) if file.is_file()},
                home / RUNTIME / Path(chat.__file__).name: Path(chat.__file__),
                **{home / MODELS / path: file for path, file in view.files.items()},
                **{info / "licenses" / name: file for name, file in view.licenses.items()},
            },
        )

    def parts(self, view: PythonView) -> Parts:
        names, terms = view.names, downloads.pins()["licenses"]
        return Parts(
            package=components.pypi(names.distribution, names.version, names.license, about=view.package.description),
            libraries=(
                components.pypi("onnxruntime", shipped_version(), terms["onnxruntime"], allowed=names.runtime),
                components.pypi("numpy", "", "BSD-3-Clause", about="the environment's own"),
            ),
        )

    def project(self, view: PythonView, sources: Sources, store: Store) -> Sources:
        """The files of the wheel: nothing is left to build."""
        return sources

    def assemble(
        self, view: PythonView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The wheel, with its bill of materials where PEP 770 has it."""
        announce("compress it")
        name = f"{module_file(view.names.distribution)}-{view.names.version}-py3-none-any.whl"
        places = {SBOM: PurePosixPath(view.info, "sboms") / SBOM, API: PurePosixPath(view.info) / API}
        entries: dict[PurePosixPath, bytes | Path] = {
            places.get(path, path): text.encode() for path, text in sources.texts.items()
        }
        entries.update(sources.files)
        record = PurePosixPath(view.info, "RECORD")
        entries[record] = "".join(f"{line}\n" for line in (*recorded(entries), f"{record},,")).encode()
        inputs = [name, {str(path): content_sha256(content) for path, content in entries.items()}]

        def make(folder: Path) -> None:
            write_zip(folder / name, entries)

        made = store.results(ASSEMBLY, inputs, make)
        return (artifact(made / name, target=self.NAME, kind="wheel"),)

    def layout(self, view: PythonView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        """The wheel for `pip install`."""
        return copied(artifacts, dist, self.NAME)


def module_file(distribution: str) -> str:
    """The name in file names of wheels: `page-orientation` -> `page_orientation`."""
    return "_".join(part for part in distribution.lower().replace("-", "_").replace(".", "_").split("_") if part)


def recorded(entries: Mapping[PurePosixPath, bytes | Path]) -> Iterator[str]:
    """Lines of RECORD: path, hash and size."""
    for path, content in entries.items():
        digest = base64.urlsafe_b64encode(bytes.fromhex(content_sha256(content))).decode().rstrip("=")
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        yield f"{path},sha256={digest},{size}"
