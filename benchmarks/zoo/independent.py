"""Compares the files in packages with the user's own model, without any code of mobpack: `python -m
benchmarks.zoo.independent MODEL DIST NODE`.

The model files are taken out of the archives that app developers get. ONNX Runtime of pip runs each beside the
original, which is not optimized; Node runs the web package through the package's own API, which joins its files. Inputs
are drawn here; only their sizes come from the release's report, because a model alone does not say which sizes it
takes. Prints `Found` as JSON, and ends with 1 where the files do not agree.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy
import onnx
import onnx.numpy_helper
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

Arrays = Mapping[str, Any]

SCRIPT = Path(__file__).with_name("web_run.mjs")
UNCOMPRESSED = ".tflite"
"""Ending that Android's build tools leave uncompressed: packages add it to the names of their files."""
MOST_BYTES = 2**31 - 1
"""Maximum size of an ONNX file without its weights beside it."""
RTOL, ATOL = 1e-3, 1e-5
"""The tolerance of parity by default, times the largest value of the output."""
TYPES = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "bool": "bool",
    **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""ONNX Runtime's names of elements -> numpy's"""
LAST_BITS, SEEDS = 2.0**-22, 8
"""Relative change of float constants that shows what the order of sums may change: a net that rounds to 8 bits while
it runs may give another whole number for it, and everything behind it follows."""
WEB = "*-web-*.tgz"
NODE_TIMEOUT_S = 300
REFUSALS = (state.Fail, state.InvalidArgument, state.RuntimeException, state.NotImplemented)
"""ONNX Runtime's errors for inputs that a model does not take."""


@dataclass(frozen=True, kw_only=True)
class Found:
    state: str
    """`agrees`, `differs` or `not compared`"""
    reason: str = ""
    files: int = 0
    """number of different files that were run, in Python and under Node"""
    worst: float = 0.0
    """largest difference, as a share of the output's largest value"""
    own: float = 0.0
    """such a difference of the original alone, with constants that are changed by LAST_BITS; 0 where nothing asked"""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A way to draw inputs: the first that the model computes numbers from is used."""

    low: float
    high: float
    below: int
    """integers are smaller"""
    least: int = 0
    """the smallest integer"""


DRAWINGS = (
    Drawing(low=-1.0, high=1.0, below=8),
    Drawing(low=0.05, high=1.0, below=8),
    Drawing(low=0.05, high=1.0, below=2),
    Drawing(low=0.5, high=0.5001, below=1),
    Drawing(low=0.0, high=255.0, below=2),
    Drawing(low=0.0, high=4000.0, below=2),
    Drawing(low=0.05, high=1.0, below=17, least=16),
)


DRAWN_FROM = range(20, 24)
"""Seeds of each drawing: a net may want its second number to be larger than its first."""
WEIGHTS = "model.ort"
"""Name by which a package's ONNX graphs refer to the ORT file with the weights, whatever its own name is. Names of
other files of weights begin with the model's."""


