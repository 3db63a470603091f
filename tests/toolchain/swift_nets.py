"""Swift packages of small nets, one for each format of files, one for Core ML, with programs that load them.

Each is built and compiled once for all files of tests: a program is little beside the module that it shares.
"""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import onnx

from tests.cases.onnx_text import onnx_model, saved, weight
from tests.toolchain import command, swift_app
from tests.toolchain.kept import kept, product
from tests.toolchain.swift import swift
from tests.toolchain.swift_app import HOME, App
from tests.toolchain.swift_packages import unpack

MODULE = "SmallNetsKit"
VERSION = "2.3.4"
PROJECT = """\
[package]
name = "{package}"
version = "{version}"
{models}
[target.ios]
providers = ["{provider}"]
format = "{format}"
"""
STATE = """
[model.counter.inputs.state]
kind = "state"
output = "next"
"""
MACS = 64 * 64
"""of the model `linear`"""
LAYERS = 8
"""of the model `chain` in ONNX format, which takes a while"""


def _linear() -> onnx.ModelProto:
    """A matrix product, with its MACs in the file's metadata, and those of a node that is not there."""
    model = onnx_model("(float[1, 64] x) => (float[1, 64] y) { y = MatMul (x, w) }", weights={"w": weight(64, 64)})
    model.graph.node[0].name = "product"
    model.metadata_props.add(key="mobpack.macs", value=f"{MACS} product\n7 no node of this name")
    return model


def _chain() -> onnx.ModelProto:
    text = "(float[64, 64] x) => (float[64, 64] y) { h = MatMul (x, w) r = Relu (h) y = MatMul (r, w) }"
    return onnx_model(text, weights={"w": weight(64, 64)})


def _long_chain() -> onnx.ModelProto:
    names = ["x", *(f"h{layer}" for layer in range(1, LAYERS)), "y"]
    nodes = " ".join(f"{new} = MatMul ({old}, w)" for old, new in pairwise(names))
    return onnx_model(f"(float[512, 512] x) => (float[512, 512] y) {{ {nodes} }}", weights={"w": weight(512, 512)})


def _picker() -> onnx.ModelProto:
    """Fails for some inputs."""
    text = "(int64[1] ids) => (float[1, 4] row) { row = Gather (table, ids) }"
    return onnx_model(text, weights={"table": weight(4, 4)})


def _counter() -> onnx.ModelProto:
    """Has a state."""
    text = "(float[1] state) => (float[1] count, float[1] next) { next = Add (state, one) count = Add (next, zero) }"
    return onnx_model(text, weights={"one": weight(1) * 0 + 1, "zero": weight(1) * 0})


@dataclass(frozen=True, kw_only=True, eq=False)
class Nets:
    """A package and its programs."""

    format: str
    models: Mapping[str, Callable[[], onnx.ModelProto]]
    settings: str = ""
    """of models"""
    package: str = "small-nets"
    module: str = MODULE
    provider: str = "xnnpack"
    programs: Mapping[str, tuple[str, ...]]
    """Name -> its files: one of Swift, and files of C whose functions take the place of libraries'."""

    def program(self, name: str) -> App:
        """One of the programs, with the package's resources beside it."""
        swift()  # before anything is built that could not be compiled
        return App(self._compiled(), name)

    def project(self) -> Path:
        """The project: its models, and what `mobpack build` made in `dist`. Nobody may write to it."""
        return kept(f"swift-nets-{self.provider}-{self.format}", self._build, product())

    def _build(self, folder: Path) -> None:
        for name, model in self.models.items():
            saved(folder / f"{name}.onnx", model())
        models = "".join(f'\n[model.{name}]\npath = "{name}.onnx"\n' for name in self.models) + self.settings
        named = {"package": self.package, "provider": self.provider, "format": self.format}
        text = PROJECT.format(version=VERSION, models=models, **named)
        (folder / "mobpack.toml").write_text(text, encoding="utf-8", newline="\n")
        done = command.run("build", "--target", "ios", folder=folder)
        assert done.returncode == 0, done.stderr

    @cache  # noqa: B019 (three of them, which stay)
    def _compiled(self) -> Path:
        with tempfile.TemporaryDirectory() as scratch:
            package = unpack(self.project() / "dist" / "swift", Path(scratch, "package"))
            for name, files in self.programs.items():
                _add(package, name, files, self.module)
            return swift_app.compiled(package, *self.programs)


AUTO = Nets(
    format="auto",
    models={"linear": _linear, "chain": _chain, "picker": _picker, "counter": _counter},
    settings=STATE,
    programs={
        "Sources": ("sources.swift",),
        "Trouble": ("trouble.swift", "failing_runtime.c", "allocations.c"),
        "Sharing": ("threads.swift", "older_runtime.c"),
    },
)
"""Files in ORT format on the CPU, in ONNX format for XNNPACK."""
ONNX = Nets(
    format="onnx",
    models={"linear": _linear, "chain": _long_chain, "picker": _picker},
    programs={"Observing": ("observing.swift", "clock.c"), "Sharing": ("threads.swift", "older_runtime.c")},
)

COREML = Nets(
    format="auto",
    models={"linear": _linear},
    package="compiled-nets",
    module="CompiledNetsKit",
    provider="coreml",
    programs={"Compiling": ("compiling.swift", "compiling_runtime.c")},
)
"""For Core ML, which Linux has not."""


def _add(package: Path, name: str, files: tuple[str, ...], module: str) -> None:
    """Adds a program to a package, with a C module of its own for its files of C."""
    main, *others = files
    depends, targets = [module, f"C{module}"], []
    (package / "Sources" / name).mkdir()
    shutil.copy(HOME / main, package / "Sources" / name / "main.swift")
    if others:
        beside = package / "Sources" / f"C{name}"
        (beside / "include").mkdir(parents=True)
        (beside / "include" / f"C{name}.h").write_text("// nothing: its functions have names that are known\n")
        for each in others:
            shutil.copy(HOME / each, beside)
        targets.append(f'.target(name: "C{name}", dependencies: ["C{module}"]),')
        depends.append(f"C{name}")
    listed = ", ".join(f'"{each}"' for each in depends)
    targets.append(f'.executableTarget(name: "{name}", dependencies: [{listed}]),')
    manifest = package / "Package.swift"
    text = manifest.read_text(encoding="utf-8")
    assert text.count("    targets: [\n") == 1
    lines = "".join(f"        {each}\n" for each in targets)
    manifest.write_text(text.replace("    targets: [\n", f"    targets: [\n{lines}"), encoding="utf-8", newline="\n")
