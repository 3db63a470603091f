"""The C++ of React Native packages: code that JavaScript cannot reach, and compilation for phones."""

import hashlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from packager.engines.environments.bionic import builder
from packager.files.processes import downloads
from tests.cases.onnx_text import saved
from tests.nights import at_night
from tests.toolchain import cxx, jsc
from tests.toolchain.kept import kept
from tests.toolchain.react_native import codegen, packages

UNIT = jsc.HOST / "unit" / "unit.cpp"
PARTS = (
    "Checked",
    "CompiledFolders",
    "Cores",
    "Failure",
    "Files",
    "MappedFile",
    "OpenFile",
    "Protection",
    "ProtocolBuffers",
    "Sha256",
    "Weights",
)
NAMESPACE = "pageorientationcxx"
SIZES = (0, 1, 55, 56, 63, 64, 65, 119, 120, 128)
"""of contents around the ends of SHA-256's blocks"""
REFUSED = 3
PHONES = {
    # Neither Android's headers nor Apple's: those of musl, and what Apple has published of macOS.
    "android": ("-target", "aarch64-linux-musl", "-D__ANDROID__"),
    "ios": ("-target", "aarch64-macos"),
}
SYSTEM = re.compile(r"__APPLE__|__ANDROID__|__linux__|TARGET_OS_")
Unit = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> packages.Built:
    return packages.page_orientation(tmp_path_factory)