def main() -> int:
    model, dist, node = map(Path, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as scratch:
        found = compared(model, dist, node, Path(scratch))
    print(json.dumps(asdict(found)))
    return int(found.state != "agrees")


def compared(model: Path, dist: Path, node: Path, scratch: Path) -> Found:
    """The verdict on all model files in the packages below `dist`."""
    report = json.loads((dist / "report.json").read_text(encoding="utf-8"))
    sizes = " ".join(each["samples"] for each in report["parity"])
    original = opened(model, is_optimized=False)
    drawn = next(drawings(original, sizes), None)
    if drawn is None:
        return Found(state="not compared", reason="the original computes numbers from none of the inputs drawn here")
    given, expected = drawn
    if difference(expected, run(original, given)) > 0:
        return Found(state="not compared", reason="the original gives other numbers each time")
    runs = [
        *((file.name, package.name, partial(run_file, file, given)) for package, file in files_in(dist, scratch)),
        *(
            ("", f"{package.name} under Node", partial(run_in_node, package, dist, node, given, scratch / "node"))
            for package in sorted((dist / "npm").glob(WEB))
        ),
    ]
    if not runs:
        return Found(state="not compared", reason="no model file in any package")
    worst = own = 0.0
    ran: list[str] = []
    for file, package, computed in runs:
        try:
            found = computed()
        except state.NotImplemented as error:  # 16 bits that only processors of phones compute: apps open the next file
            print(f"{file} of {package}: {error}"[:300], file=sys.stderr)
            continue
        ran.append(package)
        worst = max(worst, difference(expected, found))
        if worst > 1 and not own:
            own = own_difference(model, given, expected, scratch)
        if worst > max(1.0, 2 * own):
            reason = " of ".join(filter(None, (file, package)))
            return Found(state="differs", reason=reason, files=len(ran), worst=worst * RTOL, own=own * RTOL)
    if missed := sorted({package for _, package, _ in runs}.difference(ran)):
        return Found(state="not compared", reason=f"no file of {missed[0]} runs on this processor", files=len(ran))
    return Found(state="agrees", files=len(ran), worst=worst * RTOL, own=own * RTOL)


def files_in(dist: Path, scratch: Path) -> Iterator[tuple[Path, Path]]:
    """Each package, and a model file out of it. Files of the web package get their weights from its own code alone."""
    packages = [path for path in dist.rglob("*") if path.suffix in (".aar", ".zip", ".tgz", ".whl")]
    for package in sorted(path for path in packages if not path.match(WEB)):
        for file in unpacked(package, scratch / package.name):
            yield package, file


def run_file(file: Path, given: Arrays) -> Arrays:
    return run(opened(file), given)


def own_difference(model: Path, given: Arrays, expected: Arrays, scratch: Path) -> float:
    """Largest difference between the original and itself with float constants that differ in their last bits."""
    folder = scratch / "changed"
    folder.mkdir()
    found = 0.0
    for seed in range(SEEDS):
        proto = onnx.load(model)
        generator = numpy.random.default_rng(seed)
        for tensor in proto.graph.initializer:
            values = onnx.numpy_helper.to_array(tensor)
            if values.dtype == numpy.float32:
                values = values * (1 + generator.uniform(-LAST_BITS, LAST_BITS, values.shape).astype(numpy.float32))
                tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
        onnx.save(proto, folder / "model.onnx", save_as_external_data=proto.ByteSize() >= MOST_BYTES)
        found = max(found, difference(expected, run(opened(folder / "model.onnx", is_optimized=False), given)))
    return found


def opened(file: Path, *, is_optimized: bool = True) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not is_optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if ".ort" in file.suffixes:
        options.add_session_config_entry("session.load_model_format", "ORT")
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def run(session: onnxruntime.InferenceSession, given: Arrays) -> Arrays:
    names = [each.name for each in session.get_outputs()]
    known = {each.name for each in session.get_inputs()}
    found = session.run(names, {name: value for name, value in given.items() if name in known})
    return dict(zip(names, found, strict=True))


def drawings(original: onnxruntime.InferenceSession, sizes: str) -> Iterator[tuple[Arrays, Arrays]]:
    """Inputs and the original's outputs, for each drawing from which it computes numbers."""
    for drawing, seed in product(DRAWINGS, DRAWN_FROM):
        generator = numpy.random.default_rng(seed)
        try:
            given = {each.name: draw(each, sizes, drawing, generator) for each in original.get_inputs()}
            found = run(original, given)
        except REFUSALS as error:
            print(f"{drawing}: {error}"[:300], file=sys.stderr)
            continue
        numbers = [value for value in found.values() if isinstance(value, numpy.ndarray) and value.size]
        if numbers and all(value.dtype.kind != "f" or numpy.isfinite(value).any() for value in numbers):
            yield given, found


def draw(port: Any, sizes: str, drawing: Drawing, generator: numpy.random.Generator) -> Any:
    """Values for an input, of the size that `sizes`, the report's words, has for it."""
    told = re.search(rf"(?:^|[\s,]){re.escape(port.name)} ((?:\d+x)*\d+)(?=[\s,)]|$)", sizes)
    is_scalar = not port.shape
    shape = [] if is_scalar else [int(each) for each in told[1].split("x")] if told else fixed(port.shape)
    element = port.type.removeprefix("tensor(").removesuffix(")")
    if element == "string":
        return numpy.full(shape, "a sensible text", dtype=object)
    kind = numpy.dtype(TYPES[element])
    if kind.kind == "f":
        return numpy.asarray(generator.uniform(drawing.low, drawing.high, shape), dtype=kind)
    top = 2 if kind.kind == "b" else drawing.below
    least = 0 if kind.kind == "b" else drawing.least
    return numpy.asarray(generator.integers(least, top, shape), dtype=kind)  # numpy draws scalars as no arrays


def fixed(shape: Sequence[Any]) -> list[int]:
    return [size if isinstance(size, int) else 1 for size in shape]


def difference(expected: Arrays, found: Arrays) -> float:
    """Largest difference, as a share of what is allowed; infinity where anything but a number differs."""
    if list(expected) != list(found):
        return numpy.inf
    return max((apart(expected[name], found[name]) for name in expected), default=0.0)


def apart(expected: Any, found: Any) -> float:
    if not isinstance(expected, numpy.ndarray):  # a sequence or a map
        return 0.0 if str(expected) == str(found) else numpy.inf
    if expected.shape != found.shape:
        return numpy.inf
    if expected.dtype.kind != "f":
        return 0.0 if numpy.array_equal(expected, found) else numpy.inf
    first, second = expected.astype("f8"), numpy.asarray(found).astype("f8")
    is_number = numpy.isfinite(first)
    if not numpy.array_equal(is_number, numpy.isfinite(second)) or not numpy.array_equal(
        first[~is_number], second[~is_number], equal_nan=True
    ):
        return numpy.inf
    first, second = first[is_number], second[is_number]
    scale = numpy.abs(first).max(initial=0.0)
    return float(numpy.abs(first - second).max(initial=0.0) / (ATOL + RTOL * scale))


def unpacked(package: Path, folder: Path) -> Iterator[Path]:
    """The model files of an archive, each content once, with their own names and their weights beside them."""
    seen = set()
    extract(package, folder)
    for file in [path for path in folder.rglob(f"*{UNCOMPRESSED}") if path.is_file()]:
        file.rename(file.with_name(file.name.removesuffix(UNCOMPRESSED)))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for graph in [path for path in files if path.suffix == ".onnx"]:
        for name in locations(graph):
            suited = [path for path in files if path.name.endswith("-" + name)]
            suited = suited or [path for path in files if path.suffix == ".ort" and name == WEIGHTS]
            if suited and not graph.with_name(name).exists():
                graph.with_name(name).hardlink_to(min(suited, key=partial(steps_between, graph)))
    for file in sorted(path for path in folder.rglob("*") if path.suffix in (".ort", ".onnx")):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            yield file


def locations(graph: Path) -> Iterator[str]:
    """Names of the files with the weights of a graph."""
    for tensor in onnx.load(graph, load_external_data=False).graph.initializer:
        yield from {each.value for each in tensor.external_data if each.key == "location"}


def steps_between(one: Path, other: Path) -> int:
    """Number of folders on the way from one file to another: a package has the weights of each platform apart."""
    shared = len(Path(os.path.commonpath([one, other])).parts)
    return len(one.parts) + len(other.parts) - 2 * shared


def extract(package: Path, folder: Path) -> None:
    if package.suffix == ".tgz":
        with tarfile.open(package) as archive:
            archive.extractall(folder, filter="data")
        return
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder)


