"""Models for bisections, one with a planted fault, run by ONNX Runtime in this process."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy
import onnx
import onnxruntime
from numpy.typing import NDArray

from packager.core.errors import ModelError
from packager.engines.runners import Outcome, Runnable
from packager.engines.session import exact
from packager.engines.session.session_child import run_sample
from packager.samples import write_arrays
from packager.verification.bisection import Bisection, ErrorLimits, Side, bisect
from packager.verification.parity import Tolerance
from tests.cases.onnx_text import onnx_model, saved, weight
from tests.cases.rewriting_cases import inferred

Array = NDArray[Any]
LAYERS = 20
WIDTH = 8
GELU = (
    "(float[4, 32] x) => (float[4, 32] y) <float r = {1.41421356}, float one = {1.0}, float h = {0.5}> {"
    "[before] a = MatMul (x, w) [g0] b = Div (a, r) [g1] c = Erf (b) [g2] d = Add (c, one) [g3] e = Mul (a, d)"
    "[g4] f = Mul (e, h) [behind] y = MatMul (f, w) }"
)


@dataclass(frozen=True, kw_only=True)
class Inside:
    """ONNX Runtime's CPU provider in this process: a session costs milliseconds."""

    NAME: ClassVar[str] = "inside"
    OPENS: ClassVar[str] = "any"
    ENGINE: ClassVar[str] = ""
    about: ClassVar[str] = "ONNX Runtime in this process"
    watched: Path | None = None
    """folder whose size is noted after each run"""
    sizes: list[int] = field(default_factory=list)
    """bytes of the values in it after each run"""
    opened: list[Path] = field(default_factory=list)

    def label(self) -> str:
        return self.NAME

    def identity(self) -> str:
        return ""

    def missing(self) -> str:
        return ""

    def cannot_open(self, model: Runnable) -> str:
        return ""

    def open(self, model: Runnable, folder: Path) -> "_Open":
        self.opened.append(model.path)

        def options() -> onnxruntime.SessionOptions:
            made = onnxruntime.SessionOptions()
            made.intra_op_num_threads = 1
            made.log_severity_level = 4
            if not model.is_optimized:
                made.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            return made

        try:
            session = exact.opened(model.path, str(model.data_folder or ""), options)
        except Exception as error:
            raise ModelError(str(error), hint="") from error
        return _Open(session, self)


@dataclass(frozen=True)
class _Open:
    session: Any
    runner: Inside
    about: str = "ONNX Runtime in this process"
    placed: int | None = None
    node_count: int | None = None

    def run(self, sample: Path, folder: Path) -> Outcome:
        error = run_sample(self.session, sample, folder)
        if self.runner.watched:
            files = (path for path in self.runner.watched.rglob("*") if path.suffix in (".npy", ".npz"))
            self.runner.sizes.append(sum(path.stat().st_size for path in files))
        return Outcome(outputs=None if error else folder, error=error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class Spoiling(Inside):
    """A runtime that changes the output `y` of every optimized graph of more than `nodes` nodes."""

    nodes: int = 3

    def open(self, model: Runnable, folder: Path) -> "_Open":
        session = super().open(model, folder)
        graph = onnx.load(model.path, load_external_data=False).graph
        outputs = [value.name for value in graph.output]
        if not model.is_optimized or len(graph.node) <= self.nodes or "y" not in outputs:
            return session
        return _Spoilt(session.session, self, place=outputs.index("y"))


@dataclass(frozen=True)
class _Spoilt(_Open):
    place: int = 0

    def run(self, sample: Path, folder: Path) -> Outcome:
        found = super().run(sample, folder)
        path = folder / f"{self.place}.npy"
        numpy.save(path, numpy.load(path) + 1)
        return found


def side(folder: Path, model: onnx.ModelProto, label: str = "b", **settings: Any) -> Side:
    path = saved(folder / f"{label}.onnx", model)
    return Side(**{"label": label, "path": path, "data_folder": None, "runner": Inside(), **settings})


def samples(folder: Path, *inputs: Mapping[str, Array]) -> list[Path]:
    paths = [folder / f"{index}.npz" for index in range(len(inputs))]
    for path, arrays in zip(paths, inputs, strict=True):
        write_arrays(path, arrays)
    return paths


def bisected(
    folder: Path, a: Side, b: Side, inputs: Mapping[str, Array] | Sequence[Mapping[str, Array]], **settings: Any
) -> Bisection:
    """Of `a` and `b`; evidence goes to `folder / "evidence"`."""
    given = [inputs] if isinstance(inputs, Mapping) else inputs
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    limits = ErrorLimits(tolerance=Tolerance(max_rel_error=settings.pop("tolerance", 1e-4)))
    return bisect(a, b, samples(folder, *given), scratch, folder / "evidence", **{"limits": limits, **settings})


def chain(*, changed: int | None = None, layers: int = LAYERS, rows: int | str = 1) -> onnx.ModelProto:
    """`layer0` to `layer19`, each a MatMul and a Tanh; the layer `changed` has another weight."""
    text = " ".join(
        f"m{index} = MatMul ({f'v{index - 1}' if index else 'x'}, w{index}) v{index} = Tanh (m{index})"
        for index in range(layers)
    )
    weights = {f"w{index}": weight(WIDTH, WIDTH, seed=index) for index in range(layers)}
    if changed is not None:
        weights[f"w{changed}"] = weights[f"w{changed}"] + numpy.eye(WIDTH, dtype=numpy.float32)
    last = f"v{layers - 1}"
    model = onnx_model(f"(float[{rows}, {WIDTH}] x) => (float[{rows}, {WIDTH}] {last}) {{ {text} }}", weights=weights)
    for node in model.graph.node:
        node.name = f"{'layer' if node.op_type == 'MatMul' else 'tanh'}{node.output[0][1:]}"
    return model


def x(*shape: int, seed: int = 7) -> dict[str, Array]:
    return {"x": weight(*(shape or (1, WIDTH)), seed=seed)}


def branching(constant: float) -> onnx.ModelProto:
    """An If; `constant` is in its first branch."""
    return onnx_model(
        "(float[1, 8] x, bool c) => (float[1, 8] y) { a = Relu (x) [branch] b = If (c) <"
        f"then_branch = t () => (float[1, 8] p) <float k = {{{constant}}}> {{ p = Mul (a, k) }},"
        "else_branch = e () => (float[1, 8] q) { q = Neg (a) }> y = Tanh (b) }"
    )


def overflowing() -> onnx.ModelProto:
    """Layer `l2` gives numbers beyond float16; nodes that only move numbers pass them on unchanged."""
    weights: dict[str, Array] = {f"w{index}": weight(64, 64, seed=index) for index in range(4)}
    weights["w2"] = weights["w2"] * numpy.float32(1e4)
    return inferred(
        onnx_model(
            "(float[1, 64] x) => (float[1, 64] y) <float k = {0.00001}>"
            "{ [l0] a = MatMul (x, w0) [l1] b = MatMul (a, w1) [l2] c = MatMul (b, w2) t = Flatten (c)"
            " v = Flatten (t) [k] d = Mul (v, k) [l3] y = MatMul (d, w3) }",
            weights=weights,
        )
    )


def reproduced(folder: Path) -> str:
    """Output of the program that a bisection left in `folder`."""
    command = [sys.executable, str(folder / "reproduce.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder.parent)
    assert done.stderr == ""
    return str(done.stdout)
