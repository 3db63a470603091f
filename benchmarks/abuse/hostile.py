"""Hostile files, each in its place: a command refuses them at once with a clear message."""

import itertools
import os
import socket
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy
import onnx
import onnx.parser

from benchmarks.abuse.command import Place, run
from benchmarks.abuse.result import Result

PROJECT = """
[package]
name = "p"
[model.m]
path = "m.onnx"
[parity]
random-samples = 1
[target.android]
providers = []
"""
CLASSES = '[model.m.outputs.y]\nkind = "classes"\nactivation = "none"\nlabels = "labels.txt"\n'
CHECK = ("check",)
SAMPLES = ("check", "--set", 'parity.samples="samples"')


@dataclass(frozen=True, kw_only=True)
class Case:
    """A hostile file, the project around it, and a command that reads it."""

    name: str
    make: Callable[[Path], None]
    command: tuple[str, ...] = CHECK
    project: str = PROJECT
    is_harmless: bool = False
    """whether it may be taken as it is"""


def model(text: str = "g (float[1, 4] x) => (float[1, 4] y) { y = Softmax (x) }", functions: str = "") -> bytes:
    header = '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>'
    return bytes(onnx.parser.parse_model(f"{header} {text} {functions}").SerializeToString())


def written(name: str, content: bytes | str) -> Callable[[Path], None]:
    data = content.encode() if isinstance(content, str) else content

    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    return make


def pipe(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the path of a socket has 107 bytes at most
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(before)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def instead(name: str, special: Callable[[Path], None]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        special(folder / name)

    return make


def zipped(entries: dict[str, bytes], claimed: int | None = None) -> bytes:
    """An archive; with `claimed`, the headers declare that size for entries of 1,000 bytes."""
    content = BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    whole = content.getvalue()
    return whole if claimed is None else whole.replace((1000).to_bytes(4, "little"), claimed.to_bytes(4, "little"))


def tower(levels: int, calls: int) -> bytes:
    """Functions that call the one before, `calls` times."""
    texts = ['<domain: "acme", opset_import: ["" : 17, "acme" : 1]> F0 (x) => (y) { y = Relu (x) }']
    for level in range(1, levels):
        names = ["x", *(f"v{number}" for number in range(1, calls)), "y"]
        pairs = itertools.pairwise(names)
        body = " ".join(f"{after} = acme.F{level - 1} ({before})" for before, after in pairs)
        texts.append(f'<domain: "acme", opset_import: ["" : 17, "acme" : 1]> F{level} (x) => (y) {{ {body} }}')
    return model(f"g (float[2] x) => (float[2] y) {{ y = acme.F{levels - 1} (x) }}", " ".join(texts))


def external(location: str, offset: str = "0") -> bytes:
    proto = onnx.ModelProto.FromString(model("g (int64[2] x) => (float[2] y) { y = Gather (w, x) }"))
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    return bytes(proto.SerializeToString())


def named(output: str) -> bytes:
    proto = onnx.ModelProto.FromString(model())
    proto.graph.output[0].name = proto.graph.node[0].output[0] = output
    return bytes(proto.SerializeToString())


def pickled() -> bytes:
    content = BytesIO()
    numpy.savez(content, x=numpy.array([{"a": 1}], object))
    return content.getvalue()


SPECIAL = {"a pipe": pipe, "a socket": unix_socket, "a device": device}
PLACES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "model": ("m.onnx", ("inspect", "m.onnx"), PROJECT),
    "configuration": ("mobpack.toml", CHECK, PROJECT),
    "licence": ("LICENSE", ("check", "--set", 'model.m.license="LICENSE"'), PROJECT),
    "labels": ("labels.txt", CHECK, PROJECT + CLASSES),
    "sample": ("samples/0.npz", SAMPLES, PROJECT),
    "recording": ("samples/0.wav", ("quantize", "m.onnx", "-q", "static-qdq", "--calibration", "samples"), PROJECT),
    "picture": ("samples/0.png", ("quantize", "m.onnx", "-q", "static-qdq", "--calibration", "samples"), PROJECT),
    "runtime": ("runtime.aar", ("check", "--set", 'runtime.android="runtime.aar"'), PROJECT),
    "release": ("dist/manifest.json", ("build",), PROJECT),
    "evidence": ("mobpack-evidence/evidence.json", CHECK, PROJECT),
    "earlier times": ("before.json", ("bench", "m.onnx", "--baseline", "before.json"), PROJECT),
    "version": ("before.bin", ("delta", "before.bin", "m.onnx", "--out", "out.delta"), PROJECT),
    "source": ("old.onnx", ("import", "old.onnx", "--from", "onnx", "-o", "new.onnx"), PROJECT),
}
OUTSIDE = ("/etc/passwd", "../../../../../../../../etc/passwd", "link", ".env", ".git/config")
NAMES = {
    "control characters": "a\u0001b",
    "a direction of writing": "a\u202eb",
    "no width": "a\u200bb",
    "quotes and a comment": '"*/ $(id) \\',
    "300 characters": "o" * 300,
    "a slash": "../../y",
}


def special_files() -> Iterator[Case]:
    for place, (name, command, project) in PLACES.items():
        for kind, special in SPECIAL.items():
            yield Case(name=f"{kind} as {place}", make=instead(name, special), command=command, project=project)


def outside_files() -> Iterator[Case]:
    def make(folder: Path) -> None:
        (folder / "link").symlink_to("/etc/passwd")
        (folder / ".git").mkdir()
        for name in (".env", ".git/config"):
            (folder / name).write_text("secret\n")

    for path in OUTSIDE:
        yield Case(name=f"licence {path}", make=make, command=("build", "--set", f'model.m.license="{path}"'))


def archives() -> Iterator[Case]:
    zeros = bytes(1000)
    for name, content in (
        ("a bomb by its directory", zipped({"x.npy": zeros}, 0xF0000000)),
        ("100,000 entries", zipped({f"{number}.npy": b"" for number in range(100_000)})),
        ("no archive", b"PK\3\4" + bytes(100)),
    ):
        yield Case(name=f"{name} as sample", make=written("samples/0.npz", content), command=SAMPLES)
        runtime = content.replace(b"x.npy", b"c.jar")
        yield Case(name=f"{name} as runtime", make=written("runtime.aar", runtime), command=PLACES["runtime"][1])
    yield Case(name="pickles as sample", make=written("samples/0.npz", pickled()), command=SAMPLES)
    header = b"\x93NUMPY\1\0v\0" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1099511627776), }".ljust(118)
    yield Case(name="a sample of 4 TB", make=written("samples/0.npz", zipped({"x.npy": header})), command=SAMPLES)


