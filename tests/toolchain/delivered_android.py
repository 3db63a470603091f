"""A tiny package whose models a channel updates, releases of its model, and a server that delivers them."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy
import onnx

from packager import vectors
from packager.core.findings import Report
from packager.core.to_json import plain
from packager.core.values import Compiled, ElementType, Plan
from packager.distribution import deltas
from packager.distribution.channel.document import (
    TIME,
    Allowed,
    ChannelFile,
    ChannelModel,
    Delta,
    Document,
    DownloadConditions,
    ModelFile,
    ModelRelease,
    Rollout,
)
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.signing.statements import ReleaseName
from packager.targets.android import Android
from packager.targets.target import Target
from packager.vectors import generated, safetensors
from tests.cases.onnx_text import linear
from tests.cases.trust_vectors import signed
from tests.cases.tuf_repository import Repository, delivery
from tests.toolchain import trusted
from tests.toolchain.react_native.download.server import Files
from tests.toolchain.trusted_android import with_list

CHANNEL = "stable"
CONTRACT = hashlib.sha256(b"an API").hexdigest()
MODEL = trusted.MODEL
PACKAGE = replace(trusted.PACKAGE, delivery=delivery(trusted.PACKAGE.name, {MODEL: CONTRACT}))
TARGET = Android(providers=("xnnpack",))
INPUT = numpy.arange(64, dtype=numpy.float32).reshape(1, 64) / 64
"""what the program runs the model on"""
SAMPLE = numpy.random.default_rng(7).standard_normal((1, 64)).astype(numpy.float32)
SEED = 0x0123456789ABCDEF


def graph(number: int) -> onnx.ModelProto:
    """Versions of the model: each has a few other weights than the one before."""
    model = linear()
    for each in model.graph.initializer:
        if each.name == "w":
            values = onnx.numpy_helper.to_array(each).copy()
            values[:2] += number
            each.CopyFrom(onnx.numpy_helper.from_array(values, "w"))
    return model


def computed(number: int, x: "numpy.typing.NDArray[Any]") -> "numpy.typing.NDArray[Any]":
    """The outputs of `graph(number)`."""
    arrays = {each.name: onnx.numpy_helper.to_array(each) for each in graph(number).graph.initializer}
    found: numpy.typing.NDArray[Any] = (x.astype(numpy.float64) @ arrays["w"] + arrays["b"]).astype(numpy.float32)
    return found


def sum_of(number: int) -> float:
    """The sum of the outputs of `graph(number)`, as the program gives it."""
    return round(float(computed(number, INPUT).astype(numpy.float64).sum()), 2)


def plan_of(number: int, folder: Path) -> Plan:
    store = Store(cache_folder() / "store")
    return trusted.plan(folder, store, "android", "xnnpack", graph=graph(number) if number else None)


def write_library(folder: Path, plan: Plan) -> Path:
    """The library with the first version of the model, signed."""
    tested = vectors.Vectors(
        golden=vectors.read(write_golden(folder, 0)), allowed={"y": vectors.Allowed(rtol=1e-4, atol=1e-5, scale=10.0)}
    )
    golden = {(MODEL, each.compiled.sha256): tested for each in plan.choices}
    view = TARGET.view(PACKAGE, (plan,), Report(parities=()), golden=golden)
    made = TARGET.assemble(view, TARGET.render(view), Store(cache_folder() / "store"))[0].path
    digests = {asset.path.removeprefix("mobpack/models/"): asset.sha256 for asset in view.assets}
    return with_list(made, folder / "models.aar", signed(digests, PACKAGE))


def write_golden(folder: Path, number: int) -> Path:
    """A sample whose input is in the file, and one whose input is made of a recipe."""
    recipe = generated.ValuesRecipe(element=ElementType.FLOAT, shape=(1, 64), seed=SEED, low=-1, high=1, row=0)
    tensors = {
        "0.input.x": SAMPLE,
        "0.output.y": computed(number, SAMPLE),
        "1.recipe.x": numpy.array([SEED, -1, 1, 0], numpy.int64),
        "1.output.y": computed(number, generated.values(recipe)),
    }
    path = folder / f"golden-{number}.safetensors"
    safetensors.write(path, tensors, {"generated": json.dumps({"1.input.x": generated.to_json(recipe)})})
    return path


@dataclass(kw_only=True)
class Shelf:
    """A channel on a server."""

    files: Files
    scratch: Path
    plans: dict[int, Plan] = field(default_factory=dict)
    number: int = 0
    repository: Repository = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Nothing is on the server, and nothing was signed."""
        self.files.by_path.clear()
        self.files.faults_by_path.clear()
        self.files.requests.clear()
        self.number = 0
        self.repository = Repository(package=PACKAGE.name, channel=CHANNEL)

    def release(
        self,
        number: int,
        /,
        *,
        is_wrong: bool = False,
        has_golden: bool = True,
        delta_to: Sequence[int] = (),
        **changes: Any,
    ) -> ModelRelease:
        """Version 1.3.`number` of the model, with its files on the server. `is_wrong` has samples with other outputs;
        `delta_to` are older versions to whose files there are deltas."""
        golden = (self._golden(number + is_wrong),) if has_golden else ()
        allowed = (Allowed(output="y", rtol=1e-4, atol=1e-5, scale=10.0, mismatches=0),) if has_golden else ()
        files = [replace(each, golden=golden, allowed=allowed) for each in self.model_files(number, delta_to)]
        return replace(release_of(f"1.3.{number}", *files), **changes)

    def model_files(self, number: int, delta_to: Sequence[int]) -> Iterator[ModelFile]:
        """The files of a version without samples, which are on the server then."""
        for each in self.plans.setdefault(number, plan_of(number, self.scratch)).choices:
            compiled = each.compiled
            old = [compiled_for(each.provider, self.plans[version]) for version in delta_to]
            model = self.file(f"scorer-{each.provider}.{compiled.format}", compiled.path, [other.path for other in old])
            data = [
                self.file(file.name, file, [other.data_files[index] for other in old])
                for index, file in enumerate(compiled.data_files)
            ]
            made = model_file(TARGET, each.provider, model)
            yield replace(made, format=str(compiled.format), data=tuple(data))

    def file(self, name: str, path: Path, old: Sequence[Path]) -> ChannelFile:
        """A file in a document; it is on the server then, with deltas to it."""
        made = [(sha256_of(each), deltas.make(each, path)) for each in old]
        for _, content in made:
            self.put(content)
        return ChannelFile(
            name=name,
            sha256=self.put(path.read_bytes()),
            size_bytes=path.stat().st_size,
            deltas=tuple(
                Delta(source=source, sha256=hashlib.sha256(each).hexdigest(), size_bytes=len(each))
                for source, each in made
            ),
        )

    def _golden(self, number: int) -> ChannelFile:
        path = write_golden(self.scratch, number)
        return self.file(path.name, path, [])

    def put(self, content: bytes) -> str:
        """Adds a blob, and gives its sha256."""
        digest = hashlib.sha256(content).hexdigest()
        self.files.by_path[target(digest)] = content
        return digest

    def publish(self, *releases: ModelRelease, number: int = 0, **changes: Any) -> Document:
        """Puts a document with these releases of the model on the server, under the next number unless one is given."""
        self.number = number or self.number + 1
        document = replace(document_of(self.number, *releases), **changes)
        self.files.by_path.update(self.repository.files(plain(document), self.number))
        return document

    @property
    def asked(self) -> list[str]:
        """Paths of all requests since the last look."""
        found = [request.path for request in self.files.requests]
        self.files.requests.clear()
        return found


