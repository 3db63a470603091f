"""A tiny package for React Native whose model a channel updates, releases of it, and a server's files of them."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy
import numpy.typing
import onnx

from packager import vectors
from packager.compile.compile import compile_variant
from packager.core.findings import Report
from packager.core.to_json import plain
from packager.core.values import Choice, Delivery, Plan, baseline
from packager.distribution import deltas
from packager.distribution.channel.document import (
    PAYLOAD_TYPE,
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
from packager.engines.environments.runtime import Runtime
from packager.files.hashes import sha256_of
from packager.files.store import Store
from packager.files.user_cache import cache_folder
from packager.render.templates import write_sources
from packager.signing.envelope import Bundle, pae, written
from packager.signing.statements import ReleaseName, payload
from packager.targets.android import Android
from packager.targets.ios import Ios
from packager.targets.react_native import ReactNative
from packager.targets.react_native.view import ReactNativeView
from packager.targets.target import Built, Target
from packager.vectors import safetensors
from tests.cases.onnx_text import linear, loaded
from tests.cases.trust_vectors import IN_USE, sign, signed
from tests.delivery_drivers.react_native import Made
from tests.toolchain import jsc, node, trusted
from tests.toolchain.react_native import codegen, native
from tests.toolchain.react_native.download.server import Files
from tests.toolchain.react_native.verifier import add_verifier

NAME = "react-native-models"
CHANNEL = "stable"
CONTRACT = hashlib.sha256(b"an API").hexdigest()
MODEL = trusted.MODEL
PACKAGE = replace(trusted.PACKAGE, delivery=Delivery(channel=CHANNEL, contracts={MODEL: CONTRACT}))
TARGETS: tuple[Target, ...] = (Android(providers=()), Ios(providers=()))
INPUT = numpy.arange(64, dtype=numpy.float32).reshape(1, 64) / 64
"""what the program runs the model on"""
SAMPLE = numpy.random.default_rng(7).standard_normal((1, 64)).astype(numpy.float32)
ALLOWED = Allowed(output="y", rtol=1e-4, atol=1e-5, scale=10.0, mismatches=0)


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
    """The sum that the program gives for `graph(number)`."""
    return round(float(computed(number, INPUT).astype(numpy.float64).sum()), 2)


def plan_of(number: int, folder: Path, target: str) -> Plan:
    variant = baseline(loaded(folder, graph(number), MODEL), "fp32")
    choice = Choice(provider="cpu", compiled=compile_variant(variant, Store(cache_folder() / "store")), reason="")
    return Plan(model=variant.model, target=target, environment=Runtime.NAME, choices=(choice,))


def view(folder: Path) -> ReactNativeView:
    """The package with version 0 of the model, which has samples."""
    built: dict[str, Built] = {}
    golden: dict[tuple[str, str], vectors.Vectors] = {}
    for target in TARGETS:
        plans = (plan_of(0, folder, target.NAME),)
        tested = vectors.Vectors(
            golden=vectors.read(write_golden(folder, 0)),
            allowed={"y": vectors.Allowed(rtol=1e-4, atol=1e-5, scale=10.0)},
        )
        golden |= {(MODEL, each.compiled.sha256): tested for each in plans[0].choices}
        built[target.NAME] = target.built(target.view(PACKAGE, plans, Report(parities=()), golden=golden), plans)
    return ReactNative().view(PACKAGE, built, Report(parities=()), golden)


def write_golden(folder: Path, number: int) -> Path:
    path = folder / f"golden-{number}.safetensors"
    safetensors.write(path, {"0.input.x": SAMPLE, "0.output.y": computed(number, SAMPLE)}, {})
    return path


@dataclass(kw_only=True)
class Shelf:
    """A server's files of a channel."""

    files: Files
    scratch: Path
    number: int = 0
    made: dict[int, Path] = field(default_factory=dict)
    """compiled models by version"""

    def release(
        self,
        number: int,
        *,
        is_wrong: bool = False,
        has_golden: bool = True,
        delta_to: Sequence[int] = (),
        **changes: Any,
    ) -> ModelRelease:
        """Version 1.3.`number` of the model, with its files on the server. `is_wrong` has samples with other outputs;
        `delta_to` are older versions to whose files there are deltas."""
        file = self._file(f"{MODEL}.ort", self.model(number), [self.model(old) for old in delta_to])
        golden = (self._file("golden.safetensors", write_golden(self.scratch, number + is_wrong), []),)
        files = tuple(
            ModelFile(
                target=target.NAME,
                inside="",
                provider="cpu",
                chips=(),
                format="ort",
                runtime=target.published_runtime(),
                runtime_range="",
                settings=(),
                file=file,
                data=(),
                golden=golden if has_golden else (),
                allowed=(ALLOWED,) if has_golden else (),
            )
            for target in TARGETS
        )
        version = f"1.3.{number}"
        made = ModelRelease(
            version=version,
            number=ReleaseName(package=PACKAGE.name, version=version).number,
            contract=CONTRACT,
            min_app="",
            rollout=Rollout(percent=100, salt="salt"),
            conditions=DownloadConditions(wifi=False, charging=False, free_bytes=0),
            notes="",
            files=files,
        )
        return replace(made, **changes)

    def model(self, number: int) -> Path:
        if number not in self.made:
            self.made[number] = plan_of(number, self.scratch, "android").choices[0].compiled.path
        return self.made[number]

    def _file(self, name: str, path: Path, old: Sequence[Path]) -> ChannelFile:
        made = [(sha256_of(each), deltas.make(each, path)) for each in old]
        found = tuple(Delta(source=source, sha256=self.put(each), size_bytes=len(each)) for source, each in made)
        return ChannelFile(name=name, sha256=self.put(path.read_bytes()), size_bytes=path.stat().st_size, deltas=found)

    def put(self, content: bytes) -> str:
        """Adds a blob, and gives its sha256."""
        digest = hashlib.sha256(content).hexdigest()
        self.files.by_path[blob(digest)] = content
        return digest

    def publish(self, *releases: ModelRelease, number: int = 0, **changes: Any) -> Document:
        """Puts a document with these releases of the model on the server, under the next number unless one is given."""
        self.number = number or self.number + 1
        now = datetime.now(UTC)
        document = Document(
            schema_version=1,
            package=PACKAGE.name,
            channel=CHANNEL,
            number=self.number,
            previous="",
            restores=0,
            published=now.strftime(TIME),
            expires=(now + timedelta(days=1)).strftime(TIME),
            models=(ChannelModel(name=MODEL, releases=releases),),
        )
        document = replace(document, **changes)
        self.files.by_path[f"/{CHANNEL}/channel.json"] = bundle(document)
        return document

    @property
    def asked(self) -> list[str]:
        """Paths of all requests since the last look."""
        found = [request.path for request in self.files.requests]
        self.files.requests.clear()
        return found


