"""Sizes of deltas beside those of other tools: `python -m benchmarks.deltas [--quantized] MODEL.onnx[,SAMPLES.npz]...`.

The second version of a model has the same graph, and weights moved by noise of a share (`eps`) of each tensor's
standard deviation; in positive vectors, such as variances, of each number. Or it has another node, or another last
layer. In int8, mobpack quantizes both, the second one with and without `scales-from`; with `--quantized` alone these.
Other tools run in the same process if they are installed (`pip install bsdiff4 zstandard hdiffpatch`), on files up to
LARGEST_BYTES.
"""

import io
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

from packager import models
from packager.compile.compile import compile_variant
from packager.core.console import Console
from packager.distribution import deltas
from packager.files.store import Store
from packager.quantization.variants import build_variant
from packager.quantizers import Calibration, Recipe, StaticQdq
from packager.quantizers.dynamic import Dynamic
from packager.workflows.quantize import write

LARGEST_BYTES = 20 << 20
EPSILONS = (1e-4, 1e-3, 1e-2)
Make = Callable[[bytes, bytes], bytes]


def zstd(old: bytes, new: bytes) -> bytes:
    """Makes a delta like `zstd -19 --long --patch-from`."""
    import zstandard

    dictionary = zstandard.ZstdCompressionDict(old, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    window = max(len(old), len(new)).bit_length() + 1
    parameters = zstandard.ZstdCompressionParameters.from_level(19, window_log=window, enable_ldm=True)
    found: bytes = zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(new)
    return found


def others() -> Iterator[tuple[str, Make]]:
    """The other tools that are installed."""
    for name, make in (("bsdiff4", bsdiff4), ("zstandard", zstd), ("hdiffpatch", hdiffpatch)):
        if find_spec(name):
            yield name, make


def bsdiff4(old: bytes, new: bytes) -> bytes:
    import bsdiff4

    found: bytes = bsdiff4.diff(old, new)
    return found


def hdiffpatch(old: bytes, new: bytes) -> bytes:
    import hdiffpatch

    found: bytes = hdiffpatch.diff(old, new, compression="zlib")
    return found


def moved(model: bytes, eps: float, dtype: str = "float32", *, only_last: bool = False) -> bytes:
    """`model` with its float32 weights moved, and stored as `dtype`."""
    random, proto = numpy.random.default_rng(0), onnx.ModelProto.FromString(model)
    tensors = [tensor for _, tensor in weights_of(proto)]
    last = max((i for i, each in enumerate(tensors) if len(each.dims) > 1), default=0)
    for index, tensor in enumerate(tensors):
        values = numpy_helper.to_array(tensor)
        if eps and (not only_last or index == last):
            noise = numpy.float32(eps) * random.standard_normal(values.shape).astype(numpy.float32)
            is_positive = values.ndim == 1 and bool((values > 0).all())  # a variance: it must stay so
            values = values + noise * (values if is_positive else values.std() if values.size > 1 else 0)
        tensor.CopyFrom(numpy_helper.from_array(values.astype(dtype), tensor.name))
    return serialized(proto)


def serialized(proto: onnx.ModelProto) -> bytes:
    content: bytes = proto.SerializeToString(deterministic=True)
    return content


def weights_of(proto: onnx.ModelProto) -> list[tuple[str, onnx.TensorProto]]:
    constants = [(n.output[0], a.t) for n in proto.graph.node for a in n.attribute if a.HasField("t")]
    named = [*constants, *((each.name, each) for each in proto.graph.initializer)]
    return [(name, tensor) for name, tensor in named if tensor.data_type == onnx.TensorProto.FLOAT]


def edited(model: bytes) -> bytes:
    """`model` with one node more, and another producer."""
    proto = onnx.ModelProto.FromString(model)
    proto.producer_version = "next"
    output = proto.graph.output[0].name
    for node in proto.graph.node:
        node.output[:] = ["before the end" if name == output else name for name in node.output]
    proto.graph.node.append(onnx.helper.make_node("Identity", ["before the end"], [output], name="added"))
    return serialized(proto)


@dataclass(frozen=True)
class Int8:
    """A model that mobpack has quantized."""

    onnx: bytes
    ort: bytes
    scales: Path
    words: str
    """how many scales were kept, and the distance from the float model"""


@dataclass(frozen=True, kw_only=True)
class Quantizing:
    """Quantizes as `mobpack quantize` does."""

    folder: Path
    store: Store
    samples: Path | None
    """an .npz for static int8; without it, dynamic int8, with convolutions"""

    def __call__(self, floats: bytes, earlier: Path | None = None) -> Int8:
        path = self.folder / "float.onnx"
        path.write_bytes(floats)
        model = models.hashed(models.load(path, "model"))
        made = build_variant(model, "int8", self.recipe(earlier), self.store, Console(quiet=True))
        (file,) = write(made.variant, self.folder / "int8.onnx", self.store)
        assert made.variant.scales
        kept = made.variant.kept_scales
        words = f"{kept.kept:,} of {kept.count:,} scales, " if kept else ""
        words += f"{self.decibels(floats, file.read_bytes()):.1f} dB" if self.samples else ""
        ort = compile_variant(made.variant, self.store).path.read_bytes()
        return Int8(file.read_bytes(), ort, made.variant.scales, words)

    def recipe(self, earlier: Path | None) -> Recipe:
        if self.samples:
            return StaticQdq(calibration=Calibration(samples=str(self.samples)), scales_from=earlier)
        return Dynamic(operators=("MatMul", "Gemm", "Conv", "LSTM", "Gather"), scales_from=earlier)

    def decibels(self, floats: bytes, quantized: bytes) -> float:
        """Signal to noise of all outputs on the samples."""
        assert self.samples
        one, two = (onnxruntime.InferenceSession(each) for each in (floats, quantized))
        signal = noise = 0.0
        with numpy.load(self.samples) as arrays:
            for index in range(len(next(iter(arrays.values())))):
                feed = {name: array[index : index + 1] for name, array in arrays.items()}
                for a, b in zip(one.run(None, feed), two.run(None, feed), strict=True):
                    signal, noise = signal + float((a**2).sum()), noise + float(((a - b) ** 2).sum())
        return 10 * float(numpy.log10(signal / noise))


def cases(model: bytes, quantizing: Quantizing) -> Iterator[tuple[str, bytes, bytes]]:
    for dtype in ("float32", "float16"):
        old = moved(model, 0, dtype)
        for eps in EPSILONS:
            yield f"{dtype}, eps {eps:g}", old, moved(model, eps, dtype)
    yield "graph edited", moved(model, 0), edited(moved(model, 0))
    yield "last layer", moved(model, 0), moved(model, 0.1, only_last=True)
    yield from quantized_cases(model, quantizing)


def quantized_cases(model: bytes, quantizing: Quantizing) -> Iterator[tuple[str, bytes, bytes]]:
    old = quantizing(moved(model, 0))
    name = "static int8" if quantizing.samples else "dynamic int8"
    for eps in EPSILONS:
        for words, earlier in (("scales-from", old.scales), ("own scales", None)):
            new = quantizing(moved(model, eps), earlier)
            yield f"{name}, {words}, eps {eps:g} ({new.words})", old.onnx, new.onnx
            yield f"{name} as .ort, {words}, eps {eps:g}", old.ort, new.ort


APPLY = """
import sys
from pathlib import Path
import numpy
from packager.distribution import deltas
def peak():
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
before = peak()
with open(sys.argv[2], "rb") as delta:
    deltas.apply(Path(sys.argv[1]), delta, Path(sys.argv[3]))
print((peak() - before) // 1024)
"""


def measured(folder: Path, old: bytes, new: bytes) -> list[str]:
    """Cells of a row: size of the delta as shares, seconds to make and to apply, memory to apply."""
    paths = [folder / name for name in ("old", "new", "delta", "result")]
    paths[0].write_bytes(old)
    paths[1].write_bytes(new)
    start = time.process_time()
    delta = deltas.make(paths[0], paths[1])
    made = time.process_time()
    deltas.apply(paths[0], io.BytesIO(delta), paths[3])
    applied = time.process_time()
    paths[2].write_bytes(delta)
    command = [sys.executable, "-c", APPLY, *(str(paths[index]) for index in (0, 2, 3))]
    memory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert paths[3].read_bytes() == new
    compressed = len(zlib.compress(new, 6))
    shares = f"{len(delta):,} ({len(delta) / len(new):.1%} / {len(delta) / compressed:.1%})"
    return [f"{len(new):,}", shares, f"{made - start:.1f} s", f"{applied - made:.2f} s", f"{memory} MiB"]


def beside(old: bytes, new: bytes) -> Iterator[str]:
    for _, make in others():
        if len(new) > LARGEST_BYTES:
            yield "-"
            continue
        start = time.process_time()
        size = len(make(old, new))
        yield f"{size:,} ({size / len(new):.1%}), {time.process_time() - start:.1f} s"


def main() -> int:
    only_quantized = "--quantized" in sys.argv
    for argument in (each for each in sys.argv[1:] if not each.startswith("--")):
        name, _, samples = argument.partition(",")
        heads = ["", "file", "delta (of the file / of the file compressed)", "make", "apply", "memory"]
        heads += [name for name, _ in others()]
        print(f"{Path(name).name}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        with tempfile.TemporaryDirectory() as text:
            folder, model = Path(text), Path(name).read_bytes()
            store = Store(folder / "store")
            quantizing = Quantizing(folder=folder, store=store, samples=Path(samples) if samples else None)
            with store.in_use():
                for words, old, new in (quantized_cases if only_quantized else cases)(model, quantizing):
                    row = [words, *measured(folder, old, new), *beside(old, new)]
                    print(f"| {' | '.join(row)} |", flush=True)
    print(f"\nlargest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