def document_of(number: int, *releases: ModelRelease) -> Document:
    """A document from now on, for a day, with these releases of the model."""
    now = datetime.now(UTC)
    return Document(
        package=PACKAGE.name,
        channel=CHANNEL,
        number=number,
        restores=0,
        published=now.strftime(TIME),
        expires=(now + timedelta(days=1)).strftime(TIME),
        models=(ChannelModel(name=MODEL, releases=releases),),
    )


def release_of(version: str, *files: ModelFile) -> ModelRelease:
    """A release for every app and device."""
    return ModelRelease(
        version=version,
        number=ReleaseName(package=PACKAGE.name, version=version).number,
        contract=CONTRACT,
        min_app="",
        rollout=Rollout(percent=100, salt="salt"),
        conditions=DownloadConditions(wifi=False, charging=False, free_bytes=0),
        notes="",
        files=files,
    )


def model_file(target: Target, provider: str, file: ChannelFile) -> ModelFile:
    """A file in ORT format that any device of the target may have, without samples."""
    return ModelFile(
        target=target.NAME,
        inside="",
        provider=provider,
        chips=(),
        format="ort",
        runtime=target.published_runtime(),
        runtime_range="",
        settings=(),
        file=file,
        data=(),
        golden=(),
        allowed=(),
    )


def compiled_for(provider: str, plan: Plan) -> Compiled:
    return next(each.compiled for each in plan.choices if each.provider == provider)


def target(digest: str) -> str:
    """Path of a file of a release."""
    return f"/targets/{MODEL}/{digest}.{digest}"