def blob(digest: str) -> str:
    return f"/blobs/sha256/{digest[:2]}/{digest}"


def bundle(document: Document) -> bytes:
    """The document in its signed envelope."""
    content = payload(plain(document))
    return written(
        Bundle(payload=content, payload_type=PAYLOAD_TYPE, signature=sign(pae(PAYLOAD_TYPE, content), IN_USE))
    )


def program(folder: Path) -> Made:
    """Makes a package `models` with a model `scorer`, and compiles what runs it."""
    made = view(_made(folder / "models"))
    app = folder / "app"
    package = node.link(node.project(jsc.NEWEST), app) / NAME
    write_sources(ReactNative().render(made), package)
    text = json.dumps({"name": "app", "private": True, "dependencies": {NAME: PACKAGE.version}})
    (app / "package.json").write_text(text, encoding="utf-8", newline="\n")
    specs = codegen.for_ios(app, folder / "codegen", project=jsc.NEWEST)
    copy = folder / "native" / NAME
    shutil.copytree(package, copy)
    add_verifier(copy)
    native.bundle(app, folder / "script.js", "delivery.js")
    code = native.Code(jsc.program(copy, specs, native.MODULE), folder / "script.js", copy / "models")
    files = {each.content.path: each.content.sha256 for each in made.files}
    return Made(package=package, specs=specs, code=code, signatures=signed(files, PACKAGE))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