def models() -> Iterator[Case]:
    inspect = ("inspect", "m.onnx")
    yield Case(name="functions that expand to 10^12 nodes", make=written("m.onnx", tower(12, 10)), command=inspect)
    for location in ("/etc/passwd", "../m.onnx", "", "a\0b", "x" * 5000):
        yield Case(name=f"weights in {location[:12]!r}", make=written("m.onnx", external(location)), command=inspect)
    for offset in ("-1", "9223372036854775807", "1e3", "x"):
        yield Case(name=f"weights at {offset}", make=written("m.onnx", external("w.bin", offset)), command=inspect)
    for name, output in NAMES.items():
        yield Case(name=f"an output with {name}", make=written("m.onnx", named(output)), is_harmless=True)


def configurations() -> Iterator[Case]:
    texts: dict[str, bytes | str] = {
        "5,000 nested arrays": PROJECT + "x = " + "[" * 5000 + "]" * 5000,
        "5,000 nested tables": PROJECT + "[" + ".".join("a" * 5000) + "]\n",
        "a shape of 2^62": PROJECT.replace("[parity]", "shapes = { x = [1, 4611686018427387904] }\n[parity]"),
        "a number of 5,000 digits": PROJECT + "[check]\nmax-partitions = " + "9" * 5000,
        "no UTF-8": b"\xff\xfe" + PROJECT.encode(),
        "a control character": PROJECT.replace('"p"', '"p\\u0001"'),
        "a seed of -1": PROJECT.replace("random-samples = 1", "random-samples = 1\nseed = -1"),
        "10^9 samples": PROJECT.replace("random-samples = 1", "random-samples = 1000000000"),
        "a path with a zero byte": PROJECT.replace("m.onnx", "m\\u0000.onnx"),
        "a path of 5,000 characters": PROJECT.replace("m.onnx", "m" * 5000),
    }
    for name, text in texts.items():
        yield Case(name=f"configuration with {name}", make=written("mobpack.toml", text))
    yield Case(
        name="a byte-order mark", make=written("mobpack.toml", b"\xef\xbb\xbf" + PROJECT.encode()), is_harmless=True
    )
    for name, content in (
        ("9 MB", b"a\n" * (9 << 19)),
        ("no text", bytes(range(256))),
        ("an escape", b"\x1b[2J\nb\nc\nd\n"),
    ):
        yield Case(name=f"labels with {name}", make=written("labels.txt", content), project=PROJECT + CLASSES)


def attack(place: Place) -> Iterator[Result]:
    """Run every case in a folder of its own."""
    groups = {
        "pipes, sockets and devices as files": special_files(),
        "licences outside the project": outside_files(),
        "archives that are bombs or none": archives(),
        "models that are made to harm": models(),
        "configurations and labels": configurations(),
    }
    for title, cases in groups.items():
        yield tried(title, cases, place)


def tried(title: str, cases: Iterable[Case], place: Place) -> Result:
    """The faults of all `cases`, each in a folder of its own."""
    exceptions = []
    count = 0
    for count, case in enumerate(cases, 1):
        if fault := fault_of(case, place, place.folder / f"{title.split()[0]}-{count}"):
            exceptions.append(f"{case.name}: {fault}")
    return Result(attack=title, tries=count, exceptions=tuple(exceptions))


def fault_of(case: Case, place: Place, folder: Path) -> str:
    """The mistake that the command made; empty if it behaved correctly."""
    folder.mkdir()
    (folder / "mobpack.toml").write_text(case.project, encoding="utf-8")
    (folder / "m.onnx").write_bytes(model())
    (folder / "w.bin").write_bytes(bytes(16))
    (folder / "labels.txt").write_text("a\nb\nc\nd\n", encoding="utf-8")
    case.make(folder)
    here = Place(folder=folder, cache=place.cache)
    answer = run(list(case.command), here, folder.with_suffix(".txt"), is_bounded=case.command[0] != "build")
    if answer.fault:
        return answer.fault
    if answer.code == 0 and not case.is_harmless:
        return "was taken as it is"
    return ""