def run_in_node(package: Path, dist: Path, node: Path, given: Arrays, folder: Path) -> Arrays:
    """The outputs of the web package, as an app gets them."""
    extract(package, folder)
    manifest = json.loads((dist / "manifest.json").read_text(encoding="utf-8"))
    (model,) = manifest["models"]
    inputs = {port["identifier"]: port["name"] for port in model["inputs"]}
    outputs = {port["identifier"]: port["name"] for port in model["outputs"]}
    job = {
        "package": str(folder / "package" / "lib" / "index.js"),
        "inputs": {key: described(given[name]) for key, name in inputs.items()},
        "outputs": list(outputs),
    }
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    done = subprocess.run(
        [node, SCRIPT, folder / "job.json", folder / "answer.json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=NODE_TIMEOUT_S,
    )
    if done.returncode:
        raise RuntimeError(f"Node: {done.stderr[-1000:]}")
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    return {outputs[key]: restored(value) for key, value in answer.items()}


def described(array: Any) -> dict[str, Any]:
    if array.dtype.kind == "O":
        return {"type": "string", "shape": array.shape, "texts": array.ravel().tolist()}
    whole = numpy.ascontiguousarray(array)
    return {"type": str(array.dtype), "shape": array.shape, "hex": whole.tobytes().hex()}


def restored(value: Mapping[str, Any]) -> Any:
    if value["type"] == "string":
        return numpy.array(value["texts"], dtype=object).reshape(value["shape"])
    return numpy.frombuffer(bytes.fromhex(value["hex"]), dtype=value["type"]).reshape(value["shape"])


if __name__ == "__main__":
    sys.exit(main())
