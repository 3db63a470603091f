"""Sizes of deltas beside those of other tools: `python -m benchmarks.deltas MODEL.onnx...`.

The second version of a model has the same graph, and weights moved by noise of a share (`eps`) of each tensor's
standard deviation; or another node, or another last layer. Other tools run in the same process, if they are installed
(`pip install bsdiff4 zstandard hdiffpatch`), on files up to LARGEST_BYTES.
"""

import io
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper

from packager import deltas
from packager.quantizers.dynamic import Dynamic
from packager.rewriting.draft import draft_of

LARGEST_BYTES = 20 << 20
EPSILONS = (1e-4, 1e-3, 1e-2)
Make = Callable[[bytes, bytes], bytes]


def zstd(old: bytes, new: bytes) -> bytes:
    """As `zstd -19 --long --patch-from`."""
    import zstandard

    dictionary = zstandard.ZstdCompressionDict(old, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    window = max(len(old), len(new)).bit_length() + 1
    parameters = zstandard.ZstdCompressionParameters.from_level(19, window_log=window, enable_ldm=True)
    found: bytes = zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(new)
    return found


def others() -> Iterator[tuple[str, Make]]:
    import bsdiff4
    import hdiffpatch

    yield "bsdiff4", bsdiff4.diff
    yield "zstd", zstd
    yield "hdiffpatch", lambda old, new: hdiffpatch.diff(old, new, compression="zlib")


def moved(model: bytes, eps: float, dtype: str = "float32", *, only_last: bool = False) -> bytes:
    """`model` with its float32 weights moved, and stored as `dtype`."""
    random, proto = numpy.random.default_rng(0), onnx.ModelProto.FromString(model)
    tensors = [tensor for _, tensor in weights_of(proto)]
    last = max((i for i, each in enumerate(tensors) if len(each.dims) > 1), default=0)
    for index, tensor in enumerate(tensors):
        values = numpy_helper.to_array(tensor)
        if eps and (not only_last or index == last):
            noise = random.standard_normal(values.shape).astype(numpy.float32)
            values = values + noise * numpy.float32(eps * (values.std() if values.size > 1 else 0))
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


def quantized(model: bytes) -> bytes:
    """8-bit weights, a scale for each channel."""
    draft = draft_of(model, Path())
    Dynamic(operators=("MatMul", "Gemm", "Conv", "Gather")).quantize(draft)
    return draft.finish()


def with_scales_of(old: bytes, old_floats: bytes, floats: bytes) -> bytes:
    """The 8-bit model of `floats` with the scales of `old`, the 8-bit model of `old_floats`: weights that move less
    than half of a step stay as they are."""
    proto = onnx.ModelProto.FromString(old)
    held = {each.name: each for each in proto.graph.initializer}
    before, after = (dict(weights_of(onnx.ModelProto.FromString(each))) for each in (old_floats, floats))
    for name, tensor in held.items():
        weight = name.removesuffix("_quantized")
        if weight == name or weight not in before or f"{weight}_scale" not in held:
            continue
        scale = numpy_helper.to_array(held[f"{weight}_scale"])
        integers, one, two = (numpy_helper.to_array(each) for each in (tensor, before[weight], after[weight]))
        for shape in ([-1, *[1] * (one.ndim - 1)], [*[1] * (one.ndim - 1), -1]):
            if integers.shape == one.shape and scale.size in (1, one.shape[shape.index(-1)]):
                step = scale.reshape(shape)
                if (numpy.clip(numpy.rint(one / step), -127, 127) == integers).mean() > 0.999:
                    found = numpy.clip(numpy.rint(two / step), -127, 127).astype(integers.dtype)
                    tensor.CopyFrom(numpy_helper.from_array(found, name))
                    break
    return serialized(proto)


def cases(model: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    for dtype in ("float32", "float16"):
        old = moved(model, 0, dtype)
        for eps in EPSILONS:
            yield f"{dtype}, eps {eps:g}", old, moved(model, eps, dtype)
    floats = moved(model, 0)
    old = quantized(floats)
    for eps in EPSILONS:
        new = moved(model, eps)
        yield f"int8, scales kept, eps {eps:g}", old, with_scales_of(old, floats, new)
        yield f"int8, own scales, eps {eps:g}", old, quantized(new)
    yield "graph edited", floats, edited(floats)
    yield "last layer", floats, moved(model, 0.1, only_last=True)


APPLY = """
import sys
from pathlib import Path
import numpy
from packager import deltas
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
    for argument in sys.argv[1:]:
        heads = ["", "file", "delta (of the file / of the file compressed)", "make", "apply", "memory"]
        heads += [name for name, _ in others()]
        print(f"{Path(argument).name}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        with tempfile.TemporaryDirectory() as folder:
            for name, old, new in cases(Path(argument).read_bytes()):
                row = [name, *measured(Path(folder), old, new), *beside(old, new)]
                print(f"| {' | '.join(row)} |", flush=True)
    print(f"\nlargest memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
