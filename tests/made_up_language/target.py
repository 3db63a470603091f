"""The target snake: a wheel whose models run on ONNX Runtime's Python API."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar, Literal

from packager.core.characters import in_one_line
from packager.core.class_names import class_name
from packager.core.components import Parts, pypi
from packager.core.console import Announce, silent
from packager.core.contract import TensorInput, TypedOutput
from packager.core.described import Plain
from packager.core.errors import ModelError
from packager.core.findings import Report
from packager.core.strict_tables import STRICT
from packager.core.values import Artifact, ElementType, Model, Package, Plan, Sources, TensorSpec
from packager.description import API, Language
from packager.engines.environments.runtime import Runtime, shipped_version
from packager.files.hashes import sha256_of
from packager.files.installed import templates_folder
from packager.files.processes import downloads
from packager.files.store import Step, Store
from packager.files.zips import write_zip
from packager.render.templates import render
from packager.targets.layouts import copied
from packager.targets.target import SBOM, Built, RuntimeRange, Shipped, artifact
from packager.vectors import NO_VECTORS, Golden

ASSEMBLY = Step(name="snake", caller=__name__, computed_by=("packager.files.zips",))
COPIED = ("opening.py", "results.py")
"""modules of every package"""
RESULTS = {"Classification"}
"""types of results.py"""
PLAIN = {Plain.NUMBER: "float", Plain.NUMBERS: "NDArray[numpy.float32]"}
NUMBERS = {ElementType.FLOAT: "float32", ElementType.DOUBLE: "float64", ElementType.BOOL: "bool_"}
"""NumPy's names of element types where they differ from those of ONNX"""


@dataclass(frozen=True, kw_only=True)
class TensorView:
    key: str
    """name in the graph, as a literal"""
    identifier: str
    type: str


@dataclass(frozen=True, kw_only=True)
class MethodView:
    verb: str
    about: str
    type: str
    value: str


@dataclass(frozen=True, kw_only=True)
class ModelView:
    module: str
    class_name: str
    about: str
    file: str
    sha256: str
    inputs: tuple[TensorView, ...]
    outputs: tuple[TensorView, ...]
    method: MethodView | None


@dataclass(frozen=True, kw_only=True)
class SnakeView:
    package: Package
    module: str
    name: str
    version: str
    about: str
    runtime: str
    info: str
    models: tuple[ModelView, ...]
    files: Mapping[str, Path]