@pytest.fixture(scope="module")
def specs(built: packages.Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs")
    return codegen.for_ios(built.app(folder / "app"), folder / "codegen")


@pytest.fixture(scope="module")
def unit(built: packages.Built) -> Unit:
    """Run a command of unit.cpp: its exit code and output."""
    sources = [UNIT, *(built.package / "cpp" / f"{name}.cpp" for name in PARTS)]

    def make(folder: Path) -> None:
        options = [f"-DPACKAGE={NAMESPACE}", "-I", str(built.package / "cpp")]
        jsc.build_checked(sources, options, folder / "unit")

    headers = sorted((built.package / "cpp").glob("*.h"))
    compiler = downloads.pin(builder.COMPILER).sha256
    options = (cxx.TARGET, *jsc.CHECKED, *jsc.WARNINGS)
    program = kept("react-native-unit", make, compiler, *options, *sources, *headers) / "unit"

    def run(*words: str | Path) -> tuple[int, str]:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, (done.stdout + done.stderr).strip()

    return run


def test_digests_are_those_of_the_standard_however_a_file_is_read(unit: Unit, tmp_path: Path) -> None:
    path = tmp_path / "content"
    contents = [b"abc", b"a" * 1_000_000, *(bytes(index * 7 % 256 for index in range(size)) for size in SIZES)]
    for content in contents:
        path.write_bytes(content)
        for piece in (13, 64) if len(content) < 1000 else (1_000_000,):
            assert unit("sha256", path, str(piece)) == (0, hashlib.sha256(content).hexdigest()), (len(content), piece)


def test_big_cores_have_at_least_60_percent_of_the_fastest_clock(unit: Unit) -> None:
    kilohertz = {
        (): 0,
        (1_700_000, 1_700_000, 1_700_000, 2_400_000, 2_400_000, 2_900_000): 3,
        (*[3_532_800] * 6, *[4_320_000] * 2): 8,
        (2_000_000, 2_000_000, 2_000_000): 3,
        (1_799_999, 1_800_000, 3_000_000): 2,
    }
    assert {clocks: unit("cores", *map(str, clocks)) for clocks in kilohertz} == {
        clocks: (0, str(count)) for clocks, count in kilohertz.items()
    }


def test_what_is_written_can_be_read_on_a_locked_device(unit: Unit, tmp_path: Path) -> None:
    """Each file and folder once, when it is made: those that exist already are as they were."""
    (tmp_path / "there").write_bytes(b"1")
    code, said = unit("protect", tmp_path)
    assert code == 0, said
    kept = [re.sub(r"\.\w{6}$", "", line) for line in said.splitlines()]
    compiled = f"models/{'a' * 64}-1"
    assert kept == [str(tmp_path / name) for name in ("new", "new/file", "note", compiled, f"{compiled}/made")]


def outside(name: str, **entries: object) -> TensorProto:
    """A tensor of four floats whose values lie in a file."""
    tensor = TensorProto(name=name, dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def model_of(*tensors: TensorProto) -> onnx.ModelProto:
    """Tensors as initializers, and once more as constants in a graph inside a node of a graph inside a node."""
    graph = helper.make_graph([], "innermost", [], [], list(tensors))
    for name in ("inner", "outer"):
        constant = helper.make_node("Constant", [], ["c"], value=tensors[0])
        body = helper.make_node("If", ["x"], ["y"], then_branch=graph, else_branch=graph)
        graph = helper.make_graph([constant, body], name, [], [], list(tensors))
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    model.metadata_props.add(key="k", value="v" * 300)
    return model


def test_every_reference_points_to_the_place_on_the_device(unit: Unit, tmp_path: Path) -> None:
    inside = helper.make_tensor("inside", TensorProto.FLOAT, [1], [1.0])
    given = model_of(outside("a", location="w.bin", offset=32, length=16, checksum="x"), outside("b", location="w.bin"))
    given.graph.initializer.append(inside)
    model, target = saved(tmp_path / "model.onnx", given), tmp_path / "located.onnx"
    assert unit("weights", model, target, "w.bin", "/data/app/base.apk", "4096", "48") == (0, "")
    expected = model_of(
        outside("a", checksum="x", length=16, location="data/app/base.apk", offset=4128),
        outside("b", location="data/app/base.apk", offset=4096),
    )
    expected.graph.initializer.append(inside)
    assert onnx.load(target, load_external_data=False) == expected


def test_a_model_without_references_stays_as_it_is(unit: Unit, tmp_path: Path) -> None:
    model = saved(tmp_path / "model.onnx", model_of(helper.make_tensor("t", TensorProto.FLOAT, [2], [1.0, 2.0])))
    target = tmp_path / "located.onnx"
    assert unit("weights", model, target, "w.bin", "/w", "0", "48") == (0, "")
    assert onnx.load(target) == onnx.load(model)


ELSEWHERE: tuple[tuple[dict[str, object], str], ...] = (
    ({"location": "passwd"}, "[missing] the model names a file of weights 'passwd'"),
    ({"location": "../w.bin"}, "[missing]"),
    ({"offset": 1}, "[missing]"),
    ({"location": "w.bin", "offset": 49}, "[corrupted] /w is shorter"),
    ({"location": "w.bin", "offset": 33, "length": 16}, "[corrupted]"),
    ({"location": "w.bin", "offset": 1, "length": (1 << 64) - 1}, "[corrupted]"),
    ({"location": "w.bin", "offset": (1 << 64) - 1, "length": 2}, "[corrupted]"),
    ({"location": "w.bin", "offset": 1 << 64}, "[unreadable]"),
    ({"location": "w.bin", "offset": "-1"}, "[unreadable] the model has weights with the offset '-1'"),
    ({"location": "w.bin", "offset": "8 "}, "[unreadable]"),
    ({"location": "w.bin", "offset": ""}, "[unreadable]"),
    ({"location": "w.bin", "length": "1e3"}, "[unreadable] the model has weights with the length '1e3'"),
)


def test_references_that_lead_elsewhere_are_refused(unit: Unit, tmp_path: Path) -> None:
    for entries, error in ELSEWHERE:
        model = saved(tmp_path / "model.onnx", model_of(outside("a", **entries)))
        code, words = unit("weights", model, tmp_path / "located.onnx", "w.bin", "/w", "0", "48")
        assert (code, words[: len(error)]) == (REFUSED, error), entries


def length_delimited(field: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([field << 3 | 2]) + length + bytes([size]) + content


def nested(depth: int) -> bytes:
    """Graphs in attributes of nodes of graphs, one in the other."""
    content = b""
    for _ in range(depth):
        content = length_delimited(1, length_delimited(5, length_delimited(6, content)))
    return length_delimited(7, content)


NO_MODELS = (
    b"\x80",  # a number that does not end
    b"\x88" + b"\x80" * 8 + b"\x02\x00",  # a tag of 65 bits, whose lower 64 are one of ONNX
    b"\xff" * 11 + b"\x01",
    b"\x3a\x05\x00",  # a graph longer than the file
    b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",  # one of 2 to the power of 64 bytes
    b"\x09\x00",  # eight bytes, of which one is there
    b"\x0d\x00\x00",  # four
    b"\x0b",  # a group: no file of ONNX has one
    b"\x0f",  # a type that does not exist
    nested(5000),
)


def test_files_that_are_no_models_are_refused(unit: Unit, tmp_path: Path) -> None:
    for content in NO_MODELS:
        (tmp_path / "model.onnx").write_bytes(content)
        code, words = unit("weights", tmp_path / "model.onnx", tmp_path / "located.onnx", "w.bin", "/w", "0", "48")
        assert (code, words[:12]) == (REFUSED, "[unreadable]"), content[:20]


def test_graphs_may_lie_in_each_other_as_deep_as_models_have_them(unit: Unit, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(nested(30))
    words = unit("weights", tmp_path / "model.onnx", tmp_path / "located.onnx", "w.bin", "/w", "0", "48")
    assert words == (0, "")
    assert (tmp_path / "located.onnx").read_bytes() == nested(30)


def test_damaged_models_end_nothing(unit: Unit, tmp_path: Path) -> None:
    model = saved(tmp_path / "model.onnx", model_of(outside("a", location="w.bin", offset=32, length=16)))
    code, words = unit("damage", model, "w.bin", "3000")
    assert code == 0, words
    cut, changed = map(int, words.split())
    assert cut > model.stat().st_size * 0.9  # cut between two fields, a message is whole
    assert 500 < changed < 3000


@pytest.mark.parametrize(
    ("phone", "is_all", "is_alone"),
    [("ios", True, False), ("android", False, True), *at_night(("ios", True, True), ("android", True, True))],
)
def test_sources_compile_for_phones(
    built: packages.Built, specs: Path, phone: str, is_all: bool, is_alone: bool
) -> None:
    """`is_all`: not only those that ask for the system. `is_alone`: each with the headers that it includes alone."""
    sources = sorted((built.package / "cpp").glob("*.cpp"))
    asking = [path for path in sources if SYSTEM.search(path.read_text(encoding="utf-8"))]
    assert len(sources) > 15
    assert 3 < len(asking) < len(sources)
    wanted = sources if is_all else asking
    objects = jsc.objects_for(PHONES[phone], built.package, specs, wanted, is_alone=is_alone)
    assert [path.stem for path in objects] == [path.stem for path in wanted]


def test_headers_do_not_ask_for_the_system(built: packages.Built) -> None:
    """Sources that include them would have to be compiled for each at every change."""
    headers = [path for path in (built.package / "cpp").glob("*.h") if SYSTEM.search(path.read_text(encoding="utf-8"))]
    assert headers == []