@dataclass(frozen=True, kw_only=True)
class Snake:
    NAME: ClassVar[str] = "snake"
    LANGUAGE: ClassVar[Language] = Language(name="Snake")
    REVISION: ClassVar[tuple[int, int]] = (1, 0)
    MODELS_IN: ClassVar[Mapping[str, str]] = {"wheel": "/models/"}
    VERIFIES: ClassVar[bool] = False
    DECRYPTS: ClassVar[bool] = False
    UPDATES: ClassVar[bool] = False
    VARIES: ClassVar[bool] = False
    ABOUT: ClassVar[str] = "a wheel"
    COMMON: ClassVar[Mapping[str, str]] = {}
    __pydantic_config__: ClassVar[Mapping[str, object]] = STRICT

    variant: str = "source"
    """variant of the models to ship"""
    providers: tuple[()] = ()
    """providers that run the models before the CPU: none"""
    format: Literal["ort"] = "ort"
    """format of the models' files"""
    prepacking: Literal["auto", "on", "off"] = "auto"
    """whether the CPU prepacks weights at load"""

    @property
    def float16(self) -> str:
        return "float32"

    @property
    def soc_models(self) -> tuple[str, ...]:
        return ()

    @property
    def environment(self) -> str:
        return Runtime.NAME

    @property
    def no_float64(self) -> str:
        return ""

    def published_runtime(self) -> str:
        return f"onnxruntime=={shipped_version()}"

    def allowed_runtimes(self) -> RuntimeRange | None:
        return None

    def outside(self) -> str:
        return ""

    def refuse_without_tools(self) -> None:
        """mobpack makes the wheel by itself."""

    def view(
        self,
        package: Package,
        plans: tuple[Plan, ...],
        report: Report,
        runtime: None = None,
        golden: Golden = NO_VECTORS,
    ) -> SnakeView:
        module = snake_case(package.name)
        return SnakeView(
            package=package,
            module=module,
            name=package.name,
            version=package.version,
            about=in_one_line(package.description),
            runtime=self.published_runtime(),
            info=f"{module}-{package.version}.dist-info",
            models=tuple(model_view(plan) for plan in plans),
            files={file_of(plan): plan.cpu.path for plan in plans},
        )

    def built(self, view: SnakeView, plans: tuple[Plan, ...]) -> Built:
        return Built(
            target=self.NAME,
            plans=plans,
            providers=(),
            variant=self.variant,
            namespace=view.module,
            oldest_system="",
            runtime_version=shipped_version(),
            dependency=view.runtime,
            own=None,
        )

    def render(self, view: SnakeView) -> Sources:
        home, info = PurePosixPath(view.module), PurePosixPath(view.info)
        folder = templates_folder() / self.NAME
        return Sources(
            texts={
                home / "__init__.py": render("snake/package.py.j2", view),
                **{home / f"{each.module}.py": render("snake/model.py.j2", each) for each in view.models},
                info / "METADATA": render("snake/METADATA.j2", view),
                info / "WHEEL": "Wheel-Version: 1.0\nGenerator: mobpack\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            },
            files={
                **{home / name: folder / name for name in COPIED},
                **{home / "models" / name: file for name, file in view.files.items()},
            },
        )

    def parts(self, view: SnakeView) -> Parts:
        return Parts(
            package=pypi(view.name, view.version, view.package.license),
            libraries=(pypi("onnxruntime", shipped_version(), downloads.pins()["licenses"]["onnxruntime"]),),
        )

    def project(self, view: SnakeView, sources: Sources, store: Store) -> Sources:
        return sources

    def assemble(
        self, view: SnakeView, sources: Sources, store: Store, announce: Announce = silent
    ) -> tuple[Artifact, ...]:
        """The wheel, with the bill of materials where PEP 770 has it."""
        name = f"{view.module}-{view.version}-py3-none-any.whl"
        places = {SBOM: PurePosixPath(view.info, "sboms") / SBOM, API: PurePosixPath(view.info) / API}
        entries: dict[PurePosixPath, bytes | Path] = {
            places.get(path, path): text.encode() for path, text in sources.texts.items()
        }
        entries.update(sources.files)
        hashes = {str(path): digest(content) for path, content in entries.items()}
        record = [*(f"{path},sha256={value}," for path, value in hashes.items()), f"{view.info}/RECORD,,"]
        entries[PurePosixPath(view.info, "RECORD")] = "\n".join([*record, ""]).encode()
        made = store.results(ASSEMBLY, [name, hashes], lambda folder: write(folder / name, entries))
        return (artifact(made / name, target=self.NAME, kind="wheel"),)

    def layout(self, view: SnakeView, artifacts: Sequence[Artifact], dist: Path, sbom: str = "") -> list[Shipped]:
        return copied(artifacts, dist, self.NAME)


def write(path: Path, entries: Mapping[PurePosixPath, bytes | Path]) -> None:
    write_zip(path, entries)


def digest(content: bytes | Path) -> str:
    """As a wheel's RECORD has it."""
    raw = bytes.fromhex(sha256_of(content)) if isinstance(content, Path) else hashlib.sha256(content).digest()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def snake_case(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower())


def file_of(plan: Plan) -> str:
    return f"{plan.model.name}.{plan.cpu.format}"


def model_view(plan: Plan) -> ModelView:
    """Raises ModelError for a contract that this language has no words for yet."""
    model = plan.model
    return ModelView(
        module=snake_case(model.name),
        class_name=class_name(model.name),
        about=f"The model {model.name}.",
        file=file_of(plan),
        sha256=plan.cpu.sha256,
        inputs=tuple(map(tensor_view, model.signature.inputs)),
        outputs=tuple(map(tensor_view, model.signature.outputs)),
        method=method_view(model),
    )


def tensor_view(spec: TensorSpec) -> TensorView:
    return TensorView(key=literal(spec.name), identifier=snake_case(spec.identifier), type=array_of(spec.element))


def array_of(element: ElementType) -> str:
    return f"NDArray[numpy.{NUMBERS.get(element, element.value)}]"


def literal(value: object) -> str:
    """A value in Python's syntax, in ASCII."""
    return ascii(value)


def method_view(model: Model) -> MethodView | None:
    contract = model.contract
    if contract is None:
        return None
    if len(contract.outputs) != 1 or not all(isinstance(each, TensorInput) for each in contract.parameters):
        raise ModelError(
            f"model '{model.name}': Python takes tensors and gives one output", hint="leave the target out"
        )
    [output] = contract.outputs
    described = output.DESCRIBED
    made = PLAIN.get(described.type) if isinstance(described.type, Plain) else described.type
    if made is None or (made not in RESULTS and described.function):
        raise ModelError(f"model '{model.name}': Python has no {described.noun}", hint="leave the target out")
    return MethodView(
        verb=described.verb,
        about=described.sentence,
        type=f"list[{made}]" if described.is_list else made,
        value=value_of(output),
    )


def value_of(output: TypedOutput) -> str:
    """The expression of the result, over `output`."""
    described = output.DESCRIBED
    tensors = [f"output.{snake_case(getattr(output, each).identifier)}" for each in described.tensors]
    if not described.function:
        return tensors[0]
    others = [getattr(output, each) for each in (*described.lines, *described.limits)]
    return f"results.{snake_case(described.function)}({', '.join([*tensors, *map(literal, others)])})"
